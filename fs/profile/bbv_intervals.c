/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/profile/bbv_intervals.h"
#include "fs/base/modes.h"
#include "fs/facts/opened.h"
#include "index/answer/mode_marks.h"

#include <inttypes.h>
#include <stdlib.h>

/* All instructions: each begins where the one before it ends, after so many. */
static int cut_evenly(const struct hf_profile_source *source, struct hf_bbv_intervals *intervals)
{
	const uint64_t insns = source->end - source->first;

	intervals->count = insns / intervals->length;
	intervals->rest = insns % intervals->length;
	intervals->at = calloc(intervals->count + 1, sizeof *intervals->at);
	for (uint64_t i = 0; intervals->at && i <= intervals->count; i++)
		intervals->at[i] = source->first + i * intervals->length;
	return intervals->at ? 0 : HF_ERR_NOMEM;
}

static uint64_t sum_of(const struct hf_mode_marked *marked, uint64_t modes)
{
	uint64_t sum = 0;

	for (unsigned mode = 0; mode < HF_MODE_COUNT; mode++)
		sum += modes >> mode & 1 ? marked->insns[mode] : 0;
	return sum;
}

/* The marked ones begin intervals, the last of which may not be whole. */
static int take_marks(const struct hf_profile_source *source, struct hf_mode_marked *marked,
		      struct hf_bbv_intervals *intervals)
{
	const uint64_t insns = sum_of(marked, intervals->modes->sure);
	uint64_t *at;

	intervals->count = insns / intervals->length;
	intervals->rest = insns % intervals->length;
	intervals->unknown = sum_of(marked, intervals->modes->perhaps);
	if (marked->count != intervals->count + (intervals->rest > 0))
		return HF_ERR_STATE;
	at = realloc(marked->mark, (size_t)(intervals->count + 1) * sizeof *at);
	if (!at)
		return HF_ERR_NOMEM;
	marked->mark = NULL;
	if (marked->count == intervals->count)
		at[intervals->count] = source->end;
	intervals->at = at;
	return 0;
}

static int cut_by_modes(const struct hf_profile_source *source, struct hf_bbv_intervals *intervals)
{
	struct hf_cursor cursor = hf_profile_cursor(source);
	const struct hf_mode_marks marks = {.cursor = &cursor,
					    .summary = source->summary,
					    .first = source->first,
					    .end = source->end,
					    .modes = intervals->modes->sure,
					    .every = intervals->length,
					    .stop = source->stop,
					    .stop_ctx = source->ctx};
	struct hf_mode_marked marked;
	struct hf_diag diag;
	int err = hf_mode_marks_find(&marks, &marked, &diag);

	hf_cursor_fini(&cursor);
	if (!err)
		err = take_marks(source, &marked, intervals);
	hf_mode_marked_free(&marked);
	return err;
}

int hf_bbv_intervals_find(const struct hf_profiled *of, uint64_t length, struct hf_bbv_intervals *ret_intervals)
{
	*ret_intervals = (struct hf_bbv_intervals){.length = length, .modes = hf_capture_bbv_modes(of->source->open->capture)};
	return ret_intervals->modes->named ? cut_by_modes(of->source, ret_intervals)
					   : cut_evenly(of->source, ret_intervals);
}

void hf_bbv_intervals_free(struct hf_bbv_intervals *intervals)
{
	free(intervals->at);
	intervals->at = NULL;
}

/* " of mode U", " of modes U+S" */
static void put_modes(const struct hf_modes *modes, struct hf_sink *sink)
{
	const char *before = modes->named & (modes->named - 1) ? " of modes " : " of mode ";

	for (uint64_t left = modes->named; left; left &= left - 1) {
		hf_sink_printf(sink, "%s%s", before, hf_mode_name((unsigned)__builtin_ctzll(left)));
		before = "+";
	}
}

void hf_bbv_intervals_put(const struct hf_bbv_intervals *intervals, struct hf_sink *sink)
{
	hf_sink_printf(sink, "# %" PRIu64 " intervals of %" PRIu64 " instructions", intervals->count,
		       intervals->length);
	put_modes(intervals->modes, sink);
	hf_sink_printf(sink, "; the last %" PRIu64 " are no whole one\n", intervals->rest);
	if (intervals->unknown)
		hf_sink_printf(sink,
			       "# %" PRIu64
			       " instructions are left out, as the trace does not tell enough of their mode\n",
			       intervals->unknown);
}
