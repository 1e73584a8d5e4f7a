/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages of calls as they are stored: nodes of a tree, and stacks at the beginning of chunks. Internal to index/.
 */
#ifndef HF_INDEX_SUMMARY_CALL_PAGE_H
#define HF_INDEX_SUMMARY_CALL_PAGE_H

#include "index/summary/call_stack.h"

/* A page with so many bytes is full; with its last entry it has less than so many more. */
#define HF_CALL_PAGE_FULL ((size_t)30 << 10)
#define HF_CALL_STACK_BYTES ((size_t)20 << 10)
#define HF_CALL_PAGE_BYTES_MAX (HF_CALL_PAGE_FULL + HF_CALL_STACK_BYTES)

/* A stack in a page: its context, its pieces, the return addresses of its calls, oldest first, and what is beyond the
 * limit of depth above them. begun: the first piece begins with the root below all calls and traps. */
struct hf_call_stacked {
	uint32_t context, count, backs;
	bool begun;
	uint64_t calls_beyond, traps_beyond, classes_beyond;
	struct hf_call_piece pieces[HF_CALL_DEPTH + 1];
	uint64_t back[HF_CALL_DEPTH];
};
void hf_call_stacked_of(const struct hf_call_stack *stack, struct hf_call_stacked *ret_stacked);

/* Zeroed it is an empty page. */
struct hf_call_page_writer {
	uint64_t first, count; /* number of its first node or chunk; how many it has */
	struct hf_call_node previous;
	struct hf_call_stacked stack;
	size_t n;
	uint8_t bytes[HF_CALL_PAGE_BYTES_MAX];
};

void hf_call_page_begin(struct hf_call_page_writer *w, uint64_t first);
/* Adds the next one; a page has either nodes or stacks. timed: with cycles. */
void hf_call_page_put_node(struct hf_call_page_writer *w, const struct hf_call_node *node, bool timed);
void hf_call_page_put_stack(struct hf_call_page_writer *w, const struct hf_call_stacked *stack);

/* One of stacks to a file and back, into an empty one. */
void hf_call_page_keep(struct hf_call_page_writer *w, struct hf_keep *keep);

/* Reads a page; its bytes may be damaged. */
struct hf_call_page_reader {
	const uint8_t *at, *end;
	uint64_t number, left;
	struct hf_call_node previous;
	struct hf_call_stacked stack;
};

/* The bytes are borrowed; first and count are the writer's. */
void hf_call_page_open(struct hf_call_page_reader *r, const uint8_t *bytes, size_t n, uint64_t first, uint64_t count);
/* HF_NOTE_END: there are no more. HF_ERR_STATE: the page is damaged. A parent's number is lower, but must be checked by
 * the caller; ordinals ascend. */
int hf_call_page_next_node(struct hf_call_page_reader *r, bool timed, struct hf_call_node *ret_node);
/* *ret_stack is in r. The caller must check its nodes. */
int hf_call_page_next_stack(struct hf_call_page_reader *r, const struct hf_call_stacked **ret_stack);

#endif
