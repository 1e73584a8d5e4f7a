/* SPDX-License-Identifier: Apache-2.0 */
/* What the STF encoder writes into an open group: accesses, registers, page walks, traps. */
#include "codecs/stf/encoder.h"

/* What an access of an Arm source other than STF has of the attributes in hartfs-stf(5). */
static uint16_t arm_attr(const struct hf_ev_mem *mem)
{
	const uint16_t attr = mem->attr & (HF_ARM_ATTR_CHECKED | HF_ARM_ATTR_RANGE);

	return mem->tag ? (uint16_t)(attr | HF_ARM_ATTR_TAG | (mem->tag & 0xf)) : attr;
}

/* An access size in the unit that the source has for it. */
static uint32_t stored_size(const struct hf_event *ev, uint32_t bytes)
{
	uint64_t size = ev->flags & HF_EVF_SIZE_BITS ? (uint64_t)bytes * 8 : bytes;

	return size < UINT16_MAX ? (uint32_t)size : UINT16_MAX;
}

static void put_mem(struct hf_stf_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	const struct hf_ev_mem *mem = &ev->mem;
	const unsigned kind = ev->flags & (HF_EVF_READ | HF_EVF_WRITE);
	uint8_t *p;
	uint16_t attr = mem->attr;
	bool range;

	if (ev->flags & HF_EVF_NO_ADDRESS) {
		hf_stf_write_foreign(sink, ev);
		hf_stf_enc_begin_data(e, sink, HF_EVENT_MEM, ev->size, 0, 0);
		return;
	}
	if (e->arch == HF_ARCH_ARM && !e->source)
		attr = arm_attr(mem);
	p = hf_sink_room(sink, 2 * HF_STF_SIZE_INST_MEM_ACCESS + HF_STF_SIZE_INST_MEM_CONTENT);
	/* read-modify-write is two accesses; the content goes with the write */
	for (unsigned type = HF_STF_READ; type <= HF_STF_WRITE; type++) {
		if (kind && !(kind & type))
			continue;
		*p = HF_STF_INST_MEM_ACCESS;
		hf_put64(p + 1, mem->address);
		hf_put16(p + 9, (uint16_t)stored_size(ev, mem->size));
		hf_put16(p + 11, attr);
		p[13] = kind ? (uint8_t)type : 0;
		p += HF_STF_SIZE_INST_MEM_ACCESS;
		if (!kind)
			break;
	}
	/* of a range the content is its length, for which the size has too few bits (hartfs-stf(5)) */
	range = e->arch == HF_ARCH_ARM && (attr & HF_ARM_ATTR_RANGE);
	if (ev->words || range) {
		*p = HF_STF_INST_MEM_CONTENT;
		hf_put64(p + 1, range ? mem->size : mem->data);
		p += HF_STF_SIZE_INST_MEM_CONTENT;
	}
	sink->p = p;
	hf_stf_enc_begin_data(e, sink, HF_EVENT_MEM, ev->size, range ? 0 : ev->size, 0);
}

static void put_bus(struct hf_stf_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	const unsigned kind = ev->flags & (HF_EVF_READ | HF_EVF_WRITE);
	struct hf_stf_record rec = {
		.descriptor = HF_STF_BUS_MASTER_ACCESS,
		.address = ev->bus.address,
		.size = stored_size(ev, ev->bus.size),
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
	if (ev->words)
		hf_stf_enc_write_words(sink, HF_STF_BUS_MASTER_CONTENT, (const uint8_t *)&ev->bus.data, 8);
	hf_stf_enc_begin_data(e, sink, HF_EVENT_BUS, ev->size, ev->size, 0);
}

static void put_register(struct hf_stf_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	const bool vector = ev->reg.class == HF_REG_VECTOR;
	/* a vector register is as long as VLEN says, whatever is known of it */
	const uint32_t room = vector && e->layout.vector_words ? 8 * (e->layout.vector_words - 1) : 0;
	const uint32_t take = ev->size < room ? ev->size : room;
	const struct hf_stf_record rec = {
		.descriptor = HF_STF_INST_REG,
		.number = ev->reg.number,
		.code = (uint32_t)(ev->reg.class & 0xf) | (uint32_t)ev->reg.role << 4,
		.value = ev->reg.value,
	};

	if ((vector && !e->layout.vector_words) || ev->reg.class > HF_REG_CSR)
		hf_stf_write_foreign(sink, ev);
	else
		hf_stf_write_record(e, sink, &rec);
	hf_stf_enc_begin_data(e, sink, HF_EVENT_REG, ev->size, take, room - take);
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
	hf_stf_enc_begin_data(e, sink, HF_EVENT_TRANSLATION, ev->size, take, room - take);
}

/*
 * The metadata that the seed's event table asks for, for sources that give a trap value only: up to the first word that
 * is not known. made_up: the open group is that of a NOP. Returns how many words.
 */
static unsigned make_metadata(const struct hf_stf_enc *e, const struct hf_event *ev, uint64_t id, bool made_up,
			      uint64_t words[3])
{
	const struct hf_stf_event_layout layout = hf_stf_event_layout(e->arch, id);
	const bool valued = layout.value >= 0 && (ev->flags & HF_EVF_VALUE);
	const bool ecall = e->arch == HF_ARCH_RISCV && id >= 8 && id <= 11;
	/* of interrupts and system calls the only word is something else, and not known */
	const bool other = ev->flags & HF_EVF_ASYNC || ecall;
	unsigned known = layout.fields;

	if (e->arch != HF_ARCH_ARM) { /* there 0 is what is not known (hartfs-stf(5)) */
		if (other)
			known = 0;
		else if (made_up)
			known = layout.value == 0 && valued;
		else if (!valued && (layout.value == 0 || layout.value == 2)) /* word 1 is the opcode in any case */
			known = (unsigned)layout.value;
	}
	if (!other) {
		words[0] = e->s.pc;
		words[1] = e->s.opcode;
		words[2] = hf_stf_iem_of_isa(e->s.isa);
		if (layout.value >= 0 && (valued || layout.value != 1))
			words[layout.value] = valued ? ev->trap.value : 0;
	}
	return known;
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

	hf_stf_enc_insn(e, sink, &nop);
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
	struct hf_stf_record rec = {.descriptor = HF_STF_EVENT, .value = HF_STF_CAUSE_UNKNOWN};
	uint32_t take = ev->size < 8 * UINT8_MAX ? ev->size : 8 * UINT8_MAX;
	bool made_up;

	if (ev->flags & HF_EVF_CAUSE)
		rec.value = ev->trap.cause & ~HF_STF_EVENT_INTERRUPT;
	if (ev->flags & HF_EVF_ASYNC)
		rec.value |= HF_STF_EVENT_INTERRUPT;
	made_up = needs_nop(e, rec.value);
	if (made_up)
		open_nop(e, sink);
	/* An EVENT would make an attempt of an instruction that retired. */
	if (!(s->flags & HF_STF_ENC_GROUP) || rec.value == HF_STF_EVENT_MODE_CHANGE ||
	    (!(s->flags & HF_STF_ENC_ATTEMPT) && !hf_stf_event_retires(e->arch, rec.value))) {
		hf_stf_enc_close(e, sink);
		hf_stf_write_foreign(sink, ev);
		hf_stf_enc_begin_data(e, sink, HF_EVENT_TRAP, ev->size, 0, 0);
		return;
	}
	hf_stf_enc_flush_mode(e, sink);
	if (!(ev->flags & HF_EVF_CAUSE))
		hf_stf_write_remark(sink, "the cause of this event is not known, its number is made up");
	s->flags |= HF_STF_ENC_TRAP;
	if (!hf_stf_event_retires(e->arch, rec.value))
		s->flags |= HF_STF_ENC_FAILED;
	if (e->source || ev->size) {
		rec.count = (take + 7) / 8;
		hf_stf_write_record(e, sink, &rec);
	} else {
		uint64_t words[3] = {0};

		rec.count = make_metadata(e, ev, rec.value, made_up, words);
		if (made_up && rec.count == 0 && (ev->flags & HF_EVF_VALUE))
			hf_stf_write_remark(sink, "trap value 0x%llx", (unsigned long long)ev->trap.value);
		hf_stf_write_record(e, sink, &rec);
		hf_sink_write(sink, words, 8u * rec.count);
	}
	if (ev->flags & HF_EVF_HANDLER) {
		s->flags |= HF_STF_ENC_TARGET;
		s->handler = ev->trap.handler;
	}
	if (ev->flags & HF_EVF_MODE) {
		s->flags |= HF_STF_ENC_AFTER;
		s->after_mode = ev->mode < HF_MODE_COUNT ? (uint8_t)ev->mode : (uint8_t)HF_MODE_UNKNOWN;
	}
	hf_stf_enc_begin_data(e, sink, HF_EVENT_TRAP, ev->size, take, -take & 7);
}

static void put_return(struct hf_stf_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	if (!(e->s.flags & HF_STF_ENC_GROUP) || !(ev->flags & HF_EVF_HANDLER)) {
		hf_stf_enc_close(e, sink);
		hf_stf_write_foreign(sink, ev);
	} else {
		hf_stf_enc_flush_mode(e, sink);
		hf_stf_enc_write_mode(e, sink, ev->flags & HF_EVF_MODE ? ev->mode : (unsigned)HF_MODE_UNKNOWN);
		hf_stf_enc_write_target(e, sink, ev->trap.handler);
	}
	hf_stf_enc_begin_data(e, sink, HF_EVENT_TRAP_RETURN, ev->size, 0, 0);
}

static void put_uop(struct hf_stf_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	hf_stf_enc_flush_mode(e, sink);
	HF_STF_PUT(e, sink, INST_MICROOP, .code = ev->uop_size, .size = (uint32_t)ev->uop.opcode);
}

void hf_stf_enc_attach(struct hf_stf_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	hf_stf_enc_need_header(e, sink);
	if (!(e->s.flags & HF_STF_ENC_GROUP) && ev->kind != HF_EVENT_TRAP) {
		hf_stf_write_foreign(sink, ev);
		hf_stf_enc_begin_data(e, sink, ev->kind, ev->size, 0, 0);
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
		HF_STF_PUT(e, sink, INST_READY_REG, .number = ev->reg.number);
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
