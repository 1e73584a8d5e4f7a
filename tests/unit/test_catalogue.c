/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The catalogue: what is put is found, by this and by later ones, as long as the stamp is the same; files that are not
 * what they should be are none; writers in each other's way, and one that is killed, lose nothing but news.
 */
#include "codecs/base/errors.h"
#include "index/catalogue/catalogue.h"
#include "index/store/file.h"
#include "index/table/vfs.h"
#include "tests/lib/check.h"
#include "tests/lib/indextest.h"
#include "tests/registry/toy.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct hf_ixtest t;
static int calls_left = -1; /* of those below until the process dies; negative: never */

static void count_call(void)
{
	if (calls_left >= 0 && calls_left-- == 0)
		raise(SIGKILL);
}

/* These take the place of the library's, for this program alone. */
int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	count_call();
	return (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, 0);
}

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
	count_call();
	return (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, flags);
}

int unlinkat(int at, const char *name, int flags)
{
	count_call();
	return (int)syscall(SYS_unlinkat, at, name, flags);
}

static struct hf_catalogue_key default_key(void)
{
	return (struct hf_catalogue_key){
		.path = "/srv/traces", .ino = 7, .btime_ns = 8, .views = t.keys, .view_count = 3};
}

static struct hf_catalogue *open_key(const struct hf_catalogue_key *key)
{
	struct hf_catalogue *cat;

	CHECK_EQ(hf_catalogue_open(&t.at, key, &cat), 0);
	return cat;
}

static struct hf_catalogue *open_cat(void)
{
	struct hf_catalogue_key key = default_key();

	return open_key(&key);
}

/* What entry number i of a test is: a bit of everything. */
static struct hf_catalogue_entry make_entry(uint64_t i, struct hf_index_hart hart[3], uint64_t size[9])
{
	struct hf_catalogue_entry entry = {
		.stamp = {.size = i * 10, .ino = i + 5, .mtime_ns = (int64_t)i - 1, .ctime_ns = INT64_MIN + (int64_t)i},
		.kind = HF_CATALOGUE_NOT_CAPTURE + i % 3,
		.known.original = -1,
	};

	if (entry.kind >= HF_CATALOGUE_CAPTURE) {
		entry.codec = t.codec;
		entry.box = i % 2 ? hf_box_by_name("gzip") : NULL;
	}
	if (entry.kind != HF_CATALOGUE_INDEXED)
		return entry;
	entry.known.print[0] = UINT64_MAX - i;
	entry.known.print[1] = i;
	entry.known.files[0] = 3 * i;
	entry.known.files[1] = UINT64_MAX - 2 * i;
	entry.beside = i % 2 ? UINT64_MAX - 7 * i : 0;
	entry.known.text_size[HF_TEXT_INFO] = 300 + i;
	entry.known.text_size[HF_TEXT_ERRORS] = i % 5;
	entry.known.problems = i % 7;
	entry.known.stream_size = HF_NOWHERE;
	if (i % 4 == 0) {
		entry.known.undecoded = (struct hf_diag){
			.code = HF_ERR_TRUNCATED, .space = HF_SPACE_FILE, .offset = HF_NOWHERE, .detail = i};
		return entry;
	}
	entry.known.codec = t.codec;
	entry.known.stream_size = i << 20;
	entry.known.original = i % 2 ? 1 : -1;
	snprintf(entry.known.version, sizeof entry.known.version, "1.%u", (unsigned)i % 10);
	entry.known.arch = HF_ARCH_ARM;
	entry.known.isa = HF_ISA_A64;
	entry.known.xlen = 64;
	entry.hart_count = 1 + i % 3;
	entry.hart = hart;
	entry.size = size;
	entry.profiles = i % 2 ? (char *)"profile 0 00 1 - ? \nprofile 100 00 7 \n" : NULL;
	for (size_t k = 0; k < entry.hart_count; k++)
		hart[k] = (struct hf_index_hart){.id = k == 2 ? HF_HART_RECORDS : (uint32_t)(k * 100),
						 .insns = i,
						 .attempts = k,
						 .events = i + k,
						 .chunks = 1 + i};
	for (size_t k = 0; k < 9; k++)
		size[k] = k % 3 == i % 3 ? HF_NOWHERE : i * k;
	return entry;
}

static void path_of(uint64_t i, char path[64])
{
	snprintf(path, 64, "dir%u/capture \xff%u.toy", (unsigned)i % 10, (unsigned)i);
}

static int put(struct hf_catalogue *cat, uint64_t i)
{
	struct hf_index_hart hart[3];
	uint64_t size[9];
	struct hf_catalogue_entry entry = make_entry(i, hart, size);
	char path[64];

	path_of(i, path);
	return hf_catalogue_put(cat, path, &entry);
}

/* Whether number i is there; if so, it must be right. */
static bool found(struct hf_catalogue *cat, uint64_t i)
{
	struct hf_index_hart hart[3];
	uint64_t size[9];
	struct hf_catalogue_entry want = make_entry(i, hart, size), got;
	char path[64];
	int err;

	path_of(i, path);
	err = hf_catalogue_find(cat, path, &want.stamp, &got);
	if (err) {
		CHECK_EQ(err, HF_ERR_NOT_FOUND);
		return false;
	}
	CHECK(memcmp(&got.stamp, &want.stamp, sizeof want.stamp) == 0);
	CHECK_EQ(got.kind, want.kind);
	CHECK(got.box == want.box && got.codec == want.codec && got.known.codec == want.known.codec);
	CHECK(memcmp(got.known.print, want.known.print, sizeof want.known.print) == 0);
	CHECK(memcmp(got.known.files, want.known.files, sizeof want.known.files) == 0);
	CHECK_EQ(got.beside, want.beside);
	CHECK_EQ(got.known.stream_size, want.known.stream_size);
	CHECK_EQ(got.known.text_size[HF_TEXT_INFO], want.known.text_size[HF_TEXT_INFO]);
	CHECK_EQ(got.known.text_size[HF_TEXT_ERRORS], want.known.text_size[HF_TEXT_ERRORS]);
	CHECK_EQ(got.known.problems, want.known.problems);
	CHECK_STR(got.known.version, want.known.version);
	CHECK(got.known.arch == want.known.arch && got.known.isa == want.known.isa && got.known.xlen == want.known.xlen);
	CHECK_EQ(got.known.original, want.known.original);
	CHECK(got.profiles ? want.profiles && !strcmp(got.profiles, want.profiles) : !want.profiles);
	CHECK(got.known.undecoded.code == want.known.undecoded.code && got.known.undecoded.offset == want.known.undecoded.offset &&
	      got.known.undecoded.detail == want.known.undecoded.detail && got.known.undecoded.space == want.known.undecoded.space);
	CHECK_EQ(got.hart_count, want.hart_count);
	for (size_t k = 0; k < want.hart_count; k++) {
		CHECK(got.hart[k].id == hart[k].id && got.hart[k].insns == hart[k].insns &&
		      got.hart[k].attempts == hart[k].attempts && got.hart[k].events == hart[k].events &&
		      got.hart[k].chunks == hart[k].chunks);
		for (size_t v = 0; v < 3; v++)
			CHECK_EQ(got.size[k * 3 + v], size[k * 3 + v]);
	}
	hf_catalogue_clear(&got);
	return true;
}

static void check_all(struct hf_catalogue *cat, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		CHECK(found(cat, i));
}

/* A catalogue with entries 0..n-1, published. */
static void make(uint64_t n)
{
	struct hf_catalogue *cat = open_cat();

	for (uint64_t i = 0; i < n; i++)
		CHECK_EQ(put(cat, i), 0);
	CHECK_EQ(hf_catalogue_flush(cat), 0);
	CHECK_EQ(hf_catalogue_pending(cat), 0);
	hf_catalogue_close(cat);
}

/* The name of the one catalogue there is. */
static void name_of(char name[256])
{
	DIR *dir = opendir(t.dir);
	struct dirent *entry;

	*name = 0;
	CHECK(dir);
	while ((entry = readdir(dir)))
		if (*entry->d_name != '.' && strstr(entry->d_name, ".hfc"))
			snprintf(name, 256, "%s", entry->d_name);
	closedir(dir);
	CHECK(*name);
}

static void store(const char *name, const void *bytes, size_t n)
{
	int fd;

	unlinkat(t.dirfd, name, 0);
	fd = openat(t.dirfd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	CHECK(fd >= 0);
	CHECK(write(fd, bytes, n) == (ssize_t)n);
	close(fd);
}

static void test_store(void)
{
	struct hf_catalogue *cat = open_cat(), *later;

	CHECK(!found(cat, 0));
	CHECK_EQ(hf_catalogue_flush(cat), 0);
	CHECK_EQ(hf_ixtest_count(&t, "hf"), 0);
	for (uint64_t i = 0; i < 1000; i++)
		CHECK_EQ(put(cat, i), 0);
	CHECK_EQ(hf_catalogue_pending(cat), 1000);
	check_all(cat, 1000);
	CHECK_EQ(hf_catalogue_flush(cat), 0);
	check_all(cat, 1000);
	CHECK_EQ(hf_ixtest_count(&t, "hf"), 1);
	later = open_cat();
	check_all(later, 1000);
	CHECK(!found(later, 1000));
	/* More, without losing any. */
	for (uint64_t i = 1000; i < 1100; i++)
		CHECK_EQ(put(cat, i), 0);
	CHECK_EQ(hf_catalogue_flush(cat), 0);
	check_all(cat, 1100);
	check_all(later, 1000);
	hf_catalogue_close(later);
	hf_catalogue_close(cat);
	cat = open_cat();
	check_all(cat, 1100);
	hf_catalogue_close(cat);
	hf_ixtest_clear(&t);
}

/* Another size, time or inode is another file; a later entry takes the place of an earlier one. */
static void test_stamp(void)
{
	struct hf_catalogue_entry entry = {.kind = HF_CATALOGUE_NOT_CAPTURE, .stamp = {1, 2, 3, 4}}, got;
	struct hf_catalogue *cat = open_cat();

	for (int pass = 0; pass < 3; pass++) {
		struct hf_catalogue_stamp changed[4] = {entry.stamp, entry.stamp, entry.stamp, entry.stamp};

		if (pass == 0)
			CHECK_EQ(hf_catalogue_put(cat, "x", &entry), 0);
		if (pass == 1)
			CHECK_EQ(hf_catalogue_flush(cat), 0);
		changed[0].size++;
		changed[1].ino++;
		changed[2].mtime_ns++;
		changed[3].ctime_ns++;
		CHECK_EQ(hf_catalogue_find(cat, "x", &entry.stamp, &got), 0);
		CHECK_EQ(hf_catalogue_find(cat, "y", &entry.stamp, &got), HF_ERR_NOT_FOUND);
		for (int i = 0; i < 4; i++)
			CHECK_EQ(hf_catalogue_find(cat, "x", &changed[i], &got), HF_ERR_NOT_FOUND);
		if (pass == 1) {
			entry.stamp.size = 99;
			CHECK_EQ(hf_catalogue_put(cat, "x", &entry), 0);
			CHECK_EQ(hf_catalogue_put(cat, "x", &entry), 0);
			CHECK_EQ(hf_catalogue_flush(cat), 0);
		}
	}
	entry.kind = HF_CATALOGUE_GONE;
	CHECK_EQ(hf_catalogue_put(cat, "x", &entry), 0);
	CHECK_EQ(hf_catalogue_find(cat, "x", &entry.stamp, &got), HF_ERR_NOT_FOUND);
	CHECK_EQ(hf_catalogue_flush(cat), 0);
	CHECK_EQ(hf_catalogue_find(cat, "x", &entry.stamp, &got), HF_ERR_NOT_FOUND);
	hf_catalogue_close(cat);
	hf_ixtest_clear(&t);
}

/* Whatever tells archives and views apart gives another file. */
static void test_keys(void)
{
	struct hf_catalogue_key key[6] = {default_key(), default_key(), default_key(),
					  default_key(), default_key(), default_key()};
	struct hf_view_key views[3] = {t.keys[0], t.keys[1], t.keys[2]};
	char long_path[5000];
	struct hf_catalogue *cat;

	key[1].path = "/srv/trace";
	key[2].ino++;
	key[3].btime_ns++;
	key[4].view_count = 2;
	views[1].params = "a=2";
	key[5].views = views;
	for (uint64_t i = 0; i < 6; i++) {
		cat = open_key(&key[i]);
		for (uint64_t k = 0; k < 6; k++)
			CHECK(!found(cat, k * 3));
		CHECK_EQ(put(cat, i * 3), 0);
		CHECK_EQ(hf_catalogue_flush(cat), 0);
		hf_catalogue_close(cat);
		CHECK_EQ(hf_ixtest_count(&t, ".hfc"), i + 1);
	}
	memset(long_path, '/', sizeof long_path);
	long_path[sizeof long_path - 1] = 0;
	key[0].path = long_path;
	CHECK_EQ(hf_catalogue_open(&t.at, &key[0], &cat), HF_ERR_LIMIT);
	cat = open_cat();
	CHECK_EQ(hf_catalogue_put(cat, long_path, &(struct hf_catalogue_entry){.kind = HF_CATALOGUE_NOT_CAPTURE}),
		 HF_ERR_LIMIT);
	hf_catalogue_close(cat);
	hf_ixtest_clear(&t);
}

/* Finds nothing wrong, and is whole again after the next flush. */
static void survive(uint64_t n)
{
	struct hf_catalogue *cat = open_cat();
	uint64_t lost = n;

	for (uint64_t i = 0; i < n; i++)
		lost -= found(cat, i);
	if (lost) {
		for (uint64_t i = 0; i < n; i++)
			CHECK_EQ(put(cat, i), 0);
		CHECK_EQ(hf_catalogue_flush(cat), 0);
		check_all(cat, n);
	}
	hf_catalogue_close(cat);
}

static void test_damaged(void)
{
	enum { N = 200 };
	struct hf_walk_bytes good, bad;
	char name[256];

	make(N);
	name_of(name);
	good = hf_bytes_load(t.dir, name);
	for (size_t at = 0; at < good.n; at += at < 200 ? 1 : 997) {
		bad = (struct hf_walk_bytes){0};
		hf_bytes_add(&bad, good.p, good.n);
		bad.p[at] ^= 0x55;
		/* Foreign: stays. */
		if (at >= 16 && (at < 68 || at >= 72)) {
			store(name, bad.p, bad.n);
			survive(N);
		}
		hf_bytes_free(&bad);
	}
	for (size_t n = 100; n < good.n; n += 1501) {
		store(name, good.p, n);
		survive(N);
	}
	/* The user version, with the right checksum: of the future. */
	bad = (struct hf_walk_bytes){0};
	hf_bytes_add(&bad, good.p, good.n);
	bad.p[63]++;
	hf_vfs_seal(bad.p, 0);
	store(name, bad.p, bad.n);
	survive(N);
	hf_bytes_free(&bad);
	/* A good one under the name of another archive's. */
	store(name, good.p, good.n);
	{
		struct hf_catalogue_key key = default_key();
		struct hf_catalogue *cat;
		char other[256];

		CHECK_EQ(renameat(t.dirfd, name, t.dirfd, "kept"), 0);
		key.path = "/srv/others";
		cat = open_key(&key);
		CHECK_EQ(put(cat, 0), 0);
		CHECK_EQ(hf_catalogue_flush(cat), 0);
		hf_catalogue_close(cat);
		name_of(other);
		CHECK_EQ(renameat(t.dirfd, "kept", t.dirfd, other), 0);
		cat = open_key(&key);
		CHECK(!found(cat, 1));
		hf_catalogue_close(cat);
	}
	hf_bytes_free(&good);
	hf_ixtest_clear(&t);
}

/* What is not ours is not believed, whether it stands under the name or where the new one is made. */
static void test_foreign(void)
{
	static const char text[] = "Dear diary, this is no catalogue, and longer than the header of a database: "
				   "so it has at least a hundred bytes.";
	char name[256], part[300];

	make(3);
	name_of(name);
	snprintf(part, sizeof part, ".%s.part", name);
	for (int i = 0; i < 2; i++) {
		const char *in_the_way = i ? part : name;
		struct hf_catalogue *cat;

		store(in_the_way, text, sizeof text);
		cat = open_cat();
		CHECK(i || !found(cat, 0));
		CHECK_EQ(put(cat, 5), 0);
		CHECK_EQ(hf_catalogue_flush(cat), 0);
		CHECK(found(cat, 5));
		hf_catalogue_close(cat);
		hf_ixtest_clear(&t);
		make(3);
	}
	/* Somebody else's directory in the way; a catalogue that others can write to. */
	hf_ixtest_clear(&t);
	make(3);
	CHECK_EQ(fchmod(t.dirfd, 0755), 0);
	CHECK_EQ(fchmodat(t.dirfd, name, 0666, 0), 0);
	{
		struct hf_catalogue *cat = open_cat();

		CHECK(!found(cat, 0));
		hf_catalogue_close(cat);
	}
	CHECK_EQ(fchmod(t.dirfd, 0700), 0);
	hf_ixtest_clear(&t);
}

/* Rows that were written with right checksums by somebody who means harm. */
static void test_hostile(void)
{
	static const char *const change[] = {
		"UPDATE file SET kind = 9", "UPDATE file SET kind = 0", "UPDATE file SET path = 'x'",
		"UPDATE file SET path = CAST(x'610062' AS TEXT)", "UPDATE file SET codec = 'none'",
		"UPDATE file SET codec = NULL", "UPDATE file SET box = 'box'", "UPDATE file SET stream = 'x'",
		"UPDATE file SET stream = NULL", "UPDATE file SET stream_size = -1", "UPDATE file SET stream_size = -2",
		"UPDATE file SET info_size = -1", "UPDATE file SET error_code = 1",
		"UPDATE file SET error_code = -99999",
		"UPDATE file SET error_space = 2", "UPDATE file SET arch = 99", "UPDATE file SET isa = -1",
		"UPDATE file SET xlen = 65536", "UPDATE file SET original = 'none'", "UPDATE file SET harts = NULL",
		"UPDATE file SET harts = '0'", "UPDATE file SET harts = '0 0 0 0 '",
		"UPDATE file SET harts = '0 0 0 0 0 '",
		"UPDATE file SET harts = '0 0 0 0 0 x=1 ' || char(10)",
		"UPDATE file SET harts = '0 0 0 0 99999999999999999999 ' || char(10)",
		"UPDATE file SET harts = '4294967296 0 0 0 1 ' || char(10)",
		"UPDATE file SET harts = '0 -1 0 0 1 ' || char(10)",
		"UPDATE file SET harts = '1 0 0 0 1 ' || char(10) || '1 0 0 0 1 ' || char(10)",
		"UPDATE file SET harts = '1 0 0 0 1 ' || char(10) || '0 0 0 0 1 ' || char(10)",
		"UPDATE file SET harts = '0 0 0 0 1 =' || char(10)",
		"UPDATE file SET harts = '0 0 0 0 1 0 0 0 ' || char(10) || 'profile 0 0 1 '",
		"UPDATE file SET harts = '0 0 0 0 1 0 0 0 ' || char(10) || 'profil 0 0 1 ' || char(10)",
		"UPDATE file SET harts = harts || ' '", "UPDATE file SET version = printf('%1000d', 1)",
		"UPDATE meta SET complete = 0", "UPDATE meta SET path = 'x'", "UPDATE meta SET inode = -1",
		"UPDATE meta SET views = ''", "DELETE FROM meta", "DELETE FROM file",
	};
	struct hf_walk_bytes good;
	char name[256];

	make(30);
	name_of(name);
	good = hf_bytes_load(t.dir, name);
	for (size_t i = 0; i < sizeof change / sizeof *change; i++) {
		struct hf_catalogue *cat;
		sqlite3 *db;
		int fd;

		store(name, good.p, good.n);
		fd = openat(t.dirfd, name, O_RDWR | O_CLOEXEC);
		CHECK(fd >= 0);
		CHECK_EQ(hf_db_open_part(fd, t.dirfd, name, HF_DB_CATALOGUE, &db), 0);
		CHECK_EQ(hf_db_run(db, change[i]), 0);
		CHECK_EQ(hf_db_finish(db), 0);
		hf_db_close(db);
		close(fd);
		unlinkat(t.dirfd, "none-journal", 0);
		cat = open_cat();
		for (uint64_t k = 0; k < 30; k++) {
			struct hf_index_hart hart[3];
			uint64_t size[9];
			struct hf_catalogue_entry want = make_entry(k, hart, size), got;
			char path[64];

			/* It may be wrong, but it must make sense. */
			path_of(k, path);
			if (hf_catalogue_find(cat, path, &want.stamp, &got))
				continue;
			CHECK(got.kind >= HF_CATALOGUE_NOT_CAPTURE && got.kind <= HF_CATALOGUE_INDEXED);
			CHECK(got.kind == HF_CATALOGUE_NOT_CAPTURE || got.codec);
			CHECK(got.known.original >= -1 && got.known.original < 3);
			CHECK(got.known.undecoded.code <= 0 && hf_err_name(got.known.undecoded.code));
			hf_catalogue_clear(&got);
		}
		hf_catalogue_close(cat);
		survive(30);
	}
	hf_bytes_free(&good);
	hf_ixtest_clear(&t);
}

/* Two that write: what either has flushed is in the file. */
static void test_writers(void)
{
	struct hf_catalogue *a = open_cat(), *b = open_cat(), *c;
	struct hf_part part;
	char name[256];

	for (uint64_t i = 0; i < 100; i++)
		CHECK_EQ(put(i % 2 ? a : b, i), 0);
	CHECK_EQ(hf_catalogue_flush(a), 0);
	CHECK(!found(b, 1));
	CHECK_EQ(hf_catalogue_flush(b), 0);
	check_all(b, 100);
	c = open_cat();
	check_all(c, 100);
	/* Somebody is at it: later. */
	name_of(name);
	CHECK_EQ(hf_part_open(&t.at, name, &part), 0);
	CHECK_EQ(put(a, 100), 0);
	CHECK_EQ(hf_catalogue_flush(a), HF_ERR_BUSY);
	CHECK(found(a, 100));
	CHECK_EQ(hf_catalogue_pending(a), 1);
	hf_part_close(&part);
	CHECK_EQ(hf_catalogue_flush(a), 0);
	check_all(a, 101);
	hf_catalogue_close(a);
	hf_catalogue_close(b);
	hf_catalogue_close(c);
	hf_ixtest_clear(&t);
}

struct worker {
	struct hf_catalogue *cat;
	uint64_t from, n;
	bool flush;
};

static void *work(void *arg)
{
	struct worker *w = arg;

	for (uint64_t i = w->from; i < w->from + w->n; i++) {
		CHECK_EQ(put(w->cat, i), 0);
		CHECK(found(w->cat, i));
		found(w->cat, i / 2);
		if (w->flush && i % 20 == 0) {
			int err = hf_catalogue_flush(w->cat);

			CHECK(err == 0 || err == HF_ERR_BUSY);
		}
	}
	return NULL;
}

/* Threads of two daemons, all putting, finding and writing at once, some of it the same. */
static void test_threads(void)
{
	struct hf_catalogue *cat[2] = {open_cat(), open_cat()};
	struct worker w[4] = {{cat[0], 0, 300, true}, {cat[0], 200, 300, true}, {cat[1], 500, 300, true},
			      {cat[1], 500, 300, false}};
	pthread_t thread[4];

	for (int i = 0; i < 4; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, work, &w[i]), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	CHECK_EQ(hf_catalogue_flush(cat[0]), 0);
	CHECK_EQ(hf_catalogue_flush(cat[1]), 0);
	hf_catalogue_close(cat[0]);
	hf_catalogue_close(cat[1]);
	cat[0] = open_cat();
	check_all(cat[0], 800);
	hf_catalogue_close(cat[0]);
	hf_ixtest_clear(&t);
}

/* Killed at any moment: what was flushed before is there, whole, and the next one can write. */
static void test_kill(void)
{
	uint64_t seed = 1;

	for (int round = 0; round < 40; round++) {
		struct hf_catalogue *cat;
		uint64_t before = 0;
		int told[2];
		pid_t pid;

		CHECK_EQ(pipe(told), 0);
		pid = fork();
		CHECK(pid >= 0);
		if (!pid) {
			cat = open_cat();
			for (uint64_t i = 0;; i++) {
				for (uint64_t k = 0; k < 50; k++)
					put(cat, i * 50 + k);
				if (hf_catalogue_flush(cat) || write(told[1], "x", 1) != 1)
					_exit(1);
			}
		}
		close(told[1]);
		usleep(hf_rand_next(&seed) % 30000);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		for (char c; read(told[0], &c, 1) == 1;)
			before += 50;
		close(told[0]);
		cat = open_cat();
		check_all(cat, before);
		CHECK_EQ(put(cat, 100000), 0);
		CHECK_EQ(hf_catalogue_flush(cat), 0);
		check_all(cat, before);
		CHECK(found(cat, 100000));
		hf_catalogue_close(cat);
		CHECK_EQ(hf_ixtest_count(&t, "part"), 0);
		hf_ixtest_clear(&t);
	}
}

/* Killed before each call that changes a name. */
static void test_kill_between(void)
{
	int status = 0;

	make(50);
	for (int calls = 0; calls < 20; calls++) {
		struct hf_catalogue *cat;
		pid_t pid = fork();

		CHECK(pid >= 0);
		if (!pid) {
			cat = open_cat();
			CHECK_EQ(put(cat, 50), 0);
			calls_left = calls;
			_exit(hf_catalogue_flush(cat) != 0);
		}
		CHECK(waitpid(pid, &status, 0) == pid);
		cat = open_cat();
		check_all(cat, 50);
		CHECK(!WIFEXITED(status) || found(cat, 50));
		hf_catalogue_close(cat);
		if (WIFEXITED(status))
			break;
	}
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	hf_ixtest_clear(&t);
}

static bool is_even(void *ctx, const char *path)
{
	++*(unsigned *)ctx;
	return (path[strlen(path) - 5] - '0') % 2 == 0;
}

/* Files that are gone are forgotten after some flushes, of which each asks for a few only. */
static void test_gone(void)
{
	struct hf_catalogue_key key = default_key();
	unsigned asked = 0, left = 2000;
	struct hf_catalogue *cat;

	key.exists = is_even;
	key.ctx = &asked;
	make(2000);
	cat = open_key(&key);
	for (int i = 0; i < 200 && left > 1000; i++) {
		CHECK_EQ(put(cat, 0), 0);
		asked = 0;
		CHECK_EQ(hf_catalogue_flush(cat), 0);
		CHECK(asked < 1000);
		left = 0;
		for (uint64_t k = 0; k < 2000; k++) {
			bool there = found(cat, k);

			CHECK(there || k % 2);
			left += there;
		}
	}
	CHECK_EQ(left, 1000);
	hf_catalogue_close(cat);
	hf_ixtest_clear(&t);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* More than may wait; and what a lookup costs, for who wants to know. */
static void test_many(void)
{
	struct hf_catalogue *cat = open_cat();
	uint64_t n = 0;
	double begun, put_s, flush_s, find_s;

	begun = now();
	while (!put(cat, n))
		n++;
	put_s = now() - begun;
	CHECK_EQ(n, hf_catalogue_pending(cat));
	CHECK(n >= HF_CATALOGUE_MANY);
	begun = now();
	CHECK_EQ(hf_catalogue_flush(cat), 0);
	flush_s = now() - begun;
	CHECK_EQ(put(cat, n), 0);
	begun = now();
	check_all(cat, n);
	find_s = now() - begun;
	printf("%" PRIu64 " entries: put %.1f us, written in %.2f s, found in %.1f us each\n", n,
	       put_s * 1e6 / (double)n, flush_s, find_s * 1e6 / (double)n);
	hf_catalogue_close(cat);
	hf_ixtest_clear(&t);
}

int main(void)
{
	hf_ixtest_init(&t);
	test_store();
	test_stamp();
	test_keys();
	test_damaged();
	test_foreign();
	test_hostile();
	test_writers();
	test_threads();
	test_kill();
	test_kill_between();
	test_gone();
	test_many();
	hf_ixtest_fini(&t);
	return 0;
}
