/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/top_sums.h"
#include "codecs/base/array.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct word {
	const char *p;
	size_t n;
};

struct row {
	struct word object, name, file; /* object, file empty: it does not tell rows apart */
	uint64_t address, own[2], calls[2];
	unsigned places[2]; /* addresses that are in it */
};

struct rows {
	struct row *row; /* owned */
	size_t count, room;
	bool full; /* there was no memory for more */
};

/* ---- texts ---- */

static struct word next_word(const char **at, const char *end)
{
	struct word word;

	while (*at < end && **at == ' ')
		++*at;
	word.p = *at;
	while (*at < end && **at != ' ')
		++*at;
	word.n = (size_t)(*at - word.p);
	return word;
}

static bool is(struct word word, const char *text)
{
	return strlen(text) == word.n && memcmp(word.p, text, word.n) == 0;
}

static int compare_words(struct word a, struct word b)
{
	const int order = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);

	return order ? order : (a.n > b.n) - (a.n < b.n);
}

static void add(struct rows *rows, const struct row *row)
{
	rows->full |= hf_array_reserve(&rows->row, rows->count + 1, &rows->room, sizeof *rows->row) != 0;
	if (!rows->full)
		rows->row[rows->count++] = *row;
}

/* A row by the names of its columns, which stand in the comment before it; the last column is the rest of the line. */
static void read_row(struct rows *rows, const char *head, const char *head_end, const char *line, const char *end,
		     unsigned side)
{
	struct row row = {.object = {"", 0}, .name = {"", 0}, .file = {"", 0}};
	bool first = true;

	row.places[side] = 1;

	while (head < head_end) {
		const struct word name = next_word(&head, head_end);
		struct word value = next_word(&line, end);
		const char *rest = head;

		if (!next_word(&rest, head_end).n) {
			value.n = (size_t)(end - value.p);
			head = head_end;
			row.name = value;
		}
		/* Digits end at a blank. */
		if (first)
			row.own[side] = strtoull(value.p, NULL, 10);
		else if (is(name, "calls"))
			row.calls[side] = value.n && *value.p != '-' ? strtoull(value.p, NULL, 10) : 0;
		else if (is(name, "address"))
			row.address = strtoull(value.p, NULL, 16);
		else if (is(name, "object"))
			row.object = value;
		else if (is(name, "file") && row.name.p != value.p && !is(value, "-"))
			row.file = value;
		first = false;
	}
	if (row.name.n)
		add(rows, &row);
}

static void read_rows(struct rows *rows, const char *text, unsigned side)
{
	const char *head = "", *head_end = head;

	for (const char *end; *text; text = *end ? end + 1 : end) {
		end = strchrnul(text, '\n');
		if (*text == '#') {
			head = text + 1;
			head_end = end;
		} else {
			read_row(rows, head, head_end, text, end, side);
		}
	}
}

/* ---- sums ---- */

static int by_name(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int order = compare_words(x->name, y->name);

	if (!order)
		order = compare_words(x->object, y->object);
	return order ? order : compare_words(x->file, y->file);
}

static int by_place(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	const int order = by_name(a, b);

	return order ? order : (x->address > y->address) - (x->address < y->address);
}

/* Each hart has rows of its own: an address counts once. */
static void add_up(struct row *to, const struct row *row, uint64_t last[2])
{
	for (unsigned side = 0; side < 2; side++) {
		to->own[side] += row->own[side];
		to->calls[side] += row->calls[side];
		to->places[side] += row->places[side] && (!to->places[side] || last[side] != row->address);
		last[side] = row->places[side] ? row->address : last[side];
	}
}

static void sum(struct rows *rows)
{
	uint64_t last[2];
	size_t n = 0;

	if (rows->count)
		qsort(rows->row, rows->count, sizeof *rows->row, by_place);
	for (size_t i = 0; i < rows->count; i++) {
		const struct row row = rows->row[i];

		if (!n || by_name(&rows->row[n - 1], &row) != 0) {
			last[0] = last[1] = row.address;
			rows->row[n++] = row;
		} else {
			add_up(&rows->row[n - 1], &row, last);
		}
	}
	rows->count = n;
}

static int by_own(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->own[0] != y->own[0] ? (x->own[0] > y->own[0] ? -1 : 1) : by_name(a, b);
}

static uint64_t total(const struct rows *rows, unsigned side)
{
	uint64_t all = 0;

	for (size_t i = 0; i < rows->count; i++)
		all += rows->row[i].own[side];
	return all;
}

/* Of "sort.c:17" what is before the number. */
static void cut_number(struct word *name)
{
	const char *colon = memrchr(name->p, ':', name->n);

	if (colon)
		name->n = (size_t)(colon - name->p);
}

char *hf_top_sum(const char *text, const char *column)
{
	const bool object = strcmp(column, "object") == 0;
	const char *line = text;
	struct rows rows = {0};
	char *out = NULL;
	size_t size;
	FILE *to = open_memstream(&out, &size);
	uint64_t all;

	read_rows(&rows, text, 0);
	for (size_t i = 0; i < rows.count; i++) {
		if (object)
			rows.row[i].name = rows.row[i].object;
		else
			cut_number(&rows.row[i].name);
		rows.row[i].object.n = 0;
	}
	sum(&rows);
	all = total(&rows, 0);
	if (rows.count)
		qsort(rows.row, rows.count, sizeof *rows.row, by_own);
	if (to && *line == '#')
		fprintf(to, "%.*s\n", (int)strcspn(line, "\n"), line);
	if (to)
		fprintf(to, "#%13s %6s %s\n", "own", "share", object ? "object" : "file");
	for (size_t i = 0; to && i < rows.count; i++)
		fprintf(to, "%14" PRIu64 " %6.2f %.*s\n", rows.row[i].own[0],
			all ? 100 * (double)rows.row[i].own[0] / (double)all : 0, (int)rows.row[i].name.n,
			rows.row[i].name.p);
	free(rows.row);
	if (!to || fclose(to) || rows.full) {
		free(out);
		return NULL;
	}
	return out;
}

/* ---- two captures ---- */

static int by_object(const void *a, const void *b)
{
	return compare_words(((const struct row *)a)->object, ((const struct row *)b)->object);
}

/* An object that only one of them has tells nothing apart: two builds of a program may have two names. */
static void forget_own_objects(struct rows *rows)
{
	size_t end;

	if (rows->count)
		qsort(rows->row, rows->count, sizeof *rows->row, by_object);
	for (size_t i = 0; i < rows->count; i = end) {
		bool in[2] = {false, false};

		for (end = i; end < rows->count && by_object(&rows->row[i], &rows->row[end]) == 0; end++) {
			in[0] |= rows->row[end].places[0];
			in[1] |= rows->row[end].places[1];
		}
		for (size_t k = i; k < end && in[0] != in[1]; k++)
			rows->row[k].object = (struct word){"", 0};
	}
}

/* Whether rows [from, end) of one name in one object are of several functions of a capture. */
static bool are_several(const struct rows *rows, size_t from, size_t end)
{
	const uint64_t *seen[2] = {NULL, NULL};
	bool several = false;

	for (size_t i = from; i < end; i++)
		for (unsigned side = 0; side < 2; side++) {
			const struct row *row = &rows->row[i];

			if (!row->places[side])
				continue;
			several |= seen[side] && *seen[side] != row->address;
			seen[side] = &row->address;
		}
	return several;
}

static int by_name_alone(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	const int order = compare_words(x->name, y->name);

	return order ? order : compare_words(x->object, y->object);
}

/* A file tells functions of one name apart; one that moved to another file is the same. */
static void forget_files(struct rows *rows)
{
	size_t end;

	if (rows->count)
		qsort(rows->row, rows->count, sizeof *rows->row, by_name_alone);
	for (size_t i = 0; i < rows->count; i = end) {
		for (end = i; end < rows->count && by_name_alone(&rows->row[i], &rows->row[end]) == 0; end++)
			;
		for (size_t k = i, several = are_several(rows, i, end); k < end && !several; k++)
			rows->row[k].file.n = 0;
	}
}

static uint64_t distance(const struct row *row)
{
	return row->own[0] > row->own[1] ? row->own[0] - row->own[1] : row->own[1] - row->own[0];
}

static int by_distance(const void *a, const void *b)
{
	const uint64_t x = distance(a), y = distance(b);

	return x != y ? (x > y ? -1 : 1) : by_name(a, b);
}

static void put_pair(FILE *to, const struct row *row)
{
	char delta[32];

	snprintf(delta, sizeof delta, "%c%" PRIu64,
		 row->own[1] > row->own[0]   ? '+'
		 : row->own[1] < row->own[0] ? '-'
					     : '=',
		 distance(row));
	fprintf(to, "%14" PRIu64 " %14" PRIu64 " %15s %12" PRIu64 " %12" PRIu64 " %.*s%s%.*s%s%.*s\n", row->own[0],
		row->own[1], delta, row->calls[0], row->calls[1], (int)row->name.n, row->name.p,
		row->file.n ? " of " : "", (int)row->file.n, row->file.p, row->object.n ? " in " : "",
		(int)row->object.n, row->object.p);
}

char *hf_top_compare(const char *a, const char *b)
{
	size_t size, summed = 0, common = 0;
	struct rows rows = {0};
	char *out = NULL;
	FILE *to = open_memstream(&out, &size);

	read_rows(&rows, a, 0);
	read_rows(&rows, b, 1);
	forget_own_objects(&rows);
	forget_files(&rows);
	sum(&rows);
	for (size_t i = 0; i < rows.count; i++) {
		summed += rows.row[i].places[0] > 1 || rows.row[i].places[1] > 1;
		common += rows.row[i].places[0] && rows.row[i].places[1];
	}
	if (to) {
		fprintf(to, "# A: %" PRIu64 " instructions, B: %" PRIu64 "; %zu functions are in both, %zu in one\n",
			total(&rows, 0), total(&rows, 1), common, rows.count - common);
		if (summed)
			fprintf(to, "# %zu names stand for several functions each, which are added up\n", summed);
		fprintf(to, "#%13s %14s %15s %12s %12s %s\n", "own A", "own B", "B - A", "calls A", "calls B",
			"function");
	}
	if (rows.count)
		qsort(rows.row, rows.count, sizeof *rows.row, by_distance);
	for (size_t i = 0; to && i < rows.count; i++)
		put_pair(to, &rows.row[i]);
	free(rows.row);
	if (!to || fclose(to) || rows.full) {
		free(out);
		return NULL;
	}
	return out;
}
