/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an opened decode index has in memory: its meta row, harts and problems, each checked as it is read, since the
 * file may be anybody's. Chunks and points stay in the file. Internal to index/.
 */
#ifndef HF_INDEX_INDEX_CONTENT_H
#define HF_INDEX_INDEX_CONTENT_H

#include "index/row.h"

struct hf_index_content {
	struct hf_index_meta meta;
	const struct hf_codec *codec; /* NULL: the stream could not be opened */
	const struct hf_box *box;     /* NULL: plain bytes */
	size_t hart_count;
	bool has_records;             /* hart HF_HART_RECORDS, behind the others */
	struct hf_index_hart *harts;  /* by id */
	uint64_t *slots;              /* of harts[i] */
	size_t problem_count;         /* stored */
	struct hf_index_problem *problems;
};

/* Into a zeroed one. HF_ERR_STATE if it is not whole, not of this identity or makes no sense, HF_ERR_NOMEM, HF_ERR_IO:
 * the content is to be finished in any case. */
int hf_index_content_load(sqlite3 *db, const struct hf_identity *identity, struct hf_index_content *content);
void hf_index_content_fini(struct hf_index_content *content);

/* The first hart of an index in a slot at or behind from, the records among them; NULL if there is none. */
const struct hf_index_hart *hf_index_next_slot(const struct hf_index *index, uint64_t from, uint64_t *ret_slot);

#endif
