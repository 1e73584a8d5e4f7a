/* SPDX-License-Identifier: Apache-2.0 */
/* The names of files in hartN/where/: each value has one spelling. Internal to fs/find/. */
#ifndef HF_FIND_WHERE_VALUE_H
#define HF_FIND_WHERE_VALUE_H

#include "fs/find/question.h"
#include "fs/find/where.h"

/* The question that the file of that name is the answer to, for the caller to free. HF_ERR_NOT_FOUND: it is no value, or
 * spelled in another way. HF_ERR_NOMEM. */
int hf_where_ask(enum hf_where_kind kind, const char *value, struct hf_question **ret_question);

#endif
