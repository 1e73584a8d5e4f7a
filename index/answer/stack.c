/* SPDX-License-Identifier: Apache-2.0 */
#include "index/answer/stack.h"

#include "codecs/base/array.h"
#include "index/read/decode_index.h"
#include "index/summary/calls.h"
#include "index/summary/summary_internal.h"
#include "index/summary/summary_tree.h"

#include <stdlib.h>
#include <string.h>

/* Goes through the events of a hart from a chunk on. */
struct follower {
	struct hf_stacks *all;
	struct hf_run_watch watch; /* between the cutter and calls */
	struct hf_run_cutter *cutter;
	struct hf_calls *calls;
	struct hf_cursor cursor;
	struct hf_event ev[HF_CURSOR_BATCH];
	size_t at, n;	  /* [at, n) are still to come */
	uint64_t ordinal; /* of the next instruction */
	uint64_t chunk;	  /* where it began */
	bool seeded;	  /* it has the stack of its first instruction */
	bool alone;	  /* only the stack of this context matters */
	bool empty;	  /* and that is empty where it begins */
	uint32_t context;
	bool catching; /* the next instruction is the one that was asked for */
	bool caught;
	struct hf_stack *out; /* for that */
	uint64_t pc;
};

struct hf_stacks {
	struct hf_cursor where;
	struct hf_summary *summary; /* NULL: not there, or not to be used */
	struct hf_summary_tree *tree;
	struct hf_run_context *contexts;
	size_t context_count;
	struct follower *now; /* NULL: none was needed yet */
	uint64_t decoded;
	bool (*go_on)(void *ctx, uint64_t chunk);
	void *ctx;
};

/* ---- following ---- */

static int drop_run(void *ctx, const struct hf_run *run)
{
	(void)ctx, (void)run;
	return 0;
}

static int drop_stack(void *ctx, const struct hf_call_stack *stack)
{
	(void)ctx, (void)stack;
	return 0;
}

static void end(struct follower *f)
{
	if (!f)
		return;
	hf_run_cutter_free(f->cutter);
	hf_calls_free(f->calls);
	hf_cursor_fini(&f->cursor);
	free(f);
}

static int enter_chunk(struct follower *f)
{
	struct hf_stacks *all = f->all;

	all->decoded++;
	return all->go_on && !all->go_on(all->ctx, f->cursor.chunk.number) ? HF_ERR_CANCELLED : 0;
}

/* Takes up to max more events. HF_NOTE_END: there are none. */
static int take(struct follower *f, size_t max)
{
	int err = 0;

	f->at = f->n = 0;
	while (!err && !f->cursor.left) {
		err = hf_cursor_advance(&f->cursor, NULL);
		if (!err && f->cursor.left)
			err = enter_chunk(f);
	}
	return err ? err : hf_cursor_take(&f->cursor, f->ev, max, &f->n, NULL);
}

static void catch_stack(struct follower *f);

static int flow(void *ctx, const struct hf_event *ev, uint64_t ordinal)
{
	struct follower *f = ctx;

	if (f->catching && ev->kind == HF_EVENT_INSN)
		catch_stack(f);
	return f->calls->watch.flow(f->calls->watch.ctx, ev, ordinal);
}

static int begin_run(void *ctx, const struct hf_ev_insn *insn, uint32_t context, uint64_t ordinal)
{
	struct follower *f = ctx;

	return f->calls->watch.begin(f->calls->watch.ctx, insn, context, ordinal);
}

static int want(void *ctx, uint32_t context);

/* In a chunk: passes over events that belong to the one before, and takes the context of the first instruction. */
static int resume(struct follower *f)
{
	struct hf_event begin[HF_BEGIN_EVENTS];
	struct hf_run_context context = {0};
	size_t n;
	int err;

	do
		err = take(f, 1);
	while (!err && f->ev[0].kind != HF_EVENT_INSN);
	if (err)
		return err == HF_NOTE_END ? HF_ERR_MISMATCH : err;
	n = hf_dec_begin(f->cursor.dec, &f->ev[0], f->ordinal, begin);
	for (size_t i = 0; i < n; i++)
		if (begin[i].kind == HF_EVENT_CONTEXT)
			hf_run_context_put(&context, &begin[i]);
	err = hf_run_cutter_resume(f->cutter, f->ordinal, &context, f->all->contexts, f->all->context_count);
	if (!err)
		err = hf_calls_resume(f->calls, f->all->tree->nodes, f->all->tree->count, f->ordinal, want);
	return err;
}

/* A follower before the first instruction of a chunk; in the first chunk before all events: that needs no summary. */
static int begin(struct hf_stacks *all, uint64_t chunk, struct follower **ret_follower)
{
	struct follower *f = calloc(1, sizeof *f);
	int err = f ? hf_run_cutter_new(drop_run, NULL, &f->cutter) : HF_ERR_NOMEM;

	*ret_follower = f;
	if (!f)
		return err;
	f->all = all;
	f->cursor = all->where;
	f->watch = (struct hf_run_watch){.ctx = f, .flow = flow, .begin = begin_run};
	if (!err)
		err = hf_calls_new(&hf_call_room_default, drop_stack, f, &f->calls);
	if (!err)
		err = hf_cursor_enter(&f->cursor, chunk, NULL);
	/* Events before all instructions may fill chunks of their own. */
	if (!err && chunk && !f->cursor.chunk.ordinal)
		err = hf_cursor_enter(&f->cursor, chunk = 0, NULL);
	if (!err)
		err = enter_chunk(f);
	if (err)
		return err;
	hf_run_cutter_watch(f->cutter, &f->watch);
	f->chunk = chunk;
	f->ordinal = f->cursor.chunk.ordinal;
	return f->ordinal ? resume(f) : 0;
}

/* Goes on until the instruction with that ordinal is the next event. */
static int follow(struct follower *f, uint64_t ordinal)
{
	int err = 0;

	while (!err) {
		const size_t first = f->at;

		for (; f->at < f->n; f->at++) {
			if (f->ev[f->at].kind != HF_EVENT_INSN)
				continue;
			if (f->ordinal == ordinal)
				break;
			f->ordinal++;
		}
		if (f->at > first)
			err = hf_run_cutter_put(f->cutter, f->ev + first, f->at - first);
		if (err || f->at < f->n)
			return err;
		err = take(f, HF_CURSOR_BATCH);
	}
	return err == HF_NOTE_END ? HF_ERR_MISMATCH : err;
}

/* ---- stacks of the summary ---- */

static int make_stack(const struct hf_summary_stack *from, struct hf_call_stack *ret_stack)
{
	const uint32_t below = from->count && from->kind[0] == HF_CALL_ROOT;
	struct hf_call_stack *to = ret_stack;

	*to = (struct hf_call_stack){.begun = below,
				     .base = below ? from->nodes[0] : HF_CALL_NO_NODE,
				     .calls_beyond = from->calls_beyond,
				     .traps_beyond = from->traps_beyond,
				     .classes_beyond = from->classes_beyond};
	if (from->count == below)
		return 0;
	to->cap = from->count - below;
	to->frames = malloc(to->cap * sizeof *to->frames);
	if (!to->frames)
		return HF_ERR_NOMEM;
	for (uint32_t i = below; i < from->count; i++) {
		if (from->kind[i] == HF_CALL_FUNCTION)
			hf_call_stack_push(to, from->nodes[i], from->back[i]);
		else
			hf_call_stack_push_trap(to, from->nodes[i]);
	}
	return 0;
}

/* The first chunk where the context may have a stack. *ret_any false: there is none before that chunk. */
static int find_first(const struct hf_stacks *all, uint32_t context, const struct hf_chunk *before, uint64_t *ret_chunk,
		      bool *ret_any)
{
	const struct hf_summary_tree *tree = all->tree;
	uint64_t first = tree->facts.refused ? 0 : UINT64_MAX;
	struct hf_chunk chunk;
	int err;

	for (uint32_t i = 1; i < tree->count; i++)
		if (tree->nodes[i].context == context && tree->nodes[i].first < first)
			first = tree->nodes[i].first;
	*ret_any = first < before->ordinal;
	if (!*ret_any)
		return 0;
	err = hf_index_chunk_of(all->where.index, all->where.hart, first, &chunk);
	*ret_chunk = chunk.number;
	return err ? HF_ERR_STATE : 0;
}

/* Follows only that context, up to the first instruction of the chunk where f began. */
static int follow_context(struct follower *f, uint32_t context, uint64_t chunk, bool empty,
			  struct hf_call_stack *ret_stack)
{
	struct hf_chunk end_chunk;
	struct follower *other;
	int err = hf_index_chunk(f->all->where.index, f->all->where.hart, f->chunk, &end_chunk);

	if (err)
		return err;
	err = begin(f->all, chunk, &other);
	if (other) {
		other->alone = true;
		other->empty = empty;
		other->context = context;
	}
	if (!err)
		err = follow(other, end_chunk.ordinal);
	if (!err && context < other->calls->stack_count) {
		*ret_stack = other->calls->stacks[context];
		other->calls->stacks[context] = (struct hf_call_stack){0};
	}
	end(other);
	return err;
}

/* The stack of a context when f began, in another context. */
static int find_elsewhere(struct follower *f, uint32_t context, struct hf_call_stack *ret_stack)
{
	struct hf_stacks *all = f->all;
	struct hf_summary_stack *stack = malloc(sizeof *stack);
	struct hf_chunk chunk;
	uint64_t number = 0;
	bool any = true;
	int err = stack ? hf_summary_stack_before(all->summary, all->tree, context, f->chunk, &number, stack)
			: HF_ERR_NOMEM;
	const bool found = !err;

	free(stack);
	if (err == HF_ERR_NOT_FOUND) {
		err = hf_index_chunk(all->where.index, all->where.hart, f->chunk, &chunk);
		if (!err)
			err = find_first(all, context, &chunk, &number, &any);
	}
	return err || !any ? err : follow_context(f, context, number, !found, ret_stack);
}

static int find_here(struct follower *f, uint32_t context, struct hf_call_stack *ret_stack)
{
	struct hf_summary_stack *stack = malloc(sizeof *stack);
	int err = stack ? hf_summary_stack_at(f->all->summary, f->all->tree, f->chunk, stack) : HF_ERR_NOMEM;

	if (!err)
		err = stack->context == context ? make_stack(stack, ret_stack) : HF_ERR_STATE;
	free(stack);
	return err;
}

static int want(void *ctx, uint32_t context)
{
	struct follower *f = ctx;
	struct hf_call_stack stack = {0};
	const bool first = !f->seeded, matters = !f->alone || f->context == context;
	int err = 0;

	f->seeded = true;
	if (first && !f->empty)
		err = find_here(f, context, &stack);
	else if (matters && !f->alone)
		err = find_elsewhere(f, context, &stack);
	if (!err)
		hf_calls_set_stack(f->calls, &stack);
	return err;
}

/* ---- answers ---- */

/* A frame of a stack, or with number -1 what is below all frames. */
static struct hf_stack_frame frame_of(const struct hf_calls *calls, uint32_t node, bool trap)
{
	const struct hf_call_node *n = &calls->tree.nodes[node];

	if (node == HF_CALL_NO_NODE)
		return (struct hf_stack_frame){.function = HF_CALL_UNKNOWN,
					       .kind = trap ? HF_CALL_TRAP : HF_CALL_BEYOND};
	return (struct hf_stack_frame){.function = n->function, .kind = n->kind};
}

static void catch_stack(struct follower *f)
{
	const struct hf_call_stack *s = f->calls->stack;
	struct hf_stack *out = f->out;
	uint32_t trap = s->trap;
	uint64_t pc = f->pc;
	bool has_pc = true;

	f->catching = false;
	f->caught = true;
	out->count = 0;
	out->calls_beyond = s->calls_beyond;
	out->traps_beyond = s->traps_beyond;
	if (hf_call_stack_is_beyond(s)) {
		out->frame[out->count++] = (struct hf_stack_frame){
			.function = HF_CALL_UNKNOWN, .pc = pc, .has_pc = true, .kind = HF_CALL_BEYOND};
		has_pc = false;
	}
	for (uint32_t i = s->depth; i > 0; i--) {
		const struct hf_call_frame *from = &s->frames[i - 1];
		const bool is_trap = i == trap;
		struct hf_stack_frame *to = &out->frame[out->count++];

		*to = frame_of(f->calls, from->node, is_trap);
		to->has_pc = has_pc;
		to->pc = has_pc ? pc : 0;
		has_pc = !is_trap;
		pc = is_trap ? 0 : from->back;
		trap = is_trap ? (uint32_t)from->back : trap;
	}
	if (!s->begun)
		return;
	out->frame[out->count] = frame_of(f->calls, s->base, false);
	out->frame[out->count].has_pc = has_pc;
	out->frame[out->count++].pc = has_pc ? pc : 0;
}

/* Takes the stack at the next instruction. */
static int catch_next(struct follower *f, struct hf_stack *ret_stack)
{
	const struct hf_event *ev = &f->ev[f->at++];
	int err;

	f->catching = true;
	f->caught = false;
	f->out = ret_stack;
	f->pc = ev->insn.pc;
	f->ordinal++;
	err = hf_run_cutter_put(f->cutter, ev, 1);
	if (!err && !f->caught)
		catch_stack(f);
	f->catching = false;
	return err;
}

/* Chooses where to start: goes on with the last follower if that is not farther. */
static int find_way(struct hf_stacks *all, const struct hf_chunk *chunk, uint64_t ordinal)
{
	const uint64_t from = all->summary ? chunk->number : 0;
	int err;

	if (all->now && ordinal >= all->now->ordinal &&
	    (!all->summary || all->now->cursor.chunk.number + 1 >= chunk->number))
		return 0;
	end(all->now);
	err = begin(all, from, &all->now);
	if (err) {
		end(all->now);
		all->now = NULL;
	}
	return err;
}

int hf_stacks_at(struct hf_stacks *all, uint64_t ordinal, bool (*go_on)(void *ctx, uint64_t chunk), void *ctx,
		 struct hf_stack *ret_stack)
{
	struct hf_chunk chunk;
	int err = hf_index_chunk_of(all->where.index, all->where.hart, ordinal, &chunk);

	if (err)
		return err;
	all->go_on = go_on;
	all->ctx = ctx;
	err = find_way(all, &chunk, ordinal);
	if (!err)
		err = follow(all->now, ordinal);
	if (!err)
		err = catch_next(all->now, ret_stack);
	if (err) {
		end(all->now);
		all->now = NULL;
	}
	return err;
}

uint64_t hf_stacks_decoded(const struct hf_stacks *all)
{
	return all->decoded;
}

/* ---- opening ---- */

static int load_contexts(struct hf_stacks *all)
{
	struct hf_run_context context;
	int err;

	while (!(err = hf_summary_context(all->summary, all->where.hart, (uint32_t)all->context_count, &context))) {
		err = all->context_count < HF_RUN_CONTEXTS
			      ? hf_array_room(&all->contexts, all->context_count, sizeof *all->contexts)
			      : HF_ERR_STATE;
		if (err)
			return err;
		all->contexts[all->context_count++] = context;
	}
	return err == HF_ERR_NOT_FOUND ? 0 : err;
}

/* Whether calls exceeded the limit that all contexts share: then stacks depend on other contexts, too. */
static bool is_tangled(const struct hf_stacks *all)
{
	return all->tree->facts.deep && all->context_count > HF_CALL_FRAMES / HF_CALL_DEPTH;
}

int hf_stacks_new(const struct hf_cursor *where, struct hf_summary *summary, struct hf_stacks **ret_stacks)
{
	struct hf_stacks *all = calloc(1, sizeof *all);
	int err = 0;

	*ret_stacks = all;
	if (!all)
		return HF_ERR_NOMEM;
	all->where = (struct hf_cursor){
		.stream = where->stream, .src = where->src, .index = where->index, .hart = where->hart};
	all->summary = summary;
	if (summary)
		err = hf_summary_tree_load(summary, where->hart, &all->tree);
	if (!err && summary)
		err = load_contexts(all);
	if (!err && summary && is_tangled(all))
		all->summary = NULL;
	if (err) {
		hf_stacks_free(all);
		*ret_stacks = NULL;
	}
	return err;
}

void hf_stacks_free(struct hf_stacks *all)
{
	if (!all)
		return;
	end(all->now);
	hf_summary_tree_free(all->tree);
	free(all->contexts);
	free(all);
}
