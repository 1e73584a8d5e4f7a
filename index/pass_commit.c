/* SPDX-License-Identifier: Apache-2.0 */
/* The clocks of a build: progress, and keeping what has been done from time to time. */
#include "index/pass_workers.h"

#include <stdlib.h>
#include <time.h>

#define MS UINT64_C(1000000)
#define TICK (5 * MS)
/* What a kill may cost. */
#define COMMIT_TIME (1000 * MS)
#define COMMIT_BYTES (UINT64_C(64) << 20)
/* Keeping may take one part in so many of the time, on whatever disk. */
#define COMMIT_SHARE 20

uint64_t hf_builder_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 * MS + (uint64_t)ts.tv_nsec;
}

static int tell(struct hf_builder *b)
{
	const uint64_t size = b->build->identity.size;
	uint64_t pos, insns, passes = b->passes + b->id_count;
	const uint64_t lanes = hf_crew_sum(b->crew, &pos, &insns);
	struct hf_build_progress p;

	if (passes < b->pass + lanes)
		passes = b->pass + lanes;
	p = (struct hf_build_progress){
		.done = size * b->pass + pos,
		.total = size * passes,
		.insns = b->insns + insns,
	};
	return b->build->on_progress && b->build->on_progress(b->build->ctx, &p) ? HF_ERR_CANCELLED : 0;
}

/* Its cost is part of commit_cost: the larger the program, the more rarely. */
static int keep_code(struct hf_builder *b)
{
	struct hf_lane *lane = hf_crew_hold_code(b->crew);
	int err = 0;

	if (lane && lane->code.image && lane->code.events)
		err = hf_index_part_set_image(b->index, lane->slot, lane->code.events, lane->code.image);
	hf_crew_release_code(b->crew, lane);
	return err;
}

int hf_builder_commit(struct hf_builder *b)
{
	uint64_t start = hf_builder_now();
	int err = 0;

	/* The index last: what it holds, all views hold. */
	for (size_t i = 0; i < b->view_count && !err; i++)
		if (b->views[i].db)
			err = hf_view_part_commit(&b->views[i]);
	if (!err && b->index)
		err = keep_code(b);
	if (!err && b->index)
		err = hf_index_part_commit(b->index);
	b->committed = hf_builder_now();
	b->commit_cost = b->committed - start;
	return err;
}

static int tick_by_count(struct hf_builder *b, bool chunk_ended)
{
	int err;

	if (!chunk_ended || ++b->ticks % b->build->every)
		return 0;
	err = hf_builder_commit(b);
	return err ? err : tell(b);
}

int hf_builder_tick(struct hf_builder *b, uint64_t offset, bool chunk_ended)
{
	const uint64_t now = hf_builder_now(), passed = now - b->committed;
	int err = 0;

	b->offset = offset;
	if (b->build->every)
		return tick_by_count(b, chunk_ended);
	/* A new pass begins at the start of the stream. */
	if (offset < b->committed_offset)
		b->committed_offset = offset;
	if (passed >= COMMIT_SHARE * b->commit_cost &&
	    (passed >= COMMIT_TIME || offset - b->committed_offset >= COMMIT_BYTES)) {
		err = hf_builder_commit(b);
		b->committed_offset = offset;
	}
	if (err || now - b->ticked < TICK)
		return err;
	b->ticked = now;
	return tell(b);
}

static bool known(const struct hf_builder *b, uint32_t id)
{
	for (size_t i = 0; i < b->id_count; i++)
		if (b->ids[i] == id)
			return true;
	return false;
}

int hf_builder_add_id(struct hf_builder *b, uint32_t id)
{
	const struct hf_index_hart hart = {.id = id};
	uint32_t *bigger;

	if (known(b, id))
		return 0;
	if (b->id_count > HF_SLOT_MAX / 2)
		return HF_ERR_HARTS_LIMIT;
	bigger = realloc(b->ids, (b->id_count + 1) * sizeof *bigger);
	if (!bigger)
		return HF_ERR_NOMEM;
	b->ids = bigger;
	b->ids[b->id_count] = id;
	/* A slot for the time being: they are sorted when all are known. */
	return hf_index_part_set_hart(b->index, HF_SLOT_MAX - b->id_count++, &hart);
}
