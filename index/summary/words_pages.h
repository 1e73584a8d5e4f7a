/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In how many chunks each page of memory was written or read (words.h).
 */
#ifndef HF_INDEX_SUMMARY_WORDS_PAGES_H
#define HF_INDEX_SUMMARY_WORDS_PAGES_H

#include "index/summary/words.h"

/* Most pages; ranges in others are counted in left_out. */
#define HF_WORDS_PAGES_MAX (UINT32_C(1) << 19)

/* Bytes [first, last]: a page of 4,096, or a larger range if no more is known, which may contain pages. */
struct hf_words_page {
	uint64_t first, last;
	bool unknown;	 /* accesses whose address the source does not tell */
	uint64_t chunks; /* that touched it */
};

struct hf_words_pages {
	struct hf_words_page *page; /* owned; by first, last; the unknown one is the last */
	size_t count;
	uint64_t left_out; /* ranges of memory */
};

/*
 * Counts over chunks [first, end). To be freed after success. HF_ERR_UNSUPPORTED: the source does not tell such
 * accesses. HF_ERR_NOT_FOUND: there is no such hart. HF_ERR_STATE, HF_ERR_NOMEM.
 */
int hf_words_pages_count(struct hf_summary *summary, uint32_t hart, enum hf_words_what what, uint64_t first,
			 uint64_t end, struct hf_words_pages *ret_pages);
void hf_words_pages_free(struct hf_words_pages *pages);

#endif
