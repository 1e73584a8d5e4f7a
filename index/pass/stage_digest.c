/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the digest of each chunk's events, and of all that the hart did before it. For a chunk of a published index
 * only the first is made, and must be the index's.
 */
#include "index/base/digest.h"
#include "index/pass/pass_run.h"

#include <stdlib.h>

struct digest {
	struct hf_stage stage; /* first */
	struct hf_digester digester;
	bool begun; /* the present chunk has begun */
	bool sums;  /* a new index: before is made, too */
	struct hf_prefix_digester prefix;
	struct hf_prefix_digest before; /* the present chunk */
	uint64_t events;	     /* so far, up to MEMO_FROM */
	struct hf_digest_memo *memo; /* NULL: not yet */
};

/* The memo is a quarter of a MiB of zeros: for fewer events it costs more than it saves. */
enum { MEMO_FROM = 4096 };

/* Goes on to the next chunk's before. */
static void go_on(struct digest *d, const struct hf_chunk *chunk, const struct hf_digest *digest)
{
	const struct hf_digest before = {.flow = d->before.flow};

	d->before = hf_prefix_digester_end(&d->prefix);
	d->before.flow = hf_digest_join(&before, chunk->ordinal, digest).flow;
}

static int end_chunk(struct digest *d, struct hf_batch *batch)
{
	const struct hf_pass_run *run = d->stage.run;
	const struct hf_digest digest = hf_digester_end(&d->digester);

	d->begun = false;
	if (run->pass->index) {
		batch->chunk.digest = digest;
		batch->chunk.before = d->before;
		if (d->sums)
			go_on(d, &batch->chunk, &digest);
	} else if (!hf_digest_equal(&batch->chunk.digest, &digest)) {
		return HF_ERR_MISMATCH;
	}
	return HF_STAGE_DONE;
}

static void put(struct digest *d, const struct hf_event *ev, size_t n)
{
	hf_digester_put(&d->digester, ev, n);
	if (d->sums)
		hf_prefix_digester_put_accesses(&d->prefix, ev, n);
}

static void put_stretch(struct digest *d, const struct hf_event *ev, const struct hf_stretch *stretch)
{
	if (!d->memo) {
		d->events += stretch->events;
		if (d->events >= MEMO_FROM)
			d->memo = calloc(1, sizeof *d->memo);
	}
	if (d->memo)
		hf_digester_put_stretch(&d->digester, d->memo, ev, stretch);
	else
		hf_digester_put(&d->digester, ev, stretch->events);
	if (d->sums)
		hf_prefix_digester_put_stretch(&d->prefix, ev, stretch);
}

static int work(struct hf_stage *stage, struct hf_batch *batch)
{
	struct digest *d = (struct digest *)stage;
	size_t at = 0;

	if (!d->begun)
		hf_digester_begin(&d->digester);
	d->begun = true;
	for (size_t i = 0; i < batch->stretch_count; i++) {
		const struct hf_stretch *s = &batch->stretch[i];

		/* What is known of the next one is on its way meanwhile. */
		if (d->memo && i + 1 < batch->stretch_count)
			__builtin_prefetch(&d->memo->place[s[1].place]);
		put(d, batch->ev + at, s->at - at);
		put_stretch(d, batch->ev + s->at, s);
		at = s->at + s->events;
	}
	put(d, batch->ev + at, batch->n - at);
	return batch->tail == HF_TAIL_NONE ? (int)HF_STAGE_DONE : end_chunk(d, batch);
}

static void free_digest(struct hf_stage *stage)
{
	free(((struct digest *)stage)->memo);
	free(stage);
}

static const struct hf_stage_ops ops = {.work = work, .free = free_digest};

int hf_stage_digest_add(struct hf_pass_run *run, const struct hf_run_start *start)
{
	struct digest *d = calloc(1, sizeof *d);

	if (!d)
		return HF_ERR_NOMEM;
	d->stage.ops = &ops;
	d->sums = run->pass->index && run->slot != HF_SLOT_RECORDS;
	if (d->sums)
		d->before = start && start->chunk.number ? start->chunk.before : hf_prefix_digest_none;
	hf_prefix_digester_begin(&d->prefix, &d->before, 0);
	hf_pass_run_add_stage(run, &d->stage);
	return 0;
}
