/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/profile/course.h"
#include "fs/profile/profile.h"

static int tell_events(const struct hf_profiled *of, const struct hf_course *course)
{
	struct hf_cursor cursor = hf_profile_cursor(of->source);
	struct hf_diag diag;
	int err = hf_course_of_events(&cursor, of->source->stop, of->source->ctx, course, &diag);

	hf_cursor_fini(&cursor);
	return err;
}

int hf_profile_course(const struct hf_profiled *of, const struct hf_course *course, bool *ret_exact)
{
	const struct hf_profile_source *source = of->source;

	/* The course of a slice is not told yet. */
	if (!hf_profile_is_whole(source))
		return HF_ERR_NOT_FOUND;
	*ret_exact = of->counts->insns <= HF_PICTURE_DECODED || !source->summary;
	if (*ret_exact)
		return source->decodes ? tell_events(of, course) : HF_ERR_NOT_FOUND;
	return hf_course_of_summary(source->summary, source->open->index, of->tree, source->stop, source->ctx, course);
}
