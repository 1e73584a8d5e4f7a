/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists: in which chunks something happened, and how often in each. Coded as gaps and counts (unless all are 1), each
 * as an exponential Golomb code of an order of its own, in blocks of 128 with a table to pass over them. Internal to
 * index/.
 */
#ifndef HF_INDEX_SUMMARY_LIST_H
#define HF_INDEX_SUMMARY_LIST_H

#include "codecs/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HF_LIST_BLOCK 128u

struct hf_posting {
	uint64_t chunk, count; /* count at least 1 */
};

/* What is known of a list besides its bytes. */
struct hf_list_facts {
	uint64_t postings, total; /* how many there are, and the sum of their counts */
	uint64_t first, end;	  /* all chunks are in [first, end) */
};

struct hf_list_bytes {
	uint8_t *p;
	size_t n, room;
};

/* Codes one list after the other. All zeros is a new one. */
struct hf_list_writer {
	struct hf_list_bytes out;    /* the list, once it has ended */
	struct hf_list_bytes blocks; /* and what becomes of it: the blocks, */
	struct hf_list_bytes skips;  /* and the table of them */
	struct hf_list_facts facts;
	unsigned gap_order, count_order;
	uint64_t chunk, left, count; /* the last one; to come; of the block at hand */
	uint64_t block_chunk;	     /* before it */
	size_t block_at;
	uint64_t bits; /* the low bit_count of them are not in blocks yet */
	unsigned bit_count;
};

/* last: the greatest chunk to come. */
void hf_list_begin(struct hf_list_writer *w, const struct hf_list_facts *facts, uint64_t last);
/* In the order of chunks. HF_ERR_NOMEM. */
int hf_list_add(struct hf_list_writer *w, const struct hf_posting *posting);
/* Once all have come: w->out is the list. */
int hf_list_end(struct hf_list_writer *w);
void hf_list_writer_fini(struct hf_list_writer *w);

/* Reads one; no bytes of it are believed. */
struct hf_list {
	struct hf_list_facts facts;
	unsigned gap_order, count_order;
	const uint8_t *skip, *block, *end; /* the entry for the block that comes next, that block */
	const uint8_t *skips_end;
	uint64_t left, sum; /* postings to come; of those that were */
	uint64_t chunk;	    /* of the last one, plus 1 */
	size_t bit;	    /* of the block at hand */
	const uint8_t *at;  /* that block */
	/* Up to here bytes may be read, which is quicker at the end of the list; hf_list_open: up to its end. */
	const uint8_t *readable;
	bool single; /* no bytes: its only posting is in facts */
};

/* The bytes are borrowed. HF_ERR_STATE: they are not those of such a list. */
int hf_list_open(struct hf_list *list, const uint8_t *bytes, size_t size, const struct hf_list_facts *facts);
/* One posting, which no bytes tell. HF_ERR_STATE: facts tell of another one. */
int hf_list_open_single(struct hf_list *list, uint64_t chunk, const struct hf_list_facts *facts);
/* HF_NOTE_END: that was all. HF_ERR_STATE. */
int hf_list_next(struct hf_list *list, struct hf_posting *ret_posting);
/* The same of as many as there are, up to max. */
int hf_list_take(struct hf_list *list, struct hf_posting *postings, size_t max, size_t *ret_n);
/* Goes on at the first posting whose chunk is at least that, if that is ahead; HF_NOTE_END: there is none. */
int hf_list_seek(struct hf_list *list, uint64_t chunk, struct hf_posting *ret_posting);
/* Goes on at the posting that holds the n-th occurrence, from 0, if that is ahead; *ret_before: of those before it. */
int hf_list_nth(struct hf_list *list, uint64_t n, struct hf_posting *ret_posting, uint64_t *ret_before);

#endif
