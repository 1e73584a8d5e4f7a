/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk over all harts of a capture, from the beginning or from where an earlier build was interrupted. The first
 * one's decoder finds the others; its pass also finds the points and the end of the file. The records come last.
 *
 * This is the order in which they are written, so that an interrupted build has all of some harts and a part of one.
 * With more than one thread, passes whose turn has not come are under way already: the records with the first hart,
 * the other harts with each other.
 */
#include "index/pass_workers.h"

#include <stdlib.h>

/* Without chunks there is nothing that the rows of a view could belong to. */
static int reset_views(struct hf_builder *b)
{
	int err = 0;

	for (size_t i = 0; i < b->view_count && !err; i++)
		if (b->views[i].has_last || b->views[i].complete)
			err = hf_view_part_reset(&b->views[i], &b->build->identity, &b->limits);
	return err;
}

static int load_ids(struct hf_builder *b)
{
	uint64_t slot = 0;
	struct hf_index_hart hart;
	size_t n = 0;
	int err;

	while (!(err = hf_index_part_hart(b->index, slot, &slot, &hart)) && slot <= HF_SLOT_MAX) {
		uint32_t *bigger = realloc(b->ids, (n + 1) * sizeof *bigger);

		if (!bigger)
			return HF_ERR_NOMEM;
		b->ids = bigger;
		b->ids[n++] = hart.id;
		slot++;
	}
	b->id_count = n;
	return err < 0 ? err : 0;
}

/*
 * Cuts a view back to where the index begins again, at chunk id. HF_NOTE_END if it does not hold what it should: it
 * is made afterwards then.
 */
static int resume_view(struct hf_builder *b, struct hf_view_part *view, uint64_t id)
{
	const uint64_t records = hf_row_id(HF_SLOT_RECORDS, 0);
	const bool is_records = hf_view_part_is_for(view, HF_HART_RECORDS);
	uint64_t last;
	int err;

	if (is_records == (id >= records))
		return hf_view_part_cut(view, id);
	if (is_records)
		return view->has_last ? hf_view_part_reset(view, &b->build->identity, &b->limits) : 0;
	/* All harts are done, and so is the view. */
	err = hf_db_number(b->index->db, "SELECT max(id) FROM chunk WHERE id < (65536 << 40)", &last);
	static_assert(HF_SLOT_RECORDS == 65536 && HF_NUMBER_BITS == 40, "the slot of the records in the statement above");
	return err || !view->has_last || view->last != last ? HF_NOTE_END : 0;
}

/* Goes back to the last chunk that all files have. */
static int resume(struct hf_builder *b, uint64_t id, struct hf_pass_start *start)
{
	int err = hf_index_part_cut(b->index, id, &start->row, &start->attempts, &start->events);

	for (size_t i = 0; i < b->view_count && !err;) {
		err = resume_view(b, &b->views[i], id);
		if (!err) {
			i++;
		} else if (err > 0 || err == HF_ERR_STATE) {
			hf_builder_leave_view(b, i);
			err = 0;
		}
	}
	return err ? err : load_ids(b);
}

static int compare_ids(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* All harts are known: slot 0 is the one that was walked, the others follow by their ids. */
static int sort_harts(struct hf_builder *b, const struct hf_index_hart *first)
{
	uint64_t slot = 1;
	int err = hf_db_run(b->index->db, "DELETE FROM hart");

	if (b->id_count)
		qsort(b->ids, b->id_count, sizeof *b->ids, compare_ids);
	if (!err && first->chunks)
		err = hf_index_part_set_hart(b->index, 0, first);
	for (size_t i = 0; i < b->id_count && !err; i++) {
		const struct hf_index_hart hart = {.id = b->ids[i]};

		if (hart.id != first->id)
			err = hf_index_part_set_hart(b->index, slot++, &hart);
	}
	return err;
}

/* What the file as such has to say, once it has been read to its end. */
static int end_of_file(struct hf_builder *b, const struct hf_lane_end *end)
{
	struct hf_index_meta *meta = &b->index->meta;
	struct hf_index_problem problem = {.fatal = false};
	int err = 0;

	meta->stream_size = end->stream_size;
	meta->damage = end->damage;
	for (size_t i = 0; !err && !(err = hf_input_note(&b->in, i, &problem.diag)); i++)
		err = hf_index_part_add_problem(b->index, HF_NOWHERE, &problem);
	if (err > 0)
		err = 0;
	if (!err && meta->damage.code) {
		problem.diag = meta->damage;
		err = hf_index_part_add_problem(b->index, HF_NOWHERE, &problem);
	}
	return err ? err : hf_index_meta_write(b->index->db, meta);
}

struct walk {
	struct hf_builder *b;
	const struct hf_pass_start *start; /* of the first pass, or NULL */
	struct hf_lane *records;           /* under way, or NULL */
};

static int begin_records(struct walk *w, const struct hf_pass_start *start)
{
	if (w->records || !hf_builder_wants_records(w->b))
		return 0;
	return hf_pass_new(w->b, HF_SLOT_RECORDS, HF_HART_RECORDS, start, HF_PASS_KEEP, &w->records);
}

/* Writes a hart, and what it was. */
static int finish(struct walk *w, uint64_t slot, struct hf_lane *lane)
{
	struct hf_builder *b = w->b;
	struct hf_lane_end end;
	int err = hf_crew_finish(b->crew, lane, &end);

	if (err)
		return err;
	b->insns += end.hart.insns;
	b->pass++;
	return end.hart.chunks ? hf_index_part_set_hart(b->index, slot, &end.hart)
			       : hf_index_part_drop_hart(b->index, slot);
}

static int walk_first(struct walk *w)
{
	struct hf_builder *b = w->b;
	const struct hf_stream_info *info = &b->in.stream->info;
	const bool harts = info->flags & HF_STREAM_HARTS;
	struct hf_lane_end end;
	struct hf_lane *lane;
	/* Before the others in the crew's list: in them least can be done at the same time. */
	int err = hf_crew_ahead(b->crew) ? begin_records(w, NULL) : 0;

	if (!err)
		err = hf_pass_new(b, 0, info->first_hart, w->start, harts ? HF_PASS_STORE : HF_PASS_LOOK, &lane);
	if (!err)
		err = hf_crew_finish(b->crew, lane, &end);
	if (err)
		return err;
	if (harts)
		err = sort_harts(b, &end.hart);
	/* Where no chunk counts them. */
	else
		b->index->meta.problems = b->index->problems;
	b->insns += end.hart.insns;
	b->pass++;
	return err ? err : end_of_file(b, &end);
}

/* The next hart from *slot on that is not done; HF_NOTE_END: none. */
static int next_hart(struct walk *w, uint64_t *slot, uint32_t *ret_id)
{
	struct hf_index_hart hart;
	int err;

	for (; !(err = hf_index_part_hart(w->b->index, *slot, slot, &hart)) && *slot <= HF_SLOT_MAX; (*slot)++) {
		if (!hart.chunks) {
			*ret_id = hart.id;
			return 0;
		}
	}
	return err < 0 ? err : (int)HF_NOTE_END;
}

/* A row of passes that have begun, to be written one after the other. */
struct ahead {
	struct {
		uint64_t slot;
		struct hf_lane *lane;
	} pass[HF_CREW_LANES];
	size_t n;
	uint64_t slot; /* the harts from here on have not begun */
	bool all;      /* there is none */
};

static int fill_ahead(struct walk *w, struct ahead *a, const struct hf_pass_start *start)
{
	/* The records are a lane too. */
	size_t max = hf_crew_ahead(w->b->crew) + 1 - (w->records != NULL);
	uint32_t id;
	int err = 0;

	while (!a->all && (!a->n || a->n < max)) {
		err = next_hart(w, &a->slot, &id);
		if (err)
			break;
		err = hf_pass_new(w->b, a->slot, id, start, HF_PASS_STORE, &a->pass[a->n].lane);
		if (err)
			return err;
		a->pass[a->n++].slot = a->slot++;
		start = NULL;
	}
	a->all = a->all || err == HF_NOTE_END;
	return err < 0 ? err : 0;
}

/* The harts from slot on that are not done; start is for the first of them. */
static int walk_others(struct walk *w, uint64_t slot, const struct hf_pass_start *start)
{
	struct ahead a = {.slot = slot};
	int err = fill_ahead(w, &a, start);

	while (!err && a.n) {
		err = finish(w, a.pass[0].slot, a.pass[0].lane);
		a.n--;
		for (size_t i = 0; i < a.n; i++)
			a.pass[i] = a.pass[i + 1];
		if (!err)
			err = fill_ahead(w, &a, NULL);
	}
	return err;
}

/* Every capture of instructions has a hart to show, be it empty. */
static int keep_one(struct walk *w)
{
	struct hf_index_hart hart;
	struct hf_lane *lane;
	uint64_t slot;
	int err;

	if (!(w->b->in.stream->info.flags & HF_STREAM_HARTS))
		return 0;
	err = hf_index_part_hart(w->b->index, 0, &slot, &hart);
	if (err < 0 || (!err && slot <= HF_SLOT_MAX))
		return err;
	err = hf_pass_new(w->b, 0, w->b->in.stream->info.first_hart, NULL, HF_PASS_KEEP, &lane);
	return err ? err : finish(w, 0, lane);
}

static int walk_records(struct walk *w, const struct hf_pass_start *start)
{
	int err = begin_records(w, start);

	return !err && w->records ? finish(w, HF_SLOT_RECORDS, w->records) : err;
}

/* From the beginning, or from the chunk in that slot that start says. */
static int walk_from(struct walk *w, uint64_t slot)
{
	int err = 0;

	if (slot == HF_SLOT_RECORDS)
		return walk_records(w, w->start);
	if (slot == 0)
		err = walk_first(w);
	else if (hf_crew_ahead(w->b->crew))
		err = begin_records(w, NULL);
	if (!err)
		err = walk_others(w, slot ? slot : 1, slot ? w->start : NULL);
	if (!err)
		err = keep_one(w);
	return err ? err : walk_records(w, NULL);
}

int hf_builder_walk(struct hf_builder *b)
{
	struct hf_pass_start *start = calloc(1, sizeof *start);
	struct walk w = {.b = b};
	uint64_t id = 0, slot = 0;
	int err = start ? hf_crew_new(b, &b->crew) : HF_ERR_NOMEM;

	b->passes = hf_builder_wants_records(b);
	if (!err)
		err = hf_index_part_last(b->index, &id);
	if (err > 0) {
		err = hf_index_part_restart(b->index);
		if (!err)
			err = reset_views(b);
	} else if (!err) {
		slot = id >> HF_NUMBER_BITS;
		w.start = start;
		err = resume(b, id, start);
		b->pass = slot < b->id_count ? slot : b->id_count;
	}
	if (!err)
		err = walk_from(&w, slot);
	free(start);
	return err;
}
