/* SPDX-License-Identifier: Apache-2.0 */
/* Where pictures that have a time axis get it from. Internal to fs/profile/. */
#ifndef HF_FS_PROFILE_TIMELINE_SOURCE_H
#define HF_FS_PROFILE_TIMELINE_SOURCE_H

#include "fs/profile/texts.h"
#include "index/answer/timeline.h"

/* A hart of no more instructions is decoded for pictures, although it may have a summary: of so few chunks a picture
 * shows little. */
#define HF_PICTURE_DECODED (UINT64_C(2) << 20)

/* Whether their timeline is told from events; else from the summary, by chunks, of which the first and the last may be
 * longer. */
bool hf_profile_timeline_is_exact(const struct hf_profiled *of);
/* Tells the timeline of the instructions. HF_ERR_STATE: the summary is damaged. HF_ERR_NOT_FOUND: no way leads there.
 */
int hf_profile_timeline(const struct hf_profiled *of, const struct hf_timeline_visitor *visitor);

/* For the timeline of a long slice, whose tree is an estimate: the same with the tree of the whole hart, to be freed,
 * in which its stacks are. Of others a copy, and no tree. */
int hf_profile_for_timeline(const struct hf_profiled *of, struct hf_profiled *ret_of,
			    struct hf_summary_tree **ret_tree);

#endif
