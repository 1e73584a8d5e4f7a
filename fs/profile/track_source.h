/* SPDX-License-Identifier: Apache-2.0 */
/* Where the tracks of harts get their times from: events, or the places of times in the merged listing. Internal to
 * fs/profile/. */
#ifndef HF_FS_PROFILE_TRACK_SOURCE_H
#define HF_FS_PROFILE_TRACK_SOURCE_H

#include "fs/profile/track_axis.h"

/* Who the trace says that a hart is, from its beginning to its end. */
struct hf_track_thread {
	uint32_t pid, tid;
	uint64_t told; /* so often; 0: never */
	bool changes;
};

/* The first and the last time of all harts, from the merged listing. HF_ERR_NOT_FOUND: there is none. */
int hf_track_span(struct hf_open *open, struct hf_track_span *ret_span);

/* Fills the axes of these harts, sorted by id, from it: instructions are guessed from bytes, to a chunk. NULL: not of
 * that one. */
int hf_track_axes(struct hf_open *open, const uint32_t *harts, struct hf_track_axis *const *axes, size_t count);

/* The same of one hart by decoding it, exactly, and its thread. */
int hf_track_decode(const struct hf_profiled *of, struct hf_track_axis *axis, struct hf_track_thread *ret_thread);
/* The thread of a hart from its summary and its first chunk. */
int hf_track_thread(const struct hf_profiled *of, struct hf_track_thread *ret_thread);

#endif
