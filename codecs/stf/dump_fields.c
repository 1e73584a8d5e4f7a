/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of a record's head as text, from the list in records.def, which says how each is shown. */
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

static uint8_t *put_master(uint8_t *t, uint64_t number)
{
	t = hf_text_put(t, " master=");
	switch (number) {
#define HF_STF_MASTER(value, name) \
	case value: \
		return hf_text_put(t, name);
#include "codecs/stf/names.def"
	default:
		return hf_text_put_dec(t, number);
	}
}

static uint8_t *put_features(uint8_t *t, uint64_t bits)
{
	for (uint64_t left = bits; left; left &= left - 1) {
		const unsigned bit = (unsigned)__builtin_ctzll(left);
		const char *name = hf_stf_feature_name(bit);

		*t++ = left == bits ? ' ' : '|';
		t = name ? hf_text_put(t, name) : hf_text_put_dec(hf_text_put(t, "bit"), bit);
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

	*t++ = ' ';
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

static uint8_t *put_clock(const struct hf_stf_dump *d, uint8_t *t, unsigned clock)
{
	t = hf_text_put_dec(hf_text_put(t, " clock="), clock);
	if (d->clocks[clock].len) {
		*t++ = ':';
		memcpy(t, d->clocks[clock].text, sizeof d->clocks[clock].text);
		t += d->clocks[clock].len;
	}
	return t;
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
#define HF_STF_EXCEPTION(number, name, words, value) \
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

/* How a field is shown: t, behind what is text already, p, the record, value and its digits are there. */
#define SHOW_nothing t
#define SHOW_dec(key) hf_text_put_dec(hf_text_put(t, key), value)
#define SHOW_hex(key) \
	(digits == 16 ? hf_text_put_hex16(hf_text_put(t, key), value) : \
			hf_text_put_hex_width(hf_text_put(t, key), value, digits))
#define SHOW_isa put_isa(t, value)
#define SHOW_iem put_iem(d, t, (unsigned)value)
#define SHOW_generator put_name(t, hf_stf_generator_name(value), value)
#define SHOW_protocol put_name(t, value == HF_STF_PROTOCOL_TILELINK ? "TILELINK" : NULL, value)
#define SHOW_features put_features(hf_text_put_hex16(hf_text_put(t, " "), value), value)
#define SHOW_role put_role(t, (unsigned)value >> 4)
#define SHOW_reg put_register(t, p[3] & 0xf, (unsigned)value)
#define SHOW_direction put_direction(t, (unsigned)value)
#define SHOW_master put_master(t, value)
#define SHOW_clock put_clock(d, t, (unsigned)value)

uint8_t *hf_stf_dump_head(const struct hf_stf_dump *d, uint8_t *t, const uint8_t *p)
{
	switch (*p) {
#define F(offset, bits, member, shown) \
	{ \
		enum { digits = (bits) / 4 }; \
		const uint64_t value = get##bits(p + (offset)); \
\
		(void)value; \
		t = SHOW_##shown; \
	}
#define HF_STF_RECORD(number, name, head, count, unit, place, fields) \
	case number: \
		if (number == HF_STF_EVENT) \
			return put_event(d, t, p); \
		t = hf_text_put(t, number == HF_STF_IDENTIFIER ? " " #name " STF" : " " #name); \
		fields return t;
#include "codecs/stf/records.def"
#undef HF_STF_RECORD
#undef F
	default:
		return t;
	}
}

/* Whether the length of a field's text depends on its value. */
#define VARIES_nothing false
#define VARIES_dec(key) true
#define VARIES_hex(key) false
#define VARIES_isa true
#define VARIES_iem true
#define VARIES_generator true
#define VARIES_protocol true
#define VARIES_features true
#define VARIES_role true
#define VARIES_reg true
#define VARIES_direction true
#define VARIES_master true
#define VARIES_clock true

uint64_t hf_stf_dump_key(const uint8_t *p)
{
	uint64_t key = *p;

	switch (key) {
#define F(offset, bits, member, shown) \
	if (VARIES_##shown) \
		key = key << (bits) % 64 | get##bits(p + (offset));
#define HF_STF_RECORD(number, name, head, count, unit, place, fields) \
	case number: \
		fields return key;
#include "codecs/stf/records.def"
#undef HF_STF_RECORD
#undef F
	default:
		return key;
	}
}
