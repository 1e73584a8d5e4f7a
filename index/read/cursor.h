/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A position in the events of a hart. It enters at any chunk or instruction, and goes on in order to the end of what
 * the index has. Slices and all answers that decode use it.
 */
#ifndef HF_INDEX_CURSOR_H
#define HF_INDEX_CURSOR_H

#include "index/base/chunk.h"

struct hf_index;

/* Before the first use the caller sets the first four members, which are borrowed; or index, hart and a borrowed dec:
 * then nothing is to be freed. All else is zero. */
struct hf_cursor {
	const struct hf_stream *stream;
	struct hf_src *src;
	struct hf_index *index;
	uint32_t hart;
	struct hf_dec *dec;
	uint64_t left;	       /* events of chunk that are still to come */
	struct hf_chunk chunk; /* the present one */
};

/* A good number of events to take at once. */
enum { HF_CURSOR_BATCH = 512 };

/* Goes to the first event of a chunk. HF_ERR_MISMATCH, here and below: the events are not those of the index. */
int hf_cursor_enter(struct hf_cursor *c, uint64_t number, struct hf_diag *diag);
/* Goes to that retired instruction, in any chunk. *ret_insn is its event; the next events are those behind it. */
int hf_cursor_seek(struct hf_cursor *c, uint64_t ordinal, struct hf_event *ret_insn, struct hf_diag *diag);
/* Takes 1 to max events of the present chunk. */
int hf_cursor_take(struct hf_cursor *c, struct hf_event *ev, uint64_t max, size_t *ret_n, struct hf_diag *diag);
/* Goes on with the next chunk; HF_NOTE_END behind the last. */
int hf_cursor_advance(struct hf_cursor *c, struct hf_diag *diag);
void hf_cursor_fini(struct hf_cursor *c);

#endif
