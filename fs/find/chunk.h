/* SPDX-License-Identifier: Apache-2.0 */
/* The answers in one chunk of a hart, and their lines. Internal to fs/find/. */
#ifndef HF_FIND_CHUNK_H
#define HF_FIND_CHUNK_H

#include "fs/find/lines.h"
#include "fs/find/walk.h"
#include "fs/stream/read_limit.h"

void hf_find_chunk_fini(struct hf_find_chunk *chunk);

/* Decodes chunks one after the other, by one thread at a time. Zero but for source before the first. */
struct hf_find_reader {
	const struct hf_find_source *source;
	struct hf_cursor cursor, before;
	struct hf_read_limit limit; /* of both */
	struct hf_walk walk; /* of cursor */
	unsigned decoded;
	int err;
};

/* *ret_chunk is the caller's, empty after an error. */
int hf_find_chunk(struct hf_find_reader *reader, uint64_t number, struct hf_worker *worker,
		  struct hf_find_chunk *ret_chunk);
/* Its cursor, for whoever wants the events themselves. */
struct hf_cursor *hf_find_reader_cursor(struct hf_find_reader *reader);
void hf_find_reader_fini(struct hf_find_reader *reader);

#endif
