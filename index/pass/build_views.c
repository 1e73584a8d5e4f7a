/* SPDX-License-Identifier: Apache-2.0 */
/* Builds view tables for a decode index that is there. */
#include "index/pass/pass.h"
#include "index/read/decode_index.h"
#include "index/read/view_table.h"
#include "index/summary/summary.h"

static bool has_table(const struct hf_pass *pass, const struct hf_view_key *key, const struct hf_index *index)
{
	struct hf_view_table *table;
	bool fits;

	if (hf_view_table_open(pass->build->dirfd, &pass->build->identity, key, &table))
		return false;
	fits = hf_view_table_fits(table, index);
	hf_view_table_close(table);
	return fits;
}

static bool is_summary_missing(const struct hf_pass *pass, const struct hf_index *index)
{
	struct hf_summary *summary;
	bool fits;

	if (!hf_pass_wants_summary(pass) || !hf_summary_is_wanted(index))
		return false;
	if (hf_summary_open(pass->build->dirfd, &pass->build->identity, &summary))
		return true;
	fits = hf_summary_fits(summary, index);
	hf_summary_close(summary);
	return !fits;
}

static int open_missing(struct hf_pass *pass, struct hf_index *index, size_t harts)
{
	int err = hf_pass_init_views(pass);

	for (size_t i = 0; i < pass->build->view_count && !err; i++) {
		const struct hf_view_key *key = &pass->build->views[i];

		if (!hf_pass_wants_view(pass, key) ||
		    hf_pass_view_is_stream(pass, key, harts, hf_index_has_holes(index)) || has_table(pass, key, index))
			continue;
		err = hf_pass_add_view(pass, key);
		/* Another process may have published it before we had the lock. */
		if (!err && has_table(pass, key, index))
			hf_pass_leave_view(pass, pass->view_count - 1);
	}
	if (!err && is_summary_missing(pass, index))
		err = hf_pass_open_summary(pass);
	return !err && pass->summary.resumed ? hf_pass_fit_summary(pass, index) : err;
}

static int build(struct hf_pass *pass, struct hf_index *index, size_t harts)
{
	bool fatal;
	int err = hf_input_open(&pass->in, pass->build->file, pass->build->setup, pass->most, NULL, NULL, &fatal,
				pass->diag);

	/* The index was made without records: it must be made again. */
	if (!err && hf_pass_wants_records(pass) && !hf_index_records(index))
		err = HF_ERR_MISMATCH;
	if (!err)
		err = open_missing(pass, index, harts);
	if (err || (!pass->view_count && !pass->summary.store))
		return err;
	err = hf_pass_views(pass, index);
	if (!err)
		err = hf_pass_check_identity(pass);
	if (!err)
		err = hf_pass_finish_views(pass);
	if (!err)
		err = hf_pass_finish_summary(pass);
	if (!err)
		err = hf_pass_publish_summary(pass, true);
	return err ? err : hf_pass_publish_views(pass, harts, hf_index_has_holes(index));
}

int hf_pass_build_views(struct hf_pass *pass, struct hf_index *index)
{
	const struct hf_index_hart *harts;
	size_t n = hf_index_harts(index, &harts), missing = 0;
	int err;

	for (size_t i = 0; i < pass->build->view_count; i++)
		missing += !has_table(pass, &pass->build->views[i], index);
	missing += is_summary_missing(pass, index);
	if (!missing || !hf_index_codec(index))
		return 0;
	pass->limits = *hf_index_limits(index);
	pass->runs_done = pass->runs = pass->insns = pass->offset = pass->committed_offset = 0;
	pass->id_count = 0;
	err = build(pass, index, n);
	hf_pass_end(pass, err);
	hf_input_close(&pass->in);
	hf_pass_close_views(pass);
	hf_pass_close_summary(pass);
	return err;
}
