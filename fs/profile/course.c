/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/profile/course.h"
#include "fs/profile/profile.h"

static bool is_stopping(void *ctx)
{
	return hf_stopping(ctx);
}

static int tell_events(const struct hf_profiled *of, const struct hf_course *course)
{
	const struct hf_open *open = of->open;
	struct hf_cursor cursor = {
		.stream = open->stream, .src = open->source, .index = open->index, .hart = of->hart};
	struct hf_diag diag;
	int err = hf_course_of_events(&cursor, is_stopping, open->capture->common, course, &diag);

	hf_cursor_fini(&cursor);
	return err;
}

int hf_profile_course(const struct hf_profiled *of, const struct hf_course *course, bool *ret_exact)
{
	const uint64_t insns = of->counts->insns;
	struct hf_summary *summary;
	int err;

	*ret_exact = true;
	if (insns <= HF_PICTURE_DECODED)
		return tell_events(of, course);
	if (hf_open_summary(of->open, &summary))
		return insns <= HF_PROFILE_DECODED ? tell_events(of, course) : HF_ERR_NOT_FOUND;
	*ret_exact = false;
	err = hf_course_of_summary(summary, of->open->index, of->tree, is_stopping, of->open->capture->common, course);
	if (err == HF_ERR_STATE)
		hf_summary_remove(summary);
	hf_summary_close(summary);
	return err;
}
