/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/walk/return_stack.h"

void hf_return_stack_copy(struct hf_return_stack *to, const struct hf_return_stack *from)
{
	for (uint32_t i = from->top - from->depth; from->address && i != from->top; i++) {
		to->address[i & from->mask] = from->address[i & from->mask];
		if (from->repeat)
			to->repeat[i & from->mask] = from->repeat[i & from->mask];
	}
	to->depth = from->depth;
	to->top = from->top;
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
	return last;
}
