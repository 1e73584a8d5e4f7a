/* SPDX-License-Identifier: Apache-2.0 */
/* What a perf.data says of itself: how and where it was recorded, and the build ids of the files that were mapped. */
#ifndef HF_PERF_FEATURES_H
#define HF_PERF_FEATURES_H

#include "codecs/perf/file.h"

enum { HF_PERF_BUILD_ID_MAX = 20, HF_PERF_BUILD_IDS_MAX = 1 << 20, HF_PERF_TEXT = 1024 };

/* A build id as MMAP2 and feature sections have it: zeros behind it are no part of it. */
struct hf_perf_build_id {
	uint8_t byte[HF_PERF_BUILD_ID_MAX];
	uint8_t size; /* 0: not known */
};

struct hf_perf_named_id {
	uint64_t hash; /* of the name: rows are sorted by it */
	struct hf_perf_build_id id;
	char *name; /* owned */
};

struct hf_perf_features {
	/* "" if it is not said */
	char command[HF_PERF_TEXT], events[HF_PERF_TEXT], machine[HF_PERF_TEXT], recorder[HF_PERF_TEXT];
	struct hf_perf_named_id *id;
	size_t id_count;
	bool system_wide; /* simpleperf says so */
	bool several;	  /* files data.N hold records too */
};

/* All sections of a file; in pipe mode there are none, and hf_perf_features_add gets the HEADER_FEATURE and
 * HEADER_BUILD_ID records. */
int hf_perf_features_read(struct hf_perf_features *features, struct hf_perf_file *file);
int hf_perf_features_add(struct hf_perf_features *features, const struct hf_perf_record *record);
/* Behind the last of them. */
void hf_perf_features_sort(struct hf_perf_features *features);
void hf_perf_features_free(struct hf_perf_features *features);

/* The id of a mapped file, of size 0 if none is known. */
struct hf_perf_build_id hf_perf_features_id(const struct hf_perf_features *features, const char *name);

/* bytes[n] (20 at most) as an id; exact: n is its size, zeros count. */
struct hf_perf_build_id hf_perf_build_id_of(const uint8_t *bytes, size_t n, bool exact);
bool hf_perf_build_id_same(const struct hf_perf_build_id *a, const struct hf_perf_build_id *b);
/* In hexadecimal digits, buf[2 * HF_PERF_BUILD_ID_MAX + 1]. Returns buf. */
const char *hf_perf_build_id_text(const struct hf_perf_build_id *id, char *buf);

#endif
