/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writers of every container, for tests that make their own input. Each appends to *to what it makes of data[n]; all
 * of them end the program when the library fails.
 */
#ifndef HF_TEST_PACK_H
#define HF_TEST_PACK_H

#include "tests/lib/walk.h"

/* One gzip member; flags as in RFC 1952 (2 header CRC, 4 extra field, 8 name, 16 comment). level -1 is zlib's. */
void hf_pack_gzip(struct hf_walk_bytes *to, const void *data, size_t n, int level, unsigned flags);

/* One .xz stream with a check of that lzma_check number and blocks of block_size bytes (0: one block). */
void hf_pack_xz(struct hf_walk_bytes *to, const void *data, size_t n, int check, size_t block_size);

/* LZMA-alone, with an end marker and without a size, as liblzma writes it. */
void hf_pack_lzma(struct hf_walk_bytes *to, const void *data, size_t n);

enum { HF_PACK_CHECKSUM = 1, HF_PACK_SIZE = 2 };

/* One zstd frame; flags HF_PACK_*. window_log 0 is the level's own. */
void hf_pack_zstd(struct hf_walk_bytes *to, const void *data, size_t n, unsigned flags, int window_log);

/* A skippable frame with n bytes of nonsense. */
void hf_pack_skippable(struct hf_walk_bytes *to, size_t n);

struct hf_pack_chunk {
	const void *data;
	size_t n;
	uint64_t pc; /* of the chunk's first instruction, for the table */
};

/* A whole .zstf that says of itself that its chunks hold so many instructions each. */
void hf_pack_zstf_chunks(struct hf_walk_bytes *to, uint64_t insns, const struct hf_pack_chunk *chunks, size_t count);

/* The same with chunks of chunk_size bytes, and nothing right about the instructions in them. */
void hf_pack_zstf(struct hf_walk_bytes *to, const void *data, size_t n, size_t chunk_size);

/* n bytes that look like a trace: mostly repeated, with counters. */
struct hf_walk_bytes hf_pack_trace(size_t n);

/* n bytes that do not compress. */
struct hf_walk_bytes hf_pack_noise(size_t n);

#endif
