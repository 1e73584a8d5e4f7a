/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/sql/plan.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Equal to one of several, all at once: SQLite has no number of its own for that. */
#define OP_AMONG 0
/* SQLite 3.38; its header may be older. */
#define OP_LIMIT 73
#define HAS_338 (sqlite3_libversion_number() >= 3038000)

/* How a condition is written in the plan. The longer ones come first, so that ">=" is not read as ">". */
static const struct op {
	unsigned char op;
	const char *text;
} ops[] = {
	{OP_AMONG, "=?,?"},
	{SQLITE_INDEX_CONSTRAINT_GE, ">=?"}, {SQLITE_INDEX_CONSTRAINT_LE, "<=?"}, {SQLITE_INDEX_CONSTRAINT_GT, ">?"},
	{SQLITE_INDEX_CONSTRAINT_LT, "<?"},  {SQLITE_INDEX_CONSTRAINT_EQ, "=?"},
};
#define OPS (sizeof ops / sizeof *ops)
#define REVERSE "desc"
#define ONE_HART "one-hart"
#define LIMIT "limit:?"

#define BY_LIST "chunks that a list names, if there is a summary"

/* Rows of a table of a hart that nobody asked for the size, of one out of the summary, and of the archive; and what it
 * costs to begin a chunk, in rows. */
#define ROWS_OF_HART 1e7
#define ROWS_SUMMED 2000.0
#define ROWS_OF_ARCHIVE 100.0
#define CHUNK 160.0
#define NOT_WHOLE 1e30

/* What is known of the conditions on a column. */
struct asked {
	bool equal, above, below;
	bool among;	  /* several numbers are asked for at once */
	const char *text; /* that it is to be equal to, if that is written in the query; borrowed */
};

int hf_plan_column(const struct hf_schema_table *table, const char *name, size_t size)
{
	for (uint32_t i = 0; i < table->count; i++)
		if (strlen(table->column[i].name) == size && memcmp(table->column[i].name, name, size) == 0)
			return (int)i;
	return -1;
}

/* ---- choosing ---- */

static const struct op *op_of(const struct sqlite3_index_constraint *constraint)
{
	for (size_t i = 0; i < OPS; i++)
		if (ops[i].op == constraint->op)
			return &ops[i];
	return NULL;
}

/* Whether the server can make use of it. */
static bool is_of_use(const struct hf_schema_table *table, sqlite3_index_info *info, int i)
{
	const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
	const struct hf_schema_column *column;

	if (!op_of(constraint) || constraint->iColumn < 0 || constraint->iColumn >= (int)table->count)
		return false;
	column = &table->column[constraint->iColumn];
	if (!(column->flags & HF_COL_ASKED))
		return false;
	if (!(column->flags & HF_COL_TEXT))
		return true;
	return constraint->op == SQLITE_INDEX_CONSTRAINT_EQ && strcmp(sqlite3_vtab_collation(info, i), "BINARY") == 0;
}

static void note(sqlite3_index_info *info, int i, struct asked *asked)
{
	const unsigned char op = info->aConstraint[i].op;
	sqlite3_value *value = NULL;

	/* Of two texts the server is asked for one, and which is not known before they are. */
	asked->text = NULL;
	if (op == SQLITE_INDEX_CONSTRAINT_EQ && !asked->equal && HAS_338 &&
	    sqlite3_vtab_rhs_value(info, i, &value) == SQLITE_OK && value && sqlite3_value_type(value) == SQLITE_TEXT)
		asked->text = (const char *)sqlite3_value_text(value);
	asked->equal |= op == SQLITE_INDEX_CONSTRAINT_EQ;
	asked->above |= op == SQLITE_INDEX_CONSTRAINT_GE || op == SQLITE_INDEX_CONSTRAINT_GT;
	asked->below |= op == SQLITE_INDEX_CONSTRAINT_LE || op == SQLITE_INDEX_CONSTRAINT_LT;
}

/* Whether rows come in the order that is wanted, perhaps backwards: what is equal in all of them does not count; then by
 * hart, if that is not given; then by the column of the order alone. */
static bool is_in_order(const struct hf_schema_table *table, const sqlite3_index_info *info, const struct asked *asked,
			bool *ret_reverse)
{
	bool hart_done = asked[1].equal, any = false;

	*ret_reverse = false;
	if (!(table->flags & HF_TAB_ORDERED) || !asked[0].equal)
		return false;
	for (int i = 0; i < info->nOrderBy; i++) {
		const struct sqlite3_index_orderby *by = &info->aOrderBy[i];

		if (by->iColumn < 0 || by->iColumn >= (int)table->count)
			return false;
		if (asked[by->iColumn].equal)
			continue;
		if (any && *ret_reverse != (by->desc != 0))
			return false;
		*ret_reverse = by->desc;
		any = true;
		if (by->iColumn == 1)
			hart_done = true;
		else if (!hart_done || !(table->column[by->iColumn].flags & HF_COL_ORDER) || i + 1 < info->nOrderBy)
			return false;
	}
	return true;
}

/* Rows that come, and what they cost. */
static const char *estimate(const struct hf_schema_table *table, const struct asked *asked, double *ret_rows,
			    double *ret_cost)
{
	const char *how = table->flags & HF_TAB_SUMMED ? "from the summary"
			  : table->flags & HF_TAB_RARE ? BY_LIST
						       : "every chunk";
	double rows = table->flags & HF_TAB_SUMMED ? ROWS_SUMMED : table->flags & HF_TAB_HART ? ROWS_OF_HART : ROWS_OF_ARCHIVE;
	double cost = rows;

	for (uint32_t i = table->flags & HF_TAB_HART ? 2 : 0; i < table->count; i++) {
		const struct asked *of = &asked[i];
		const unsigned flags = table->column[i].flags;

		if (!(of->equal || of->above || of->below || of->among))
			continue;
		if (flags & HF_COL_ORDER) {
			rows = of->equal ? 1 : of->above && of->below ? rows / 100 : rows / 3;
			cost = rows + CHUNK;
			how = of->equal ? "one chunk" : "the chunks of that range";
			continue;
		}
		rows /= of->equal ? 1000 : of->among ? 100 : 4;
		if (flags & HF_COL_LISTED && cost > 10 * rows) {
			cost = 10 * rows + CHUNK;
			how = strcmp(how, "every chunk") == 0 ? BY_LIST : how;
		}
	}
	*ret_rows = rows < 1 ? 1 : rows;
	*ret_cost = cost + *ret_rows;
	return table->flags & HF_TAB_HART ? how : "the archive";
}

/* Whether all is given that must be. *ret_later: it will be, in another order of the tables. */
static bool has_needed(const struct hf_schema_table *table, const sqlite3_index_info *info, const struct asked *asked,
		       bool *ret_later)
{
	bool all = true;

	*ret_later = false;
	for (uint32_t column = 0; column < table->count; column++) {
		if (!(table->column[column].flags & HF_COL_NEEDED) || asked[column].equal)
			continue;
		all = false;
		for (int i = 0; i < info->nConstraint; i++)
			*ret_later |= info->aConstraint[i].iColumn == (int)column &&
				      info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ &&
				      !info->aConstraint[i].usable;
	}
	return all;
}

/* Rows of one hart are in order without its number: it is worth asking whether there are others. */
static bool is_one_hart(const struct hf_schema_table *table, const struct hf_plan_known *known,
			const sqlite3_index_info *info, const struct asked *asked)
{
	if (!(table->flags & HF_TAB_ORDERED) || !info->nOrderBy || asked[1].equal)
		return false;
	return (known->has_capture || asked[0].text) && known->has_one_hart(known->ctx, asked[0].text);
}

/* IN with many numbers: one request is better than one for each of them, which would decode the same chunks. */
static bool take_among(const struct hf_schema_table *table, sqlite3_index_info *info, int i, const struct asked *asked)
{
	const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];

	if (!HAS_338 || constraint->op != SQLITE_INDEX_CONSTRAINT_EQ || asked->among ||
	    !(table->column[constraint->iColumn].flags & HF_COL_AMONG) || !sqlite3_vtab_in(info, i, -1))
		return false;
	sqlite3_vtab_in(info, i, 1);
	return true;
}

/* How many rows are wanted: so many are asked for at first. */
static size_t take_limit(sqlite3_index_info *info, int argument, char *plan, size_t room)
{
	if (!HAS_338 || (info->nOrderBy && !info->orderByConsumed))
		return 0;
	for (int i = 0; i < info->nConstraint; i++)
		if (info->aConstraint[i].usable && info->aConstraint[i].op == OP_LIMIT) {
			info->aConstraintUsage[i].argvIndex = argument + 1;
			return (size_t)snprintf(plan, room, " " LIMIT);
		}
	return 0;
}

/* The conditions that are sent, in words. *ret_arguments: how many. */
static size_t take_conditions(const struct hf_schema_table *table, sqlite3_index_info *info, struct asked *asked,
			      char *plan, size_t room, int *ret_arguments)
{
	size_t n = 0;

	for (int i = 0; i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
		const struct op *op = op_of(constraint);
		struct asked *of;

		if (!constraint->usable || !is_of_use(table, info, i) || n + 128 > room)
			continue;
		of = &asked[constraint->iColumn];
		if (take_among(table, info, i, of)) {
			op = &ops[0];
			of->among = true;
		} else {
			note(info, i, of);
		}
		info->aConstraintUsage[i].argvIndex = ++*ret_arguments;
		n += (size_t)snprintf(plan + n, room - n, "%s%s%s", n ? " " : "",
				      table->column[constraint->iColumn].name, op->text);
	}
	return n;
}

int hf_plan_choose(const struct hf_schema_table *table, const struct hf_plan_known *known, sqlite3_index_info *info)
{
	struct asked asked[HF_PROTOCOL_COLUMNS] = {0};
	char plan[1024];
	int arguments = 0;
	bool reverse, whole, later, one_hart;
	const char *how;
	double rows;
	size_t n = take_conditions(table, info, asked, plan, sizeof plan - 128, &arguments);

	one_hart = is_one_hart(table, known, info, asked);
	asked[0].equal |= known->has_capture;
	asked[1].equal |= one_hart;
	whole = has_needed(table, info, asked, &later);
	if (later)
		return SQLITE_CONSTRAINT;
	info->orderByConsumed = is_in_order(table, info, asked, &reverse);
	how = estimate(table, asked, &rows, &info->estimatedCost);
	info->estimatedRows = (sqlite3_int64)rows;
	/* The server says in words what is missing, if there is no better plan. */
	if (!whole)
		info->estimatedCost = NOT_WHOLE;
	n += (size_t)snprintf(plan + n, sizeof plan - n, "%s%s", one_hart ? " " ONE_HART : "",
			      info->orderByConsumed && reverse ? " " REVERSE : "");
	n += take_limit(info, arguments, plan + n, sizeof plan - n);
	snprintf(plan + n, sizeof plan - n, "; %s", how);
	info->idxStr = sqlite3_mprintf("%s", plan + strspn(plan, " "));
	info->needToFreeIdxStr = 1;
	info->idxNum = (int)(info->colUsed & INT_MAX);
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* ---- reading ---- */

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

/* The numbers of an IN: too many for a message are a range. What SQLite compares in another way than ours leaves the whole
 * condition to it, as does having no memory. */
static bool add_among(struct hf_request *request, int column, sqlite3_value *list)
{
	sqlite3_int64 first = INT64_MAX, last = INT64_MIN;
	uint8_t *numbers = sqlite3_malloc(8 * HF_PROTOCOL_AMONG);
	bool whole = numbers != NULL;
	sqlite3_value *value;
	size_t n = 0, sent = 0;
	int err = sqlite3_vtab_in_first(list, &value);

	for (; whole && err == SQLITE_OK && value; err = sqlite3_vtab_in_next(list, &value)) {
		const sqlite3_int64 number = sqlite3_value_int64(value);

		if (sqlite3_value_type(value) == SQLITE_NULL)
			continue;
		whole = sqlite3_value_type(value) == SQLITE_INTEGER;
		first = number < first ? number : first;
		last = number > last ? number : last;
		for (unsigned k = 0; n < HF_PROTOCOL_AMONG && k < 8; k++)
			numbers[8 * n + k] = (uint8_t)((uint64_t)number >> (8 * k));
		n++;
	}
	whole &= err == SQLITE_DONE;
	for (unsigned i = 0; i < HF_PROTOCOL_COLUMNS; i++)
		sent += request->among[i].count;
	if (whole && n && n + sent <= HF_PROTOCOL_AMONG) {
		request->among[column].numbers = numbers;
		request->among[column].count = (uint32_t)n;
		return true;
	}
	sqlite3_free(numbers);
	if (whole && n)
		narrow(request, column, first, last);
	return !whole || n;
}

static bool add(const struct hf_schema_table *table, const char *word, size_t size, sqlite3_value *value,
		struct hf_request *request)
{
	for (size_t i = 0; i < OPS; i++) {
		const size_t n = strlen(ops[i].text);
		int column;

		if (size <= n || memcmp(word + size - n, ops[i].text, n) != 0)
			continue;
		column = hf_plan_column(table, word, size - n);
		if (column < 0)
			return true;
		if (ops[i].op == OP_AMONG)
			return add_among(request, column, value);
		return table->column[column].flags & HF_COL_TEXT ? add_text(request, column, value)
								 : add_number(request, column, ops[i].op, value);
	}
	return true;
}

static bool is_word(const char *word, size_t size, const char *text)
{
	return size == strlen(text) && memcmp(word, text, size) == 0;
}

/* A number of rows; what is none is SQLite's to complain of. */
static uint32_t rows_of(sqlite3_value *value)
{
	const sqlite3_int64 rows = sqlite3_value_type(value) == SQLITE_INTEGER ? sqlite3_value_int64(value) : 0;

	return rows <= 0 ? 0 : rows < HF_PROTOCOL_ROWS ? (uint32_t)rows : HF_PROTOCOL_ROWS;
}

bool hf_plan_read(const struct hf_schema_table *table, const char *plan, int used, sqlite3_value **values, int count,
		  struct hf_request *ret_request)
{
	const char *end = plan + strcspn(plan, ";");
	struct hf_request *request = ret_request;
	int argument = 0;

	*request = (struct hf_request){.message = HF_MESSAGE_OPEN, .columns = (uint32_t)used};
	while (plan < end) {
		const size_t n = strcspn(plan, " ;");

		if (is_word(plan, n, REVERSE))
			request->flags |= HF_OPEN_REVERSE;
		else if (is_word(plan, n, ONE_HART))
			request->flags |= HF_OPEN_ONE_HART;
		else if (n && argument == count)
			return false;
		else if (is_word(plan, n, LIMIT))
			request->rows = rows_of(values[argument++]);
		else if (n && !add(table, plan, n, values[argument++], request))
			return false;
		plan += n;
		plan += strspn(plan, " ");
	}
	return argument == count;
}

void hf_plan_free(struct hf_request *request)
{
	for (unsigned i = 0; i < HF_PROTOCOL_COLUMNS; i++)
		sqlite3_free((void *)request->among[i].numbers);
	*request = (struct hf_request){0};
}
