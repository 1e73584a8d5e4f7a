/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A look at the events of a chunk that keeps none of them: lists of words name chunks that may have rows, and in most of
 * these there is none. Internal to fs/rows/.
 */
#ifndef HF_ROWS_PROBE_H
#define HF_ROWS_PROBE_H

#include "fs/find/terms.h"
#include "index/read/cursor.h"

/* Whether there are conditions that a look at events can answer. */
bool hf_rows_probe_is_useful(const struct hf_terms *terms);

/* *ret_may: for each condition on accesses and registers there is an event of the chunk that meets it, or may. Without
 * that the chunk has no rows. */
int hf_rows_probe(struct hf_cursor *cursor, uint64_t number, const struct hf_terms *terms, bool *ret_may);

#endif
