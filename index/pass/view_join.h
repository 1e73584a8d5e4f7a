/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a view table while a hart is written: chunks with few bytes are joined to one row, so that the state of the
 * encoder and the checksum are kept once for all of them. A row takes chunks as long as it has fewer than
 * HF_JOIN_BYTES, and HF_JOIN_CHUNKS at most. That depends on nothing but the chunks, so that a build that was interrupted
 * comes to the same rows: it goes on at the last chunk, which has a row of its own for that. Internal to index/.
 */
#ifndef HF_INDEX_VIEW_JOIN_H
#define HF_INDEX_VIEW_JOIN_H

#include "index/store/store.h"
#include "index/table/index_tables.h"

/* A reader asks for 4 KiB at least: it makes a quarter more than that at worst. */
#define HF_JOIN_BYTES 1024u
#define HF_JOIN_CHUNKS 8u

/* Zeroed it has nothing. */
struct hf_view_join {
	bool joins; /* as opposed to a row for each chunk */
	uint64_t slot;
	/* Chunks which the index does not have yet: a build that goes on makes them again. */
	struct hf_view_chunk *waiting;
	size_t waiting_count;
	bool has_open, has_last;
	struct hf_view_chunk open; /* a row that may take more, */
	struct hf_view_chunk last; /*   and the chunk behind it */
	bool stored;		   /* the table has both as they were at a commit */
	bool has_end;
	struct hf_view_hart end; /* behind the chunks that wait */
};

void hf_view_join_fini(struct hf_view_join *join);
/* Forgets all of a hart. */
void hf_view_join_clear(struct hf_view_join *join);
/* The next chunk. */
int hf_view_join_add(struct hf_view_join *join, uint64_t id, const struct hf_view_chunk *chunk);
/* Behind the last one: all of the hart but how many rows there are. */
void hf_view_join_end(struct hf_view_join *join, const struct hf_view_hart *hart);
/* The index has the chunks up to this one now. */
int hf_view_join_settle(struct hf_view_join *join, struct hf_store *store, uint64_t id);
/* The table has what is settled: before a commit. */
int hf_view_join_write(struct hf_view_join *join, struct hf_store *store);
/* The first chunk of the row that has chunk id, or may have it. HF_NOTE_END: there is none. */
int hf_view_join_start(struct hf_store *store, uint64_t id, uint64_t *ret_id);
/* Removes what the table has from chunk id on, with which a row must begin (else HF_NOTE_END); that row is *ret_row. */
int hf_view_join_cut(struct hf_view_join *join, struct hf_store *store, uint64_t id, struct hf_view_chunk *ret_row);

#endif
