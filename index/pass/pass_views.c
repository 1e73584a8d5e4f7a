/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs for view tables of a published decode index: its events are decoded again chunk by chunk, and each view begins
 * where its table ends.
 */
#include "index/pass/pass_workers.h"

#include "index/read/decode_index.h"

/* The first chunk of the hart that the view must make (its last one is made again); false: none. */
static bool first_missing(const struct hf_view_part *view, uint64_t slot, uint64_t *ret_number)
{
	uint64_t last_slot = view->last >> HF_NUMBER_BITS;

	*ret_number = 0;
	if (!hf_view_part_is_for(view, slot == HF_SLOT_RECORDS ? HF_HART_RECORDS : 0))
		return false;
	if (view->complete || (view->has_last && last_slot > slot))
		return false;
	if (view->has_last && last_slot == slot)
		*ret_number = view->last & HF_NUMBER_MAX;
	return true;
}

/* The first chunk of the hart that the summary needs; false: none. */
static bool first_to_sum(struct hf_pass *pass, uint64_t slot, uint64_t *ret_number)
{
	struct hf_summary_part *part = &pass->summary;

	*ret_number = part->has_state && part->place.slot == slot ? part->place.chunk : 0;
	return part->store && slot != HF_SLOT_RECORDS && hf_summary_part_has_hart(part, slot) != 1;
}

/* The first chunk that a view or the summary needs. */
static bool first_number(struct hf_pass *pass, uint64_t slot, uint64_t *ret_number)
{
	bool any = first_to_sum(pass, slot, ret_number);

	for (size_t i = 0; i < pass->view_count; i++) {
		uint64_t number;

		if (!first_missing(&pass->views[i], slot, &number))
			continue;
		if (!any || number < *ret_number)
			*ret_number = number;
		any = true;
	}
	return any;
}

static int add_views(struct hf_pass_run *run)
{
	struct hf_pass *pass = run->pass;
	int err = 0;

	for (size_t i = 0; i < pass->view_count && !err; i++) {
		struct hf_view_part *view = &pass->views[i];
		uint64_t first;
		bool resume;

		if (!first_missing(view, run->slot, &first))
			continue;
		resume = view->has_last && view->last == hf_row_id(run->slot, first);
		if (resume)
			err = hf_view_part_cut(view, view->last);
		if (!err)
			err = hf_stage_view_add(run, i, first, resume);
	}
	return err > 0 ? HF_ERR_STATE : err;
}

static int add_summary(struct hf_pass_run *run, struct hf_index *index, const struct hf_index_hart *hart, uint64_t number)
{
	uint64_t before;
	int err = hf_pass_events_before(index, hart->id, number, &before);

	return err ? err : hf_stage_summary_add(run, before);
}

/* Begins a run at that chunk. */
static int begin_run(struct hf_pass *pass, struct hf_index *index, const struct hf_index_hart *hart, uint64_t number,
		     struct hf_pass_run **ret_run)
{
	uint64_t first;
	int err = hf_pass_run_new(pass, hart->slot, hart->id, false, ret_run);

	if (err)
		return err;
	err = hf_stage_replay_add(*ret_run, index, hart, number);
	if (!err)
		err = hf_stage_digest_add(*ret_run, NULL);
	if (!err)
		err = add_views(*ret_run);
	if (!err && first_to_sum(pass, hart->slot, &first))
		err = add_summary(*ret_run, index, hart, number);
	if (err)
		hf_pass_run_free(*ret_run);
	return err ? err : hf_pass_workers_add(pass->workers, *ret_run);
}

/* Runs that have begun and are written one after the other. */
struct ahead {
	struct hf_pass_run *run[HF_WORKERS_RUNS];
	size_t n;
	uint64_t slot; /* harts from here on have not begun */
};

static int fill_ahead(struct hf_pass *pass, struct hf_index *index, struct ahead *a)
{
	const struct hf_index_hart *hart;
	uint64_t number;
	int err = 0;

	while (!err && a->n <= hf_pass_workers_ahead(pass->workers) && (hart = hf_index_next_slot(index, a->slot))) {
		a->slot = hart->slot + 1;
		if (!first_number(pass, hart->slot, &number))
			continue;
		err = number < hart->chunks ? begin_run(pass, index, hart, number, &a->run[a->n]) : HF_ERR_STATE;
		a->n++;
	}
	return err;
}

int hf_pass_views(struct hf_pass *pass, struct hf_index *index)
{
	struct ahead a = {.slot = 0};
	const struct hf_index_hart *hart;
	struct hf_run_end end;
	uint64_t number;
	int err = hf_pass_begin_runs(pass);

	for (uint64_t from = 0; !err && (hart = hf_index_next_slot(index, from)); from = hart->slot + 1)
		pass->runs += first_number(pass, hart->slot, &number);
	if (!err)
		err = fill_ahead(pass, index, &a);
	while (!err && a.n) {
		err = hf_pass_finish_run(pass, a.run[0], &end);
		a.n--;
		for (size_t i = 0; i < a.n; i++)
			a.run[i] = a.run[i + 1];
		if (!err)
			err = fill_ahead(pass, index, &a);
	}
	return err;
}
