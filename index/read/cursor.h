/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A place in the events of a hart: it is entered at any chunk or instruction, and goes on from there in order, as far
 * as the index promises events. What cuts a range out of a hart and what hands instructions out both stand on it.
 */
#ifndef HF_INDEX_CURSOR_H
#define HF_INDEX_CURSOR_H

#include "index/base/chunk.h"

struct hf_index;

/* Zero but for the first four, which are borrowed, before the first use; or for index, hart and a borrowed dec, and then
 * there is nothing to free. */
struct hf_cursor {
	const struct hf_stream *stream;
	struct hf_src *src;
	struct hf_index *index;
	uint32_t hart;
	struct hf_dec *dec;
	uint64_t left;	       /* events of the chunk at hand that are still to come */
	struct hf_chunk chunk; /* at hand */
};

/* As many events as it pays to take at once. */
enum { HF_CURSOR_BATCH = 512 };

/* Stands before the first event of a chunk then. HF_ERR_MISMATCH, here and below: the index promises something else. */
int hf_cursor_enter(struct hf_cursor *c, uint64_t number, struct hf_diag *diag);
/* Passes over all that is before a retired instruction of the hart; *ret_insn is that one, which the decoder gave
 * alone. */
int hf_cursor_seek(struct hf_cursor *c, uint64_t ordinal, struct hf_event *ret_insn, struct hf_diag *diag);
/* 1 to max events of the chunk at hand. */
int hf_cursor_take(struct hf_cursor *c, struct hf_event *ev, uint64_t max, size_t *ret_n, struct hf_diag *diag);
/* Goes on with the next chunk; HF_NOTE_END behind the last. */
int hf_cursor_advance(struct hf_cursor *c, struct hf_diag *diag);
void hf_cursor_fini(struct hf_cursor *c);

#endif
