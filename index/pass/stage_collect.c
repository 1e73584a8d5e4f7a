/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects the code that a hart executed. A commit stores it up to where this stage is, which may be behind the last
 * committed chunk; after a resume the events in between are not collected again.
 */
#include "index/pass/pass_run.h"

#include <stdlib.h>

struct collect {
	struct hf_stage stage; /* first */
	struct hf_image *image;
	uint64_t events; /* of the hart, collected so far */
	uint64_t ahead;	 /* so many of the next events are collected already */
	uint64_t serials[HF_STRETCH_PLACES]; /* of collected stretches */
};

/* A stretch that was collected once adds nothing when it comes again. */
static int put_stretches(struct collect *c, const struct hf_batch *batch)
{
	size_t at = 0;
	int err = 0;

	for (size_t i = 0; i < batch->stretch_count && !err; i++) {
		const struct hf_stretch *s = &batch->stretch[i];

		if (c->serials[s->place] != s->serial) {
			c->serials[s->place] = s->serial;
			continue;
		}
		err = hf_image_put(c->image, batch->ev + at, s->at - at);
		hf_image_pass(c->image, s->insns);
		at = s->at + s->events;
	}
	return err ? err : hf_image_put(c->image, batch->ev + at, batch->n - at);
}

static int work(struct hf_stage *stage, struct hf_batch *batch)
{
	struct collect *c = (struct collect *)stage;
	size_t known = c->ahead < batch->n ? (size_t)c->ahead : batch->n;

	c->ahead -= known;
	c->events += batch->n - known;
	if (!known)
		return put_stretches(c, batch);
	if (known < batch->n)
		return hf_image_put(c->image, batch->ev + known, batch->n - known);
	/* The hart has fewer events than were collected before. */
	return batch->tail == HF_TAIL_HART && c->ahead ? HF_ERR_STATE : HF_STAGE_DONE;
}

static int keep(struct hf_stage *stage, bool end)
{
	const struct collect *c = (const struct collect *)stage;

	if (!end && !c->events)
		return 0;
	return hf_index_part_set_image(stage->run->pass->index, stage->run->slot, c->events, c->image);
}

static void free_collect(struct hf_stage *stage)
{
	hf_image_free(((struct collect *)stage)->image);
	free(stage);
}

static const struct hf_stage_ops ops = {.work = work, .keep = keep, .free = free_collect};

static int begin(struct collect *c, const struct hf_pass_run *run, const struct hf_run_start *start)
{
	int err;

	if (!start || !(start->events || start->chunk.number))
		return hf_image_new(&c->image);
	err = hf_index_part_image(run->pass->index, run->slot, &c->events, &c->image);
	if (err)
		return err;
	/* The stored code must be of all events of the stored chunks. */
	if (c->events < start->events)
		return HF_ERR_STATE;
	c->ahead = c->events - start->events;
	return 0;
}

int hf_stage_collect_add(struct hf_pass_run *run, const struct hf_run_start *start)
{
	struct collect *c = calloc(1, sizeof *c);

	if (!c)
		return HF_ERR_NOMEM;
	c->stage.ops = &ops;
	hf_pass_run_add_stage(run, &c->stage);
	return begin(c, run, start);
}
