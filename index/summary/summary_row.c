/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a published summary. */
#include "index/base/lock.h"
#include "index/summary/summary_internal.h"

const struct hf_summary_hart *hf_summary_find_hart(const struct hf_summary *s, uint32_t id)
{
	for (size_t i = 0; i < s->hart_count; i++)
		if (s->harts[i].id == id)
			return &s->harts[i];
	return NULL;
}

int hf_summary_fetch(struct hf_summary *s, const struct hf_table *table, uint64_t slot, uint64_t number, void *ret_row)
{
	int err;

	if (number > HF_NUMBER_MAX)
		return HF_ERR_STATE;
	HF_LOCKED(&s->file.lock);
	err = hf_store_find(s->file.store, table, HF_SEEK_AT, hf_row_id(slot, number), NULL, ret_row);
	return err > 0 ? HF_ERR_STATE : err;
}

int hf_summary_fetch_number(struct hf_summary *s, const struct hf_table *table, uint64_t slot, uint64_t number,
			    uint64_t *ret_number)
{
	int err;

	if (number > HF_NUMBER_MAX)
		return HF_ERR_STATE;
	HF_LOCKED(&s->file.lock);
	err = hf_store_number(s->file.store, table, hf_row_id(slot, number), ret_number);
	return err > 0 ? HF_ERR_STATE : err;
}
