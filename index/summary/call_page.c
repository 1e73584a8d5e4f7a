/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/call_page.h"

#include "codecs/base/bytes.h"
#include "codecs/base/err.h"
#include "codecs/event.h"
#include "index/summary/run.h"

#include <stdlib.h>

/*
 * A node: its number minus the parent's, or 0 and then kind, context and mode; function, as a difference to the
 * previous one; calls, own; first, as a difference; last minus first; cycles, if the hart has any. A stack: four times
 * the number of pieces, plus 2 if it has begun, plus 1 if something is beyond it, which follows: calls, traps, classes.
 * Then its context, as a difference to the previous stack; for each piece twice the difference of the node to that of
 * the same piece in the previous stack, plus 1 if frames were refused, whose number follows; how many return addresses
 * are the same as in the previous stack, how many more there are, and these, each as a difference to the one before.
 * Numbers are LEB128; in differences that may be negative the lowest bit is the sign.
 */

enum { NODE_BYTES = 10 * HF_VARINT_MAX, PIECE_BYTES = 4 + 4, BACK_BYTES = HF_VARINT_MAX, HEAD_BYTES = 7 * HF_VARINT_MAX };

static_assert(HF_CALL_NODES <= 1u << 18, "a node's difference, its sign and a flag are 20 bits: 3 bytes, or 4");
static_assert(NODE_BYTES <= HF_CALL_STACK_BYTES, "a node fits");
static_assert((HF_CALL_DEPTH + 1) * PIECE_BYTES + HF_CALL_DEPTH * BACK_BYTES + HEAD_BYTES <= HF_CALL_STACK_BYTES,
	      "a stack fits");

static uint8_t *put_step(uint8_t *p, uint64_t from, uint64_t to)
{
	const uint64_t step = to - from;

	return hf_put_varint(p, step << 1 ^ (step >> 63 ? UINT64_MAX : 0));
}

static uint64_t step_of(uint64_t v)
{
	return v >> 1 ^ (v & 1 ? UINT64_MAX : 0);
}

/* ---- writing ---- */

void hf_call_stacked_of(const struct hf_call_stack *stack, struct hf_call_stacked *ret_stacked)
{
	uint32_t trap = stack->trap;

	ret_stacked->context = stack->context;
	ret_stacked->begun = stack->begun;
	ret_stacked->count = hf_call_stack_pieces(stack, ret_stacked->pieces);
	ret_stacked->calls_beyond = stack->calls_beyond;
	ret_stacked->traps_beyond = stack->traps_beyond;
	ret_stacked->classes_beyond = stack->classes_beyond;
	ret_stacked->backs = stack->depth;
	for (uint32_t i = stack->depth; i > 0; i--) {
		ret_stacked->back[i - 1] = i == trap ? 0 : stack->frames[i - 1].back;
		trap = i == trap ? (uint32_t)stack->frames[i - 1].back : trap;
	}
}

void hf_call_page_begin(struct hf_call_page_writer *w, uint64_t first)
{
	w->first = first;
	w->count = 0;
	w->previous = (struct hf_call_node){0};
	w->stack.context = w->stack.count = w->stack.backs = 0;
	w->n = 0;
}

void hf_call_page_put_node(struct hf_call_page_writer *w, const struct hf_call_node *node, bool timed)
{
	const struct hf_call_node *before = &w->previous;
	uint8_t *p = w->bytes + w->n;

	if (node->kind == HF_CALL_FUNCTION) {
		p = hf_put_varint(p, w->first + w->count - node->parent);
	} else {
		*p++ = 0;
		*p++ = node->kind;
		p = hf_put_varint(p, node->context);
		*p++ = node->mode;
	}
	p = put_step(p, before->function, node->function);
	p = hf_put_varint(p, node->calls);
	p = hf_put_varint(p, node->own);
	p = put_step(p, before->first, node->first);
	p = hf_put_varint(p, node->last - node->first);
	if (timed)
		p = hf_put_varint(p, node->cycles);
	w->n = (size_t)(p - w->bytes);
	w->previous = *node;
	w->count++;
}

static uint8_t *put_backs(struct hf_call_page_writer *w, const struct hf_call_stacked *stack, uint8_t *p)
{
	uint32_t same = 0;

	while (same < stack->backs && same < w->stack.backs && stack->back[same] == w->stack.back[same])
		same++;
	p = hf_put_varint(p, same);
	p = hf_put_varint(p, stack->backs - same);
	for (uint32_t i = same; i < stack->backs; i++) {
		p = put_step(p, i ? stack->back[i - 1] : 0, stack->back[i]);
		w->stack.back[i] = stack->back[i];
	}
	w->stack.backs = stack->backs;
	return p;
}

void hf_call_page_put_stack(struct hf_call_page_writer *w, const struct hf_call_stacked *stack)
{
	const bool beyond = stack->calls_beyond || stack->traps_beyond;
	uint8_t *p = hf_put_varint(w->bytes + w->n, stack->count << 2 | (uint32_t)stack->begun << 1 | beyond);

	if (beyond) {
		p = hf_put_varint(p, stack->calls_beyond);
		p = hf_put_varint(p, stack->traps_beyond);
		p = hf_put_varint(p, stack->classes_beyond);
	}
	p = put_step(p, w->stack.context, stack->context);
	w->stack.context = stack->context;
	for (uint32_t i = 0; i < stack->count; i++) {
		const struct hf_call_piece *piece = &stack->pieces[i];
		const int64_t step = (int64_t)piece->node - (i < w->stack.count ? w->stack.pieces[i].node : 0);
		const uint64_t size = (uint64_t)(step < 0 ? -step : step);

		p = hf_put_varint(p, size << 2 | (step < 0) << 1 | (piece->refused != 0));
		if (piece->refused)
			p = hf_put_varint(p, piece->refused);
		w->stack.pieces[i] = *piece;
	}
	w->stack.count = stack->count;
	p = put_backs(w, stack, p);
	w->n = (size_t)(p - w->bytes);
	w->count++;
}

/* ---- reading ---- */

void hf_call_page_open(struct hf_call_page_reader *r, const uint8_t *bytes, size_t n, uint64_t first, uint64_t count)
{
	r->at = bytes;
	r->end = bytes + n;
	r->number = first;
	r->left = count;
	r->previous = (struct hf_call_node){0};
	r->stack.context = r->stack.count = r->stack.backs = 0;
}

static bool get(struct hf_call_page_reader *r, uint64_t max, uint64_t *ret_number)
{
	return (r->at = hf_get_varint(r->at, r->end, ret_number)) && *ret_number <= max;
}

/* kind, context and mode, or the parent. */
static bool get_place(struct hf_call_page_reader *r, struct hf_call_node *node)
{
	uint64_t up, context;

	if (!get(r, r->number, &up))
		return false;
	node->kind = HF_CALL_FUNCTION;
	node->parent = (uint32_t)(r->number - up);
	if (up)
		return node->parent != HF_CALL_NO_NODE;
	if (r->at == r->end)
		return false;
	node->kind = *r->at++;
	if (!get(r, HF_RUN_OTHERS, &context) || r->at == r->end)
		return false;
	node->parent = HF_CALL_NO_NODE;
	node->context = (uint32_t)context;
	node->mode = *r->at++;
	return (r->number == 0) == (node->kind == HF_CALL_BEYOND) && node->kind != HF_CALL_FUNCTION &&
	       node->kind < HF_CALL_KINDS && node->mode < HF_MODE_COUNT;
}

static bool get_node(struct hf_call_page_reader *r, bool timed, struct hf_call_node *node)
{
	const struct hf_call_node *before = &r->previous;
	uint64_t function, first, life;

	if (!get_place(r, node) || !get(r, UINT64_MAX, &function) || !get(r, INT64_MAX, &node->calls) ||
	    !get(r, INT64_MAX, &node->own) || !get(r, UINT64_MAX, &first) || !get(r, INT64_MAX, &life) ||
	    (timed && !get(r, INT64_MAX, &node->cycles)))
		return false;
	node->function = before->function + step_of(function);
	node->first = before->first + step_of(first);
	node->last = node->first + life;
	return node->first <= INT64_MAX && node->last <= INT64_MAX;
}

int hf_call_page_next_node(struct hf_call_page_reader *r, bool timed, struct hf_call_node *ret_node)
{
	if (!r->left)
		return r->at == r->end ? (int)HF_NOTE_END : HF_ERR_STATE;
	*ret_node = (struct hf_call_node){0};
	if (!get_node(r, timed, ret_node))
		return HF_ERR_STATE;
	r->previous = *ret_node;
	r->number++;
	r->left--;
	return 0;
}

static bool get_piece(struct hf_call_page_reader *r, uint32_t i, uint32_t before)
{
	struct hf_call_piece *piece = &r->stack.pieces[i];
	uint64_t v, refused = 0;
	int64_t node;

	if (!get(r, (uint64_t)HF_CALL_NODES << 2, &v) || (v & 1 && (!get(r, HF_CALL_DEPTH + 1, &refused) || !refused)))
		return false;
	node = v & 2 ? (int64_t)before - (int64_t)(v >> 2) : (int64_t)before + (int64_t)(v >> 2);
	if (node < 0 || node >= HF_CALL_NODES)
		return false;
	*piece = (struct hf_call_piece){.node = (uint32_t)node, .refused = (uint32_t)refused};
	return true;
}

static bool get_backs(struct hf_call_page_reader *r)
{
	uint64_t same, more, step;

	if (!get(r, r->stack.backs, &same) || !get(r, HF_CALL_DEPTH - same, &more))
		return false;
	r->stack.backs = (uint32_t)(same + more);
	for (uint64_t i = same; i < same + more; i++) {
		if (!get(r, UINT64_MAX, &step))
			return false;
		r->stack.back[i] = (i ? r->stack.back[i - 1] : 0) + step_of(step);
	}
	return true;
}

static bool get_beyond(struct hf_call_page_reader *r, bool any)
{
	struct hf_call_stacked *s = &r->stack;

	s->calls_beyond = s->traps_beyond = s->classes_beyond = 0;
	return !any || (get(r, INT64_MAX, &s->calls_beyond) && get(r, INT64_MAX, &s->traps_beyond) &&
			get(r, UINT64_MAX, &s->classes_beyond));
}

static bool get_stack(struct hf_call_page_reader *r)
{
	const uint32_t before = r->stack.count;
	uint64_t count, context;

	if (!get(r, 4 * (HF_CALL_DEPTH + 1) + 3, &count) || !get_beyond(r, count & 1) || !get(r, UINT64_MAX, &context))
		return false;
	context = r->stack.context + step_of(context);
	if (context > HF_RUN_OTHERS)
		return false;
	r->stack.context = (uint32_t)context;
	r->stack.count = (uint32_t)(count >> 2);
	r->stack.begun = count & 2;
	for (uint32_t i = 0; i < r->stack.count; i++)
		if (!get_piece(r, i, i < before ? r->stack.pieces[i].node : 0))
			return false;
	return get_backs(r);
}

int hf_call_page_next_stack(struct hf_call_page_reader *r, const struct hf_call_stacked **ret_stack)
{
	if (!r->left)
		return r->at == r->end ? (int)HF_NOTE_END : HF_ERR_STATE;
	if (!get_stack(r))
		return HF_ERR_STATE;
	*ret_stack = &r->stack;
	r->number++;
	r->left--;
	return 0;
}

/* ---- to a file and back ---- */

/* Checks what was read: put again, it must be the same bytes. */
static void put_again(struct hf_call_page_writer *w, const uint8_t *bytes, size_t n, uint64_t count, struct hf_keep *k)
{
	struct hf_call_page_reader *r = malloc(sizeof *r);
	const struct hf_call_stacked *stack;

	if (!r) {
		hf_keep_fail(k, HF_ERR_NOMEM);
		return;
	}
	hf_call_page_open(r, bytes, n, w->first, count);
	while (w->n < HF_CALL_PAGE_FULL && !hf_call_page_next_stack(r, &stack))
		hf_call_page_put_stack(w, stack);
	hf_keep_check(k, w->count == count && w->n == n && memcmp(w->bytes, bytes, n) == 0);
	free(r);
}

void hf_call_page_keep(struct hf_call_page_writer *w, struct hf_keep *k)
{
	uint64_t count = w->count;
	size_t n = w->n;
	uint8_t *bytes = k->load ? malloc(HF_CALL_PAGE_FULL) : w->bytes;

	if (!bytes) {
		hf_keep_fail(k, HF_ERR_NOMEM);
		return;
	}
	HF_KEEP(k, w->first, INT64_MAX);
	HF_KEEP(k, count, HF_CALL_PAGE_FULL);
	HF_KEEP(k, n, HF_CALL_PAGE_FULL);
	hf_keep_bytes(k, bytes, n);
	if (k->load && !k->err)
		put_again(w, bytes, n, count, k);
	if (k->load)
		free(bytes);
}
