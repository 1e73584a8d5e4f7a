/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages of runs as they are kept: by key, each as the difference to the one before it. Internal to index/.
 */
#ifndef HF_INDEX_SUMMARY_PAGE_H
#define HF_INDEX_SUMMARY_PAGE_H

#include "index/summary/run.h"

/* A page is full when it has so many bytes, */
#define HF_PAGE_FULL ((size_t)32 << 10)
/* and the run with which it is has less than so many more. */
#define HF_PAGE_BYTES_MAX (HF_PAGE_FULL + HF_RUN_BYTES + 128)

/* A run as a page has it. */
struct hf_page_run {
	struct hf_run run; /* its code lies in the page */
	uint64_t count, chunks, number; /* chunks: that have any of it */
	uint64_t first, last; /* groups that have any of it */
};

/* What is known of a page besides its bytes. */
struct hf_page_facts {
	uint64_t first, end; /* all code of its runs is in [first, end) */
	uint64_t runs;
	uint64_t base; /* the first group of its span */
};

/* All zeros is an empty page. */
struct hf_page_writer {
	struct hf_page_facts facts;
	struct hf_run_key previous;
	uint64_t number; /* of that run */
	size_t n;
	uint8_t bytes[HF_PAGE_BYTES_MAX];
};

void hf_page_begin(struct hf_page_writer *w, uint64_t base);
/* In the order of keys. */
void hf_page_put(struct hf_page_writer *w, const struct hf_page_run *run);

/* Reads one; no bytes of it are believed. */
struct hf_page_reader {
	struct hf_page_facts facts;
	const uint8_t *at, *end;
	struct hf_run_key previous;
	uint64_t left, number;
};

/* The bytes are borrowed. */
void hf_page_open(struct hf_page_reader *r, const uint8_t *bytes, size_t n, const struct hf_page_facts *facts);
/* HF_NOTE_END: that was all. HF_ERR_STATE: it is no page. */
int hf_page_next(struct hf_page_reader *r, struct hf_page_run *ret_run);

#endif
