/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles: what a hart spent its instructions on, as the texts in hartN/profile/. They are made of the hart's summary,
 * or by decoding it where there is none and it is short. Each text is made when it is asked for. Texts and counts are kept
 * in memory, of a bounded number of harts, as long as they are used.
 */
#ifndef HF_FS_PROFILE_H
#define HF_FS_PROFILE_H

#include "codecs/base/sink.h"
#include "fs/bytes/made.h"
#include "fs/facts/opened.h"

#include <limits.h>

/* What stays in memory of texts that nobody reads: of so many, and so many bytes. */
#define HF_PROFILES_KEPT 1024
#define HF_PROFILES_BYTES ((size_t)16 << 20)
/* The same of what texts are made of: more is counted anew for each text. */
#define HF_PROFILE_COUNTED ((size_t)16 << 20)

enum hf_profile_file {
#define HF_PROFILE(id, name, write, when, what) HF_PROFILE_##id,
#include "fs/profile/profiles.def"
#undef HF_PROFILE
	HF_PROFILE_FILES
};

enum { HF_PROFILE_WALK = 3 };

/* When one is made although nobody asked for it (ahead.h): profiles.def. */
enum hf_profile_when { HF_PROFILE_SMALL, HF_PROFILE_LARGE, HF_PROFILE_ASKED };

/* lock is a leaf. */
struct hf_profiles {
	struct hf_mades texts;
	pthread_mutex_t lock;
	struct hf_link counted; /* profile.c's, the one used last first */
	size_t bytes;		/* of them */
	/* ahead.c's: sizes that are known, the one used last first, */
	struct hf_link sized;
	size_t sized_count;
	/* and looks into directories: at which capture the last one was, when the last ones went to another, and since
	 * when no walk through the archive was seen. */
	const struct hf_capture *looked;
	int64_t turned_ns[HF_PROFILE_WALK], walked_ns;
};

void hf_profiles_init(struct hf_profiles *profiles, struct hf_common *common);
void hf_profiles_fini(struct hf_profiles *profiles);

/* Names may have a "*", which stands for what a file is asked to be about (hf_profile_text.about), and a directory. */
const char *hf_profile_name(enum hf_profile_file file);
/* Whether all/ has such a file too: a picture of all harts. */
bool hf_profile_is_of_all(enum hf_profile_file file);
/* Its path in the view directory: below that hart's, or below all/, if hart is HF_HART_RECORDS. Returns false if there is none,
 * or one for each word in the place of a "*". */
#define HF_PROFILE_PATH 64
bool hf_profile_path(enum hf_profile_file file, uint32_t hart, char buf[HF_PROFILE_PATH]);
enum hf_profile_when hf_profile_when(enum hf_profile_file file);
/* README.txt: what each of them is for. */
const char *hf_profile_readme(void);

/*
 * One text; set in a key of them (hf_made_get) is all but itself. To make it takes a second for 10^9 instructions with a
 * summary, or as long as decoding HF_PROFILE_DECODED. HF_ERR_NOT_FOUND: there is none; HF_ERR_COUNTS_LIMIT: the hart
 * executed too many different instructions.
 */
struct hf_profile_text {
	struct hf_made made;  /* first; hart HF_HART_RECORDS: the picture is of all harts */
	uint64_t first, last; /* ordinals of its instructions */
	bool slice;	      /* it lies in hartN/at/FIRST-LAST/profile/, which may have all instructions too */
	enum hf_profile_file file;
	char about[NAME_MAX + 1]; /* if its name has a "*" */
	struct hf_sink text;	  /* in memory */
};

/* Makes text, a struct hf_profile_text, on a thread of the executor: as hf_answer_run calls it. Its bytes are to be freed
 * also after an error. */
int hf_profile_make(void *text, struct hf_open *open, struct hf_worker *worker);

/* Whether the hart seems to have one: the capture is not opened for that. */
bool hf_profile_exists(const struct hf_capture *capture, const struct hf_facts *facts, const struct hf_facts_hart *hart);

#endif
