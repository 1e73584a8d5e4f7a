/*
 * The usual groups: an opcode with at most a jump target, scalar registers and memory accesses of one word. One pass,
 * attachments are written behind a slot left free for the instruction. Everything else is left to group.c, and so is
 * whatever stands at the edge of the window or of the caller's events.
 */
#include "codecs/isa/riscv.h"
#include "codecs/stf/decoder.h"

/* Bytes that one step below may look at: an access, its content, and the next descriptor. */
#define REACH 32
static_assert(REACH > HF_STF_SIZE_INST_MEM_ACCESS + HF_STF_SIZE_INST_MEM_CONTENT, "one access with its content");

struct fast {
	const uint8_t *p, *last; /* the record; the last place where one may begin */
	struct hf_event *ev, *stop;
	const struct hf_stf_header *h;
};

/* Each of these takes the record at f->p and makes its event; false if that is not for here. */
static inline bool take_access(struct fast *f)
{
	const uint8_t *p = f->p;
	struct hf_event *ev = f->ev;
	const uint32_t stored = hf_get16(p + 9);
	const uint8_t type = p[13];
	bool odd;

	if (ev == f->stop || (uint8_t)(type - 1) > 1)
		return false;
	ev->kind = HF_EVENT_MEM;
	ev->size = 0;
	ev->mem = (struct hf_ev_mem){.address = hf_get64(p + 1), .attr = hf_get16(p + 11)};
	ev->mem.size = hf_stf_access_bytes(f->h, stored, &odd);
	ev->mem.tag = hf_stf_access_tag(f->h, ev->mem.attr);
	ev->flags = (uint8_t)(type | (odd ? HF_EVF_UNIT_ODD : 0));
	ev->small = 0;
	p += HF_STF_SIZE_INST_MEM_ACCESS;
	if (*p == HF_STF_INST_MEM_CONTENT) {
		ev->small = 1;
		ev->mem.data = hf_get64(p + 1);
		p += HF_STF_SIZE_INST_MEM_CONTENT;
		if (*p == HF_STF_INST_MEM_CONTENT)
			return false;
	}
	f->p = p;
	f->ev++;
	return true;
}

static inline bool take_register(struct fast *f)
{
	const uint8_t *p = f->p;
	struct hf_event *ev = f->ev;

	if (ev == f->stop || (p[3] & 0xf) == HF_STF_REG_VECTOR)
		return false;
	*ev = (struct hf_event){
		.kind = HF_EVENT_REG,
		.reg = {.value = hf_get64(p + 4), .number = hf_get16(p + 1), .class = p[3] & 0xf, .role = p[3] >> 4}};
	f->p += HF_STF_SIZE_INST_REG;
	f->ev++;
	return true;
}

/* The groups of our own hart. s->expected follows s->next in all of them. */
static void run_ours(struct hf_stf_dec *d, struct fast *f)
{
	struct hf_stf_sync *s = &d->sync;
	const uint8_t *group = f->p;
	const uint8_t isa = s->isa, mode = s->mode;
	const unsigned xlen = isa == HF_ISA_RV32 ? 32 : 64;
	const bool riscv = isa == HF_ISA_RV32 || isa == HF_ISA_RV64;
	uint64_t pc = s->next, index = s->index;

	while (f->ev < f->stop) {
		struct hf_event *insn = f->ev++;
		uint64_t target = 0;
		uint32_t opcode;
		uint8_t taken = 0, size;

	next_record:
		if (f->p > f->last)
			goto leave;
		switch (*f->p) {
		case HF_STF_INST_PC_TARGET:
			target = hf_get64(f->p + 1);
			taken = HF_EVF_TAKEN;
			f->p += HF_STF_SIZE_INST_PC_TARGET;
			goto next_record;
		case HF_STF_INST_MEM_ACCESS:
			if (!take_access(f))
				goto leave;
			goto next_record;
		case HF_STF_INST_REG:
			if (!take_register(f))
				goto leave;
			goto next_record;
		case HF_STF_INST_OPCODE32:
			opcode = hf_get32(f->p + 1);
			size = 4;
			f->p += HF_STF_SIZE_INST_OPCODE32;
			break;
		case HF_STF_INST_OPCODE16:
			opcode = hf_get16(f->p + 1);
			size = 2;
			f->p += HF_STF_SIZE_INST_OPCODE16;
			break;
		default:
			goto leave;
		}
		insn->kind = HF_EVENT_INSN;
		insn->flags = taken;
		insn->small = 0;
		insn->size = 0;
		insn->insn = (struct hf_ev_insn){.pc = pc,
						 .target = target,
						 .opcode = opcode,
						 .size = size,
						 .isa = isa,
						 .flow = riscv ? hf_riscv_flow(opcode, xlen) : (uint8_t)HF_FLOW_PLAIN,
						 .mode = mode};
		pc = taken ? target : pc + size;
		index++;
		group = f->p;
		continue;
	leave:
		f->ev = insn;
		break;
	}
	s->offset += (uint64_t)(group - (d->reader.buf + (s->offset - d->reader.start)));
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

/* The groups of other harts: the tracker moves on, nothing is told. */
static void run_others(struct hf_stf_dec *d, const uint8_t *p, const uint8_t *last)
{
	struct hf_stf_sync *s = &d->sync;
	const uint8_t *group = p;
	const uint64_t vector = 4 + 8 * (uint64_t)d->header->layout.vector_words;
	uint64_t target = 0, pc = s->next, forced = pc;
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
		case HF_STF_INST_REG:
			if ((p[3] & 0xf) != HF_STF_REG_VECTOR)
				p += HF_STF_SIZE_INST_REG;
			else if (vector <= 4 || (uint64_t)(last - p) < vector)
				goto leave;
			else
				p += vector;
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
			if (!plain_sizes[*p])
				goto leave;
			p += plain_sizes[*p];
		}
	}
leave:
	s->offset += (uint64_t)(group - (d->reader.buf + (s->offset - d->reader.start)));
	s->next = pc;
}

void hf_stf_fast_run(struct hf_stf_dec *d, struct hf_stf_out *out)
{
	const struct hf_reader *r = &d->reader;
	struct hf_stf_sync *s = &d->sync;
	struct fast f = {.ev = out->ev + out->n, .stop = out->ev + out->max, .h = d->header};

	if (s->offset < r->start || s->offset + REACH > r->start + r->len)
		return;
	f.p = r->buf + (s->offset - r->start);
	f.last = r->buf + r->len - REACH;
	if (!hf_stf_sync_ours(d, s)) {
		if (d->last_hart == hf_stf_hart_of_thread(s->ids[0]))
			run_others(d, f.p, f.last);
	} else if (s->begun && s->expected == s->next && !hf_stf_sync_unsaid(s)) {
		run_ours(d, &f);
		out->n = (size_t)(f.ev - out->ev);
	}
}
