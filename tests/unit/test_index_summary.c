/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of a summary: made with the index or behind it, the same after an interruption, made again if it is damaged
 * or of other chunks, and not there where nothing is to be summed up. What it says is the loop codec.summary's
 * business.
 */
#include "index/store/file_name.h"
#include "index/summary/summary.h"
#include "tests/lib/check.h"
#include "tests/lib/indextest.h"
#include "tests/registry/toy.h"

#include <fcntl.h>
#include <unistd.h>

#define HARTS (HF_STREAM_HARTS | HF_STREAM_MANY)

static struct hf_walk_bytes reference(struct hf_ixtest *t)
{
	struct hf_walk_bytes want;

	hf_ixtest_clear(t);
	hf_ixtest_build(t);
	CHECK_EQ(hf_ixtest_count(t, ".hfq"), 1);
	want = hf_ixtest_dump(t, ".hfq");
	hf_ixtest_clear(t);
	return want;
}

static void compare(struct hf_ixtest *t, const struct hf_walk_bytes *want)
{
	struct hf_walk_bytes got = hf_ixtest_dump(t, ".hfq");

	CHECK_EQ(hf_ixtest_count(t, ".part"), 0);
	CHECK_EQ(got.n, want->n);
	CHECK(memcmp(got.p, want->p, got.n) == 0);
	hf_bytes_free(&got);
}

static unsigned fuse;

static int burn(void *ctx, const struct hf_build_progress *progress)
{
	(void)ctx;
	(void)progress;
	return fuse && !--fuse;
}

static void test_interrupted(struct hf_ixtest *t)
{
	struct hf_walk_bytes want = reference(t);

	t->build.every = 1;
	t->build.on_progress = burn;
	for (unsigned after = 1; after < 400; after += 1 + after / 3) {
		hf_ixtest_clear(t);
		fuse = after;
		if (hf_build_run(&t->build, NULL)) {
			fuse = 0;
			hf_ixtest_build(t);
		}
		compare(t, &want);
	}
	fuse = 0;
	t->build.every = 0;
	t->build.on_progress = NULL;
	hf_bytes_free(&want);
}

/* For an index that is there, and one that was made without. */
static void test_later(struct hf_ixtest *t)
{
	struct hf_walk_bytes want = reference(t);

	t->build.summary = false;
	hf_ixtest_build(t);
	CHECK_EQ(hf_ixtest_count(t, ".hfq"), 0);
	t->build.summary = true;
	hf_ixtest_build(t);
	compare(t, &want);
	/* Nothing more is to be done, and without it is left alone. */
	hf_ixtest_build(t);
	t->build.summary = false;
	hf_ixtest_build(t);
	compare(t, &want);
	t->build.summary = true;
	hf_index_discard(&t->at, &t->identity, t->keys, t->key_count);
	CHECK_EQ(hf_ixtest_count(t, ".hfq"), 0);
	hf_bytes_free(&want);
}

static void note(void *ctx, const char *name, const char *what)
{
	(void)what;
	*(unsigned *)ctx += strstr(name, ".hfq") != NULL;
}

static void damage(struct hf_ixtest *t, off_t at)
{
	char name[HF_FILE_NAME_SIZE];
	uint8_t byte;
	int fd;

	hf_index_file_name_summary(&t->identity, name);
	fd = openat(t->dirfd, name, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0);
	CHECK_EQ(pread(fd, &byte, 1, at), 1);
	byte ^= 0x10;
	CHECK_EQ(pwrite(fd, &byte, 1, at), 1);
	close(fd);
}

static void test_damaged(struct hf_ixtest *t)
{
	struct hf_walk_bytes want = reference(t);
	unsigned found = 0;

	hf_ixtest_build(t);
	CHECK_EQ(hf_index_examine(&t->at, &t->identity, NULL, 0, HF_EXAMINE_PAGES, note, &found, NULL), 0);
	CHECK_EQ(found, 0);
	for (off_t page = 0; page < 6; page++) {
		damage(t, page * 8192 + 8000);
		CHECK_EQ(hf_index_examine(&t->at, &t->identity, NULL, 0, HF_EXAMINE_PAGES, note, &found, NULL), 0);
		CHECK_EQ(found, page + 1);
		CHECK_EQ(hf_ixtest_count(t, ".hfq"), 0);
		hf_ixtest_build(t);
		compare(t, &want);
	}
	/* The header: it counts as none. */
	damage(t, 3);
	hf_ixtest_build(t);
	compare(t, &want);
	hf_ixtest_clear(t);
	hf_bytes_free(&want);
}

/* Made again, it says the same, unless somebody wrote something else with the right checksums. */
static void test_compared(struct hf_ixtest *t)
{
	struct hf_walk_bytes want = reference(t);
	unsigned found = 0;

	hf_ixtest_build(t);
	CHECK_EQ(hf_index_compare(&t->build, note, &found, NULL), 0);
	t->build.summary = false;
	CHECK_EQ(hf_index_compare(&t->build, note, &found, NULL), 0);
	t->build.summary = true;
	CHECK_EQ(found, 0);
	compare(t, &want);
	hf_ixtest_clear(t);
	hf_bytes_free(&want);
}

/* One of other chunks is of no use. */
static void test_other_limits(struct hf_ixtest *t)
{
	char name[HF_FILE_NAME_SIZE];
	struct hf_walk_bytes want;

	t->limits.insns = 11;
	want = reference(t);
	t->limits.insns = 7;
	hf_ixtest_build(t);
	t->limits.insns = 11;
	/* The index goes, the summary stays. */
	hf_index_file_name_index(&t->identity, name);
	CHECK_EQ(unlinkat(t->dirfd, name, 0), 0);
	hf_ixtest_build(t);
	compare(t, &want);
	hf_ixtest_clear(t);
	hf_bytes_free(&want);
}

static void test_none(struct hf_ixtest *t)
{
	struct hf_summary *summary;

	t->limits = hf_chunk_limits_default;
	hf_ixtest_capture(t, 300, 2, HARTS, 3);
	hf_ixtest_build(t);
	CHECK_EQ(hf_ixtest_count(t, ".hfq"), 0);
	CHECK_EQ(hf_summary_open(&t->at, &t->identity, &summary), HF_ERR_NOT_FOUND);
	hf_ixtest_build(t);
	hf_ixtest_clear(t);
}

int main(void)
{
	struct hf_ixtest t;

	hf_ixtest_init(&t);
	t.summary = true;
	hf_ixtest_limit(&t, 7);
	hf_ixtest_capture(&t, 900, 2, HARTS, 1);
	test_interrupted(&t);
	test_later(&t);
	test_damaged(&t);
	test_compared(&t);
	test_other_limits(&t);
	test_none(&t);
	hf_ixtest_fini(&t);
	return 0;
}
