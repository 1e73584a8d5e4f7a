/* SPDX-License-Identifier: Apache-2.0 */
/* The calls above each answer, as text. Internal to fs/find/. */
#ifndef HF_FIND_STACKS_H
#define HF_FIND_STACKS_H

#include "fs/find/chunk.h"
#include "fs/find/stack_text.h"

/* Texts are made of so many answers at once, in ascending order. */
enum { HF_FIND_STACKS_BATCH = 256 };

struct hf_find_stacks {
	const struct hf_find *find;
	uint32_t hart;
	const struct hf_symbols *symbols;
	uint64_t chunks;	/* of the hart */
	struct hf_stacks *from; /* NULL: no answer needed one yet */
	struct hf_sink text;	/* of the batch at hand */
	struct hf_stack stack;
	size_t first[HF_FIND_STACKS_BATCH], end[HF_FIND_STACKS_BATCH]; /* of each in text */
};

/* *ret_stacks NULL: they are not wanted. */
int hf_find_stacks_new(const struct hf_find *find, const struct hf_find_source *source,
		       struct hf_find_stacks **ret_stacks);
void hf_find_stacks_free(struct hf_find_stacks *stacks);
/* Of n answers. HF_ERR_STATE: the summary is damaged. */
int hf_find_stacks_make(struct hf_find_stacks *stacks, const struct hf_find_source *source, const uint64_t *ordinal,
			size_t n);
/* Of the i-th of them, in the order in which they were given; text is not ended by a 0. */
const char *hf_find_stacks_text(const struct hf_find_stacks *stacks, size_t i, size_t *ret_size);

#endif
