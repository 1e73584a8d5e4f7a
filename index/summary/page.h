/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages of runs as they are stored: sorted by key, each as differences to the previous one. Internal to index/.
 */
#ifndef HF_INDEX_SUMMARY_PAGE_H
#define HF_INDEX_SUMMARY_PAGE_H

#include "index/summary/run.h"

/* A page with so many bytes is full; */
#define HF_PAGE_FULL ((size_t)32 << 10)
/* with its last run it has less than so many more. */
#define HF_PAGE_BYTES_MAX (HF_PAGE_FULL + HF_RUN_BYTES + 128)

/* A run in a page. */
struct hf_page_run {
	struct hf_run run; /* its code is in the page */
	uint64_t count, chunks, number; /* executions; chunks that have it; its number */
	uint64_t first, last; /* groups that have it */
};

/* Facts about a page besides its bytes. */
struct hf_page_facts {
	uint64_t first, end; /* all code of its runs is in [first, end) */
	uint64_t runs;
	uint64_t base; /* the first group of its span */
};

/* Zeroed it is an empty page. */
struct hf_page_writer {
	struct hf_page_facts facts;
	struct hf_run_key previous;
	uint64_t number; /* of that run */
	size_t n;
	uint8_t bytes[HF_PAGE_BYTES_MAX];
};

void hf_page_begin(struct hf_page_writer *w, uint64_t base);
/* Adds a run; in the order of keys. */
void hf_page_put(struct hf_page_writer *w, const struct hf_page_run *run);

/* Reads a page; its bytes may be damaged. */
struct hf_page_reader {
	struct hf_page_facts facts;
	const uint8_t *at, *end;
	struct hf_run_key previous;
	uint64_t left, number;
};

/* The bytes are borrowed. */
void hf_page_open(struct hf_page_reader *r, const uint8_t *bytes, size_t n, const struct hf_page_facts *facts);
/* HF_NOTE_END: there are no more. HF_ERR_STATE: the page is damaged. */
int hf_page_next(struct hf_page_reader *r, struct hf_page_run *ret_run);

#endif
