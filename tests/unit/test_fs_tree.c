/* SPDX-License-Identifier: Apache-2.0 */
/* The tree over an archive with everything in it that an archive should not have: names, links, pipes, collisions. */
#include "tests/lib/fstest.h"
#include "tests/lib/pack.h"
#include "tests/lib/testclock.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static struct hf_fst t;

static void write_stf(const char *path, uint64_t seed)
{
	struct hf_walk_bytes stf = hf_fst_stf(50, seed, false);

	hf_fst_write(&t, path, stf.p, stf.n);
	hf_bytes_free(&stf);
}

static void write_gz(const char *path, uint64_t seed)
{
	struct hf_walk_bytes stf = hf_fst_stf(500, seed, false), gz = {0};

	hf_pack_gzip(&gz, stf.p, stf.n, -1, 0);
	hf_fst_write(&t, path, gz.p, gz.n);
	hf_bytes_free(&stf);
	hf_bytes_free(&gz);
}

static void check_file(const char *path, const char *text)
{
	char *got = hf_fst_text(&t, path);

	CHECK_STR(got, text);
	free(got);
}

static void check_list(const char *path, const char *text)
{
	char *got = hf_fst_list(&t, path);

	CHECK_STR(got, text);
	free(got);
}

static void test_plain(void)
{
	struct hf_attr attr;
	struct hf_file *file;
	char target[PATH_MAX];
	bool keep;

	hf_fst_begin(&t);
	hf_fst_write_text(&t, "notes.md", "some text\n");
	hf_fst_write_text(&t, "sub/deep/a", "a");
	hf_fst_write_text(&t, "zero", "");
	hf_fst_write_text(&t, "x.stf.md", "not a trace at all");
	CHECK_EQ(symlink("sub/deep", hf_fst_path(&t, "inside")), 0);
	CHECK_EQ(symlink("/etc/passwd", hf_fst_path(&t, "outside")), 0);
	CHECK_EQ(symlink("../../../..", hf_fst_path(&t, "sub/up")), 0);
	CHECK_EQ(mkfifo(hf_fst_path(&t, "pipe.stf"), 0644), 0);
	hf_fst_open(&t, NULL);
	check_list("", ".hartfs\ninside\nnotes.md\noutside\npipe.stf\nsub\nx.stf.md\nzero\n");
	check_list("sub", "deep\nup\n");
	check_file("notes.md", "some text\n");
	check_file("sub/deep/a", "a");
	check_file("zero", "");
	check_file("x.stf.md", "not a trace at all");

	/* Links are shown and not followed. */
	CHECK_EQ(hf_fst_lookup(&t, "outside", &attr), 0);
	CHECK(S_ISLNK(attr.st.st_mode));
	CHECK_EQ(hf_fs_readlink(t.fs, attr.st.st_ino, target, sizeof target), 0);
	CHECK_STR(target, "/etc/passwd");
	CHECK_EQ(hf_fs_readlink(t.fs, attr.st.st_ino, target, 5), HF_ERR_LIMIT);
	CHECK_EQ(hf_file_open(t.fs, attr.st.st_ino, &file, &keep), HF_ERR_NOT_FOUND);
	CHECK_EQ(hf_fst_lookup(&t, "outside/x", &attr), HF_ERR_NOT_FOUND);
	CHECK_EQ(hf_fst_lookup(&t, "inside/a", &attr), HF_ERR_NOT_FOUND);
	CHECK_EQ(hf_fst_lookup(&t, "sub/up/etc", &attr), HF_ERR_NOT_FOUND);
	CHECK_EQ(hf_fst_lookup(&t, "sub/../notes.md", &attr), HF_ERR_NOT_FOUND);
	CHECK_EQ(hf_fst_lookup(&t, "notes.md/x", &attr), HF_ERR_NOT_FOUND);
	CHECK_EQ(hf_fst_lookup(&t, "none", &attr), HF_ERR_NOT_FOUND);
	CHECK_EQ(hf_fst_lookup(&t, "pipe.stf", &attr), 0);
	CHECK(S_ISFIFO(attr.st.st_mode));
	CHECK_EQ(hf_file_open(t.fs, attr.st.st_ino, &file, &keep), HF_ERR_NOT_FOUND);

	/* The same file, kept by the kernel as long as it is the same. */
	CHECK_EQ(hf_fst_lookup(&t, "notes.md", &attr), 0);
	CHECK_EQ(hf_file_open(t.fs, attr.st.st_ino, &file, &keep), 0);
	CHECK(!keep);
	hf_file_close(file);
	CHECK_EQ(hf_file_open(t.fs, attr.st.st_ino, &file, &keep), 0);
	CHECK(keep);
	hf_file_close(file);
	hf_fst_write_text(&t, "notes.md", "other text, and longer\n");
	CHECK_EQ(hf_file_open(t.fs, attr.st.st_ino, &file, &keep), 0);
	CHECK(!keep);
	hf_file_close(file);
	check_file("notes.md", "other text, and longer\n");
	hf_fst_end(&t);
}

static void test_attributes(void)
{
	struct timespec times[2] = {{.tv_sec = 1000, .tv_nsec = 5}, {.tv_sec = 2000, .tv_nsec = 7}};
	struct hf_attr attr, again;
	struct stat st;

	hf_fst_begin(&t);
	write_stf("run.stf", 1);
	CHECK_EQ(chmod(hf_fst_path(&t, "run.stf"), 0751), 0);
	CHECK_EQ(utimensat(AT_FDCWD, hf_fst_path(&t, "run.stf"), times, 0), 0);
	CHECK_EQ(stat(hf_fst_path(&t, "run.stf"), &st), 0);
	hf_fst_open(&t, NULL);
	CHECK_EQ(hf_fst_lookup(&t, "run.stf", &attr), 0);
	CHECK_EQ(attr.st.st_size, st.st_size);
	CHECK_EQ(attr.st.st_mode, S_IFREG | 0551);
	CHECK_EQ(hf_fst_lookup(&t, "run@stf", &attr), 0);
	CHECK_EQ(attr.st.st_mode, S_IFDIR | 0550);
	CHECK_EQ(attr.st.st_uid, st.st_uid);
	CHECK_EQ(attr.st.st_mtim.tv_sec, 2000);
	CHECK_EQ(hf_fst_lookup(&t, "run@stf/hart0", &attr), 0);
	CHECK_EQ(attr.st.st_mode, S_IFDIR | 0550);
	CHECK_EQ(attr.st.st_blksize, 4096);
	CHECK_EQ(hf_fst_lookup(&t, "run@stf/hart0/listing.txt", &attr), 0);
	CHECK_EQ(attr.st.st_mode, S_IFREG | 0440);
	CHECK_EQ(attr.st.st_mtim.tv_nsec, 7);
	CHECK_EQ(attr.st.st_nlink, 1);
	CHECK_EQ(attr.st.st_blksize, 1 << 20);
	CHECK_EQ(attr.st.st_blocks, (attr.st.st_size + 511) / 512);
	CHECK(attr.attr_timeout > 1);

	/* The same numbers at the next mount, others for another content. */
	hf_fst_close(&t);
	hf_fst_open(&t, NULL);
	CHECK_EQ(hf_fst_lookup(&t, "run@stf/hart0/listing.txt", &again), 0);
	CHECK_EQ(again.st.st_ino, attr.st.st_ino);
	write_stf("run.stf", 2);
	CHECK_EQ(hf_fs_getattr(t.fs, attr.st.st_ino, &attr), HF_ERR_CHANGED);
	CHECK_EQ(hf_fst_lookup(&t, "run@stf/hart0/listing.txt", &attr), 0);
	CHECK(again.st.st_ino != attr.st.st_ino);
	hf_fst_end(&t);
}

static void test_names(void)
{
	char longest[NAME_MAX + 1], want[2 * NAME_MAX + 40], *got, *status;
	unsigned lines = 0;

	hf_fst_begin(&t);
	memset(longest, 'n', NAME_MAX);
	longest[NAME_MAX] = '\0';
	write_stf("x.stf", 1);
	write_stf("x", 2);            /* wants x@stf too, and has the smaller claim */
	write_stf("y.stf", 3);
	hf_fst_write_text(&t, "y@stf", "a file of the archive");
	write_stf("z", 4);
	CHECK_EQ(mkdir(hf_fst_path(&t, "z@stf"), 0755), 0);
	write_stf("\xff\n \"q.stf", 5);
	write_stf(longest, 6);
	hf_fst_write_text(&t, ".hartfs", "mine");
	hf_fst_open(&t, NULL);
	got = hf_fst_list(&t, "");
	for (char *s = got; *s; s++)
		lines += *s == '\n';
	/* Nine entries, six view directories, the control directory, and a name of two lines twice. */
	CHECK_EQ(lines, 9 + 6 + 1 + 2);
	CHECK(strstr(got, "\nx@stf\n"));
	CHECK(strstr(got, "\nx@stf~"));
	CHECK(strstr(got, "\ny@stf~"));
	CHECK(strstr(got, "\nz@stf~"));
	CHECK(strstr(got, "\n \"q@stf\n"));
	CHECK(strstr(got, "\n.hartfs~hartfs\n") || strncmp(got, ".hartfs\n.hartfs~hartfs\n", 23) == 0);
	free(got);
	check_file("y@stf", "a file of the archive");
	check_file(".hartfs", "mine");
	CHECK(hf_fst_comes(&t, "x@stf/hart0/listing.txt"));
	CHECK(hf_fst_comes(&t, "\xff\n \"q@stf/info.json"));

	/* All of it in status.json. */
	status = hf_fst_text(&t, ".hartfs~hartfs/status.json");
	CHECK(strstr(status, "\"capture\": \"x\""));
	CHECK(!strstr(status, "\"capture\": \"x.stf\""));
	CHECK(strstr(status, "\"capture\": \"y.stf\""));
	CHECK(strstr(status, "\"capture\": \"z\""));
	snprintf(want, sizeof want, "\"capture\": \"%s\"", longest);
	CHECK(strstr(status, want));
	free(status);
	hf_fst_end(&t);
}

static void test_skip(void)
{
	struct hf_fs_options options = {0};
	struct hf_fs_place place;
	struct hf_attr attr;
	struct stat st;

	hf_fst_begin(&t);
	hf_fst_write_text(&t, "cache/secret", "x");
	hf_fst_write_text(&t, "other/file", "x");
	CHECK_EQ(stat(hf_fst_path(&t, "cache"), &st), 0);
	place = (struct hf_fs_place){.dev = st.st_dev, .ino = st.st_ino};
	options.skip = &place;
	options.skip_count = 1;
	hf_fst_open(&t, &options);
	check_list("", ".hartfs\nother\n");
	CHECK_EQ(hf_fst_lookup(&t, "cache", &attr), HF_ERR_NOT_FOUND);
	CHECK_EQ(hf_fst_lookup(&t, "cache/secret", &attr), HF_ERR_NOT_FOUND);
	CHECK(hf_fst_comes(&t, "other/file"));
	hf_fst_end(&t);
}

/* References: a node lives as long as it has one, and not longer. */
static void test_references(void)
{
	struct hf_attr attr, again;

	hf_fst_begin(&t);
	hf_fst_write_text(&t, "a", "x");
	hf_fst_open(&t, NULL);
	CHECK_EQ(hf_fs_lookup(t.fs, HF_FS_ROOT, "a", &attr), 0);
	CHECK_EQ(hf_fs_lookup(t.fs, HF_FS_ROOT, "a", &again), 0);
	CHECK_EQ(attr.st.st_ino, again.st.st_ino);
	hf_fs_forget(t.fs, attr.st.st_ino, 1);
	CHECK_EQ(hf_fs_getattr(t.fs, attr.st.st_ino, &again), 0);
	hf_fs_forget(t.fs, attr.st.st_ino, 1);
	CHECK_EQ(hf_fs_getattr(t.fs, attr.st.st_ino, &again), HF_ERR_NOT_FOUND);
	hf_fs_forget(t.fs, attr.st.st_ino, 1);
	hf_fs_forget(t.fs, HF_FS_ROOT, 1000);
	CHECK_EQ(hf_fs_getattr(t.fs, HF_FS_ROOT, &attr), 0);
	CHECK_EQ(attr.st.st_ino, HF_FS_ROOT);
	/* Enough nodes that the table grows, all still found. */
	for (int i = 0; i < 3000; i++) {
		char name[32];

		snprintf(name, sizeof name, "many/%d", i);
		hf_fst_write_text(&t, name, "");
		CHECK_EQ(hf_fst_lookup(&t, name, &attr), 0);
	}
	CHECK_EQ(hf_fst_lookup(&t, "many/17", &again), 0);
	CHECK_EQ(hf_fs_getattr(t.fs, again.st.st_ino, &again), 0);
	hf_fst_end(&t);
}

static struct hf_dir *open_list(uint64_t ino, bool keep)
{
	struct hf_dir *dir;
	bool may_keep = !keep;

	CHECK_EQ(hf_dir_open(t.fs, ino, &dir, &may_keep), 0);
	CHECK_EQ(may_keep, keep);
	return dir;
}

/* Whether the kernel may keep the names that it has cached: what nobody else has told it of, and never when somebody who
 * fills that cache may have an older list. */
static void test_kept_names(void)
{
	struct hf_dir *old, *new;
	struct hf_attr attr;

	hf_fst_begin(&t);
	hf_fst_write_text(&t, "d/a", "");
	hf_fst_open(&t, NULL);
	CHECK_EQ(hf_fst_lookup(&t, "d", &attr), 0);
	hf_dir_close(open_list(attr.st.st_ino, false));
	/* Who lists it without a kernel behind him empties no cache. */
	hf_fst_write_text(&t, "d/b", "");
	check_list("d", "a\nb\n");
	hf_dir_close(open_list(attr.st.st_ino, false));
	hf_dir_close(open_list(attr.st.st_ino, true));

	old = open_list(attr.st.st_ino, true);
	hf_fst_write_text(&t, "d/c", "");
	new = open_list(attr.st.st_ino, false);
	hf_dir_close(open_list(attr.st.st_ino, false));
	hf_dir_close(old);
	hf_dir_close(open_list(attr.st.st_ino, false));
	hf_dir_close(open_list(attr.st.st_ino, true));
	hf_dir_close(new);
	hf_dir_close(open_list(attr.st.st_ino, true));

	/* An answer that did not arrive. */
	hf_fs_unseen(t.fs, attr.st.st_ino);
	hf_dir_close(open_list(attr.st.st_ino, false));
	hf_dir_close(open_list(attr.st.st_ino, true));
	hf_fs_forget(t.fs, attr.st.st_ino, 1);
	hf_fst_end(&t);
}

/* Entries of a directory with that time of change, and with others. */
struct times {
	time_t want;
	unsigned same, other;
};

static bool note_time(void *ctx, const char *name, const struct hf_attr *attr, uint64_t next_cookie)
{
	struct times *times = ctx;

	(void)next_cookie;
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return true;
	*(attr->st.st_mtim.tv_sec == times->want ? &times->same : &times->other) += 1;
	hf_fs_forget(t.fs, attr->st.st_ino, 1);
	return true;
}

static struct times read_times(struct hf_dir *dir, time_t want)
{
	struct times times = {.want = want};

	CHECK_EQ(hf_dir_read(dir, 0, true, note_time, &times), 0);
	CHECK(times.same + times.other > 2);
	return times;
}

/* What was found when a directory was opened holds for the first read, if that comes at once, and for no other. */
static void test_checked(void)
{
	struct hf_attr attr;
	struct hf_dir *dir;
	bool keep;

	hf_fst_begin(&t);
	write_stf("b.stf", 1);
	hf_fst_open(&t, NULL);
	hf_fst_must_be_indexed(&t, "b@stf");
	CHECK_EQ(hf_fst_lookup(&t, "b@stf/hart0", &attr), 0);
	for (unsigned wait_ms = 0; wait_ms <= 300; wait_ms += 300) {
		CHECK_EQ(hf_fs_check(t.fs, attr.st.st_ino, &attr), 0);
		CHECK_EQ(hf_dir_open(t.fs, attr.st.st_ino, &dir, &keep), 0);
		attr.st.st_mtim.tv_sec = 42;
		hf_clock_stop();
		hf_dir_checked(dir, &attr);
		hf_clock_advance_ms(wait_ms);
		CHECK_EQ(read_times(dir, 42).other == 0, wait_ms == 0);
		CHECK_EQ(read_times(dir, 42).same, 0);
		hf_clock_go_on();
		hf_dir_close(dir);
	}
	hf_fst_end(&t);
}

static bool note_nothing(void *ctx, const char *name, const struct hf_attr *attr, uint64_t next_cookie)
{
	(void)ctx, (void)name, (void)attr, (void)next_cookie;
	return true;
}

static bool forget_each(void *ctx, const char *name, const struct hf_attr *attr, uint64_t next_cookie)
{
	uint64_t *cookie = ctx;

	if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
		hf_fs_forget(t.fs, attr->st.st_ino, 1);
	/* With room for two of the three names, and once for the rest. */
	if (next_cookie <= *cookie)
		return true;
	*cookie = UINT64_MAX;
	return false;
}

/* All entries of a directory were given with their attributes: as long as the kernel believes these. */
static void test_told(void)
{
	struct hf_attr attr;
	struct hf_dir *dir;
	uint64_t some = 4, all = UINT64_MAX;
	bool keep;

	hf_fst_begin(&t);
	hf_fst_write_text(&t, "d/a", "");
	hf_fst_write_text(&t, "d/b", "");
	hf_fst_write_text(&t, "d/c", "");
	hf_fst_open(&t, NULL);
	CHECK_EQ(hf_fst_lookup(&t, "d", &attr), 0);
	CHECK_EQ(hf_dir_open(t.fs, attr.st.st_ino, &dir, &keep), 0);
	CHECK_EQ(hf_dir_count(dir), 3);
	hf_clock_stop();
	CHECK_EQ(hf_dir_read(dir, 0, true, forget_each, &some), 0);
	CHECK(!hf_dir_is_told(dir));
	CHECK_EQ(hf_dir_read(dir, 4, false, note_nothing, NULL), 0);
	CHECK(!hf_dir_is_told(dir));
	some = 4;
	CHECK_EQ(hf_dir_read(dir, 0, true, forget_each, &some), 0);
	CHECK_EQ(hf_dir_read(dir, 4, true, forget_each, &all), 0);
	CHECK(hf_dir_is_told(dir));
	hf_dir_close(dir);
	CHECK_EQ(hf_dir_open(t.fs, attr.st.st_ino, &dir, &keep), 0);
	CHECK(hf_dir_is_told(dir));
	hf_clock_advance_ms(5000);
	CHECK(!hf_dir_is_told(dir));
	hf_clock_go_on();
	hf_dir_close(dir);
	hf_fst_end(&t);
}

struct found {
	char text[1024];
};

static bool note(void *ctx, const char *path, const char *view_dir)
{
	struct found *found = ctx;
	size_t len = strlen(found->text);

	snprintf(found->text + len, sizeof found->text - len, "%s %s\n", path, view_dir);
	return true;
}

static void test_captures(void)
{
	struct found all = {0}, one = {0}, below = {0};

	hf_fst_begin(&t);
	write_stf("b.stf", 1);
	write_gz("a/c.stf.gz", 2);
	write_gz("a/nothing-in-the-name", 3);
	hf_fst_write_text(&t, "a/d.gz", "text");
	CHECK_EQ(symlink("..", hf_fst_path(&t, "a/loop")), 0);
	hf_fst_open(&t, NULL);
	CHECK_EQ(hf_fs_each_capture(t.fs, "", NULL, note, &all), 0);
	CHECK_STR(all.text, "a/c.stf.gz a/c@stf@gz\na/nothing-in-the-name a/nothing-in-the-name@stf\nb.stf b@stf\n");
	CHECK_EQ(hf_fs_each_capture(t.fs, "b.stf", NULL, note, &one), 0);
	CHECK_STR(one.text, "b.stf b@stf\n");
	CHECK_EQ(hf_fs_each_capture(t.fs, "a", NULL, note, &below), 0);
	CHECK_STR(below.text, "a/c.stf.gz a/c@stf@gz\na/nothing-in-the-name a/nothing-in-the-name@stf\n");
	CHECK_EQ(hf_fs_each_capture(t.fs, "none", NULL, note, &below), HF_ERR_NOT_FOUND);
	hf_fst_end(&t);
}

int main(void)
{
	test_plain();
	test_attributes();
	test_names();
	test_skip();
	test_references();
	test_kept_names();
	test_checked();
	test_told();
	test_captures();
	return 0;
}
