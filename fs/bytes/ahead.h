/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one reader of an open file does, told from its reads: whether it goes forward, so that pieces are made ahead of
 * it, or reads here and there, for which no whole piece is made. Thread-safe.
 */
#ifndef HF_FS_AHEAD_H
#define HF_FS_AHEAD_H

#include "fs/bytes/bytes.h"

struct hf_reading {
	pthread_mutex_t lock;
	uint64_t expected;    /* end of the farthest read */
	unsigned streak;      /* reads near expected, one after the other */
	uint64_t ahead;       /* pieces before this number were asked for */
	uint64_t planned;     /* reads up to here see nothing more to be asked for */
	uint64_t once;	      /* of a stream, piece + 1 of the last read that went around the cache */
};

/* Notes a read; whether the reader goes forward. */
bool hf_reading_note(struct hf_reading *reading, uint64_t offset, uint64_t end);
/* Whether a read of these pieces is to go around the cache: a small one from somewhere, of pieces that have parts, are
 * not at hand, and that nobody read like that before, as far as is remembered; of a stream, whose parts cost little,
 * not the second in a row from one place. */
bool hf_reading_goes_once(struct hf_reading *reading, const struct hf_bytes *bytes, const struct hf_piece *piece,
			  size_t count, uint64_t offset, size_t size);
/*
 * Makes ahead what a reader that goes forward from end will want, so much that all cores have work but little enough
 * that the cache is not filled with it.
 */
void hf_reading_ahead(struct hf_reading *reading, const struct hf_bytes *source, uint64_t end);

#endif
