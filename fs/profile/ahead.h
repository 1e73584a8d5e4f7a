/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What hartN/profile/ lists: the files whose sizes are known. Who looks into it has the others made, one after the other,
 * at low priority: their texts are not kept, their sizes are, in the catalogue too. Programs that go through a whole archive
 * have none made.
 */
#ifndef HF_PROFILE_AHEAD_H
#define HF_PROFILE_AHEAD_H

#include "fs/profile/profile.h"

/* So long after a look, if no others follow it, files are made. */
#define HF_PROFILE_DELAY_NS (INT64_C(300) * 1000000)
/* HF_PROFILE_WALK captures looked at within such a time are a walk through the archive. */
#define HF_PROFILE_WALK_NS (INT64_C(2) * 1000000000)
/* The sizes of so many harts and slices are known at a time. */
#define HF_PROFILE_SIZED 4096
/* Of so many harts of a capture all are made ahead. */
#define HF_PROFILE_AHEAD 64

/* Of these all but text and about are a key: the hart, or the slice, whose files they are. */

/* The size of key's file; HF_NOWHERE: it is not known. Files with a "*" in their names have none. */
uint64_t hf_profile_size(struct hf_profiles *profiles, const struct hf_profile_text *key);
/* Those of all its files. */
void hf_profile_sizes(struct hf_profiles *profiles, const struct hf_profile_text *key, uint64_t ret_size[HF_PROFILE_FILES]);
/* The text was made. */
void hf_profile_told(struct hf_profiles *profiles, const struct hf_profile_text *text);
/* Somebody lists the directory of key. */
void hf_profile_looked(struct hf_profiles *profiles, const struct hf_profile_text *key);

/* Makes those of all harts, and the flame graph of all, that are not known, with threads of the executor, and waits. What
 * cannot be made is none; HF_ERR_CHANGED, HF_ERR_CANCELLED, or a shortage. */
int hf_profile_make_ahead(struct hf_profiles *profiles, struct hf_capture *capture, const struct hf_facts *facts);

/* Frees all that is known; no job of the executor is left. */
void hf_profile_ahead_fini(struct hf_profiles *profiles);

#endif
