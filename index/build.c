/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building what is missing: the decode index together with all views, or the views alone for an index that is there.
 * Every file is written under a private name and published whole.
 */
#include "codecs/setup/trial.h"
#include "index/pass_workers.h"
#include "index/spool_format.h"

#include <stdio.h>
#include <stdlib.h>

const struct hf_chunk_limits hf_chunk_limits_default = {
	.insns = 16384,
	.events = 131072,
	.bytes = UINT64_C(4) << 20,
};

/* Points that are met while the header is read; the lanes have their own way. */
static int store_point(void *ctx, const struct hf_point *point, const uint8_t *window)
{
	struct hf_builder *b = ctx;

	return hf_index_part_add_point(b->index, point, window);
}

/* Whether the view is the stream itself, byte for byte, and needs no table. One with holes is encoded anew. */
static bool is_stream(const struct hf_stream *stream, const struct hf_view_key *key, size_t harts, bool holes)
{
	return harts == 1 && !holes && key->ops == stream->codec->original && (stream->info.flags & HF_STREAM_ORIGINAL);
}

static bool is_wanted(const struct hf_stream *stream, const struct hf_view_key *key)
{
	if (key->ops == &hf_enc_records)
		return stream->codec->records;
	return !hf_enc_refusal(key->ops, &stream->info);
}

bool hf_builder_wants_records(const struct hf_builder *b)
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

void hf_builder_leave_view(struct hf_builder *b, size_t i)
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
	for (size_t i = 0; i < b->build->member_count; i++)
		hf_identity_add(&now, &b->build->members[i]);
	return hf_identity_equal(&now, &b->build->identity)
		       ? 0
		       : hf_diag_set(b->diag, HF_ERR_CHANGED, HF_SPACE_FILE, HF_NOWHERE, 0);
}

static int publish_views(struct hf_builder *b, size_t harts, bool holes)
{
	int err = 0;

	for (size_t i = 0; i < b->view_count && !err; i++) {
		struct hf_view_part *view = &b->views[i];

		if (is_stream(b->in.stream, view->key, harts, holes))
			hf_part_remove(&view->file);
		else
			err = hf_part_publish(&view->file);
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

/*
 * The directory failed, and would again: what it has stays for the next build. Where it is full this would keep it so,
 * and whoever builds next does so in memory or begins anew: unless a spool can go for it, the private files do.
 */
static void make_room(struct hf_builder *b)
{
	b->fault = *hf_fault_last();
	if (!hf_fault_is_room(&b->fault))
		return;
	b->made_room = hf_spool_give_way(b->build->dirfd);
	if (!b->made_room)
		remove_parts(b);
}

/* After an error: keeps what is worth keeping for the next build. */
static void rescue(struct hf_builder *b, int err)
{
	if (err == HF_ERR_CHANGED || is_unusable(err))
		remove_parts(b);
	else if (err == HF_ERR_INDEX_DIR)
		make_room(b);
	else if ((err == HF_ERR_CANCELLED || hf_err_class(err) == HF_CLASS_io) && (!b->index || b->index->db))
		hf_builder_commit(b);
}

/* Whether it came to its end or not. */
static void end_lanes(struct hf_builder *b, int err)
{
	hf_crew_stop(b->crew);
	if (err)
		rescue(b, err);
	hf_crew_free(b->crew);
	b->crew = NULL;
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
	return err ? err : hf_part_publish(&x->file);
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
	int err = hf_input_open(&b->in, b->build->file, b->build->setup, b->most, store_point, b, ret_fatal, b->diag);

	if (err || !*b->index->meta.codec)
		return err ? err : describe(b);
	if (made_with(&b->index->meta, &b->in))
		return 0;
	hf_input_close(&b->in);
	err = hf_index_part_reset(b->index, &b->build->identity, &b->limits);
	if (!err)
		err = hf_input_open(&b->in, b->build->file, b->build->setup, b->most, store_point, b, ret_fatal, b->diag);
	return err ? err : describe(b);
}

/* A table that outlived the index: chunks that are cut by the same limits are the same, which run_views makes sure of. */
static bool outlived(const struct hf_builder *b, const struct hf_view_key *key)
{
	struct hf_view_table *table;
	bool usable;

	if (hf_view_table_open(b->build->dirfd, &b->build->identity, key, &table))
		return false;
	usable = hf_view_table_has_limits(table, &b->limits);
	hf_view_table_close(table);
	return usable;
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

		if (is_wanted(stream, key) &&
		    !is_stream(stream, key, stream->info.flags & HF_STREAM_MANY ? 2 : 1, false) && !outlived(b, key))
			err = add_view(b, key);
	}
	return err;
}

static size_t count_harts(struct hf_builder *b)
{
	uint64_t n = 0;

	hf_db_number(b->index->db, "SELECT count(*) FROM hart WHERE id != 4294967295", &n);
	return (size_t)n;
}

/* Where something went wrong, which value of the description may be behind it: the first of its problems then. */
static int find_cause(struct hf_builder *b)
{
	struct hf_index_problem problem, cause = {.diag = {.code = HF_ERR_SETUP_LIKELY, .offset = HF_NOWHERE}};
	struct hf_trial trial = {.codec = b->in.stream->codec, .setup = b->build->setup};
	struct hf_input again;
	int err = trial.setup && trial.codec->keys ? hf_index_part_first_problem(b->index, &problem) : (int)HF_NOTE_END;

	if (err)
		return err < 0 ? err : 0;
	trial.hart = problem.hart;
	trial.offset = problem.diag.space == HF_SPACE_STREAM ? problem.diag.offset : HF_NOWHERE;
	err = hf_input_fork(&again, &b->in, NULL, NULL, b->diag);
	trial.src = again.src;
	if (!err)
		err = hf_trial_run(&trial, &cause.diag.detail);
	hf_input_close(&again);
	if (err || !cause.diag.detail)
		return err;
	return hf_index_part_set_cause(b->index, &cause);
}

static int build_open_capture(struct hf_builder *b)
{
	size_t harts = 0;
	int err = open_views(b);

	if (!err)
		err = hf_builder_walk(b);
	if (!err)
		err = find_cause(b);
	if (!err) {
		harts = count_harts(b);
		err = check_identity(b);
	}
	if (err)
		return err;
	if (!(err = finish_views(b)) && !(err = hf_index_part_finish(b->index)) &&
	    !(err = publish_views(b, harts, b->index->meta.holes)))
		err = hf_part_publish(&b->index->file);
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
		return err ? err : hf_part_publish(&b->index->file);
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
		end_lanes(b, err);
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

		if (!is_wanted(b->in.stream, key) ||
		    is_stream(b->in.stream, key, harts, hf_index_has_holes(index)) || has_table(b, key, index))
			continue;
		err = add_view(b, key);
		/* Someone may have published it while we came to the lock. */
		if (!err && has_table(b, key, index))
			hf_builder_leave_view(b, b->view_count - 1);
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
	int err = hf_input_open(&b->in, b->build->file, b->build->setup, b->most, NULL, NULL, &fatal, b->diag);

	/* Made without records: it has to be made anew. */
	if (!err && hf_builder_wants_records(b) && !has_records(index))
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
	return err ? err : publish_views(b, harts, hf_index_has_holes(index));
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
	b->pass = b->passes = b->insns = b->offset = b->committed_offset = 0;
	b->id_count = 0;
	err = replay(b, index, n);
	end_lanes(b, err);
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

/* As long as there is something to be removed for it. */
static int run_with_room(const struct hf_build *build, struct hf_diag *diag)
{
	struct hf_builder b;
	int err;

	do {
		b = (struct hf_builder){
			.build = build,
			.diag = diag,
			.most = hf_expansion_most(build->expansion, build->identity.size),
			.env = {.disasm = build->disasm, .symbols = build->symbols},
		};
		err = run(&b);
		/* Not even begun. */
		if (err == HF_ERR_INDEX_DIR && !b.fault.errnum)
			make_room(&b);
	} while (err == HF_ERR_INDEX_DIR && b.made_room);
	if (err == HF_ERR_INDEX_DIR)
		hf_fault_put_back(&b.fault);
	return err;
}

uint64_t hf_expansion_most(uint64_t expansion, uint64_t size)
{
	uint64_t most;

	if (expansion == HF_NOWHERE)
		return HF_NOWHERE;
	if (size < HF_EXPANSION_SMALL)
		size = HF_EXPANSION_SMALL;
	return __builtin_mul_overflow(expansion ? expansion : HF_EXPANSION, size, &most) ? HF_NOWHERE : most;
}

int hf_build_run(const struct hf_build *build, struct hf_diag *diag)
{
	struct hf_diag own;
	int err = 0;

	for (int tries = 0; tries < 2; tries++) {
		err = run_with_room(build, diag ? diag : &own);
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
