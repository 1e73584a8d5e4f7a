/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a query the server is asked: chosen for SQLite, and written into the plan as words that people can read in
 * EXPLAIN QUERY PLAN: "capture=? hart=? ordinal>=? ordinal<? desc; one chunk".
 */
#ifndef HF_SQL_PLAN_H
#define HF_SQL_PLAN_H

#include "mountd/sql/messages.h"
#include "mountd/sql/sqlite.h"

/* What is known besides the query. */
struct hf_plan_known {
	bool has_capture; /* one is open alone, and need not be named */
	/* Whether that capture (NULL: the one that is open) has but one hart; false: perhaps not. */
	bool (*has_one_hart)(void *ctx, const char *capture);
	void *ctx;
};

/* The column of that name, of size bytes, or -1. */
int hf_plan_column(const struct hf_schema_table *table, const char *name, size_t size);
/* xBestIndex. */
int hf_plan_choose(const struct hf_schema_table *table, const struct hf_plan_known *known, sqlite3_index_info *info);
/* xFilter: the request of such a plan. False: nothing can meet the conditions. Texts are borrowed from the values. rows is the limit, or 0. */
bool hf_plan_read(const struct hf_schema_table *table, const char *plan, int used, sqlite3_value **values, int count,
		  struct hf_request *ret_request);
/* What is the request's own: numbers. */
void hf_plan_free(struct hf_request *request);

#endif
