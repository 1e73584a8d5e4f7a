/* SPDX-License-Identifier: Apache-2.0 */
/* From one packet to the next through the program (1.1.1, chapter 11). */
#include "codecs/etrace/follow.h"

#include "codecs/etrace/errors.h"

#define NOWHERE UINT64_MAX /* odd, so never the address of an instruction */

static inline bool is_branch(const struct hf_walk_block *b, uint32_t index)
{
	return b->end == HF_WALK_BRANCH && index + 1u == b->count;
}

static inline bool is_discontinuity(uint8_t end)
{
	return end == HF_WALK_INDIRECT || end == HF_WALK_TRAP_RETURN;
}

/* NULL: there is no code or, with f->full, no room. */
static struct hf_walk_block *find(struct hf_etrace_follow *f, uint64_t pc)
{
	struct hf_walk_block *b;

	if (!hf_walk_blocks_have_room(&f->blocks, 1)) {
		f->full = true;
		return NULL;
	}
	b = hf_walk_find(&f->blocks, pc);
	return b->count ? b : NULL;
}

bool hf_etrace_is_branch_at(const struct hf_etrace_follow *f, uint64_t pc)
{
	struct hf_event ev;

	return hf_walk_insn(&f->blocks, pc, &ev) && ev.insn.flow == HF_FLOW_BRANCH;
}

/*
 * Whether the return that is held back is the one whose target a packet reports although there is a prediction: by the
 * depth of the stack or, in 2.1, by the number of returns since the last branch.
 */
static bool is_reported_return(const struct hf_etrace_follow *f)
{
	const struct hf_etrace_report *r = &f->report;
	const struct hf_etrace_follow_state *s = &f->s;

	if (s->phase == HF_ETRACE_INFER)
		return (s->flags & HF_ETRACE_IRREPORTED) &&
		       s->prev_irets == (hf_etrace_has_irets(r) ? r->outcomes.irets : r->tables.stack.depth);
	if (s->phase != HF_ETRACE_FOLLOW || !r->pkt.irreport)
		return false;
	if (!hf_etrace_has_irets(r))
		return r->pkt.irdepth == r->tables.stack.depth;
	return r->pkt.irdepth == r->outcomes.irets &&
	       hf_etrace_outcomes_left(r) == hf_etrace_is_branch_at(f, r->target);
}

/* Whether more implicit returns belong to the packet than led to instruction index of f->cur, itself one included. */
static bool has_returns_left(const struct hf_etrace_follow *f, uint32_t index)
{
	const struct hf_etrace_report *r = &f->report;
	const struct hf_walk_block *b = f->cur;
	const bool itself = (b->flags & HF_WALK_RETURN) && index + 1u == b->count && r->tables.stack.depth;

	return r->pkt.irreport && r->pkt.irdepth > r->outcomes.irets + itself;
}

/* ---- the list ---- */

enum hf_mode hf_etrace_mode_of(uint8_t privilege)
{
	static const uint8_t modes[8] = {HF_MODE_U, HF_MODE_S,	HF_MODE_UNKNOWN, HF_MODE_M,
					 HF_MODE_D, HF_MODE_VU, HF_MODE_VS,	 HF_MODE_UNKNOWN};

	return privilege < 8 ? (enum hf_mode)modes[privilege] : HF_MODE_UNKNOWN;
}

static inline void add_stretch(struct hf_etrace_follow *f, const struct hf_walk_block *b, uint32_t to, bool taken,
			       uint64_t target)
{
	union hf_etrace_item *item = &f->list[f->tail];

	item->kind = HF_EVENT_NONE;
	item->flags = taken ? HF_EVF_TAKEN : 0;
	item->mode = (uint8_t)hf_etrace_mode_of(f->s.privilege);
	item->from = (uint8_t)f->open;
	item->to = (uint8_t)to;
	item->block = b;
	item->target = target;
	f->tail += f->open < to;
	f->s.unproven += f->open < to ? to - f->open : 0;
	f->open = to;
}

static void add_trap_return(struct hf_etrace_follow *f, uint64_t to)
{
	const struct hf_etrace_packet *pkt = &f->report.pkt;
	const bool synced = pkt->format == 3 && pkt->subformat == HF_ETRACE_SYNC;
	const uint8_t privilege = synced ? pkt->privilege : f->s.privilege;
	const struct hf_event ev = {
		.kind = HF_EVENT_TRAP_RETURN,
		.flags = HF_EVF_HANDLER | HF_EVF_MODE,
		.mode = (uint16_t)hf_etrace_mode_of(privilege),
		.trap.handler = hf_walk_full(&f->blocks, to),
	};

	hf_etrace_add(f, &ev);
}

bool hf_etrace_successor(const struct hf_etrace_follow *f, uint64_t *ret_pc, bool *ret_taken)
{
	const struct hf_etrace_report *r = &f->report;
	const struct hf_walk_block *b = f->cur;

	*ret_taken = false;
	if (!b)
		return false;
	if (f->index + 1u < b->count) {
		*ret_pc = b->insn[f->index + 1].insn.pc & f->blocks.mask;
		return true;
	}
	*ret_pc = b->next;
	switch (b->end) {
	case HF_WALK_BRANCH:
		if (!hf_etrace_outcomes_left(r))
			return false;
		*ret_taken = hf_etrace_is_taken(r, b->last);
		*ret_pc = *ret_taken ? b->target : b->next;
		return true;
	case HF_WALK_JUMP:
		*ret_taken = true;
		*ret_pc = b->target;
		return true;
	case HF_WALK_INDIRECT:
		if (!(b->flags & HF_WALK_RETURN) || !hf_etrace_foretells_return(r))
			return false;
		*ret_taken = true;
		*ret_pc = hf_return_stack_top(&r->tables.stack);
		return true;
	case HF_WALK_TRAP_RETURN:
		return false;
	default:
		return true;
	}
}

void hf_etrace_release(struct hf_etrace_follow *f, const uint64_t *target)
{
	struct hf_walk_block *b = f->cur;
	uint64_t to = 0;
	bool taken;

	f->s.flags &= (uint16_t)~HF_ETRACE_HELD;
	if (!b)
		return;
	if (target && f->index + 1u == b->count && is_discontinuity(b->end)) {
		taken = true;
		to = *target;
	} else {
		hf_etrace_successor(f, &to, &taken);
	}
	add_stretch(f, b, f->index + 1, taken, hf_walk_full(&f->blocks, to));
	if (f->index + 1u == b->count && b->end == HF_WALK_BRANCH && !hf_etrace_outcomes_left(&f->report))
		f->list[f->tail - 1].flags = HF_EVF_OPEN;
	if (taken && b->end == HF_WALK_TRAP_RETURN && f->index + 1u == b->count)
		add_trap_return(f, to);
	f->cur = NULL;
}

bool hf_etrace_locate(struct hf_etrace_follow *f)
{
	const uint64_t before = (f->s.pc - f->s.adjacent) & f->blocks.mask;
	struct hf_walk_block *b = f->s.adjacent ? find(f, before) : NULL;

	f->index = f->open = 0;
	if (b && b->count > 1 && b->insn[0].insn.size == f->s.adjacent)
		f->index = f->open = 1;
	else if (!f->full)
		b = find(f, f->s.pc);
	f->cur = b;
	return b;
}

/* ---- one step ---- */

/* A return or another uninferable jump, or a trap return. */
static int resolve_indirect(struct hf_etrace_follow *f, const struct hf_walk_block *b, uint64_t *ret_pc,
			    bool *ret_explicit)
{
	struct hf_etrace_report *r = &f->report;
	struct hf_etrace_follow_state *s = &f->s;
	struct hf_etrace_tables *t = &r->tables;
	const bool following = s->phase == HF_ETRACE_FOLLOW, reported = is_reported_return(f);
	uint64_t foretold = NOWHERE;

	*ret_explicit = false;
	if ((b->flags & HF_WALK_RETURN) && (r->modes & HF_ETRACE_IMPLICIT_RETURN) &&
	    hf_etrace_report_lacks(r, HF_ETRACE_IMPLICIT_RETURN))
		return HF_ERR_ETRACE_NO_STACK; /* it may be any call's, or one that the packet reports */
	if ((b->flags & HF_WALK_RETURN) && hf_etrace_foretells_return(r)) {
		*ret_pc = foretold = hf_return_stack_top(&t->stack);
		if (!reported || hf_etrace_has_irets(r)) {
			hf_return_stack_drop(&t->stack);
			r->outcomes.irets++;
		}
		if (!reported)
			return 0;
	}
	if (following && !r->pkt.has_address)
		return HF_ERR_ETRACE_PATH;
	*ret_pc = following ? r->target : s->prev_address;
	*ret_explicit = true;
	if (b->end == HF_WALK_INDIRECT && (b->flags & HF_WALK_KNOWN) && *ret_pc != b->target)
		return HF_ERR_ETRACE_PATH;
	if (b->end == HF_WALK_INDIRECT && (r->modes & HF_ETRACE_JUMP_TARGET_CACHE) && !r->params.jtc_all &&
	    !(hf_etrace_has_irets(r) && *ret_pc == foretold))
		hf_etrace_learn_target(t, *ret_pc);
	return 0;
}

/*
 * Where an outcome was used or something popped, the walk does not go on as it went. What calls push matters only to a
 * packet that waits for a depth.
 */
static inline void forget_circle(struct hf_etrace_follow *f)
{
	f->circle = (struct hf_walk_circle){0};
}

/* The last instruction of f->cur: where it goes. The walk then stands before entering there. */
static inline int resolve(struct hf_etrace_follow *f)
{
	struct hf_etrace_report *r = &f->report;
	struct hf_walk_block *b = f->cur;
	struct hf_etrace_follow_state *s = &f->s;
	struct hf_walk_block **link = &b->link[0];
	uint64_t next = b->next;
	bool taken = false, explicit = false;
	int err;

	switch (b->end) {
	case HF_WALK_BRANCH:
		if (!hf_etrace_outcomes_left(r))
			return HF_ERR_ETRACE_PATH;
		taken = hf_etrace_use_outcome(r, b->last);
		if (taken) {
			next = b->target;
			link = &b->link[1];
		}
		f->s.steps = 0;
		forget_circle(f);
		break;
	case HF_WALK_JUMP:
		taken = true;
		next = b->target;
		link = &b->link[1];
		if (hf_walk_is_circle(&f->circle, b))
			return HF_ERR_ETRACE_WALK;
		break;
	case HF_WALK_INDIRECT:
	case HF_WALK_TRAP_RETURN:
		err = resolve_indirect(f, b, &next, &explicit);
		if (err)
			return err;
		taken = true;
		link = &b->link[1];
		forget_circle(f);
		break;
	default:
		break;
	}
	if ((b->flags & HF_WALK_CALL) && (r->modes & HF_ETRACE_IMPLICIT_RETURN)) {
		hf_return_stack_push(&r->tables.stack, b->next);
		if (r->pkt.irreport && r->tables.stack.depth <= r->pkt.irdepth)
			forget_circle(f);
	}
	add_stretch(f, b, b->count, taken, hf_walk_full(&f->blocks, next));
	if (b->end == HF_WALK_TRAP_RETURN)
		add_trap_return(f, next);
	s->pc = next;
	s->prev_end = b->end;
	s->entering = 1 + explicit;
	f->cur = NULL;
	/* The successor is usually known. The program may have changed since (a context), so it is compared too. */
	if (*link && (*link)->pc == next && (*link)->program == f->blocks.program)
		f->cur = *link;
	else if ((f->cur = find(f, next)))
		*link = f->cur;
	return 0;
}

/* ---- from one phase to the next ---- */

int hf_etrace_begin_follow(struct hf_etrace_follow *f)
{
	f->s.phase = HF_ETRACE_FOLLOW;
	return hf_etrace_report_index(&f->report);
}

/* ---- where to stop ---- */

/* The address at which this packet may end without an uninferable jump to it. */
static inline uint64_t stop_at(const struct hf_etrace_follow *f)
{
	const struct hf_etrace_report *r = &f->report;
	const struct hf_etrace_packet *pkt = &r->pkt;

	if (f->s.phase != HF_ETRACE_FOLLOW || !pkt->has_address || pkt->updiscon)
		return NOWHERE;
	return hf_etrace_is_index(pkt) ? NOWHERE : r->target;
}

/* ---- the second reading ---- */

/*
 * By the specification an address without flags is not that of the instruction behind an implicit return: it lies
 * further on. The reference encoder of 1.1.1 reports such instructions all the same. So the place is remembered, and is
 * the end after all if the walk that goes on does not fit.
 */
static void remember(struct hf_etrace_follow *f)
{
	if (f->second)
		return;
	f->second = f->cur;
	f->second_state = f->s;
	f->second_tail = f->tail;
	hf_etrace_report_keep(&f->report);
}

/* The packet ends here, as far as it tells: a jump to its address may still come. */
static void infer(struct hf_etrace_follow *f)
{
	struct hf_etrace_report *r = &f->report;
	struct hf_etrace_follow_state *s = &f->s;

	s->flags &= (uint16_t)~HF_ETRACE_IRREPORTED;
	s->flags |= HF_ETRACE_INFERRED | (r->pkt.irreport ? HF_ETRACE_IRREPORTED : 0);
	s->prev_irets = r->pkt.irdepth;
	s->prev_address = r->target;
}

static void recall(struct hf_etrace_follow *f)
{
	hf_etrace_report_go_back(&f->report);
	f->s = f->second_state;
	f->cur = f->second;
	f->tail = f->second_tail;
	f->open = 0;
	infer(f);
}

/* s.pc is the target: whether it is the end, behind an instruction of that kind. */
static bool is_at_end(struct hf_etrace_follow *f, uint32_t index, uint8_t prev_end)
{
	struct hf_etrace_report *r = &f->report;
	struct hf_etrace_follow_state *s = &f->s;
	const struct hf_etrace_packet *pkt = &r->pkt;

	if (hf_etrace_outcomes_left(r) != is_branch(f->cur, index))
		return false;
	if (pkt->format == 3)
		return pkt->privilege == s->privilege || prev_end == HF_WALK_TRAP_RETURN;
	if (hf_etrace_has_irets(r) && has_returns_left(f, index))
		return false;
	if (pkt->notify)
		return true;
	if (!hf_etrace_has_irets(r) && pkt->irreport && pkt->irdepth != r->tables.stack.depth)
		return false;
	if (is_discontinuity(prev_end)) {
		remember(f);
		return false;
	}
	infer(f);
	return true;
}

static bool is_end(struct hf_etrace_follow *f, uint32_t index, uint8_t prev_end)
{
	const bool end = is_at_end(f, index, prev_end);

	f->agreed->reached += end;
	return end;
}

/* The packet's walk is over at instruction index of f->cur. */
static void end_at(struct hf_etrace_follow *f, uint32_t index)
{
	const struct hf_walk_block *b = f->cur;

	if (index > f->open)
		add_stretch(f, b, index, false, 0);
	f->index = index;
	f->s.pc = b->insn[index].insn.pc & f->blocks.mask;
	f->s.adjacent = index ? b->insn[index - 1].insn.size : 0;
	f->finished = f->s.phase;
	f->s.phase = HF_ETRACE_IDLE;
	f->s.steps = 0; /* a packet may end each time round a loop */
	forget_circle(f);
}

/* A block has been entered by its first instruction. HF_NOTE_END: the walk is over. */
static inline int arrive(struct hf_etrace_follow *f)
{
	struct hf_etrace_report *r = &f->report;
	struct hf_etrace_follow_state *s = &f->s;
	const struct hf_walk_block *b = f->cur;
	const uint8_t entering = s->entering;

	s->entering = 0;
	s->flags |= HF_ETRACE_HELD;
	f->index = f->open = 0;
	if (s->phase == HF_ETRACE_ENTER)
		return HF_NOTE_END;
	if (entering == 2) {
		forget_circle(f);
		f->s.steps = 0;
		if (s->phase == HF_ETRACE_INFER) {
			s->flags &= (uint16_t)~HF_ETRACE_INFERRED;
			r->outcomes.irets = 0;
			return r->pkt.format == 3 ? (int)HF_NOTE_END : hf_etrace_begin_follow(f);
		}
		return hf_etrace_outcomes_left(r) > is_branch(b, 0) ? HF_ERR_ETRACE_PATH : (int)HF_NOTE_END;
	}
	if (s->phase == HF_ETRACE_FOLLOW && !r->pkt.has_address)
		return is_branch(b, 0) && hf_etrace_outcomes_left(r) == 1 ? (int)HF_NOTE_END : 0;
	return s->pc == stop_at(f) && is_end(f, 0, s->prev_end) ? (int)HF_NOTE_END : 0;
}

/* f->cur, which walk has found; that it says so costs nothing. */
static inline const struct hf_walk_block *current(const struct hf_etrace_follow *f)
{
	if (!f->cur)
		__builtin_unreachable();
	return f->cur;
}

/* The instructions of f->cur behind f->index, none of which jumps before the last. HF_NOTE_END: the walk is over. */
static inline int run(struct hf_etrace_follow *f)
{
	struct hf_etrace_report *r = &f->report;
	const struct hf_walk_block *b = current(f);
	const uint64_t pc = b->insn[f->index].insn.pc & f->blocks.mask, stop = stop_at(f);
	const uint32_t last = b->count - 1u;

	f->s.steps += b->count - f->index;
	if (f->s.steps > HF_ETRACE_WALK_MAX)
		return HF_ERR_ETRACE_WALK;
	if (f->index == last)
		return 0;
	if (stop - pc - 1 < b->last - pc)
		for (uint32_t i = f->index + 1; i <= last; i++)
			if ((b->insn[i].insn.pc & f->blocks.mask) == stop && is_end(f, i, HF_WALK_ON)) {
				end_at(f, i);
				return HF_NOTE_END;
			}
	f->index = last;
	if (f->s.phase == HF_ETRACE_FOLLOW && !r->pkt.has_address && is_branch(b, last) &&
	    hf_etrace_outcomes_left(r) == 1) {
		end_at(f, last);
		return HF_NOTE_END;
	}
	return 0;
}

static int walk(struct hf_etrace_follow *f)
{
	struct hf_etrace_follow_state *s = &f->s;

	for (;;) {
		int err;

		if (s->entering) {
			if (f->tail > HF_ETRACE_LIST - HF_ETRACE_LIST_ROOM)
				return HF_NOTE_END;
			if (!f->cur && !(f->cur = find(f, s->pc)))
				return f->full ? (int)HF_NOTE_END : HF_ERR_ETRACE_NO_CODE;
			err = arrive(f);
			if (err == HF_NOTE_END)
				end_at(f, 0);
			if (err)
				return err < 0 ? err : 0;
		}
		err = run(f);
		if (err)
			return err < 0 ? err : 0;
		err = resolve(f);
		if (err)
			return err;
	}
}

int hf_etrace_walk(struct hf_etrace_follow *f, uint64_t *ret_detail)
{
	int err;

	f->second = NULL;
	forget_circle(f);
	err = walk(f);
	if (err < 0 && f->second) {
		recall(f);
		end_at(f, 0);
		err = 0;
	}
	*ret_detail = hf_walk_full(&f->blocks, f->s.pc);
	return err;
}
