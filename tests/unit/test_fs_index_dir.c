/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An index directory that fails in every way a disk can: each call that reads or writes there gives an error, for as
 * long as the test likes. No capture is lost by it, all is said, and everything gets there in the end.
 */
#include "fs/capture/drop_index.h"
#include "fs/whole.h"
#include "tests/lib/fstest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct hf_fst t;
static _Atomic int write_error, read_error; /* errno of all such calls in the index directory; 0: none */
static _Atomic unsigned writes_left;        /* so many succeed before */

static bool is_index_file(int fd)
{
	char link[32], path[512];
	ssize_t n;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof path - 1);
	if (n <= 0)
		return false;
	path[n] = 0;
	return strstr(path, "/index/") && strstr(path, ".hf");
}

/* These take the place of the library's, for this program alone. */
ssize_t pread(int fd, void *buf, size_t n, off_t offset)
{
	if (read_error && is_index_file(fd)) {
		errno = read_error;
		return -1;
	}
	return syscall(SYS_pread64, fd, buf, n, offset);
}

ssize_t pwrite(int fd, const void *buf, size_t n, off_t offset)
{
	if (write_error && is_index_file(fd) && (!writes_left || writes_left-- == 0)) {
		writes_left = 0;
		errno = write_error;
		return -1;
	}
	return syscall(SYS_pwrite64, fd, buf, n, offset);
}

static char said[1 << 16];
static pthread_mutex_t said_lock = PTHREAD_MUTEX_INITIALIZER;

static void on_log(void *ctx, int level, const char *line)
{
	size_t n;

	(void)ctx;
	(void)level;
	pthread_mutex_lock(&said_lock);
	n = strlen(said);
	snprintf(said + n, sizeof said - n, "%s\n", line);
	pthread_mutex_unlock(&said_lock);
}

static unsigned times_said(const char *what)
{
	unsigned n = 0;

	pthread_mutex_lock(&said_lock);
	for (const char *at = said; (at = strstr(at, what)); at++)
		n++;
	pthread_mutex_unlock(&said_lock);
	return n;
}

static size_t index_files(const char *end)
{
	char command[256];
	size_t n = 0;
	FILE *out;

	snprintf(command, sizeof command, "find %s -name '*%s' | wc -l", t.index, end);
	out = popen(command, "r");
	CHECK(out && fscanf(out, "%zu", &n) == 1);
	pclose(out);
	return n;
}

static bool is_well(void)
{
	struct hf_index_dir_stats stats;

	hf_index_dir_get_stats(&t.fs->captures.index_dir, &stats);
	return !stats.failing && !stats.memory.files && !stats.memory.bytes;
}

static const char *const views[] = {"hart0/listing.txt", "source.stf", "records.txt"};
enum { VIEWS = 3, CAPTURES = 3, INSNS = 20000 };
static struct hf_walk_bytes truth[CAPTURES][VIEWS];

static void path_of(int capture, int view, char path[64])
{
	snprintf(path, 64, "c%d@stf/%s", capture, views[view]);
}

static void begin(void)
{
	hf_fst_begin(&t);
	*said = 0;
	write_error = read_error = 0;
	writes_left = 0;
	for (int i = 0; i < CAPTURES; i++) {
		struct hf_walk_bytes stf = hf_fst_stf(INSNS, (uint64_t)i + 1, false);
		char name[32];

		snprintf(name, sizeof name, "c%d.stf", i);
		hf_fst_write(&t, name, stf.p, stf.n);
		hf_bytes_free(&stf);
	}
}

static void open_fs(uint64_t cache)
{
	struct hf_fs_options options = {.cache_bytes = cache, .index_path = t.index, .log = on_log};

	hf_fst_open(&t, &options);
}

static void learn_truth(void)
{
	begin();
	open_fs(0);
	for (int i = 0; i < CAPTURES; i++)
		for (int k = 0; k < VIEWS; k++) {
			char path[64];

			path_of(i, k, path);
			truth[i][k] = hf_fst_read(&t, path, 100000);
		}
	hf_fst_end(&t);
}

static void check_all(void)
{
	for (int i = 0; i < CAPTURES; i++)
		for (int k = 0; k < VIEWS; k++) {
			struct hf_walk_bytes got;
			char path[64];

			path_of(i, k, path);
			got = hf_fst_read(&t, path, 100000);
			CHECK_EQ(got.n, truth[i][k].n);
			CHECK(memcmp(got.p, truth[i][k].p, got.n) == 0);
			hf_bytes_free(&got);
		}
}

/* Writing fails, at the first call or later: served from memory; then it works again, and all gets there. */
static void test_writing(int errnum, unsigned after)
{
	char what[256];

	begin();
	write_error = errnum;
	writes_left = after;
	open_fs(0);
	check_all();
	CHECK(!is_well());
	snprintf(what, sizeof what, "index directory %s: writing failed: %s", t.index, strerror(errnum));
	CHECK_EQ(times_said(what), 1);
	CHECK_EQ(times_said(".stf: "), times_said(".stf: indexed")); /* no word against a capture */
	write_error = 0;
	CHECK_COMES(is_well());
	CHECK_EQ(index_files(".hfi"), CAPTURES);
	CHECK_EQ(index_files(".part"), 0);
	CHECK_EQ(index_files("-journal"), 0);
	/* It is well before that is said. */
	CHECK_COMES(times_said("it can be written again") > 0);
	CHECK_EQ(times_said("it can be written again"), 1);
	check_all();
	hf_fst_close(&t);
	/* And is good for the next one, who could not make it. */
	*said = 0;
	write_error = EROFS;
	open_fs(0);
	check_all();
	CHECK_EQ(times_said(strerror(EROFS)), 0);
	hf_fst_end(&t);
}

static bool waits(int i)
{
	struct hf_attr attr;
	char path[64];
	int err;

	path_of(i, 0, path);
	err = hf_fst_look_once(&t, path, &attr);
	if (!err)
		hf_fs_forget(t.fs, attr.st.st_ino, 1);
	return err;
}

/* In one reading: between two the directory may have been tried again. */
static bool says(const char *path, const char *a, const char *b, const char *c)
{
	char *text = hf_fst_text(&t, path);
	const bool says_all = strstr(text, a) && strstr(text, b) && strstr(text, c);

	free(text);
	return says_all;
}

/* Not even the memory suffices: captures wait and say for what, and come by themselves. */
static void test_no_memory(void)
{
	begin();
	write_error = ENOSPC;
	open_fs(100 << 10);
	for (int i = 0; i < CAPTURES; i++)
		CHECK(waits(i));
	CHECK_COMES(says("c0@stf/info.json", "\"state\": \"waiting for the index directory\"", strerror(ENOSPC), t.index));
	CHECK_COMES(says("c0@stf/INDEXING", "waiting for the index directory: ", strerror(ENOSPC), ""));
	CHECK_EQ(times_said("do not suffice"), 1);
	CHECK_COMES(says(".hartfs/status.json", "\"waiting\": 3", "\"state\": \"failing\"", "\"failed\": 0"));
	CHECK_COMES(index_files(".part") == 0);
	write_error = 0;
	CHECK_COMES(index_files(".hfi") == CAPTURES);
	check_all();
	CHECK_COMES(is_well());
	hf_fst_end(&t);
}

static uint64_t failures(void)
{
	struct hf_index_dir_stats stats;

	hf_index_dir_get_stats(&t.fs->captures.index_dir, &stats);
	return stats.failures;
}

/* The only capture that waits is tried again and again, which is not said again and again. */
static void test_one_waits(void)
{
	begin();
	write_error = EIO;
	open_fs(4 << 10);
	CHECK(waits(0));
	CHECK_COMES(failures() >= 4);
	CHECK_EQ(times_said("do not suffice"), 1);
	CHECK_EQ(times_said("it can be written again"), 0);
	hf_fst_end(&t);
}

/* What was written once cannot be read any more: made anew, in memory, and replaced where it can be. */
static void test_reading(uint64_t cache)
{
	begin();
	open_fs(0);
	check_all();
	hf_fst_close(&t);
	read_error = EIO;
	open_fs(cache);
	check_all();
	CHECK(times_said("Input/output error"));
	CHECK(times_said(t.index));
	read_error = 0;
	CHECK_COMES(is_well());
	check_all();
	CHECK_EQ(index_files(".hfi"), CAPTURES);
	hf_fst_end(&t);
}

/* In the middle of use: the reader may be told once, but what is opened again is right. */
static void test_reading_in_use(void)
{
	uint8_t byte;

	begin();
	open_fs(4 << 20);
	check_all();
	read_error = EIO;
	for (int i = 0; i < CAPTURES; i++) {
		char path[64];
		struct hf_file *file;
		size_t n;

		path_of(i, 0, path);
		file = hf_fst_open_file(&t, path);
		for (uint64_t at = 0; at < truth[i][0].n; at += 50000)
			if (!hf_fs_read_wait(t.fs, file, at, &byte, 1, &n))
				CHECK(n == 1 && byte == truth[i][0].p[at]);
		hf_file_close(file);
	}
	hf_fs_idle(t.fs);
	check_all();
	read_error = 0;
	hf_fst_end(&t);
}

/* It vanishes, with all that was in it. */
static void test_vanished(void)
{
	char command[256];

	begin();
	open_fs(4 << 20);
	check_all();
	snprintf(command, sizeof command, "rm -rf %s", t.index);
	CHECK_EQ(system(command), 0);
	for (int i = 0; i < CAPTURES; i++) {
		struct hf_capture *capture = hf_capture_known(&t.fs->captures, i == 0 ? "c0.stf" : i == 1 ? "c1.stf" : "c2.stf");

		hf_open_drop(capture);
		hf_facts_forget(capture->facts, t.fs->common.cache);
		hf_capture_drop_index(capture, capture->version, HF_ERR_NOT_FOUND);
	}
	hf_fs_idle(t.fs);
	check_all();
	CHECK(times_said("No such file or directory"));
	CHECK_EQ(mkdir(t.index, 0700), 0);
	hf_fst_end(&t);
}

/* There is none at all. */
static void test_none(void)
{
	struct hf_fs_options options = {.index_fd = -1, .index_error = EACCES, .index_path = "/none", .log = on_log,
					.no_index = false, .threads = 2, .index_threads = 2, .spool_bytes = 1 << 20};
	struct hf_diag diag;

	begin();
	options.archive_fd = open(t.archive, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	options.archive_path = t.archive;
	CHECK_EQ(hf_fs_open(&options, &t.fs, &diag), 0);
	check_all();
	CHECK_EQ(times_said("index directory /none: opening failed: Permission denied"), 1);
	hf_fst_end(&t);
}

int main(void)
{
	learn_truth();
	test_writing(ENOSPC, 0);
	test_writing(EDQUOT, 40);
	test_writing(EIO, 0);
	test_writing(EROFS, 10);
	test_no_memory();
	test_one_waits();
	test_reading(0);
	test_reading(4 << 20);
	test_reading_in_use();
	test_vanished();
	test_none();
	for (int i = 0; i < CAPTURES; i++)
		for (int k = 0; k < VIEWS; k++)
			hf_bytes_free(&truth[i][k]);
	return 0;
}
