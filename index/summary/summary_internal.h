/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a published summary, for its readers. Internal to index/. */
#ifndef HF_INDEX_SUMMARY_INTERNAL_H
#define HF_INDEX_SUMMARY_INTERNAL_H

#include "index/store/published.h"
#include "index/summary/summary_tables.h"

struct hf_summary {
	struct hf_published file;
	struct hf_chunk_limits limits;
	size_t hart_count;
	struct hf_summary_hart *harts;
};

/* NULL: there is no such hart. */
const struct hf_summary_hart *hf_summary_find_hart(const struct hf_summary *summary, uint32_t id);
/* A row that must exist: HF_ERR_STATE if it does not. */
int hf_summary_fetch(struct hf_summary *summary, const struct hf_table *table, uint64_t slot, uint64_t number,
		     void *ret_row);

/* The first column of such a row. */
int hf_summary_fetch_number(struct hf_summary *summary, const struct hf_table *table, uint64_t slot, uint64_t number,
			    uint64_t *ret_number);

/* Checks all calls of a hart. */
int hf_summary_check_calls(struct hf_summary *summary, uint32_t hart);

#endif
