/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State on disk: one function visits the fields of a state in their order, and the same visit saves or loads them, by
 * the direction of the cursor. A number is one LEB128; loading treats every byte as hostile. An error is kept, and what
 * is visited behind it is left as it is.
 */
#ifndef HF_BASE_FIELDS_H
#define HF_BASE_FIELDS_H

#include "codecs/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The largest state of any codec, in bytes. */
#define HF_STATE_MAX 4096

struct hf_fields {
	const uint8_t *from; /* loading: the next byte */
	uint8_t *to;	     /* saving: where the next byte goes */
	const uint8_t *end;  /* of either */
	bool loading;
	int err; /* 0; HF_ERR_STATE: a value that no state has, or no room; or what hf_fields_fail was given */
};

/* For size bytes of blob to be written. */
struct hf_fields hf_fields_save(uint8_t *blob, size_t size);
/* For blob to be read, whose bytes are borrowed. */
struct hf_fields hf_fields_load(const uint8_t *blob, size_t size);
/* Ends a load: HF_ERR_STATE also if bytes are left. */
int hf_fields_end(const struct hf_fields *f);

/* Keeps the first error that is not 0. */
void hf_fields_fail(struct hf_fields *f, int err);

/* Loading: what follows relies on ok. */
static inline void hf_fields_require(struct hf_fields *f, bool ok)
{
	if (f->loading && !ok)
		hf_fields_fail(f, HF_ERR_STATE);
}

/* A number up to max, as it is saved or as it was loaded. */
uint64_t hf_field(struct hf_fields *f, uint64_t v, uint64_t max);
/* One that is often a little more or less than near. */
uint64_t hf_field_near(struct hf_fields *f, uint64_t v, uint64_t near);
/* n bytes as they are. */
void hf_field_bytes(struct hf_fields *f, void *bytes, size_t n);

/* Many of them as a table: where in a struct an integer or bool is, and its largest value. */
struct hf_field_row {
	uint16_t offset;
	uint8_t width; /* bytes of the member: 1, 2, 4, 8 */
	uint64_t max;
};

#define HF_FIELD_ROW(type, member, maximum)                                                              \
	{                                                                                                \
		.offset = offsetof(type, member), .width = sizeof(((type *)0)->member), .max = (maximum) \
	}

void hf_field_rows(struct hf_fields *f, const struct hf_field_row *rows, size_t count, void *object);

#define HF_FIELD_ROWS(f, rows, object) hf_field_rows((f), (rows), sizeof(rows) / sizeof((rows)[0]), (object))

/* One number, for an integer or bool that a state has as member. */
#define HF_FIELD(f, member, max) ((member) = (__typeof__(member))hf_field((f), (uint64_t)(member), (max)))
#define HF_FIELD_NEAR(f, member, near) ((member) = (__typeof__(member))hf_field_near((f), (member), (near)))

#endif
