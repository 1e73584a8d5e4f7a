/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A part of a hart's summary while it is made: an inverted index, and the rows that come of it.
 *
 * A full one becomes rows, a span, if these and all before them have at most 1 byte for every so many instructions and
 * a credit besides. Otherwise it is made coarser, and goes on. So however a program behaves, the file has a size that
 * its instructions bound; and a key says how coarse it is. Internal to index/.
 */
#ifndef HF_INDEX_SUMMARY_INVERSE_SPAN_H
#define HF_INDEX_SUMMARY_INVERSE_SPAN_H

#include "index/summary/inverse.h"
#include "index/summary/span.h"
#include "index/summary/summary_tables.h"

/* How a part is made coarser. */
struct hf_inverse_ops {
	enum hf_inverse_part part;
	bool counted;	       /* counts are executions; otherwise each is 1 */
	unsigned insns_a_byte; /* of the bound */
	hf_inverse_shift_fn shift;
	/* By one step, with hf_inverse_map: 1, or 0 if it is as coarse as can be. An error. */
	int (*coarsen)(void *ctx);
	/* Whether there can be such a key. */
	bool (*is_key)(const struct hf_inverse_key *key);
	/* What of a key is asked for: [*ret_first, *ret_last]. */
	void (*range)(const struct hf_inverse_key *key, uint64_t *ret_first, uint64_t *ret_last);
	/* A span was written: the next one begins fine again. May be NULL. */
	void (*begin)(void *ctx);
};

struct hf_inverse_rows;

struct hf_inverse_writer {
	const struct hf_inverse_ops *ops;
	void *ctx; /* of ops */
	struct hf_inverse *inverse;
	uint64_t first, last;  /* places at level 0 of what the inverse holds: from, and so far */
	uint64_t insns, begun; /* of the hart so far; when the span began */
	uint64_t total;	       /* sum of counts in the inverse */
	struct hf_inverse_head head;
	uint64_t bytes; /* written */
	struct hf_inverse_rows *rows;
};

/* put, put_ctx: take the rows. The writer is zeroed, and to be finished in any case. */
int hf_inverse_writer_init(struct hf_inverse_writer *w, const struct hf_inverse_ops *ops, void *ctx,
			   const struct hf_inverse_room *room, hf_summary_row_fn put, void *put_ctx);
void hf_inverse_writer_fini(struct hf_inverse_writer *w);

/* count as in hf_inverse_put; place: at level 0. HF_ERR_LIMIT: hf_inverse_writer_make_room, and again, with the key as
 * coarse as it is then. */
int hf_inverse_writer_put(struct hf_inverse_writer *w, const struct hf_inverse_key *key, uint64_t place,
			  uint64_t count);
int hf_inverse_writer_make_room(struct hf_inverse_writer *w);
/* A chunk ends here. coarse: keys are not as fine as can be. Then the span ends some time, so that what a program does
 * afterwards does not stay coarse for what it did before. */
int hf_inverse_writer_cut(struct hf_inverse_writer *w, bool coarse);
/* The hart is complete. known: the source tells of such things. */
int hf_inverse_writer_end(struct hf_inverse_writer *w, bool known);

/* To a file and back, into one that is as it was made. */
void hf_inverse_writer_keep(struct hf_inverse_writer *w, struct hf_keep *keep);

/* For coarsen: all keys as fn changes them. */
int hf_inverse_writer_map(struct hf_inverse_writer *w, hf_inverse_map_fn fn, void *ctx);

#endif
