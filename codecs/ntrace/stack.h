/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call stack of implicit returns (9.2): encoder and decoder keep the same one, so that a return to where its call
 * was need not be reported. When it is full the oldest address is dropped.
 */
#ifndef HF_NTRACE_STACK_H
#define HF_NTRACE_STACK_H

#include "codecs/base/fields.h"

#include <stdbool.h>
#include <string.h>

/* Addresses that a decoder keeps. */
#define HF_NTRACE_STACK 32

struct hf_ntrace_stack {
	uint8_t depth; /* addresses on it */
	uint8_t top;   /* the newest */
	uint64_t address[HF_NTRACE_STACK];
};

/* most <= HF_NTRACE_STACK addresses are kept. */
static inline void hf_ntrace_stack_push(struct hf_ntrace_stack *stack, unsigned most, uint64_t address)
{
	if (most == 0)
		return;
	stack->top = (uint8_t)((stack->top + 1) % HF_NTRACE_STACK);
	stack->address[stack->top] = address;
	if (stack->depth < most)
		stack->depth++;
}

static inline bool hf_ntrace_stack_pop(struct hf_ntrace_stack *stack, uint64_t *ret_address)
{
	if (stack->depth == 0)
		return false;
	*ret_address = stack->address[stack->top];
	stack->address[stack->top] = 0; /* keeps stored states short */
	stack->top = (uint8_t)((stack->top + HF_NTRACE_STACK - 1) % HF_NTRACE_STACK);
	stack->depth--;
	return true;
}

static inline void hf_ntrace_stack_clear(struct hf_ntrace_stack *stack)
{
	memset(stack, 0, sizeof *stack);
}

/* Its fields in the table of a state that has it as member calls. */
#define HF_NTRACE_STACK_4(type, i) \
	HF_FIELD_ROW(type, calls.address[(i)], UINT64_MAX), HF_FIELD_ROW(type, calls.address[(i) + 1], UINT64_MAX), \
		HF_FIELD_ROW(type, calls.address[(i) + 2], UINT64_MAX), \
		HF_FIELD_ROW(type, calls.address[(i) + 3], UINT64_MAX)
#define HF_NTRACE_STACK_16(type, i) \
	HF_NTRACE_STACK_4(type, i), HF_NTRACE_STACK_4(type, (i) + 4), HF_NTRACE_STACK_4(type, (i) + 8), \
		HF_NTRACE_STACK_4(type, (i) + 12)
#define HF_NTRACE_STACK_FIELDS(type) \
	HF_FIELD_ROW(type, calls.depth, HF_NTRACE_STACK), HF_FIELD_ROW(type, calls.top, HF_NTRACE_STACK - 1), \
		HF_NTRACE_STACK_16(type, 0), HF_NTRACE_STACK_16(type, 16)

#endif
