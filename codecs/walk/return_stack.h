/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The return stack that a trace unit and its readers keep alike, so that a return to where its call was need not be
 * told. A ring: when it is full, the oldest address is dropped. Its owner gives the room and says when it is emptied.
 */
#ifndef HF_WALK_RETURN_STACK_H
#define HF_WALK_RETURN_STACK_H

#include "codecs/base/fields.h"

struct hf_return_stack {
	uint64_t *address;   /* NULL: calls are counted, and their addresses are not known */
	uint16_t *repeat;    /* how often more each address lies there; NULL: no address stands for several calls */
	uint16_t repeat_max;
	uint32_t mask;       /* places in the room, less 1 */
	uint32_t limit;      /* entries that are kept; 0: none */
	uint32_t depth;      /* entries that there are */
	uint32_t top;        /* the newest is in the place before this one */
	/* Where all entries that may be kept do not fit a saved state: the most bytes that they may take there, the first aside;
	 * older ones are dropped. 0: they fit. */
	uint32_t bytes_max;
	uint32_t bytes;      /* that they take */
};

/* address[size], which is borrowed: size is a power of two and at least limit. */
static inline void hf_return_stack_init(struct hf_return_stack *s, uint64_t *address, uint32_t size, uint32_t limit)
{
	*s = (struct hf_return_stack){.address = address, .mask = size - 1, .limit = limit};
}

static inline void hf_return_stack_clear(struct hf_return_stack *s)
{
	s->depth = s->top = s->bytes = 0;
}

/* The place of the newest entry; there is one. */
static inline uint32_t hf_return_stack_newest(const struct hf_return_stack *s)
{
	return (s->top - 1) & s->mask;
}

static inline uint64_t hf_return_stack_top(const struct hf_return_stack *s)
{
	return s->address[hf_return_stack_newest(s)];
}

/* With bytes_max: before an address comes onto it, or after the newest is dropped from it. */
void hf_return_stack_weigh_push(struct hf_return_stack *s, uint64_t address);
void hf_return_stack_weigh_drop(struct hf_return_stack *s);

static inline void hf_return_stack_push(struct hf_return_stack *s, uint64_t address)
{
	const uint32_t newest = hf_return_stack_newest(s), place = s->top & s->mask;

	if (s->limit == 0)
		return;
	if (s->repeat && s->depth && s->address[newest] == address && s->repeat[newest] < s->repeat_max) {
		s->repeat[newest]++;
		return;
	}
	if (s->bytes_max)
		hf_return_stack_weigh_push(s, address);
	if (s->address)
		s->address[place] = address;
	if (s->repeat)
		s->repeat[place] = 0;
	s->top++;
	s->depth += s->depth < s->limit;
}

/* Drops the newest address; there is one. */
static inline void hf_return_stack_drop(struct hf_return_stack *s)
{
	const uint32_t newest = hf_return_stack_newest(s);

	if (s->repeat && s->repeat[newest]) {
		s->repeat[newest]--;
		return;
	}
	s->depth--;
	s->top--;
	if (s->bytes_max)
		hf_return_stack_weigh_drop(s);
}

/* The newest address, which is dropped; false if there is none. */
static inline bool hf_return_stack_pop(struct hf_return_stack *s, uint64_t *ret_address)
{
	if (s->depth == 0)
		return false;
	*ret_address = hf_return_stack_top(s);
	hf_return_stack_drop(s);
	return true;
}

/* Drops the newest address if it is this one; false if it is not. */
static inline bool hf_return_stack_take(struct hf_return_stack *s, uint64_t address)
{
	const bool same = s->depth && hf_return_stack_top(s) == address;

	if (same)
		hf_return_stack_drop(s);
	return same;
}

/* What is on from, for a stack that has as much room. */
void hf_return_stack_copy(struct hf_return_stack *to, const struct hf_return_stack *from);

/* Saves or loads what is on it. Returns the newest address: what is visited next may be near it. */
uint64_t hf_return_stack_visit(struct hf_return_stack *s, struct hf_fields *f);

#endif
