/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one thread has found out and another one is to write into the tables: records of any length, first in, first
 * out. Not thread-safe. Internal to index/.
 */
#ifndef HF_INDEX_TAPE_H
#define HF_INDEX_TAPE_H

#include <stddef.h>
#include <stdint.h>

struct hf_tape_block;

/* Zero to start. */
struct hf_tape {
	struct hf_tape_block *first, *last;
	size_t bytes; /* of the records */
};

/* 8-byte aligned, as are the size bytes that follow it. */
struct hf_tape_record {
	uint32_t kind; /* the user's */
	uint32_t size;
};

static inline const void *hf_tape_bytes(const struct hf_tape_record *record)
{
	return record + 1;
}

/* Copies a[an] and b[bn], end to end, into a record: HF_ERR_NOMEM, HF_ERR_LIMIT. */
int hf_tape_push(struct hf_tape *tape, uint32_t kind, const void *a, size_t an, const void *b, size_t bn);
/* The next record, valid until the call after; NULL if there is none. */
const struct hf_tape_record *hf_tape_pop(struct hf_tape *tape);
/* Moves all records of from to an empty tape. */
void hf_tape_take(struct hf_tape *tape, struct hf_tape *from);
void hf_tape_free(struct hf_tape *tape);

#endif
