/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/sql/plan.h"

#include "mountd/sql/plan_words.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static int find_column(const struct hf_schema_table *table, const char *word, size_t size)
{
	for (uint32_t i = 0; i < table->count; i++)
		if (strlen(table->column[i].name) == size && memcmp(table->column[i].name, word, size) == 0)
			return (int)i;
	return -1;
}

static void narrow(struct hf_request *request, int column, sqlite3_int64 first, sqlite3_int64 last)
{
	if (!(request->ranged >> column & 1)) {
		request->ranged |= 1u << column;
		request->range[column].first = INT64_MIN;
		request->range[column].last = INT64_MAX;
	}
	if (first > request->range[column].first)
		request->range[column].first = first;
	if (last < request->range[column].last)
		request->range[column].last = last;
}

/* A number of 64 bits; also 4.0, which the planner takes for 4. */
static bool is_whole(sqlite3_value *value)
{
	const int type = sqlite3_value_type(value);
	const double real = type == SQLITE_FLOAT ? sqlite3_value_double(value) : 0;

	return type == SQLITE_INTEGER ||
	       (type == SQLITE_FLOAT && real >= -0x1p63 && real < 0x1p63 && (double)(sqlite3_int64)real == real);
}

/* Numbers that SQLite compares in another way than ours (1.5, '7') are left to it. False: NULL, which is never true. */
static bool add_number(struct hf_request *request, int column, unsigned char op, sqlite3_value *value)
{
	const sqlite3_int64 number = sqlite3_value_int64(value);

	if (!is_whole(value))
		return sqlite3_value_type(value) != SQLITE_NULL;
	switch (op) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		narrow(request, column, number, number);
		return true;
	case SQLITE_INDEX_CONSTRAINT_GE:
		narrow(request, column, number, INT64_MAX);
		return true;
	case SQLITE_INDEX_CONSTRAINT_LE:
		narrow(request, column, INT64_MIN, number);
		return true;
	case SQLITE_INDEX_CONSTRAINT_GT:
		if (number != INT64_MAX)
			narrow(request, column, number + 1, INT64_MAX);
		return number != INT64_MAX;
	default:
		if (number != INT64_MIN)
			narrow(request, column, INT64_MIN, number - 1);
		return number != INT64_MIN;
	}
}

static bool add_text(struct hf_request *request, int column, sqlite3_value *value)
{
	const char *text;
	const int type = sqlite3_value_type(value);

	if (type != SQLITE_TEXT)
		return type != SQLITE_NULL;
	text = (const char *)sqlite3_value_text(value);
	/* A text with a 0 in it is nobody's; two that differ are not both met, which SQLite sees. */
	if (text && !request->equal[column] && strlen(text) == (size_t)sqlite3_value_bytes(value))
		request->equal[column] = text;
	return true;
}

/* Numbers that are collected of an IN. */
struct numbers {
	sqlite3_int64 *number; /* owned */
	size_t count, room;
};

/* What SQLite compares in another way than ours leaves the whole condition to it: *ret_whole is false. */
static int collect_numbers(sqlite3_value *list, struct numbers *ret_numbers, bool *ret_whole)
{
	struct numbers *to = ret_numbers;
	sqlite3_value *value;
	int err = sqlite3_vtab_in_first(list, &value);

	*ret_whole = true;
	for (; err == SQLITE_OK && value; err = sqlite3_vtab_in_next(list, &value)) {
		const int type = sqlite3_value_type(value);

		*ret_whole &= type == SQLITE_INTEGER || type == SQLITE_NULL;
		if (type != SQLITE_INTEGER)
			continue;
		if (to->count == to->room) {
			const size_t room = to->room ? 2 * to->room : 16;
			sqlite3_int64 *bigger = sqlite3_realloc64(to->number, room * sizeof *bigger);

			if (!bigger)
				return SQLITE_NOMEM;
			to->number = bigger;
			to->room = room;
		}
		to->number[to->count++] = sqlite3_value_int64(value);
	}
	return err == SQLITE_DONE ? SQLITE_OK : err;
}

static int by_number(const void *a, const void *b)
{
	const sqlite3_int64 x = *(const sqlite3_int64 *)a, y = *(const sqlite3_int64 *)b;

	return x < y ? -1 : x > y;
}

/* As the message has them, in the request's memory. */
static bool put_numbers(const struct numbers *from, struct hf_request *request, int column)
{
	uint8_t *to = sqlite3_malloc64(8 * from->count);
	uint32_t n = 0;

	if (!to)
		return false;
	for (size_t i = 0; i < from->count; i++) {
		if (i && from->number[i] == from->number[i - 1])
			continue;
		for (unsigned k = 0; k < 8; k++)
			to[8 * (size_t)n + k] = (uint8_t)((uint64_t)from->number[i] >> (8 * k));
		n++;
	}
	request->among[column].numbers = to;
	request->among[column].count = n;
	return true;
}

/* Too many for a message are a range; with no memory they are left to SQLite. */
static bool add_among(struct hf_request *request, int column, sqlite3_value *list)
{
	struct numbers numbers = {0};
	size_t sent = 0;
	bool whole, any = true;

	for (unsigned i = 0; i < HF_PROTOCOL_COLUMNS; i++)
		sent += request->among[i].count;
	if (collect_numbers(list, &numbers, &whole) == SQLITE_OK && whole) {
		any = numbers.count > 0;
		if (any)
			qsort(numbers.number, numbers.count, sizeof *numbers.number, by_number);
		if (any && (numbers.count + sent > HF_PROTOCOL_AMONG || !put_numbers(&numbers, request, column)))
			narrow(request, column, numbers.number[0], numbers.number[numbers.count - 1]);
	}
	sqlite3_free(numbers.number);
	return any;
}

static bool add_like(struct hf_request *request, int column, sqlite3_value *value)
{
	const char *text;

	if (sqlite3_value_type(value) != SQLITE_TEXT)
		return sqlite3_value_type(value) != SQLITE_NULL;
	text = (const char *)sqlite3_value_text(value);
	if (!text || request->like[column] || strlen(text) != (size_t)sqlite3_value_bytes(value))
		return true;
	/* What is not ASCII may be alike in more ways, if the host has a LIKE of its own. */
	for (const char *p = text; *p; p++)
		if (*p & 0x80)
			return true;
	request->like[column] = text;
	return true;
}

/* A number of rows; what is none is SQLite's to complain of. */
static sqlite3_int64 rows_of(sqlite3_value *value)
{
	const sqlite3_int64 rows = sqlite3_value_type(value) == SQLITE_INTEGER ? sqlite3_value_int64(value) : 0;

	return rows > 0 ? rows : 0;
}

static bool add(const struct hf_schema_table *table, const char *word, size_t size, sqlite3_value *value,
		struct hf_request *request)
{
	for (size_t i = 0; i < HF_PLAN_OPS; i++) {
		const size_t n = strlen(hf_plan_ops[i].text);
		int column;

		if (size <= n || memcmp(word + size - n, hf_plan_ops[i].text, n) != 0)
			continue;
		column = find_column(table, word, size - n);
		if (column < 0)
			return true;
		if (hf_plan_ops[i].op == OP_AMONG)
			return add_among(request, column, value);
		if (hf_plan_ops[i].op == SQLITE_INDEX_CONSTRAINT_LIKE)
			return add_like(request, column, value);
		return table->column[column].flags & HF_COL_TEXT ? add_text(request, column, value)
								 : add_number(request, column, hf_plan_ops[i].op, value);
	}
	return true;
}

static bool is_word(const char *word, size_t size, const char *text)
{
	return size == strlen(text) && memcmp(word, text, size) == 0;
}

/* Numbers that are equal are known without being sent; texts are if SQLite does not look at them again. */
static void count_only(const struct hf_schema_table *table, struct hf_request *request, uint32_t numbers)
{
	for (uint32_t i = 0; i < table->count; i++)
		if (numbers >> i & 1 && (!(request->ranged >> i & 1) || request->range[i].first != request->range[i].last))
			return;
	request->flags |= HF_OPEN_COUNT;
	request->columns = 0;
}

/* Columns of numbers that are equal to something. */
static uint32_t equal_number(const struct hf_schema_table *table, const char *word, size_t size)
{
	const int column = size > 2 && memcmp(word + size - 2, "=?", 2) == 0 ? find_column(table, word, size - 2) : -1;

	return column >= 0 && !(table->column[column].flags & HF_COL_TEXT) ? 1u << column : 0;
}

static bool read_words(const struct hf_schema_table *table, const char *plan, sqlite3_value **values, int count,
		       struct hf_request *request)
{
	const char *end = plan + strcspn(plan, ";");
	uint32_t numbers = 0;
	bool only_count = false;
	int argument = 0;

	while (plan < end) {
		const size_t n = strcspn(plan, " ;");

		numbers |= equal_number(table, plan, n);
		if (is_word(plan, n, REVERSE))
			request->flags |= HF_OPEN_REVERSE;
		else if (is_word(plan, n, ONE_HART))
			request->flags |= HF_OPEN_ONE_HART;
		else if (is_word(plan, n, COUNT))
			only_count = true;
		else if (n && argument == count)
			return false;
		else if (is_word(plan, n, LIMIT))
			request->rows = (uint32_t)(rows_of(values[argument++]) & INT_MAX);
		else if (is_word(plan, n, OFFSET))
			request->skip = (uint64_t)rows_of(values[argument++]);
		else if (n && !add(table, plan, n, values[argument++], request))
			return false;
		plan += n;
		plan += strspn(plan, " ");
	}
	if (only_count)
		count_only(table, request, numbers);
	return argument == count;
}

bool hf_plan_read(const struct hf_schema_table *table, const char *plan, int used, sqlite3_value **values, int count,
		  struct hf_request *ret_request)
{
	*ret_request = (struct hf_request){.message = HF_MESSAGE_OPEN, .columns = (uint32_t)used};
	return read_words(table, plan, values, count, ret_request);
}

void hf_plan_free(struct hf_request *request)
{
	for (unsigned i = 0; i < HF_PROTOCOL_COLUMNS; i++)
		sqlite3_free((void *)request->among[i].numbers);
	*request = (struct hf_request){0};
}
