#include "codecs/stf/encoder.h"

#include <stdlib.h>

/* The unknown cause of an attempt that a source does not explain; the first that is the platform's to define. */
#define CAUSE_UNKNOWN 24

/* ---- modes ---- */

/* The mode that a reader makes of the word we write for this one. */
static uint8_t as_read(const struct hf_stf_enc *e, unsigned mode)
{
	uint64_t word;

	return hf_stf_word_of_mode(mode, &word) ? hf_stf_mode_of_word(e->arch, word) : (uint8_t)HF_MODE_UNKNOWN;
}

static void write_mode(struct hf_stf_enc *e, struct hf_sink *sink, unsigned mode)
{
	struct hf_stf_record rec = {.descriptor = HF_STF_EVENT, .value = HF_STF_EVENT_MODE_CHANGE};
	uint64_t word = 0;

	rec.count = hf_stf_word_of_mode(mode, &word);
	hf_stf_write_record(e, sink, &rec);
	if (rec.count) {
		hf_put64(hf_sink_room(sink, 8), word);
		sink->p += 8;
	}
	e->s.said_mode = as_read(e, mode);
}

/* The MODE_CHANGE that holds for the open group's own instruction: behind its accesses, before its other events. */
static void flush_mode(struct hf_stf_enc *e, struct hf_sink *sink)
{
	if (!(e->s.flags & HF_STF_ENC_MODE))
		return;
	e->s.flags &= (uint16_t)~HF_STF_ENC_MODE;
	write_mode(e, sink, e->s.held_mode);
}

/* ---- data ---- */

static void write_target(struct hf_stf_enc *e, struct hf_sink *sink, uint64_t address)
{
	uint8_t *p = hf_sink_room(sink, HF_STF_SIZE_EVENT_PC_TARGET);

	*p = HF_STF_EVENT_PC_TARGET;
	hf_put64(p + 1, address);
	sink->p += HF_STF_SIZE_EVENT_PC_TARGET;
	e->s.next = address;
}

/* Behind the last byte of DATA. */
static void end_data(struct hf_stf_enc *e, struct hf_sink *sink)
{
	static const uint8_t zeros[64];
	struct hf_stf_enc_state *s = &e->s;

	for (; s->fill; s->fill -= s->fill < sizeof zeros ? s->fill : (uint32_t)sizeof zeros)
		hf_sink_write(sink, zeros, s->fill < sizeof zeros ? s->fill : sizeof zeros);
	if (s->flags & HF_STF_ENC_TARGET)
		write_target(e, sink, s->handler);
	if (s->flags & HF_STF_ENC_AFTER)
		write_mode(e, sink, s->after_mode);
	s->flags &= (uint16_t) ~(HF_STF_ENC_TARGET | HF_STF_ENC_AFTER);
	s->handler = 0;
	s->after_mode = 0;
	s->head = 0;
}

/* Awaits left bytes of DATA, of which take are to be written, and fill zeros behind them. */
static void begin_data(struct hf_stf_enc *e, struct hf_sink *sink, uint8_t head, uint32_t left, uint32_t take,
		       uint32_t fill)
{
	e->s.head = head;
	e->s.left = left;
	e->s.take = take;
	e->s.fill = fill;
	if (left == 0)
		end_data(e, sink);
}

/* DATA that never came: a head promises so many bytes in the file. */
static void break_data(struct hf_stf_enc *e, struct hf_sink *sink)
{
	struct hf_stf_enc_state *s = &e->s;

	if (s->left == 0)
		return;
	if (s->head != HF_EVENT_MEM && s->head != HF_EVENT_BUS)
		s->fill += s->take;
	s->left = 0;
	s->take = 0;
	end_data(e, sink);
}

/* Contents go into a record for each word. */
static void write_words(struct hf_sink *sink, uint8_t descriptor, const uint8_t *bytes, uint32_t n)
{
	uint8_t *p = hf_sink_room(sink, 4 * HF_STF_SIZE_INST_MEM_CONTENT);
	uint64_t words[4] = {0};

	memcpy(words, bytes, n);
	for (uint32_t i = 0; i < n; i += 8) {
		*p = descriptor;
		hf_put64(p + 1, words[i / 8]);
		p += HF_STF_SIZE_INST_MEM_CONTENT;
	}
	sink->p = p;
}

static void put_data(struct hf_stf_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	struct hf_stf_enc_state *s = &e->s;
	uint32_t n = ev->small < sizeof ev->data.bytes ? ev->small : (uint32_t)sizeof ev->data.bytes;
	uint32_t take;

	n = n < s->left ? n : s->left;
	if (n == 0)
		return;
	take = n < s->take ? n : s->take;
	if (take && s->head == HF_EVENT_MEM)
		write_words(sink, HF_STF_INST_MEM_CONTENT, ev->data.bytes, take);
	else if (take && s->head == HF_EVENT_BUS)
		write_words(sink, HF_STF_BUS_MASTER_CONTENT, ev->data.bytes, take);
	else
		hf_sink_write(sink, ev->data.bytes, take);
	s->left -= n;
	s->take -= take;
	if (s->left == 0)
		end_data(e, sink);
}

/* ---- groups ---- */

static void need_header(struct hf_stf_enc *e, struct hf_sink *sink)
{
	/* Records before the first instruction: a slice knows its first pc already, and so does an STF source. */
	if ((e->s.flags & (HF_STF_ENC_HEADER | HF_STF_ENC_CUT)) == HF_STF_ENC_CUT)
		hf_stf_write_header(e, sink, e->s.next, e->s.isa);
	else if (!(e->s.flags & HF_STF_ENC_HEADER))
		hf_stf_write_header(e, sink, e->source ? e->source->force_pc : 0,
				    (uint8_t)hf_stream_isa(e->enc.stream, e->enc.hart));
}

/* A reader must see why it did not retire, or it takes it for an instruction that did. */
static void explain_attempt(struct hf_stf_enc *e, struct hf_sink *sink)
{
	hf_stf_write_remark(sink, "the cause of this event is not known, its number is made up");
	hf_stf_write_record(e, sink, &(struct hf_stf_record){.descriptor = HF_STF_EVENT, .value = CAUSE_UNKNOWN});
}

static void close_group(struct hf_stf_enc *e, struct hf_sink *sink)
{
	struct hf_stf_enc_state *s = &e->s;
	uint8_t *p;

	if (s->left)
		break_data(e, sink);
	if (!(s->flags & HF_STF_ENC_GROUP))
		return;
	if (s->flags & HF_STF_ENC_MODE)
		flush_mode(e, sink);
	if ((s->flags & (HF_STF_ENC_ATTEMPT | HF_STF_ENC_FAILED)) == HF_STF_ENC_ATTEMPT)
		explain_attempt(e, sink);
	p = hf_sink_room(sink, HF_STF_SIZE_INST_OPCODE32);
	hf_put32(p + 1, s->opcode);
	if (s->size == 2) {
		*p = HF_STF_INST_OPCODE16;
		sink->p += HF_STF_SIZE_INST_OPCODE16;
	} else {
		*p = HF_STF_INST_OPCODE32;
		sink->p += HF_STF_SIZE_INST_OPCODE32;
	}
	s->flags &= (uint16_t) ~(HF_STF_ENC_GROUP | HF_STF_ENC_ATTEMPT | HF_STF_ENC_NOW | HF_STF_ENC_TRAP |
				 HF_STF_ENC_FAILED);
	s->opcode = 0;
	s->size = 0;
	s->pc = 0;
}

/* Which mode the instruction needs that a reader would not give it. */
static void hold_mode(struct hf_stf_enc *e, uint8_t mode)
{
	const uint8_t wanted = as_read(e, mode);
	const uint8_t given = e->s.flags & HF_STF_ENC_MODE ? as_read(e, e->s.held_mode) : e->s.said_mode;

	if (wanted != HF_MODE_UNKNOWN && wanted != given) {
		e->s.held_mode = mode;
		e->s.flags |= HF_STF_ENC_MODE;
	}
}

static void put_insn(struct hf_stf_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	struct hf_stf_enc_state *s = &e->s;
	const struct hf_ev_insn *insn = &ev->insn;
	bool attempt = ev->kind == HF_EVENT_ATTEMPT;

	close_group(e, sink);
	if (!(s->flags & HF_STF_ENC_HEADER))
		hf_stf_write_header(e, sink, insn->pc, insn->isa);
	if (insn->isa != s->isa) {
		hf_stf_write_record(
			e, sink,
			&(struct hf_stf_record){.descriptor = HF_STF_INST_IEM, .code = hf_stf_iem_of_isa(insn->isa)});
		s->isa = insn->isa;
	}
	if (insn->mode != s->said_mode)
		hold_mode(e, insn->mode);
	/* a mode that holds for this instruction already needs FORCE_PC, but in the first group */
	if (insn->pc != s->next || (s->flags & HF_STF_ENC_FORCE) ||
	    (s->flags & (HF_STF_ENC_MODE | HF_STF_ENC_BEGUN)) == (HF_STF_ENC_MODE | HF_STF_ENC_BEGUN)) {
		hf_stf_write_record(e, sink,
				    &(struct hf_stf_record){.descriptor = HF_STF_FORCE_PC, .address = insn->pc});
		s->flags |= HF_STF_ENC_NOW;
	}
	if (!(s->flags & HF_STF_ENC_BEGUN))
		s->flags |= HF_STF_ENC_NOW;
	s->flags &= (uint16_t)~HF_STF_ENC_FORCE;
	s->flags |= HF_STF_ENC_BEGUN | HF_STF_ENC_GROUP | (attempt ? HF_STF_ENC_ATTEMPT : 0);
	s->opcode = insn->opcode;
	s->size = insn->size;
	s->pc = insn->pc;
	s->next = insn->pc + insn->size;
	if (!attempt && (ev->flags & HF_EVF_TAKEN)) {
		uint8_t *p = hf_sink_room(sink, HF_STF_SIZE_INST_PC_TARGET);

		*p = HF_STF_INST_PC_TARGET;
		hf_put64(p + 1, insn->target);
		sink->p += HF_STF_SIZE_INST_PC_TARGET;
		s->next = insn->target;
	}
}

/* ---- attachments ---- */

/* What an access of an Arm source other than STF has of the attributes in hartfs-views(5). */
static uint16_t arm_attr(const struct hf_ev_mem *mem)
{
	const uint16_t attr = mem->attr & (HF_ARM_ATTR_CHECKED | HF_ARM_ATTR_RANGE);

	return mem->tag ? (uint16_t)(attr | HF_ARM_ATTR_TAG | (mem->tag & 0xf)) : attr;
}

/* An access size in the unit of this stream. */
static uint32_t stored_size(const struct hf_stf_enc *e, const struct hf_event *ev, uint32_t bytes)
{
	uint64_t size = e->bits && !(ev->flags & HF_EVF_UNIT_ODD) ? (uint64_t)bytes * 8 : bytes;

	return size < UINT16_MAX ? (uint32_t)size : UINT16_MAX;
}

static void put_mem(struct hf_stf_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	const struct hf_ev_mem *mem = &ev->mem;
	const unsigned kind = ev->flags & (HF_EVF_READ | HF_EVF_WRITE);
	uint8_t *p = hf_sink_room(sink, 2 * HF_STF_SIZE_INST_MEM_ACCESS + HF_STF_SIZE_INST_MEM_CONTENT);
	uint16_t attr = mem->attr;
	bool range;

	if (e->arch == HF_ARCH_ARM && !e->source)
		attr = arm_attr(mem);
	/* read-modify-write is two accesses; the content goes with the write */
	for (unsigned type = HF_STF_READ; type <= HF_STF_WRITE; type++) {
		if (kind && !(kind & type))
			continue;
		*p = HF_STF_INST_MEM_ACCESS;
		hf_put64(p + 1, mem->address);
		hf_put16(p + 9, (uint16_t)stored_size(e, ev, mem->size));
		hf_put16(p + 11, attr);
		p[13] = kind ? (uint8_t)type : 0;
		p += HF_STF_SIZE_INST_MEM_ACCESS;
		if (!kind)
			break;
	}
	/* of a range the content is its length, for which the size has too few bits (hartfs-views(5)) */
	range = e->arch == HF_ARCH_ARM && (attr & HF_ARM_ATTR_RANGE);
	if (ev->small || range) {
		*p = HF_STF_INST_MEM_CONTENT;
		hf_put64(p + 1, range ? mem->size : mem->data);
		p += HF_STF_SIZE_INST_MEM_CONTENT;
	}
	sink->p = p;
	begin_data(e, sink, HF_EVENT_MEM, ev->size, range ? 0 : ev->size, 0);
}

static void put_bus(struct hf_stf_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	const unsigned kind = ev->flags & (HF_EVF_READ | HF_EVF_WRITE);
	struct hf_stf_record rec = {
		.descriptor = HF_STF_BUS_MASTER_ACCESS,
		.address = ev->bus.address,
		.size = stored_size(e, ev, ev->bus.size),
		.attr = ev->bus.attr,
		.master = ev->bus.master,
		.index = ev->bus.index,
	};

	for (unsigned type = HF_STF_READ; type <= HF_STF_WRITE; type++)
		if (kind & type) {
			rec.code = type;
			hf_stf_write_record(e, sink, &rec);
		}
	if (!kind)
		hf_stf_write_record(e, sink, &rec);
	if (ev->small)
		write_words(sink, HF_STF_BUS_MASTER_CONTENT, (const uint8_t *)&ev->bus.data, 8);
	begin_data(e, sink, HF_EVENT_BUS, ev->size, ev->size, 0);
}

static void put_register(struct hf_stf_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	const bool vector = ev->reg.class == HF_STF_REG_VECTOR;
	/* a vector register is as long as VLEN says, whatever is known of it */
	const uint32_t room = vector && e->layout.vector_words ? 8 * (e->layout.vector_words - 1) : 0;
	const uint32_t take = ev->size < room ? ev->size : room;
	const struct hf_stf_record rec = {
		.descriptor = HF_STF_INST_REG,
		.number = ev->reg.number,
		.code = (uint32_t)(ev->reg.class & 0xf) | (uint32_t)ev->reg.role << 4,
		.value = ev->reg.value,
	};

	if ((vector && !e->layout.vector_words) || ev->reg.class > 4)
		hf_stf_write_foreign(sink, ev);
	else
		hf_stf_write_record(e, sink, &rec);
	begin_data(e, sink, HF_EVENT_REG, ev->size, take, room - take);
}

static void put_walk(struct hf_stf_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	/* A page that was used before the slice counts as used from its start on. */
	const uint64_t first = ev->walk.first > e->s.base ? ev->walk.first - e->s.base : 0;
	const uint32_t entries = ev->walk.entries < UINT8_MAX ? ev->walk.entries : UINT8_MAX;
	const uint32_t room = 16 * entries, take = ev->size < room ? ev->size : room;
	const struct hf_stf_record rec = {
		.descriptor = HF_STF_PAGE_TABLE_WALK,
		.address = ev->walk.va,
		.value = first,
		.size = ev->walk.page_size,
		.count = entries,
	};

	hf_stf_write_record(e, sink, &rec);
	begin_data(e, sink, HF_EVENT_TRANSLATION, ev->size, take, room - take);
}

/* The metadata that the seed's event table asks for, for sources that give a trap value only. */
static void write_metadata(struct hf_stf_enc *e, struct hf_sink *sink, const struct hf_event *ev,
			   struct hf_stf_event_layout layout)
{
	const bool ecall = ev->trap.cause >= 8 && ev->trap.cause <= 11 && e->arch == HF_ARCH_RISCV;
	uint64_t words[3] = {0};

	/* of interrupts and system calls the only word is something else, and not known */
	if (!(ev->flags & HF_EVF_ASYNC) && !ecall) {
		words[0] = e->s.pc;
		words[1] = e->s.opcode;
		words[2] = hf_stf_iem_of_isa(e->s.isa);
		if (layout.value >= 0)
			words[layout.value] = ev->trap.value;
	}
	hf_sink_write(sink, words, 8u * layout.fields);
}

/*
 * An exception that no instruction of the source has: an interrupt, or nothing could be fetched. STF wants an
 * instruction, and for what was not fetched a NOP, which does not retire.
 */
static void open_nop(struct hf_stf_enc *e, struct hf_sink *sink)
{
	static const struct {
		uint32_t opcode;
		uint8_t size;
	} nops[HF_ISA_COUNT] = {
		[HF_ISA_RV32] = {0x00000013, 4}, [HF_ISA_RV64] = {0x00000013, 4}, [HF_ISA_A64] = {0xd503201f, 4},
		[HF_ISA_A32] = {0xe320f000, 4},	 [HF_ISA_T32] = {0xbf00, 2}};
	const uint8_t other = e->arch == HF_ARCH_ARM ? HF_ISA_A64 : HF_ISA_RV64;
	const uint8_t isa = e->s.isa < HF_ISA_COUNT && nops[e->s.isa].size ? e->s.isa : other;
	const struct hf_event nop = {
		.kind = HF_EVENT_ATTEMPT,
		.insn = {.pc = e->s.next, .opcode = nops[isa].opcode, .size = nops[isa].size, .isa = isa,
			 .mode = e->s.flags & HF_STF_ENC_MODE ? e->s.held_mode : e->s.said_mode},
	};

	put_insn(e, sink, &nop);
}

/* An ecall or ebreak that a packet source calls retired: STF has nothing for the exception that it raised then. */
static bool is_retired_call(const struct hf_stf_enc *e, uint64_t id)
{
	const uint32_t opcode = e->s.opcode;

	return e->arch == HF_ARCH_RISCV && !(id & HF_STF_EVENT_INTERRUPT) &&
	       (e->s.flags & (HF_STF_ENC_GROUP | HF_STF_ENC_ATTEMPT)) == HF_STF_ENC_GROUP &&
	       (opcode == 0x00000073 || opcode == 0x00100073 || opcode == 0x9002);
}

/* Whether the open group's instruction is not the one that this EVENT would belong to. */
static bool needs_nop(const struct hf_stf_enc *e, uint64_t id)
{
	const uint16_t flags = e->s.flags;

	if (e->source || !(flags & HF_STF_ENC_BEGUN) || id == HF_STF_EVENT_MODE_CHANGE || is_retired_call(e, id))
		return false;
	if (!(flags & HF_STF_ENC_GROUP) || (flags & HF_STF_ENC_TRAP))
		return true;
	return !(flags & HF_STF_ENC_ATTEMPT) && !hf_stf_event_retires(e->arch, id);
}

static void put_trap(struct hf_stf_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	struct hf_stf_enc_state *s = &e->s;
	struct hf_stf_record rec = {.descriptor = HF_STF_EVENT, .value = CAUSE_UNKNOWN};
	uint32_t take = ev->size < 8 * UINT8_MAX ? ev->size : 8 * UINT8_MAX;

	if (ev->flags & HF_EVF_CAUSE)
		rec.value = ev->trap.cause & ~HF_STF_EVENT_INTERRUPT;
	if (ev->flags & HF_EVF_ASYNC)
		rec.value |= HF_STF_EVENT_INTERRUPT;
	if (needs_nop(e, rec.value))
		open_nop(e, sink);
	/* An EVENT would make an attempt of an instruction that retired. */
	if (!(s->flags & HF_STF_ENC_GROUP) || rec.value == HF_STF_EVENT_MODE_CHANGE ||
	    (!(s->flags & HF_STF_ENC_ATTEMPT) && !hf_stf_event_retires(e->arch, rec.value))) {
		close_group(e, sink);
		hf_stf_write_foreign(sink, ev);
		begin_data(e, sink, HF_EVENT_TRAP, ev->size, 0, 0);
		return;
	}
	flush_mode(e, sink);
	if (!(ev->flags & HF_EVF_CAUSE))
		hf_stf_write_remark(sink, "the cause of this event is not known, its number is made up");
	s->flags |= HF_STF_ENC_TRAP;
	if (!hf_stf_event_retires(e->arch, rec.value))
		s->flags |= HF_STF_ENC_FAILED;
	if (e->source || ev->size) {
		rec.count = (take + 7) / 8;
		hf_stf_write_record(e, sink, &rec);
	} else {
		struct hf_stf_event_layout layout = hf_stf_event_layout(e->arch, rec.value);

		rec.count = layout.fields;
		hf_stf_write_record(e, sink, &rec);
		write_metadata(e, sink, ev, layout);
	}
	if (ev->flags & HF_EVF_HANDLER) {
		s->flags |= HF_STF_ENC_TARGET;
		s->handler = ev->trap.handler;
	}
	if (ev->flags & HF_EVF_MODE) {
		s->flags |= HF_STF_ENC_AFTER;
		s->after_mode = ev->small < HF_MODE_COUNT ? (uint8_t)ev->small : (uint8_t)HF_MODE_UNKNOWN;
	}
	begin_data(e, sink, HF_EVENT_TRAP, ev->size, take, -take & 7);
}

static void put_return(struct hf_stf_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	if (!(e->s.flags & HF_STF_ENC_GROUP) || !(ev->flags & HF_EVF_HANDLER)) {
		close_group(e, sink);
		hf_stf_write_foreign(sink, ev);
	} else {
		flush_mode(e, sink);
		write_mode(e, sink, ev->flags & HF_EVF_MODE ? ev->small : (unsigned)HF_MODE_UNKNOWN);
		write_target(e, sink, ev->trap.handler);
	}
	begin_data(e, sink, HF_EVENT_TRAP_RETURN, ev->size, 0, 0);
}

static void put_uop(struct hf_stf_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	flush_mode(e, sink);
	hf_stf_write_record(e, sink,
			    &(struct hf_stf_record){.descriptor = HF_STF_INST_MICROOP,
						    .code = ev->small,
						    .size = (uint32_t)ev->uop.opcode});
}

static void put_attachment(struct hf_stf_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	need_header(e, sink);
	if (!(e->s.flags & HF_STF_ENC_GROUP) && ev->kind != HF_EVENT_TRAP) {
		hf_stf_write_foreign(sink, ev);
		begin_data(e, sink, ev->kind, ev->size, 0, 0);
		return;
	}
	switch (ev->kind) {
	case HF_EVENT_MEM:
		put_mem(e, sink, ev);
		break;
	case HF_EVENT_REG:
		put_register(e, sink, ev);
		break;
	case HF_EVENT_READY_REG:
		hf_stf_write_record(
			e, sink,
			&(struct hf_stf_record){.descriptor = HF_STF_INST_READY_REG, .number = ev->reg.number});
		break;
	case HF_EVENT_UOP:
		put_uop(e, sink, ev);
		break;
	case HF_EVENT_TRANSLATION:
		put_walk(e, sink, ev);
		break;
	case HF_EVENT_BUS:
		put_bus(e, sink, ev);
		break;
	case HF_EVENT_TRAP:
		put_trap(e, sink, ev);
		break;
	default:
		put_return(e, sink, ev);
	}
}

/* ---- what stands on its own ---- */

static void put_ids(struct hf_stf_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	struct hf_stf_enc_state *s = &e->s;
	const uint32_t told[3] = {ev->context.hw, ev->context.pid, ev->context.tid};
	uint32_t ids[3];

	memcpy(ids, s->ids, sizeof ids);
	for (unsigned i = 0; i < 3; i++)
		if (ev->size & (uint32_t)HF_CONTEXT_HW << i)
			ids[i] = told[i];
	if ((s->flags & HF_STF_ENC_IDS) && memcmp(ids, s->ids, sizeof ids) == 0)
		return;
	/* the header has one PROCESS_ID_EXT; of other sources it waits for the first pc and takes the last ids */
	if ((s->flags & HF_STF_ENC_IDS) && e->source)
		need_header(e, sink);
	memcpy(s->ids, ids, sizeof ids);
	s->flags |= HF_STF_ENC_IDS;
	if (s->flags & HF_STF_ENC_HEADER)
		hf_stf_write_record(
			e, sink,
			&(struct hf_stf_record){
				.descriptor = HF_STF_PROCESS_ID_EXT, .hw = ids[0], .pid = ids[1], .tid = ids[2]});
}

/* A change that no trap explains. In the group before it holds from the next instruction on, if a reader would not
 * take it for the trap's or for the group's own. */
static void put_mode(struct hf_stf_enc *e, struct hf_sink *sink, uint8_t mode)
{
	struct hf_stf_enc_state *s = &e->s;

	if ((s->flags & (HF_STF_ENC_GROUP | HF_STF_ENC_NOW | HF_STF_ENC_TRAP)) == HF_STF_ENC_GROUP) {
		flush_mode(e, sink);
		write_mode(e, sink, mode);
		close_group(e, sink);
	} else {
		close_group(e, sink);
		s->held_mode = mode;
		s->flags |= HF_STF_ENC_MODE;
	}
}

static void put_context(struct hf_stf_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	const struct hf_ev_context *c = &ev->context;

	break_data(e, sink);
	if (ev->size & HF_CONTEXT_MODE)
		put_mode(e, sink, c->mode < HF_MODE_COUNT ? c->mode : (uint8_t)HF_MODE_UNKNOWN);
	close_group(e, sink);
	if (ev->size & (HF_CONTEXT_HW | HF_CONTEXT_PID | HF_CONTEXT_TID))
		put_ids(e, sink, ev);
	if (ev->size & (HF_CONTEXT_ASID | HF_CONTEXT_VMID | HF_CONTEXT_VLEN))
		need_header(e, sink);
	if (ev->size & HF_CONTEXT_ASID)
		hf_stf_write_remark(sink, "address space %u", c->asid);
	if (ev->size & HF_CONTEXT_VMID)
		hf_stf_write_remark(sink, "virtual machine %u", c->vmid);
	if (ev->size & HF_CONTEXT_VLEN)
		hf_stf_write_remark(sink, "vector length %u bits", c->vlen * 8u);
}

/* The header waits for the ids, which come next. */
static void put_begin(struct hf_stf_enc *e, const struct hf_event *ev)
{
	if (e->s.flags)
		return;
	e->s.flags = HF_STF_ENC_CUT;
	e->s.next = ev->begin.pc;
	e->s.isa = ev->small < HF_ISA_COUNT ? (uint8_t)ev->small : (uint8_t)HF_ISA_NONE;
	e->s.base = ev->begin.record;
}

static void put_text(struct hf_stf_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	hf_stf_write_record(e, sink, &(struct hf_stf_record){.descriptor = HF_STF_COMMENT, .count = ev->size});
	begin_data(e, sink, HF_EVENT_TEXT, ev->size, ev->size, 0);
}

/* GAP, TIMESTAMP and the like. */
static void put_foreign(struct hf_stf_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	/* of those that use size for something else no DATA follows */
	const bool loss = ev->kind == HF_EVENT_GAP || ev->kind == HF_EVENT_DOUBT || ev->kind == HF_EVENT_NOTE;

	hf_stf_write_foreign(sink, ev);
	if (!loss)
		begin_data(e, sink, ev->kind, ev->size, 0, 0);
}

static void put_alone(struct hf_stf_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	close_group(e, sink);
	switch (ev->kind) {
	case HF_EVENT_NONE:
		break;
	case HF_EVENT_BEGIN:
		put_begin(e, ev);
		break;
	case HF_EVENT_TEXT:
		need_header(e, sink);
		put_text(e, sink, ev);
		break;
	case HF_EVENT_DISCONTINUITY:
		/* FORCE_PC says it, also where the flow happens to go on at the next address */
		if (e->s.flags & HF_STF_ENC_BEGUN)
			e->s.flags |= HF_STF_ENC_FORCE;
		if (ev->flags & HF_EVF_UNTRACED) {
			need_header(e, sink);
			put_foreign(e, sink, ev);
		}
		break;
	default:
		need_header(e, sink);
		put_foreign(e, sink, ev);
	}
}

/* ---- the encoder as codec.h wants it ---- */

static void put(struct hf_enc *enc, const struct hf_event *ev, size_t n, struct hf_sink *sink)
{
	struct hf_stf_enc *e = (struct hf_stf_enc *)enc;

	for (const struct hf_event *end = ev + n; ev < end; ev++) {
		if (ev->kind == HF_EVENT_DATA) {
			put_data(e, sink, ev);
		} else if (hf_event_is_instruction(ev)) {
			put_insn(e, sink, ev);
		} else if (hf_event_is_attachment(ev)) {
			break_data(e, sink);
			put_attachment(e, sink, ev);
		} else if (ev->kind == HF_EVENT_CONTEXT) {
			put_context(e, sink, ev);
		} else {
			put_alone(e, sink, ev);
		}
	}
}

static void end(struct hf_enc *enc, struct hf_sink *sink)
{
	struct hf_stf_enc *e = (struct hf_stf_enc *)enc;

	close_group(e, sink);
	need_header(e, sink);
	if (e->s.flags & HF_STF_ENC_MODE)
		hf_stf_write_remark(sink, "mode %s", hf_mode_name(e->s.held_mode));
}

static const char *refuses(const struct hf_stream_info *info)
{
	if (!(info->flags & HF_STREAM_HARTS))
		return "the capture holds no instructions";
	if (info->arch != HF_ARCH_RISCV && info->arch != HF_ARCH_ARM)
		return "STF is for RISC-V and ARM here";
	return NULL;
}

static int create(const struct hf_stream *stream, uint32_t hart, const struct hf_enc_env *env, struct hf_enc **ret_enc)
{
	struct hf_stf_enc *e = calloc(1, sizeof *e);

	(void)env;
	(void)hart;
	if (!e)
		return HF_ERR_NOMEM;
	e->source = stream->codec == &hf_codec_stf ? stream->info.header : NULL;
	e->layout.event64 = true;
	e->layout.vector_words = (stream->info.vlen + 63) / 64;
	e->arch = stream->info.arch;
	e->bits = e->source && e->source->bits;
	*ret_enc = &e->enc;
	return 0;
}

static void destroy(struct hf_enc *enc)
{
	free(enc);
}

/* The state as it is stored: addresses as their distance from the one before. */
static const struct hf_state_field fields[] = {
	HF_STATE_FIELD(struct hf_stf_enc_state, flags, HF_STF_ENC_ALL),
	HF_STATE_FIELD(struct hf_stf_enc_state, said_mode, HF_MODE_COUNT - 1),
	HF_STATE_FIELD(struct hf_stf_enc_state, held_mode, HF_MODE_COUNT - 1),
	HF_STATE_FIELD(struct hf_stf_enc_state, after_mode, HF_MODE_COUNT - 1),
	HF_STATE_FIELD(struct hf_stf_enc_state, isa, HF_ISA_COUNT - 1),
	HF_STATE_FIELD(struct hf_stf_enc_state, size, 4),
	HF_STATE_FIELD(struct hf_stf_enc_state, head, HF_EVENT_KINDS - 1),
	HF_STATE_FIELD(struct hf_stf_enc_state, opcode, UINT32_MAX),
	HF_STATE_FIELD(struct hf_stf_enc_state, left, UINT32_MAX),
	HF_STATE_FIELD(struct hf_stf_enc_state, take, UINT32_MAX),
	HF_STATE_FIELD(struct hf_stf_enc_state, fill, 16 * UINT8_MAX + HF_STF_VLEN_MAX / 8),
	HF_STATE_FIELD(struct hf_stf_enc_state, ids[0], UINT32_MAX),
	HF_STATE_FIELD(struct hf_stf_enc_state, ids[1], UINT32_MAX),
	HF_STATE_FIELD(struct hf_stf_enc_state, ids[2], UINT32_MAX),
	HF_STATE_FIELD(struct hf_stf_enc_state, pc, UINT64_MAX),
	HF_STATE_FIELD(struct hf_stf_enc_state, next, UINT64_MAX),
	HF_STATE_FIELD(struct hf_stf_enc_state, handler, UINT64_MAX),
	HF_STATE_FIELD(struct hf_stf_enc_state, base, UINT64_MAX),
};

static const struct hf_state_table table = {
	.version = 2,
	.count = sizeof fields / sizeof fields[0],
	.fields = fields,
};

static uint64_t zigzag(uint64_t v)
{
	return v << 1 ^ (uint64_t) - (v >> 63);
}

static uint64_t unzigzag(uint64_t v)
{
	return v >> 1 ^ (uint64_t) - (v & 1);
}

static size_t save(const struct hf_enc *enc, uint8_t *blob)
{
	struct hf_stf_enc_state s = ((const struct hf_stf_enc *)enc)->s;

	s.pc = s.flags & HF_STF_ENC_GROUP ? zigzag(s.pc - s.next) : 0;
	s.handler = s.flags & HF_STF_ENC_TARGET ? zigzag(s.handler - s.next) : 0;
	s.next = zigzag(s.next);
	return hf_state_save(&table, &s, blob);
}

static int load(struct hf_enc *enc, const uint8_t *blob, size_t size)
{
	struct hf_stf_enc_state s = {0};
	int err = hf_state_load(&table, &s, blob, size);

	if (err)
		return err;
	s.next = unzigzag(s.next);
	s.pc = s.flags & HF_STF_ENC_GROUP ? s.next + unzigzag(s.pc) : 0;
	s.handler = s.flags & HF_STF_ENC_TARGET ? s.next + unzigzag(s.handler) : 0;
	((struct hf_stf_enc *)enc)->s = s;
	return 0;
}

const struct hf_enc_ops hf_stf_enc_ops = {
	.view = "trace.stf",
	.version = 4,
	.refuses = refuses,
	.create = create,
	.destroy = destroy,
	.put = put,
	.end = end,
	.save = save,
	.load = load,
};
