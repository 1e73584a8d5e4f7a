/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/walk/return_stack.h"

/* Bytes of a saved address behind another: hf_field_near. */
static uint32_t step_size(const struct hf_return_stack *s, uint32_t place, uint64_t to)
{
	const int64_t step = (int64_t)(to - s->address[place & s->mask]);
	const uint64_t v = (uint64_t)step << 1 ^ (uint64_t)(step >> 63);

	return (70 - (uint32_t)__builtin_clzll(v | 1)) / 7;
}

/* Of the entry in this place, which is not the oldest. */
static uint32_t entry_size(const struct hf_return_stack *s, uint32_t place)
{
	return step_size(s, place - 1, s->address[place & s->mask]);
}

void hf_return_stack_weigh_push(struct hf_return_stack *s, uint64_t address)
{
	const uint32_t size = step_size(s, s->top - 1, address);

	while (s->depth && (s->depth == s->limit || s->bytes + size > s->bytes_max)) {
		s->depth--;
		if (s->depth)
			s->bytes -= entry_size(s, s->top - s->depth);
	}
	s->bytes += s->depth ? size : 0;
}

void hf_return_stack_weigh_drop(struct hf_return_stack *s)
{
	if (s->depth)
		s->bytes -= entry_size(s, s->top);
}

void hf_return_stack_copy(struct hf_return_stack *to, const struct hf_return_stack *from)
{
	for (uint32_t i = from->top - from->depth; from->address && i != from->top; i++) {
		to->address[i & from->mask] = from->address[i & from->mask];
		if (from->repeat)
			to->repeat[i & from->mask] = from->repeat[i & from->mask];
	}
	to->depth = from->depth;
	to->top = from->top;
	to->bytes = from->bytes;
}

/* Addresses differ little from each other: each is stored as its distance from the one before. */
uint64_t hf_return_stack_visit(struct hf_return_stack *s, struct hf_fields *f)
{
	uint64_t last = 0;

	HF_FIELD(f, s->depth, s->limit);
	if (f->loading)
		s->top = s->depth;
	for (uint32_t i = 0; s->address && i < s->depth && !f->err; i++) {
		const uint32_t place = (s->top - s->depth + i) & s->mask;

		last = HF_FIELD_NEAR(f, s->address[place], last);
		if (s->repeat)
			HF_FIELD(f, s->repeat[place], UINT16_MAX);
	}
	if (f->loading && s->bytes_max && !f->err) {
		s->bytes = 0;
		for (uint32_t i = 1; i < s->depth; i++)
			s->bytes += entry_size(s, i);
		hf_fields_require(f, s->bytes <= s->bytes_max);
	}
	return last;
}
