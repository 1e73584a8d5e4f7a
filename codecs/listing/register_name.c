/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a word is a register's name in listings. Names are made in one place only, so nothing here turns one back
 * into a number: the names of all registers are made whose numbers the word can mean, and one of them is the word or
 * none.
 */
#include "codecs/isa/names.h"
#include "codecs/listing/listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers in a name: "s3_0_c1_c0_2" has five. */
#define PARTS 5
/* Bytes behind the first eight, of a vector register that is longer than those of Advanced SIMD. */
#define VECTOR_REST 248

struct word {
	const char *name;
	size_t size;
	bool arm;
};

static bool is_register(const struct word *word, unsigned class, unsigned number, uint32_t rest)
{
	const struct hf_event ev = {
		.kind = HF_EVENT_REG, .size = rest, .reg = {.class = (uint8_t) class, .number = (uint16_t)number}};
	uint8_t text[64];
	const uint8_t *end = hf_listing_put_register_name(text, &ev);

	return (size_t)(end - text) == word->size && memcmp(text, word->name, word->size) == 0;
}

/* Whether the register of that number has this name, in any class that there is in such a trace. */
static bool is_numbered(const struct word *word, unsigned long number)
{
	if (number > UINT16_MAX)
		return false;
	for (unsigned class = HF_REG_INTEGER; class < HF_REG_CLASS_COUNT; class ++) {
		if (class == HF_REG_ZA_INDEX || (!word->arm && class > HF_REG_CSR && class != HF_REG_UNKNOWN))
			continue;
		if (is_register(word, class, (unsigned)number, 0) ||
		    is_register(word, class, (unsigned)number, VECTOR_REST))
			return true;
	}
	return false;
}

/* "mstatus", "csr_7c0" */
static bool is_csr(const struct word *word)
{
	for (unsigned i = 0; i < sizeof hf_csrs / sizeof hf_csrs[0]; i++)
		if (hf_csrs[i].len && hf_csrs[i].len == word->size &&
		    memcmp(hf_csrs[i].name, word->name, word->size) == 0)
			return true;
	return strncmp(word->name, "csr_", 4) == 0 && is_numbered(word, strtoul(word->name + 4, NULL, 16));
}

/* "x5", "s31", "r13_svc", "sp", "cpsr_mon": with the bank of a mode of AArch32, or in none. */
static bool is_banked(const struct word *word, unsigned long number, unsigned long mode)
{
	/* pc and sp of several classes, ffr, cpsr, spsr */
	static const uint8_t named[] = {16, 17, 31, 32};

	if (number > UINT16_MAX || mode > UINT8_MAX)
		return false;
	for (size_t i = 0; i < sizeof named; i++)
		if (is_numbered(word, named[i] | mode << 8))
			return true;
	return is_numbered(word, number | mode << 8);
}

static bool is_plain(const struct word *word, const unsigned long part[PARTS])
{
	for (unsigned long mode = 0; mode < 32; mode++)
		if (is_banked(word, part[0], mode))
			return true;
	/* A mode without a name: "r13_?40", "cpsr_?40". s0 to s31 of AArch32 have the numbers behind d0 to d31. */
	return is_banked(word, part[0], part[1]) || is_banked(word, part[0], part[0]) ||
	       (part[0] < UINT16_MAX && is_numbered(word, part[0] + 32));
}

/* "s3_0_c1_c0_2", "p15_0_c1_c0_2" */
static bool is_system(const struct word *word, const unsigned long part[PARTS])
{
	const unsigned long rest = part[1] << 11 | part[2] << 7 | part[3] << 3 | part[4];

	for (size_t i = 0; i < PARTS; i++)
		if (part[i] > 15)
			return false;
	return is_numbered(word, (part[0] & 3) << 14 | rest) || is_numbered(word, (part[0] == 15) << 14 | rest);
}

bool hf_listing_is_register(const char *name, bool arm)
{
	const struct word word = {.name = name, .size = strlen(name), .arm = arm};
	unsigned long part[PARTS] = {0};
	const char *p = name;
	size_t n = 0;

	for (p += strcspn(p, "0123456789"); *p && n < PARTS; p += strcspn(p, "0123456789")) {
		char *end;

		part[n++] = strtoul(p, &end, 10);
		p = end;
	}
	return is_csr(&word) || is_plain(&word, part) || (n == PARTS && is_system(&word, part));
}

/* What the RISC-V calling convention calls x0 to x31 and f0 to f31 (psABI, "Register Convention"). */
static const char *const called[2][32] = {
	{"zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0",  "a1",  "a2", "a3", "a4", "a5",
	 "a6",	 "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"},
	{"ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "fs0", "fs1", "fa0",  "fa1",  "fa2", "fa3", "fa4",  "fa5",
	 "fa6", "fa7", "fs2", "fs3", "fs4", "fs5", "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11"},
};

const char *hf_listing_register(const char *name, bool arm, char buf[HF_REGISTER_NAME])
{
	const bool fp = strcmp(name, "fp") == 0;

	if (hf_listing_is_register(name, arm))
		return name;
	*buf = 0;
	if (arm && (fp || strcmp(name, "lr") == 0))
		snprintf(buf, HF_REGISTER_NAME, "x%u", fp ? 29 : 30);
	for (unsigned i = 0; !arm && !*buf && i < 64; i++)
		if (strcmp(fp ? "s0" : name, called[i / 32][i % 32]) == 0)
			snprintf(buf, HF_REGISTER_NAME, "%c%u", "xf"[i / 32], i % 32);
	return *buf ? buf : NULL;
}
