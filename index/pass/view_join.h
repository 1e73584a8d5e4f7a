/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a view table while a hart is written. Chunks with few bytes are joined to one row, with one state of the
 * encoder and one checksum. A row takes chunks while it has fewer than HF_JOIN_BYTES, and HF_JOIN_CHUNKS at most. This
 * depends only on the chunks, so a resumed build makes the same rows: it goes on at the last chunk, which has a row of
 * its own for that. Internal to index/.
 */
#ifndef HF_INDEX_VIEW_JOIN_H
#define HF_INDEX_VIEW_JOIN_H

#include "index/store/store.h"
#include "index/table/index_tables.h"

/* Reads are of 4 KiB or more: at worst a quarter more than that is made. */
#define HF_JOIN_BYTES 1024u
#define HF_JOIN_CHUNKS 8u

/* Zeroed it is empty. */
struct hf_view_join {
	bool joins; /* false: a row for each chunk */
	uint64_t slot;
	/* Chunks that the index does not have yet: a resumed build makes them again. */
	struct hf_view_chunk *waiting;
	size_t waiting_count;
	bool has_open, has_last;
	struct hf_view_chunk open; /* a row that may take more, */
	struct hf_view_chunk last; /*   and the chunk behind it */
	bool stored;		   /* the table has both, as of a commit */
	bool has_end;
	struct hf_view_hart end; /* comes behind the waiting chunks */
};

void hf_view_join_fini(struct hf_view_join *join);
/* Drops all of a hart. */
void hf_view_join_clear(struct hf_view_join *join);
/* Adds the next chunk. */
int hf_view_join_add(struct hf_view_join *join, uint64_t id, const struct hf_view_chunk *chunk);
/* After the last chunk: adds the hart; its number of rows is set later. */
void hf_view_join_end(struct hf_view_join *join, const struct hf_view_hart *hart);
/* To be called when the index has the chunks up to this one. */
int hf_view_join_settle(struct hf_view_join *join, struct hf_store *store, uint64_t id);
/* Before a commit: writes what is settled to the table. */
int hf_view_join_write(struct hf_view_join *join, struct hf_store *store);
/* The first chunk of the row that has, or may have, chunk id. HF_NOTE_END: there is none. */
int hf_view_join_start(struct hf_store *store, uint64_t id, uint64_t *ret_id);
/* Removes all from chunk id on, with which a row must begin (else HF_NOTE_END); *ret_row is that row. */
int hf_view_join_cut(struct hf_view_join *join, struct hf_store *store, uint64_t id, struct hf_view_chunk *ret_row);

#endif
