/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages of calls as they are kept: the nodes of a tree, and the stacks at which chunks begin. Internal to index/.
 */
#ifndef HF_INDEX_SUMMARY_CALL_PAGE_H
#define HF_INDEX_SUMMARY_CALL_PAGE_H

#include "index/summary/call_stack.h"

/* A page is full when it has so many bytes, and what made it so has less than so many more. */
#define HF_CALL_PAGE_FULL ((size_t)30 << 10)
#define HF_CALL_STACK_BYTES ((size_t)20 << 10)
#define HF_CALL_PAGE_BYTES_MAX (HF_CALL_PAGE_FULL + HF_CALL_STACK_BYTES)

/* A stack as a page has it: its context, its pieces, where its calls return to, the oldest first, and what is beyond the
 * limit of depth above them. begun: the first piece begins with what is below all calls and traps. */
struct hf_call_stacked {
	uint32_t context, count, backs;
	bool begun;
	uint64_t calls_beyond, traps_beyond, classes_beyond;
	struct hf_call_piece pieces[HF_CALL_DEPTH + 1];
	uint64_t back[HF_CALL_DEPTH];
};
void hf_call_stacked_of(const struct hf_call_stack *stack, struct hf_call_stacked *ret_stacked);

/* All zeros is an empty page. */
struct hf_call_page_writer {
	uint64_t first, count; /* number of its first node or chunk, and how many there are */
	struct hf_call_node previous;
	struct hf_call_stacked stack;
	size_t n;
	uint8_t bytes[HF_CALL_PAGE_BYTES_MAX];
};

void hf_call_page_begin(struct hf_call_page_writer *w, uint64_t first);
/* The next one; a page has either nodes or stacks. timed: with cycles. */
void hf_call_page_put_node(struct hf_call_page_writer *w, const struct hf_call_node *node, bool timed);
void hf_call_page_put_stack(struct hf_call_page_writer *w, const struct hf_call_stacked *stack);

/* Reads one; no bytes of it are believed. */
struct hf_call_page_reader {
	const uint8_t *at, *end;
	uint64_t number, left;
	struct hf_call_node previous;
	struct hf_call_stacked stack;
};

/* The bytes are borrowed; first and count are as the writer had them. */
void hf_call_page_open(struct hf_call_page_reader *r, const uint8_t *bytes, size_t n, uint64_t first, uint64_t count);
/* HF_NOTE_END: that was all. HF_ERR_STATE: it is no page. A parent is the lower number, and is to be looked up; ordinals
 * are in their order. */
int hf_call_page_next_node(struct hf_call_page_reader *r, bool timed, struct hf_call_node *ret_node);
/* *ret_stack lies in r. Its nodes are to be looked up. */
int hf_call_page_next_stack(struct hf_call_page_reader *r, const struct hf_call_stacked **ret_stack);

#endif
