/* SPDX-License-Identifier: Apache-2.0 */
/* In which chunks events of a rare kind are. Internal to fs/rows/. */
#ifndef HF_ROWS_RARE_PLAN_H
#define HF_ROWS_RARE_PLAN_H

#include "fs/find/plan.h"
#include "index/summary/rare.h"

/* kinds: bits of enum hf_rare_kind. *plan has low and high; it gets counts, which say no more than whether there are any.
 * Errors as of hf_find_plan_new. */
int hf_rows_rare_plan(const struct hf_find_ask *ask, uint32_t kinds, struct hf_find_plan *plan);

#endif
