/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of fs share: an archive and an index directory made for one test, captures generated on the spot, and
 * a file system opened over them and asked by path.
 */
#ifndef HF_TEST_FSTEST_H
#define HF_TEST_FSTEST_H

#include "fs/fs.h"
#include "tests/lib/check.h"
#include "tests/lib/walk.h"

struct hf_fst {
	char dir[64];     /* of everything, removed by hf_fst_end */
	char archive[96];
	char index[96];
	struct hf_fs *fs;
};

void hf_fst_begin(struct hf_fst *t);
/* The same where there is no disk to wait for, if there is such a place. */
void hf_fst_begin_quick(struct hf_fst *t);
void hf_fst_end(struct hf_fst *t);

/* Into the archive; directories of the path are made. */
void hf_fst_write(struct hf_fst *t, const char *path, const void *bytes, size_t n);
void hf_fst_write_text(struct hf_fst *t, const char *path, const char *text);
/* The archive's path as one of the machine, in a static buffer. */
const char *hf_fst_path(struct hf_fst *t, const char *path);

/* A stream of STF with about insns instructions, some attempts, accesses and a defect or two if asked for. */
struct hf_walk_bytes hf_fst_stf(size_t insns, uint64_t seed, bool many_harts);

/* options NULL: two threads each and everything else by default; the descriptors are filled in. */
void hf_fst_open(struct hf_fst *t, const struct hf_fs_options *options);
void hf_fst_close(struct hf_fst *t);

/* Lookup of a path, component by component: 0 and a reference, or the error. What is not indexed yet is waited for: the
 * file system waits as well, but not for ever, and a machine may be busy. */
int hf_fst_lookup(struct hf_fst *t, const char *path, struct hf_attr *ret_attr);
/* The same as it is now. A name that is not there yet is looked up once more when nothing is being indexed. */
int hf_fst_look_once(struct hf_fst *t, const char *path, struct hf_attr *ret_attr);
bool hf_fst_exists(struct hf_fst *t, const char *path);
/* Whether hf_fst_lookup finds it. */
bool hf_fst_comes(struct hf_fst *t, const char *path);
/* Fails the test if it cannot be opened. */
struct hf_file *hf_fst_open_file(struct hf_fst *t, const char *path);
uint64_t hf_fst_size(struct hf_fst *t, const char *path);
/* The file at path, read in pieces of step bytes; its size must be what getattr says. */
struct hf_walk_bytes hf_fst_read(struct hf_fst *t, const char *path, size_t step);
/* The same with a 0 behind it, to be freed with free(). */
char *hf_fst_text(struct hf_fst *t, const char *path);
/* Names in a directory, sorted, each with a line break; checks that readdir, with and without attributes, agrees with
 * lookup. To be freed with free(). */
char *hf_fst_list(struct hf_fst *t, const char *path);
/* Waits until the capture with that view directory has a hart 0. */
void hf_fst_must_be_indexed(struct hf_fst *t, const char *views);

void hf_fst_sleep_ms(unsigned ms);

#endif
