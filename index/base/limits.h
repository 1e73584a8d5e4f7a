/* SPDX-License-Identifier: Apache-2.0 */
/* How large a chunk is, and how much of a capture is decoded. */
#ifndef HF_INDEX_LIMITS_H
#define HF_INDEX_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

/* Limits at which a chunk is cut: whichever is met first. */
struct hf_chunk_limits {
	uint64_t insns;	 /* retired instructions, default 16384 */
	uint64_t events; /* default 131072 */
	uint64_t bytes;	 /* of the stream, default 4 MiB */
};

extern const struct hf_chunk_limits hf_chunk_limits_default;
bool hf_chunk_limits_equal(const struct hf_chunk_limits *a, const struct hf_chunk_limits *b);

/*
 * Bounds the work on captures whose few bytes stand for hours of it: the first hart may have that many events for each
 * byte of the capture, the second half as many, the third a third and so on; and the container may decompress to that
 * many bytes per byte. A small capture counts as HF_EXPANSION_SMALL bytes.
 */
#define HF_EXPANSION 65536
#define HF_EXPANSION_SMALL 4096

/* The bound for a capture of that size. expansion: 0 is HF_EXPANSION, HF_NOWHERE no limit. */
uint64_t hf_expansion_most(uint64_t expansion, uint64_t size);

/* Listings of more harts are not merged. */
#define HF_MERGED_HARTS 4096u

#endif
