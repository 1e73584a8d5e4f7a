/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/rows/summed.h"

#include "fs/profile/profile.h"

#include <stdlib.h>

struct list {
	void *own;
	size_t next, count;
};

int hf_rows_count(struct hf_rows *rows)
{
	int err = hf_rows_hart_count(rows->hart);

	if (err == HF_ERR_NOT_FOUND)
		return hf_rows_fail(rows, HF_ERR_UNSUPPORTED,
				    "%s: hart %u has no summary, and is too long to be counted without (hartfs index "
				    "makes one)",
				    rows->path, rows->hart->info.id);
	return err;
}

int hf_rows_list_open(struct hf_rows *rows)
{
	const struct hf_rows_list *how = rows->table->how;
	struct list *list = calloc(1, sizeof *list);
	int err = list ? how->begin(rows, &list->own, &list->count) : HF_ERR_NOMEM;

	rows->own = list;
	if (err)
		free(list);
	return err;
}

int hf_rows_list_next(struct hf_rows *rows, struct hf_row *row)
{
	const struct hf_rows_list *how = rows->table->how;
	struct list *list = rows->own;

	if (list->next == list->count)
		return HF_NOTE_END;
	row->id = (int64_t)list->next;
	if (rows->hart && hf_row_id(rows, row, list->next))
		return HF_ERR_LIMIT;
	how->put(rows, list->own, list->next, row);
	list->next++;
	return 0;
}

void hf_rows_list_close(struct hf_rows *rows)
{
	const struct hf_rows_list *how = rows->table->how;
	struct list *list = rows->own;

	if (how->end)
		how->end(list->own);
	free(list->own);
	free(list);
}
