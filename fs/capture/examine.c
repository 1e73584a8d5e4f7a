/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the files of a capture's index page by page. */
#include "fs/archive/stamp.h"
#include "fs/base/common.h"
#include "fs/base/views.h"
#include "fs/capture/all.h"
#include "fs/capture/open_trace.h"
#include "fs/facts/capture.h"
#include "fs/facts/facts.h"
#include "fs/facts/opened.h"
#include "fs/facts/shared.h"
#include "fs/stream/trace.h"

#include <assert.h>

static_assert(HF_VIEW_COUNT <= 64, "struct hf_examined has a bit for each view");

/* Whether the view may have a table, as far as the catalogue tells. A view whose directory is a capture needs the
 * program for its size: without that it may have a table, though its size is unknown. */
static bool may_have_table(const struct hf_facts *facts, size_t view)
{
	const size_t harts = facts->hart_count + facts->has_records;

	if (view == HF_VIEW_PROGRAM || facts->known.original == (int)view)
		return false;
	for (size_t h = 0; h < harts; h++) {
		const struct hf_facts_view *of = facts->hart[h].view;

		if (of[view].size != HF_NOWHERE ||
		    (h < facts->hart_count && hf_view_dir(view, NULL) && of[HF_VIEW_PROGRAM].size == HF_NOWHERE))
			return true;
	}
	return false;
}

/* Whether all tables were found that there may be. found: a bit for each of key. */
static bool has_tables(const struct hf_facts *facts, const struct hf_view_key *key, size_t key_count, uint64_t found)
{
	for (size_t i = 0; i < HF_VIEW_COUNT; i++) {
		bool there = false;

		for (size_t k = 0; k < key_count; k++)
			there |= key[k].ops == hf_fs_view_ops(i) && (found >> k & 1);
		if (!there && may_have_table(facts, i))
			return false;
	}
	return true;
}

/* Saves who indexes it next from looking again. If all files of the index are there, the facts that the catalogue
 * recalled are confirmed: indexing again would give the same. */
static void note(struct hf_capture *capture, uint64_t version, uint64_t size, const struct hf_view_key *key,
		 size_t key_count, const struct hf_examined *found)
{
	const struct hf_fs_options *options = &capture->common->options;
	/* Captures in packs have no summary. */
	const bool sums = options->summary && options->summary_of_indexed && size >= options->pack_below;

	HF_LOCKED(&capture->lock);
	capture->examined = version;
	capture->absent = found->index ? 0 : version;
	if (!found->index || (sums && !found->summary))
		return;
	if (capture->version == version && capture->state == HF_CAPTURE_READY && capture->facts->recalled &&
	    has_tables(capture->facts, key, key_count, found->tables))
		capture->confirmed = version;
}

static int examine(struct hf_capture *capture, hf_examine_fn fn, void *ctx, struct hf_diag *diag)
{
	struct hf_view_key key[HF_VIEW_COUNT];
	struct hf_symbol_files files;
	struct hf_examined found;
	struct hf_trace trace;
	size_t key_count;
	struct hf_stamp stamp;
	uint64_t version;
	int err;

	pthread_mutex_lock(&capture->lock);
	stamp = capture->stamp;
	version = capture->version;
	pthread_mutex_unlock(&capture->lock);
	err = hf_capture_open_trace(capture, &stamp, &trace, diag);
	if (err)
		return err;
	err = hf_capture_open_symbol_files(capture, &trace, &stamp, &files);
	if (!err) {
		err = hf_symbol_files_place_in(&files, &capture->load_addresses, version, capture->shared->index_fd,
					       &trace.identity, NULL);
		key_count = hf_open_views(capture, &files, key);
		if (!err)
			err = hf_index_examine(capture->shared->index_fd, &trace.identity, key, key_count, HF_EXAMINE_PAGES, fn,
					       ctx, &found);
		if (!err)
			note(capture, version, trace.identity.size, key, key_count, &found);
		hf_symbol_files_close(&files);
	}
	hf_trace_close(&trace);
	return err ? hf_diag_set(diag, err, HF_SPACE_FILE, HF_NOWHERE, 0) : 0;
}

int hf_captures_examine(struct hf_captures *all, const char *path,
			void (*fn)(void *ctx, const char *name, const char *what), void *ctx, struct hf_diag *diag)
{
	struct hf_capture *capture;
	int err = hf_capture_at(all, path, &capture);

	return err ? hf_diag_set(diag, err, HF_SPACE_FILE, HF_NOWHERE, 0) : examine(capture, fn, ctx, diag);
}
