/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an encoder remembers of the lengths of texts it has made, for a sink that only counts. A key is two words and
 * what they are of; a number comes back. What was remembered may be gone, and is never wrong: a place holds one key,
 * whole. A zeroed one knows nothing.
 */
#ifndef HF_BASE_MEMO_H
#define HF_BASE_MEMO_H

#include <stdbool.h>
#include <stdint.h>

/* So that the loops of a program stay in the second-level cache with it: 192 KiB. */
#define HF_MEMO_BITS 13

struct hf_memo_slot {
	uint64_t a, b;
	uint32_t of; /* not 0 of one that is used */
	uint32_t value;
};

/* The same of what came out of a whole stretch. */
struct hf_memo_stretch {
	uint64_t serial; /* not 0 of one that is used */
	uint64_t value;
};

/* Of those that codecs/stretch.h can tell apart. */
#define HF_MEMO_STRETCHES 8192

struct hf_memo {
	struct hf_memo_slot slot[1 << HF_MEMO_BITS];
	struct hf_memo_stretch stretch[HF_MEMO_STRETCHES];
};

/* Where that key is, if anywhere. */
static inline struct hf_memo_slot *hf_memo_at(struct hf_memo *memo, uint64_t a, uint32_t of)
{
	return &memo->slot[(a ^ (uint64_t)of << 32) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - HF_MEMO_BITS)];
}

static inline bool hf_memo_is(const struct hf_memo_slot *slot, uint64_t a, uint64_t b, uint32_t of)
{
	return slot->a == a && slot->b == b && slot->of == of;
}

#endif
