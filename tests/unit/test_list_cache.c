/* SPDX-License-Identifier: Apache-2.0 */
/* Lists and texts of open files and directories that are dropped for others and made again. */
#include "fs/facts/state.h"
#include "fs/whole.h"
#include "tests/lib/fstest.h"

#include <unistd.h>

static struct hf_fst t;

enum { NAMES = 300, DIRS = 3 };

struct taken {
	char name[64];
	uint64_t cookie;
	bool full;
};

/* One entry at a time. */
static bool take_one(void *ctx, const char *name, const struct hf_attr *attr, uint64_t next_cookie)
{
	struct taken *taken = ctx;

	(void)attr;
	if (taken->full)
		return false;
	snprintf(taken->name, sizeof taken->name, "%s", name);
	taken->cookie = next_cookie;
	return taken->full = true;
}

static bool next(struct hf_dir *dir, struct taken *taken)
{
	taken->full = false;
	CHECK_EQ(hf_dir_read(dir, taken->cookie, false, take_one, taken), 0);
	return taken->full;
}

static struct hf_dir *open_dir(const char *path)
{
	struct hf_dir *dir;
	uint64_t ino;

	CHECK_EQ(hf_fs_resolve(t.fs, path, &ino), 0);
	CHECK_EQ(hf_dir_open(t.fs, ino, &dir, NULL), 0);
	hf_fs_forget(t.fs, ino, 1);
	return dir;
}

/* Three readers of one directory go on in turn, and each displaces the others' list. */
static void test_lists(void)
{
	struct taken taken[DIRS] = {0};
	struct hf_dir *dir[DIRS];
	char name[64];

	for (unsigned i = 0; i < DIRS; i++)
		dir[i] = open_dir("many");
	for (unsigned n = 0; n < 2 + NAMES; n++) {
		/* What comes before the readers' place, and what goes, does not disturb them. */
		if (n == 100)
			hf_fst_write_text(&t, "many/0000000", "");
		if (n == 200) {
			CHECK_EQ(unlink(hf_fst_path(&t, "many/n0010")), 0);
			CHECK_EQ(unlink(hf_fst_path(&t, "many/0000000")), 0);
		}
		snprintf(name, sizeof name, n < 2 ? n ? ".." : "." : "n%04u", n - 2);
		for (unsigned i = 0; i < DIRS; i++) {
			CHECK(next(dir[i], &taken[i]));
			CHECK_STR(taken[i].name, name);
		}
		CHECK(t.fs->tree.list_cache.bytes < NAMES * 400);
	}
	for (unsigned i = 0; i < DIRS; i++) {
		CHECK(!next(dir[i], &taken[i]));
		hf_dir_close(dir[i]);
	}
	CHECK_EQ(t.fs->tree.list_cache.bytes, 0);
}

/* The cache loses what it has of a capture's info.json. */
static void displace(const char *path)
{
	struct hf_facts *facts;

	CHECK_EQ(hf_capture_facts_now(hf_capture_known(&t.fs->captures, path), &facts), 0);
	hf_cache_drop(t.fs->common.cache, facts->text_owner[HF_TEXT_INFO]);
	hf_facts_unref(facts);
}

/* The texts about two captures; one changes while both are displaced. */
static void test_texts(void)
{
	static const char *const paths[] = {"a@stf/info.json", "b@stf/info.json"};
	struct hf_walk_bytes stf = hf_fst_stf(500, 9, false);
	struct hf_file *file[2];
	char *want[2];
	uint8_t byte;
	size_t n, sizes[2];

	hf_fst_must_be_indexed(&t, "a@stf");
	hf_fst_must_be_indexed(&t, "b@stf");
	for (unsigned i = 0; i < 2; i++) {
		file[i] = hf_fst_open_file(&t, paths[i]);
		want[i] = hf_fst_text(&t, paths[i]);
		sizes[i] = strlen(want[i]);
	}
	for (size_t at = 0; at < sizes[0] || at < sizes[1]; at++)
		for (unsigned i = 0; i < 2; i++) {
			CHECK_EQ(hf_fs_read_wait(t.fs, file[i], at, &byte, 1, &n), 0);
			CHECK_EQ(n, at < sizes[i]);
			CHECK(!n || byte == (uint8_t)want[i][at]);
			displace(i ? "b.stf" : "a.stf");
		}
	hf_fst_write(&t, "a.stf", stf.p, stf.n);
	CHECK_EQ(hf_fs_read_wait(t.fs, file[0], 0, &byte, 1, &n), HF_ERR_CHANGED);
	CHECK_EQ(hf_fs_read_wait(t.fs, file[1], 0, &byte, 1, &n), 0);
	for (unsigned i = 0; i < 2; i++) {
		hf_file_close(file[i]);
		free(want[i]);
	}
	hf_bytes_free(&stf);
	CHECK_EQ(t.fs->tree.list_cache.bytes, 0);
}

int main(void)
{
	struct hf_walk_bytes stf = hf_fst_stf(100, 1, false);
	char name[64];

	hf_fst_begin(&t);
	for (unsigned i = 0; i < NAMES; i++) {
		snprintf(name, sizeof name, "many/n%04u", i);
		hf_fst_write_text(&t, name, "");
	}
	hf_fst_write(&t, "a.stf", stf.p, stf.n);
	hf_fst_write(&t, "b.stf", stf.p, stf.n);
	hf_fst_open(&t, NULL);
	t.fs->tree.list_cache.max_bytes = 1;
	test_lists();
	test_texts();
	hf_fst_end(&t);
	hf_bytes_free(&stf);
	return 0;
}
