/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packs: what is built for one can be used at once, from the pack, and after packs were put together; damage, a kill
 * and a lost race cost building again and nothing else.
 */
#include "index/store/packs.h"

#include "codecs/base/errors.h"
#include "index/base/fault.h"
#include "index/store/pack.h"
#include "index/store/store.h"
#include "index/table/index_tables.h"
#include "tests/lib/check.h"
#include "tests/lib/indextest.h"
#include "tests/registry/toy.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define HARTS (HF_STREAM_HARTS | HF_STREAM_MANY)

static struct hf_ixtest t;
static struct hf_packs *packs;
static int dir;		    /* the index directory */
static int calls_left = -1; /* of those below until the process dies; negative: never */
static int write_error;	    /* errno of all writing to the directory; 0: none */
static void (*on_open)(void); /* before a published pack is opened; NULL: nothing */

static void count_call(void)
{
	if (calls_left >= 0 && calls_left-- == 0)
		kill(getpid(), SIGKILL);
}

/* These take the place of the library's, for this program alone. */
int fsync(int fd)
{
	count_call();
	return (int)syscall(SYS_fsync, fd);
}

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
	count_call();
	if (write_error) {
		errno = write_error;
		return -1;
	}
	return (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, flags);
}

int unlinkat(int at, const char *name, int flags)
{
	count_call();
	return (int)syscall(SYS_unlinkat, at, name, flags);
}

int openat(int at, const char *name, int flags, ...)
{
	va_list list;
	mode_t mode;

	va_start(list, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
	va_end(list);
	/* A look at its head, whether an older version wrote it, comes before it is opened. */
	if (on_open && strstr(name, ".hfp") && !(flags & O_NOATIME))
		on_open();
	return (int)syscall(SYS_openat, at, name, flags, mode);
}

static void use_packs(void)
{
	t.at = (struct hf_store_dir){.fd = dir, .packs = packs, .into = HF_INTO_PACKS};
}

/* As another process finds the directory. */
static void reopen(void)
{
	hf_packs_free(packs);
	CHECK_EQ(hf_packs_new(dir, NULL, &packs), 0);
	use_packs();
}

static void begin(void)
{
	hf_ixtest_clear(&t);
	reopen();
}

/* What is there is taken, the rest is built. */
static void build(uint64_t seed)
{
	hf_ixtest_capture(&t, 200, 2, HARTS, seed);
	hf_ixtest_build(&t);
}

/* Whether the capture with that seed has an index, which is right then. */
static bool is_there(uint64_t seed)
{
	struct hf_index *index;
	int err;

	hf_ixtest_capture(&t, 200, 2, HARTS, seed);
	err = hf_index_open(&t.at, &t.identity, &index);
	CHECK(!err || err == HF_ERR_NOT_FOUND);
	if (err)
		return false;
	hf_index_close(index);
	hf_ixtest_check(&t);
	return true;
}

static size_t count(const char *part)
{
	return hf_ixtest_count(&t, part);
}

static void test_life(void)
{
	begin();
	for (uint64_t seed = 1; seed <= 10; seed++)
		build(seed);
	CHECK(hf_packs_waiting(packs) >= 20);
	CHECK_EQ(count(".hf"), 0);
	CHECK(is_there(1) && is_there(10) && !is_there(11));
	CHECK_EQ(hf_packs_flush(packs), 0);
	CHECK_EQ(hf_packs_waiting(packs), 0);
	CHECK_EQ(count(".hf"), 1);
	CHECK_EQ(count(".hfp"), 1);
	CHECK(is_there(1) && is_there(10) && !is_there(11));
	reopen();
	CHECK(is_there(1) && is_there(10) && !is_there(11));
	/* Whoever does not pack reads them, too. */
	t.at.into = HF_INTO_DISK;
	CHECK(is_there(5));
	use_packs();
	CHECK_EQ(hf_packs_flush(packs), 0);
	CHECK_EQ(count(".hfp"), 1);
}

/* Of others: a pack is found while the directory is open. */
static void test_others(void)
{
	const int another = dup(dir);
	struct hf_packs *first;
	struct stat before;

	begin();
	CHECK_EQ(fstat(dir, &before), 0);
	CHECK(!is_there(1));
	first = packs;
	CHECK_EQ(hf_packs_new(another, NULL, &packs), 0);
	use_packs();
	build(1);
	CHECK_EQ(hf_packs_flush(packs), 0);
	hf_packs_free(packs);
	close(another);
	packs = first;
	use_packs();
	/* It is looked for once a second, also where the directory's time is as it was when that was listed. */
	CHECK_EQ(futimens(dir, (struct timespec[2]){{.tv_nsec = UTIME_OMIT}, before.st_mtim}), 0);
	CHECK_COMES(is_there(1));
}

static void test_merge(void)
{
	begin();
	for (uint64_t seed = 1; seed <= 20; seed++) {
		build(seed);
		CHECK_EQ(hf_packs_flush(packs), 0);
		CHECK(count(".hfp") <= 8);
	}
	for (uint64_t seed = 1; seed <= 20; seed++)
		CHECK(is_there(seed));
	reopen();
	for (uint64_t seed = 1; seed <= 20; seed++)
		CHECK(is_there(seed));
}

/* A file that is found to be of no use is made again, and the new one counts. */
static void test_drop(void)
{
	struct hf_index *index;

	begin();
	build(1);
	build(2);
	CHECK_EQ(hf_packs_flush(packs), 0);
	hf_ixtest_capture(&t, 200, 2, HARTS, 1);
	CHECK_EQ(hf_index_open(&t.at, &t.identity, &index), 0);
	hf_index_remove(index);
	hf_index_close(index);
	CHECK(!is_there(1) && is_there(2));
	build(1);
	CHECK(is_there(1));
	CHECK_EQ(hf_packs_flush(packs), 0);
	CHECK(is_there(1));
	CHECK_EQ(count(".hfp"), 2);
	hf_ixtest_capture(&t, 200, 2, HARTS, 2);
	hf_index_discard(&t.at, &t.identity, t.keys, t.key_count);
	CHECK(is_there(1) && !is_there(2));
}

/* Of the names in order, the first or the last. */
static char *find_pack(const char *head_or_tail)
{
	static char name[HF_FILE_NAME_SIZE];
	struct hf_pack *pack = NULL;
	char command[256];
	FILE *out;

	snprintf(command, sizeof command, "ls %s | grep 'hfp$' | %s -n 1", t.dir, head_or_tail);
	out = popen(command, "r");
	CHECK(out && fscanf(out, "%255s", name) == 1);
	pclose(out);
	CHECK_EQ(hf_pack_open(openat(dir, name, O_RDONLY), name, &pack), 0);
	hf_pack_close(pack);
	return name;
}

static void ignore(void *ctx, const char *name, const char *what)
{
	(void)ctx, (void)name, (void)what;
}

/* A byte that is wrong, wherever it is, is met when its page is read, and costs building again. */
static void test_damage(void)
{
	unsigned damaged = 0;
	struct stat st;
	char *name;
	int fd;

	begin();
	for (uint64_t seed = 1; seed <= 3; seed++)
		build(seed);
	CHECK_EQ(hf_packs_flush(packs), 0);
	name = find_pack("head");
	fd = openat(dir, name, O_RDWR);
	CHECK(fd >= 0 && fstat(fd, &st) == 0);
	for (off_t at = 0; at < st.st_size; at += 1 + at / (HF_TEST_SANITIZED ? 2 : 8)) {
		uint8_t byte, wrong;

		CHECK(pread(fd, &byte, 1, at) == 1);
		wrong = byte ^ 0x10;
		CHECK(pwrite(fd, &wrong, 1, at) == 1);
		reopen();
		for (uint64_t seed = 1; seed <= 3; seed++) {
			hf_ixtest_capture(&t, 200, 2, HARTS, seed);
			CHECK_EQ(hf_index_examine(&t.at, &t.identity, t.keys, t.key_count, HF_EXAMINE_PAGES, ignore,
						  NULL, NULL),
				 0);
			hf_ixtest_build(&t);
			CHECK(is_there(seed));
		}
		damaged += hf_packs_waiting(packs) > 0;
		CHECK(pwrite(fd, &byte, 1, at) == 1);
	}
	for (off_t size = 0; size < st.st_size; size += 1 + size / 2) {
		CHECK_EQ(ftruncate(fd, size), 0);
		reopen();
		CHECK(!is_there(1));
		build(1);
		CHECK(is_there(1));
	}
	CHECK(damaged > 5);
	close(fd);
	/* Of another pack nothing is lost. */
	CHECK_EQ(hf_packs_flush(packs), 0);
	reopen();
	CHECK(is_there(1));
}

/* The directory cannot be written: what waits is served, and written when that works. */
static void test_no_directory(void)
{
	begin();
	build(1);
	write_error = ENOSPC;
	CHECK_EQ(hf_packs_flush(packs), HF_ERR_INDEX_DIR);
	build(2);
	CHECK_EQ(hf_packs_flush(packs), HF_ERR_INDEX_DIR);
	CHECK(is_there(1) && is_there(2));
	CHECK_EQ(count(".hf"), 0);
	write_error = 0;
	CHECK_EQ(hf_packs_flush(packs), 0);
	reopen();
	CHECK(is_there(1) && is_there(2));
}

/* A kill at any moment of packing and of putting packs together: what was published is there, the rest is built. */
static void test_kill(void)
{
	int status = 0;

	begin();
	for (uint64_t seed = 1; seed <= 7; seed++) {
		build(seed);
		CHECK_EQ(hf_packs_flush(packs), 0);
	}
	for (int calls = 0; calls < 100; calls++) {
		pid_t child = fork();

		CHECK(child >= 0);
		if (!child) {
			build(8 + (uint64_t)calls);
			calls_left = calls;
			CHECK_EQ(hf_packs_flush(packs), 0);
			_exit(0);
		}
		CHECK(waitpid(child, &status, 0) == child);
		reopen();
		for (uint64_t seed = 1; seed <= 7; seed++)
			CHECK(is_there(seed));
		if (WIFEXITED(status))
			break;
		CHECK_EQ(WTERMSIG(status), SIGKILL);
	}
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	build(8);
	CHECK_EQ(hf_packs_flush(packs), 0);
	reopen();
	for (uint64_t seed = 1; seed <= 8; seed++)
		CHECK(is_there(seed));
}

/* Too large for a pack: it is said, so that whoever builds goes elsewhere. */
static void test_too_large(void)
{
	struct hf_diag diag;

	begin();
	hf_ixtest_limit(&t, 1);
	hf_ixtest_capture(&t, 20000, 2, HARTS, 1);
	CHECK_EQ(hf_build_run(&t.build, &diag), HF_ERR_INDEX_DIR);
	CHECK_EQ(hf_fault_last()->errnum, E2BIG);
	t.at.into = HF_INTO_DISK;
	hf_ixtest_build(&t);
}

/* ---- many threads: each file is of 64 that all of them make, read, drop and publish ---- */

enum { FILES = 64, THREADS = 4, ROUNDS = HF_TEST_SANITIZED ? 150 : 2000 };

static void name_of(uint32_t file, char name[HF_FILE_NAME_SIZE])
{
	snprintf(name, HF_FILE_NAME_SIZE, "%08x%024x.hfi", file * 0x9e3779b1u, file);
}

/* A file with a row of that many bytes, all alike. */
static void make_file(uint32_t file, size_t size)
{
	static _Thread_local struct hf_image_piece piece;
	char name[HF_FILE_NAME_SIZE];
	struct hf_store *store;
	struct hf_part part;
	int err;

	name_of(file, name);
	err = hf_part_open(&t.at, name, &part);
	if (err == HF_ERR_BUSY)
		return;
	CHECK_EQ(err, 0);
	CHECK_EQ(hf_store_open_part(&part, HF_DB_INDEX, &store), 0);
	piece.n = (uint32_t)size;
	memset(piece.data, (int)file, size);
	CHECK_EQ(hf_store_put(store, &hf_table_image, 7, &piece), 0);
	CHECK_EQ(hf_store_finish(store), 0);
	hf_store_close(store);
	CHECK_EQ(hf_part_publish(&part), 0);
	hf_part_close(&part);
}

static bool read_file(uint32_t file)
{
	static _Thread_local struct hf_image_piece piece;
	char name[HF_FILE_NAME_SIZE];
	struct hf_store *store;
	int err;

	name_of(file, name);
	err = hf_store_open(&t.at, name, HF_DB_INDEX, &store);
	CHECK(!err || err == HF_ERR_NOT_FOUND);
	if (err)
		return false;
	CHECK_EQ(hf_store_find(store, &hf_table_image, HF_SEEK_AT, 7, NULL, &piece), 0);
	for (uint32_t i = 0; i < piece.n; i++)
		CHECK_EQ(piece.data[i], (uint8_t)file);
	hf_store_close(store);
	return true;
}

static void *churn(void *arg)
{
	uint32_t random = (uint32_t)(uintptr_t)arg;
	char name[HF_FILE_NAME_SIZE];

	for (int round = 0; round < ROUNDS; round++) {
		const uint32_t file = (random = random * 1664525u + 1013904223u) >> 26, what = random >> 8 & 255;

		if (what < 100) {
			make_file(file, 1 + what * 10);
		} else if (what < 110) {
			name_of(file, name);
			hf_packs_drop(packs, name);
		} else if (what < 114) {
			CHECK_EQ(hf_packs_flush(packs), 0);
		} else {
			read_file(file);
		}
	}
	return NULL;
}

static void test_threads(void)
{
	pthread_t thread[THREADS];

	begin();
	for (size_t i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, churn, (void *)(uintptr_t)(i + 1)), 0);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (uint32_t file = 0; file < FILES; file++)
		make_file(file, 100);
	CHECK_EQ(hf_packs_flush(packs), 0);
	CHECK_EQ(hf_packs_waiting(packs), 0);
	for (int again = 0; again < 2; again++, reopen())
		for (uint32_t file = 0; file < FILES; file++)
			CHECK(read_file(file));
}

/* The newest pack has all that eight others have: put together they are what it is. */
static void test_merge_same(void)
{
	begin();
	for (int pack = 0; pack < 8; pack++) {
		for (uint32_t file = 0; file < 4; file++)
			make_file(file, 100);
		CHECK_EQ(hf_packs_flush(packs), 0);
	}
	CHECK_EQ(count(".hfp"), 1);
	for (uint32_t file = 0; file < 4; file++)
		CHECK(read_file(file));
}

static char newest[HF_FILE_NAME_SIZE];
static unsigned opened;

/* Once a pack is known, the newest one is. */
static void find_newest(void)
{
	char name[HF_FILE_NAME_SIZE];
	struct hf_packed file;

	if (!opened++)
		return;
	name_of(1, name);
	CHECK_EQ(hf_packs_find(packs, name, &file), 0);
	CHECK(strcmp(file.pack->name, newest) == 0);
	hf_pack_close(file.pack);
}

/* Whoever looks for a file while the directory is listed finds the newest, in whatever order names are listed. */
static void test_listing(void)
{
	begin();
	make_file(1, 100);
	CHECK_EQ(hf_packs_flush(packs), 0);
	make_file(1, 200);
	CHECK_EQ(hf_packs_flush(packs), 0);
	CHECK_EQ(count(".hfp"), 2);
	strcpy(newest, find_pack("tail"));
	for (int i = 0; i < 2; i++) {
		const char *name = find_pack(i ? "head" : "tail");

		/* Where names are listed by age, either way, this one is at an end. */
		CHECK(renameat(dir, name, dir, "away") == 0 && renameat(dir, "away", dir, name) == 0);
		reopen();
		opened = 0;
		on_open = find_newest;
		CHECK(read_file(1));
		on_open = NULL;
		CHECK_EQ(opened, 2);
	}
}

/* What waits is bounded in bytes, and packs are. */
static void test_full(void)
{
	const size_t size = HF_PACK_FILE_MAX - 64;
	uint32_t file = 0;
	struct stat st;

	begin();
	CHECK(!hf_packs_is_full(packs));
	for (; file < 60; file++)
		make_file(file, size);
	CHECK(!hf_packs_is_full(packs));
	for (; file < 65; file++)
		make_file(file, size);
	CHECK(hf_packs_is_full(packs));
	for (; file < 150; file++)
		make_file(file, size);
	CHECK_EQ(hf_packs_flush(packs), 0);
	CHECK(!hf_packs_is_full(packs));
	CHECK_EQ(count(".hfp"), 3);
	CHECK(fstatat(dir, find_pack("head"), &st, 0) == 0 &&
	      (uint64_t)st.st_size < HF_PACK_BYTES_MAX + 2 * HF_PACK_FILE_MAX);
	while (file--)
		CHECK(read_file(file));
}

/* However many packs there are: few of them are open, and all are read. */
static void test_many_packs(void)
{
	enum { MANY = 40 };

	begin();
	for (uint32_t file = 0; file < MANY; file++) {
		make_file(file, 100);
		CHECK_EQ(hf_packs_flush(packs), 0);
		/* Who has not looked for the others does not put them together. */
		reopen();
	}
	CHECK_EQ(count(".hfp"), MANY);
	for (uint32_t i = 0; i < 3 * MANY; i++)
		CHECK(read_file(i % MANY));
}

int main(void)
{
	hf_ixtest_init(&t);
	dir = t.dirfd;
	test_life();
	test_others();
	test_merge();
	test_drop();
	test_damage();
	test_no_directory();
	test_kill();
	test_too_large();
	test_threads();
	test_merge_same();
	test_listing();
	test_full();
	test_many_packs();
	hf_packs_free(packs);
	hf_ixtest_fini(&t);
	return 0;
}
