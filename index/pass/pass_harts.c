/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs for all harts of a capture, from the beginning or from where an earlier build was interrupted. The first run's
 * decoder finds the other harts, and also the points and the end of the file. The records come last.
 *
 * They are written in this order, so an interrupted build has all of some harts and a part of one. With several
 * threads, or a container, runs begin before their turn to be written: the records with the first hart, the other harts
 * with each other.
 */
#include "codecs/base/array.h"
#include "codecs/source/errors.h"
#include "index/pass/pass_workers.h"

/* With a container: runs ahead of the one that is written, even with one thread. */
#define PACKED_AHEAD 3u

/* If there are no chunks, views can have no rows. */
static int reset_views(struct hf_pass *pass)
{
	int err = 0;

	for (size_t i = 0; i < pass->view_count && !err; i++)
		if (pass->views[i].has_last || pass->views[i].complete)
			err = hf_view_part_reset(&pass->views[i], &pass->build->identity, &pass->limits);
	return err;
}

static int load_ids(struct hf_pass *pass)
{
	struct hf_index_hart hart = {.slot = 0};
	int err = 0;

	for (pass->id_count = 0; !(err = hf_index_part_hart(pass->index, hart.slot, &hart)) && hart.slot <= HF_SLOT_MAX;
	     hart.slot++) {
		err = hf_array_room(&pass->ids, pass->id_count, sizeof *pass->ids);
		if (err)
			return err;
		pass->ids[pass->id_count++] = hart.id;
	}
	return err < 0 ? err : 0;
}

/*
 * Cuts a view back to chunk id, where the index is resumed. HF_NOTE_END: it does not have all before; then it is made
 * afterwards.
 */
static int resume_view(struct hf_pass *pass, struct hf_view_part *view, uint64_t id)
{
	const uint64_t records = hf_row_id(HF_SLOT_RECORDS, 0);
	const bool is_records = hf_view_part_is_for(view, HF_HART_RECORDS);
	uint64_t last;
	int err;

	if (is_records == (id >= records))
		return hf_view_part_cut(view, id);
	if (is_records)
		return view->has_last ? hf_view_part_reset(view, &pass->build->identity, &pass->limits) : 0;
	/* All harts are done, so the view must be, too. */
	err = hf_index_part_last(pass->index, records - 1, &last);
	return err || !view->has_last || view->last != last ? HF_NOTE_END : 0;
}

/*
 * The chunk at or before id to which all files can be cut back: a build that was killed during a commit may have left
 * views with id in a row of several chunks.
 */
static int find_start(struct hf_pass *pass, uint64_t *id)
{
	const uint32_t hart = *id >> HF_NUMBER_BITS == HF_SLOT_RECORDS ? HF_HART_RECORDS : 0;
	uint64_t before, start;
	int err = 0;

	do {
		before = *id;
		for (size_t i = 0; i < pass->view_count && err >= 0; i++) {
			if (!hf_view_part_is_for(&pass->views[i], hart))
				continue;
			err = hf_view_part_start(&pass->views[i], *id, &start);
			if (!err)
				*id = start;
		}
	} while (err >= 0 && *id < before);
	return err < 0 && err != HF_ERR_STATE ? err : 0;
}

/* Cuts all files back to the last chunk that all have. */
static int resume(struct hf_pass *pass, uint64_t id, struct hf_run_start *start)
{
	int err = hf_index_part_cut(pass->index, id, start);

	for (size_t i = 0; i < pass->view_count && !err;) {
		err = resume_view(pass, &pass->views[i], id);
		if (!err) {
			i++;
		} else if (err > 0 || err == HF_ERR_STATE) {
			hf_pass_leave_view(pass, i);
			err = 0;
		}
	}
	return err ? err : load_ids(pass);
}

static int compare_ids(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* When all harts are known: slot 0 is that of the first run, the others follow by their ids. */
static int sort_harts(struct hf_pass *pass, const struct hf_index_hart *first)
{
	uint64_t slot = 1;
	int err = hf_index_part_drop_harts(pass->index);

	if (pass->id_count)
		qsort(pass->ids, pass->id_count, sizeof *pass->ids, compare_ids);
	if (!err && first->chunks)
		err = hf_index_part_set_hart(pass->index, 0, first);
	for (size_t i = 0; i < pass->id_count && !err; i++) {
		const struct hf_index_hart hart = {.id = pass->ids[i]};

		if (hart.id != first->id)
			err = hf_index_part_set_hart(pass->index, slot++, &hart);
	}
	return err;
}

/* A wrong checksum, or damage, behind bytes that were decoded: another pass puts a doubt before them. */
static int take_doubt(struct hf_pass *pass, const struct hf_diag *note)
{
	if (note->code != HF_ERR_BOX_DOUBT || pass->doubt.code)
		return 0;
	pass->doubt = *note;
	pass->doubted = true;
	return HF_ERR_STATE;
}

/* Problems of the whole file, after it was read to its end. */
static int end_of_file(struct hf_pass *pass, const struct hf_run_end *end)
{
	struct hf_index_meta *meta = &pass->index->meta;
	struct hf_index_problem problem = {.chunk = HF_NOWHERE, .ordinal = HF_NOWHERE};
	int err = 0;

	meta->stream_size = end->stream_size;
	meta->damage = end->damage;
	for (size_t i = 0; !err && !(err = hf_input_note(&pass->in, i, &problem.diag)); i++) {
		err = take_doubt(pass, &problem.diag);
		if (!err)
			err = hf_index_part_add_problem(pass->index, &problem);
	}
	if (err > 0)
		err = 0;
	if (!err && meta->damage.code) {
		problem.diag = meta->damage;
		err = hf_index_part_add_problem(pass->index, &problem);
	}
	return err ? err : hf_index_part_write_meta(pass->index);
}

/* How many runs may be under way. They share the work of decompressing, so several are worth it even on one thread. */
static size_t may_begin(const struct hf_pass *pass)
{
	const size_t ahead = hf_pass_workers_ahead(pass->workers);

	return 1 + (ahead < PACKED_AHEAD && pass->in.box ? PACKED_AHEAD : ahead);
}

struct harts {
	struct hf_pass *pass;
	const struct hf_run_start *start; /* of the first run, or NULL */
	struct hf_pass_run *records;	  /* under way, or NULL */
};

/* Adds the stages of a run: a new stage is added here. */
static int add_stages(struct hf_pass_run *run, const struct hf_run_start *start, enum hf_run_mode mode)
{
	const struct hf_pass *pass = run->pass;
	int err = hf_stage_decode_add(run, start, mode);

	if (mode == HF_RUN_LOOK)
		return err;
	if (!err)
		err = hf_stage_digest_add(run, start);
	if (!err && run->slot != HF_SLOT_RECORDS)
		err = hf_stage_collect_add(run, start);
	if (!err && run->slot != HF_SLOT_RECORDS && pass->summary.store)
		err = hf_stage_summary_add(run, start ? start->events : 0);
	for (size_t i = 0; i < pass->view_count && !err; i++)
		if (hf_view_part_is_for(&pass->views[i], run->end.hart.id))
			err = hf_stage_view_add(run, i, 0, start != NULL);
	return err;
}

static int begin_run(struct hf_pass *pass, uint64_t slot, uint32_t hart, const struct hf_run_start *start,
		     enum hf_run_mode mode, struct hf_pass_run **ret_run)
{
	int err = hf_pass_run_new(pass, slot, hart, slot == 0 && mode != HF_RUN_KEEP, ret_run);

	if (err)
		return err;
	err = add_stages(*ret_run, start, mode);
	if (err)
		hf_pass_run_free(*ret_run);
	return err ? err : hf_pass_workers_add(pass->workers, *ret_run);
}

static int begin_records(struct harts *h, const struct hf_run_start *start)
{
	if (h->records || !hf_pass_wants_records(h->pass))
		return 0;
	return begin_run(h->pass, HF_SLOT_RECORDS, HF_HART_RECORDS, start, HF_RUN_KEEP, &h->records);
}

/* Writes the rows of a hart's run, and its row. */
static int finish(struct harts *h, uint64_t slot, struct hf_pass_run *run)
{
	struct hf_run_end end;
	int err = hf_pass_finish_run(h->pass, run, &end);

	if (err)
		return err;
	return end.hart.chunks ? hf_index_part_set_hart(h->pass->index, slot, &end.hart)
			       : hf_index_part_drop_hart(h->pass->index, slot);
}

static int run_first(struct harts *h)
{
	struct hf_pass *pass = h->pass;
	const struct hf_stream_info *info = &pass->in.stream->info;
	const bool harts = info->flags & HF_STREAM_HARTS;
	struct hf_pass_run *run;
	struct hf_run_end end;
	/* First in the workers' list: least of it can be done in parallel. */
	int err = may_begin(pass) > 1 ? begin_records(h, NULL) : 0;

	if (!err)
		err = begin_run(pass, 0, info->first_hart, h->start, harts ? HF_RUN_STORE : HF_RUN_LOOK, &run);
	if (!err)
		err = hf_pass_finish_run(pass, run, &end);
	if (err)
		return err;
	if (harts)
		err = sort_harts(pass, &end.hart);
	/* No chunk counts these problems. */
	else
		pass->index->meta.problems = pass->index->problems;
	return err ? err : end_of_file(pass, &end);
}

/* The next unfinished hart from *slot on; HF_NOTE_END: none. */
static int next_hart(struct harts *h, uint64_t *slot, uint32_t *ret_id)
{
	struct hf_index_hart hart;
	int err;

	for (; !(err = hf_index_part_hart(h->pass->index, *slot, &hart)) && hart.slot <= HF_SLOT_MAX; (*slot)++) {
		*slot = hart.slot;
		*ret_id = hart.id;
		if (!hart.chunks)
			return 0;
	}
	return err < 0 ? err : (int)HF_NOTE_END;
}

/* Runs that have begun and are written one after the other. */
struct ahead {
	struct {
		uint64_t slot;
		struct hf_pass_run *run;
	} begun[HF_WORKERS_RUNS];
	size_t n;
	uint64_t slot; /* harts from here on have not begun */
	bool all;      /* all have begun */
};

static int fill_ahead(struct harts *h, struct ahead *a, const struct hf_run_start *start)
{
	/* The records are a run, too. */
	size_t max = may_begin(h->pass) - (h->records != NULL);
	uint32_t id;
	int err = 0;

	while (!a->all && (!a->n || a->n < max)) {
		err = next_hart(h, &a->slot, &id);
		if (err)
			break;
		err = begin_run(h->pass, a->slot, id, start, HF_RUN_STORE, &a->begun[a->n].run);
		if (err)
			return err;
		a->begun[a->n++].slot = a->slot++;
		start = NULL;
	}
	a->all = a->all || err == HF_NOTE_END;
	return err < 0 ? err : 0;
}

/* Runs the unfinished harts from slot on; start is for the first of them. */
static int run_others(struct harts *h, uint64_t slot, const struct hf_run_start *start)
{
	struct ahead a = {.slot = slot};
	int err = fill_ahead(h, &a, start);

	while (!err && a.n) {
		err = finish(h, a.begun[0].slot, a.begun[0].run);
		a.n--;
		for (size_t i = 0; i < a.n; i++)
			a.begun[i] = a.begun[i + 1];
		if (!err)
			err = fill_ahead(h, &a, NULL);
	}
	return err;
}

/* A capture of instructions always has a hart, perhaps an empty one. */
static int keep_one(struct harts *h)
{
	struct hf_index_hart hart;
	struct hf_pass_run *run;
	int err;

	if (!(h->pass->in.stream->info.flags & HF_STREAM_HARTS))
		return 0;
	err = hf_index_part_hart(h->pass->index, 0, &hart);
	if (err < 0 || (!err && hart.slot <= HF_SLOT_MAX))
		return err;
	err = begin_run(h->pass, 0, h->pass->in.stream->info.first_hart, NULL, HF_RUN_KEEP, &run);
	return err ? err : finish(h, 0, run);
}

static int run_records(struct harts *h, const struct hf_run_start *start)
{
	int err = begin_records(h, start);

	return !err && h->records ? finish(h, HF_SLOT_RECORDS, h->records) : err;
}

/* Runs all harts, from the beginning or from start in that slot. */
static int run_from(struct harts *h, uint64_t slot)
{
	int err = 0;

	if (slot == HF_SLOT_RECORDS)
		return run_records(h, h->start);
	if (slot == 0)
		err = run_first(h);
	else if (may_begin(h->pass) > 1)
		err = begin_records(h, NULL);
	if (!err)
		err = run_others(h, slot ? slot : 1, slot ? h->start : NULL);
	if (!err)
		err = keep_one(h);
	return err ? err : run_records(h, NULL);
}

int hf_pass_harts(struct hf_pass *pass)
{
	struct hf_run_start *start = calloc(1, sizeof *start);
	struct harts h = {.pass = pass};
	uint64_t id = 0, slot = 0;
	int err = start ? hf_pass_begin_runs(pass) : HF_ERR_NOMEM;

	pass->runs = hf_pass_wants_records(pass);
	if (!err)
		err = hf_index_part_last(pass->index, HF_COUNT_MAX, &id);
	if (err > 0) {
		err = hf_index_part_restart(pass->index);
		if (!err)
			err = hf_pass_restart_summary(pass);
		if (!err)
			err = reset_views(pass);
	} else if (!err) {
		slot = id >> HF_NUMBER_BITS;
		h.start = start;
		err = find_start(pass, &id);
		if (!err)
			err = hf_pass_resume_summary(pass, id);
		if (!err)
			err = resume(pass, id, start);
		pass->runs_done = slot < pass->id_count ? slot : pass->id_count;
	}
	if (!err)
		err = run_from(&h, slot);
	free(start);
	return err;
}
