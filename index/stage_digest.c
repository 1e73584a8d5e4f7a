/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the digest of each chunk's events; of a chunk that an index has, it must be what that says. */
#include "index/digest.h"
#include "index/pass_run.h"

#include <stdlib.h>

struct digest {
	struct hf_stage stage; /* first */
	struct hf_digester digester;
	bool begun; /* the chunk at hand */
	struct hf_digest_memo memo;
};

static int end_chunk(struct digest *d, struct hf_batch *batch)
{
	const struct hf_pass_run *run = d->stage.run;
	const struct hf_digest digest = hf_digester_end(&d->digester);

	d->begun = false;
	if (run->pass->index)
		batch->chunk.digest = digest;
	else if (!hf_digest_equal(&batch->chunk.digest, &digest))
		return HF_ERR_MISMATCH;
	return HF_STAGE_DONE;
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

		hf_digester_put(&d->digester, batch->ev + at, s->at - at);
		hf_digester_put_stretch(&d->digester, &d->memo, batch->ev + s->at, s);
		at = s->at + s->events;
	}
	hf_digester_put(&d->digester, batch->ev + at, batch->n - at);
	return batch->tail == HF_TAIL_NONE ? (int)HF_STAGE_DONE : end_chunk(d, batch);
}

static void free_digest(struct hf_stage *stage)
{
	free(stage);
}

static const struct hf_stage_ops ops = {.work = work, .free = free_digest};

int hf_stage_digest_add(struct hf_pass_run *run)
{
	struct digest *d = calloc(1, sizeof *d);

	if (!d)
		return HF_ERR_NOMEM;
	d->stage.ops = &ops;
	hf_pass_run_add_stage(run, &d->stage);
	return 0;
}
