/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the decode index, together with all views that can be made in the same pass. */
#include "index/pass/pass.h"

#include "codecs/ete/errors.h"
#include "codecs/etrace/errors.h"
#include "codecs/ntrace/errors.h"
#include "codecs/setup/errors.h"
#include "codecs/setup/trial.h"
#include "index/read/decode_index.h"
#include "index/read/view_table.h"
#include "index/summary/summary.h"

#include <stdio.h>
#include <stdlib.h>

/* Stores points that are met while the header is read; runs store the others. */
static int store_point(void *ctx, const struct hf_point *point, const uint8_t *window)
{
	struct hf_pass *pass = ctx;

	return hf_index_part_add_point(pass->index, point, window);
}

/* For a capture that cannot be decoded at all: its index has the reason. */
static int store_fatal(struct hf_pass *pass)
{
	const struct hf_index_problem problem = {
		.diag = *pass->diag, .chunk = HF_NOWHERE, .ordinal = HF_NOWHERE, .fatal = true};
	struct hf_index_part *x = pass->index;
	int err = hf_index_part_reset(x, &pass->build->identity, &pass->limits);

	if (err)
		return err;
	snprintf(x->meta.box, sizeof x->meta.box, "%s", pass->in.box ? pass->in.box->name : "");
	err = hf_index_part_add_problem(x, &problem);
	if (!err)
		err = hf_index_part_finish(x);
	if (!err)
		err = hf_pass_check_identity(pass);
	return err ? err : hf_part_publish(&x->file);
}

static bool made_with(const struct hf_index_meta *meta, const struct hf_input *in)
{
	return strcmp(meta->box, in->box ? in->box->name : "") == 0 &&
	       strcmp(meta->codec, in->stream->codec->name) == 0 && meta->codec_version == in->stream->codec->version;
}

static int describe(struct hf_pass *pass)
{
	struct hf_index_meta *meta = &pass->index->meta;

	snprintf(meta->box, sizeof meta->box, "%s", pass->in.box ? pass->in.box->name : "");
	snprintf(meta->codec, sizeof meta->codec, "%s", pass->in.stream->codec->name);
	meta->codec_version = pass->in.stream->codec->version;
	return hf_index_part_write_meta(pass->index);
}

/* Opens the capture. Rows of an earlier build by another decoder are dropped. */
static int open_capture(struct hf_pass *pass, bool *ret_fatal)
{
	int err = hf_input_open(&pass->in, pass->build->file, pass->build->setup, pass->most, store_point, pass,
				ret_fatal, pass->diag);

	if (err || !*pass->index->meta.codec)
		return err ? err : describe(pass);
	if (made_with(&pass->index->meta, &pass->in))
		return 0;
	hf_input_close(&pass->in);
	err = hf_index_part_reset(pass->index, &pass->build->identity, &pass->limits);
	if (!err)
		err = hf_input_open(&pass->in, pass->build->file, pass->build->setup, pass->most, store_point, pass,
				    ret_fatal, pass->diag);
	return err ? err : describe(pass);
}

/* Whether a table outlived the index: same limits give the same chunks, which hf_pass_build_views checks later. */
static bool outlived(const struct hf_pass *pass, const struct hf_view_key *key)
{
	struct hf_view_table *table;
	bool usable;

	if (hf_view_table_open(pass->build->dir, &pass->build->identity, key, &table))
		return false;
	usable = hf_view_table_has_limits(table, &pass->limits);
	hf_view_table_close(table);
	return usable;
}

/* hf_pass_build_views checks later whether it is of these chunks. */
static bool summary_outlived(const struct hf_pass *pass)
{
	struct hf_summary *summary;

	if (hf_summary_open(pass->build->dir, &pass->build->identity, &summary))
		return false;
	hf_summary_close(summary);
	return true;
}

/* Opens the views to be made in this pass. The one that is the stream of a single hart is left out: more may come. */
static int open_views(struct hf_pass *pass)
{
	int err = hf_pass_init_views(pass);

	for (size_t i = 0; i < pass->build->view_count && !err; i++) {
		const struct hf_view_key *key = &pass->build->views[i];

		if (!hf_pass_wants_view(pass, key) ||
		    hf_pass_view_is_stream(pass, key, 1, false))
			continue;
		if (outlived(pass, key))
			pass->left = true;
		else
			err = hf_pass_add_view(pass, key);
	}
	if (err || !hf_pass_wants_summary(pass))
		return err;
	if (!summary_outlived(pass))
		return hf_pass_open_summary(pass);
	pass->left = true;
	return 0;
}

/* hf_summary_is_wanted, for an index in the making. */
static bool has_chunks(struct hf_pass *pass)
{
	struct hf_index_hart hart = {0};
	bool more = false;

	for (; !hf_index_part_hart(pass->index, hart.slot, &hart) && hart.slot <= HF_SLOT_MAX; hart.slot++)
		more = more || hart.chunks > 1;
	return more;
}

static size_t count_harts(struct hf_pass *pass)
{
	struct hf_index_hart hart = {0};
	size_t n = 0;

	for (; !hf_index_part_hart(pass->index, hart.slot, &hart); hart.slot++)
		n += hart.id != HF_HART_RECORDS;
	return n;
}

static bool is_no_code(int code)
{
	return code == HF_ERR_ETRACE_NO_CODE || code == HF_ERR_NTRACE_NO_CODE || code == HF_ERR_ETE_NO_IMAGE;
}

/* Whether the error means that the trace does not fit the program, while the packets are good. */
static bool is_misfit(int code)
{
	switch (code) {
	case HF_ERR_ETRACE_PATH:
	case HF_ERR_ETRACE_WALK:
	case HF_ERR_NTRACE_COUNT:
	case HF_ERR_NTRACE_HISTORY:
	case HF_ERR_NTRACE_FLOW:
	case HF_ERR_NTRACE_WHERE:
	case HF_ERR_NTRACE_ODD:
	case HF_ERR_ETE_ELSEWHERE:
	case HF_ERR_ETE_NO_ADDRESS:
	case HF_ERR_ETE_WALK:
	case HF_ERR_ETE_NOT_TAKEN:
	case HF_ERR_ETE_SOURCE_ADDRESS:
	case HF_ERR_ETE_Q:
		return true;
	default:
		return is_no_code(code);
	}
}

/* After problems: the likely cause, a value of the description or its program, becomes the first problem. */
static int find_cause(struct hf_pass *pass)
{
	struct hf_index_problem problem, cause = {.diag = {.code = HF_ERR_SETUP_LIKELY, .offset = HF_NOWHERE},
						  .chunk = HF_NOWHERE,
						  .ordinal = HF_NOWHERE};
	struct hf_trial trial = {.codec = pass->in.stream->codec, .setup = pass->build->setup};
	struct hf_trial_result result = {.found = 0};
	struct hf_input again;
	int err = trial.setup && trial.codec->keys ? hf_index_part_first_problem(pass->index, &problem)
						   : (int)HF_NOTE_END;

	if (err)
		return err < 0 ? err : 0;
	trial.code = problem.diag.code;
	trial.hart = problem.hart;
	trial.offset = problem.diag.space == HF_SPACE_STREAM ? problem.diag.offset : HF_NOWHERE;
	err = hf_input_fork(&again, &pass->in, NULL, NULL, pass->diag);
	trial.src = again.src;
	if (!err)
		err = hf_trial_run(&trial, &result);
	hf_input_close(&again);
	cause.diag.detail = result.found;
	if (result.elsewhere && is_no_code(problem.diag.code))
		cause.diag = (struct hf_diag){
			.code = HF_ERR_SETUP_PROGRAM, .offset = HF_NOWHERE, .detail = problem.diag.detail};
	else if (result.wrong_program && is_misfit(problem.diag.code))
		cause.diag.code = HF_ERR_SETUP_WRONG_PROGRAM;
	if (err || (cause.diag.code == HF_ERR_SETUP_LIKELY && !result.found))
		return err;
	cause.hart = problem.hart;
	return hf_index_part_set_cause(pass->index, &cause);
}

static int build_open_capture(struct hf_pass *pass)
{
	size_t harts = 0;
	bool sum = false;
	int err = open_views(pass);

	if (!err)
		err = hf_pass_harts(pass);
	if (!err)
		err = find_cause(pass);
	if (!err) {
		harts = count_harts(pass);
		sum = has_chunks(pass);
		err = hf_pass_check_identity(pass);
	}
	if (err)
		return err;
	if (!(err = hf_pass_finish_views(pass)) && !(err = hf_pass_finish_summary(pass)) &&
	    !(err = hf_index_part_finish(pass->index)) &&
	    !(err = hf_pass_publish_views(pass, harts, pass->index->meta.holes)) &&
	    !(err = hf_pass_publish_summary(pass, sum)))
		err = hf_part_publish(&pass->index->file);
	/* Views were chosen for the number of harts that was assumed, and for no holes. */
	pass->whole = !err && !pass->left && !pass->index->meta.holes &&
		      (harts == 1 || !(pass->in.stream->info.flags & HF_STREAM_ORIGINAL));
	return err;
}

static bool is_published(const struct hf_pass *pass)
{
	struct hf_index *index;
	int err = hf_index_open(pass->build->dir, &pass->build->identity, &index);

	if (!err)
		hf_index_close(index);
	return err == 0;
}

/* With the index's lock held. */
static int build_index(struct hf_pass *pass)
{
	bool fatal = false;
	int err;

	if (is_published(pass))
		return 0;
	if (pass->index->meta.complete) {
		err = hf_index_part_finish(pass->index);
		return err ? err : hf_part_publish(&pass->index->file);
	}
	err = open_capture(pass, &fatal);
	if (err && fatal) {
		hf_input_close(&pass->in);
		return store_fatal(pass);
	}
	return err ? err : build_open_capture(pass);
}

int hf_pass_build_index(struct hf_pass *pass)
{
	struct hf_index_part *x = malloc(sizeof *x);
	int err;

	if (!x)
		return HF_ERR_NOMEM;
	err = hf_index_part_open(x, pass->build->dir, &pass->build->identity, &pass->limits);
	if (!err) {
		pass->index = x;
		err = build_index(pass);
		hf_pass_end(pass, err);
		hf_input_close(&pass->in);
		hf_pass_close_views(pass);
		hf_pass_close_summary(pass);
		hf_index_part_close(x);
		pass->index = NULL;
	}
	free(x);
	return err;
}
