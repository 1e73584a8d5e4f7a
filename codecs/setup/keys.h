/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keys of a format's description, each with the values that it may have: for readers, which refuse any other key, and
 * for trials (trial.h), which look for the key that is wrong.
 */
#ifndef HF_SETUP_KEYS_H
#define HF_SETUP_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hf_key_kind {
	HF_KEYS_NUMBER, /* min to max */
	HF_KEYS_WORD,   /* one of words */
	HF_KEYS_SET,    /* any of words, with commas between them */
	HF_KEYS_OPEN,   /* anything: an address, a count, a register that is read elsewhere; nothing to try */
};

struct hf_setup_key {
	const char *key;
	const char *field;        /* of a register: the name of the bits that a row is about; NULL: all of the value */
	const char *const *words; /* ends with NULL */
	uint64_t base;            /* of a register: what it is taken for where the description does not say it */
	uint16_t min, max;
	uint8_t kind;             /* enum hf_key_kind */
	uint8_t shift, bits;      /* of a field */
	bool whole_stream;        /* where it is wrong hardly anything can be decoded */
};

#define HF_KEY_END {.key = NULL}
#define HF_KEY_NUMBER(name, low, high) {.key = name, .kind = HF_KEYS_NUMBER, .min = low, .max = high}
#define HF_KEY_FLAG(name) HF_KEY_NUMBER(name, 0, 1)
#define HF_KEY_WORD(name, list) {.key = name, .kind = HF_KEYS_WORD, .words = list}
#define HF_KEY_SET(name, list) {.key = name, .kind = HF_KEYS_SET, .words = list}
#define HF_KEY_OPEN(name) {.key = name, .kind = HF_KEYS_OPEN}
/* How the stream is cut into packets: the same for all of it. */
#define HF_KEY_WIDE_NUMBER(name, low, high) \
	{.key = name, .kind = HF_KEYS_NUMBER, .min = low, .max = high, .whole_stream = true}
#define HF_KEY_WIDE_WORD(name, list) {.key = name, .kind = HF_KEYS_WORD, .words = list, .whole_stream = true}
/* Bits of a register: a row each, and the register's values are all tried in other bits as they are. */
#define HF_KEY_FIELD(name, of, at, width, low, high, whole) \
	{.key = name, .field = of, .kind = HF_KEYS_NUMBER, .shift = at, .bits = width, .min = low, .max = high, .base = whole}

/* How many values a key has; 0: none that can be tried. */
size_t hf_key_values(const struct hf_setup_key *key);

/*
 * The i-th of them as a description has it, cut to size. written: the text that stands there now, of which the other bits
 * of a register are taken; NULL: none.
 */
void hf_key_value(const struct hf_setup_key *key, size_t i, const char *written, char *buf, size_t size);

#endif
