/* SPDX-License-Identifier: Apache-2.0 */
/*
 * all/overview.svg: a track for each hart of a capture against the time that they have in common, with the functions
 * that it ran. Colours are those of the functions with most instructions of all harts, so each hart is gone through
 * twice.
 */
#ifndef HF_FS_PROFILE_TRACKS_H
#define HF_FS_PROFILE_TRACKS_H

#include "fs/profile/texts.h"

/* Harts that have a track: of more those with most instructions. */
#define HF_TRACKS 64u
/* So many instructions are decoded for tracks, of the shortest harts; others are made of their summaries. */
#define HF_TRACKS_DECODED (UINT64_C(4) << 20)

struct hf_tracks;

/* To be freed also after an error. HF_ERR_NOT_FOUND: the harts have no times in common. */
int hf_tracks_new(struct hf_open *open, struct hf_tracks **ret_tracks);
void hf_tracks_free(struct hf_tracks *tracks);

/* The next hart, twice in turn; false: all were, and hf_tracks_put is next. No instructions: none can be had. */
bool hf_tracks_next(struct hf_tracks *tracks, uint32_t *ret_hart, uint64_t *ret_insns);
/* That hart, as a text is made of it. Errors as hf_timeline_make. */
int hf_tracks_take(struct hf_tracks *tracks, const struct hf_profiled *of, struct hf_sink *sink);
/* Its track, where that could not be made. */
int hf_tracks_take_none(struct hf_tracks *tracks, int err, struct hf_sink *sink);
/* The picture around tracks, which take wrote one after the other. */
int hf_tracks_put(struct hf_tracks *tracks, const struct hf_sink *taken, struct hf_sink *sink);

#endif
