/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a plan: plan.c writes them, plan_read.c reads them again. */
#ifndef HF_SQL_PLAN_WORDS_H
#define HF_SQL_PLAN_WORDS_H

#include "mountd/sql/sqlite.h"

/* Equal to one of several, all at once: SQLite has no number of its own for that. */
#define OP_AMONG 0
/* SQLite 3.38; its header may be older. */
#define OP_LIMIT 73
#define OP_OFFSET 74
#define HAS_338 (sqlite3_libversion_number() >= 3038000)

/* How a condition is written in the plan. The longer ones come first, so that ">=" is not read as ">". */
struct hf_plan_op {
	unsigned char op;
	const char *text;
};
extern const struct hf_plan_op hf_plan_ops[];
#define HF_PLAN_OPS 7u
#define REVERSE "desc"
#define ONE_HART "one-hart"
#define COUNT "count"
#define LIMIT "limit:?"
#define OFFSET "offset:?"

#endif
