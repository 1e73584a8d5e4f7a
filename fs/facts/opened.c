/* SPDX-License-Identifier: Apache-2.0 */
/* Which views a capture has tables for, and what these depend on. */
#include "fs/facts/opened.h"
#include "fs/base/common.h"
#include "fs/base/modes.h"
#include "fs/base/views.h"
#include "fs/facts/capture.h"
#include "fs/facts/facts.h"
#include "fs/facts/shared.h"
#include "fs/program/symbol_files.h"
#include "fs/stream/trace.h"
#include "index/summary/summary.h"

bool hf_open_is_original(const struct hf_open *open, size_t view)
{
	const struct hf_index_hart *harts;

	return (open->stream->info.flags & HF_STREAM_ORIGINAL) && hf_views[view] == open->stream->codec->original &&
	       hf_index_harts(open->index, &harts) == 1 && !hf_index_has_holes(open->index);
}

struct hf_view_key hf_open_view_key(const struct hf_shared *shared, const struct hf_symbol_files *files, size_t view)
{
	const struct hf_enc_ops *ops = hf_fs_view_ops(view);

	return (struct hf_view_key){
		.ops = ops,
		.params = ops && ops->flags & HF_ENC_SYMBOLS ? files->params : hf_view_params(shared->views, view),
		.options = shared->views->options[view],
	};
}

const char *hf_open_options(const struct hf_open *open, size_t view)
{
	return open->capture->shared->views->options[view];
}

const struct hf_modes *hf_capture_bbv_modes(const struct hf_capture *capture)
{
	return &capture->shared->views->bbv_modes;
}

size_t hf_open_views(struct hf_capture *capture, const struct hf_symbol_files *files, struct hf_view_key *key)
{
	const struct hf_shared *shared = capture->shared;
	const struct hf_codec *codec = capture->codec;
	size_t n = 0;

	for (size_t i = 0; i < HF_VIEW_COUNT; i++)
		if (shared->views->wanted[i] && i != HF_VIEW_PROGRAM && (i != HF_VIEW_RECORDS || (codec && codec->records)))
			key[n++] = hf_open_view_key(shared, files, i);
	return n;
}

bool hf_open_has_table(const struct hf_open *open, size_t view)
{
	const struct hf_stream *stream = open->stream;

	if (!open->capture->shared->views->wanted[view] || !stream || view == HF_VIEW_PROGRAM)
		return false;
	if (view == HF_VIEW_RECORDS)
		return hf_index_records(open->index);
	return !hf_enc_refusal(hf_fs_view_ops(view), &stream->info) && !hf_open_is_original(open, view);
}

struct hf_build hf_open_build(struct hf_capture *capture, const struct hf_trace *trace,
			      const struct hf_symbol_files *files, struct hf_view_key *views)
{
	return (struct hf_build){
		.file = trace->file,
		.setup = trace->setup,
		.identity = trace->identity,
		.members = trace->parts,
		.member_count = trace->part_count,
		.views = views,
		.view_count = hf_open_views(capture, files, views),
		.symbols = files->symbols,
		.expansion = capture->common->options.expansion,
		.summary = capture->common->options.summary,
		.all_sums = capture->common->options.all_sums,
		.exec = capture->common->exec,
	};
}

int hf_open_summary(const struct hf_open *open, struct hf_summary **ret_summary)
{
	int err = hf_summary_open(open->capture->shared->dir, &open->trace.identity, ret_summary);

	if (err || hf_summary_fits(*ret_summary, open->index))
		return err;
	hf_summary_close(*ret_summary);
	*ret_summary = NULL;
	return HF_ERR_NOT_FOUND;
}

bool hf_capture_has_summary(const struct hf_capture *capture, const struct hf_facts *facts)
{
	return hf_summary_is_there(capture->shared->dir, facts->known.files);
}
