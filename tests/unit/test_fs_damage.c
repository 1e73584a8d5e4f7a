/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Index files that are damaged, cut, exchanged, forged, or something else altogether, before a file system is opened over
 * them and while it is: in the end every view has its bytes, no wrong byte is given on the way, texts are as long as
 * their sizes, nothing hangs, and the files that were good stay as they were. HARTFS_DAMAGE_CASES asks for more than the
 * suite has time for, HARTFS_DAMAGE_SEED for others.
 */
#include "fs/whole.h"
#include "index/table/db.h"
#include "index/table/vfs.h"
#include "tests/lib/fstest.h"
#include "tests/lib/pack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_MAX = 64, VIEWS_MAX = 64 };

struct index_file {
	char name[256];
	struct hf_walk_bytes bytes;
	ino_t ino;        /* as it was put there last */
	struct timespec mtime;
};

static struct hf_fst t;
static struct index_file files[FILES_MAX];
static size_t file_count;
static struct {
	char path[128];
	struct hf_walk_bytes bytes;
} views[VIEWS_MAX];
static size_t view_count;
static uint64_t seed;
static unsigned wrong, retried;

static const char *const captures[] = {"x@stf", "y@stf@gz"};

/* Of each capture; two harts only the second has. */
static const char *const names[] = {"errors.txt", "records.txt", "source.stf", "hart0/listing.txt", "hart0/trace.stf",
				    "hart0/program.elf", "hart1/listing.txt"};

static uint32_t below(uint32_t n)
{
	return hf_rand_next(&seed) % n;
}

static void open_fs(void)
{
	struct hf_fs_options options = {.chunk_insns = 40, .threads = 1, .index_threads = 1, .archive_path = t.archive};

	hf_fst_open(&t, &options);
}

/* ---- reading ---- */

static int read_text(struct hf_file *file, size_t size, struct hf_walk_bytes *bytes)
{
	uint8_t *buf = malloc(size + 100);
	size_t n = 0;
	int err;

	CHECK(buf);
	err = hf_fs_read_wait(t.fs, file, 0, buf, size + 100, &n);
	hf_bytes_add(bytes, buf, n);
	free(buf);
	return err;
}

/* A file as a program reads it: looked up, opened, read to its end. An error, or its bytes, as many as its size. */
static int read_once(const char *path, struct hf_walk_bytes *ret_bytes)
{
	struct hf_file *file;
	struct hf_attr attr;
	uint64_t ino;
	bool keep;
	int err = hf_fs_resolve(t.fs, path, &ino);

	*ret_bytes = (struct hf_walk_bytes){0};
	if (err)
		return err;
	err = hf_fs_getattr(t.fs, ino, &attr);
	if (!err)
		err = hf_file_open(t.fs, ino, &file, &keep);
	if (!err) {
		err = read_text(file, attr.st.st_size < 1 << 26 ? (size_t)attr.st.st_size : 1 << 26, ret_bytes);
		hf_file_close(file);
		if (!err && ret_bytes->n != (uint64_t)attr.st.st_size) {
			fprintf(stderr, "%s: %zu bytes, but its size is %lld\n", path, ret_bytes->n,
				(long long)attr.st.st_size);
			wrong++;
		}
	}
	hf_fs_forget(t.fs, ino, 1);
	return err;
}

/* Small reads here and there, of which an error may come out, but nothing else than the truth. */
static void check_small(size_t i)
{
	const struct hf_walk_bytes *truth = &views[i].bytes;
	struct hf_file *file;
	uint8_t buf[100];
	uint64_t ino;
	bool keep;

	if (truth->n < 2 || hf_fs_resolve(t.fs, views[i].path, &ino))
		return;
	if (!hf_file_open(t.fs, ino, &file, &keep)) {
		for (int k = 0; k < 4; k++) {
			const uint64_t at = 1 + below((uint32_t)truth->n - 1);
			size_t n, there;

			if (hf_fs_read_wait(t.fs, file, at, buf, 1 + below(sizeof buf), &n))
				continue;
			there = truth->n - at < n ? truth->n - at : n;
			if (memcmp(buf, truth->p + at, there) != 0) {
				fprintf(stderr, "%s: other bytes than the truth at %llu\n", views[i].path,
					(unsigned long long)at);
				wrong++;
			}
		}
		hf_file_close(file);
	}
	hf_fs_forget(t.fs, ino, 1);
}

/* Reads until there is no error any more; forged: what no checksum can tell is not compared. */
static void check_view(size_t i, bool forged)
{
	const bool told = strstr(views[i].path, "errors.txt") || strstr(views[i].path, "program.elf");
	struct hf_walk_bytes got;
	int tries = 0, err;

	if (!(forged && told))
		check_small(i);
	while ((err = read_once(views[i].path, &got)) != 0) {
		retried++;
		hf_bytes_free(&got);
		if (++tries > HF_TEST_PATIENCE_MS / 30) {
			fprintf(stderr, "%s does not come back: %s\n", views[i].path, hf_err_name(err));
			wrong++;
			return;
		}
		hf_fs_idle(t.fs);
		hf_fst_sleep_ms(tries < 10 ? 2 : 30);
	}
	if (!(forged && told) &&
	    (got.n != views[i].bytes.n || (got.n && memcmp(got.p, views[i].bytes.p, got.n) != 0))) {
		fprintf(stderr, "%s: other bytes than the truth (%zu, %zu)\n", views[i].path, got.n, views[i].bytes.n);
		wrong++;
	}
	hf_bytes_free(&got);
}

static void check_all(bool forged)
{
	struct hf_walk_bytes info;

	for (size_t i = 0; i < view_count; i++)
		check_view(i, forged);
	for (size_t i = 0; i < 2; i++) {
		char path[64];

		snprintf(path, sizeof path, "%s/info.json", captures[i]);
		CHECK_EQ(read_once(path, &info), 0);
		hf_bytes_free(&info);
	}
}

/* ---- the index directory ---- */

static void in_index(const char *name, char path[400])
{
	snprintf(path, 400, "%s/%s", t.index, name);
}

static void remove_all(void)
{
	DIR *dir = opendir(t.index);
	struct dirent *entry;
	char path[400], note[420];

	while ((entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		in_index(entry->d_name, path);
		snprintf(note, sizeof note, "%s/note", path);
		unlink(note);
		CHECK_EQ(remove(path), 0);
	}
	closedir(dir);
}

static void store(const char *name, const void *bytes, size_t n)
{
	char path[400];
	int fd;

	in_index(name, path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	CHECK(fd >= 0);
	CHECK_EQ(write(fd, bytes, n), (ssize_t)n);
	close(fd);
}

static void note_state(struct index_file *file)
{
	struct stat st;
	char path[400];

	in_index(file->name, path);
	CHECK_EQ(lstat(path, &st), 0);
	file->ino = st.st_ino;
	file->mtime = st.st_mtim;
}

static void restore_all(void)
{
	remove_all();
	for (size_t i = 0; i < file_count; i++) {
		store(files[i].name, files[i].bytes.p, files[i].bytes.n);
		note_state(&files[i]);
	}
}

static void take_files(void)
{
	DIR *dir = opendir(t.index);
	struct dirent *entry;

	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		CHECK(file_count < FILES_MAX);
		snprintf(files[file_count].name, sizeof files[0].name, "%s", entry->d_name);
		files[file_count].bytes = hf_bytes_load(t.index, entry->d_name);
		file_count++;
	}
	closedir(dir);
}

static bool is_catalogue(const char *name)
{
	return strcmp(name + strlen(name) - 4, ".hfc") == 0;
}

/* All but that one, and but catalogues, which are written anew with every news. */
static void check_untouched(size_t but)
{
	for (size_t i = 0; i < file_count; i++) {
		struct index_file now = files[i];

		if (i == but || is_catalogue(files[i].name))
			continue;
		note_state(&now);
		if (now.ino != files[i].ino || now.mtime.tv_nsec != files[i].mtime.tv_nsec) {
			fprintf(stderr, "%s was good and was made again\n", files[i].name);
			wrong++;
		}
	}
}

/* ---- damage ---- */

enum way {
	HEADER, ANYWHERE, CUT, LONGER, EMPTY, GARBAGE, DIRECTORY, FULL_DIRECTORY, LINK, FIFO, OTHER_FILE, OLDER, NEWER,
	PRIVATE, JOURNAL, FORGED, WAYS
};

static const char *const way_names[WAYS] = {
	"a byte of the header", "a byte anywhere", "cut", "longer", "empty", "garbage", "directory", "full directory", "link",
	"FIFO", "another file", "older version", "newer version", "private file", "journal", "forged",
};

static void seal(uint8_t *bytes, size_t n)
{
	for (size_t at = 0; at + HF_PAGE_SIZE <= n; at += HF_PAGE_SIZE)
		hf_vfs_seal(bytes + at, at);
}

/* In the file itself, so that who has it open meets it too. */
static void change(const struct index_file *file, enum way way, size_t header_byte)
{
	struct hf_walk_bytes bytes = {0};
	size_t at = way == HEADER ? header_byte : below((uint32_t)file->bytes.n);

	hf_bytes_add(&bytes, file->bytes.p, file->bytes.n);
	if (way == OLDER || way == NEWER)
		bytes.p[63] = (uint8_t)(way == OLDER ? HF_SCHEMA_VERSION - 1 : HF_SCHEMA_VERSION + 1);
	else
		bytes.p[at] ^= (uint8_t)(1u << below(8));
	if (way == OLDER || way == NEWER || way == FORGED)
		seal(bytes.p, bytes.n);
	store(file->name, bytes.p, bytes.n);
	hf_bytes_free(&bytes);
}

static void make_garbage(const char *name)
{
	uint8_t bytes[20000];

	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)hf_rand_next(&seed);
	store(name, bytes, 1 + below(sizeof bytes - 1));
}

/* What is left of a build, or stands where its file is to be; the published one is gone. */
static void damage_private(const char *path, const char *name, bool journal)
{
	char part[300], of_part[420];

	CHECK_EQ(unlink(path), 0);
	snprintf(part, sizeof part, ".%s.part%s", name, journal ? "-journal" : "");
	in_index(part, of_part);
	switch (below(4)) {
	case 0:
		CHECK_EQ(mkdir(of_part, 0700), 0);
		break;
	case 1:
		CHECK_EQ(mkfifo(of_part, 0600), 0);
		break;
	case 2:
		CHECK_EQ(symlink("/etc/passwd", of_part), 0);
		break;
	default:
		make_garbage(part);
		break;
	}
}

static void replace(const char *path, const struct index_file *file, enum way way)
{
	char note[420];

	CHECK_EQ(unlink(path), 0);
	switch (way) {
	case LINK:
		CHECK_EQ(symlink("/etc/passwd", path), 0);
		break;
	case FIFO:
		CHECK_EQ(mkfifo(path, 0600), 0);
		break;
	case GARBAGE:
		make_garbage(file->name);
		break;
	default:
		CHECK_EQ(mkdir(path, 0700), 0);
		snprintf(note, sizeof note, "%s/note", path);
		if (way == FULL_DIRECTORY)
			CHECK_EQ(close(open(note, O_WRONLY | O_CREAT, 0600)), 0);
		break;
	}
}

static void damage(size_t i, enum way way, size_t header_byte)
{
	const struct index_file *file = &files[i], *other = &files[(i + 1) % file_count];
	static const uint8_t zeros[5000];
	char path[400];
	int fd;

	in_index(file->name, path);
	switch (way) {
	case CUT:
		CHECK_EQ(truncate(path, (off_t)below((uint32_t)file->bytes.n)), 0);
		break;
	case LONGER:
		fd = open(path, O_WRONLY | O_APPEND);
		CHECK_EQ(write(fd, zeros, sizeof zeros), (ssize_t)sizeof zeros);
		close(fd);
		break;
	case EMPTY:
		CHECK_EQ(truncate(path, 0), 0);
		break;
	case OTHER_FILE:
		store(file->name, other->bytes.p, other->bytes.n);
		break;
	case PRIVATE:
	case JOURNAL:
		damage_private(path, file->name, way == JOURNAL);
		break;
	case HEADER:
	case ANYWHERE:
	case OLDER:
	case NEWER:
	case FORGED:
		change(file, way, header_byte);
		break;
	default:
		replace(path, file, way);
		break;
	}
}

/* As if they had been closed for others that were used more lately. */
static void drop_opens(void)
{
	hf_fs_idle(t.fs);
	for (struct hf_open *open = hf_open_pool_newest(&t.fs->captures.open_pool); open; open = hf_open_pool_newest(&t.fs->captures.open_pool))
		hf_open_drop(open->capture);
}

/* One case: before the file system is opened, or while it is, with a file open. */
static void try_case(size_t i, enum way way, size_t header_byte, bool mounted)
{
	const unsigned before = wrong;
	struct hf_file *file = NULL;
	uint8_t buf[64];
	size_t n;

	restore_all();
	if (mounted) {
		open_fs();
		file = hf_fst_open_file(&t, views[below((uint32_t)view_count)].path);
		if (below(2))
			check_all(false);
	}
	damage(i, way, header_byte);
	if (!mounted)
		open_fs();
	else if (below(2))
		drop_opens();
	check_all(way == FORGED);
	if (file) {
		int err = hf_fs_read_wait(t.fs, file, 0, buf, sizeof buf, &n);

		/* Where an index has promised other bytes, what was open ends. */
		if (err && !(way == FORGED && err == HF_ERR_CHANGED)) {
			fprintf(stderr, "an open file ends: %s\n", hf_err_name(err));
			wrong++;
		}
		hf_file_close(file);
	}
	hf_fs_idle(t.fs);
	hf_fst_close(&t);
	if (way != FORGED)
		check_untouched(i);
	if (wrong > before)
		fprintf(stderr, "in the case: %s, %s, at %zu, %s\n", files[i].name, way_names[way], header_byte,
			mounted ? "mounted" : "before the mount");
}

/* ---- */

static void begin(void)
{
	struct hf_walk_bytes stf = hf_fst_stf(4000, 7, false), gz = {0};

	hf_fst_begin(&t);
	hf_fst_write(&t, "x.stf", stf.p, stf.n);
	hf_bytes_free(&stf);
	stf = hf_fst_stf(3000, 8, true);
	hf_pack_gzip(&gz, stf.p, stf.n, 1, 0);
	/* Something for errors.txt. */
	hf_fst_write(&t, "y.stf.gz", gz.p, gz.n - 9);
	hf_bytes_free(&stf);
	hf_bytes_free(&gz);
	open_fs();
	for (size_t i = 0; i < 2; i++)
		for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
			snprintf(views[view_count].path, sizeof views[0].path, "%s/%s", captures[i], names[k]);
			if (!hf_fst_comes(&t, views[view_count].path))
				continue;
			views[view_count].bytes = hf_fst_read(&t, views[view_count].path, 1 << 16);
			view_count++;
		}
	CHECK(view_count > 10);
	hf_fst_close(&t);
	take_files();
	CHECK(file_count > 8);
}

static unsigned from_environment(const char *name, unsigned otherwise)
{
	const char *text = getenv(name);

	return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

int main(void)
{
	const unsigned cases = from_environment("HARTFS_DAMAGE_CASES", 160);
	unsigned tried = 0, bad = 0;

	seed = from_environment("HARTFS_DAMAGE_SEED", 1);
	begin();
	for (; tried < cases; tried++) {
		const unsigned before = wrong;

		/* Every second one a byte of the first 200 of some file, each of them in turn. */
		try_case(below((uint32_t)file_count), tried % 2 ? (enum way)(tried / 2 % WAYS) : HEADER,
			 (size_t)(tried / 2 * 200 / (cases / 2 + 1)), below(2));
		bad += wrong > before;
	}
	printf("%u cases: %u recovered, %u did not or gave something wrong; %u reads had to be tried again\n", tried,
	       tried - bad, bad, retried);
	restore_all();
	remove_all();
	for (size_t i = 0; i < file_count; i++)
		hf_bytes_free(&files[i].bytes);
	for (size_t i = 0; i < view_count; i++)
		hf_bytes_free(&views[i].bytes);
	hf_fst_end(&t);
	return bad != 0;
}
