/*
 * Building what is missing: the decode index together with all views, or the views alone for an index that is there.
 * Every file is written under a private name and published whole.
 */
#include "index/builder.h"

#include <stdio.h>
#include <stdlib.h>

const struct hf_chunk_limits hf_chunk_limits_default = {
	.insns = 16384,
	.events = 131072,
	.bytes = UINT64_C(4) << 20,
};

static int store_point(void *ctx, const struct hf_point *point, const uint8_t *window)
{
	struct hf_builder *b = ctx;
	int err = hf_index_part_add_point(b->index, point, window);

	return err ? err : hf_builder_tick(b, point->out_offset, false);
}

/* Whether the view is the stream itself, byte for byte, and needs no table. */
static bool is_stream(const struct hf_stream *stream, const struct hf_view_key *key, size_t harts)
{
	return harts == 1 && key->ops == stream->codec->enc && (stream->info.flags & HF_STREAM_ORIGINAL);
}

static bool is_wanted(const struct hf_stream *stream, const struct hf_view_key *key)
{
	if (key->ops == &hf_enc_records)
		return stream->codec->records;
	return (stream->info.flags & HF_STREAM_HARTS) && !key->ops->refuses(&stream->info);
}

/* The records are a hart that is walked if their view is asked for. */
static bool wants_records(const struct hf_builder *b)
{
	bool asked = false;

	for (size_t i = 0; i < b->build->view_count; i++)
		asked = asked || b->build->views[i].ops == &hf_enc_records;
	return asked && b->in.stream->codec->records;
}

static void close_views(struct hf_builder *b)
{
	for (size_t i = 0; i < b->view_count; i++)
		hf_view_part_close(&b->views[i]);
	free(b->views);
	b->views = NULL;
	b->view_count = 0;
}

/* Takes views[i] out, and keeps its private file for later. */
static void leave_view(struct hf_builder *b, size_t i)
{
	hf_view_part_close(&b->views[i]);
	b->view_count--;
	for (; i < b->view_count; i++)
		b->views[i] = b->views[i + 1];
}

static int add_view(struct hf_builder *b, const struct hf_view_key *key)
{
	int err = hf_view_part_open(&b->views[b->view_count], b->build->dirfd, &b->build->identity, key, &b->limits);

	if (!err)
		b->view_count++;
	return err;
}

/* What every view, and the index last, says about itself when it is whole; then they get their names. */
static int finish_views(struct hf_builder *b)
{
	int err = 0;

	for (size_t i = 0; i < b->view_count && !err; i++)
		err = hf_view_part_finish(&b->views[i], &b->build->identity, &b->limits);
	return err;
}

/* Bytes that changed while they were read would be an index of neither version. */
static int check_identity(struct hf_builder *b)
{
	struct hf_identity now;
	int err = hf_identity_of(b->build->file, b->build->identity.mtime_ns, &now, b->diag);

	if (err)
		return err;
	return hf_identity_equal(&now, &b->build->identity)
		       ? 0
		       : hf_diag_set(b->diag, HF_ERR_CHANGED, HF_SPACE_FILE, HF_NOWHERE, 0);
}

static int publish_views(struct hf_builder *b, size_t harts)
{
	int err = 0;

	for (size_t i = 0; i < b->view_count && !err; i++) {
		struct hf_view_part *view = &b->views[i];

		if (is_stream(b->in.stream, view->key, harts))
			hf_part_remove(&view->file);
		else
			err = hf_part_publish(&view->file, HF_DB_VIEW);
	}
	return err;
}

static void remove_parts(struct hf_builder *b)
{
	for (size_t i = 0; i < b->view_count; i++)
		hf_part_remove(&b->views[i].file);
	if (b->index)
		hf_part_remove(&b->index->file);
}

/* What was stored, privately or publicly, does not fit: it can only be made anew. */
static bool is_unusable(int err)
{
	return err == HF_ERR_STATE || err == HF_ERR_MISMATCH;
}

/* After an error: keeps what is worth keeping for the next build. */
static void rescue(struct hf_builder *b, int err)
{
	if (err == HF_ERR_CHANGED || is_unusable(err))
		remove_parts(b);
	else if ((err == HF_ERR_CANCELLED || hf_err_class(err) == HF_CLASS_io) && (!b->index || b->index->db))
		hf_builder_commit(b);
}

/* ---- the decode index ---- */

/* A capture that cannot be decoded at all: its index holds the reason. */
static int store_fatal(struct hf_builder *b)
{
	const struct hf_index_problem problem = {.diag = *b->diag, .fatal = true};
	struct hf_index_part *x = b->index;
	int err = hf_index_part_reset(x, &b->build->identity, &b->limits);

	if (err)
		return err;
	snprintf(x->meta.box, sizeof x->meta.box, "%s", b->in.box ? b->in.box->name : "");
	err = hf_index_part_add_problem(x, HF_NOWHERE, &problem);
	if (!err)
		err = hf_index_part_finish(x);
	if (!err)
		err = check_identity(b);
	return err ? err : hf_part_publish(&x->file, HF_DB_INDEX);
}

static bool made_with(const struct hf_index_meta *meta, const struct hf_input *in)
{
	return strcmp(meta->box, in->box ? in->box->name : "") == 0 &&
	       strcmp(meta->codec, in->stream->codec->name) == 0 &&
	       meta->codec_version == in->stream->codec->version;
}

static int describe(struct hf_builder *b)
{
	struct hf_index_meta *meta = &b->index->meta;

	snprintf(meta->box, sizeof meta->box, "%s", b->in.box ? b->in.box->name : "");
	snprintf(meta->codec, sizeof meta->codec, "%s", b->in.stream->codec->name);
	meta->codec_version = b->in.stream->codec->version;
	return hf_index_meta_write(b->index->db, meta);
}

/* Opens the capture; an earlier build's rows that were made by another decoder go. */
static int open_capture(struct hf_builder *b, bool *ret_fatal)
{
	int err = hf_input_open(&b->in, b->build->file, store_point, b, ret_fatal, b->diag);

	if (err || !*b->index->meta.codec)
		return err ? err : describe(b);
	if (made_with(&b->index->meta, &b->in))
		return 0;
	hf_input_close(&b->in);
	err = hf_index_part_reset(b->index, &b->build->identity, &b->limits);
	if (!err)
		err = hf_input_open(&b->in, b->build->file, store_point, b, ret_fatal, b->diag);
	return err ? err : describe(b);
}

/* Views that can be made while the chunks are: the one that is the stream goes, unless harts may turn up. */
static int open_views(struct hf_builder *b)
{
	const struct hf_stream *stream = b->in.stream;
	int err = 0;

	b->views = calloc(b->build->view_count + 1, sizeof *b->views);
	if (!b->views)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < b->build->view_count && !err; i++) {
		const struct hf_view_key *key = &b->build->views[i];

		if (is_wanted(stream, key) && !is_stream(stream, key, stream->info.flags & HF_STREAM_MANY ? 2 : 1))
			err = add_view(b, key);
	}
	return err;
}

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
			leave_view(b, i);
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
static int end_of_file(struct hf_builder *b)
{
	struct hf_index_meta *meta = &b->index->meta;
	struct hf_index_problem problem = {.fatal = false};
	int err = hf_input_drain(&b->in, &meta->stream_size, &meta->damage);

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

static int walk_first(struct hf_builder *b, const struct hf_pass_start *start)
{
	const struct hf_stream_info *info = &b->in.stream->info;
	const bool harts = info->flags & HF_STREAM_HARTS;
	struct hf_index_hart hart;
	int err = hf_pass_run(b, 0, info->first_hart, start, harts ? HF_PASS_STORE : HF_PASS_LOOK, &hart);

	if (!err && harts)
		err = sort_harts(b, &hart);
	/* Where no chunk counts them. */
	if (!harts)
		b->index->meta.problems = b->index->problems;
	b->insns += hart.insns;
	b->pass++;
	return err ? err : end_of_file(b);
}

static int walk_again(struct hf_builder *b, uint64_t slot, uint32_t id, const struct hf_pass_start *start,
		      enum hf_pass_mode mode)
{
	struct hf_index_hart hart;
	int err = hf_builder_rewind(b);

	b->hart_insns = 0;
	if (!err)
		err = hf_pass_run(b, slot, id, start, mode, &hart);
	if (err)
		return err;
	b->insns += hart.insns;
	b->hart_insns = 0;
	b->pass++;
	return hart.chunks ? hf_index_part_set_hart(b->index, slot, &hart) : hf_index_part_drop_hart(b->index, slot);
}

/* The harts from slot on that are not done; start is for the first of them. */
static int walk_others(struct hf_builder *b, uint64_t slot, const struct hf_pass_start *start)
{
	struct hf_index_hart hart;
	int err;

	for (; !(err = hf_index_part_hart(b->index, slot, &slot, &hart)) && slot <= HF_SLOT_MAX; slot++) {
		if (!hart.chunks)
			err = walk_again(b, slot, hart.id, start, HF_PASS_STORE);
		if (err)
			return err;
		start = NULL;
	}
	return err < 0 ? err : 0;
}

/* Every capture of instructions has a hart to show, be it empty. */
static int keep_one(struct hf_builder *b)
{
	struct hf_index_hart hart;
	uint64_t slot;
	int err;

	if (!(b->in.stream->info.flags & HF_STREAM_HARTS))
		return 0;
	err = hf_index_part_hart(b->index, 0, &slot, &hart);
	if (err < 0 || (!err && slot <= HF_SLOT_MAX))
		return err;
	return walk_again(b, 0, b->in.stream->info.first_hart, NULL, HF_PASS_KEEP);
}

static int walk_records(struct hf_builder *b, const struct hf_pass_start *start)
{
	return wants_records(b) ? walk_again(b, HF_SLOT_RECORDS, HF_HART_RECORDS, start, HF_PASS_KEEP) : 0;
}

/* From the beginning, or from the chunk that start says. */
static int walk_from(struct hf_builder *b, uint64_t slot, const struct hf_pass_start *start)
{
	int err = 0;

	if (slot == HF_SLOT_RECORDS)
		return walk_records(b, start);
	if (slot == 0)
		err = walk_first(b, start);
	if (!err)
		err = walk_others(b, slot ? slot : 1, slot ? start : NULL);
	if (!err)
		err = keep_one(b);
	return err ? err : walk_records(b, NULL);
}

static int walk_all(struct hf_builder *b)
{
	struct hf_pass_start *start = calloc(1, sizeof *start);
	uint64_t id = 0, slot;
	int err;

	if (!start)
		return HF_ERR_NOMEM;
	b->passes = wants_records(b);
	err = hf_index_part_last(b->index, &id);
	slot = id >> HF_NUMBER_BITS;
	if (err > 0) {
		err = hf_index_part_restart(b->index);
		if (!err)
			err = reset_views(b);
		if (!err)
			err = walk_from(b, 0, NULL);
	} else if (!err) {
		err = resume(b, id, start);
		b->pass = slot < b->id_count ? slot : b->id_count;
		if (!err)
			err = walk_from(b, slot, start);
	}
	free(start);
	return err;
}

static size_t count_harts(struct hf_builder *b)
{
	uint64_t n = 0;

	hf_db_number(b->index->db, "SELECT count(*) FROM hart WHERE id != 4294967295", &n);
	return (size_t)n;
}

static int build_open_capture(struct hf_builder *b)
{
	size_t harts = 0;
	int err = open_views(b);

	if (!err)
		err = walk_all(b);
	if (!err) {
		harts = count_harts(b);
		err = check_identity(b);
	}
	if (err)
		return err;
	if (!(err = finish_views(b)) && !(err = hf_index_part_finish(b->index)) && !(err = publish_views(b, harts)))
		err = hf_part_publish(&b->index->file, HF_DB_INDEX);
	return err;
}

static bool is_published(const struct hf_builder *b)
{
	struct hf_index *index;
	int err = hf_index_open(b->build->dirfd, &b->build->identity, &index);

	if (!err)
		hf_index_close(index);
	return err == 0;
}

/* With the index's lock held. */
static int build_index(struct hf_builder *b)
{
	bool fatal = false;
	int err;

	if (is_published(b))
		return 0;
	if (b->index->meta.complete) {
		err = hf_index_part_finish(b->index);
		return err ? err : hf_part_publish(&b->index->file, HF_DB_INDEX);
	}
	err = open_capture(b, &fatal);
	if (err && fatal) {
		hf_input_close(&b->in);
		return store_fatal(b);
	}
	return err ? err : build_open_capture(b);
}

static int run_index(struct hf_builder *b)
{
	struct hf_index_part *x = malloc(sizeof *x);
	int err;

	if (!x)
		return HF_ERR_NOMEM;
	err = hf_index_part_open(x, b->build->dirfd, &b->build->identity, &b->limits);
	if (!err) {
		b->index = x;
		err = build_index(b);
		if (err)
			rescue(b, err);
		hf_input_close(&b->in);
		close_views(b);
		hf_index_part_close(x);
		b->index = NULL;
	}
	free(x);
	return err;
}

/* ---- views of an index that is there ---- */

static bool has_table(const struct hf_builder *b, const struct hf_view_key *key, const struct hf_index *index)
{
	struct hf_view_table *table;
	bool fits;

	if (hf_view_table_open(b->build->dirfd, &b->build->identity, key, &table))
		return false;
	fits = hf_view_table_fits(table, index);
	hf_view_table_close(table);
	return fits;
}

static int open_missing(struct hf_builder *b, const struct hf_index *index, size_t harts)
{
	int err = 0;

	b->views = calloc(b->build->view_count + 1, sizeof *b->views);
	if (!b->views)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < b->build->view_count && !err; i++) {
		const struct hf_view_key *key = &b->build->views[i];

		if (!is_wanted(b->in.stream, key) || is_stream(b->in.stream, key, harts) || has_table(b, key, index))
			continue;
		err = add_view(b, key);
		/* Someone may have published it while we came to the lock. */
		if (!err && has_table(b, key, index))
			leave_view(b, b->view_count - 1);
	}
	return err;
}

static bool has_records(const struct hf_index *index)
{
	uint64_t slot;

	return hf_index_next_slot(index, HF_SLOT_RECORDS, &slot);
}

static int replay(struct hf_builder *b, struct hf_index *index, size_t harts)
{
	bool fatal;
	int err = hf_input_open(&b->in, b->build->file, NULL, NULL, &fatal, b->diag);

	/* Made without records: it has to be made anew. */
	if (!err && wants_records(b) && !has_records(index))
		err = HF_ERR_MISMATCH;
	if (!err)
		err = open_missing(b, index, harts);
	if (err || !b->view_count)
		return err;
	err = hf_replay_run(b, index);
	if (!err)
		err = check_identity(b);
	if (!err)
		err = finish_views(b);
	return err ? err : publish_views(b, harts);
}

static int run_views(struct hf_builder *b, struct hf_index *index)
{
	const struct hf_index_hart *harts;
	size_t n = hf_index_harts(index, &harts), missing = 0;
	int err;

	for (size_t i = 0; i < b->build->view_count; i++)
		missing += !has_table(b, &b->build->views[i], index);
	if (!missing || !hf_index_codec(index))
		return 0;
	b->limits = *hf_index_limits(index);
	b->pass = b->passes = b->insns = b->hart_insns = b->committed_offset = 0;
	b->id_count = 0;
	err = replay(b, index, n);
	if (err)
		rescue(b, err);
	hf_input_close(&b->in);
	close_views(b);
	return err;
}

static void set_limits(struct hf_builder *b)
{
	b->limits = b->build->limits ? *b->build->limits : hf_chunk_limits_default;
	if (!b->limits.insns)
		b->limits.insns = hf_chunk_limits_default.insns;
	if (!b->limits.events)
		b->limits.events = hf_chunk_limits_default.events;
	if (!b->limits.bytes)
		b->limits.bytes = hf_chunk_limits_default.bytes;
}

static int run(struct hf_builder *b)
{
	const struct hf_build *build = b->build;
	struct hf_index *index = NULL;
	int err = hf_index_open(build->dirfd, &build->identity, &index);

	*b->diag = (struct hf_diag){.offset = HF_NOWHERE};
	set_limits(b);
	b->committed = b->ticked = hf_builder_now();
	if (err == HF_ERR_NOT_FOUND) {
		err = run_index(b);
		if (!err)
			err = hf_index_open(build->dirfd, &build->identity, &index);
		/* What an earlier build had ready may be no good. */
		if (err == HF_ERR_NOT_FOUND)
			err = HF_ERR_STATE;
	}
	if (!err)
		err = run_views(b, index);
	hf_index_close(index);
	free(b->ids);
	return err;
}

int hf_build_run(const struct hf_build *build, struct hf_diag *diag)
{
	struct hf_diag own;
	int err = 0;

	for (int tries = 0; tries < 2; tries++) {
		struct hf_builder b = {
			.build = build,
			.diag = diag ? diag : &own,
			.env = {.disasm = build->disasm, .symbols = build->symbols},
		};

		err = run(&b);
		if (!is_unusable(err))
			break;
		hf_index_discard(build->dirfd, &build->identity, build->views, build->view_count);
	}
	/* Made from scratch it fits, or we do not know what we are doing. */
	if (err == HF_ERR_STATE)
		err = HF_ERR_BUG;
	if (diag && diag->code != err)
		hf_diag_set(diag, err, HF_SPACE_FILE, HF_NOWHERE, 0);
	return err;
}
