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

static unsigned char small(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

/* Behind the character at that place. */
static size_t skip_character(const char *text, size_t size, size_t at)
{
	for (at++; at < size && ((unsigned char)text[at] & 0xc0) == 0x80; at++)
		;
	return at;
}

/* Only the last % is ever tried again: what an earlier one matched can stay. */
static bool is_like(const char *pattern, const char *text, size_t size)
{
	const char *behind = NULL; /* the last % */
	size_t at = 0, again = 0;

	while (at < size) {
		if (*pattern == '%') {
			behind = ++pattern;
			again = at;
		} else if (*pattern == '_') {
			pattern++;
			at = skip_character(text, size, at);
		} else if (*pattern && small(*pattern) == small(text[at])) {
			pattern++;
			at++;
		} else if (behind) {
			pattern = behind;
			at = ++again;
		} else {
			return false;
		}
	}
	return pattern[strspn(pattern, "%")] == 0;
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
	if (rows->ask->like[column] &&
	    (value->type != HF_VALUE_TEXT || !is_like(rows->ask->like[column], value->text, value->size)))
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
