/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a .zstf file in bounded memory: the container alone, of records made elsewhere. */
#ifndef HF_TEST_ZSTFWRITER_H
#define HF_TEST_ZSTFWRITER_H

#include "codecs/base/sink.h"

#include <stdio.h>
#include <zstd.h>

struct hf_zstf_writer {
	FILE *file;
	int level;            /* of zstd */
	uint64_t chunk;       /* instruction records a chunk */
	uint64_t offset;      /* bytes of the file */
	uint64_t start_pc;    /* of the open chunk; 0 of the first */
	uint8_t *bytes;       /* of the open chunk */
	size_t size, cap;
	struct hf_sink table; /* entries of the chunk table */
	uint64_t chunks;
	ZSTD_CCtx *zstd;
	uint8_t *packed;
	size_t packed_cap;
};

/* file is borrowed and can be sought. Whatever fails ends the program, here and below. */
void hf_zstf_begin(struct hf_zstf_writer *w, FILE *file, uint64_t chunk, int level);
/* Bytes of the open chunk. */
void hf_zstf_append(struct hf_zstf_writer *w, const uint8_t *bytes, size_t n);
/* Ends the open chunk, behind the last of its instruction records. next_pc: where the instruction behind it is. */
void hf_zstf_end_chunk(struct hf_zstf_writer *w, uint64_t next_pc);
/* Writes the last chunk, if it has anything, the table and the head. */
void hf_zstf_end(struct hf_zstf_writer *w);

#endif
