/* SPDX-License-Identifier: Apache-2.0 */
#include "index/upkeep/prune.h"

#include "codecs/base/array.h"
#include "codecs/base/errors.h"
#include "index/base/fault.h"
#include "index/store/disk_file.h"
#include "index/store/spool_format.h"

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
	struct name *names; /* of the directory, that look like ours */
	size_t name_count;
	struct name
		*alive; /* what the files of captures begin with that are there, as the catalogues have them; sorted */
	size_t alive_count;
	bool newer;		   /* what was looked at last is of a newer version */
	bool catalogue_unreadable; /* what it knew is not to go */
};

static bool ends_with(const char *name, const char *end)
{
	const size_t n = strlen(name), m = strlen(end);

	return n >= m && strcmp(name + n - m, end) == 0;
}

static bool add_name(struct name **names, size_t *count, const char *name, size_t n)
{
	if (hf_array_room(names, *count, sizeof **names))
		return false;
	memcpy((*names)[*count].name, name, n);
	(*names)[(*count)++].name[n] = '\0';
	return true;
}

/* As versions with a schema before 13 did with what they had not made. */
static bool was_put_aside(const char *name)
{
	return strstr(name, ".damaged-");
}

/* Our names begin with 32 hexadecimal digits, those of private files with a dot before them. */
static bool looks_ours(const char *name)
{
	const char *hex = name + (name[0] == '.');

	if (strlen(name) >= HF_FILE_NAME_SIZE || strspn(hex, "0123456789abcdef") != HF_HEX_SIZE - 1 ||
	    hex[HF_HEX_SIZE - 1] != '.')
		return false;
	if (was_put_aside(name))
		return true;
	if (name[0] == '.')
		return ends_with(name, ".part") || ends_with(name, ".part-journal");
	return ends_with(name, ".hfi") || ends_with(name, ".hfv") || ends_with(name, ".hfs") ||
	       ends_with(name, ".hfc") || ends_with(name, ".hfp") || ends_with(name, ".hfq");
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

static bool is_empty(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	size_t n = 0;

	if (!dir && fd >= 0)
		close(fd);
	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return dir && n == 2;
}

/* Removes a file, or an empty directory. */
static void drop(struct pruner *p, const char *name, const char *reason)
{
	struct hf_prune *prune = p->prune;
	struct stat st;
	bool dir;

	if (fstatat(prune->dirfd, name, &st, AT_SYMLINK_NOFOLLOW))
		return;
	dir = S_ISDIR(st.st_mode);
	if (prune->dry_run ? dir && !is_empty(prune->dirfd, name)
			   : unlinkat(prune->dirfd, name, dir ? AT_REMOVEDIR : 0) < 0) {
		prune->kept++;
		return;
	}
	if (!S_ISREG(st.st_mode))
		st.st_size = 0;
	prune->files++;
	prune->bytes += (uint64_t)st.st_size;
	if (prune->on_file)
		prune->on_file(prune->ctx, name, (uint64_t)st.st_size, reason);
}

static const char another_version[] = "of another version, or damaged",
		  unknown[] = "its capture is gone, changed or not known";

/* Whether hartfs made the file, as its first bytes tell, or the last ones of a spool. */
static bool is_ours(int fd, const char *name, bool *ret_old, int *ret_err)
{
	struct stat st;

	*ret_old = false;
	*ret_err = 0;
	for (int kind = HF_DB_INDEX; kind <= HF_DB_PACK; kind++) {
		const enum hf_db_look look = hf_db_look(fd, (enum hf_db_kind)kind);

		*ret_old = look == HF_LOOK_OLD;
		if (look == HF_LOOK_UNREADABLE)
			*ret_err = HF_ERR_INDEX_DIR;
		if (look == HF_LOOK_UNREADABLE || look == HF_LOOK_OLD || look == HF_LOOK_OURS)
			return !*ret_err;
	}
	*ret_old = ends_with(name, ".hfp") && hf_pack_is_old(fd);
	return *ret_old ||
	       (ends_with(name, ".hfs") && fstat(fd, &st) == 0 && hf_spool_is_ours(fd, (uint64_t)st.st_size));
}

/*
 * Opens a file to be judged. *ret_reason: it is of an older version. *ret_fd is -1 if it is to stay: somebody else's,
 * of a newer version, or no file.
 */
static int look_at(struct pruner *p, const char *name, int *ret_fd, const char **ret_reason)
{
	bool ours, old;
	int err = hf_disk_file_look(p->prune->dirfd, &p->prune->sharing, name, ret_fd);

	*ret_reason = NULL;
	p->newer = false;
	if (err)
		return err == HF_ERR_NOT_FOUND ? 0 : err;
	ours = is_ours(*ret_fd, name, &old, &err);
	p->newer = hf_db_is_newer(*ret_fd);
	if (ours && !p->newer) {
		*ret_reason = old ? another_version : NULL;
		return 0;
	}
	close(*ret_fd);
	*ret_fd = -1;
	return err;
}

/* ---- which captures exist ---- */

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

/* Whether the file of a catalogue's row is unchanged. The stamp of a directory is that of its description. */
static bool is_same(int root, sqlite3_stmt *stmt)
{
	static const char *const inside[] = {"", "/capture.ini", "/snapshot.ini"};
	char path[PATH_SIZE], file[PATH_SIZE + 16];
	struct stamp stamp;

	if (hf_col_u64(stmt, 0, UINT64_MAX, &stamp.size) || hf_col_u64(stmt, 1, UINT64_MAX, &stamp.ino) ||
	    hf_col_u64(stmt, 2, UINT64_MAX, &stamp.mtime_ns) || hf_col_text(stmt, 5, path, sizeof path))
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
	uint64_t files[2];
	char hex[HF_HEX_SIZE];

	if (hf_col_u64(stmt, 3, UINT64_MAX, &files[0]) || hf_col_u64(stmt, 4, UINT64_MAX, &files[1]))
		return 0;
	hf_index_put_hex(files, hex);
	return add_name(&p->alive, &p->alive_count, hex, HF_HEX_SIZE - 1) ? 0 : HF_ERR_NOMEM;
}

static int read_rows(struct pruner *p, sqlite3 *db, int root)
{
	sqlite3_stmt *stmt;
	int err = hf_db_prepare(
		db, "SELECT size, inode, mtime_ns, files_low, files_high, path FROM file WHERE kind = 3", &stmt);

	while (!err && !(err = hf_db_step(stmt)))
		if (is_same(root, stmt))
			err = add_live(p, stmt);
	sqlite3_finalize(stmt);
	return err > 0 ? 0 : err;
}

/* The root of the archive as an O_PATH descriptor; -1: it is gone. */
static int open_root(sqlite3 *db, int *ret_err)
{
	char path[PATH_SIZE];
	sqlite3_stmt *stmt;
	uint64_t ino;
	struct stat st;
	int fd = -1, err = hf_db_prepare(db, "SELECT path, inode FROM meta", &stmt);

	*ret_err = err ? err : hf_db_step(stmt);
	if (!*ret_err && !hf_col_text(stmt, 0, path, sizeof path) && !hf_col_u64(stmt, 1, UINT64_MAX, &ino))
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
	sqlite3 *db = NULL;
	int fd, root = -1, err = look_at(p, name, &fd, ret_reason);

	/* Of what stood in it nothing is known. */
	p->catalogue_unreadable |= (fd < 0 && !p->newer) || *ret_reason;
	if (err || fd < 0 || *ret_reason)
		goto out;
	err = hf_db_open(fd, HF_DB_CATALOGUE, &db);
	if (!err)
		root = open_root(db, &err);
	if (!err && root < 0)
		*ret_reason = "the archive is gone";
	else if (!err)
		err = read_rows(p, db, root);
	if (root >= 0)
		close(root);
	hf_db_close(db);
	if (err == HF_ERR_STATE) {
		*ret_reason = another_version;
		p->catalogue_unreadable = true;
		err = 0;
	}
out:
	if (fd >= 0)
		close(fd);
	return err;
}

/* ---- which files go ---- */

static int compare_names(const void *a, const void *b)
{
	return memcmp(a, b, HF_HEX_SIZE - 1);
}

static bool is_alive(const struct pruner *p, const char *hex)
{
	return p->alive_count && bsearch(hex, p->alive, p->alive_count, sizeof *p->alive, compare_names);
}

/* Takes fd. Without a capture that is there a pack can go. */
static int read_pack(struct pruner *p, int fd, const char *name, const char **ret_reason)
{
	struct hf_pack *pack;
	char hex[HF_HEX_SIZE];
	int err = hf_pack_open(fd, name, &pack);

	*ret_reason = err ? another_version : p->catalogue_unreadable ? NULL : unknown;
	for (size_t i = 0; !err && i < pack->count && *ret_reason; i++) {
		hf_index_put_hex(pack->entries[i].key.files, hex);
		if (is_alive(p, hex))
			*ret_reason = NULL;
	}
	hf_pack_close(pack);
	return err == HF_ERR_STATE ? 0 : err;
}

/* Of a capture that no catalogue knows, or of an older version. */
static int judge_file(struct pruner *p, const char *name, const char **ret_reason)
{
	int fd, err;

	*ret_reason = NULL;
	if (is_alive(p, name))
		return 0;
	err = look_at(p, name, &fd, ret_reason);
	if (err || fd < 0)
		return err;
	if (!*ret_reason && ends_with(name, ".hfp"))
		return read_pack(p, fd, name, ret_reason);
	if (!*ret_reason && !p->catalogue_unreadable)
		*ret_reason = unknown;
	close(fd);
	return 0;
}

/* A private file may be resumed by the next build, so it stays for a while. */
static bool is_recent(const struct pruner *p, const char *name)
{
	struct timespec now;
	struct stat st;

	clock_gettime(CLOCK_REALTIME, &now);
	return fstatat(p->prune->dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       now.tv_sec - st.st_mtim.tv_sec < HF_PRUNE_PART_AGE;
}

/* Nobody goes on with it: another user's of a process that is gone, or of a capture that is. */
static bool is_litter(const struct pruner *p, const char *name)
{
	struct stat st;

	if (fstatat(p->prune->dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	    st.st_uid != geteuid())
		return hf_disk_part_is_left(p->prune->dirfd, name) || !is_recent(p, name);
	return !is_alive(p, name + 1) && !is_recent(p, name);
}

static int judge(struct pruner *p, const char *name)
{
	const char *reason = NULL;
	int err = 0;

	if (was_put_aside(name))
		reason = "was put aside by an older version";
	else if (name[0] != '.')
		err = judge_file(p, name, &reason);
	else if (is_litter(p, name))
		reason = "an interrupted build";
	if (reason)
		drop(p, name, reason);
	else
		p->prune->kept++;
	return err;
}

static bool is_catalogue(const char *name)
{
	return name[0] != '.' && ends_with(name, ".hfc");
}

/* They are all read before anything goes. */
static int judge_catalogues(struct pruner *p)
{
	const char **reasons = calloc(p->name_count + 1, sizeof *reasons);
	int err = reasons ? 0 : HF_ERR_NOMEM;

	for (size_t i = 0; i < p->name_count && !err; i++)
		if (is_catalogue(p->names[i].name))
			err = read_catalogue(p, p->names[i].name, &reasons[i]);
	for (size_t i = 0; i < p->name_count && !err; i++) {
		if (reasons[i])
			drop(p, p->names[i].name, reasons[i]);
		else if (is_catalogue(p->names[i].name))
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
		err = judge_catalogues(&p);
	if (p.alive_count)
		qsort(p.alive, p.alive_count, sizeof *p.alive, compare_names);
	for (size_t i = 0; i < p.name_count && !err; i++)
		if (!is_catalogue(p.names[i].name))
			err = judge(&p, p.names[i].name);
	free(p.names);
	free(p.alive);
	return err;
}

int hf_prune_count_old(struct hf_prune *prune)
{
	struct pruner p = {.prune = prune};
	int err = list(&p);

	prune->dry_run = true;
	prune->files = prune->bytes = prune->kept = 0;
	for (size_t i = 0; i < p.name_count && !err; i++) {
		const char *name = p.names[i].name, *reason = was_put_aside(name) ? another_version : NULL;
		int fd = -1;

		if (!reason && name[0] != '.')
			err = look_at(&p, name, &fd, &reason);
		if (fd >= 0)
			close(fd);
		if (reason)
			drop(&p, name, reason);
	}
	free(p.names);
	return err;
}

/* ---- the limit ---- */

/* The files of a capture, which lie one behind the other in the sorted names; or a pack. */
struct group {
	size_t first, count;
	uint64_t bytes;
	int64_t used_s;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

static int by_use(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	return (x->used_s > y->used_s) - (x->used_s < y->used_s);
}

/* Ours, and open nowhere: who opens a published file locks it (hf_disk_file_open). */
static bool is_idle(struct pruner *p, const char *name)
{
	struct flock range = hf_disk_use_lock(F_WRLCK);
	const char *reason;
	int fd;
	bool idle;

	if (look_at(p, name, &fd, &reason) || fd < 0)
		return false;
	idle = fcntl(fd, F_OFD_GETLK, &range) == 0 && range.l_type == F_UNLCK;
	close(fd);
	return idle;
}

static bool is_group_idle(struct pruner *p, const struct group *group)
{
	for (size_t i = 0; i < group->count; i++)
		if (!is_idle(p, p->names[group->first + i].name))
			return false;
	return true;
}

/* groups[p->name_count]; *ret_bytes: of all files. Returns how many groups there are. */
static size_t find_groups(struct pruner *p, struct group *groups, uint64_t *ret_bytes)
{
	size_t count = 0;
	struct stat st;

	qsort(p->names, p->name_count, sizeof *p->names, by_name);
	*ret_bytes = 0;
	for (size_t i = 0; i < p->name_count; i++) {
		const char *name = p->names[i].name;
		struct group *last = count ? &groups[count - 1] : NULL;

		if (fstatat(p->prune->dirfd, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			st = (struct stat){0};
		*ret_bytes += (uint64_t)st.st_size;
		if (name[0] == '.' || is_catalogue(name))
			continue;
		if (!last || last->first + last->count != i ||
		    memcmp(p->names[last->first].name, name, HF_HEX_SIZE - 1) != 0)
			*(last = &groups[count++]) = (struct group){.first = i};
		last->count++;
		last->bytes += (uint64_t)st.st_size;
		last->used_s = st.st_atim.tv_sec > last->used_s ? st.st_atim.tv_sec : last->used_s;
		last->used_s = st.st_mtim.tv_sec > last->used_s ? st.st_mtim.tv_sec : last->used_s;
	}
	return count;
}

int hf_prune_to_limit(struct hf_prune *prune, uint64_t limit, uint64_t *ret_bytes)
{
	struct pruner p = {.prune = prune};
	struct group *groups = NULL;
	struct timespec now;
	size_t count = 0;
	int err = list(&p);

	*ret_bytes = prune->files = prune->bytes = prune->kept = 0;
	if (!err && !(groups = calloc(p.name_count + 1, sizeof *groups)))
		err = HF_ERR_NOMEM;
	if (!err && p.name_count) {
		count = find_groups(&p, groups, ret_bytes);
		qsort(groups, count, sizeof *groups, by_use);
	}
	prune->kept = p.name_count;
	clock_gettime(CLOCK_REALTIME, &now);
	for (size_t i = 0; i < count && *ret_bytes - prune->bytes > limit; i++) {
		if (now.tv_sec - groups[i].used_s < HF_PRUNE_USED_S)
			break;
		if (is_group_idle(&p, &groups[i]))
			for (size_t j = 0; j < groups[i].count; j++)
				drop(&p, p.names[groups[i].first + j].name, "used longest ago");
	}
	*ret_bytes -= prune->bytes;
	free(groups);
	free(p.names);
	return err;
}
