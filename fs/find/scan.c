/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/find/scan.h"
#include "codecs/isa/disasm.h"
#include "fs/bytes/answer.h"
#include "fs/find/stacks.h"

#include <stdlib.h>

/* A chunk that is being decoded, or was and waits for its turn. */
struct slot {
	struct hf_job job;
	struct hf_find_reader reader;
	uint64_t number;
	struct hf_find_chunk chunk;
	int err;
};

struct scan {
	const struct hf_find *find;
	const struct hf_find_source *source;
	const struct hf_find_plan *plan;
	struct hf_find_state *state;
	struct hf_find_stats *stats;
	struct hf_find_stacks *stacks; /* NULL: they are not wanted */
	struct hf_exec *exec;
	struct slot *slots; /* a ring: first, and in_flight of them */
	size_t count, first, in_flight;
	size_t window;	    /* so many are decoded at a time */
	uint64_t next;	    /* chunks of the plan that were looked at */
	bool broken_promise;
	int err; /* of who counts chunks */
};

static int run_slot(struct hf_job *job, struct hf_worker *worker)
{
	struct slot *slot = (struct slot *)job;
	int err = hf_stopping(slot->reader.source->open->capture->common) ? HF_ERR_CANCELLED
									  : hf_disasm_need(&worker->env.disasm);

	if (!err)
		err = hf_find_chunk(&slot->reader, slot->number, worker, &slot->chunk);
	return slot->err = hf_answer_check(slot->reader.source->open, err);
}

static void submit(struct scan *s, uint64_t number)
{
	struct slot *slot = &s->slots[(s->first + s->in_flight++) % s->count];

	slot->job = (struct hf_job){.fn = run_slot, .work = HF_WORK_DECODE};
	slot->reader.source = s->source;
	slot->number = number;
	slot->chunk = (struct hf_find_chunk){0};
	slot->err = HF_ERR_CANCELLED;
	if (s->source->worker)
		run_slot(&slot->job, s->source->worker);
	else
		hf_job_submit(s->exec, &slot->job);
}

/* ---- what comes out ---- */

static bool is_inside(const struct hf_find *find, uint64_t ordinal)
{
	return !(find->has_after && ordinal <= find->after) && !(find->has_before && ordinal >= find->before);
}

/* Those that are to be given, of which some are collected: their stacks are made together. */
struct batch {
	size_t n, item[HF_FIND_STACKS_BATCH];
	uint64_t ordinal[HF_FIND_STACKS_BATCH];
};

static void give(struct scan *s, const struct hf_find_chunk *chunk, const struct batch *batch, size_t k)
{
	const size_t i = batch->item[k];
	struct hf_find_hit hit = {.hart = s->source->hart,
				  .ordinal = batch->ordinal[k],
				  .doubt = hf_index_doubt(s->source->open->index, s->source->hart, batch->ordinal[k]),
				  .lines = chunk->text ? chunk->text + chunk->line[i] : NULL,
				  .size = chunk->text ? chunk->line[i + 1] - chunk->line[i] : 0};

	if (s->stacks)
		hit.stack = hf_find_stacks_text(s->stacks, k, &hit.stack_size);
	s->state->given++;
	s->state->done |= !s->find->hit(s->find->ctx, &hit);
}

static int give_batch(struct scan *s, const struct hf_find_chunk *chunk, struct batch *batch)
{
	const bool done = s->state->done;
	int err = s->stacks ? hf_find_stacks_make(s->stacks, s->source, batch->ordinal, batch->n) : 0;

	s->state->done = false;
	for (size_t k = 0; k < batch->n && !err && !s->state->done; k++)
		give(s, chunk, batch, k);
	s->state->done |= done;
	batch->n = 0;
	return err;
}

/* Counts one of them; whether it is to be given. */
static bool count_answer(struct scan *s)
{
	struct hf_find_state *state = s->state;

	state->seen++;
	if (state->skip) {
		state->skip--;
		return false;
	}
	state->count++;
	state->done = --state->left == 0;
	return !s->find->count;
}

static int give_chunk(struct scan *s, const struct hf_find_chunk *chunk)
{
	const size_t n = chunk->items.count;
	struct batch batch = {0};
	int err = 0;

	for (size_t k = 0; k < n && !err && !s->state->done; k++) {
		const size_t i = s->find->reverse ? n - 1 - k : k;
		const uint64_t item = chunk->items.item[i];

		if (!is_inside(s->find, item & ~HF_ITEM_UNKNOWN))
			continue;
		if (item & HF_ITEM_UNKNOWN) {
			s->stats->unknown++;
		} else if (count_answer(s)) {
			batch.item[batch.n] = i;
			batch.ordinal[batch.n++] = item;
		}
		if (batch.n == HF_FIND_STACKS_BATCH)
			err = give_batch(s, chunk, &batch);
	}
	return !err && batch.n ? give_batch(s, chunk, &batch) : err;
}

static void tell_count(struct scan *s, uint64_t chunk, uint64_t n)
{
	const struct hf_find *find = s->find;

	if (find->chunks && n && !s->err)
		s->err = find->chunks->counted(find->ctx, chunk, n);
}

/* The next one in order, once it is there. */
static int take(struct scan *s)
{
	struct slot *slot = &s->slots[s->first];
	const struct hf_find_plan *plan = s->plan;
	int err;

	hf_job_join(&slot->job);
	err = slot->err;
	s->first = (s->first + 1) % s->count;
	s->in_flight--;
	s->stats->decoded += slot->chunk.decoded;
	if (!err && plan->count) {
		const uint64_t promised = plan->count[slot->number - plan->low];

		s->broken_promise |= plan->exact ? slot->chunk.items.yes != promised : slot->chunk.items.yes > promised;
	}
	if (!err && !s->broken_promise) {
		tell_count(s, slot->number, slot->chunk.items.yes);
		err = give_chunk(s, &slot->chunk);
	}
	/* That the stacks are not to be had of the summary is found here alone. */
	if (err == HF_ERR_STATE && s->stacks && s->source->summary) {
		s->broken_promise = true;
		err = 0;
	}
	hf_find_chunk_fini(&slot->chunk);
	if (s->window < s->count)
		s->window = 2 * s->window < s->count ? 2 * s->window : s->count;
	if (s->find->progress && plan->high > plan->low)
		s->find->progress(s->find->ctx, s->source->hart, (double)s->next / (double)(plan->high - plan->low));
	return err;
}

/* ---- what is looked at ---- */

/* The count of a chunk, if that is all that is needed of it now. */
static bool answers_by_list(const struct scan *s, uint64_t chunk, uint64_t *ret_count)
{
	const struct hf_find *find = s->find;
	const struct hf_find_plan *plan = s->plan;
	const bool cut = (find->has_after && chunk == plan->low) || (find->has_before && chunk == plan->high - 1);

	if (!plan->count || !plan->exact || cut)
		return false;
	*ret_count = plan->count[chunk - plan->low];
	return find->count || s->state->skip >= *ret_count;
}

void hf_find_count(struct hf_find_state *state, uint64_t count)
{
	const uint64_t skipped = count < state->skip ? count : state->skip;
	const uint64_t rest = count - skipped, taken = rest < state->left ? rest : state->left;

	state->seen += count;
	state->skip -= skipped;
	state->count += taken;
	state->left -= taken;
	state->done = !state->left;
}

/* Goes on to the next chunk that has to be decoded, and submits it; false: there is none, or one before it must be done
 * first. */
static bool advance(struct scan *s)
{
	const struct hf_find_plan *plan = s->plan;

	for (; s->next < plan->high - plan->low && !s->state->done; s->next++) {
		const uint64_t chunk = s->find->reverse ? plan->high - 1 - s->next : plan->low + s->next;
		uint64_t count;

		if (!hf_find_plan_has(plan, chunk))
			continue;
		/* How many are to be skipped is known once all before it are done. */
		if (plan->exact && plan->count && (s->find->count || s->state->skip) && s->in_flight)
			return false;
		if (answers_by_list(s, chunk, &count)) {
			tell_count(s, chunk, count);
			hf_find_count(s->state, count);
			continue;
		}
		submit(s, chunk);
		s->next++;
		return true;
	}
	return false;
}

static int run_scan(struct scan *s)
{
	int err = 0;

	while (!err && !s->err && !s->broken_promise && !s->state->done) {
		while (s->in_flight < s->window && advance(s))
			;
		if (!s->in_flight)
			break;
		err = take(s);
	}
	return err ? err : s->err;
}

/* Nobody wants what is still under way. */
static void end(struct scan *s)
{
	for (size_t i = 0; i < s->in_flight; i++)
		hf_job_cancel(&s->slots[(s->first + i) % s->count].job);
	for (size_t i = 0; i < s->in_flight; i++) {
		struct slot *slot = &s->slots[(s->first + i) % s->count];

		hf_job_join(&slot->job);
		s->stats->decoded += slot->chunk.decoded;
		hf_find_chunk_fini(&slot->chunk);
	}
	for (size_t i = 0; i < s->count; i++)
		hf_find_reader_fini(&s->slots[i].reader);
	free(s->slots);
}

int hf_find_scan(const struct hf_find *find, const struct hf_find_source *source, const struct hf_find_plan *plan,
		 struct hf_find_state *state, struct hf_find_stats *stats, bool *ret_broken_promise)
{
	struct scan scan = {.find = find, .source = source, .plan = plan, .state = state, .stats = stats};
	int err;

	scan.exec = source->open->capture->common->exec;
	scan.count = source->worker ? 1 : 2 * (size_t)hf_exec_seats(scan.exec, HF_WORK_DECODE);
	/* Whoever wants few answers is not to pay for many chunks. */
	scan.window = state->left == UINT64_MAX ? scan.count : 1;
	scan.slots = calloc(scan.count, sizeof *scan.slots);
	*ret_broken_promise = false;
	if (!scan.slots)
		return HF_ERR_NOMEM;
	err = hf_find_stacks_new(find, source, &scan.stacks);
	if (!err)
		err = run_scan(&scan);
	end(&scan);
	if (scan.stacks && scan.stacks->from)
		stats->stack_chunks += hf_stacks_decoded(scan.stacks->from);
	hf_find_stacks_free(scan.stacks);
	*ret_broken_promise = scan.broken_promise;
	return err;
}
