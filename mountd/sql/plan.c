/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/sql/plan.h"

#include "mountd/sql/plan_words.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

const struct hf_plan_op hf_plan_ops[HF_PLAN_OPS] = {
	{OP_AMONG, "=?,?"},
	{SQLITE_INDEX_CONSTRAINT_LIKE, "~?"},
	{SQLITE_INDEX_CONSTRAINT_GE, ">=?"}, {SQLITE_INDEX_CONSTRAINT_LE, "<=?"}, {SQLITE_INDEX_CONSTRAINT_GT, ">?"},
	{SQLITE_INDEX_CONSTRAINT_LT, "<?"},  {SQLITE_INDEX_CONSTRAINT_EQ, "=?"},
};

#define BY_LIST "chunks that a list names, if there is a summary"

/* Rows of a table of a hart that nobody asked for the size, and how much dearer they are where chunks are decoded. */
#define ROWS_OF_HART 1e7
#define ROWS_SUMMED 2000.0
#define ROWS_OF_ARCHIVE 100.0
#define CHUNK 16384.0
#define NOT_WHOLE 1e30

/* What is known of the conditions on a column. */
struct asked {
	bool equal, above, below;
	bool known_first, known_last; /* and these are the limits */
	sqlite3_int64 first, last;
	const char *text; /* that it is to be equal to, if that is written in the query; borrowed */
	bool among;	  /* several numbers are asked for at once */
	bool like;
};

static const struct hf_plan_op *op_of(const struct sqlite3_index_constraint *constraint)
{
	for (size_t i = 0; i < HF_PLAN_OPS; i++)
		if (hf_plan_ops[i].op == constraint->op)
			return &hf_plan_ops[i];
	return NULL;
}

/* Whether the server can make use of it. */
static bool is_of_use(const struct hf_schema_table *table, sqlite3_index_info *info, int i)
{
	const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
	const struct hf_schema_column *column;
	const struct hf_plan_op *op = op_of(constraint);

	if (!op || constraint->iColumn < 0 || constraint->iColumn >= (int)table->count)
		return false;
	column = &table->column[constraint->iColumn];
	if (op->op == SQLITE_INDEX_CONSTRAINT_LIKE)
		return column->flags & HF_COL_LIKE;
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

	if (!HAS_338 || sqlite3_vtab_rhs_value(info, i, &value) != SQLITE_OK || !value)
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
	const bool again = asked->equal;

	asked->like |= op == SQLITE_INDEX_CONSTRAINT_LIKE;
	asked->equal |= op == SQLITE_INDEX_CONSTRAINT_EQ;
	asked->above |= op == SQLITE_INDEX_CONSTRAINT_GE || op == SQLITE_INDEX_CONSTRAINT_GT;
	asked->below |= op == SQLITE_INDEX_CONSTRAINT_LE || op == SQLITE_INDEX_CONSTRAINT_LT;
	note_limit(info, i, asked);
	/* Of two texts the server is asked for one, and which is not known before they are. */
	if (again)
		asked->text = NULL;
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

static bool is_asked(const struct asked *asked)
{
	return asked->equal || asked->above || asked->below || asked->among;
}

/* Whether one list knows all that is asked of the columns that it needs together. */
static bool is_listed_all(const struct hf_schema_table *table, const struct asked *asked)
{
	bool any = false;

	for (uint32_t i = 0; i < table->count; i++) {
		if (!(table->column[i].flags & HF_COL_LISTED_ALL))
			continue;
		if (!asked[i].equal)
			return false;
		any = true;
	}
	return any;
}

/* Whether rows are only counted, of which the index knows how many there are. */
static bool is_in_index(const struct hf_schema_table *table, const struct asked *asked, bool count)
{
	bool known = count && table->flags & HF_TAB_EACH;

	for (uint32_t i = 2; i < table->count && known; i++)
		known = table->column[i].flags & HF_COL_ORDER || !(is_asked(&asked[i]) || asked[i].like);
	return known;
}

/* Rows that come, and instructions that are decoded for them. */
static const char *estimate(const struct hf_schema_table *table, const struct asked *asked, bool count, double *ret_rows,
			    double *ret_cost)
{
	const char *how = table->flags & HF_TAB_SUMMED ? "from the summary"
			  : table->flags & HF_TAB_RARE ? BY_LIST
						       : "every chunk";
	double rows = table->flags & HF_TAB_SUMMED ? ROWS_SUMMED : table->flags & HF_TAB_HART ? ROWS_OF_HART : ROWS_OF_ARCHIVE;
	double cost = rows;
	const bool listed_all = is_listed_all(table, asked);

	for (uint32_t i = 0; i < table->count; i++) {
		const unsigned flags = table->column[i].flags;
		double left = rows;

		if (!is_asked(&asked[i]) || (i < 2 && table->flags & HF_TAB_HART))
			continue;
		if (flags & HF_COL_ORDER)
			left = asked[i].equal ? 1 : share_of(&asked[i], rows);
		else
			left = asked[i].equal ? rows / 1000 : asked[i].among ? rows / 100 : rows / 4;
		rows = left < rows ? left : rows;
		if (flags & HF_COL_ORDER) {
			cost = rows + CHUNK / 100;
			how = asked[i].equal ? "one chunk" : "the chunks of that range";
		} else if ((flags & HF_COL_LISTED || (listed_all && flags & HF_COL_LISTED_ALL)) && cost > 10 * rows) {
			cost = 10 * rows + CHUNK / 100;
			how = strcmp(how, "every chunk") == 0 ? BY_LIST : how;
		}
	}
	*ret_rows = rows < 1 ? 1 : rows;
	*ret_cost = cost + *ret_rows;
	if (is_in_index(table, asked, count))
		return "the index";
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

/* Whether rows that the server sends are exactly those that meet the condition, and SQLite need not look: what it is
 * compared with is known already, and nothing else is asked to be equal to the column. */
static bool is_exact(const struct hf_schema_table *table, sqlite3_index_info *info, int i)
{
	const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
	sqlite3_value *value = NULL;
	bool text;

	for (int k = 0; k < info->nConstraint; k++)
		if (k != i && info->aConstraint[k].iColumn == constraint->iColumn &&
		    info->aConstraint[k].op == SQLITE_INDEX_CONSTRAINT_EQ)
			return false;
	if (!HAS_338 || !info->aConstraintUsage[i].argvIndex || constraint->op == SQLITE_INDEX_CONSTRAINT_LIKE ||
	    sqlite3_vtab_in(info, i, -1) || sqlite3_vtab_rhs_value(info, i, &value) != SQLITE_OK || !value)
		return false;
	text = table->column[constraint->iColumn].flags & HF_COL_TEXT;
	if (text && sqlite3_value_type(value) == SQLITE_TEXT)
		return strlen((const char *)sqlite3_value_text(value)) == (size_t)sqlite3_value_bytes(value);
	return !text && sqlite3_value_type(value) == SQLITE_INTEGER;
}

/* Whether no column is needed of rows but those that conditions make known, or that are only compared. */
static bool is_count(const struct hf_schema_table *table, sqlite3_index_info *info)
{
	uint32_t known = 0;

	for (int i = 0; i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
		const bool number = constraint->op == SQLITE_INDEX_CONSTRAINT_EQ && info->aConstraintUsage[i].argvIndex &&
				    is_of_use(table, info, i) &&
				    !(table->column[constraint->iColumn].flags & HF_COL_TEXT) &&
				    !(HAS_338 && sqlite3_vtab_in(info, i, -1));

		if (number || is_exact(table, info, i))
			known |= 1u << constraint->iColumn;
		/* Another condition on it is SQLite's, which looks at its value. */
		else if (constraint->iColumn >= 0 && constraint->iColumn < (int)table->count &&
			 constraint->op != OP_LIMIT && constraint->op != OP_OFFSET)
			return false;
	}
	return !(info->colUsed & ~(sqlite3_uint64)known);
}

/* Then SQLite need not look at the columns again, which are not sent. */
static void omit_exact(const struct hf_schema_table *table, sqlite3_index_info *info)
{
	for (int i = 0; i < info->nConstraint; i++)
		if (info->aConstraintUsage[i].argvIndex && is_exact(table, info, i))
			info->aConstraintUsage[i].omit = 1;
}

/* How many rows are wanted; and, if all conditions are met exactly, which of them are not. */
static size_t take_limits(const struct hf_schema_table *table, sqlite3_index_info *info, int argument, char *plan,
			  size_t room)
{
	bool exact = true;
	size_t n = 0;

	if (!HAS_338 || (info->nOrderBy && !info->orderByConsumed))
		return 0;
	for (int i = 0; i < info->nConstraint; i++)
		exact &= info->aConstraint[i].op == OP_LIMIT || info->aConstraint[i].op == OP_OFFSET ||
			 is_exact(table, info, i);
	for (int i = 0; i < info->nConstraint; i++) {
		const unsigned char op = info->aConstraint[i].op;

		if (!info->aConstraint[i].usable || (op != OP_LIMIT && (op != OP_OFFSET || !exact)))
			continue;
		info->aConstraintUsage[i].argvIndex = ++argument;
		info->aConstraintUsage[i].omit = op == OP_OFFSET;
		n += (size_t)snprintf(plan + n, room - n, " %s", op == OP_LIMIT ? LIMIT : OFFSET);
	}
	return n;
}

/* The conditions that are sent, in words. *ret_arguments: how many. */
static size_t take_conditions(const struct hf_schema_table *table, sqlite3_index_info *info, struct asked *asked,
			      char *plan, size_t room, int *ret_arguments)
{
	size_t n = 0;

	for (int i = 0; i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
		const struct hf_plan_op *op = op_of(constraint);
		struct asked *of;

		if (!constraint->usable || !is_of_use(table, info, i) || n + 128 > room)
			continue;
		of = &asked[constraint->iColumn];
		if (take_among(table, info, i, of)) {
			op = &hf_plan_ops[0];
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
	bool reverse, whole, later, one_hart, count;
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
	count = is_count(table, info);
	how = estimate(table, asked, count, &rows, &info->estimatedCost);
	info->estimatedRows = (sqlite3_int64)rows;
	/* The server says in words what is missing, if there is no better plan. */
	if (!whole)
		info->estimatedCost = NOT_WHOLE;
	n += (size_t)snprintf(plan + n, sizeof plan - n, "%s%s", one_hart ? " " ONE_HART : "",
			      info->orderByConsumed && reverse ? " " REVERSE : "");
	if (count) {
		omit_exact(table, info);
		n += (size_t)snprintf(plan + n, sizeof plan - n, " " COUNT);
	}
	n += take_limits(table, info, arguments, plan + n, sizeof plan - n);
	snprintf(plan + n, sizeof plan - n, "; %s", how);
	info->idxStr = sqlite3_mprintf("%s", plan + strspn(plan, " "));
	info->needToFreeIdxStr = 1;
	info->idxNum = (int)(info->colUsed & INT_MAX);
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}
