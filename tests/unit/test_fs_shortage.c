/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors run out and come back: nothing that was seen meanwhile is remembered of a file, a capture or an index. */
#include "codecs/base/errors.h"
#include "fs/capture/queue.h"
#include "fs/whole.h"
#include "tests/lib/fstest.h"

#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct hf_fst t;
static struct rlimit before;

/* From here on only so many can be open besides those that are. */
static void take_descriptors(unsigned left)
{
	const int next = dup(0);
	struct rlimit few;

	CHECK(next >= 0);
	close(next);
	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = (struct rlimit){.rlim_cur = (rlim_t)next + left, .rlim_max = before.rlim_max};
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
}

static void give_descriptors(void)
{
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

static void write_stf(const char *path, size_t insns, uint64_t seed)
{
	struct hf_walk_bytes stf = hf_fst_stf(insns, seed, false);

	hf_fst_write(&t, path, stf.p, stf.n);
	hf_bytes_free(&stf);
}

static int look(const char *path)
{
	uint64_t ino;
	int err = hf_fs_resolve(t.fs, path, &ino);

	/* On a busy machine an index takes longer than a look-up waits. */
	if (err == HF_ERR_NOT_FOUND || err == HF_ERR_BUSY) {
		hf_fs_idle(t.fs);
		err = hf_fs_resolve(t.fs, path, &ino);
	}
	if (!err)
		hf_fs_forget(t.fs, ino, 1);
	return err;
}

static size_t count_indexes(void)
{
	struct dirent *entry;
	DIR *dir = opendir(t.index);
	size_t count = 0;

	CHECK(dir);
	while ((entry = readdir(dir)))
		count += strstr(entry->d_name, ".hfi") || strstr(entry->d_name, ".hfv");
	closedir(dir);
	return count;
}

/* With none left it fails for that reason; with a few it may also succeed. */
static void check_shortage(int err, unsigned left)
{
	CHECK(err || left);
	CHECK(!err || hf_err_errno(err) == ENFILE);
}

static void begin(bool patient)
{
	hf_fst_begin(&t);
	write_stf("x.stf", 100, 1);
	write_stf("d/t.stf", 100, 2);
	hf_fst_write_text(&t, "d/capture.ini", "[capture]\nformat = stf\ntrace = t.stf\n");
	hf_fst_open(&t, NULL);
	if (!patient)
		t.fs->archive.make_room = NULL;
}

/* What is looked at for the first time. */
static void test_first_look(unsigned left)
{
	begin(false);
	take_descriptors(left);
	check_shortage(look("x@stf"), left);
	check_shortage(look("d@stf"), left);
	check_shortage(look("d/t.stf"), left);
	give_descriptors();
	CHECK_EQ(look("x@stf/hart0/listing.txt"), 0);
	CHECK_EQ(look("d@stf/hart0/listing.txt"), 0);
	CHECK_EQ(look("d/t@stf"), HF_ERR_NOT_FOUND); /* it belongs to the description */
	CHECK_EQ(look("d@unknown"), HF_ERR_NOT_FOUND);
	hf_fst_end(&t);
}

/* Captures that are known, and have an index that somebody has closed. */
static void test_known(unsigned left)
{
	struct hf_capture *capture;
	struct hf_file *file;
	uint64_t version;
	uint8_t byte;
	size_t n, indexes;

	begin(false);
	file = hf_fst_open_file(&t, "x@stf/hart0/listing.txt");
	CHECK_EQ(look("d@stf/hart0/listing.txt"), 0);
	hf_fs_idle(t.fs);
	indexes = count_indexes();
	CHECK_EQ(hf_capture_at(&t.fs->captures, "x.stf", &capture), 0);
	version = capture->version;
	while (hf_open_pool_newest(&t.fs->captures.open_pool))
		hf_open_drop(hf_open_pool_newest(&t.fs->captures.open_pool)->capture);
	take_descriptors(left);
	check_shortage(hf_fs_read_wait(t.fs, file, 0, &byte, 1, &n), left);
	check_shortage(look("d@stf/hart0/listing.txt"), left);
	give_descriptors();
	CHECK_EQ(hf_fs_read_wait(t.fs, file, 0, &byte, 1, &n), 0);
	CHECK_EQ(n, 1);
	hf_file_close(file);
	CHECK_EQ(look("d@stf/hart0/listing.txt"), 0);
	CHECK_EQ(capture->version, version);
	CHECK_EQ(capture->rebuilds, 0);
	CHECK_EQ(count_indexes(), indexes);
	hf_fst_end(&t);
}

/* A capture, its description or the ELF beside it changes, and can first not be looked at. */
static void test_changed(unsigned left)
{
	begin(false);
	CHECK_EQ(look("x@stf/hart0/listing.txt"), 0);
	CHECK_EQ(look("d@stf/hart0/listing.txt"), 0);
	write_stf("x.stf", 300, 3);
	hf_fst_write_text(&t, "d/capture.ini", "[capture]\nformat = stf\ntrace = t.stf\n# more\n");
	take_descriptors(left);
	check_shortage(look("x@stf"), left);
	check_shortage(look("d@stf"), left);
	give_descriptors();
	CHECK_EQ(look("x@stf/hart0/listing.txt"), 0);
	CHECK_EQ(look("d@stf/hart0/listing.txt"), 0);
	hf_fst_end(&t);
}

static enum hf_capture_state state_of(struct hf_capture *capture)
{
	enum hf_capture_state state;

	pthread_mutex_lock(&capture->lock);
	state = capture->state;
	pthread_mutex_unlock(&capture->lock);
	return state;
}

/* Captures that are to be indexed meanwhile wait for it. */
static void test_indexing(unsigned left)
{
	struct hf_capture *capture;

	begin(false);
	CHECK_EQ(hf_capture_at(&t.fs->captures, "x.stf", &capture), 0);
	take_descriptors(left);
	hf_jobs_add(capture, true);
	hf_fst_sleep_ms(300);
	CHECK(state_of(capture) != HF_CAPTURE_FAILED);
	give_descriptors();
	hf_fs_idle(t.fs);
	CHECK_EQ(state_of(capture), HF_CAPTURE_READY);
	CHECK_EQ(look("x@stf/hart0/listing.txt"), 0);
	hf_fst_end(&t);
}

static atomic_uint naps; /* until there are descriptors again */

/* Takes the place of the library's, for this program alone. */
int nanosleep(const struct timespec *time, struct timespec *left)
{
	if (naps && !--naps)
		give_descriptors();
	return (int)syscall(SYS_nanosleep, time, left);
}

/* For a moment only: who asks does not notice. */
static void test_moment(void)
{
	begin(true);
	CHECK_EQ(look("x@stf/hart0/listing.txt"), 0);
	while (t.fs->descriptors.shed(t.fs->descriptors.ctx))
		continue;
	take_descriptors(0);
	naps = 3;
	CHECK_EQ(look("x@stf"), 0);
	CHECK_EQ(naps, 0);
	hf_fst_end(&t);
}

int main(void)
{
	for (unsigned left = 0; left < 5; left++) {
		test_first_look(left);
		test_known(left);
		test_changed(left);
		test_indexing(left);
	}
	test_moment();
	return 0;
}
