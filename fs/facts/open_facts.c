/* SPDX-License-Identifier: Apache-2.0 */
/* The facts of a capture that was just opened: made from its index, or compared with those that are known. */
#include "fs/facts/open_facts.h"
#include "fs/base/chunk_cache.h"
#include "fs/base/common.h"
#include "fs/base/views.h"
#include "fs/facts/capture.h"
#include "fs/facts/executable.h"
#include "fs/facts/facts.h"
#include "fs/facts/info.h"
#include "fs/facts/missing_code.h"
#include "fs/facts/opened.h"
#include "fs/facts/shared.h"
#include "fs/facts/state.h"

#include <stdio.h>
#include <stdlib.h>

static void find_refusals(struct hf_open *open, struct hf_facts *facts)
{
	const bool *wanted = open->capture->shared->views->wanted;

	for (size_t i = 0; i < HF_VIEW_COUNT; i++) {
		const struct hf_enc_ops *enc = hf_fs_view_ops(i);

		if (!enc)
			continue;
		if (!open->stream)
			facts->refusal[i] = "the capture could not be opened";
		else if (i == HF_VIEW_RECORDS)
			facts->refusal[i] = hf_index_records(open->index) ? NULL : "the format has no records as text";
		else
			facts->refusal[i] = hf_enc_refusal(enc, &open->stream->info);
		if (!facts->refusal[i] && !wanted[i])
			facts->refusal[i] = "not among the views that were asked for";
	}
}

/* The sizes of one hart's views; those without a table come from recalled. */
static int make_facts_hart(struct hf_open *open, const struct hf_facts *recalled, struct hf_facts *facts,
			   const struct hf_index_hart *info, struct hf_facts_hart *hart)
{
	const struct hf_facts_hart *known = recalled ? hf_facts_hart(recalled, info->id) : NULL;
	const bool records = info->id == HF_HART_RECORDS;
	int err = 0;

	hart->info = *info;
	hart->view = calloc(HF_VIEW_ALL, sizeof *hart->view);
	if (!hart->view)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < HF_VIEW_ALL; i++) {
		hart->view[i].owner = hf_cache_owner(open->capture->common->cache);
		hart->view[i].size = HF_NOWHERE;
		if (i >= HF_VIEW_COUNT)
			continue;
		if (facts->known.original == (int)i && !records)
			hart->view[i].size = facts->known.stream_size;
		else if (open->table[i] && records == (i == HF_VIEW_RECORDS))
			hart->view[i].size = hf_view_table_size(open->table[i], info->id);
		else if (!open->table[i] && known && hf_open_has_table(open, i) && records == (i == HF_VIEW_RECORDS))
			hart->view[i].size = known->view[i].size;
		else if (!open->table[i] && hf_open_has_table(open, i) && records == (i == HF_VIEW_RECORDS))
			err = HF_ERR_NOT_FOUND;
	}
	if (!err && !records && !facts->refusal[HF_VIEW_PROGRAM])
		err = hf_executable_measure(open, info->id, hart->view, &hart->no_program);
	/* A view directory that is to be a capture needs a program. */
	for (size_t i = 0; i < HF_ENC_COUNT; i++)
		if (hart->view[HF_VIEW_PROGRAM].size == HF_NOWHERE && hf_view_dir(i, NULL))
			hart->view[i].size = HF_NOWHERE;
	/* The caller does not count it. */
	if (err)
		free(hart->view);
	return err;
}

/* The size of all harts' views as one. */
static uint64_t merged_size(const struct hf_open *open, const struct hf_facts *recalled)
{
	const size_t view = hf_views_merged();

	if (view == HF_VIEW_COUNT || !hf_open_has_table(open, view))
		return HF_NOWHERE;
	if (open->table[view])
		return hf_view_table_merged(open->table[view]);
	return recalled ? recalled->known.merged_size : HF_NOWHERE;
}

static int make_facts_harts(struct hf_open *open, const struct hf_facts *recalled, struct hf_facts *facts)
{
	const struct hf_index_hart *harts, *records = open->stream ? hf_index_records(open->index) : NULL;
	size_t count = open->stream ? hf_index_harts(open->index, &harts) : 0;
	int err = 0;

	facts->hart = calloc(count + 1, sizeof *facts->hart);
	if (!facts->hart)
		return HF_ERR_NOMEM;
	for (size_t i = 0; open->stream && i < HF_ENC_COUNT; i++)
		if (hf_open_is_original(open, i) && !facts->refusal[i])
			facts->known.original = (int)i;
	for (size_t i = 0; i < count && !err; i++) {
		err = make_facts_hart(open, recalled, facts, &harts[i], &facts->hart[facts->hart_count]);
		facts->hart_count += !err;
	}
	facts->known.merged_size = merged_size(open, recalled);
	if (!err && records) {
		err = make_facts_hart(open, recalled, facts, records, &facts->hart[facts->hart_count]);
		facts->has_records = !err;
	}
	return err;
}

/* Whether a stream that should have instructions has none, nor anything beside them, or could not be opened. */
static bool is_void(const struct hf_open *open)
{
	const struct hf_index_hart *harts;
	const size_t count = open->stream ? hf_index_harts(open->index, &harts) : 0;

	for (size_t i = 0; i < count; i++)
		if (harts[i].insns || harts[i].attempts || harts[i].told.texts || harts[i].told.samples || harts[i].told.markers)
			return false;
	return !open->stream || (open->stream->info.flags & HF_STREAM_HARTS);
}

/* Nothing could be decoded: takes the problem that says why. */
static int describe_void(struct hf_open *open, struct hf_facts *facts)
{
	struct hf_index_problem problem;
	char text[HF_FAILURE_SIZE];

	if (!is_void(open) || !facts->known.problems || hf_index_problem_at(open->index, 0, &problem))
		return 0;
	facts->known.undecoded = problem.diag;
	if (!hf_info_cause(open, &problem, text, sizeof text) && !hf_missing_code_first(open, text, sizeof text))
		return 0;
	facts->complaint = strdup(text);
	return facts->complaint ? 0 : HF_ERR_NOMEM;
}

static int describe(struct hf_open *open, struct hf_facts *facts)
{
	const struct hf_stream_info *info = open->stream ? &open->stream->info : NULL;

	facts->known.problems = hf_index_problem_count(open->index);
	if (info) {
		snprintf(facts->known.version, sizeof facts->known.version, "%s", info->version ? info->version : "");
		facts->known.arch = (uint8_t)info->arch;
		if (info->flags & HF_STREAM_HARTS) {
			facts->known.isa = (uint8_t)info->isa;
			facts->known.xlen = (uint16_t)info->xlen;
		}
	}
	return describe_void(open, facts);
}

static uint64_t index_size(const struct hf_open *open)
{
	uint64_t size = hf_index_file_size(open->index);

	for (size_t i = 0; i < HF_VIEW_COUNT; i++)
		if (open->table[i])
			size += hf_view_table_file_size(open->table[i]);
	return size;
}

static bool hart_fits(const struct hf_open *open, const struct hf_index_hart *info)
{
	const struct hf_facts_hart *hart = hf_facts_hart(open->facts, info->id);

	if (!hart || !hf_facts_same_hart(&hart->info, info))
		return false;
	for (size_t i = 0; i < HF_VIEW_COUNT; i++)
		if (open->table[i] && (info->id == HF_HART_RECORDS) == (i == HF_VIEW_RECORDS) &&
		    hart->view[i].size != HF_NOWHERE &&
		    hart->view[i].size != hf_view_table_size(open->table[i], info->id))
			return false;
	return true;
}

/* Whether all sizes of the index, which may have been made again, are those that are known. */
static bool fits(const struct hf_open *open)
{
	const struct hf_index_hart *harts, *records = open->stream ? hf_index_records(open->index) : NULL;
	const size_t count = open->stream ? hf_index_harts(open->index, &harts) : 0;
	const struct hf_facts *facts = open->facts;

	if (facts->hart_count != count || facts->has_records != (records != NULL) ||
	    facts->known.codec != hf_index_codec(open->index) ||
	    facts->known.problems != hf_index_problem_count(open->index) ||
	    facts->known.stream_size != (facts->known.codec ? hf_index_stream_size(open->index) : HF_NOWHERE))
		return false;
	if (merged_size(open, facts) != facts->known.merged_size)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!hart_fits(open, &harts[i]))
			return false;
	return !records || hart_fits(open, records);
}

/* recalled may be NULL. */
static int make_facts(struct hf_open *open, const struct hf_facts *recalled)
{
	struct hf_facts *facts = hf_facts_new(open->capture, open->version);
	int err;

	if (!facts)
		return HF_ERR_NOMEM;
	open->facts = facts;
	facts->known.print[0] = open->trace.identity.print[0];
	facts->known.print[1] = open->trace.identity.print[1];
	hf_index_files(&open->trace.identity, facts->known.files);
	facts->known.codec = hf_index_codec(open->index);
	facts->known.stream_size = facts->known.codec ? hf_index_stream_size(open->index) : HF_NOWHERE;
	facts->refusal = calloc(HF_VIEW_COUNT, sizeof *facts->refusal);
	if (!facts->refusal)
		return HF_ERR_NOMEM;
	find_refusals(open, facts);
	facts->index_size = index_size(open);
	err = describe(open, facts);
	if (!err)
		err = make_facts_harts(open, recalled, facts);
	return err ? err : hf_info_measure(open->capture, open, facts);
}

/* Known facts stay: the cache has their owners, the kernel their sizes. */
int hf_open_take_facts(struct hf_open *open)
{
	struct hf_facts *recalled;
	int err;

	if (hf_capture_facts_now(open->capture, &open->facts))
		return open->missing ? HF_ERR_NOT_FOUND : make_facts(open, NULL);
	if (!open->facts->recalled)
		return fits(open) ? 0 : HF_ERR_MISMATCH;
	recalled = open->facts;
	open->facts = NULL;
	err = make_facts(open, recalled);
	hf_facts_unref(recalled);
	return err;
}

int hf_facts_new_failed(struct hf_capture *capture, uint64_t version, const struct hf_diag *diag,
			struct hf_facts **ret_facts)
{
	struct hf_facts *facts = hf_facts_new(capture, version);
	int err;

	*ret_facts = NULL;
	if (!facts)
		return HF_ERR_NOMEM;
	facts->failure = *diag;
	pthread_mutex_lock(&capture->lock);
	if (capture->complaint && capture->version == version)
		facts->complaint = strdup(capture->complaint);
	pthread_mutex_unlock(&capture->lock);
	err = hf_info_measure(capture, NULL, facts);
	if (err)
		hf_facts_unref(facts);
	else
		*ret_facts = facts;
	return err;
}
