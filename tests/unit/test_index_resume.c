/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds that are interrupted: killed at every kind of moment, cancelled, in each other's way, overtaken by a change of
 * the file. What comes out in the end is the same, row by row, as if nothing had happened.
 */
#include "codecs/base/errors.h"
#include "tests/lib/check.h"
#include "tests/lib/indextest.h"
#include "tests/registry/toy.h"

#include <malloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define HARTS (HF_STREAM_HARTS | HF_STREAM_MANY)

/* Dies or cancels at the left-th call. */
struct fuse {
	unsigned left;
	bool kill;
};

static int burn(void *ctx, const struct hf_build_progress *progress)
{
	struct fuse *fuse = ctx;

	CHECK(progress->done <= progress->total);
	if (--fuse->left)
		return 0;
	if (fuse->kill)
		raise(SIGKILL);
	return 1;
}

/* By one thread, whoever is interrupted afterwards. */
static struct hf_walk_bytes reference(struct hf_ixtest *t)
{
	unsigned (*threads)(void *ctx) = t->build.threads;
	struct hf_walk_bytes all;

	t->build.threads = NULL;
	hf_ixtest_build(t);
	t->build.threads = threads;
	all = hf_ixtest_dump(t, "");
	hf_ixtest_clear(t);
	return all;
}

static void compare(struct hf_ixtest *t, const struct hf_walk_bytes *want)
{
	struct hf_walk_bytes got = hf_ixtest_dump(t, "");

	CHECK_EQ(hf_ixtest_count(t, ".part"), 0);
	CHECK_EQ(got.n, want->n);
	CHECK(memcmp(got.p, want->p, got.n) == 0);
	hf_bytes_free(&got);
	hf_ixtest_clear(t);
}

/* What is published while a build is not done is whole. */
static void check_published(struct hf_ixtest *t)
{
	struct hf_index *index;

	for (size_t i = 0; i < t->key_count; i++) {
		struct hf_view_table *table;
		int err = hf_view_table_open(&t->at, &t->identity, &t->keys[i], &table);

		CHECK(err == 0 || err == HF_ERR_NOT_FOUND);
		hf_view_table_close(table);
	}
	if (hf_index_open(&t->at, &t->identity, &index) == 0) {
		hf_index_close(index);
		CHECK_EQ(hf_ixtest_count(t, ".hfi.part"), 0);
	}
}

/* As fork, with threads of its own for each of the two; a sanitizer has trouble with those of the child. */
static pid_t fork_with_threads(struct hf_ixtest *t)
{
	pid_t pid;

	hf_ixtest_end_threads(t);
	pid = fork();
	CHECK(pid >= 0);
	if (pid || !HF_TEST_SANITIZED)
		hf_ixtest_begin_threads(t);
	return pid;
}

/* Runs the build in a process of its own; true if it came to its end. */
static bool run_child(struct hf_ixtest *t, struct fuse fuse, useconds_t kill_after)
{
	int status, err;
	pid_t pid = fork_with_threads(t);

	if (pid == 0) {
		t->build.on_progress = burn;
		t->build.ctx = &fuse;
		err = hf_build_run(&t->build, NULL);
		if (err)
			fprintf(stderr, "build: %s\n", hf_err_name(err));
		_exit(err ? 1 : 0);
	}
	if (kill_after) {
		usleep(kill_after);
		kill(pid, SIGKILL);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
	return !WIFSIGNALED(status);
}

/*
 * Killed again and again after so many commits: it gets there in the end. A summary of fewer chunks than are between two
 * of its checkpoints is made in one go, which takes as long as it takes.
 */
static void test_kill_at_checkpoints(struct hf_ixtest *t, unsigned step)
{
	struct hf_walk_bytes want = reference(t);
	unsigned rounds = 0;

	t->build.every = 1;
	while (!run_child(t, (struct fuse){.left = step + (t->summary ? rounds / 4 : 0), .kill = true}, 0)) {
		check_published(t);
		CHECK(++rounds < 5000);
	}
	CHECK(rounds > 2);
	compare(t, &want);
	hf_bytes_free(&want);
	t->build.every = 0;
}

/* Killed at any time, also in the middle of a commit. */
static void test_kill_at_random(struct hf_ixtest *t, uint64_t seed)
{
	struct hf_walk_bytes want = reference(t);
	useconds_t most = HF_TEST_SANITIZED ? 50000 : 10000;

	t->build.every = 1;
	/* Each gets a little more time, for a way back that takes longer than it has would never end; in parts of what there
	 * is, so that a machine that takes a hundred times as long is there after twice as many. */
	while (!run_child(t, (struct fuse){.left = UINT32_MAX, .kill = true}, 200 + hf_rand_next(&seed) % most)) {
		check_published(t);
		most += most / 20;
	}
	compare(t, &want);
	hf_bytes_free(&want);
	t->build.every = 0;
}

static void test_cancel(struct hf_ixtest *t)
{
	struct hf_walk_bytes want = reference(t);
	unsigned rounds = 0;
	int err;

	t->build.every = 3;
	t->build.on_progress = burn;
	do {
		struct fuse fuse = {.left = 5};
		struct hf_diag diag;

		t->build.ctx = &fuse;
		err = hf_build_run(&t->build, &diag);
		CHECK(err == 0 || err == HF_ERR_CANCELLED);
		CHECK_EQ(diag.code, err);
		check_published(t);
		CHECK(++rounds < 1000);
	} while (err);
	CHECK(rounds > 2);
	t->build.every = 0;
	t->build.on_progress = NULL;
	compare(t, &want);
	hf_bytes_free(&want);
}

/* Cancelled with some views, gone on with others: all are there in the end, and right. */
static void test_other_views(struct hf_ixtest *t)
{
	struct hf_walk_bytes want = reference(t);

	for (unsigned left = 1; left < 55; left += 9) {
		struct fuse fuse = {.left = left};

		t->build.every = 1;
		t->build.on_progress = burn;
		t->build.ctx = &fuse;
		t->build.views = t->keys + 1;
		t->build.view_count = 2;
		CHECK_EQ(hf_build_run(&t->build, NULL), HF_ERR_CANCELLED);
		t->build.views = t->keys;
		t->build.view_count = t->key_count;
		t->build.on_progress = NULL;
		hf_ixtest_build(t);
		compare(t, &want);
	}
	t->build.every = 0;
	hf_bytes_free(&want);
}

/* Only views are missing, and their build is interrupted. */
static void test_replay(struct hf_ixtest *t)
{
	struct hf_walk_bytes want = reference(t);
	unsigned rounds = 0;

	t->build.views = t->keys + 2;
	t->build.view_count = 1;
	hf_ixtest_build(t);
	t->build.views = t->keys;
	t->build.view_count = t->key_count;
	t->build.every = 2;
	while (!run_child(t, (struct fuse){.left = 3, .kill = true}, 0))
		CHECK(++rounds < 5000);
	CHECK(rounds > 2);
	t->build.every = 0;
	compare(t, &want);
	hf_bytes_free(&want);
}

/* Another size of chunks: the private files of the old one are of no use. */
static void test_other_limits(struct hf_ixtest *t)
{
	struct hf_chunk_limits limits = t->limits;
	struct hf_walk_bytes want = reference(t);
	struct fuse fuse = {.left = 10};

	t->limits.insns += 3;
	t->build.every = 1;
	t->build.on_progress = burn;
	t->build.ctx = &fuse;
	CHECK_EQ(hf_build_run(&t->build, NULL), HF_ERR_CANCELLED);
	t->build.on_progress = NULL;
	t->limits = limits;
	hf_ixtest_build(t);
	t->build.every = 0;
	compare(t, &want);
	hf_bytes_free(&want);
}

static int run_inside(void *ctx, const struct hf_build_progress *progress)
{
	struct hf_ixtest *t = ctx;
	struct hf_build again = t->build;
	struct hf_index *index;

	(void)progress;
	again.on_progress = NULL;
	CHECK_EQ(hf_build_run(&again, NULL), HF_ERR_BUSY);
	CHECK_EQ(hf_index_open(&t->at, &t->identity, &index), HF_ERR_NOT_FOUND);
	return 0;
}

static void test_busy(struct hf_ixtest *t)
{
	struct hf_walk_bytes want = reference(t);

	t->build.every = 20;
	t->build.on_progress = run_inside;
	t->build.ctx = t;
	hf_ixtest_build(t);
	t->build.on_progress = NULL;
	t->build.every = 0;
	compare(t, &want);
	hf_bytes_free(&want);
}

/* No room on the disk, at first and then a little more: an error, nothing torn, and in the end all of it. */
static void test_full_disk(struct hf_ixtest *t)
{
	struct hf_walk_bytes want = reference(t);

	for (rlim_t most = 4096; most < 200000; most += 20480) {
		pid_t pid = fork_with_threads(t);
		int status;

		if (pid == 0) {
			const struct rlimit limit = {.rlim_cur = most, .rlim_max = most};
			int err;

			signal(SIGXFSZ, SIG_IGN);
			CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
			t->build.every = 5;
			err = hf_build_run(&t->build, NULL);
			_exit(err == HF_ERR_INDEX_DIR ? 1 : err == 0 ? 0 : 2);
		}
		CHECK(waitpid(pid, &status, 0) == pid);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) < 2);
		check_published(t);
	}
	hf_ixtest_build(t);
	compare(t, &want);
	hf_bytes_free(&want);
}

struct changing {
	int fd;
	uint8_t last;
	off_t at; /* of that byte */
};

static int change_file(void *ctx, const struct hf_build_progress *progress)
{
	struct changing *file = ctx;

	(void)progress;
	file->last ^= 1;
	CHECK_EQ(pwrite(file->fd, &file->last, 1, file->at), 1);
	return 0;
}

/* In a file, as it happens: threads of the build read what another one writes, and the kernel keeps them apart. */
static void test_changed(struct hf_ixtest *t)
{
	struct changing file = {
		.fd = memfd_create("capture", MFD_CLOEXEC), .last = t->file.p[t->file.n - 1], .at = (off_t)t->file.n - 1};
	struct hf_src *src, *memory = t->build.file;
	struct hf_diag diag;

	CHECK(file.fd >= 0);
	CHECK_EQ(write(file.fd, t->file.p, t->file.n), (ssize_t)t->file.n);
	CHECK_EQ(hf_src_file_new(dup(file.fd), &src, NULL), 0);
	t->build.file = src;
	t->build.on_progress = change_file;
	t->build.ctx = &file;
	t->build.every = 20;
	CHECK_EQ(hf_build_run(&t->build, &diag), HF_ERR_CHANGED);
	CHECK_EQ(hf_ixtest_count(t, "hf"), 0);
	t->build.on_progress = NULL;
	t->build.every = 0;
	t->build.file = memory;
	hf_src_free(src);
	close(file.fd);
}

/* Two builds of the same capture at the same time, in two processes, again and again. */
static void test_race(struct hf_ixtest *t)
{
	struct hf_walk_bytes want = reference(t);

	for (int round = 0; round < 10; round++) {
		pid_t pid = fork_with_threads(t);
		int status, err;

		if (pid == 0) {
			err = hf_build_run(&t->build, NULL);
			_exit(err == 0 || err == HF_ERR_BUSY ? 0 : 1);
		}
		err = hf_build_run(&t->build, NULL);
		CHECK(err == 0 || err == HF_ERR_BUSY);
		CHECK(waitpid(pid, &status, 0) == pid);
		CHECK_EQ(status, 0);
		hf_ixtest_build(t);
		compare(t, &want);
	}
	hf_bytes_free(&want);
}

static unsigned three(void *ctx)
{
	(void)ctx;
	return 3;
}

static void test_all(struct hf_ixtest *t)
{
	hf_ixtest_limit(t, 50);
	hf_ixtest_capture(t, 1500, 3, HARTS, 1);
	if (!HF_TEST_SANITIZED)
		test_kill_at_checkpoints(t, 2);
	test_kill_at_checkpoints(t, 7);
	test_cancel(t);
	test_other_views(t);
	test_replay(t);
	test_other_limits(t);
	test_busy(t);
	test_race(t);
	test_full_disk(t);
	for (uint64_t i = 0; i < 4; i++)
		test_kill_at_random(t, i);
	hf_ixtest_capture(t, 1500, 1, HF_STREAM_HARTS | HF_STREAM_ORIGINAL, 2);
	test_kill_at_checkpoints(t, 4);
	test_changed(t);
	/* no harts: records only */
	hf_ixtest_capture(t, 3000, 1, 0, 3);
	t->limits.events = 50;
	test_kill_at_checkpoints(t, 9);
	t->limits.events = hf_chunk_limits_default.events;
	hf_ixtest_limit(t, 2000);
	hf_ixtest_capture(t, 100000, 2, HARTS, 4);
	hf_ixtest_pack(t, ".gz");
	test_kill_at_checkpoints(t, 20);
	test_kill_at_random(t, 9);
}

/* It has a state of its own (test_index_summary_resume.c); here it is killed in the middle of keeping that. */
static void test_with_summary(struct hf_ixtest *t)
{
	hf_ixtest_limit(t, 50);
	hf_ixtest_capture(t, 1500, 3, HARTS, 1);
	test_kill_at_checkpoints(t, 7);
	test_kill_at_random(t, 10);
	test_kill_at_random(t, 11);
	test_full_disk(t);
}

int main(void)
{
	struct hf_ixtest t;

	/* As in the program. Else each of a thousand children clears tables of megabytes, of which it needs little. */
	mallopt(M_MMAP_THRESHOLD, 1 << 20);
	hf_ixtest_init(&t);
	if (!HF_TEST_SANITIZED)
		test_all(&t);
	t.threads = three;
	test_all(&t);
	t.summary = true;
	test_with_summary(&t);
	hf_ixtest_fini(&t);
	return 0;
}
