/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of an index directory that are not what they should be: foreign, newer, cut, damaged, of another capture or
 * another user. None is believed, none is fatal, none that is not ours is touched. And lookups by two threads at once.
 */
#include "index/table/db.h"
#include "tests/lib/check.h"
#include "tests/lib/indextest.h"
#include "tests/registry/toy.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#define HARTS (HF_STREAM_HARTS | HF_STREAM_MANY)
#define PAGE 8192

/* The name of the published file with that ending. */
static void name_of(struct hf_ixtest *t, const char *end, char name[256])
{
	DIR *dir = opendir(t->dir);
	struct dirent *entry;
	bool found = false;

	CHECK(dir);
	while ((entry = readdir(dir))) {
		size_t n = strlen(entry->d_name);

		if (*entry->d_name != '.' && n > strlen(end) && strcmp(entry->d_name + n - strlen(end), end) == 0) {
			snprintf(name, 256, "%s", entry->d_name);
			found = true;
		}
	}
	closedir(dir);
	CHECK(found);
}

static struct hf_walk_bytes load(struct hf_ixtest *t, const char *name)
{
	return hf_bytes_load(t->dir, name);
}

static void store(struct hf_ixtest *t, const char *name, const void *bytes, size_t n)
{
	int fd;

	unlinkat(t->dirfd, name, 0);
	fd = openat(t->dirfd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	CHECK(fd >= 0);
	CHECK(write(fd, bytes, n) == (ssize_t)n);
	close(fd);
}

static int try_index(struct hf_ixtest *t)
{
	struct hf_index *index;
	int err = hf_index_open(&t->at, &t->identity, &index);

	hf_index_close(index);
	return err;
}

static int try_view(struct hf_ixtest *t)
{
	struct hf_view_table *table;
	int err = hf_view_table_open(&t->at, &t->identity, &t->keys[0], &table);

	hf_view_table_close(table);
	return err;
}

static int try_file(struct hf_ixtest *t, bool view)
{
	return view ? try_view(t) : try_index(t);
}

/* All that a file says, in short. Errors count, so that two sums differ if one file gave an error. */
static int sum_index(struct hf_ixtest *t, uint64_t *ret_sum)
{
	const struct hf_index_hart *harts;
	struct hf_index *index;
	uint64_t sum = 0;
	int err = hf_index_open(&t->at, &t->identity, &index);

	if (err)
		return err;
	for (size_t i = 0, n = hf_index_harts(index, &harts); i < n; i++) {
		for (uint64_t c = 0; c < harts[i].chunks && !err; c++) {
			struct hf_chunk chunk;

			err = hf_index_chunk(index, harts[i].id, c, &chunk);
			if (!err)
				sum = sum * 31 + chunk.ordinal * 7 + chunk.events * 3 + chunk.pc + chunk.discard +
				      chunk.entry[0] + chunk.stream_offset;
		}
	}
	hf_index_close(index);
	*ret_sum = sum;
	return err;
}

static int sum_view(struct hf_ixtest *t, uint64_t *ret_sum)
{
	const struct hf_index_hart *harts;
	struct hf_view_table *table;
	struct hf_index *index;
	uint64_t sum = 0;
	int err = hf_view_table_open(&t->at, &t->identity, &t->keys[0], &table);

	if (err)
		return err;
	CHECK_EQ(hf_index_open(&t->at, &t->identity, &index), 0);
	for (size_t i = 0, n = hf_index_harts(index, &harts); i < n; i++) {
		for (uint64_t c = 0; c < hf_view_table_rows(table, harts[i].id) && !err; c++) {
			struct hf_view_chunk chunk;

			err = hf_view_table_chunk(table, harts[i].id, c, &chunk);
			if (!err)
				sum = sum * 31 + chunk.offset * 7 + chunk.size + chunk.checksum + chunk.entry[1];
		}
	}
	hf_index_close(index);
	hf_view_table_close(table);
	*ret_sum = sum;
	return err;
}

static int sum_file(struct hf_ixtest *t, bool view, uint64_t *ret_sum)
{
	return view ? sum_view(t, ret_sum) : sum_index(t, ret_sum);
}

/* A bit here and there: found out when it is met, if it matters at all. */
static void test_flips(struct hf_ixtest *t, const char *name, bool view)
{
	struct hf_walk_bytes bytes = load(t, name);
	uint64_t good, sum;

	CHECK_EQ(sum_file(t, view, &good), 0);
	for (size_t at = 5; at < bytes.n; at += 509) {
		int err;

		bytes.p[at] ^= 0x10;
		store(t, name, bytes.p, bytes.n);
		err = sum_file(t, view, &sum);
		CHECK(err == HF_ERR_NOT_FOUND || err == HF_ERR_STATE || (err == 0 && sum == good));
		bytes.p[at] ^= 0x10;
	}
	store(t, name, bytes.p, bytes.n);
	CHECK_EQ(sum_file(t, view, &sum), 0);
	CHECK_EQ(sum, good);
	hf_bytes_free(&bytes);
}

static void test_cuts(struct hf_ixtest *t, const char *name, bool view)
{
	static const uint8_t page[PAGE];
	struct hf_walk_bytes bytes = load(t, name);

	for (size_t n = 0; n < bytes.n; n += 512) {
		store(t, name, bytes.p, n);
		CHECK_EQ(try_file(t, view), HF_ERR_NOT_FOUND);
	}
	/* one page too many is no better */
	hf_bytes_add(&bytes, page, PAGE);
	store(t, name, bytes.p, bytes.n);
	CHECK_EQ(try_file(t, view), HF_ERR_NOT_FOUND);
	store(t, name, bytes.p, bytes.n - PAGE);
	CHECK_EQ(try_file(t, view), 0);
	hf_bytes_free(&bytes);
}

/* Single fields of the header: another program's file, a newer version of ours, another page size. */
static void test_headers(struct hf_ixtest *t, const char *name, bool view)
{
	static const size_t places[] = {0, 16, 18, 19, 20, 60, 63, 68, 71};
	struct hf_walk_bytes bytes = load(t, name);

	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		bytes.p[places[i]] += 1;
		store(t, name, bytes.p, bytes.n);
		CHECK_EQ(try_file(t, view), HF_ERR_NOT_FOUND);
		bytes.p[places[i]] -= 1;
	}
	store(t, name, bytes.p, bytes.n);
	hf_bytes_free(&bytes);
}

/* Things that have the right name and are no regular file of ours. */
static void test_kinds(struct hf_ixtest *t, const char *name, bool view)
{
	struct hf_walk_bytes bytes = load(t, name);

	CHECK(renameat(t->dirfd, name, t->dirfd, "elsewhere") == 0);
	CHECK(symlinkat("elsewhere", t->dirfd, name) == 0);
	CHECK_EQ(try_file(t, view), HF_ERR_NOT_FOUND);
	CHECK(unlinkat(t->dirfd, name, 0) == 0);
	CHECK(mkfifoat(t->dirfd, name, 0600) == 0);
	CHECK_EQ(try_file(t, view), HF_ERR_NOT_FOUND);
	CHECK(unlinkat(t->dirfd, name, 0) == 0);
	CHECK(mkdirat(t->dirfd, name, 0700) == 0);
	CHECK_EQ(try_file(t, view), HF_ERR_NOT_FOUND);
	CHECK(unlinkat(t->dirfd, name, AT_REMOVEDIR) == 0);
	CHECK(renameat(t->dirfd, "elsewhere", t->dirfd, name) == 0);
	CHECK_EQ(try_file(t, view), 0);
	hf_bytes_free(&bytes);
}

/* In a directory that others can enter, only files that nobody else can have written. */
static void test_owner(struct hf_ixtest *t, const char *name, bool view)
{
	CHECK(fchmodat(t->dirfd, name, 0666, 0) == 0);
	CHECK_EQ(try_file(t, view), 0);
	CHECK(fchmod(t->dirfd, 0755) == 0);
	CHECK_EQ(try_file(t, view), HF_ERR_NOT_FOUND);
	CHECK(fchmodat(t->dirfd, name, 0644, 0) == 0);
	CHECK_EQ(try_file(t, view), 0);
	if (geteuid() == 0) {
		CHECK(fchownat(t->dirfd, name, 12345, 12345, 0) == 0);
		CHECK_EQ(try_file(t, view), HF_ERR_NOT_FOUND);
		CHECK(fchownat(t->dirfd, name, 0, 0, 0) == 0);
	}
	CHECK(fchmod(t->dirfd, 0700) == 0);
	CHECK_EQ(try_file(t, view), 0);
}

/* A file of another capture or another view under our name. */
static void test_mistaken(struct hf_ixtest *t)
{
	char index[256], text[256], binary[256];
	struct hf_walk_bytes a, b;

	name_of(t, ".hfi", index);
	hf_ixtest_build(t);
	a = load(t, index);
	hf_ixtest_clear(t);
	hf_ixtest_capture(t, 300, 2, HARTS, 99);
	hf_ixtest_build(t);
	name_of(t, ".hfi", index);
	store(t, index, a.p, a.n);
	CHECK_EQ(try_index(t), HF_ERR_NOT_FOUND);
	hf_bytes_free(&a);
	hf_ixtest_build(t);
	CHECK_EQ(try_index(t), 0);

	name_of(t, ".hfi", index);
	hf_ixtest_build(t);
	for (size_t i = 0; i < 2; i++) {
		struct hf_view_table *table;

		CHECK_EQ(hf_view_table_open(&t->at, &t->identity, &t->keys[i], &table), 0);
		hf_view_table_close(table);
	}
	t->build.view_count = 1;
	hf_ixtest_clear(t);
	hf_ixtest_build(t);
	name_of(t, ".hfv", text);
	a = load(t, text);
	t->build.views = t->keys + 1;
	hf_ixtest_clear(t);
	hf_ixtest_build(t);
	name_of(t, ".hfv", binary);
	b = load(t, binary);
	store(t, text, b.p, b.n);
	CHECK_EQ(try_view(t), HF_ERR_NOT_FOUND);
	/* an index where a view is due */
	name_of(t, ".hfi", index);
	hf_bytes_free(&b);
	b = load(t, index);
	store(t, text, b.p, b.n);
	CHECK_EQ(try_view(t), HF_ERR_NOT_FOUND);
	store(t, text, a.p, a.n);
	CHECK_EQ(try_view(t), 0);
	t->build.views = t->keys;
	t->build.view_count = t->key_count;
	hf_bytes_free(&a);
	hf_bytes_free(&b);
	hf_ixtest_clear(t);
}

/* What stands in the way is no index: it goes. */
static void test_in_the_way(struct hf_ixtest *t)
{
	static const char foreign[] = "somebody's notes";
	char name[256], part[300];
	struct hf_walk_bytes bytes;

	hf_ixtest_build(t);
	name_of(t, ".hfi", name);
	hf_ixtest_clear(t);
	store(t, name, foreign, sizeof foreign);
	CHECK_EQ(hf_build_run(&t->build, NULL), 0);
	CHECK_EQ(try_index(t), 0);

	hf_ixtest_clear(t);
	snprintf(part, sizeof part, ".%s.part", name);
	store(t, part, foreign, sizeof foreign);
	CHECK_EQ(hf_build_run(&t->build, NULL), 0);
	CHECK_EQ(try_index(t), 0);
	CHECK_EQ(hf_ixtest_count(t, ".part"), 0);
	hf_ixtest_clear(t);

	/* private files: cut or damaged ones of ours, and what a kill leaves of a first commit */
	hf_ixtest_build(t);
	bytes = load(t, name);
	hf_ixtest_clear(t);
	for (size_t n = PAGE / 2; n <= bytes.n; n += PAGE / 2) {
		store(t, part, bytes.p, n);
		if (n == bytes.n)
			bytes.p[n / 2] ^= 1;
		hf_ixtest_build(t);
		CHECK_EQ(hf_ixtest_count(t, ".part"), 0);
		CHECK_EQ(try_index(t), 0);
		hf_ixtest_clear(t);
	}
	hf_bytes_free(&bytes);
}

/* Right checksums, and numbers that somebody made up: what claims more than the file bears out is no index. */
static void test_claims(struct hf_ixtest *t)
{
	static const char *const of_table[] = {
		"UPDATE hart SET size = 9223372036854775807", "UPDATE hart SET size = 1 << 40",
		"UPDATE hart SET size = -1", "UPDATE hart SET chunks = 1 << 39", "UPDATE hart SET chunks = chunks + 1",
		"UPDATE hart SET chunks = 0", "UPDATE hart SET slot = slot + 70000", "UPDATE chunk SET offset = 1 << 50",
		"UPDATE chunk SET data = zeroblob(5000)", "UPDATE chunk SET rows = rows - 1",
		"UPDATE chunk SET rows = 0", "UPDATE chunk SET size = size + 1",
		"UPDATE hart SET rows = rows - 1", "UPDATE hart SET rows = 0", "UPDATE hart SET rows = 1 << 39",
		"DELETE FROM chunk", "UPDATE meta SET complete = 0",
	};
	static const char *const of_index[] = {
		"UPDATE hart SET chunks = 1 << 39", "UPDATE hart SET insns = events + 1", "UPDATE hart SET insns = -1",
		"UPDATE chunk SET ordinal = 1 << 50", "UPDATE chunk SET data = zeroblob(5000)",
		"UPDATE chunk SET chunks = chunks - 1", "UPDATE chunk SET size = 1 << 40", "DELETE FROM chunk",
		"UPDATE meta SET stream_size = 1 << 62", "UPDATE meta SET stream_size = -1",
		"UPDATE meta SET stream_size = stream_size - 1",
		"UPDATE meta SET codec = 'none'", "UPDATE meta SET box = 'none'", "DELETE FROM point",
		"UPDATE point SET out_size = 1 << 40", "UPDATE hart SET id = 7",
	};
	char name[256];

	hf_ixtest_clear(t);
	hf_ixtest_capture(t, 300, 2, HARTS, 3);
	hf_ixtest_pack(t, ".gz");
	t->build.view_count = 1;
	for (int view = 0; view < 2; view++) {
		const char *const *change = view ? of_table : of_index;
		size_t n = view ? sizeof of_table / sizeof *of_table : sizeof of_index / sizeof *of_index;

		for (size_t i = 0; i < n; i++) {
			sqlite3 *db;
			int fd;

			hf_ixtest_build(t);
			name_of(t, view ? ".hfv" : ".hfi", name);
			fd = openat(t->dirfd, name, O_RDWR | O_CLOEXEC);
			CHECK(fd >= 0);
			CHECK_EQ(hf_db_open_part(fd, t->dirfd, name, view ? HF_DB_VIEW : HF_DB_INDEX, &db), 0);
			CHECK_EQ(hf_db_run(db, change[i]), 0);
			CHECK_EQ(hf_db_finish(db), 0);
			hf_db_close(db);
			close(fd);
			if (try_file(t, view) != HF_ERR_NOT_FOUND)
				fprintf(stderr, "%s\n", change[i]);
			CHECK_EQ(try_file(t, view), HF_ERR_NOT_FOUND);
			hf_ixtest_build(t);
			CHECK_EQ(try_file(t, view), 0);
			hf_ixtest_clear(t);
		}
	}
	t->build.view_count = t->key_count;
}

/* What an examination says, and removes. */
struct heard {
	char text[300];
	unsigned count;
};

static void hear(void *ctx, const char *name, const char *what)
{
	struct heard *heard = ctx;

	snprintf(heard->text, sizeof heard->text, "%s %s", name, what);
	heard->count++;
}

static void test_examine(struct hf_ixtest *t)
{
	struct heard heard = {.count = 0};
	struct hf_walk_bytes bytes;
	size_t page;
	char name[256];

	hf_ixtest_capture(t, 2500, 2, HARTS, 1);
	hf_ixtest_build(t);
	CHECK_EQ(hf_index_examine(&t->at, &t->identity, t->keys, t->key_count, HF_EXAMINE_PAGES, hear, &heard, NULL),
		 0);
	CHECK_EQ(heard.count, 0);
	name_of(t, ".hfi", name);
	bytes = load(t, name);
	/* A page that opening does not look at. */
	for (page = bytes.n / PAGE - 1; page; page--) {
		bytes.p[page * PAGE + 100] ^= 1;
		store(t, name, bytes.p, bytes.n);
		if (!try_index(t))
			break;
		bytes.p[page * PAGE + 100] ^= 1;
	}
	CHECK(page);
	CHECK_EQ(hf_index_examine(&t->at, &t->identity, t->keys, t->key_count, HF_EXAMINE_OPENED, hear, &heard, NULL),
		 0);
	CHECK_EQ(heard.count, 0);
	CHECK_EQ(hf_index_examine(&t->at, &t->identity, t->keys, t->key_count, HF_EXAMINE_PAGES, hear, &heard, NULL),
		 0);
	CHECK_EQ(heard.count, 1);
	CHECK(strstr(heard.text, name) && strstr(heard.text, "is damaged: the page at byte "));
	CHECK_EQ(try_index(t), HF_ERR_NOT_FOUND);
	CHECK_EQ(hf_ixtest_count(t, ".hfi"), 0);
	CHECK_EQ(try_view(t), 0);
	hf_ixtest_build(t);
	CHECK_EQ(try_index(t), 0);
	hf_bytes_free(&bytes);
	hf_ixtest_clear(t);
}

/* A file of which reading or opening fails is no damaged one, and stays. Root may open everything. */
static void test_no_permission(struct hf_ixtest *t)
{
	char name[256];
	uid_t was = geteuid();

	if (was != 0)
		return;
	hf_ixtest_build(t);
	name_of(t, ".hfi", name);
	CHECK(fchown(t->dirfd, 12345, 12345) == 0);
	CHECK(fchownat(t->dirfd, name, 12345, 12345, 0) == 0);
	CHECK(fchmodat(t->dirfd, name, 0, 0) == 0);
	CHECK(seteuid(12345) == 0);
	CHECK_EQ(hf_err_class(try_index(t)), HF_CLASS_io);
	CHECK(hf_err_class(hf_build_run(&t->build, NULL)) == HF_CLASS_io);
	CHECK(seteuid(was) == 0);
	CHECK_EQ(hf_ixtest_count(t, name), 1);
	CHECK(fchownat(t->dirfd, name, 0, 0, 0) == 0 && fchmodat(t->dirfd, name, 0600, 0) == 0);
	CHECK(fchown(t->dirfd, 0, 0) == 0);
	CHECK_EQ(try_index(t), 0);
	hf_ixtest_clear(t);
}

struct looker {
	struct hf_ixtest *t;
	struct hf_index *index;
	struct hf_view_table *table;
	uint64_t seed;
};

static void *look(void *arg)
{
	struct looker *l = arg;
	const struct hf_index_hart *harts;
	size_t n = hf_index_harts(l->index, &harts);

	for (int i = 0; i < 20000; i++) {
		const struct hf_index_hart *hart = &harts[hf_rand_next(&l->seed) % n];
		uint64_t ordinal = hf_rand_next(&l->seed) % hart->insns;
		uint64_t offset = hf_rand_next(&l->seed) % hf_view_table_size(l->table, hart->id);
		struct hf_view_chunk view;
		struct hf_chunk chunk;

		CHECK_EQ(hf_index_chunk_of(l->index, hart->id, ordinal, &chunk), 0);
		CHECK(ordinal >= chunk.ordinal && ordinal < chunk.ordinal + chunk.insns);
		CHECK_EQ(hf_view_table_chunk_of(l->table, hart->id, offset, &view), 0);
		CHECK(offset >= view.offset && offset < view.offset + view.size);
	}
	return NULL;
}

static void test_threads(struct hf_ixtest *t)
{
	struct looker l[2] = {{.t = t, .seed = 1}, {.t = t, .seed = 2}};
	pthread_t thread;

	hf_ixtest_build(t);
	CHECK_EQ(hf_index_open(&t->at, &t->identity, &l[0].index), 0);
	CHECK_EQ(hf_view_table_open(&t->at, &t->identity, &t->keys[0], &l[0].table), 0);
	l[1].index = l[0].index;
	l[1].table = l[0].table;
	CHECK(pthread_create(&thread, NULL, look, &l[1]) == 0);
	look(&l[0]);
	pthread_join(thread, NULL);
	hf_index_close(l[0].index);
	hf_view_table_close(l[0].table);
	hf_ixtest_clear(t);
}

int main(void)
{
	char name[256];
	struct hf_ixtest t;

	hf_ixtest_init(&t);
	hf_ixtest_limit(&t, 5);
	hf_ixtest_capture(&t, 2500, 2, HARTS, 1);
	t.build.view_count = 1;
	hf_ixtest_build(&t);
	for (int view = 0; view < 2; view++) {
		name_of(&t, view ? ".hfv" : ".hfi", name);
		test_cuts(&t, name, view);
		test_flips(&t, name, view);
		test_headers(&t, name, view);
		test_kinds(&t, name, view);
		test_owner(&t, name, view);
	}
	test_mistaken(&t);
	test_in_the_way(&t);
	test_examine(&t);
	test_no_permission(&t);
	test_claims(&t);
	hf_ixtest_capture(&t, 5000, 3, HARTS, 2);
	test_threads(&t);
	hf_ixtest_fini(&t);
	return 0;
}
