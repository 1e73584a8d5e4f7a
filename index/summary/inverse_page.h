/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages of an inverted index as they are kept: keys in their order, each member in a column of its own. Internal to
 * index/.
 */
#ifndef HF_INDEX_SUMMARY_INVERSE_PAGE_H
#define HF_INDEX_SUMMARY_INVERSE_PAGE_H

#include "index/summary/inverse.h"

/* A page is full when it has so many bytes; a key takes less than so many. */
#define HF_INVERSE_PAGE_FULL ((size_t)32 << 10)
#define HF_INVERSE_KEY_BYTES 64u
/* The coarsest level that there is. */
#define HF_INVERSE_LEVEL_MAX 64u

enum hf_inverse_column {
	HF_INVERSE_LEVEL, /* a byte; all others are LEB128 */
	HF_INVERSE_A,	  /* less that of the key before */
	HF_INVERSE_B,	  /* less that of the key before, if that has the same a */
	HF_INVERSE_POSTINGS,
	HF_INVERSE_REPEATS, /* total less postings */
	HF_INVERSE_WHERE,   /* with one posting: its place less the base; else bytes of the list */
	HF_INVERSE_COLUMNS
};

/* A key with what is known of it. */
struct hf_inverse_item {
	struct hf_inverse_key key;
	uint64_t total, postings;
	uint64_t place;		  /* with one posting; there is no list then */
	uint64_t list, list_size; /* where the list is among those of the part */
};

struct hf_inverse_page_writer {
	uint64_t keys;
	struct hf_inverse_key previous;
	size_t bytes;			     /* of all columns */
	uint8_t *column[HF_INVERSE_COLUMNS]; /* each has room for a full page */
	size_t n[HF_INVERSE_COLUMNS];
};

int hf_inverse_page_init(struct hf_inverse_page_writer *w);
void hf_inverse_page_fini(struct hf_inverse_page_writer *w);
void hf_inverse_page_begin(struct hf_inverse_page_writer *w);
/* In the order of keys. base: of places, at the level of the key. */
void hf_inverse_page_put(struct hf_inverse_page_writer *w, const struct hf_inverse_item *item, uint64_t base);
/* All of it: at most HF_INVERSE_PAGE_FULL + 2 * HF_INVERSE_KEY_BYTES bytes, whose number it returns. */
size_t hf_inverse_page_end(const struct hf_inverse_page_writer *w, uint8_t *to);

/* Reads one; no bytes of it are believed. Places are less the base. */
struct hf_inverse_page_reader {
	const uint8_t *at[HF_INVERSE_COLUMNS], *end[HF_INVERSE_COLUMNS];
	struct hf_inverse_key previous;
	uint64_t left, list;
	bool any;
};

/* The bytes are borrowed; list: where the first one is. HF_ERR_STATE: it is no page. */
int hf_inverse_page_open(struct hf_inverse_page_reader *r, const uint8_t *bytes, size_t n, uint64_t keys,
			 uint64_t list);
/* HF_NOTE_END: that was all. HF_ERR_STATE. */
int hf_inverse_page_next(struct hf_inverse_page_reader *r, struct hf_inverse_item *ret_item);

#endif
