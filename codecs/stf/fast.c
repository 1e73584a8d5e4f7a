/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The usual groups: an opcode with at most a jump target, registers and memory accesses. One pass, attachments are
 * written behind a slot left free for the instruction. Everything else is left to group.c, and so is whatever stands at
 * the edge of the window or of the caller's events.
 */
#include "codecs/isa/access.h"
#include "codecs/isa/arm.h"
#include "codecs/isa/riscv.h"
#include "codecs/stf/decoder.h"

/* Bytes that one step below may look at: an access, its content, and the next descriptor. */
#define REACH HF_STF_FAST_REACH
/* Words of one access; more are for group.c. */
#define WORDS_MAX 1024

/* Bits of the last word of an instruction's event, whose lowest 32 are the opcode. */
enum { SIZE_AT = 32, ISA_AT = 40, FLOW_AT = 48, MODE_AT = 56 };
static_assert(offsetof(struct hf_ev_insn, opcode) == 16 && offsetof(struct hf_ev_insn, size) == 20 &&
		      offsetof(struct hf_ev_insn, isa) == 21 && offsetof(struct hf_ev_insn, flow) == 22 &&
		      offsetof(struct hf_ev_insn, mode) == 23,
	      "they are in that order");
/* All that it says of the code itself: opcode, size, instruction set. */
#define CODE_MASK ((UINT64_C(1) << FLOW_AT) - 1)

static_assert(REACH > HF_STF_SIZE_INST_MEM_ACCESS + HF_STF_SIZE_INST_MEM_CONTENT, "one access with its content");

struct fast {
	const uint8_t *p, *last; /* where the groups begin; the last place where a record may */
	struct hf_event *ev, *stop;
	const struct hf_stf_header *h;
};

/* DATA events of size bytes that stand with stride bytes from word to word (8: together); room was made sure of. */
static void push_data(struct fast *f, const uint8_t *words, uint32_t size, unsigned stride)
{
	for (; size; f->ev++) {
		const uint32_t n = size < 24 ? size : 24;

		*f->ev = (struct hf_event){.kind = HF_EVENT_DATA, .used = (uint16_t)n};
		for (uint32_t i = 0; i < n; i += 8, words += stride)
			memcpy(f->ev->data.bytes + i, words, 8);
		size -= n;
	}
}

static bool data_fits(const struct fast *f, uint32_t size)
{
	return (uint64_t)(f->stop - f->ev) >= (size + 23) / 24;
}

/* Each of these takes what is at p, makes its events and returns what follows; NULL if that is not for here. */

/* The second and further words of an access. */
static __attribute__((noinline)) const uint8_t *take_words(struct fast *f, struct hf_event *ev, const uint8_t *p)
{
	const uint8_t *const first = p;
	uint32_t words = 0;

	while (*p == HF_STF_INST_MEM_CONTENT) {
		words++;
		p += HF_STF_SIZE_INST_MEM_CONTENT;
		if (p > f->last || words > WORDS_MAX)
			return NULL;
	}
	if (!data_fits(f, 8 * words))
		return NULL;
	ev->words = (uint16_t)(words + 1);
	ev->size = 8 * words;
	push_data(f, first + 1, ev->size, HF_STF_SIZE_INST_MEM_CONTENT);
	return p;
}

static inline const uint8_t *take_access(struct fast *f, const uint8_t *p)
{
	struct hf_event *ev = f->ev;
	const uint32_t stored = hf_get16(p + 9);
	const uint8_t type = p[13];

	if (ev == f->stop || (uint8_t)(type - 1) > 1 || hf_stf_access_is_range(f->h, hf_get16(p + 11)))
		return NULL;
	ev->kind = HF_EVENT_MEM;
	ev->size = 0;
	ev->mem = (struct hf_ev_mem){.address = hf_get64(p + 1), .attr = hf_get16(p + 11)};
	ev->mem.size = stored; /* bytes or bits: the opcode behind it says */
	ev->mem.tag = hf_stf_access_tag(f->h, ev->mem.attr);
	ev->flags = type;
	ev->words = 0;
	p += HF_STF_SIZE_INST_MEM_ACCESS;
	f->ev++;
	if (*p != HF_STF_INST_MEM_CONTENT)
		return p;
	ev->words = 1;
	ev->mem.data = hf_get64(p + 1);
	p += HF_STF_SIZE_INST_MEM_CONTENT;
	return *p == HF_STF_INST_MEM_CONTENT ? take_words(f, ev, p) : p;
}

static inline const uint8_t *take_register(struct fast *f, const uint8_t *p)
{
	struct hf_event *ev = f->ev;
	const uint32_t words = (p[3] & 0xf) == HF_STF_REG_VECTOR ? f->h->layout.vector_words : 1;
	const uint32_t size = 4 + 8 * words;

	if (ev == f->stop || words == 0 || (words > 1 && size > (uint64_t)(f->last - p)))
		return NULL;
	*ev = (struct hf_event){
		.kind = HF_EVENT_REG,
		.size = 8 * (words - 1),
		.reg = {.value = hf_get64(p + 4), .number = hf_get16(p + 1), .class = hf_stf_register_class(p[3]),
			.role = p[3] >> 4}};
	f->ev++;
	if (words > 1) {
		if (!data_fits(f, ev->size))
			return NULL;
		push_data(f, p + HF_STF_SIZE_INST_REG, ev->size, 8);
	}
	return p + size;
}

/* The opcode that a group ends with, and where its instruction went. */
struct ending {
	uint64_t target, code; /* code: CODE_MASK of word 2 of its event, but for the instruction set */
	uint8_t size, taken;
};

/* Takes the records of a group up to its opcode. */
static inline const uint8_t *take_group(struct fast *f, const uint8_t *p, struct ending *end)
{
	*end = (struct ending){0};
	while (p && p <= f->last) {
		switch (*p) {
		case HF_STF_INST_PC_TARGET:
			end->target = hf_get64(p + 1);
			end->taken = HF_EVF_TAKEN;
			p += HF_STF_SIZE_INST_PC_TARGET;
			break;
		case HF_STF_INST_MEM_ACCESS:
			p = take_access(f, p);
			break;
		case HF_STF_INST_REG:
			p = take_register(f, p);
			break;
		case HF_STF_INST_OPCODE32:
			end->code = hf_get32(p + 1) | UINT64_C(4) << SIZE_AT;
			end->size = 4;
			return p + HF_STF_SIZE_INST_OPCODE32;
		case HF_STF_INST_OPCODE16:
			end->code = hf_get16(p + 1) | UINT64_C(2) << SIZE_AT;
			end->size = 2;
			return p + HF_STF_SIZE_INST_OPCODE16;
		default:
			return NULL;
		}
	}
	return NULL;
}

/* What the accesses from ev on, up to f->ev, have for their sizes becomes bytes. */
static void settle_sizes(struct fast *f, struct hf_event *ev, unsigned sizes)
{
	for (; ev < f->ev; ev++)
		if (ev->kind == HF_EVENT_MEM) {
			uint8_t unit;

			ev->mem.size = hf_stf_access_bytes(f->h, ev->mem.size, sizes, &unit);
			ev->flags |= unit;
		}
}

/* A pc from which every direct jump stays within 32 bits. */
#define FAR UINT64_C(0x40000000)

static __attribute__((noinline)) void learn_code(struct hf_stf_code *code, uint64_t key, uint32_t extensions)
{
	const uint32_t opcode = (uint32_t)key;
	const uint8_t size = (uint8_t)(key >> SIZE_AT), isa = (uint8_t)(key >> ISA_AT);
	uint64_t target = FAR;
	uint8_t flow;

	*code = (struct hf_stf_code){0};
	if (isa == HF_ISA_RV32 || isa == HF_ISA_RV64) {
		flow = hf_riscv_flow(opcode, (isa == HF_ISA_RV32 ? 32 : 64) | extensions);
		code->sizes = (uint16_t)hf_riscv_access_sizes(opcode, size, isa);
	} else {
		flow = hf_arm_classify(opcode, size, isa).flow;
	}
	code->word = key | (uint64_t)flow << FLOW_AT;
	code->rule = (uint8_t)hf_stf_rule(opcode, size, isa, FAR, &target);
	code->distance = (int32_t)(target - FAR);
	/* blx of T32 counts from a multiple of 4 */
	if (hf_stf_wrong_size(opcode, size, isa) || (hf_arm_classify(opcode, size, isa).flags & HF_ARM_EXCHANGE))
		code->rule = HF_STF_NO_RULE;
}

static inline const struct hf_stf_code *code_of(struct hf_stf_dec *d, uint64_t key)
{
	struct hf_stf_code *code = &d->code[(uint32_t)key * UINT32_C(0x9e3779b1) >> (32 - HF_STF_CODE_BITS)];

	if ((code->word & CODE_MASK) != key)
		learn_code(code, key, d->header->extensions);
	return code;
}

/* Whether the instruction may have gone where it did. */
static inline bool follows(const struct hf_stf_code *code, const struct ending *end, uint64_t pc, bool wide)
{
	const uint64_t off = pc + (uint64_t)(int64_t)code->distance - (end->taken ? end->target : pc + end->size);

	return (code->rule == HF_STF_DIRECT && !end->taken) ||
	       (code->rule != HF_STF_NO_RULE && (wide ? off : (uint32_t)off) == 0);
}

/* The groups of our own hart. s->expected follows s->next in all of them. */
static void run_ours(struct hf_stf_dec *d, struct fast *f)
{
	struct hf_stf_sync *s = &d->sync;
	const uint8_t *group = f->p;
	const bool riscv = s->isa == HF_ISA_RV32 || s->isa == HF_ISA_RV64;
	const bool wide = d->dec.stream->info.xlen == 64;
	const uint64_t isa = (uint64_t)s->isa << ISA_AT, mode = (uint64_t)s->mode << MODE_AT;
	uint64_t pc = s->next, index = s->index;

	while (f->ev < f->stop) {
		struct hf_event *insn = f->ev++;
		const struct hf_stf_code *code;
		struct ending end;
		const uint8_t *const behind = take_group(f, group, &end);

		if (!behind) {
			f->ev = insn;
			break;
		}
		code = code_of(d, end.code | isa);
		if ((riscv && (end.target & 1)) || (code->rule && !follows(code, &end, pc, wide))) {
			f->ev = insn;
			break;
		}
		if (f->ev != insn + 1 && riscv)
			settle_sizes(f, insn + 1, code->sizes);
		insn->kind = HF_EVENT_INSN;
		insn->flags = end.taken;
		insn->any = 0;
		insn->size = 0;
		insn->insn.pc = pc;
		insn->insn.target = end.target;
		insn->word[2] = code->word | mode;
		pc = end.taken ? end.target : pc + end.size;
		index++;
		group = behind;
	}
	s->offset += (uint64_t)(group - hf_reader_at(&d->reader, s->offset));
	s->index = index;
	s->next = pc;
	s->expected = pc;
}

/* The size of a record that has a fixed one and no meaning here; 0 for all others. */
static const uint8_t plain_sizes[256] = {
	[HF_STF_INST_READY_REG] = HF_STF_SIZE_INST_READY_REG,
	[HF_STF_INST_MEM_ACCESS] = HF_STF_SIZE_INST_MEM_ACCESS,
	[HF_STF_INST_MEM_CONTENT] = HF_STF_SIZE_INST_MEM_CONTENT,
	[HF_STF_BUS_MASTER_ACCESS] = HF_STF_SIZE_BUS_MASTER_ACCESS,
	[HF_STF_BUS_MASTER_CONTENT] = HF_STF_SIZE_BUS_MASTER_CONTENT,
	[HF_STF_INST_MICROOP] = HF_STF_SIZE_INST_MICROOP,
};

/* The size of any other record that belongs to a group; 0 if that is not known here, or too long to pass. */
static uint64_t other_size(const struct hf_stf_layout *layout, const uint8_t *p, const uint8_t *last)
{
	uint64_t size;

	/* markers are not: they end the group */
	if (hf_stf_places[*p] != HF_STF_PLACE_body || *p >= HF_STF_INST_OPCODE32 ||
	    hf_stf_record_size(layout, p, (size_t)(last - p) + REACH, &size) != 0 || size > (uint64_t)(last - p))
		return 0;
	return size;
}

/* The groups of other harts: the tracker moves on, nothing is told. */
static void run_others(struct hf_stf_dec *d, const uint8_t *p, const uint8_t *last)
{
	const struct hf_stf_layout *layout = &d->header->layout;
	struct hf_stf_sync *s = &d->sync;
	const uint8_t *group = p;
	uint64_t target = 0, pc = s->next, forced = pc;
	uint64_t size;
	bool taken = false;

	while (p <= last) {
		switch (*p) {
		case HF_STF_INST_PC_TARGET:
		case HF_STF_EVENT_PC_TARGET:
			target = hf_get64(p + 1);
			taken = true;
			p += HF_STF_SIZE_INST_PC_TARGET;
			continue;
		case HF_STF_FORCE_PC:
			forced = hf_get64(p + 1);
			p += HF_STF_SIZE_FORCE_PC;
			continue;
		case HF_STF_INST_OPCODE32:
		case HF_STF_INST_OPCODE16:
			pc = taken ? target : forced + (*p == HF_STF_INST_OPCODE32 ? 4 : 2);
			p += *p == HF_STF_INST_OPCODE32 ? HF_STF_SIZE_INST_OPCODE32 : HF_STF_SIZE_INST_OPCODE16;
			forced = pc;
			taken = false;
			group = p;
			s->index++;
			continue;
		default:
			size = plain_sizes[*p];
			if (*p == HF_STF_INST_REG && (p[3] & 0xf) != HF_STF_REG_VECTOR)
				size = HF_STF_SIZE_INST_REG;
			if (!size)
				size = other_size(layout, p, last);
			if (!size)
				goto leave;
			p += size;
		}
	}
leave:
	s->offset += (uint64_t)(group - hf_reader_at(&d->reader, s->offset));
	s->next = pc;
}

void hf_stf_fast_run(struct hf_stf_dec *d, struct hf_stf_out *out, size_t len)
{
	const struct hf_reader *r = &d->reader;
	struct hf_stf_sync *s = &d->sync;
	struct fast f = {.ev = out->ev + out->n, .stop = out->ev + out->max, .h = d->header};

	if (s->offset < r->start || s->offset + REACH > r->start + len)
		return;
	f.p = r->buf + (s->offset - r->start);
	f.last = r->buf + len - REACH;
	if (!hf_stf_sync_ours(d, s)) {
		if (d->last_hart == hf_stf_hart_of_thread(s->ids[0]))
			run_others(d, f.p, f.last);
	} else if (s->begun && s->expected == s->next && !hf_stf_sync_unsaid(s)) {
		run_ours(d, &f);
		out->n = (size_t)(f.ev - out->ev);
	}
}
