/* SPDX-License-Identifier: Apache-2.0 */
/* The accesses of one instruction: the first in its own record, the others by twos in Extra EA records (ASTF 4.6). */
#include "codecs/astf/encoder.h"

/* The most that one access may have (ASTF 4.5.2). */
#define ACCESS_MAX 256u
/* More than this is told as a range, whatever made it: no instruction accesses so much but by a register's word (the
 * most are four vectors of 256 bytes). It also bounds what a hostile source can blow up. */
#define PIECES_MAX (8u * ACCESS_MAX)

enum { SLOT_NONE, SLOT_INSN, SLOT_FIRST, SLOT_SECOND };

/* One access as the fields have it. */
struct access {
	uint64_t address;
	uint64_t size; /* bytes */
	unsigned direction;
	bool tagged, range;
};

static uint64_t size_field(uint64_t size)
{
	return size ? size - 1 : 0;
}

static void write_insn(struct hf_astf_enc *e, struct hf_sink *sink, bool more)
{
	if (!(e->s.flags & HF_ASTF_ENC_HELD))
		return;
	HF_ASTF_PUT(&e->s.insn, INSTR, extra_eas, more);
	hf_astf_write(sink, &e->s.insn);
	e->s.insn = (struct hf_astf_record){{0}};
	e->s.flags &= ~(uint32_t)HF_ASTF_ENC_HELD;
}

static void write_extra(struct hf_astf_enc *e, struct hf_sink *sink, bool more)
{
	if (!(e->s.flags & HF_ASTF_ENC_EXTRA))
		return;
	HF_ASTF_PUT(&e->s.extra, EXTRA_EA, extra_eas, more);
	hf_astf_write(sink, &e->s.extra);
	e->s.extra = (struct hf_astf_record){{0}};
	e->s.flags &= ~(uint32_t)HF_ASTF_ENC_EXTRA;
}

void hf_astf_enc_flush(struct hf_astf_enc *e, struct hf_sink *sink)
{
	write_insn(e, sink, e->s.flags & HF_ASTF_ENC_EXTRA);
	write_extra(e, sink, false);
	e->s.slot = SLOT_NONE;
}

/* The fields of each place that an access may have; 0 where there is none. */
struct slot {
	enum hf_astf_field valid, address, size, is_read, is_write, tagged;
	enum hf_astf_field range, range_size; /* instead of size */
};

#define SLOT(record, prefix) \
	.is_read = HF_ASTF_##record##_##prefix##is_read, .is_write = HF_ASTF_##record##_##prefix##is_write
static const struct slot slots[] = {
	[SLOT_INSN] = {SLOT(INSTR, ), .valid = HF_ASTF_INSTR_ea_valid, .address = HF_ASTF_INSTR_ea,
		       .size = HF_ASTF_INSTR_ea_size, .tagged = HF_ASTF_INSTR_ea_tagged,
		       .range = HF_ASTF_INSTR_xattr_mode, .range_size = HF_ASTF_INSTR_xattr},
	[SLOT_FIRST] = {SLOT(EXTRA_EA, mem0_), .address = HF_ASTF_EXTRA_EA_mem0_addr,
			.size = HF_ASTF_EXTRA_EA_mem0_size, .tagged = HF_ASTF_EXTRA_EA_mem0_tagged,
			.range = HF_ASTF_EXTRA_EA_mem1_addr_range, .range_size = HF_ASTF_EXTRA_EA_mem1_addr},
	[SLOT_SECOND] = {SLOT(EXTRA_EA, mem1_), .valid = HF_ASTF_EXTRA_EA_mem1_valid,
			 .address = HF_ASTF_EXTRA_EA_mem1_addr, .size = HF_ASTF_EXTRA_EA_mem1_size,
			 .tagged = HF_ASTF_EXTRA_EA_mem1_tagged},
};
static_assert(HF_ASTF_XATTR_RANGE == 1, "the word for a range is as of a flag");

static inline void put_slot(struct hf_astf_enc *e, unsigned number, const struct access *a)
{
	struct hf_astf_record *rec = number == SLOT_INSN ? &e->s.insn : &e->s.extra;
	const struct slot *slot = &slots[number];

	hf_astf_put(rec, slot->valid, 1);
	hf_astf_put(rec, slot->address, a->address);
	hf_astf_put(rec, slot->is_read, a->direction & 1);
	hf_astf_put(rec, slot->is_write, a->direction >> 1);
	hf_astf_put(rec, slot->tagged, a->tagged);
	if (a->range) {
		hf_astf_put(rec, slot->range, HF_ASTF_XATTR_RANGE);
		hf_astf_put(rec, slot->range_size, a->size);
	} else {
		hf_astf_put(rec, slot->size, size_field(a->size));
	}
	e->s.slot = (uint8_t)number;
}

static void put_access(struct hf_astf_enc *e, struct hf_sink *sink, const struct access *a)
{
	const bool held = e->s.flags & HF_ASTF_ENC_HELD;
	const bool free_second = e->s.slot == SLOT_FIRST && !HF_ASTF_GET(&e->s.extra, EXTRA_EA, mem1_addr_range);

	if (held && e->s.slot == SLOT_NONE && !HF_ASTF_GET(&e->s.insn, INSTR, is_branch)) {
		put_slot(e, SLOT_INSN, a);
	} else if (free_second && !a->range) {
		put_slot(e, SLOT_SECOND, a);
	} else {
		write_insn(e, sink, true);
		write_extra(e, sink, true);
		e->s.extra = (struct hf_astf_record){{HF_ASTF_EXTRA_EA}};
		e->s.flags |= HF_ASTF_ENC_EXTRA;
		put_slot(e, SLOT_FIRST, a);
	}
}

/* The fields of the slot that the last access went to, where a write of what was read may join it. */
static bool join(struct hf_astf_enc *e, const struct access *a)
{
	struct hf_astf_record *rec = e->s.slot == SLOT_INSN ? &e->s.insn : &e->s.extra;
	const struct slot *slot = &slots[e->s.slot];

	if (hf_astf_get(rec, slot->range) == HF_ASTF_XATTR_RANGE || !hf_astf_get(rec, slot->is_read) ||
	    hf_astf_get(rec, slot->is_write) || hf_astf_get(rec, slot->tagged) != a->tagged ||
	    hf_astf_get(rec, slot->address) != a->address || hf_astf_get(rec, slot->size) != size_field(a->size))
		return false;
	hf_astf_put(rec, slot->is_write, 1);
	return true;
}

void hf_astf_enc_access(struct hf_astf_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	struct access a = {
		.address = hf_astf_sanitise(ev->mem.address),
		.size = ev->mem.size,
		.direction = ev->flags & (HF_EVF_READ | HF_EVF_WRITE),
		.tagged = ev->mem.tag || (ev->mem.attr & (HF_ARM_ATTR_CHECKED | HF_ARM_ATTR_TAG)),
		.range = (ev->mem.attr & HF_ARM_ATTR_RANGE) || ev->mem.size > PIECES_MAX,
	};

	/* STF tells a read-modify-write as a read and a write; other formats never have two that are so alike. */
	if (e->s.slot && a.direction == HF_EVF_WRITE && !a.range && a.size <= ACCESS_MAX && !e->source && join(e, &a))
		return;
	while (!a.range && a.size > ACCESS_MAX) {
		struct access piece = a;

		piece.size = ACCESS_MAX;
		put_access(e, sink, &piece);
		a.address = hf_astf_sanitise(a.address + ACCESS_MAX);
		a.size -= ACCESS_MAX;
	}
	put_access(e, sink, &a);
}
