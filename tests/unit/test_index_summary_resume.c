/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The summary of a build that is interrupted goes on where it was, in the pass of the index or in one of its own: its
 * file is byte for byte the one of a build that was not, wherever that was, and with any number of threads. What cannot
 * be used of what was kept is noticed, and the summary is made from the beginning.
 */
#include "index/store/file_name.h"
#include "index/summary/calls.h"
#include "index/summary/run_table.h"
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

#define STATE ".%s.hfq-state.part"
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
	want = bytes_of(t, "%s.hfq");
	hf_ixtest_clear(t);
	return want;
}

static void compare(struct hf_ixtest *t, const struct hf_walk_bytes *want)
{
	struct hf_walk_bytes got = bytes_of(t, "%s.hfq");

	CHECK_EQ(hf_ixtest_count(t, "part"), 0);
	CHECK_EQ(got.n, want->n);
	CHECK(memcmp(got.p, want->p, got.n) == 0);
	hf_bytes_free(&got);
	hf_ixtest_clear(t);
}

/* Cancels a build; sees whether the summary is made behind the index. */
struct watch {
	struct hf_ixtest *t;
	unsigned left; /* 0: it is not cancelled */
	unsigned calls;
	bool behind;
};

static int look(void *ctx, const struct hf_build_progress *progress)
{
	struct watch *w = ctx;

	(void)progress;
	w->calls++;
	w->behind = w->behind || is_there(w->t, "%s.hfi");
	return w->left && !--w->left;
}

static int build(struct hf_ixtest *t, unsigned every, unsigned left, struct watch *ret_watch)
{
	int err;

	*ret_watch = (struct watch){.t = t, .left = left};
	t->build.every = every;
	t->build.on_progress = look;
	t->build.ctx = ret_watch;
	err = hf_build_run(&t->build, NULL);
	t->build.every = 0;
	t->build.on_progress = NULL;
	CHECK(err == 0 || err == HF_ERR_CANCELLED);
	return err;
}

/* Once, after so many commits. */
static void test_once(struct hf_ixtest *t)
{
	struct hf_walk_bytes want = reference(t);
	struct watch watch;

	for (unsigned left = 1; left; left += 1 + left / 4) {
		const bool cancelled = build(t, 1, left, &watch) != 0;

		left = cancelled ? left : UINT32_MAX;
		CHECK(!cancelled || is_there(t, PART));
		if (cancelled)
			CHECK_EQ(build(t, 1, 0, &watch), 0);
		CHECK(!watch.behind);
		compare(t, &want);
		if (!cancelled)
			break;
	}
	hf_bytes_free(&want);
}

/* Again and again, so that it never gets far. */
static void test_often(struct hf_ixtest *t, unsigned every, unsigned left)
{
	struct hf_walk_bytes want = reference(t);
	unsigned rounds = 0;
	struct watch watch;

	while (build(t, every, left, &watch)) {
		CHECK(!watch.behind);
		CHECK(++rounds < 5000);
	}
	CHECK(rounds && !watch.behind);
	compare(t, &want);
	hf_bytes_free(&want);
}

/* In a pass of its own: it does not begin with the first chunk then. */
static void test_behind(struct hf_ixtest *t)
{
	struct hf_walk_bytes want = reference(t);
	struct watch all, watch;
	unsigned rounds = 0, most = 0;

	for (int whole = 1; whole >= 0; whole--) {
		t->build.summary = false;
		hf_ixtest_build(t);
		t->build.summary = true;
		if (whole)
			CHECK_EQ(build(t, 1, 0, &all), 0);
		while (!whole && build(t, 1, 5, &watch)) {
			most = watch.calls > most ? watch.calls : most;
			CHECK(++rounds < 5000);
		}
		compare(t, &want);
	}
	/* How many depends on what several threads did between two looks. */
	CHECK(rounds && most < all.calls && rounds < all.calls);
	hf_bytes_free(&want);
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

static off_t size_of(const struct hf_ixtest *t, const char *form)
{
	char name[HF_FILE_NAME_SIZE];
	struct stat st;

	name_of(t, form, name);
	CHECK_EQ(fstatat(t->dirfd, name, &st, 0), 0);
	return st.st_size;
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

static void interrupt(struct hf_ixtest *t)
{
	struct watch watch;

	CHECK_EQ(build(t, 1, 20, &watch), HF_ERR_CANCELLED);
	CHECK(is_there(t, STATE) && is_there(t, PART));
}

static void finish(struct hf_ixtest *t, const struct hf_walk_bytes *want)
{
	struct watch watch;

	CHECK_EQ(build(t, 1, 0, &watch), 0);
	/* The index goes on, the summary begins anew. */
	CHECK(watch.behind);
	compare(t, want);
}

static void test_damaged(struct hf_ixtest *t)
{
	struct hf_walk_bytes want = reference(t);
	char name[HF_FILE_NAME_SIZE];
	off_t size;

	interrupt(t);
	size = size_of(t, STATE);
	hf_ixtest_clear(t);
	for (off_t at = 0; at < size; at += 1 + size / 23) {
		interrupt(t);
		change(t, STATE, at);
		finish(t, &want);
	}
	for (off_t left = 0; left < size; left += 1 + size / 7) {
		interrupt(t);
		shorten(t, STATE, left);
		finish(t, &want);
	}
	for (off_t at = 8000; at < 3 * 8192; at += 8192) {
		interrupt(t);
		change(t, PART, at);
		finish(t, &want);
	}
	interrupt(t);
	shorten(t, PART, 0);
	finish(t, &want);
	interrupt(t);
	name_of(t, STATE, name);
	CHECK_EQ(unlinkat(t->dirfd, name, 0), 0);
	finish(t, &want);
	hf_bytes_free(&want);
}

/* An earlier state and index with later rows, as a kill in the middle of a commit leaves them: rows that come again are
 * not put twice. */
static void test_torn(struct hf_ixtest *t)
{
	struct hf_walk_bytes want = reference(t);

	for (unsigned left = 3; left < 40; left += 6) {
		struct hf_walk_bytes state, index;
		struct watch watch;

		CHECK_EQ(build(t, 1, left, &watch), HF_ERR_CANCELLED);
		state = bytes_of(t, STATE);
		index = bytes_of(t, INDEX_PART);
		if (build(t, 1, left, &watch)) {
			put_back(t, STATE, &state);
			put_back(t, INDEX_PART, &index);
			CHECK_EQ(build(t, 1, 0, &watch), 0);
		}
		CHECK(!watch.behind);
		compare(t, &want);
		hf_bytes_free(&state);
		hf_bytes_free(&index);
	}
	hf_bytes_free(&want);
}

/* A state of another time than the index: of no use. */
static void test_old_state(struct hf_ixtest *t)
{
	struct hf_walk_bytes want = reference(t), state;
	struct watch watch;

	CHECK_EQ(build(t, 1, 4, &watch), HF_ERR_CANCELLED);
	state = bytes_of(t, STATE);
	CHECK_EQ(build(t, 1, 30, &watch), HF_ERR_CANCELLED);
	put_back(t, STATE, &state);
	finish(t, &want);
	hf_bytes_free(&want);
}

static unsigned three(void *ctx)
{
	(void)ctx;
	return 3;
}

static void test_all(struct hf_ixtest *t)
{
	hf_ixtest_limit(t, 20);
	hf_ixtest_capture(t, 600, 2, HARTS, 1);
	test_once(t);
	test_often(t, 1, 2);
	test_often(t, 3, 2);
	test_behind(t);
	test_torn(t);
	/* A chunk of several batches: it is interrupted in the middle of one too. */
	hf_ixtest_limit(t, 5000);
	hf_ixtest_capture(t, 16000, 2, HARTS, 5);
	test_once(t);
	test_often(t, 1, 2);
}

int main(void)
{
	struct hf_ixtest t;

	hf_ixtest_init(&t);
	t.summary = true;
	test_all(&t);
	hf_ixtest_limit(&t, 20);
	hf_ixtest_capture(&t, 800, 1, HF_STREAM_HARTS | HF_STREAM_ORIGINAL, 2);
	test_damaged(&t);
	test_old_state(&t);
	room = &narrow;
	call_room = &shallow;
	t.threads = three;
	test_all(&t);
	hf_ixtest_fini(&t);
	return 0;
}
