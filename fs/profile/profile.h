/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles: what a hart spent its instructions on, as the texts in hartN/profile/. They are made of the hart's summary,
 * or by decoding it where there is none and it is short. Each text is made when it is asked for. Texts and counts are kept
 * in memory, of a bounded number of harts, as long as they are used.
 */
#ifndef HF_FS_PROFILE_H
#define HF_FS_PROFILE_H

#include "fs/base/common.h"
#include "fs/capture/opened.h"

/* What stays in memory of texts that nobody reads: of so many harts, and so many bytes. */
#define HF_PROFILES_KEPT 64
#define HF_PROFILES_BYTES ((size_t)32 << 20)
/* Counts of more bytes are taken anew for each text of their hart. */
#define HF_PROFILE_COUNTED ((size_t)16 << 20)

enum hf_profile_file {
#define HF_PROFILE(id, name, write) HF_PROFILE_##id,
#include "fs/profile/profiles.def"
#undef HF_PROFILE
	HF_PROFILE_FILES
};

struct hf_profile;

/* lock is a leaf. */
struct hf_profiles {
	struct hf_common *common;
	pthread_mutex_t lock;
	pthread_cond_t made;
	struct hf_link used; /* the one used last first */
	size_t count, bytes;
};

void hf_profiles_init(struct hf_profiles *profiles, struct hf_common *common);
void hf_profiles_fini(struct hf_profiles *profiles);

/* Names may have a "*", which stands for what a file is asked to be about (hf_profile_which.about), and a directory. */
const char *hf_profile_name(enum hf_profile_file file);

/* One text. */
struct hf_profile_which {
	uint32_t hart;
	uint64_t first, last; /* ordinals of its instructions */
	bool slice;	      /* it lies in hartN/at/FIRST-LAST/profile/, which may have all instructions too */
	enum hf_profile_file file;
	const char *about; /* NULL: its name has no "*" */
};

/* Borrowed from the profile, until hf_profile_put. */
struct hf_profile_text {
	struct hf_profile *profile;
	const uint8_t *bytes;
	size_t size;
	void *own;
};

/*
 * Waits until it is made, by a thread of the executor: a second for 10^9 instructions with a summary, or as long as decoding
 * HF_PROFILE_DECODED takes. HF_ERR_NOT_FOUND: there is none; HF_ERR_COUNTS_LIMIT: the hart executed too many different
 * instructions; or what reading the capture or its index returns. To be given back after success.
 */
int hf_profile_get(struct hf_profiles *profiles, struct hf_capture *capture, const struct hf_facts *facts,
		   const struct hf_profile_which *which, struct hf_profile_text *ret_text);
void hf_profile_put(struct hf_profile_text *text);

/* Whether the hart seems to have one: the capture is not opened for that. */
bool hf_profile_exists(const struct hf_capture *capture, const struct hf_facts *facts, const struct hf_facts_hart *hart);

#endif
