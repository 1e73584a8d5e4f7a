/* SPDX-License-Identifier: Apache-2.0 */
/* The clocks of a pass: progress and commits. */
#include "index/pass/pass_workers.h"

#include <time.h>

#define MS UINT64_C(1000000)
#define TICK (5 * MS)
/* The most work that a kill may cost. */
#define COMMIT_TIME (1000 * MS)
#define COMMIT_BYTES (UINT64_C(64) << 20)
/* Commits may take 1 / COMMIT_SHARE of the time, on any disk. */
#define COMMIT_SHARE 50

uint64_t hf_pass_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 * MS + (uint64_t)ts.tv_nsec;
}

static int tell(struct hf_pass *pass)
{
	const uint64_t size = pass->build->identity.size;
	uint64_t pos = 0, insns = 0, under_way = 0, runs = pass->runs + pass->id_count;
	struct hf_build_progress p;

	if (pass->workers)
		under_way = hf_pass_workers_sum(pass->workers, &pos, &insns);
	if (runs < pass->runs_done + under_way)
		runs = pass->runs_done + under_way;
	p = (struct hf_build_progress){
		.done = size * pass->runs_done + pos,
		.total = size * runs,
		.insns = pass->insns + insns,
	};
	return pass->build->on_progress && pass->build->on_progress(pass->build->ctx, &p) ? HF_ERR_CANCELLED : 0;
}

int hf_pass_commit(struct hf_pass *pass)
{
	uint64_t start = hf_pass_now();
	int err = 0;

	/* The index last: all views then have what it has. */
	for (size_t i = 0; i < pass->view_count && !err; i++)
		if (pass->views[i].store)
			err = hf_view_part_commit(&pass->views[i]);
	/* This is part of commit_cost, too: the more there is to store, the rarer are commits. */
	if (!err && pass->workers)
		err = hf_pass_workers_keep(pass->workers);
	if (!err && pass->summary.store)
		err = hf_summary_part_commit(&pass->summary);
	if (!err && pass->index)
		err = hf_index_part_commit(pass->index);
	pass->committed = hf_pass_now();
	pass->commit_cost = pass->committed - start;
	return err;
}

static int tick_by_count(struct hf_pass *pass, bool chunk_ended)
{
	int err;

	if (!chunk_ended || ++pass->ticks % pass->build->every)
		return 0;
	err = hf_pass_commit(pass);
	return err ? err : tell(pass);
}

int hf_pass_tick(struct hf_pass *pass, uint64_t offset, bool chunk_ended)
{
	const uint64_t now = hf_pass_now(), passed = now - pass->committed;
	int err = 0;

	pass->offset = offset;
	if (pass->build->every)
		return tick_by_count(pass, chunk_ended);
	/* A new run starts at the beginning of the stream. */
	if (offset < pass->committed_offset)
		pass->committed_offset = offset;
	if (passed >= COMMIT_SHARE * pass->commit_cost &&
	    (passed >= COMMIT_TIME || offset - pass->committed_offset >= COMMIT_BYTES)) {
		err = hf_pass_commit(pass);
		pass->committed_offset = offset;
	}
	if (err || now - pass->ticked < TICK)
		return err;
	pass->ticked = now;
	return tell(pass);
}
