/* SPDX-License-Identifier: Apache-2.0 */
/* The first stage of a run for a published decode index: decodes the events of its chunks again. */
#include "index/pass/pass_run.h"

#include "index/read/decode_index.h"

#include <stdlib.h>

struct replay {
	struct hf_stage stage; /* first */
	struct hf_pass_run *run;
	struct hf_index *index;
	struct hf_chunk chunk; /* the present one */
	uint64_t left;	       /* of its events */
};

/* The error for one of a decoder that had none when the index was made. */
static int decode_error(struct replay *r, int err)
{
	if (err > 0 || hf_input_is_verdict(err) || err == HF_ERR_STATE)
		return hf_diag_set(&r->run->diag, HF_ERR_MISMATCH, HF_SPACE_STREAM, r->chunk.stream_offset,
				   r->chunk.number);
	r->run->diag = r->run->dec->diag;
	r->run->diag.code = err;
	return err;
}

static int open_chunk(struct replay *r, uint64_t number, bool first)
{
	struct hf_chunk *c = &r->chunk;
	int err = hf_index_chunk(r->index, r->run->end.hart.id, number, c);

	r->left = c->events;
	if (err || !(first || hf_dec_is_marked(c->entry, c->entry_size)))
		return err;
	err = hf_dec_load(r->run->dec, c->entry, c->entry_size, c->discard);
	return err ? decode_error(r, err) : 0;
}

/* Fills a batch of the present chunk. */
static int work(struct hf_stage *stage, struct hf_batch *batch)
{
	struct replay *r = (struct replay *)stage;
	struct hf_pass_run *run = r->run;
	const struct hf_chunk *c = &r->chunk;

	if (r->left >= HF_BATCH_EVENTS)
		hf_batch_fetch(batch);
	for (batch->n = 0; r->left && batch->n < HF_BATCH_EVENTS;) {
		/* As when the index was made, so that a batch has the same events. */
		const size_t most = HF_DECODE_EVENTS - batch->n % HF_DECODE_EVENTS;
		size_t n;
		int err = hf_dec_next(run->dec, batch->ev + batch->n, r->left < most ? (size_t)r->left : most, &n);

		if (err)
			return decode_error(r, err);
		batch->n += n;
		r->left -= n;
	}
	batch->kinds = run->slot == HF_SLOT_RECORDS ? 0 : hf_event_kinds(batch->ev, batch->n);
	batch->chunk = *c;
	batch->tail = r->left ? HF_TAIL_NONE : c->last ? HF_TAIL_HART : HF_TAIL_CHUNK;
	atomic_store_explicit(&run->pos, run->in->box ? run->in->in_pos : c->stream_offset, memory_order_relaxed);
	atomic_store_explicit(&run->insns, c->ordinal, memory_order_relaxed);
	return !r->left && !c->last ? open_chunk(r, c->number + 1, false) : (int)HF_STAGE_DONE;
}

static void free_replay(struct hf_stage *stage)
{
	free(stage);
}

static const struct hf_stage_ops ops = {.work = work, .free = free_replay};

int hf_stage_replay_add(struct hf_pass_run *run, struct hf_index *index, const struct hf_index_hart *hart,
			uint64_t number)
{
	struct replay *r = calloc(1, sizeof *r);
	int err;

	if (!r)
		return HF_ERR_NOMEM;
	r->stage.ops = &ops;
	r->run = run;
	r->index = index;
	run->end.hart = *hart;
	hf_pass_run_add_stage(run, &r->stage);
	err = open_chunk(r, number, true);
	if (err && run->pass->diag)
		*run->pass->diag = run->diag;
	return err;
}
