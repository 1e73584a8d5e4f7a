/* SPDX-License-Identifier: Apache-2.0 */
/* What was asked, and what all tables say and do alike. */
#include "fs/capture/all.h"
#include "fs/capture/state.h"
#include "fs/rows/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int hf_rows_fail(struct hf_rows *rows, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(rows->why, rows->why_size, format, args);
	va_end(args);
	return err;
}

bool hf_rows_are_stopped(const struct hf_rows *rows)
{
	return rows->ask->stop && rows->ask->stop(rows->ask->ctx);
}

static bool is_among(const struct hf_rows_among *among, const struct hf_value *value)
{
	size_t low = 0, high = among->count;

	if (value->type != HF_VALUE_NUMBER)
		return false;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (among->number[middle] == value->number)
			return true;
		if (among->number[middle] < value->number)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

bool hf_row_is_asked(const struct hf_rows *rows, const struct hf_row *row, unsigned column)
{
	const struct hf_value *value = &row->value[column];
	const char *equal = rows->ask->equal[column];

	if (rows->ask->ranged >> column & 1 &&
	    (value->type != HF_VALUE_NUMBER || value->number < rows->ask->range[column].first ||
	     value->number > rows->ask->range[column].last))
		return false;
	if (rows->ask->among[column].number && !is_among(&rows->ask->among[column], value))
		return false;
	return !equal || (value->type == HF_VALUE_TEXT && strlen(equal) == value->size &&
			  memcmp(equal, value->text, value->size) == 0);
}

static bool go_on(void *ctx, double percent, uint64_t insns)
{
	(void)percent;
	(void)insns;
	return !hf_rows_are_stopped(ctx);
}

/* What is wrong with a capture, in words. */
static int blame_capture(struct hf_rows *rows, int err)
{
	char text[HF_FAILURE_SIZE];

	if (hf_captures_explain(rows->session->captures, rows->path, text, sizeof text))
		return hf_rows_fail(rows, err, "%s: %s", rows->path, text);
	return err;
}

int hf_rows_index(struct hf_rows *rows)
{
	struct hf_diag diag;
	int err = hf_captures_index(rows->session->captures, rows->path, "", NULL, go_on, rows, &diag);

	if (err && hf_rows_are_stopped(rows))
		return HF_ERR_CANCELLED;
	return err ? blame_capture(rows, err) : 0;
}
