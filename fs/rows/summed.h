/* SPDX-License-Identifier: Apache-2.0 */
/* Tables whose rows are made one after the other out of something that is in memory. Internal to fs/rows/. */
#ifndef HF_ROWS_SUMMED_H
#define HF_ROWS_SUMMED_H

#include "fs/rows/table.h"

struct hf_rows_list {
	/* How many there are, after whatever is to be made before; *ret_own: freed with free. */
	int (*begin)(struct hf_rows *rows, void **ret_own, size_t *ret_count);
	void (*put)(const struct hf_rows *rows, void *own, size_t i, struct hf_row *row);
	void (*end)(void *own); /* before it is freed; NULL: nothing */
};

/* struct hf_table.open, next and close; how is a struct hf_rows_list. */
int hf_rows_list_open(struct hf_rows *rows);
int hf_rows_list_next(struct hf_rows *rows, struct hf_row *row);
void hf_rows_list_close(struct hf_rows *rows);

/* begin of what is made of counts and calls: hf_rows_hart_count, with words. */
int hf_rows_count(struct hf_rows *rows);

#define HF_LIST_TABLE(table, of_flags, of_columns, of_how)                                                             \
	const struct hf_table hf_rows_of_##table = {                                                                     \
		.name = #table,                                                                                        \
		.flags = of_flags,                                                                                     \
		.columns = of_columns,                                                                                 \
		.column_count = sizeof of_columns / sizeof of_columns[0],                                              \
		.open = hf_rows_list_open,                                                                             \
		.next = hf_rows_list_next,                                                                             \
		.close = hf_rows_list_close,                                                                           \
		.how = &of_how,                                                                                        \
	}

#endif
