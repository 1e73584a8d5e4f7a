/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a summary in the making knows, on its way to a file, or back from there: a stream of numbers and bytes. Whatever
 * has such a state has one function that names its members in their order, for both ways. What comes back is not
 * believed: numbers have bounds, and lists and tables are made anew of what is read. Internal to index/.
 */
#ifndef HF_INDEX_SUMMARY_KEEP_H
#define HF_INDEX_SUMMARY_KEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Changes with what any of these functions writes. */
#define HF_KEEP_VERSION 2

/* Saving: takes n bytes. Loading: gives up to n, fewer only at the end; *ret_n says how many. An error ends it. */
typedef int (*hf_keep_fn)(void *ctx, uint8_t *bytes, size_t n, size_t *ret_n);

struct hf_keep {
	bool load;
	int err; /* the first one: then nothing more is written, and all that is read is 0 */
	hf_keep_fn move;
	void *ctx;
	size_t at, n; /* of buffer: up to where it is used, and filled */
	uint8_t buffer[1u << 16];
};

void hf_keep_begin(struct hf_keep *keep, bool load, hf_keep_fn move, void *ctx);
/* The error, or HF_ERR_STATE if not all was read. */
int hf_keep_end(struct hf_keep *keep);

/* Loading: HF_ERR_STATE if it is above most. */
void hf_keep_number(struct hf_keep *keep, uint64_t *value, uint64_t most);
void hf_keep_bytes(struct hf_keep *keep, void *bytes, size_t n);
/* What was read cannot be, unless that holds. */
void hf_keep_check(struct hf_keep *keep, bool holds);
void hf_keep_fail(struct hf_keep *keep, int err);

/* A member of any type of number. */
#define HF_KEEP(keep, member, most)                          \
	do {                                                 \
		uint64_t hf_kept = (uint64_t)(member);       \
		hf_keep_number((keep), &hf_kept, (most));    \
		(member) = (__typeof__(member))hf_kept;      \
	} while (0)

#endif
