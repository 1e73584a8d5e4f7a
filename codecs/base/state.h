/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decoder and encoder state on disk: a table of fields says what is saved, in what range it must be, and in which
 * order. A blob is a version byte and one LEB128 number per field; loading treats it as hostile.
 */
#ifndef HF_BASE_STATE_H
#define HF_BASE_STATE_H

#include "codecs/base/err.h"

#include <stddef.h>
#include <stdint.h>

/* The largest state blob of any codec. */
#define HF_STATE_MAX 4096

struct hf_state_field {
	uint16_t offset; /* in the state struct */
	uint8_t width;   /* bytes of the member: 1, 2, 4, 8 */
	uint64_t max;    /* largest valid value */
};

#define HF_STATE_FIELD(type, member, maximum) \
	{.offset = offsetof(type, member), .width = sizeof(((type *)0)->member), .max = (maximum)}

struct hf_state_table {
	uint8_t version;
	uint8_t count;
	const struct hf_state_field *fields;
};

/* Writes the blob of *state into buf[HF_STATE_MAX]; returns its length. */
size_t hf_state_save(const struct hf_state_table *table, const void *state, uint8_t *buf);

/* The reverse: HF_ERR_STATE on another version, a value out of range, or bytes missing or left; *state may then be
 * half filled and must not be used. Members outside the table are not touched. */
int hf_state_load(const struct hf_state_table *table, void *state, const uint8_t *blob, size_t size);

/* What may be a small negative number, kernel addresses and differences, as a number that is stored in few bytes. */
static inline uint64_t hf_zigzag(uint64_t v)
{
	return v << 1 ^ (uint64_t) - (v >> 63);
}

static inline uint64_t hf_unzigzag(uint64_t v)
{
	return v >> 1 ^ (uint64_t) - (v & 1);
}

#endif
