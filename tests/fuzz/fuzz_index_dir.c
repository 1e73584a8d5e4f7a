/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole index directory as hostile input, under a small archive: catalogue, decode indexes and view tables are
 * damaged or forged together, before a file system is opened over them and while it is. The input is steps: what to do,
 * on which file, a length in two bytes, and bytes. Every view then has its own bytes or gives an error, and comes back
 * where checksums can tell the damage; where they cannot, it is no longer than its size.
 */
#include "fs/whole.h"
#include "index/table/db.h"
#include "index/table/vfs.h"
#include "tests/lib/dbfuzz.h"
#include "tests/lib/fstest.h"
#include "tests/lib/fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

/* A step's first byte: one of these, and flags. */
enum what { CHANGE, WHOLE, CUT, OTHER, REMOVE, PRIVATE, WHATS };
enum { WHAT = 7, SEALED = 0x10 /* checksums are put right */, MOUNTED = 0x20 /* once the file system has been used */ };
enum { STEPS_MAX = 8, STEP_HEAD = 4, BYTES_MAX = 16384 };
/* A view that gives an error is asked again so often. */
enum { TRIES = 400 };
/* A forged size is not read whole. */
enum { SIZE_MAX_READ = 1 << 18 };

struct step {
	uint8_t what, file;
	const uint8_t *bytes;
	size_t n;
};

static struct hf_fst t;
static int index_fd;
static char names[16][256]; /* of the files of the index directory, in that order */
static struct hf_walk_bytes valid[16];
static size_t file_count;

static struct {
	const char *path;
	struct hf_walk_bytes truth;
} views[] = {
	{.path = "x@stf/errors.txt"},	     {.path = "x@stf/records.txt"},	{.path = "x@stf/source.stf"},
	{.path = "x@stf/hart0/listing.txt"}, {.path = "x@stf/hart0/trace.stf"}, {.path = "y@stf/records.txt"},
	{.path = "y@stf/hart1/listing.txt"},
};
enum { VIEWS = sizeof views / sizeof *views };

/* In place of the C library's: what is waited for here is not to make way for everything else on a busy machine. */
int setpriority(__priority_which_t which, id_t who, int prio)
{
	(void)which;
	(void)who;
	(void)prio;
	return 0;
}

static void open_fs(void)
{
	const struct hf_fs_options options = {.chunk_insns = 40,
					      .threads = 1,
					      .index_threads = 1,
					      .views = "listing.txt,trace.stf",
					      .archive_path = t.archive};

	hf_fst_open(&t, &options);
}

/* ---- the index directory ---- */

static void each_name(void (*fn)(const char *name))
{
	DIR *dir = opendir(t.index);
	struct dirent *entry;

	MUST(dir);
	while ((entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			fn(entry->d_name);
	closedir(dir);
}

static void remove_name(const char *name)
{
	MUST(unlinkat(index_fd, name, 0) == 0);
}

static bool is_catalogue(const char *name)
{
	return strstr(name, ".hfc") != NULL;
}

/* Its name is another one each time: it goes first. */
static bool is_before(const char *a, const char *b)
{
	return is_catalogue(a) != is_catalogue(b) ? is_catalogue(a) : strcmp(a, b) < 0;
}

static void take_name(const char *name)
{
	size_t i = file_count++;

	MUST(file_count <= sizeof names / sizeof *names);
	for (; i && is_before(name, names[i - 1]); i--)
		memcpy(names[i], names[i - 1], sizeof names[i]);
	snprintf(names[i], sizeof names[i], "%s", name);
}

static void store(size_t i, const void *bytes, size_t n)
{
	int fd = openat(index_fd, names[i], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	MUST(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
	close(fd);
}

static void restore(void)
{
	each_name(remove_name);
	for (size_t i = 0; i < file_count; i++)
		store(i, valid[i].p, valid[i].n);
}

static void clean_up(void)
{
	for (size_t i = 0; i < file_count; i++)
		hf_bytes_free(&valid[i]);
	for (size_t i = 0; i < VIEWS; i++)
		hf_bytes_free(&views[i].truth);
	close(index_fd);
	hf_fst_end(&t);
}

static void set_up(void)
{
	struct hf_walk_bytes x = hf_fst_stf(200, 7, false), y = hf_fst_stf(150, 8, true);

	hf_fst_begin_quick(&t);
	atexit(clean_up);
	hf_fst_write(&t, "x.stf", x.p, x.n - 1); /* something for errors.txt */
	hf_fst_write(&t, "y.stf", y.p, y.n);
	hf_bytes_free(&x);
	hf_bytes_free(&y);
	index_fd = open(t.index, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	MUST(index_fd >= 0);
	open_fs();
	for (size_t i = 0; i < VIEWS; i++)
		views[i].truth = hf_fst_read(&t, views[i].path, 1 << 16);
	hf_fst_close(&t);
	each_name(take_name);
	MUST(file_count > 4);
	for (size_t i = 0; i < file_count; i++)
		valid[i] = hf_bytes_load(t.index, names[i]);
}

/* ---- steps ---- */

static size_t read_steps(const uint8_t *bytes, size_t n, struct step steps[STEPS_MAX])
{
	size_t count = 0;

	while (n >= STEP_HEAD && count < STEPS_MAX) {
		struct step *s = &steps[count++];
		const size_t size = (size_t)(bytes[2] | bytes[3] << 8);

		*s = (struct step){.what = bytes[0],
				   .file = (uint8_t)(bytes[1] % file_count),
				   .bytes = bytes + STEP_HEAD,
				   .n = size < n - STEP_HEAD ? size : n - STEP_HEAD};
		bytes += STEP_HEAD + s->n;
		n -= STEP_HEAD + s->n;
	}
	return count;
}

static void take_step(const struct step *s)
{
	const struct hf_walk_bytes *file = &valid[s->file];
	const size_t number = s->n > 1 ? (size_t)(s->bytes[0] | s->bytes[1] << 8) : s->n ? s->bytes[0] : 0;
	const unsigned sealed = s->what & SEALED ? DB_FUZZ_SEALED : 0;
	char part[300];

	switch ((s->what & WHAT) % WHATS) {
	case CHANGE:
		db_fuzz_store(index_fd, names[s->file], file, sealed | DB_FUZZ_CHANGES, s->bytes, s->n);
		break;
	case WHOLE:
		db_fuzz_store(index_fd, names[s->file], file, sealed, s->bytes, s->n);
		break;
	case CUT: /* in pages, or anywhere */
		store(s->file, file->p,
		      sealed ? number % (file->n / HF_PAGE_SIZE + 1) * HF_PAGE_SIZE : number % file->n);
		break;
	case OTHER:
		store(s->file, valid[number % file_count].p, valid[number % file_count].n);
		break;
	case PRIVATE: /* what a build left that was interrupted */
		snprintf(part, sizeof part, ".%s.part", names[s->file]);
		db_fuzz_store(index_fd, part, file, sealed | DB_FUZZ_CHANGES, s->bytes, s->n);
		unlinkat(index_fd, names[s->file], 0);
		break;
	default:
		unlinkat(index_fd, names[s->file], 0);
		break;
	}
}

/* Returns whether a file was forged that is believed. */
static bool take_steps(const struct step *steps, size_t count, unsigned when)
{
	bool forged = false;

	for (size_t i = 0; i < count; i++) {
		const unsigned what = (steps[i].what & WHAT) % WHATS;

		if ((steps[i].what & MOUNTED) != when)
			continue;
		take_step(&steps[i]);
		/* A catalogue is only a hint: the index says what is so. */
		forged |= steps[i].what & SEALED && (what == CHANGE || what == WHOLE || what == PRIVATE) &&
			  !is_catalogue(names[steps[i].file]);
	}
	return forged;
}

/* ---- looking ---- */

/* An error, or up to SIZE_MAX_READ bytes of the file, which are its size. */
static int read_file(const char *path, struct hf_walk_bytes *ret)
{
	static uint8_t buf[SIZE_MAX_READ];
	struct hf_attr attr;
	struct hf_file *file;
	uint64_t ino;
	size_t n = 0;
	bool keep;
	int err = hf_fs_resolve(t.fs, path, &ino);

	*ret = (struct hf_walk_bytes){.p = buf};
	if (err)
		return err;
	err = hf_fs_getattr(t.fs, ino, &attr);
	if (!err)
		err = hf_file_open(t.fs, ino, &file, &keep);
	if (!err) {
		err = hf_fs_read_wait(t.fs, file, 0, buf, sizeof buf, &n);
		hf_file_close(file);
		MUST(err || n == (size_t)(attr.st.st_size < (off_t)sizeof buf ? attr.st.st_size : (off_t)sizeof buf));
	}
	hf_fs_forget(t.fs, ino, 1);
	ret->n = n;
	return err;
}

static void check_view(size_t i, bool forged)
{
	struct hf_walk_bytes got;
	int tries = 0, err;

	while ((err = read_file(views[i].path, &got)) != 0) {
		MUST(err < 0 && hf_err_name(err) && err != HF_ERR_BUG);
		if (forged && tries > 2)
			return;
		MUST(++tries < TRIES);
		hf_fs_idle(t.fs);
		if (tries > 2)
			hf_fst_sleep_ms(tries < 10 ? 1 : 30);
	}
	if (forged)
		return;
	if (got.n != views[i].truth.n || memcmp(got.p, views[i].truth.p, got.n) != 0)
		fprintf(stderr, "%s: %zu bytes, but the truth are %zu others\n", views[i].path, got.n,
			views[i].truth.n);
	MUST(got.n == views[i].truth.n && memcmp(got.p, views[i].truth.p, got.n) == 0);
}

static bool take_entry(void *ctx, const char *name, const struct hf_attr *attr, uint64_t next_cookie)
{
	uint64_t *cookie = ctx;

	MUST(*name && attr->st.st_ino && next_cookie > *cookie);
	*cookie = next_cookie;
	if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && attr->st.st_ino != HF_FS_UNREACHABLE)
		hf_fs_forget(t.fs, attr->st.st_ino, 1);
	return true;
}

static void list(const char *path)
{
	uint64_t ino, cookie = 0;
	struct hf_dir *dir;

	if (hf_fs_resolve(t.fs, path, &ino))
		return;
	if (hf_dir_open(t.fs, ino, &dir, NULL) == 0) {
		MUST(hf_dir_read(dir, 0, true, take_entry, &cookie) == 0);
		hf_dir_close(dir);
	}
	hf_fs_forget(t.fs, ino, 1);
}

static void look(bool forged)
{
	static const char *const dirs[] = {"x@stf", "x@stf/hart0", "y@stf", "y@stf/hart1"};
	struct hf_walk_bytes info;

	for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++)
		list(dirs[i]);
	for (size_t i = 0; i < VIEWS; i++)
		check_view(i, forged);
	MUST(read_file("x@stf/info.json", &info) <= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct step steps[STEPS_MAX] = {0};
	bool forged, mounted = false;
	size_t count;

	if (!file_count)
		set_up();
	if (n > BYTES_MAX)
		return 0;
	restore();
	count = read_steps(bytes, n, steps);
	forged = take_steps(steps, count, 0);
	open_fs();
	look(forged);
	for (size_t i = 0; i < count; i++)
		mounted |= steps[i].what & MOUNTED;
	if (mounted) {
		forged |= take_steps(steps, count, MOUNTED);
		/* As if others had been used more lately. */
		hf_fs_idle(t.fs);
		while (hf_open_pool_newest(&t.fs->captures.open_pool))
			hf_open_drop(hf_open_pool_newest(&t.fs->captures.open_pool)->capture);
		look(forged);
	}
	hf_fs_idle(t.fs);
	hf_fst_close(&t);
	return 0;
}
