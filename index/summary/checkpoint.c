/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/checkpoint.h"

#include "index/summary/summary.h"
#include "index/summary/summary_tree.h"

#include <stdlib.h>

/* Section PLACE, besides rows: how the next run is entered, its context, what was written before, when the newest call was. */
enum { NEXT, ENTERED, LINKED, CALLED, LINKS, FROM, CONTEXT, SPANS, PAGES, STACK_PAGES, SINCE_CALL, PLACE_NUMBERS };

bool hf_checkpoint_is_possible(const struct hf_summary_makers *m)
{
	const struct hf_run_cutter *c = m->cutter;

	return !c->context_changed && c->context_count < HF_RUN_CONTEXTS && hf_calls_are_plain(m->calls->calls) &&
	       m->calls->calls->context == c->number && m->table->run_count;
}

/* ---- writing ---- */

static int put_place(const struct hf_summary_makers *m)
{
	const struct hf_run_cutter *c = m->cutter;
	const uint64_t place[PLACE_NUMBERS] = {[NEXT] = c->next,
					       [ENTERED] = c->entered,
					       [LINKED] = c->linked,
					       [CALLED] = c->stub.called,
					       [LINKS] = c->stub.links,
					       [FROM] = c->stub.from,
					       [CONTEXT] = c->number,
					       [SPANS] = m->spans->spans,
					       [PAGES] = m->spans->pages,
					       [STACK_PAGES] = m->calls->stack_pages,
					       [SINCE_CALL] = m->calls->calls->entered};
	struct hf_raw raw = {0};
	int err;

	for (unsigned i = 0; i < PLACE_NUMBERS; i++)
		hf_raw_number(&raw, place[i]);
	err = hf_group_write(m->groups, 0, HF_SECTION_PLACE, &raw);
	free(raw.p);
	return err;
}

/* The runs at hand, as the only span. */
static int put_runs(const struct hf_summary_makers *m, struct hf_summary_hart *hart)
{
	struct hf_span_writer *w = m->spans;
	const uint64_t spans = w->spans, pages = w->pages, runs = w->runs;
	int err;

	w->spans = w->pages = 0;
	/* They do not stay. */
	w->level = 1;
	err = hf_span_writer_put(w, m->table);
	if (!err)
		err = hf_span_writer_end(w, m->cutter, hart);
	w->spans = spans;
	w->pages = pages;
	w->runs = runs;
	w->level = 0;
	return err;
}

int hf_checkpoint_put(const struct hf_summary_makers *m, struct hf_summary_hart *hart)
{
	int err = hf_calls_settle(m->calls->calls, hart->insns);

	if (!err)
		err = put_place(m);
	if (!err)
		err = put_runs(m, hart);
	if (!err)
		err = hf_call_writer_put_all(m->calls, hart->chunks, m->cutter->context_count);
	return err ? err : hf_collector_put_keys(m->collector);
}

/* ---- reading ---- */

struct loading {
	const struct hf_summary_makers *m;
	struct hf_summary summary; /* the store, as if it had been published */
	struct hf_summary_hart hart;
	uint64_t place[PLACE_NUMBERS];
};

static int load_place(struct loading *l, struct hf_group_reader *r)
{
	static const uint64_t most[PLACE_NUMBERS] = {[NEXT] = UINT64_MAX,
						     [ENTERED] = HF_ENTERED_COUNT - 1,
						     [LINKED] = 1,
						     [CALLED] = 1,
						     [LINKS] = HF_STUB_LINKS,
						     [FROM] = UINT64_MAX,
						     [CONTEXT] = HF_RUN_CONTEXTS,
						     [SPANS] = HF_NUMBER_MAX,
						     [PAGES] = HF_NUMBER_MAX,
						     [STACK_PAGES] = HF_NUMBER_MAX,
						     [SINCE_CALL] = UINT64_MAX};
	int err = hf_group_read(r, 0, HF_SECTION_PLACE);

	for (unsigned i = 0; i < PLACE_NUMBERS && !err; i++) {
		err = hf_group_number(r, &l->place[i]);
		if (!err && l->place[i] > most[i])
			err = HF_ERR_STATE;
	}
	return err > 0 || (!err && l->place[CONTEXT] >= l->hart.contexts) ? HF_ERR_STATE : err;
}

static int load_sections(struct loading *l)
{
	struct hf_group_keys keys = {0};
	struct hf_group_reader r;
	int err = hf_group_reader_open(&l->summary, l->hart.id, &r);

	if (!err)
		err = load_place(l, &r);
	if (!err)
		err = hf_group_read_keys(&r, &keys);
	if (!err)
		hf_collector_resume(l->m->collector, l->hart.chunks, l->hart.insns, &keys);
	hf_group_keys_free(&keys);
	hf_group_reader_close(&r);
	return err;
}

static int load_cutter(struct loading *l)
{
	struct hf_run_cutter *c = l->m->cutter;
	struct hf_run_context *contexts = NULL;
	size_t n = 0;
	int err = hf_summary_contexts(&l->summary, l->hart.id, &contexts, &n);

	if (!err && n != l->hart.contexts)
		err = HF_ERR_STATE;
	if (!err)
		err = hf_run_cutter_resume(c, l->hart.insns, &contexts[l->place[CONTEXT]], contexts, n);
	free(contexts);
	c->next = l->place[NEXT];
	c->entered = (uint8_t)l->place[ENTERED];
	c->linked = l->place[LINKED];
	c->stub = (struct hf_stub){
		.called = l->place[CALLED], .links = (uint8_t)l->place[LINKS], .from = l->place[FROM]};
	return err;
}

static int take_run(void *ctx, const struct hf_summary_run *from)
{
	const struct hf_page_run run = {.run = from->run,
					.count = from->count,
					.chunks = from->chunks,
					.number = from->number,
					.first = from->first / HF_GROUP_CHUNKS,
					.last = from->end / HF_GROUP_CHUNKS - 1};

	return hf_run_table_take(ctx, &run);
}

static int load_runs(struct loading *l)
{
	struct hf_span_writer *w = l->m->spans;
	struct hf_run_table *t = l->m->table;
	struct hf_summary_span span;
	int err = hf_summary_fetch(&l->summary, &hf_table_summary_span, l->hart.slot, 0, &span);

	if (err)
		return err;
	if (l->hart.spans != 1 || span.number + span.runs != l->hart.runs || span.insns > l->hart.insns)
		return HF_ERR_STATE;
	w->spans = l->place[SPANS];
	w->pages = l->place[PAGES];
	w->runs = t->first_number = span.number;
	t->first_chunk = span.group * HF_GROUP_CHUNKS;
	t->chunk = l->hart.chunks;
	t->insns = span.insns;
	err = hf_summary_runs(&l->summary, l->hart.id, 0, UINT64_MAX, take_run, t);
	return !err && t->run_count != span.runs ? HF_ERR_STATE : err;
}

static int take_stack(void *ctx, uint64_t context, const struct hf_summary_stack *from)
{
	struct hf_calls *c = ctx;
	struct hf_call_stack stack;
	int err = hf_summary_stack_copy(from, &stack);

	if (!err)
		err = hf_calls_take_stack(c, (uint32_t)context, &stack);
	c->frames_left -= err ? 0 : stack.cap;
	return err;
}

/* The stack at hand is taken once more, in the end. */
static int load_stacks(struct loading *l, const struct hf_summary_tree *tree)
{
	struct hf_calls *c = l->m->calls->calls;
	const uint64_t at = l->place[CONTEXT];
	int err = hf_calls_resume(c, tree->nodes, tree->count, l->hart.insns, NULL);

	c->frames_left = c->room.frames;
	if (!err)
		err = hf_summary_each_stack(&l->summary, tree, 0, l->hart.contexts, take_stack, c);
	c->frames_left += err ? 0 : c->stacks[at].cap;
	if (!err)
		err = hf_summary_each_stack(&l->summary, tree, at, at + 1, take_stack, c);
	if (!err)
		err = hf_calls_settle(c, l->hart.insns);
	c->facts = tree->facts;
	c->entered = l->place[SINCE_CALL];
	c->executed = c->node;
	hf_calls_next_chunk(c);
	return err;
}

static int load_calls(struct loading *l)
{
	struct hf_summary_tree *tree;
	int err = hf_summary_tree_load(&l->summary, l->hart.id, &tree);

	if (!err)
		err = load_stacks(l, tree);
	hf_summary_tree_free(tree);
	l->m->calls->stack_pages = l->place[STACK_PAGES];
	hf_call_page_begin(&l->m->calls->page, l->hart.chunks);
	return err;
}

int hf_checkpoint_load(const struct hf_summary_makers *m, struct hf_store *store, const struct hf_summary_hart *hart)
{
	struct loading l = {.m = m, .hart = *hart};
	int err;

	l.hart.slot = HF_SLOT_CHECKPOINT;
	l.summary.file.store = store;
	l.summary.hart_count = 1;
	l.summary.harts = &l.hart;
	pthread_mutex_init(&l.summary.file.lock, NULL);
	err = load_sections(&l);
	if (!err)
		err = load_cutter(&l);
	if (!err)
		err = load_runs(&l);
	if (!err)
		err = load_calls(&l);
	pthread_mutex_destroy(&l.summary.file.lock);
	return err > 0 ? HF_ERR_STATE : err;
}
