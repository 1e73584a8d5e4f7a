/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of a record's head as text, from the list in records.def: which member is shown how. */
#include "codecs/isa/names.h"
#include "codecs/stf/dump.h"

#include <ctype.h>

/* A name as one word, or the number. */
static uint8_t *put_name(uint8_t *t, const char *name, uint64_t number)
{
	*t++ = ' ';
	if (!name)
		return hf_text_put_dec(t, number);
	for (; *name; name++)
		*t++ = *name == ' ' ? '_' : (uint8_t)*name;
	return t;
}

static const char *master_name(uint64_t number)
{
	switch (number) {
#define HF_STF_MASTER(value, name) \
	case value:                \
		return name;
#include "codecs/stf/names.def"
	default:
		return NULL;
	}
}

static uint8_t *put_features(uint8_t *t, uint64_t bits)
{
	static const struct {
		uint64_t bit;
		const char *name;
	} features[] = {
#define HF_STF_FEATURE(bit, name) {bit, name},
#include "codecs/stf/names.def"
	};
	uint8_t separator = ' ';

	for (size_t i = 0; i < sizeof features / sizeof features[0]; i++) {
		if (!(bits & features[i].bit))
			continue;
		*t++ = separator;
		t = hf_text_put(t, features[i].name);
		bits &= ~features[i].bit;
		separator = '|';
	}
	for (unsigned bit = 0; bit < 64; bit++) {
		if (!(bits >> bit & 1))
			continue;
		*t++ = separator;
		t = hf_text_put_dec(hf_text_put(t, "bit"), bit);
		separator = '|';
	}
	return t;
}

static uint8_t *put_isa(uint8_t *t, uint64_t isa)
{
	static const char *const names[] = {
		[HF_STF_ISA_RISCV] = "RISCV",
		[HF_STF_ISA_ARM] = "ARM",
		[HF_STF_ISA_X86] = "X86",
		[HF_STF_ISA_POWER] = "POWER",
	};

	return put_name(t, isa < sizeof names / sizeof names[0] ? names[isa] : NULL, isa);
}

static uint8_t *put_iem(const struct hf_stf_dump *d, uint8_t *t, unsigned iem)
{
	const unsigned isa = hf_stf_isa_of_iem(d->header->isa, iem);

	return put_name(t, isa == HF_ISA_NONE ? NULL : hf_isa_name(isa), iem);
}

static inline uint8_t *put_role(uint8_t *t, unsigned role)
{
	static const struct {
		char text[7];
		uint8_t len;
	} names[4] = {{"", 0}, {"STATE", 5}, {"SOURCE", 6}, {"DEST", 4}};

	if (role < 1 || role > 3)
		return hf_text_put_dec(t, role);
	memcpy(t, &names[role], 8);
	return t + names[role].len;
}

static inline uint8_t *put_register(uint8_t *t, unsigned type, unsigned number)
{
	const struct hf_csr *csr = &hf_csrs[number & 0xfff];

	*t++ = ' ';
	if (type == 1 && number == 0x20)
		return hf_text_put(t, "pc");
	if (type >= 1 && type <= 3) {
		*t++ = (uint8_t) " xfv"[type];
		return hf_text_put_dec(t, number);
	}
	if (type != 4) {
		t = hf_text_put_dec(t, type);
		*t++ = ':';
		return hf_text_put_dec(t, number);
	}
	if (number > 0xfff || !csr->len)
		return hf_text_put_hex_width(hf_text_put(t, "csr_"), number, number > 0xfff ? 4 : 3);
	memcpy(t, csr->name, sizeof csr->name);
	return t + csr->len;
}

/* " READ" */
static inline uint8_t *put_direction(uint8_t *t, unsigned type)
{
	if (type == HF_STF_READ)
		return hf_text_put(t, " READ");
	if (type == HF_STF_WRITE)
		return hf_text_put(t, " WRITE");
	return put_name(t, NULL, type);
}

/*
 * One function a member: record is a constant in each call, so that nothing is left of the choice. p: the record.
 * digits: of a hexadecimal number of this width.
 */
#define FIELD(member)                                                                                 \
	static inline uint8_t *put_##member(const struct hf_stf_dump *d, unsigned record, uint8_t *t, \
					    const uint8_t *p, uint64_t value, unsigned digits)
#define UNUSED (void)d, (void)record, (void)p, (void)digits, (void)value

FIELD(code)
{
	UNUSED;
	switch (record) {
	case HF_STF_ISA:
		return put_isa(t, value);
	case HF_STF_INST_IEM:
		return put_iem(d, t, (unsigned)value);
	case HF_STF_TRACE_INFO:
		return put_name(t, hf_stf_generator_name(value), value);
	case HF_STF_PROTOCOL_ID:
		return put_name(t, value == HF_STF_PROTOCOL_TILELINK ? "TILELINK" : NULL, value);
	case HF_STF_INST_REG:
		*t++ = ' ';
		return put_role(t, (unsigned)value >> 4);
	case HF_STF_INST_MEM_ACCESS:
	case HF_STF_BUS_MASTER_ACCESS:
		return put_direction(t, (unsigned)value);
	case HF_STF_INST_MICROOP:
		return hf_text_put_dec(hf_text_put(t, " size="), value);
	default:
		return put_name(t, NULL, value);
	}
}

FIELD(major)
{
	UNUSED;
	return put_name(t, NULL, value);
}

FIELD(minor)
{
	UNUSED;
	*t++ = '.';
	return hf_text_put_dec(t, value);
}

FIELD(patch)
{
	UNUSED;
	*t++ = '.';
	return hf_text_put_dec(t, value);
}

/* What is counted follows. */
FIELD(count)
{
	UNUSED;
	return t;
}

FIELD(value)
{
	UNUSED;
	switch (record) {
	case HF_STF_TRACE_INFO_FEATURE:
		*t++ = ' ';
		return put_features(hf_text_put_hex16(t, value), value);
	case HF_STF_INST_REG:
		return hf_text_put_hex16(hf_text_put(t, " value="), value);
	case HF_STF_PAGE_TABLE_WALK:
		return hf_text_put_dec(hf_text_put(t, " first="), value);
	case HF_STF_TRANSACTION:
	case HF_STF_TRANSACTION_DEPENDENCY:
		return hf_text_put_dec(hf_text_put(t, " id="), value);
	default:
		*t++ = ' ';
		return hf_text_put_hex16(t, value);
	}
}

FIELD(hw)
{
	UNUSED;
	return hf_text_put_dec(hf_text_put(t, " hw_thread="), value);
}

FIELD(pid)
{
	UNUSED;
	return hf_text_put_dec(hf_text_put(t, " pid="), value);
}

FIELD(tid)
{
	UNUSED;
	return hf_text_put_dec(hf_text_put(t, " tid="), value);
}

FIELD(address)
{
	const bool among = record == HF_STF_INST_MEM_ACCESS || record == HF_STF_BUS_MASTER_ACCESS ||
			   record == HF_STF_PAGE_TABLE_WALK;

	UNUSED;
	return hf_text_put_hex16(hf_text_put(t, among ? " address=" : " "), value);
}

FIELD(clock)
{
	UNUSED;
	if (record == HF_STF_CLOCK_ID)
		return put_name(t, NULL, value);
	t = hf_text_put_dec(hf_text_put(t, " clock="), value);
	if (d->clocks[value].len) {
		*t++ = ':';
		memcpy(t, d->clocks[value].text, sizeof d->clocks[value].text);
		t += d->clocks[value].len;
	}
	return t;
}

FIELD(number)
{
	UNUSED;
	if (record == HF_STF_INST_REG)
		return put_register(t, p[3] & 0xf, (unsigned)value);
	return put_name(t, NULL, value);
}

FIELD(size)
{
	UNUSED;
	switch (record) {
	case HF_STF_INST_MEM_ACCESS:
	case HF_STF_BUS_MASTER_ACCESS:
		return hf_text_put_dec(hf_text_put(t, " size="), value);
	case HF_STF_PAGE_TABLE_WALK:
		return hf_text_put_hex_width(hf_text_put(t, " page_size="), value, digits);
	default: /* an opcode */
		*t++ = ' ';
		return hf_text_put_hex_width(t, value, digits);
	}
}

FIELD(attr)
{
	UNUSED;
	return hf_text_put_hex_width(hf_text_put(t, " attr="), value, digits);
}

FIELD(master)
{
	const char *name = master_name(value);

	UNUSED;
	t = hf_text_put(t, " master=");
	return name ? hf_text_put(t, name) : hf_text_put_dec(t, value);
}

FIELD(index)
{
	UNUSED;
	return hf_text_put_dec(hf_text_put(t, " index="), value);
}

FIELD(delta)
{
	UNUSED;
	return hf_text_put_dec(hf_text_put(t, " delta="), value);
}

/* ---- EVENT: its id is 32 or 64 bits wide ---- */

static uint8_t *put_arm_cause(uint8_t *t, const char *name)
{
	for (; *name; name++)
		*t++ = *name == ' ' || *name == '-' ? '_' : (uint8_t)toupper((unsigned char)*name);
	return t;
}

static uint8_t *put_riscv_cause(uint8_t *t, bool interrupt, uint64_t id)
{
	switch (id | (uint64_t)interrupt << 63) {
#define HF_STF_EXCEPTION(number, name) \
	case number:                   \
		return hf_text_put(t, name);
#define HF_STF_INTERRUPT(number, name)                    \
	case (HF_STF_EVENT_INTERRUPT | UINT64_C(number)): \
		return hf_text_put(t, name);
#include "codecs/stf/names.def"
	default:
		break;
	}
	if (interrupt && id >= 16 && id < 64)
		return hf_text_put_dec(hf_text_put(t, "INT_PLATFORM_"), id - 16);
	if (!interrupt && id >= 24 && id < 64 && (id < 32 || id >= 48))
		return hf_text_put_dec(hf_text_put(t, "CUSTOM_FAULT_"), id);
	return hf_text_put(t, "RESERVED");
}

static uint8_t *put_event(const struct hf_stf_dump *d, uint8_t *t, const uint8_t *p)
{
	const bool arm = d->text.dec.stream->info.arch == HF_ARCH_ARM;
	struct hf_stf_record rec;
	const char *name;
	bool interrupt;
	uint64_t id;

	hf_stf_record_parse(&d->header->layout, p, &rec);
	interrupt = rec.value & HF_STF_EVENT_INTERRUPT;
	id = rec.value & ~HF_STF_EVENT_INTERRUPT;
	t = hf_text_put(t, " EVENT ");
	name = arm ? hf_cause_name(true, interrupt, id) : NULL;
	if (rec.value == HF_STF_EVENT_MODE_CHANGE)
		t = hf_text_put(t, "MODE_CHANGE");
	else if (name)
		t = put_arm_cause(t, name);
	else if (arm)
		t = hf_text_put(t, "RESERVED");
	else
		t = put_riscv_cause(t, interrupt, id);
	t = hf_text_put(t, " id=");
	if (d->header->layout.event64)
		return hf_text_put_hex16(t, rec.value);
	return hf_text_put_hex_width(t, hf_get32(p + 1), 8);
}

/* ---- the head of any record ---- */

static inline uint8_t get8(const uint8_t *p)
{
	return *p;
}

#define get16 hf_get16
#define get32 hf_get32
#define get64 hf_get64

uint8_t *hf_stf_dump_head(const struct hf_stf_dump *d, uint8_t *t, const uint8_t *p)
{
	switch (*p) {
/* The fields are walked twice: what kind of record it is comes first, whatever its place in the record. */
#define F(offset, bits, member)                          \
	if ((strcmp(#member, "code") == 0) == (int)PASS) \
		t = put_##member(d, RECORD, t, p, get##bits(p + (offset)), (bits) / 4);
#define HF_STF_RECORD(number, name, head, count, unit, place, fields) \
	case number: {                                                \
		enum { RECORD = number };                             \
		if (number == HF_STF_EVENT)                           \
			return put_event(d, t, p);                    \
		t = hf_text_put(t, " " #name);                        \
		if (number == HF_STF_IDENTIFIER)                      \
			t = hf_text_put(t, " STF");                   \
		{                                                     \
			enum { PASS = true };                         \
			fields                                        \
		}                                                     \
		{                                                     \
			enum { PASS = false };                        \
			fields                                        \
		}                                                     \
		return t;                                             \
	}
#include "codecs/stf/records.def"
#undef HF_STF_RECORD
#undef F
	default:
		return t;
	}
}
