/* SPDX-License-Identifier: Apache-2.0 */
/* hf_rows_session_new, for fs.c: of the captures of a file system. */
#ifndef HF_ROWS_RUN_H
#define HF_ROWS_RUN_H

#include "fs/rows/rows.h"

struct hf_captures;
struct hf_tree;
int hf_rows_session_open(struct hf_captures *captures, struct hf_tree *tree, struct hf_rows_session **ret_session);

#endif
