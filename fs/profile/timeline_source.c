/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/profile/timeline_source.h"

static struct hf_insn_range range_of(const struct hf_profile_source *source)
{
	return (struct hf_insn_range){
		.first = source->first, .end = source->end, .stop = source->stop, .ctx = source->ctx};
}

static int tell_events(const struct hf_profiled *of, const struct hf_timeline_visitor *visitor)
{
	const struct hf_insn_range range = range_of(of->source);
	struct hf_cursor cursor = hf_profile_cursor(of->source);
	struct hf_diag diag;
	int err = hf_timeline_of_events(&cursor, &range, visitor, &diag);

	hf_cursor_fini(&cursor);
	return err;
}

bool hf_profile_timeline_is_exact(const struct hf_profiled *of)
{
	const struct hf_profile_source *source = of->source;

	/* Of a slice that was decoded, the summary has another tree. */
	return !source->summary ||
	       (!source->by_chunks && (of->counts->insns <= HF_PICTURE_DECODED ||
				       (source->decodes && !hf_profile_is_whole(source))));
}

int hf_profile_timeline(const struct hf_profiled *of, const struct hf_timeline_visitor *visitor)
{
	const struct hf_profile_source *source = of->source;
	const struct hf_insn_range range = range_of(source);

	if (hf_profile_timeline_is_exact(of))
		return source->decodes ? tell_events(of, visitor) : HF_ERR_NOT_FOUND;
	return hf_timeline_of_summary(source->summary, source->open->index, of->tree, &range, visitor);
}

int hf_profile_for_timeline(const struct hf_profiled *of, struct hf_profiled *ret_of, struct hf_summary_tree **ret_tree)
{
	int err = 0;

	*ret_of = *of;
	*ret_tree = NULL;
	if (of->sampled)
		err = hf_summary_tree_load(of->source->summary, of->hart, ret_tree);
	if (!err && *ret_tree)
		ret_of->tree = *ret_tree;
	return err;
}
