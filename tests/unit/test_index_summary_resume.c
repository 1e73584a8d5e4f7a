/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The summary of a build that is interrupted goes on behind the index, from its last checkpoint, in however many tries: it
 * has the rows of one that was not, wherever that was, and with any number of threads. What cannot be used of what was
 * there is noticed, and the summary is made from the beginning.
 */
#include "index/store/file_name.h"
#include "index/summary/calls.h"
#include "index/summary/checkpoint.h"
#include "index/summary/summary.h"
#include "tests/lib/check.h"
#include "tests/lib/indextest.h"
#include "tests/registry/toy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define HARTS (HF_STREAM_HARTS | HF_STREAM_MANY)

/* So small that there are many spans, and that parts become coarse. */
static const struct hf_run_table_room narrow = {
	.runs = 24, .code = HF_RUN_BYTES, .sets = 12, .attempts = 6, .rare = 8, .keys = 4};
static const struct hf_call_room shallow = {.nodes = 12, .depth = 5, .frames = 64};

static const struct hf_run_table_room *room;
static const struct hf_call_room *call_room;

static void name_of(const struct hf_ixtest *t, const char *form, char name[HF_FILE_NAME_SIZE])
{
	char hex[HF_HEX_SIZE];

	hf_index_file_hex(&t->identity, hex);
	snprintf(name, HF_FILE_NAME_SIZE, form, hex);
}

/* Nothing if there is no such file. */
static struct hf_walk_bytes bytes_of(const struct hf_ixtest *t, const char *form)
{
	struct hf_walk_bytes all = {0};
	char name[HF_FILE_NAME_SIZE];
	uint8_t buf[8192];
	ssize_t n;
	int fd;

	name_of(t, form, name);
	fd = openat(t->dirfd, name, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && (n = read(fd, buf, sizeof buf)) > 0)
		hf_bytes_add(&all, buf, (size_t)n);
	if (fd >= 0)
		close(fd);
	return all;
}

static void put_back(const struct hf_ixtest *t, const char *form, struct hf_walk_bytes *bytes)
{
	char name[HF_FILE_NAME_SIZE];
	int fd;

	name_of(t, form, name);
	if (!bytes->n)
		unlinkat(t->dirfd, name, 0);
	fd = bytes->n ? openat(t->dirfd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
	CHECK(!bytes->n || (fd >= 0 && write(fd, bytes->p, bytes->n) == (ssize_t)bytes->n));
	if (fd >= 0)
		close(fd);
	hf_bytes_free(bytes);
}

static bool is_there(const struct hf_ixtest *t, const char *form)
{
	char name[HF_FILE_NAME_SIZE];

	name_of(t, form, name);
	return faccessat(t->dirfd, name, F_OK, 0) == 0;
}

#define PART ".%s.hfq.part"
#define INDEX_PART ".%s.hfi.part"

/* By one thread, and not interrupted. */
static struct hf_walk_bytes reference(struct hf_ixtest *t)
{
	unsigned (*threads)(void *ctx) = t->build.threads;
	struct hf_walk_bytes want;

	t->build.room = room;
	t->build.call_room = call_room;
	hf_ixtest_clear(t);
	t->build.threads = NULL;
	hf_ixtest_build(t);
	t->build.threads = threads;
	want = hf_ixtest_dump(t, ".hfq");
	hf_ixtest_clear(t);
	return want;
}

static void compare(struct hf_ixtest *t, const struct hf_walk_bytes *want)
{
	struct hf_walk_bytes got = hf_ixtest_dump(t, ".hfq");

	CHECK_EQ(hf_ixtest_count(t, "part"), 0);
	CHECK_EQ(got.n, want->n);
	CHECK(memcmp(got.p, want->p, got.n) == 0);
	hf_bytes_free(&got);
	hf_ixtest_clear(t);
}

/* Cancels a build. */
struct watch {
	struct hf_ixtest *t;
	unsigned left; /* 0: it is not cancelled */
	unsigned calls;
	unsigned behind; /* of these, while the index is there */
};

static int look(void *ctx, const struct hf_build_progress *progress)
{
	struct watch *w = ctx;

	(void)progress;
	w->calls++;
	w->behind += is_there(w->t, "%s.hfi");
	return w->left && !--w->left;
}

/* It commits, and looks, so often that some chunks of a hart are between two checkpoints. */
enum { EVERY = 1500 };

static int build(struct hf_ixtest *t, unsigned left, struct watch *ret_watch)
{
	int err;

	*ret_watch = (struct watch){.t = t, .left = left};
	t->build.every = EVERY;
	t->build.on_progress = look;
	t->build.ctx = ret_watch;
	err = hf_build_run(&t->build, NULL);
	t->build.every = 0;
	t->build.on_progress = NULL;
	CHECK(err == 0 || err == HF_ERR_CANCELLED);
	return err;
}

/* Once, after so many commits. */
static void test_once(struct hf_ixtest *t, const struct hf_walk_bytes *want)
{
	struct watch watch;
	unsigned left = 0;
	bool cancelled;

	do {
		cancelled = build(t, ++left, &watch) != 0;
		CHECK(!cancelled || is_there(t, PART));
		if (cancelled)
			CHECK_EQ(build(t, 0, &watch), 0);
		compare(t, want);
	} while (cancelled);
	CHECK(left > 4);
}

/* Again and again; each time it comes farther than from one checkpoint to the next. */
static void test_often(struct hf_ixtest *t, const struct hf_walk_bytes *want, unsigned left)
{
	unsigned rounds = 0;
	struct watch watch;

	while (build(t, left, &watch))
		CHECK(++rounds < 200);
	CHECK(rounds > 0);
	compare(t, want);
}

static void build_index(struct hf_ixtest *t)
{
	t->build.summary = false;
	hf_ixtest_build(t);
	t->build.summary = true;
}

/* In a pass of its own: it does not begin with the first chunk then. */
static void test_behind(struct hf_ixtest *t, const struct hf_walk_bytes *want)
{
	struct watch all, watch;

	build_index(t);
	CHECK_EQ(build(t, 0, &all), 0);
	CHECK_EQ(all.behind, all.calls);
	compare(t, want);
	for (unsigned left = 1; left < all.calls; left += 2) {
		build_index(t);
		CHECK_EQ(build(t, left, &watch), HF_ERR_CANCELLED);
		CHECK_EQ(build(t, 0, &watch), 0);
		/* At most what is between two checkpoints is done twice. */
		CHECK(t->threads || watch.calls + left <= all.calls + 2 + HF_CHECKPOINT_CHUNKS / EVERY);
		compare(t, want);
	}
}

static void change(const struct hf_ixtest *t, const char *form, off_t at)
{
	char name[HF_FILE_NAME_SIZE];
	uint8_t byte;
	int fd;

	name_of(t, form, name);
	fd = openat(t->dirfd, name, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0);
	CHECK_EQ(pread(fd, &byte, 1, at), 1);
	byte ^= 0x10;
	CHECK_EQ(pwrite(fd, &byte, 1, at), 1);
	close(fd);
}

static void shorten(const struct hf_ixtest *t, const char *form, off_t size)
{
	char name[HF_FILE_NAME_SIZE];
	int fd;

	name_of(t, form, name);
	fd = openat(t->dirfd, name, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0 && ftruncate(fd, size) == 0);
	close(fd);
}

static void interrupt(struct hf_ixtest *t, unsigned left)
{
	struct watch watch;

	CHECK_EQ(build(t, left, &watch), HF_ERR_CANCELLED);
	CHECK(is_there(t, PART));
}

static void finish(struct hf_ixtest *t, const struct hf_walk_bytes *want)
{
	struct watch watch;

	CHECK_EQ(build(t, 0, &watch), 0);
	/* The index goes on, the summary begins anew. */
	CHECK(watch.behind);
	compare(t, want);
}

static void test_damaged(struct hf_ixtest *t, const struct hf_walk_bytes *want)
{
	char name[HF_FILE_NAME_SIZE];

	for (off_t at = 8000; at < 3 * 8192; at += 8192) {
		interrupt(t, 4);
		change(t, PART, at);
		finish(t, want);
	}
	for (off_t left = 0; left < 3 * 8192; left += 8000) {
		interrupt(t, 4);
		shorten(t, PART, left);
		finish(t, want);
	}
	interrupt(t, 4);
	name_of(t, PART, name);
	CHECK_EQ(unlinkat(t->dirfd, name, 0), 0);
	finish(t, want);
}

/* One of the two files is of an earlier time than the other, as a kill in the middle of a commit leaves them. */
static void test_torn(struct hf_ixtest *t, const struct hf_walk_bytes *want, const char *older)
{
	for (unsigned left = 2; left < 6; left += 2) {
		struct hf_walk_bytes bytes;
		struct watch watch;

		interrupt(t, left);
		bytes = bytes_of(t, older);
		if (build(t, left, &watch) && is_there(t, older))
			put_back(t, older, &bytes);
		CHECK_EQ(build(t, 0, &watch), 0);
		compare(t, want);
		hf_bytes_free(&bytes);
	}
}

static unsigned three(void *ctx)
{
	(void)ctx;
	return 3;
}

static void test_all(struct hf_ixtest *t, size_t records, unsigned harts, uint64_t seed)
{
	struct hf_walk_bytes want;

	hf_ixtest_limit(t, 3);
	hf_ixtest_capture(t, records, harts, harts > 1 ? HARTS : HF_STREAM_HARTS | HF_STREAM_ORIGINAL, seed);
	want = reference(t);
	test_once(t, &want);
	test_often(t, &want, 4);
	test_behind(t, &want);
	if (!t->threads) {
		test_often(t, &want, 7);
		test_torn(t, &want, INDEX_PART);
		test_torn(t, &want, PART);
	}
	if (!t->threads && !room)
		test_damaged(t, &want);
	hf_bytes_free(&want);
}

int main(void)
{
	struct hf_ixtest t;

	hf_ixtest_init(&t);
	t.summary = true;
	test_all(&t, 18000, 1, 2);
	room = &narrow;
	call_room = &shallow;
	test_all(&t, 18000, 1, 3);
	t.threads = three;
	test_all(&t, 20000, 2, 1);
	hf_ixtest_fini(&t);
	return 0;
}
