/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the tests of the index: a capture of the toy format in memory, an index directory that goes when the test ends,
 * and the comparison of everything an index says with what one sequential pass gives.
 */
#ifndef HF_TEST_INDEXTEST_H
#define HF_TEST_INDEXTEST_H

#include "index/index.h"
#include "tests/lib/toy_codec.h"
#include "tests/lib/walk.h"

struct hf_ixtest {
	char dir[64];
	int dirfd;
	struct hf_store_dir at;	     /* that directory, for builds and readers */
	struct hf_walk_bytes stream; /* decompressed */
	struct hf_walk_bytes file;   /* the same, or a container of it */
	struct hf_src *src;     /* file */
	struct hf_src *plain;   /* stream */
	const struct hf_codec *codec; /* toy */
	struct hf_enc_env env;
	struct hf_identity identity;
	struct hf_chunk_limits limits;
	struct hf_view_key keys[4]; /* of toy: text, binary, records, one that is refused */
	size_t key_count;
	unsigned (*threads)(void *ctx); /* of the builds; NULL: one */
	struct hf_exec *exec;           /* for these */
	bool summary;			/* the builds make one */
	struct hf_build build;
};

/* A directory of its own, removed at exit. */
void hf_ixtest_init(struct hf_ixtest *t);
void hf_ixtest_fini(struct hf_ixtest *t);
/* The threads of its builds: a process with threads must not fork. */
void hf_ixtest_begin_threads(struct hf_ixtest *t);
void hf_ixtest_end_threads(struct hf_ixtest *t);
/* Makes the capture: n records over so many harts. flags: of the header. */
void hf_ixtest_capture(struct hf_ixtest *t, size_t n, unsigned harts, uint8_t flags, uint64_t seed);
/* Takes these bytes for the capture. */
void hf_ixtest_bytes(struct hf_ixtest *t, const void *bytes, size_t n);
/* Takes a file, which may be in a container, for the capture of another codec, with these views. */
void hf_ixtest_load(struct hf_ixtest *t, const char *path, const struct hf_codec *codec,
		    const struct hf_view_key *keys, size_t key_count);
/* Replaces the file by a container of the stream: ".gz", ".xz"... */
void hf_ixtest_pack(struct hf_ixtest *t, const char *suffix);
void hf_ixtest_limit(struct hf_ixtest *t, uint64_t insns);
/* Removes all files of the directory. */
void hf_ixtest_clear(struct hf_ixtest *t);
/* How many names in the directory contain that text. */
size_t hf_ixtest_count(struct hf_ixtest *t, const char *part);

/* Builds, which must succeed. */
void hf_ixtest_build(struct hf_ixtest *t);
/* Opens everything and compares it with sequential passes: chunks, bytes, lookups of each stride-th ordinal and
 * offset. */
void hf_ixtest_check_some(struct hf_ixtest *t, uint64_t stride);
static inline void hf_ixtest_check(struct hf_ixtest *t)
{
	hf_ixtest_check_some(t, 1);
}
/* The published files whose names contain that text, all rows: two builds of the same capture must agree. Free with
 * hf_bytes_free. */
struct hf_walk_bytes hf_ixtest_dump(struct hf_ixtest *t, const char *part);

#endif
