/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the lists of a summary, which lie in pieces. */
#ifndef HF_INDEX_LIST_READER_H
#define HF_INDEX_LIST_READER_H

#include "index/summary/list.h"

struct hf_summary;
struct hf_table;

/* For whoever reads many lists, one after the other in the order of their keys: a reader remembers what lies beside the
 * one read last, and that one stands in it, until the next is read. It is of one summary and one thread. */
struct hf_list_reader;
int hf_list_reader_new(struct hf_list_reader **ret_reader);
void hf_list_reader_free(struct hf_list_reader *reader);

/* ---- internal to index/ ---- */

/* Where a list lies: in pieces of a table, from number on. One posting has no list, but is at chunk. */
struct hf_summary_lists {
	const struct hf_table *table;
	uint64_t slot, number;
	uint64_t list, list_size, chunk;
};

/* As hf_summary_list_by and hf_summary_list; damage is noted. */
int hf_summary_read_list(struct hf_summary *summary, struct hf_list_reader *reader, const struct hf_summary_lists *where,
			 const struct hf_list_facts *facts, struct hf_list *ret_list);
int hf_summary_copy_list(struct hf_summary *summary, const struct hf_summary_lists *where,
			 const struct hf_list_facts *facts, struct hf_list *ret_list, uint8_t **ret_bytes);

#endif
