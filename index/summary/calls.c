/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/calls.h"

#include "codecs/base/err.h"

#include <stdlib.h>
#include <string.h>

const struct hf_call_room hf_call_room_default = {
	.nodes = HF_CALL_NODES, .depth = HF_CALL_DEPTH, .frames = HF_CALL_FRAMES};

#define NEVER UINT64_MAX

/* ---- stacks ---- */

static int stack_of(struct hf_calls *c, uint32_t context)
{
	if (context >= c->stack_count) {
		const uint32_t n = context >= HF_RUN_CONTEXTS / 2 ? HF_RUN_OTHERS + 1 : 2 * context + 1;
		struct hf_call_stack *bigger = realloc(c->stacks, n * sizeof *bigger);

		if (!bigger)
			return HF_ERR_NOMEM;
		memset(bigger + c->stack_count, 0, (n - c->stack_count) * sizeof *bigger);
		c->stacks = bigger;
		c->stack_count = n;
	}
	c->context = context;
	c->stack = &c->stacks[context];
	c->stack->context = context;
	return c->want && !c->stack->known ? c->want(c->ctx, context) : 0;
}

void hf_calls_set_stack(struct hf_calls *c, const struct hf_call_stack *stack)
{
	hf_call_stack_fini(c->stack);
	*c->stack = *stack;
	c->stack->context = c->context;
	c->stack->known = true;
	c->node = hf_call_stack_node(c->stack);
}

/* Adds what was executed up to that ordinal to the node so far. */
static void leave(struct hf_calls *c, uint64_t ordinal)
{
	if (ordinal == c->since)
		return;
	hf_call_tree_add(&c->tree, c->node, ordinal - c->since, ordinal);
	c->executed = c->node;
	c->since = ordinal;
}

/* ---- transfers ---- */

static int call(struct hf_calls *c, uint64_t function, uint64_t back, uint64_t ordinal)
{
	int err = hf_call_stack_room(c->stack, c->room.depth, &c->frames_left);

	if (err < 0)
		return err;
	if (err) {
		hf_call_stack_call_beyond(c->stack, back);
		c->facts.deep++;
		c->node = hf_call_tree_call(&c->tree, HF_CALL_NO_NODE, function, ordinal);
		return 0;
	}
	c->node = hf_call_tree_call(&c->tree, c->node, function, ordinal);
	c->facts.refused += c->node == HF_CALL_NO_NODE;
	hf_call_stack_push(c->stack, c->node, back);
	c->entered = ordinal;
	return 0;
}

/* A jump. If it is that of a called stub, its target was called instead; if it may be that of a dynamic linker, its
 * target is called in place of the function that jumps. */
static void reach(struct hf_calls *c, const struct hf_ev_insn *insn, uint64_t entered, uint64_t ordinal)
{
	const uint32_t stub = hf_call_stack_node(c->stack);
	const struct hf_call_node *node = &c->tree.nodes[stub];

	if (node->kind != HF_CALL_FUNCTION)
		return;
	if (hf_is_stub_jump(node->function, insn)) {
		c->node = hf_call_tree_move(&c->tree, stub, insn->target, entered == NEVER ? ordinal : entered, ordinal);
		c->executed = c->node;
		c->entered = entered;
	} else if (hf_is_found_jump(node->function, insn)) {
		c->node = hf_call_tree_call(&c->tree, node->parent, insn->target, ordinal);
		c->entered = ordinal;
	} else {
		return;
	}
	c->facts.refused += c->node == HF_CALL_NO_NODE;
	c->stack->frames[c->stack->depth - 1].node = c->node;
}

/* The trap to come: its handler begins in the present context. */
static int trap(struct hf_calls *c, uint64_t handler, uint64_t ordinal)
{
	struct hf_call_node root = {.kind = c->trap.kind, .context = c->context, .function = handler};
	int err = hf_call_stack_room(c->stack, c->room.depth, &c->frames_left);

	c->trap.kind = HF_CALL_BEYOND;
	if (err < 0)
		return err;
	if (err) {
		c->stack->traps_beyond++;
		c->facts.deep++;
		c->node = hf_call_tree_call(&c->tree, HF_CALL_NO_NODE, handler, ordinal);
		return 0;
	}
	c->node = hf_call_tree_root(&c->tree, &root, ordinal);
	c->facts.refused += c->node == HF_CALL_NO_NODE;
	hf_call_stack_push_trap(c->stack, c->node);
	return 0;
}

/* A trap before the handler of the previous one has begun. */
static int trap_at_once(struct hf_calls *c, uint64_t ordinal)
{
	int err = c->stack ? 0 : stack_of(c, 0);

	return err ? err : trap(c, c->trap.function, ordinal);
}

static int trap_return(struct hf_calls *c, uint64_t ordinal)
{
	int err = c->stack ? 0 : stack_of(c, 0);

	if (!err && c->trap.kind != HF_CALL_BEYOND)
		err = trap_at_once(c, ordinal);
	if (err)
		return err;
	c->facts.trap_returns++;
	c->facts.unmatched_traps += !hf_call_stack_trap_return(c->stack);
	c->node = hf_call_stack_node(c->stack);
	return 0;
}

/* entered: what c->entered was before it. */
static int put_insn(struct hf_calls *c, const struct hf_ev_insn *insn, uint64_t entered, uint64_t ordinal)
{
	bool fits;

	switch (insn->flow) {
	case HF_FLOW_INDIRECT_JUMP:
		reach(c, insn, entered, ordinal);
		return 0;
	case HF_FLOW_CALL:
	case HF_FLOW_INDIRECT_CALL:
		return call(c, insn->target, insn->pc + insn->size, ordinal);
	case HF_FLOW_SWAP:
		hf_call_stack_return(c->stack, insn->target);
		c->node = hf_call_stack_node(c->stack);
		return call(c, insn->target, insn->pc + insn->size, ordinal);
	case HF_FLOW_RETURN:
		fits = hf_call_stack_return(c->stack, insn->target);
		c->facts.returns++;
		c->facts.unmatched += !fits;
		c->node = hf_call_stack_node(c->stack);
		return 0;
	case HF_FLOW_TRAP_CALL:
		c->trap = (struct hf_call_node){.kind = HF_CALL_TRAP, .function = insn->target};
		c->by_insn = true;
		return 0;
	case HF_FLOW_TRAP_RETURN:
		c->returned = true;
		return trap_return(c, ordinal);
	default:
		return 0;
	}
}

static int put_trap(struct hf_calls *c, const struct hf_event *ev, uint64_t ordinal)
{
	const bool known = ev->flags & HF_EVF_HANDLER, same = c->by_insn && !(ev->flags & HF_EVF_ASYNC);
	int err = 0;

	if (same && !known)
		return 0;
	if (c->trap.kind != HF_CALL_BEYOND && !same)
		err = trap_at_once(c, ordinal);
	c->by_insn = false;
	c->trap = (struct hf_call_node){.kind = ev->flags & HF_EVF_ASYNC ? HF_CALL_INTERRUPT : HF_CALL_TRAP,
					.function = known ? ev->trap.handler : HF_CALL_UNKNOWN};
	return err;
}

static void put_cycles(struct hf_calls *c, const struct hf_event *ev, uint64_t ordinal)
{
	uint64_t *to = ordinal ? &c->tree.nodes[c->executed].cycles : &c->early;
	const uint64_t n = ev->time.value;

	if (ev->flags & HF_EVF_NO_TIME)
		return;
	*to = n > INT64_MAX - *to ? INT64_MAX : *to + n;
	c->facts.timed++;
}

/* ---- callbacks of the cutter ---- */

static int flow(void *ctx, const struct hf_event *ev, uint64_t ordinal)
{
	struct hf_calls *c = ctx;
	const uint64_t entered = c->entered;

	leave(c, ordinal);
	c->entered = ev->kind == HF_EVENT_CYCLES ? entered : NEVER;
	switch (ev->kind) {
	case HF_EVENT_INSN:
		return put_insn(c, &ev->insn, entered, ordinal);
	case HF_EVENT_TRAP:
		return put_trap(c, ev, ordinal);
	case HF_EVENT_TRAP_RETURN:
		if (c->returned) {
			c->returned = false;
			return 0;
		}
		return trap_return(c, ordinal);
	case HF_EVENT_CYCLES:
		put_cycles(c, ev, ordinal);
		return 0;
	default:
		c->facts.losses++;
		return 0;
	}
}

static int put_stacks(struct hf_calls *c)
{
	int err = 0;

	for (; c->chunks && !err; c->chunks--)
		err = c->put(c->ctx, c->stack);
	return err;
}

static int begin(void *ctx, const struct hf_ev_insn *insn, uint32_t context, uint64_t ordinal)
{
	struct hf_calls *c = ctx;
	int err = 0;

	leave(c, ordinal);
	if (!c->stack || context != c->context) {
		c->entered = NEVER;
		err = stack_of(c, context);
	}
	if (!err && c->trap.kind != HF_CALL_BEYOND)
		err = trap(c, c->trap.function == HF_CALL_UNKNOWN ? insn->pc : c->trap.function, ordinal);
	if (err)
		return err;
	c->by_insn = c->returned = false;
	if (!c->stack->depth && !hf_call_stack_is_beyond(c->stack) && !c->stack->begun) {
		const struct hf_call_node root = {
			.kind = HF_CALL_ROOT, .context = context, .mode = insn->mode, .function = insn->pc};

		c->stack->begun = true;
		c->stack->base = hf_call_tree_root(&c->tree, &root, ordinal);
		c->facts.refused += c->stack->base == HF_CALL_NO_NODE;
	}
	c->node = hf_call_stack_node(c->stack);
	if (!ordinal)
		c->tree.nodes[c->node].cycles = c->early;
	return put_stacks(c);
}

int hf_calls_resume(struct hf_calls *c, const struct hf_call_node *nodes, uint32_t count, uint64_t ordinal,
		    int (*want)(void *ctx, uint32_t context))
{
	c->want = want;
	c->since = ordinal;
	c->chunks = 0;
	c->frames_left = UINT32_MAX;
	return hf_call_tree_fill(&c->tree, nodes, count);
}

/* ---- to a file and back ---- */

static void keep_facts(struct hf_call_facts *f, struct hf_keep *k)
{
	HF_KEEP(k, f->returns, INT64_MAX);
	HF_KEEP(k, f->unmatched, INT64_MAX);
	HF_KEEP(k, f->trap_returns, INT64_MAX);
	HF_KEEP(k, f->unmatched_traps, INT64_MAX);
	HF_KEEP(k, f->deep, INT64_MAX);
	HF_KEEP(k, f->refused, INT64_MAX);
	HF_KEEP(k, f->losses, INT64_MAX);
	HF_KEEP(k, f->timed, INT64_MAX);
}

static void keep_stacks(struct hf_calls *c, struct hf_keep *k)
{
	uint32_t count = c->stack_count;
	uint64_t frames = 0;

	HF_KEEP(k, count, HF_RUN_OTHERS + 1);
	if (k->load && count && !k->err) {
		c->stacks = calloc(count, sizeof *c->stacks);
		c->stack_count = c->stacks ? count : 0;
		if (!c->stacks)
			hf_keep_fail(k, HF_ERR_NOMEM);
	}
	for (uint32_t i = 0; i < count && !k->err; i++) {
		hf_call_stack_keep(&c->stacks[i], c->tree.count, c->room.depth, k);
		frames += c->stacks[i].cap;
	}
	HF_KEEP(k, c->frames_left, c->room.frames);
	hf_keep_check(k, frames + c->frames_left == c->room.frames);
}

/* Which one is at hand. */
static void keep_stack(struct hf_calls *c, struct hf_keep *k)
{
	bool any = c->stack != NULL;

	HF_KEEP(k, any, 1);
	HF_KEEP(k, c->context, HF_RUN_OTHERS);
	hf_keep_check(k, !any || c->context < c->stack_count);
	c->stack = any && !k->err ? &c->stacks[c->context] : NULL;
}

void hf_calls_keep(struct hf_calls *c, uint64_t chunks, struct hf_keep *k)
{
	hf_call_tree_keep(&c->tree, k);
	keep_facts(&c->facts, k);
	keep_stacks(c, k);
	keep_stack(c, k);
	HF_KEEP(k, c->node, c->tree.count - 1);
	HF_KEEP(k, c->executed, c->tree.count - 1);
	HF_KEEP(k, c->since, INT64_MAX);
	HF_KEEP(k, c->entered, UINT64_MAX);
	hf_keep_check(k, c->entered == NEVER || c->entered <= c->since);
	HF_KEEP(k, c->early, INT64_MAX);
	HF_KEEP(k, c->chunks, chunks);
	HF_KEEP(k, c->trap.kind, HF_CALL_KINDS - 1);
	HF_KEEP(k, c->trap.function, UINT64_MAX);
	HF_KEEP(k, c->by_insn, 1);
	HF_KEEP(k, c->returned, 1);
	hf_keep_check(k, c->trap.kind == HF_CALL_BEYOND || c->trap.kind == HF_CALL_TRAP ||
				 c->trap.kind == HF_CALL_INTERRUPT);
}

int hf_calls_end(struct hf_calls *c, uint64_t insns)
{
	int err = c->stack ? 0 : stack_of(c, 0);

	leave(c, insns);
	/* Nothing of the last call was executed. */
	if (c->entered == insns)
		c->tree.nodes[c->node].calls--;
	return err ? err : put_stacks(c);
}

int hf_calls_new(const struct hf_call_room *room, hf_call_stack_fn put, void *ctx, struct hf_calls **ret_calls)
{
	struct hf_calls *c = calloc(1, sizeof *c);
	int err = c ? hf_call_tree_init(&c->tree, room->nodes) : HF_ERR_NOMEM;

	*ret_calls = NULL;
	if (err) {
		free(c);
		return err;
	}
	c->watch = (struct hf_run_watch){.ctx = c, .flow = flow, .begin = begin};
	c->put = put;
	c->ctx = ctx;
	c->room = *room;
	c->frames_left = room->frames;
	c->entered = NEVER;
	c->chunks = 1;
	*ret_calls = c;
	return 0;
}

void hf_calls_free(struct hf_calls *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < c->stack_count; i++)
		hf_call_stack_fini(&c->stacks[i]);
	free(c->stacks);
	hf_call_tree_fini(&c->tree);
	free(c);
}
