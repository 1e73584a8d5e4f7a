/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/sql/plan.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* How a condition is written in the plan. The longer ones come first, so that ">=" is not read as ">". */
static const struct op {
	unsigned char op;
	const char *text;
} ops[] = {
	{SQLITE_INDEX_CONSTRAINT_GE, ">=?"}, {SQLITE_INDEX_CONSTRAINT_LE, "<=?"}, {SQLITE_INDEX_CONSTRAINT_GT, ">?"},
	{SQLITE_INDEX_CONSTRAINT_LT, "<?"},  {SQLITE_INDEX_CONSTRAINT_EQ, "=?"},
};
#define OPS (sizeof ops / sizeof ops[0])
#define REVERSE "desc"
#define ONE_HART "one-hart"
#define BY_LIST "chunks that a list names, if there is a summary"

/* Rows of a table of a hart that nobody asked for the size, and how much dearer they are where chunks are decoded. */
#define ROWS_OF_HART 1e7
#define ROWS_SUMMED 2000.0
#define ROWS_OF_ARCHIVE 100.0
#define CHUNK 16384.0
#define NOT_WHOLE 1e30

/* ---- choosing ---- */

/* What is known of the conditions on a column. */
struct asked {
	bool equal, above, below;
	bool known_first, known_last; /* and these are the limits */
	sqlite3_int64 first, last;
	const char *text; /* that it is to be equal to, if that is written in the query; borrowed */
};

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
	const struct op *op = op_of(constraint);

	if (!op || constraint->iColumn < 0 || constraint->iColumn >= (int)table->count)
		return false;
	column = &table->column[constraint->iColumn];
	if (!(column->flags & HF_COL_ASKED))
		return false;
	if (!(column->flags & HF_COL_TEXT))
		return true;
	return op->op == SQLITE_INDEX_CONSTRAINT_EQ && strcmp(sqlite3_vtab_collation(info, i), "BINARY") == 0;
}

/* What it is compared with, if it is written in the query (SQLite 3.38). */
static void note_limit(sqlite3_index_info *info, int i, struct asked *asked)
{
	const unsigned char op = info->aConstraint[i].op;
	sqlite3_value *value = NULL;
	sqlite3_int64 number;

	if (sqlite3_libversion_number() < 3038000 || sqlite3_vtab_rhs_value(info, i, &value) != SQLITE_OK || !value)
		return;
	if (sqlite3_value_type(value) == SQLITE_TEXT)
		asked->text = (const char *)sqlite3_value_text(value);
	if (sqlite3_value_type(value) != SQLITE_INTEGER)
		return;
	number = sqlite3_value_int64(value);
	if (op == SQLITE_INDEX_CONSTRAINT_GE || op == SQLITE_INDEX_CONSTRAINT_GT) {
		asked->known_first = true;
		asked->first = number;
	} else if (op != SQLITE_INDEX_CONSTRAINT_EQ) {
		asked->known_last = true;
		asked->last = number;
	}
}

static void note(sqlite3_index_info *info, int i, struct asked *asked)
{
	const unsigned char op = info->aConstraint[i].op;

	asked->equal |= op == SQLITE_INDEX_CONSTRAINT_EQ;
	asked->above |= op == SQLITE_INDEX_CONSTRAINT_GE || op == SQLITE_INDEX_CONSTRAINT_GT;
	asked->below |= op == SQLITE_INDEX_CONSTRAINT_LE || op == SQLITE_INDEX_CONSTRAINT_LT;
	note_limit(info, i, asked);
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

static double share_of(const struct asked *asked, double rows)
{
	if (asked->known_first && asked->known_last)
		return asked->last > asked->first ? (double)asked->last - (double)asked->first + 1 : 1;
	return asked->above && asked->below ? rows / 100 : rows / 3;
}

/* Rows that come, and instructions that are decoded for them. */
static const char *estimate(const struct hf_schema_table *table, const struct asked *asked, double *ret_rows,
			    double *ret_cost)
{
	const char *how = table->flags & HF_TAB_SUMMED ? "from the summary"
			  : table->flags & HF_TAB_RARE ? BY_LIST
						       : "every chunk";
	double rows = table->flags & HF_TAB_SUMMED ? ROWS_SUMMED : table->flags & HF_TAB_HART ? ROWS_OF_HART : ROWS_OF_ARCHIVE;
	double cost = rows;

	for (uint32_t i = 0; i < table->count; i++) {
		const unsigned flags = table->column[i].flags;
		const bool any = asked[i].equal || asked[i].above || asked[i].below;
		double left = rows;

		if (!any || (i < 2 && table->flags & HF_TAB_HART))
			continue;
		if (flags & HF_COL_ORDER)
			left = asked[i].equal ? 1 : share_of(&asked[i], rows);
		else
			left = asked[i].equal ? rows / 1000 : rows / 4;
		rows = left < rows ? left : rows;
		if (flags & HF_COL_ORDER) {
			cost = rows + CHUNK / 100;
			how = asked[i].equal ? "one chunk" : "the chunks of that range";
		} else if (flags & HF_COL_LISTED && cost > 10 * rows) {
			cost = 10 * rows + CHUNK / 100;
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

int hf_plan_choose(const struct hf_schema_table *table, const struct hf_plan_known *known, sqlite3_index_info *info)
{
	struct asked asked[HF_PROTOCOL_COLUMNS] = {0};
	char plan[1024];
	size_t n = 0;
	int argument = 0;
	bool reverse, whole, later, one_hart;
	const char *how;
	double rows;

	for (int i = 0; i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];

		if (!constraint->usable || !is_of_use(table, info, i) || n > sizeof plan - 128)
			continue;
		note(info, i, &asked[constraint->iColumn]);
		info->aConstraintUsage[i].argvIndex = ++argument;
		n += (size_t)snprintf(plan + n, sizeof plan - n, "%s%s%s", n ? " " : "",
				      table->column[constraint->iColumn].name, op_of(constraint)->text);
	}
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
	snprintf(plan + n, sizeof plan - n, "; %s", how);
	info->idxStr = sqlite3_mprintf("%s", plan + strspn(plan, " "));
	info->needToFreeIdxStr = 1;
	info->idxNum = (int)(info->colUsed & INT_MAX);
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* ---- reading it again ---- */

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

/* Numbers that SQLite compares in another way than ours (1.5, '7') are left to it. False: NULL, which is never true. */
static bool add_number(struct hf_request *request, int column, unsigned char op, sqlite3_value *value)
{
	const int type = sqlite3_value_type(value);
	const sqlite3_int64 number = sqlite3_value_int64(value);

	if (type != SQLITE_INTEGER)
		return type != SQLITE_NULL;
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

static bool add(const struct hf_schema_table *table, const char *word, size_t size, sqlite3_value *value,
		struct hf_request *request)
{
	for (size_t i = 0; i < OPS; i++) {
		const size_t n = strlen(ops[i].text);
		int column;

		if (size <= n || memcmp(word + size - n, ops[i].text, n) != 0)
			continue;
		column = find_column(table, word, size - n);
		if (column < 0)
			return true;
		return table->column[column].flags & HF_COL_TEXT ? add_text(request, column, value)
								 : add_number(request, column, ops[i].op, value);
	}
	return true;
}

bool hf_plan_read(const struct hf_schema_table *table, const char *plan, int used, sqlite3_value **values, int count,
		  struct hf_request *ret_request)
{
	struct hf_request *request = ret_request;
	const char *end = plan + strcspn(plan, ";");
	int argument = 0;

	*request = (struct hf_request){.message = HF_MESSAGE_OPEN, .columns = (uint32_t)used};
	while (plan < end) {
		const size_t n = strcspn(plan, " ;");

		if (n == strlen(REVERSE) && memcmp(plan, REVERSE, n) == 0)
			request->flags |= HF_OPEN_REVERSE;
		else if (n == strlen(ONE_HART) && memcmp(plan, ONE_HART, n) == 0)
			request->flags |= HF_OPEN_ONE_HART;
		else if (n && argument < count && !add(table, plan, n, values[argument++], request))
			return false;
		plan += n;
		plan += strspn(plan, " ");
	}
	return argument == count;
}
