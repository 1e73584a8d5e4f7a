#include "index/prune.h"

#include "index/fault.h"
#include "index/file.h"
#include "index/row.h"
#include "index/spool_format.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PATH_SIZE 4097

struct name {
	char name[HF_FILE_NAME_SIZE];
};

struct pruner {
	struct hf_prune *prune;
	struct name *names;   /* of the directory, that look like ours */
	size_t name_count;
	uint64_t (*live)[2];  /* identities of captures that are there, as the catalogues have them */
	size_t live_count;
	struct name *alive;   /* what the files of those captures begin with */
	size_t alive_count;
};

static bool ends_with(const char *name, const char *end)
{
	const size_t n = strlen(name), m = strlen(end);

	return n >= m && strcmp(name + n - m, end) == 0;
}

/* One more element at the end of an array that grows at every power of two; NULL: out of memory. */
static void *grow(void *array, size_t count, size_t size, void **ret_last)
{
	if ((count & (count - 1)) == 0) {
		void *bigger = realloc(array, (count ? 2 * count : 1) * size);

		if (!bigger)
			return NULL;
		array = bigger;
	}
	*ret_last = (char *)array + count * size;
	return array;
}

static bool add_name(struct name **names, size_t *count, const char *name, size_t n)
{
	void *last, *bigger = grow(*names, *count, sizeof **names, &last);

	if (!bigger)
		return false;
	*names = bigger;
	memcpy(((struct name *)last)->name, name, n);
	((struct name *)last)->name[n] = '\0';
	(*count)++;
	return true;
}

/* Our names begin with 32 hexadecimal digits, those of private files with a dot before them. */
static bool looks_ours(const char *name)
{
	const char *hex = name + (name[0] == '.');

	if (strlen(name) >= HF_FILE_NAME_SIZE || strspn(hex, "0123456789abcdef") != HF_HEX_SIZE - 1 ||
	    hex[HF_HEX_SIZE - 1] != '.')
		return false;
	if (name[0] == '.')
		return ends_with(name, ".part") || ends_with(name, ".part-journal");
	return ends_with(name, ".hfi") || ends_with(name, ".hfv") || ends_with(name, ".hfs") || ends_with(name, ".hfc");
}

static int list(struct pruner *p)
{
	int fd = openat(p->prune->dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir) {
		err = hf_fault_set("reading", NULL, errno);
		if (fd >= 0)
			close(fd);
		return err;
	}
	while (!err && (errno = 0, entry = readdir(dir)))
		if (looks_ours(entry->d_name) &&
		    !add_name(&p->names, &p->name_count, entry->d_name, strlen(entry->d_name)))
			err = HF_ERR_NOMEM;
	if (!err && errno)
		err = hf_fault_set("reading", NULL, errno);
	closedir(dir);
	return err;
}

static void drop(struct pruner *p, const char *name, const char *reason)
{
	struct hf_prune *prune = p->prune;
	struct stat st;

	if (fstatat(prune->dirfd, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
		return;
	if (!prune->dry_run && unlinkat(prune->dirfd, name, 0)) {
		prune->kept++;
		return;
	}
	prune->files++;
	prune->bytes += (uint64_t)st.st_size;
	if (prune->on_file)
		prune->on_file(prune->ctx, name, (uint64_t)st.st_size, reason);
}

/* ---- what is there ---- */

struct stamp {
	uint64_t size, ino, mtime_ns;
};

static bool has_stamp(int root, const char *path, const struct stamp *stamp)
{
	struct stat st;

	return fstatat(root, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && (uint64_t)st.st_size == stamp->size &&
	       st.st_ino == stamp->ino &&
	       (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec == stamp->mtime_ns;
}

/* A row of a catalogue: whether that file is what it was then. The stamp of a directory is that of its description. */
static bool is_same(int root, sqlite3_stmt *stmt)
{
	static const char *const inside[] = {"", "/capture.ini", "/snapshot.ini"};
	char path[PATH_SIZE], file[PATH_SIZE + 16];
	struct stamp stamp;
	bool null;

	if (hf_col_u64(stmt, 0, UINT64_MAX, &stamp.size) || hf_col_u64(stmt, 1, UINT64_MAX, &stamp.ino) ||
	    hf_col_u64(stmt, 2, UINT64_MAX, &stamp.mtime_ns) || hf_col_text(stmt, 5, path, sizeof path, &null))
		return false;
	for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) {
		snprintf(file, sizeof file, "%s%s", path, inside[i]);
		if (*path && has_stamp(root, file, &stamp))
			return true;
	}
	return false;
}

static int add_live(struct pruner *p, sqlite3_stmt *stmt)
{
	void *last, *bigger = grow(p->live, p->live_count, sizeof *p->live, &last);
	uint64_t *print = last;

	if (!bigger)
		return HF_ERR_NOMEM;
	p->live = bigger;
	if (!hf_col_u64(stmt, 3, UINT64_MAX, &print[0]) && !hf_col_u64(stmt, 4, UINT64_MAX, &print[1]))
		p->live_count++;
	return 0;
}

static int read_rows(struct pruner *p, sqlite3 *db, int root)
{
	sqlite3_stmt *stmt;
	int err = hf_db_prepare(
		db, "SELECT size, inode, mtime_ns, print_low, print_high, path FROM file WHERE kind = 3", &stmt);

	while (!err && !(err = hf_db_step(stmt)))
		if (is_same(root, stmt))
			err = add_live(p, stmt);
	sqlite3_finalize(stmt);
	return err > 0 ? 0 : err;
}

/* The root of the archive as an O_PATH descriptor, -1 if it is not there any more. */
static int open_root(sqlite3 *db, int *ret_err)
{
	char path[PATH_SIZE];
	sqlite3_stmt *stmt;
	uint64_t ino;
	struct stat st;
	bool null;
	int fd = -1, err = hf_db_prepare(db, "SELECT path, inode FROM meta", &stmt);

	*ret_err = err ? err : hf_db_step(stmt);
	if (!*ret_err && !hf_col_text(stmt, 0, path, sizeof path, &null) && !hf_col_u64(stmt, 1, UINT64_MAX, &ino))
		fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &st) || st.st_ino != ino)) {
		close(fd);
		fd = -1;
	}
	sqlite3_finalize(stmt);
	return fd;
}

/* *ret_reason: why it can go, or NULL. */
static int read_catalogue(struct pruner *p, const char *name, const char **ret_reason)
{
	sqlite3 *db;
	int fd, root, err = hf_idx_file_open(p->prune->dirfd, name, &fd);

	*ret_reason = NULL;
	if (err)
		return err == HF_ERR_NOT_FOUND ? 0 : err;
	if (hf_db_look(fd, HF_DB_CATALOGUE) != HF_LOOK_OURS) {
		if (hf_db_look(fd, HF_DB_CATALOGUE) == HF_LOOK_OLD)
			*ret_reason = "of another version, or damaged";
		close(fd);
		return 0;
	}
	err = hf_db_open(fd, HF_DB_CATALOGUE, &db);
	if (!err) {
		root = open_root(db, &err);
		if (root < 0 && !err)
			*ret_reason = "the archive is gone";
		else if (root >= 0)
			err = read_rows(p, db, root);
		if (root >= 0)
			close(root);
		hf_db_close(db);
	}
	close(fd);
	if (err == HF_ERR_STATE)
		*ret_reason = "damaged";
	return err == HF_ERR_STATE ? 0 : err;
}

/* ---- what goes ---- */

static bool is_live(const struct pruner *p, const struct hf_identity *identity)
{
	for (size_t i = 0; i < p->live_count; i++)
		if (p->live[i][0] == identity->print[0] && p->live[i][1] == identity->print[1])
			return true;
	return false;
}

/* Looks at a decode index: the other files of its capture go or stay with it. */
static int read_index(struct pruner *p, const char *name, const char **ret_reason)
{
	struct hf_index_meta meta;
	char right[HF_FILE_NAME_SIZE];
	enum hf_db_look look;
	sqlite3 *db;
	int fd, err = hf_idx_file_open(p->prune->dirfd, name, &fd);

	*ret_reason = NULL;
	if (err)
		return err == HF_ERR_NOT_FOUND ? 0 : err;
	look = hf_db_look(fd, HF_DB_INDEX);
	err = look == HF_LOOK_OURS ? hf_db_open(fd, HF_DB_INDEX, &db) : HF_ERR_STATE;
	if (!err) {
		err = hf_index_meta_read(db, &meta);
		hf_db_close(db);
	}
	close(fd);
	if (look == HF_LOOK_FOREIGN || look == HF_LOOK_UNREADABLE)
		return 0;
	if (err && err != HF_ERR_STATE)
		return err;
	if (!err)
		hf_idx_file_name_index(&meta.identity, right);
	if (err || strcmp(right, name) != 0)
		*ret_reason = "of another version, or damaged";
	else if (!is_live(p, &meta.identity))
		*ret_reason = "its capture is gone, changed or not known";
	else if (!add_name(&p->alive, &p->alive_count, name, HF_HEX_SIZE - 1))
		return HF_ERR_NOMEM;
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return memcmp(a, b, HF_HEX_SIZE - 1);
}

/* p->alive is sorted. */
static bool is_alive(const struct pruner *p, const char *hex)
{
	return p->alive_count && bsearch(hex, p->alive, p->alive_count, sizeof *p->alive, compare_names);
}

/* Whether the content is ours, as far as a first look tells; what is in the making may still be empty. */
static bool is_ours(const struct pruner *p, const char *name)
{
	struct stat st;
	int fd;
	enum hf_db_look look;
	bool ours;

	if (name[0] == '.')
		return true;
	if (hf_idx_file_open(p->prune->dirfd, name, &fd))
		return false;
	look = hf_db_look(fd, HF_DB_VIEW);
	if (ends_with(name, ".hfs"))
		ours = fstat(fd, &st) == 0 && hf_spool_is_ours(fd, (uint64_t)st.st_size);
	else
		ours = look != HF_LOOK_FOREIGN && look != HF_LOOK_UNREADABLE;
	close(fd);
	return ours;
}

/* A private file is taken up again by whoever builds that next, so it may be of use for a while. */
static bool is_recent(const struct pruner *p, const char *name)
{
	struct timespec now;
	struct stat st;

	clock_gettime(CLOCK_REALTIME, &now);
	return fstatat(p->prune->dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       now.tv_sec - st.st_mtim.tv_sec < HF_PRUNE_PART_AGE;
}

/* View tables, spools and private files. */
static void judge_other(struct pruner *p, const char *name)
{
	const bool private = name[0] == '.';

	if (ends_with(name, ".hfi") || ends_with(name, ".hfc"))
		return;
	if (is_alive(p, name + private) || (private && is_recent(p, name)) || !is_ours(p, name))
		p->prune->kept++;
	else
		drop(p, name, private ? "an interrupted build" : "without an index that is of use");
}

typedef int (*read_fn)(struct pruner *p, const char *name, const char **ret_reason);

/* All files with that ending: those that read gives a reason for go, once all have been read. */
static int judge(struct pruner *p, const char *end, read_fn read)
{
	const char **reasons = calloc(p->name_count + 1, sizeof *reasons);
	int err = reasons ? 0 : HF_ERR_NOMEM;

	for (size_t i = 0; i < p->name_count && !err; i++)
		if (p->names[i].name[0] != '.' && ends_with(p->names[i].name, end))
			err = read(p, p->names[i].name, &reasons[i]);
	for (size_t i = 0; i < p->name_count && !err; i++) {
		if (reasons[i])
			drop(p, p->names[i].name, reasons[i]);
		else if (p->names[i].name[0] != '.' && ends_with(p->names[i].name, end))
			p->prune->kept++;
	}
	free(reasons);
	return err;
}

int hf_prune_run(struct hf_prune *prune)
{
	struct pruner p = {.prune = prune};
	int err = list(&p);

	prune->files = prune->bytes = prune->kept = 0;
	if (!err)
		err = judge(&p, ".hfc", read_catalogue);
	if (!err)
		err = judge(&p, ".hfi", read_index);
	if (p.alive_count)
		qsort(p.alive, p.alive_count, sizeof *p.alive, compare_names);
	for (size_t i = 0; i < p.name_count && !err; i++)
		judge_other(&p, p.names[i].name);
	free(p.names);
	free(p.live);
	free(p.alive);
	return err;
}
