/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/call_stack.h"

#include "codecs/base/err.h"
#include "index/summary/run.h"

#include <stdlib.h>

enum { FRAMES_LEAST = 16 };

void hf_call_stack_fini(struct hf_call_stack *s)
{
	free(s->frames);
	*s = (struct hf_call_stack){0};
}

int hf_call_stack_room(struct hf_call_stack *s, uint32_t most, uint32_t *left)
{
	const uint32_t more = s->cap ? s->cap : FRAMES_LEAST;
	struct hf_call_frame *bigger;

	if (hf_call_stack_is_beyond(s) || s->depth == most)
		return 1;
	if (s->depth < s->cap)
		return 0;
	if (more > *left)
		return 1;
	bigger = realloc(s->frames, (s->cap + more) * sizeof *s->frames);
	if (!bigger)
		return HF_ERR_NOMEM;
	s->frames = bigger;
	s->cap += more;
	*left -= more;
	return 0;
}

void hf_call_stack_push(struct hf_call_stack *s, uint32_t node, uint64_t back)
{
	s->frames[s->depth++] = (struct hf_call_frame){.back = back, .node = node};
}

void hf_call_stack_push_trap(struct hf_call_stack *s, uint32_t node)
{
	hf_call_stack_push(s, node, s->trap);
	s->trap = s->depth;
}

static uint64_t class_of(uint64_t address)
{
	return UINT64_C(1) << (address / 2 % 64);
}

void hf_call_stack_call_beyond(struct hf_call_stack *s, uint64_t back)
{
	if (s->traps_beyond)
		return;
	s->calls_beyond++;
	s->classes_beyond |= class_of(back);
}

static void end_beyond(struct hf_call_stack *s)
{
	s->calls_beyond = s->classes_beyond = 0;
}

bool hf_call_stack_return(struct hf_call_stack *s, uint64_t target)
{
	if (s->traps_beyond)
		return true;
	if (s->classes_beyond & class_of(target)) {
		if (!--s->calls_beyond)
			end_beyond(s);
		return true;
	}
	for (uint32_t i = s->depth; i > s->trap; i--)
		if (s->frames[i - 1].back == target) {
			s->depth = i - 1;
			end_beyond(s);
			return true;
		}
	return false;
}

bool hf_call_stack_trap_return(struct hf_call_stack *s)
{
	if (s->traps_beyond) {
		s->traps_beyond--;
		return true;
	}
	end_beyond(s);
	if (!s->trap) {
		s->depth = 0;
		s->begun = false;
		s->base = HF_CALL_NO_NODE;
		return false;
	}
	s->depth = s->trap - 1;
	s->trap = (uint32_t)s->frames[s->depth].back;
	return true;
}

/* The piece of frames [start, end), of which the first is a trap or the lowest call. */
static struct hf_call_piece piece_of(const struct hf_call_stack *s, uint32_t start, uint32_t end)
{
	uint32_t i = end;

	while (i > start && s->frames[i - 1].node == HF_CALL_NO_NODE)
		i--;
	return (struct hf_call_piece){.node = i > start ? s->frames[i - 1].node : HF_CALL_NO_NODE, .refused = end - i};
}

uint32_t hf_call_stack_pieces(const struct hf_call_stack *s, struct hf_call_piece *ret_pieces)
{
	uint32_t n = 0, end = s->depth;

	for (uint32_t trap = s->trap; trap; trap = (uint32_t)s->frames[end].back) {
		ret_pieces[n++] = piece_of(s, trap - 1, end);
		end = trap - 1;
	}
	if (s->begun) {
		struct hf_call_piece *p = &ret_pieces[n++];

		*p = piece_of(s, 0, end);
		if (p->node == HF_CALL_NO_NODE && s->base != HF_CALL_NO_NODE)
			p->node = s->base;
		else
			p->refused += s->base == HF_CALL_NO_NODE;
	}
	for (uint32_t i = 0; i < n / 2; i++) {
		const struct hf_call_piece p = ret_pieces[i];

		ret_pieces[i] = ret_pieces[n - 1 - i];
		ret_pieces[n - 1 - i] = p;
	}
	return n;
}

/* ---- to a file and back ---- */

/* Room for frames is doubled. */
static bool is_room(uint32_t cap)
{
	return !cap || (cap >= FRAMES_LEAST && !(cap & (cap - 1)));
}

static void keep_frames(struct hf_call_stack *s, uint32_t depth, uint32_t nodes, struct hf_keep *k)
{
	if (k->load && s->cap && !k->err && !(s->frames = calloc(s->cap, sizeof *s->frames)))
		hf_keep_fail(k, HF_ERR_NOMEM);
	for (uint32_t i = 0; i < depth && !k->err; i++) {
		HF_KEEP(k, s->frames[i].back, UINT64_MAX);
		HF_KEEP(k, s->frames[i].node, nodes - 1);
	}
	s->depth = k->err ? 0 : depth;
	for (uint32_t trap = s->trap; trap && !k->err;) {
		const uint64_t before = trap <= s->depth ? s->frames[trap - 1].back : UINT64_MAX;

		hf_keep_check(k, before < trap);
		trap = (uint32_t)before;
	}
}

void hf_call_stack_keep(struct hf_call_stack *s, uint32_t nodes, uint32_t most, struct hf_keep *k)
{
	uint32_t depth = s->depth;

	HF_KEEP(k, s->base, nodes - 1);
	HF_KEEP(k, s->begun, 1);
	HF_KEEP(k, s->context, HF_RUN_OTHERS);
	HF_KEEP(k, s->calls_beyond, INT64_MAX);
	HF_KEEP(k, s->traps_beyond, INT64_MAX);
	HF_KEEP(k, s->classes_beyond, UINT64_MAX);
	HF_KEEP(k, s->cap, 2 * HF_CALL_DEPTH);
	HF_KEEP(k, depth, s->cap);
	HF_KEEP(k, s->trap, depth);
	hf_keep_check(k, is_room(s->cap) && depth <= most && (!s->classes_beyond) == (!s->calls_beyond));
	keep_frames(s, depth, nodes, k);
}
