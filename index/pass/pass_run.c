/* SPDX-License-Identifier: Apache-2.0 */
#include "index/pass/pass_run.h"

#include <stdlib.h>

/* Bytes of rows that may wait to be written: more than 50,000 chunks. */
#define QUEUE_MAX ((size_t)8 << 20)

/* Queues a point of the run's source. */
static int take_point(void *ctx, const struct hf_point *point, const uint8_t *window)
{
	struct hf_pass_run *run = ctx;
	int err = 0;

	/* Only one run stores points: others find the same ones. */
	if (run->in != &run->own && run->pass->index)
		err = hf_pass_run_push(run, HF_ROW_POINT, point, sizeof *point, window, point->window_size);
	atomic_store_explicit(&run->pos, point->in_offset, memory_order_relaxed);
	atomic_store_explicit(&run->reach, point->out_offset + point->out_size, memory_order_relaxed);
	return err ? err : run->pass->pump(run->pass);
}

static int open_input(struct hf_pass_run *run, uint32_t hart, bool first)
{
	struct hf_pass *pass = run->pass;
	int err = 0;

	if (first) {
		pass->in.on_point = take_point;
		pass->in.ctx = run;
	} else {
		run->in = &run->own;
		err = hf_input_fork(&run->own, &pass->in, take_point, run, pass->diag);
	}
	return err ? err : hf_dec_new(pass->in.stream, run->in->src, hart, &run->dec);
}

/* Whether a plain single file is short. With a container or a description the size of the file tells nothing. */
static bool is_short(const struct hf_input *in)
{
	enum { SHORT = 4096 };

	return !in->setup && !in->box && in->file->size < SHORT;
}

int hf_pass_run_new(struct hf_pass *pass, uint64_t slot, uint32_t hart, bool first, struct hf_pass_run **ret_run)
{
	struct hf_pass_run *run = calloc(1, sizeof *run);
	int err = HF_ERR_NOMEM;

	*ret_run = NULL;
	if (!run)
		return err;
	run->pass = pass;
	run->slot = slot;
	run->in = &pass->in;
	run->end.hart.id = hart;
	hf_row_queue_init(&run->rows);
	hf_row_queue_init(&run->summed);
	run->batches = malloc(HF_RUN_BATCHES * sizeof *run->batches);
	for (unsigned i = 0; run->batches && i < HF_RUN_BATCHES; i++)
		run->ring[i] = &run->batches[i];
	run->stages = calloc(pass->view_count + HF_RUN_STAGES, sizeof(struct hf_stage *));
	if (run->batches && run->stages)
		err = slot == HF_SLOT_RECORDS ? 0 : hf_stretch_finder_new(is_short(&pass->in), &run->finder);
	if (!err)
		err = open_input(run, hart, first);
	if (err)
		hf_pass_run_free(run);
	else
		*ret_run = run;
	return err;
}

void hf_pass_run_free(struct hf_pass_run *run)
{
	if (!run)
		return;
	for (size_t i = 0; i < run->stage_count; i++)
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): stage_count of them are there */
		run->stages[i]->ops->free(run->stages[i]);
	free(run->stages);
	hf_dec_free(run->dec);
	if (run->in == &run->own)
		hf_input_close(&run->own);
	else if (run->pass->in.ctx == run)
		run->pass->in.on_point = NULL;
	hf_row_queue_fini(&run->rows);
	hf_row_queue_fini(&run->summed);
	hf_stretch_finder_free(run->finder);
	free(run->batches);
	free(run);
}

void hf_pass_run_add_stage(struct hf_pass_run *run, struct hf_stage *stage)
{
	stage->run = run;
	run->stages[run->stage_count++] = stage;
}

struct hf_batch *hf_pass_run_batch(struct hf_pass_run *run, unsigned i)
{
	return run->ring[(run->stages[0]->done + i) % HF_RUN_BATCHES];
}

int hf_pass_run_push(struct hf_pass_run *run, enum hf_row_kind kind, const void *a, size_t an, const void *b, size_t bn)
{
	return hf_row_queue_push(&run->rows, kind, a, an, b, bn);
}

int hf_pass_run_push_summed(struct hf_pass_run *run, const void *a, size_t an, const void *b, size_t bn)
{
	return hf_row_queue_push(&run->summed, 0, a, an, b, bn);
}

size_t hf_pass_run_waiting(struct hf_pass_run *run)
{
	return hf_row_queue_size(&run->rows) + hf_row_queue_size(&run->summed);
}

/* Two: the batch that is filled, and the one that shows whether anything follows it. */
static bool can_decode(struct hf_pass_run *run)
{
	return !run->ended && run->stages[0]->done - run->joined + 2 <= HF_RUN_BATCHES &&
	       hf_pass_run_waiting(run) < QUEUE_MAX;
}

struct hf_stage *hf_pass_run_ready(struct hf_pass_run *run, unsigned thread, bool decodes)
{
	struct hf_stage *best = NULL;

	/* The later stages come first: decoding is done when nothing else is ready. */
	for (size_t i = run->stage_count; i-- > 0;) {
		struct hf_stage *stage = run->stages[i];

		if (stage->running || !(i ? stage->done < run->stages[0]->done : decodes && can_decode(run)))
			continue;
		if (!best || (stage->last == thread && best->last != thread))
			best = stage;
	}
	return best;
}

int hf_pass_run_work(struct hf_pass_run *run, struct hf_stage *stage)
{
	struct hf_batch *batch = run->ring[stage->done % HF_RUN_BATCHES];
	int result = stage->ops->work(stage, batch);

	if (stage == run->stages[0] && result == HF_STAGE_DONE)
		batch->stretch_count = run->finder ? hf_stretch_find(run->finder, batch->ev, batch->n, batch->stretch) : 0;
	return result;
}

static int push_chunk(struct hf_pass_run *run, const struct hf_batch *batch)
{
	int err;

	if (batch->tail == HF_TAIL_NONE)
		return 0;
	err = hf_pass_run_push(run, HF_ROW_CHUNK, &batch->chunk,
			       offsetof(struct hf_chunk, entry) + batch->chunk.entry_size, NULL, 0);
	if (!err && batch->tail == HF_TAIL_HART)
		err = hf_pass_run_push(run, HF_ROW_END, NULL, 0, NULL, 0);
	return err;
}

/*
 * All stages have finished the batch in that place of the ring. It becomes the next one to be filled, for it is still
 * in the caches. The decoding stage has begun the present batch and, while it runs, perhaps the one behind it.
 */
static void use_next(struct hf_pass_run *run, uint64_t place)
{
	const uint64_t next = run->stages[0]->done + (run->stages[0]->running ? 2 : 1);
	struct hf_batch **to = &run->ring[next % HF_RUN_BATCHES], **from = &run->ring[place % HF_RUN_BATCHES];
	struct hf_batch *batch = *from;

	*from = *to;
	*to = batch;
}

static int join(struct hf_pass_run *run)
{
	uint64_t through = run->stages[0]->done;
	int err = 0;

	for (size_t i = 1; i < run->stage_count; i++)
		if (run->stages[i]->done < through)
			through = run->stages[i]->done;
	for (; run->joined < through && !err; run->joined++) {
		err = push_chunk(run, run->ring[run->joined % HF_RUN_BATCHES]);
		use_next(run, run->joined);
	}
	return err;
}

int hf_pass_run_worked(struct hf_pass_run *run, struct hf_stage *stage, int result)
{
	if (result < 0 || result == HF_STAGE_AGAIN)
		return result < 0 ? result : 0;
	if (result == HF_STAGE_NONE) {
		run->ended = true;
		return hf_pass_run_push(run, HF_ROW_END, NULL, 0, NULL, 0);
	}
	if (stage == run->stages[0])
		run->ended = hf_pass_run_batch(run, 0)->tail == HF_TAIL_HART;
	stage->done++;
	return join(run);
}

bool hf_pass_run_is_idle(const struct hf_pass_run *run)
{
	bool running = false;

	for (size_t i = 0; i < run->stage_count; i++)
		running = running || run->stages[i]->running;
	return !running;
}
