/* SPDX-License-Identifier: Apache-2.0 */
/* The names of files in hartN/where/: each value has one spelling. */
#ifndef HF_FIND_WHERE_VALUE_H
#define HF_FIND_WHERE_VALUE_H

struct hf_question;

enum hf_where_kind {
#define HF_WHERE(id, name, question, ask, values) HF_WHERE_##id,
#include "fs/find/where.def"
#undef HF_WHERE
	HF_WHERE_KINDS
};

/* As the directory is called. */
const char *hf_where_name(enum hf_where_kind kind);
/* README.txt: how to ask. */
const char *hf_where_readme(void);

/* The question that the file of that name is the answer to, for the caller to free. HF_ERR_NOT_FOUND: it is no value, or
 * spelled in another way. HF_ERR_NOMEM. */
int hf_where_ask(enum hf_where_kind kind, const char *value, struct hf_question **ret_question);

#endif
