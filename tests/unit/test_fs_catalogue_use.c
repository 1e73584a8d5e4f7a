/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An archive that was seen before: shown out of the catalogue alone, corrected as soon as a file is opened, looked at
 * again where it changed.
 */
#include "fs/whole.h"
#include "index/table/db.h"
#include "tests/lib/fstest.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

static struct hf_fst t;

static void write_stf(const char *path, size_t insns, uint64_t seed)
{
	struct hf_walk_bytes stf = hf_fst_stf(insns, seed, false);

	hf_fst_write(&t, path, stf.p, stf.n);
	hf_bytes_free(&stf);
}

static void open_again(void)
{
	struct hf_fs_options options = {.archive_path = "/the/archive"};

	if (t.fs)
		hf_fst_close(&t);
	hf_fst_open(&t, &options);
}

/* The whole tree, with numbers and sizes. Free with free(). */
static char *list_all(void)
{
	static const char *const dirs[] = {"", "x@stf", "x@stf/hart0", "two@stf", "two@stf/hart1", "sub"};
	char *text, *names;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	/* However long that takes: else a list may change between a name and its size. */
	hf_fst_must_be_indexed(&t, "x@stf");
	hf_fst_must_be_indexed(&t, "two@stf");
	for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
		char *at, *end;

		names = hf_fst_list(&t, dirs[i]);
		for (at = names; (end = strchr(at, '\n')); at = end + 1) {
			char path[256];
			struct hf_attr attr;

			*end = '\0';
			if (strcmp(at, ".hartfs") == 0)
				continue;
			snprintf(path, sizeof path, "%s%s%s", dirs[i], *dirs[i] ? "/" : "", at);
			CHECK_EQ(hf_fst_lookup(&t, path, &attr), 0);
			fprintf(out, "%s %" PRIu64 " %" PRIu64 "\n", path, (uint64_t)attr.st.st_ino,
				S_ISREG(attr.st.st_mode) ? (uint64_t)attr.st.st_size : 0);
			hf_fs_forget(t.fs, attr.st.st_ino, 1);
		}
		free(names);
	}
	fclose(out);
	return text;
}

static void make_archive(void)
{
	struct hf_walk_bytes two = hf_fst_stf(300, 2, true);

	hf_fst_begin(&t);
	write_stf("x.stf", 200, 1);
	hf_fst_write(&t, "two.stf", two.p, two.n);
	hf_fst_write_text(&t, "sub/notes", "text");
	hf_bytes_free(&two);
	open_again();
}

static void remove_index(const char *end)
{
	DIR *dir = opendir(t.index);
	struct dirent *entry;

	CHECK(dir);
	while ((entry = readdir(dir)))
		if (strlen(entry->d_name) > 4 && strcmp(entry->d_name + strlen(entry->d_name) - 4, end) == 0)
			CHECK_EQ(unlinkat(dirfd(dir), entry->d_name, 0), 0);
	closedir(dir);
}

/* Runs sql on the catalogue of the archive. */
static void change_catalogue(const char *sql)
{
	DIR *dir = opendir(t.index);
	struct dirent *entry;
	sqlite3 *db;
	int fd;

	CHECK(dir);
	while ((entry = readdir(dir)))
		if (strstr(entry->d_name, ".hfc"))
			break;
	CHECK(entry);
	fd = openat(dirfd(dir), entry->d_name, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0);
	CHECK_EQ(hf_db_open_part(fd, dirfd(dir), entry->d_name, HF_DB_CATALOGUE, &db), 0);
	CHECK_EQ(hf_db_run(db, sql), 0);
	CHECK_EQ(hf_db_finish(db), 0);
	hf_db_close(db);
	close(fd);
	closedir(dir);
}

static void test_recalled(void)
{
	char *first, *second, *info;
	struct hf_walk_bytes listing, again;

	make_archive();
	first = list_all();
	listing = hf_fst_read(&t, "x@stf/hart0/listing.txt", 1000);
	CHECK_EQ(t.fs->captures.catalogue_use.recalled, 0);
	CHECK_EQ(t.fs->captures.catalogue_use.probed, 3);
	for (int i = 0; i < 2; i++) {
		open_again();
		second = list_all();
		CHECK_STR(second, first);
		free(second);
		CHECK_EQ(t.fs->captures.catalogue_use.recalled, 3);
		CHECK_EQ(t.fs->captures.catalogue_use.probed, 0);
		CHECK_EQ(t.fs->captures.catalogue_use.opened, 0);
	}
	/* Reading opens what is read, and gives the same. */
	again = hf_fst_read(&t, "x@stf/hart0/listing.txt", 1000);
	CHECK(again.n == listing.n && memcmp(again.p, listing.p, again.n) == 0);
	CHECK_EQ(t.fs->captures.catalogue_use.opened, 1);
	info = hf_fst_text(&t, "two@stf/info.json");
	CHECK(strstr(info, "\"reason\": \"ETE is Arm only\""));
	CHECK_EQ(t.fs->captures.catalogue_use.opened, 2);
	CHECK_EQ(t.fs->captures.catalogue_use.probed, 0);
	second = list_all();
	CHECK_STR(second, first);
	/* Nothing new was found, so nothing was written. */
	CHECK_EQ(hf_catalogue_pending(t.fs->captures.catalogue_use.catalogue), 0);
	free(second);
	free(info);
	hf_bytes_free(&again);
	hf_bytes_free(&listing);
	free(first);
	hf_fst_end(&t);
}

/* Of the files that changed, and of new ones, nothing is believed. */
static void test_changed(void)
{
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1000}};
	char *text;

	make_archive();
	free(list_all());
	hf_fst_close(&t);
	write_stf("two.stf", 100, 5);
	write_stf("sub/notes", 50, 6);
	hf_fst_write_text(&t, "x.stf", "not any more");
	write_stf("new.stf", 10, 7);
	CHECK_EQ(utimensat(AT_FDCWD, hf_fst_path(&t, "two.stf"), times, 0), 0);
	open_again();
	/* It claims by its name to be one; that is all. */
	CHECK(!hf_fst_exists(&t, "x@stf/hart0"));
	CHECK(hf_fst_comes(&t, "new@stf"));
	hf_fst_must_be_indexed(&t, "two@stf");
	text = hf_fst_list(&t, "two@stf");
	CHECK(!strstr(text, "hart1"));
	free(text);
	CHECK(hf_fst_comes(&t, "sub/notes@stf"));
	CHECK_EQ(t.fs->captures.catalogue_use.recalled, 0);
	hf_fst_close(&t);
	/* While it is open: the catalogue follows. */
	open_again();
	CHECK(hf_fst_comes(&t, "sub/notes@stf/hart0/listing.txt"));
	hf_fst_write_text(&t, "sub/notes", "text again");
	CHECK_COMES(!hf_fst_exists(&t, "sub/notes@stf"));
	CHECK_EQ(unlink(hf_fst_path(&t, "new.stf")), 0);
	CHECK(!hf_fst_exists(&t, "new@stf"));
	open_again();
	CHECK(!hf_fst_exists(&t, "sub/notes@stf"));
	CHECK(!hf_fst_exists(&t, "new@stf"));
	CHECK_EQ(t.fs->captures.catalogue_use.probed, 0);
	hf_fst_end(&t);
}

/* A chmod is none of the content, but who knows what else came with it: looked into again, not indexed again. */
static void test_touched(void)
{
	make_archive();
	free(list_all());
	hf_fst_close(&t);
	CHECK_EQ(chmod(hf_fst_path(&t, "x.stf"), 0600), 0);
	open_again();
	free(list_all());
	CHECK_EQ(t.fs->captures.catalogue_use.probed, 1);
	CHECK_EQ(t.fs->captures.catalogue_use.opened, 1);
	CHECK_EQ(t.fs->captures.catalogue_use.recalled, 2);
	open_again();
	free(list_all());
	CHECK_EQ(t.fs->captures.catalogue_use.probed, 0);
	hf_fst_end(&t);
}

/* A read waits two seconds for an index that is made again. */
static bool can_be_read(const char *path)
{
	struct hf_file *file = hf_fst_open_file(&t, path);
	uint8_t byte;
	size_t n;
	const int err = hf_fs_read_wait(t.fs, file, 0, &byte, 1, &n);

	CHECK(!err || err == HF_ERR_STATE);
	hf_file_close(file);
	return !err;
}

/* The catalogue tells of indexes that are not there. */
static void test_index_gone(void)
{
	static const char *const end[] = {".hfi", ".hfv"};
	struct hf_fs_options options = {.archive_path = "/the/archive", .no_index = true};
	struct hf_walk_bytes listing, again;
	struct hf_attr attr;
	struct hf_file *file;
	struct hf_diag diag;
	char *first, *text;
	bool keep;

	make_archive();
	first = list_all();
	listing = hf_fst_read(&t, "x@stf/hart0/listing.txt", 1000);
	for (int i = 0; i < 2; i++) {
		hf_fst_close(&t);
		remove_index(end[i]);
		open_again();
		text = list_all();
		CHECK_STR(text, first);
		free(text);
		CHECK_COMES(can_be_read("x@stf/hart0/listing.txt"));
		again = hf_fst_read(&t, "x@stf/hart0/listing.txt", 1000);
		CHECK(again.n == listing.n && memcmp(again.p, listing.p, again.n) == 0);
		hf_bytes_free(&again);
		text = hf_fst_text(&t, "x@stf/info.json");
		CHECK(strstr(text, "\"ready\""));
		free(text);
	}
	/* Nobody may make it again: it shows, and the next one knows. */
	hf_fst_close(&t);
	remove_index(".hfi");
	hf_fst_open(&t, &options);
	CHECK_EQ(hf_fst_lookup(&t, "x@stf/hart0/listing.txt", &attr), 0);
	CHECK_EQ(hf_file_open(t.fs, attr.st.st_ino, &file, &keep), HF_ERR_CHANGED);
	hf_fs_forget(t.fs, attr.st.st_ino, 1);
	text = hf_fst_list(&t, "x@stf");
	CHECK_STR(text, "INDEXING\ninfo.json\n");
	free(text);
	hf_fst_close(&t);
	hf_fst_open(&t, &options);
	text = hf_fst_list(&t, "x@stf");
	CHECK_STR(text, "INDEXING\ninfo.json\n");
	free(text);
	CHECK_EQ(t.fs->captures.catalogue_use.probed, 0);
	/* Told to index it, one does not take the catalogue's word that it is. */
	hf_fst_must_be_indexed(&t, "two@stf");
	text = hf_fst_list(&t, "two@stf");
	CHECK(strstr(text, "hart1"));
	free(text);
	CHECK_EQ(hf_fs_index(t.fs, "two.stf", NULL, NULL, &diag), 0);
	CHECK_EQ(hf_fs_index(t.fs, "x.stf", NULL, NULL, &diag), 0);
	text = list_all();
	CHECK_STR(text, first);
	free(text);
	open_again();
	text = list_all();
	CHECK_STR(text, first);
	CHECK_EQ(t.fs->captures.catalogue_use.opened, 0);
	free(text);
	hf_bytes_free(&listing);
	free(first);
	hf_fst_end(&t);
}

/* The catalogue is wrong, though it looks right: seen when a file is opened, corrected for good. */
static void test_wrong(void)
{
	static const char *const change[] = {
		"UPDATE file SET info_size = info_size + 1, errors_size = 7",
		"UPDATE file SET harts = replace(harts, 'listing.txt=', 'listing.txt=1')",
		"UPDATE file SET harts = '7 0 0 0 1 ' || char(10), stream_size = 3",
		"UPDATE file SET harts = replace(harts, '0 ', '1000 ')", /* some of it is no sense then */
		"UPDATE file SET version = '9', xlen = 1, problems = 5, isa = 1",
	};
	char *first, *text;

	make_archive();
	first = list_all();
	for (size_t i = 0; i < sizeof change / sizeof *change; i++) {
		struct hf_attr attr;

		hf_fst_close(&t);
		change_catalogue(change[i]);
		open_again();
		CHECK(hf_fst_comes(&t, "x@stf/info.json"));
		CHECK_EQ(hf_fst_lookup(&t, "x@stf/source.stf", &attr), 0);
		hf_file_close(hf_fst_open_file(&t, "x@stf/info.json"));
		hf_file_close(hf_fst_open_file(&t, "two@stf/info.json"));
		text = list_all();
		CHECK_STR(text, first);
		free(text);
		open_again();
		text = list_all();
		CHECK_STR(text, first);
		CHECK_EQ(t.fs->captures.catalogue_use.opened, 0);
		free(text);
	}
	free(first);
	hf_fst_end(&t);
}

/* Without a place for it, or another's in the way, everything works as before. */
static void test_without(void)
{
	struct hf_fs_options options = {0};
	char *first, *text;

	make_archive();
	first = list_all();
	hf_fst_close(&t);
	hf_fst_open(&t, &options);
	text = list_all();
	CHECK_STR(text, first);
	CHECK_EQ(t.fs->captures.catalogue_use.probed, 3);
	CHECK_EQ(t.fs->captures.catalogue_use.opened, 2);
	free(text);
	free(first);
	hf_fst_end(&t);
}

static void hear_nothing(void *ctx, const char *name, const char *what)
{
	(void)ctx;
	fprintf(stderr, "%s %s\n", name, what);
	CHECK(false);
}

/* hartfs index of real.stf: looks at each page of its files. */
static void index_again(void)
{
	struct hf_fs_options options = {.archive_path = "/the/archive",
					.no_index = true,
					.summary = true,
					.summary_of_indexed = true};
	struct hf_diag diag;

	if (t.fs)
		hf_fst_close(&t);
	hf_fst_open(&t, &options);
	CHECK_EQ(hf_fs_examine(t.fs, "real.stf", hear_nothing, NULL, &diag), 0);
	CHECK_EQ(hf_fs_index(t.fs, "real.stf", NULL, NULL, &diag), 0);
}

/* What the catalogue has of an index whose files are all there needs no opening; without any one of them it does, and
 * that one is made again. */
static void test_indexed_again(void)
{
	char name[64][NAME_MAX + 1];
	struct dirent *entry;
	size_t count = 0;
	static uint8_t bytes[4 << 20];
	size_t size;
	FILE *in;
	DIR *dir;

	/* A capture with a program, and so with a table for each view. */
	snprintf(name[0], sizeof *name, "%s/archive/mini/rv32-mini.stf", getenv("HARTFS_DATA"));
	in = fopen(name[0], "rb");
	CHECK(in);
	size = fread(bytes, 1, sizeof bytes, in);
	CHECK(size && size < sizeof bytes);
	fclose(in);
	hf_fst_begin(&t);
	hf_fst_write(&t, "real.stf", bytes, size);
	index_again();
	CHECK(t.fs->captures.catalogue_use.opened > 0);
	index_again();
	CHECK_EQ(t.fs->captures.catalogue_use.opened, 0);
	dir = opendir(t.index);
	CHECK(dir);
	while ((entry = readdir(dir)) && count < 64)
		if (entry->d_type == DT_REG && entry->d_name[0] != '.' && !strstr(entry->d_name, ".hfc"))
			snprintf(name[count++], sizeof *name, "%s", entry->d_name);
	CHECK(count > 5);
	for (size_t i = 0; i < count; i++) {
		CHECK_EQ(unlinkat(dirfd(dir), name[i], 0), 0);
		index_again();
		CHECK(t.fs->captures.catalogue_use.opened > 0);
		CHECK_EQ(faccessat(dirfd(dir), name[i], F_OK, 0), 0);
		index_again();
		CHECK_EQ(t.fs->captures.catalogue_use.opened, 0);
	}
	closedir(dir);
	hf_fst_end(&t);
}

int main(void)
{
	test_recalled();
	test_changed();
	test_touched();
	test_index_gone();
	test_wrong();
	test_without();
	if (getenv("HARTFS_DATA"))
		test_indexed_again();
	else
		printf("SKIP: HARTFS_DATA is not set\n");
	return 0;
}
