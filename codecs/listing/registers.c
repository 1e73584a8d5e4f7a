/* SPDX-License-Identifier: Apache-2.0 */
/* Names of Arm registers in a listing, as an assembler takes them (DDI 0487, C1.2, F1.4). */
#include "codecs/listing/listing.h"

#include "codecs/base/text.h"

#define MODE_SHIFT 8
#define CP15 0x4000u
#define QUADWORD_REST 8 /* bytes of a v register behind its first eight */

static uint8_t *put_numbered(uint8_t *p, const char *letter, unsigned number)
{
	return hf_text_put_dec(hf_text_put(p, letter), number);
}

static uint8_t *put_general(uint8_t *p, unsigned number)
{
	if (number == 31)
		return hf_text_put(p, "sp");
	return number == 32 ? hf_text_put(p, "pc") : put_numbered(p, "x", number);
}

/* "r13_svc": that of a mode's bank. */
static uint8_t *put_general32(uint8_t *p, unsigned number)
{
	static const struct {
		int8_t word;
		const char *text;
	} modes[] = {
#define HF_MODE(name, text, level, word) {word, text},
#include "codecs/modes.def"
#undef HF_MODE
	};
	const unsigned which = number & ((1u << MODE_SHIFT) - 1), mode = number >> MODE_SHIFT;

	if (which < 16)
		p = put_numbered(p, "r", which);
	else
		p = which == 16 ? hf_text_put(p, "cpsr") : which == 17 ? hf_text_put(p, "spsr") : put_numbered(p, "?", which);
	for (unsigned i = HF_MODE_USR; mode && i <= HF_MODE_SYS; i++)
		if ((unsigned)modes[i].word == mode)
			return hf_text_put(hf_text_put(p, "_"), modes[i].text);
	return mode ? put_numbered(p, "_?", mode) : p;
}

/* "s3_0_c1_c0_2", "p15_0_c1_c0_2": the names that need no list of names. */
static uint8_t *put_system(uint8_t *p, const char *letter, unsigned space, unsigned number)
{
	p = put_numbered(put_numbered(p, letter, space), "_", number >> 11 & 7);
	p = put_numbered(put_numbered(p, "_c", number >> 7 & 15), "_c", number >> 3 & 15);
	return put_numbered(p, "_", number & 7);
}

uint8_t *hf_listing_put_arm_register(uint8_t *p, const struct hf_event *ev)
{
	const unsigned number = ev->reg.number;

	switch (ev->reg.class) {
	case HF_REG_ARM_GENERAL: return put_general(p, number);
	case HF_REG_ARM_VECTOR: return put_numbered(p, ev->size > QUADWORD_REST ? "z" : "v", number);
	case HF_REG_ARM_PREDICATE: return number == 16 ? hf_text_put(p, "ffr") : put_numbered(p, "p", number);
	case HF_REG_ARM_SYSTEM: return put_system(p, "s", number >> 14, number);
	case HF_REG_ARM32_GENERAL: return put_general32(p, number);
	case HF_REG_ARM32_FLOAT: return number < 32 ? put_numbered(p, "d", number) : put_numbered(p, "s", number - 32);
	case HF_REG_ARM32_SYSTEM: return put_system(p, "p", number & CP15 ? 15 : 14, number);
	default: return put_numbered(p, "?", number);
	}
}
