/* SPDX-License-Identifier: Apache-2.0 */
/* Answers and their lines. Internal to fs/find/. */
#ifndef HF_FIND_LINES_H
#define HF_FIND_LINES_H

#include "fs/bytes/bytes.h"
#include "fs/find/match.h"

/* What is looked through: shared, immutable. */
struct hf_find_source {
	struct hf_open *open;
	const struct hf_predicates *predicates;
	uint32_t hart;
	struct hf_bytes listing; /* of the hart; ops NULL: lines are not wanted */
	struct hf_summary *summary; /* for stacks; NULL: there is none */
	struct hf_worker *worker; /* decodes it all; NULL: threads of the executor do */
};

/* What came out of one. Of the answers at item[i] the lines are text[line[i]..line[i + 1]). */
struct hf_find_chunk {
	struct hf_find_items items;
	char *text;   /* owned; NULL: no lines */
	size_t *line; /* owned */
	unsigned decoded; /* chunks, to get there */
};

/* Makes text and line of a chunk with that number. */
int hf_find_lines(const struct hf_find_source *source, uint64_t number, struct hf_worker *worker,
		  struct hf_find_chunk *chunk);

#endif
