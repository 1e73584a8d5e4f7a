/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs to events. The decoder goes in steps, each of which gives at most STEP_EVENTS: an instruction between two pairs, or
 * what a pair itself says. A state is that before a step, and the events of the step that were given are discarded.
 */
#include "codecs/mtb/mtb.h"

#include "codecs/base/bytes.h"
#include "codecs/base/errors.h"
#include "codecs/isa/arm.h"
#include "codecs/mtb/errors.h"
#include "codecs/walk/block.h"

#include <stdlib.h>

#define STEP_EVENTS 4
/* The most instructions between two pairs: no code goes on for so long without a branch. */
#define WALK_MAX (1u << 16)
/* So many instructions behind a return from an exception may be in an IT block that is not known. */
#define IT_MAX 4

struct place {
	uint64_t pair;    /* number of the next one, the oldest is 0 */
	uint32_t pc, mode;
	uint8_t it;       /* ITSTATE at pc */
	uint8_t unsure;   /* instructions for which it is not known */
	uint8_t known;    /* pc is where the flow is */
	uint8_t checked;  /* from pc the flow can reach the next pair */
	uint8_t ended;    /* what is behind the last pair was told */
};

struct mtb {
	struct hf_dec dec; /* first */
	const struct hf_mtb_stream *stream;
	uint8_t *bytes; /* owned: the dump, once it was read without an error */
	int err;        /* of reading it */
	struct hf_walk_blocks code; /* to fetch from; it has no blocks */
	struct place now, after;    /* before and behind the step */
	struct hf_event step[STEP_EVENTS];
	unsigned count, given;
};

struct pair {
	uint64_t offset;
	uint32_t from, to;
	bool unusual; /* A: an exception, a return from one, or a debugger */
	bool start;   /* S: the first one behind a start */
};

static struct pair get_pair(const struct mtb *m, uint64_t number)
{
	const struct hf_mtb_layout *l = &m->stream->layout;
	struct pair p = {.offset = (l->first + 8 * number) % l->size};
	const uint32_t from = hf_get32(m->bytes + p.offset), to = hf_get32(m->bytes + p.offset + 4);

	p.from = from & ~1u;
	p.to = to & ~1u;
	p.unusual = from & 1;
	p.start = to & 1;
	return p;
}

/* EXC_RETURN or FNC_RETURN: no address, but how to return (Armv8-M ARM, B3.23). */
static bool is_magic(uint32_t address)
{
	return address >> 24 == 0xff || address >> 1 == 0xfeffffff >> 1;
}

static struct hf_event *emit(struct mtb *m, unsigned kind)
{
	struct hf_event *ev = &m->step[m->count++];

	*ev = (struct hf_event){.kind = (uint8_t)kind};
	return ev;
}

static void tell_gap(struct mtb *m, const struct pair *p, int code, uint64_t bytes, uint64_t detail)
{
	struct hf_event *ev = emit(m, HF_EVENT_GAP);

	ev->code = (uint16_t)-code;
	ev->loss = (struct hf_ev_loss){.offset = p->offset, .bytes = bytes, .detail = detail};
}

static bool fetch(struct mtb *m, const struct place *at, struct hf_event *ret_insn)
{
	m->code.mode = (uint8_t)at->mode;
	if (!hf_walk_insn(&m->code, at->pc, ret_insn))
		return false;
	ret_insn->it = at->it;
	return true;
}

/* Behind the instruction at place, which was not taken. */
static void pass(struct place *place, const struct hf_ev_insn *insn)
{
	place->it = hf_t32_next_it(place->it, insn->opcode, insn->size);
	place->pc += insn->size;
	place->unsure = (uint8_t)(place->unsure - (place->unsure != 0));
}

/* Whether the instruction may be there without sending the flow elsewhere. */
static bool may_pass(const struct place *place, const struct hf_ev_insn *insn)
{
	const bool moves = insn->flow == HF_FLOW_JUMP || insn->flow == HF_FLOW_CALL ||
			   (insn->flow >= HF_FLOW_INDIRECT_JUMP && insn->flow <= HF_FLOW_RETURN);

	return !moves || place->it || place->unsure;
}

/* Whether the flow gets from place to the pair by itself; an exception may come inside an instruction. */
static bool reaches(struct mtb *m, struct place place, const struct pair *p)
{
	for (unsigned n = 0; place.pc < p->from; n++) {
		struct hf_event insn;

		if (n == WALK_MAX || !fetch(m, &place, &insn))
			return false;
		if (place.pc + insn.insn.size > p->from)
			return p->unusual;
		if (!may_pass(&place, &insn.insn))
			return false;
		pass(&place, &insn.insn);
	}
	return place.pc == p->from;
}

static void go_to(struct place *place, uint32_t pc)
{
	place->pc = pc;
	place->known = !is_magic(pc);
	place->it = place->unsure = place->checked = 0;
}

/* The handler's last instruction was the one before; the pair says where the flow went then. */
static void put_return(struct mtb *m, const struct pair *p)
{
	struct hf_event *ev;

	/* bit 3 of an EXC_RETURN: to Thread mode */
	m->after.mode = p->from >> 24 != 0xff ? HF_MODE_UNKNOWN : p->from & 8 ? HF_MODE_THREAD : HF_MODE_HANDLER;
	ev = emit(m, HF_EVENT_TRAP_RETURN);
	ev->flags = HF_EVF_HANDLER | (m->after.mode != HF_MODE_UNKNOWN ? HF_EVF_MODE : 0);
	ev->mode = (uint16_t)(ev->flags & HF_EVF_MODE ? m->after.mode : 0);
	ev->trap.handler = p->to;
	go_to(&m->after, p->to);
	m->after.unsure = IT_MAX;
}

/* An exception at p->from; which one is not recorded. */
static void put_exception(struct mtb *m, const struct pair *p)
{
	struct hf_event *ev;

	if (m->now.known && m->now.pc < p->from && fetch(m, &m->now, &m->step[m->count]))
		m->step[m->count++].kind = HF_EVENT_ATTEMPT; /* it was inside this one */
	ev = emit(m, HF_EVENT_TRAP);
	ev->flags = HF_EVF_HANDLER | HF_EVF_MODE;
	ev->mode = HF_MODE_HANDLER;
	ev->trap.handler = p->to;
	m->after.mode = HF_MODE_HANDLER;
	go_to(&m->after, p->to);
}

/* Whether that instruction can send the flow there. */
static bool can_go(const struct hf_ev_insn *insn, uint32_t to)
{
	uint64_t target;
	unsigned isa;

	if (insn->flow < HF_FLOW_BRANCH || insn->flow > HF_FLOW_RETURN)
		return false;
	return !hf_arm_target(insn->opcode, insn->size, insn->isa, insn->pc, &target, &isa) || (uint32_t)target == to;
}

/* The branch at p->from. */
static void put_branch(struct mtb *m, const struct pair *p)
{
	struct place at = m->now;
	struct pair next = {0};
	struct hf_event insn;

	at.pc = p->from;
	at.it = at.known ? at.it : 0;
	if (!fetch(m, &at, &insn) || !can_go(&insn.insn, p->to)) {
		tell_gap(m, p, HF_ERR_MTB_NO_BRANCH, 8, p->from);
	} else {
		if (is_magic(p->to) && p->offset != HF_NOWHERE && m->now.pair + 1 < m->stream->layout.pairs)
			next = get_pair(m, m->now.pair + 1);
		insn.flags = HF_EVF_TAKEN;
		insn.insn.target = p->to;
		if (is_magic(p->to) && next.unusual && !next.start && next.from == p->to)
			insn.insn.target = next.to;
		else if (is_magic(p->to))
			insn.flags = HF_EVF_OPEN, insn.insn.target = 0;
		m->step[m->count++] = insn;
	}
	go_to(&m->after, p->to);
}

/* Words that nothing was written to, as many as there are. */
static void put_unused(struct mtb *m, struct pair p)
{
	const struct pair first = p;
	uint64_t n = 0;

	while (m->now.pair + n < m->stream->layout.pairs) {
		p = get_pair(m, m->now.pair + n);
		if (p.from || p.to || p.unusual || p.start)
			break;
		n++;
	}
	tell_gap(m, &first, HF_ERR_MTB_UNUSED, 8 * n, 0);
	m->after.pair = m->now.pair + n;
	m->after.known = m->after.checked = 0;
}

/* Behind the last pair. */
static void put_end(struct mtb *m)
{
	const struct hf_mtb_layout *l = &m->stream->layout;
	const struct pair last = {.offset = l->size};

	if (l->cut && !m->now.ended)
		tell_gap(m, &last, HF_ERR_MTB_CUT, l->cut, 0);
	m->after.ended = 1;
}

/* Goes from after on: what is behind the step becomes what is before the next one. */
static void make_step(struct mtb *m)
{
	struct place *after = &m->after;
	struct pair p;

	m->now = *after;
	m->count = m->given = 0;
	if (m->now.pair >= m->stream->layout.pairs) {
		put_end(m);
		return;
	}
	p = get_pair(m, m->now.pair);
	if (!p.from && !p.to && !p.unusual && !p.start) {
		put_unused(m, p);
		return;
	}
	if (p.start && m->now.known) {
		struct hf_event *ev = emit(m, HF_EVENT_DISCONTINUITY);

		ev->flags = HF_EVF_UNTRACED;
		ev->jump.from = m->now.pc;
		after->known = 0;
		return;
	}
	if (m->now.known && !m->now.checked) {
		after->checked = reaches(m, m->now, &p);
		if (!after->checked) {
			tell_gap(m, &p, HF_ERR_MTB_UNREACHED, 0, m->now.pc);
			after->known = 0;
			return;
		}
		m->now.checked = 1;
	}
	if (m->now.known && m->now.pc < p.from) {
		struct hf_event insn;

		/* the check saw it */
		if (fetch(m, &m->now, &insn) && m->now.pc + insn.insn.size <= p.from) {
			m->step[m->count++] = insn;
			pass(after, &insn.insn);
			return;
		}
	}
	after->pair++;
	if (p.unusual && is_magic(p.from))
		put_return(m, &p);
	else if (p.unusual)
		put_exception(m, &p);
	else
		put_branch(m, &p);
}

static int next(struct hf_dec *dec, struct hf_event *ev, size_t max, size_t *ret_n)
{
	struct mtb *m = (struct mtb *)dec;

	if (m->err)
		return m->err;
	while (*ret_n < max) {
		while (m->given == m->count && !m->after.ended)
			make_step(m);
		if (m->given == m->count)
			break;
		ev[(*ret_n)++] = m->step[m->given++];
	}
	return *ret_n ? 0 : HF_NOTE_END;
}

#define PLACE(member, max) HF_FIELD_ROW(struct place, member, max)
static const struct hf_field_row fields[] = {
	PLACE(pair, HF_MTB_SIZE_MAX),
	PLACE(pc, UINT32_MAX),
	PLACE(mode, HF_MODE_COUNT - 1),
	PLACE(it, UINT8_MAX),
	PLACE(unsure, IT_MAX),
	PLACE(known, 1),
	PLACE(checked, 1),
	PLACE(ended, 1),
};

static uint64_t state(struct hf_dec *dec, struct hf_fields *f)
{
	struct mtb *m = (struct mtb *)dec;
	struct place place = m->given == m->count ? m->after : m->now;

	HF_FIELD_ROWS(f, fields, &place);
	if (!f->loading)
		return m->given == m->count ? 0 : m->given;
	m->after = place;
	m->count = m->given = 0;
	return 0;
}

static uint64_t offset(const struct hf_dec *dec)
{
	const struct mtb *m = (const struct mtb *)dec;
	const uint64_t pair = m->given == m->count ? m->after.pair : m->now.pair;

	return 8 * (pair < m->stream->layout.pairs ? pair : m->stream->layout.pairs);
}

static int init(struct hf_dec *dec, struct hf_src *src)
{
	struct mtb *m = (struct mtb *)dec;
	uint64_t size = 0;

	m->stream = (const struct hf_mtb_stream *)dec->stream;
	m->err = hf_mtb_read(src, &m->bytes, &size, &dec->diag);
	if (!m->err && size < m->stream->size)
		m->err = hf_diag_set(&dec->diag, HF_ERR_TRUNCATED, HF_SPACE_STREAM, size, 0);
	m->code.program = hf_setup_program(dec->stream->setup, dec->hart, HF_SETUP_NO_CONTEXT, HF_MEMORY_ANY);
	m->code.mask = UINT32_MAX;
	m->code.isa = HF_ISA_T32;
	return 0;
}

static void fini(struct hf_dec *dec)
{
	free(((struct mtb *)dec)->bytes);
}

const struct hf_dec_ops hf_mtb_dec_ops = {
	.size = sizeof(struct mtb),
	.init = init,
	.fini = fini,
	.next = next,
	.state = state,
	.offset = offset,
};
