/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables whose rows are events of a hart. All of them have the ordinal of an instruction in column HF_AT_ORDINAL: that of
 * the event itself, or of the last one that retired before it. Internal to fs/rows/.
 */
#ifndef HF_ROWS_EVENTS_H
#define HF_ROWS_EVENTS_H

#include "fs/find/question.h"
#include "fs/rows/table.h"

enum { HF_AT_ORDINAL = HF_AT_FIRST };
#define HF_ORDINAL_COLUMN                                                                                              \
	{                                                                                                              \
		"ordinal", HF_COLUMN_ASKED | HF_COLUMN_ORDER                                                           \
	}

struct hf_rows_at {
	const struct hf_event *ev, *end; /* its DATA follow, up to end at most */
	uint64_t ordinal;
	bool attempted; /* what belongs to an instruction belongs to one that did not retire */
};

struct hf_rows_events {
	uint32_t kinds; /* bits of enum hf_event_kind; others are no rows */
	uint32_t rare;	/* bits of enum hf_rare_kind, if all rows are of these: the summary knows where they are; 0: not */
	/* False: the event is no row. Ordinal, capture and hart are set. */
	bool (*put)(const struct hf_rows *rows, const struct hf_rows_at *at, struct hf_row *row);
	/* Adds to the question what lists of the summary know of the conditions. NULL: nothing. */
	void (*ask)(const struct hf_rows *rows, struct hf_question *question);
};

/* struct hf_table.open, next and close; how is a struct hf_rows_events. */
int hf_rows_events_open(struct hf_rows *rows);
int hf_rows_events_next(struct hf_rows *rows, struct hf_row *row);
void hf_rows_events_close(struct hf_rows *rows);

/* Adds a term with the addresses that a column may have, if there is a condition on it, once. */
void hf_rows_ask_range(const struct hf_rows *rows, unsigned column, enum hf_question_kind kind,
		       struct hf_question *question);
/* The value of an event of words words, whose first one is value, and whose others follow as DATA: a number, or a text as
 * in listings if there are several. */
void hf_row_value(const struct hf_rows *rows, struct hf_row *row, unsigned column, const struct hf_rows_at *at,
		  uint64_t value, uint32_t more);

#define HF_EVENT_TABLE(table, of_flags, of_columns, of_how)                                                                      \
	const struct hf_table hf_rows_of_##table = {                                                                     \
		.name = #table,                                                                                        \
		.flags = HF_TABLE_HART | HF_TABLE_ORDERED | (of_flags),                                                             \
		.columns = of_columns,                                                                                 \
		.column_count = sizeof of_columns / sizeof of_columns[0],                                              \
		.open = hf_rows_events_open,                                                                           \
		.next = hf_rows_events_next,                                                                           \
		.close = hf_rows_events_close,                                                                         \
		.how = &of_how,                                                                                        \
	}

#endif
