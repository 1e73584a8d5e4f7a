/* SPDX-License-Identifier: Apache-2.0 */
#include "index/upkeep/prune.h"

#include "codecs/base/array.h"
#include "index/base/codecs.h"
#include "index/base/fault.h"
#include "index/store/dir_entry.h"
#include "index/store/pack.h"
#include "index/store/store.h"
#include "index/table/index_tables.h"
#include "index/table/vfs.h"

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
	uint64_t (*live)[2]; /* identities of existing captures, from the catalogues */
	size_t live_count;
	struct name *alive; /* prefixes of the file names of those captures */
	size_t alive_count;
	bool not_ours;		   /* the file looked at last was not made by hartfs */
	bool catalogue_unreadable; /* a catalogue cannot be read: its captures are unknown and must stay */
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

/* Our names begin with 32 hexadecimal digits, those of private files with a dot before them. */
static bool looks_ours(const char *name)
{
	const char *hex = name + (name[0] == '.');

	if (strlen(name) >= HF_FILE_NAME_SIZE || strspn(hex, "0123456789abcdef") != HF_HEX_SIZE - 1 ||
	    hex[HF_HEX_SIZE - 1] != '.')
		return false;
	if (hf_dir_entry_is_aside(name))
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

static bool is_file(int dirfd, const char *name)
{
	struct stat st;

	return fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

static const char damaged[] = "damaged", another_version[] = "of another version, or damaged";

/*
 * Opens a file to be judged. *ret_reason: why it can go, if its pages show that. *ret_fd is -1 if it is not to be
 * judged: of another user, not made by hartfs, of a newer version, or no file.
 */
static int look_at(struct pruner *p, const char *name, enum hf_db_kind kind, int *ret_fd, const char **ret_reason)
{
	bool ours;
	int fd, err = hf_index_file_open(p->prune->dirfd, name, &fd);

	*ret_fd = -1;
	*ret_reason = NULL;
	p->not_ours = err && !is_file(p->prune->dirfd, name);
	if (err)
		return err == HF_ERR_NOT_FOUND ? 0 : err;
	if (hf_db_is_newer(fd)) {
		err = add_name(&p->alive, &p->alive_count, name, HF_HEX_SIZE - 1) ? 0 : HF_ERR_NOMEM;
		close(fd);
		return err;
	}
	ours = hf_dir_entry_is_ours(fd, name, &err);
	p->not_ours = !ours;
	if (err || !ours) {
		close(fd);
		return err;
	}
	*ret_fd = fd;
	if (hf_db_look(fd, kind) == HF_LOOK_OLD)
		*ret_reason = another_version;
	else if (hf_db_look(fd, kind) != HF_LOOK_OURS || (err = hf_vfs_verify(fd)) == HF_ERR_STATE)
		*ret_reason = damaged;
	return err == HF_ERR_STATE ? 0 : err;
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
	uint64_t *print;

	if (hf_array_room(&p->live, p->live_count, sizeof *p->live))
		return HF_ERR_NOMEM;
	print = p->live[p->live_count];
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
	sqlite3 *db;
	int fd, root, err = look_at(p, name, HF_DB_CATALOGUE, &fd, ret_reason);

	/* Its captures are not known. */
	p->catalogue_unreadable |= p->not_ours || *ret_reason;
	if (err || fd < 0 || *ret_reason)
		goto out;
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
	if (err == HF_ERR_STATE) {
		*ret_reason = damaged;
		p->catalogue_unreadable = true;
		err = 0;
	}
out:
	if (fd >= 0)
		close(fd);
	return err;
}

/* ---- which files go ---- */

static bool is_live(const struct pruner *p, const struct hf_identity *identity)
{
	for (size_t i = 0; i < p->live_count; i++)
		if (p->live[i][0] == identity->print[0] && p->live[i][1] == identity->print[1])
			return true;
	return false;
}

/* Whether a decoder of a later version made it: a newer program can use it. */
static bool is_newer(const struct hf_index_meta *meta)
{
	const struct hf_codec *codec = *meta->codec ? hf_index_codec_named(meta->codec) : NULL;

	return *meta->codec && (!codec || codec->version < meta->codec_version);
}

/* Judges a decode index. Spools and private files of its capture go or stay with it. */
static int read_index(struct pruner *p, const char *name, const char **ret_reason)
{
	struct hf_index_meta meta;
	char right[HF_FILE_NAME_SIZE];
	struct hf_store *store = NULL;
	int fd, err = look_at(p, name, HF_DB_INDEX, &fd, ret_reason);

	if (err || fd < 0 || *ret_reason)
		goto out;
	err = hf_store_open(p->prune->dirfd, name, HF_DB_INDEX, &store);
	if (!err)
		err = hf_store_meta(store, &hf_table_index_meta, &meta);
	hf_store_close(store);
	if (err == HF_ERR_STATE)
		*ret_reason = damaged;
	if (err)
		goto out;
	hf_index_file_name_index(&meta.identity, right);
	if (strcmp(right, name) != 0 && !is_newer(&meta))
		*ret_reason = another_version;
	else if (strcmp(right, name) == 0 && !p->catalogue_unreadable && !is_live(p, &meta.identity))
		*ret_reason = "its capture is gone, changed or not known";
	else if (!add_name(&p->alive, &p->alive_count, name, HF_HEX_SIZE - 1))
		err = HF_ERR_NOMEM;
out:
	if (fd >= 0)
		close(fd);
	return err == HF_ERR_STATE ? 0 : err;
}

/* Whether a file in a pack is the decode index of an existing capture. */
static int read_packed(const struct pruner *p, const struct hf_pack *pack, const struct hf_pack_entry *entry,
		       bool *ret_live)
{
	struct hf_index_meta meta;
	struct hf_store *store = NULL;
	uint8_t *bytes;
	int err = hf_pack_read(pack, entry, &bytes);

	*ret_live = false;
	if (!err)
		err = hf_store_open_bytes(bytes, entry->size, HF_DB_INDEX, &store);
	if (!err)
		err = hf_store_meta(store, &hf_table_index_meta, &meta);
	hf_store_close(store);
	*ret_live = !err && (p->catalogue_unreadable || is_live(p, &meta.identity));
	return err == HF_ERR_STATE ? 0 : err;
}

/* Notes the existing captures of a pack; without any it can go. */
static int read_captures(struct pruner *p, const struct hf_pack *pack, const char **ret_reason)
{
	size_t live_count = 0;
	int err = 0;

	for (size_t i = 0; i < pack->count && !err; i++) {
		const struct hf_pack_entry *entry = &pack->entries[i];
		char hex[HF_HEX_SIZE];
		bool live = false;

		if (entry->index)
			err = read_packed(p, pack, entry, &live);
		if (err || !live)
			continue;
		live_count++;
		for (size_t j = 0; j < (HF_HEX_SIZE - 1) / 2; j++)
			snprintf(hex + 2 * j, 3, "%02x", entry->key.bytes[j]);
		err = add_name(&p->alive, &p->alive_count, hex, HF_HEX_SIZE - 1) ? 0 : HF_ERR_NOMEM;
	}
	if (!err && !live_count)
		*ret_reason = "its captures are gone, changed or not known";
	return err;
}

static int read_pack(struct pruner *p, const char *name, const char **ret_reason)
{
	struct hf_pack *pack;
	int fd, err = hf_index_file_open(p->prune->dirfd, name, &fd);

	*ret_reason = NULL;
	if (err)
		return err == HF_ERR_NOT_FOUND ? 0 : err;
	if (!hf_pack_is_ours(fd) || hf_pack_is_newer(fd)) {
		close(fd);
		return 0;
	}
	err = hf_pack_open(fd, name, &pack);
	if (err == HF_ERR_STATE) {
		*ret_reason = another_version;
		return 0;
	}
	if (err)
		return err;
	err = read_captures(p, pack, ret_reason);
	hf_pack_close(pack);
	return err;
}

/* Judges a view table. It may stay without its index, which may be damaged and be made again. */
static int read_table(struct pruner *p, const char *name, const char **ret_reason)
{
	struct hf_view_meta *meta = calloc(1, sizeof *meta);
	char right[HF_HEX_SIZE];
	struct hf_store *store = NULL;
	int fd = -1, err = meta ? look_at(p, name, HF_DB_VIEW, &fd, ret_reason) : HF_ERR_NOMEM;

	if (err || fd < 0 || *ret_reason)
		goto out;
	err = hf_store_open(p->prune->dirfd, name, HF_DB_VIEW, &store);
	if (!err)
		err = hf_store_meta(store, &hf_table_view_meta, meta);
	hf_store_close(store);
	if (err == HF_ERR_STATE)
		*ret_reason = damaged;
	if (err)
		goto out;
	hf_index_file_hex(&meta->identity, right);
	if (strncmp(right, name, HF_HEX_SIZE - 1) == 0 && is_live(p, &meta->identity) &&
	    !add_name(&p->alive, &p->alive_count, name, HF_HEX_SIZE - 1))
		err = HF_ERR_NOMEM;
out:
	if (fd >= 0)
		close(fd);
	free(meta);
	return err == HF_ERR_STATE ? 0 : err;
}

/* Judges a summary: it goes with its capture, or if it is damaged. */
static int read_summary(struct pruner *p, const char *name, const char **ret_reason)
{
	int fd, err = look_at(p, name, HF_DB_SUMMARY, &fd, ret_reason);

	if (fd >= 0)
		close(fd);
	return err;
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

/* Whether hartfs made the file, by a first look. A private file may still be empty. */
static bool is_ours(const struct pruner *p, const char *name, int *ret_err)
{
	bool ours;
	int fd;

	*ret_err = 0;
	if (name[0] == '.')
		return true;
	*ret_err = hf_index_file_open(p->prune->dirfd, name, &fd);
	if (*ret_err) {
		*ret_err = *ret_err == HF_ERR_NOT_FOUND ? 0 : *ret_err;
		return false;
	}
	ours = hf_dir_entry_is_ours(fd, name, ret_err);
	close(fd);
	return ours;
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

/* Judges all other files: those of no existing capture, and what has the name of an index file and is none. */
static void judge_rest(struct pruner *p, const char *name)
{
	int err;
	const bool private = name[0] == '.', alive = is_alive(p, name + private), ours = is_ours(p, name, &err);

	if (hf_dir_entry_is_aside(name))
		drop(p, name, "was put aside, for hartfs did not make it");
	else if (!err && !private && alive && !ours)
		drop(p, name, "is in the place of an index file and is none");
	/* A file that cannot be read is not judged. */
	else if (err || ends_with(name, ".hfc") || ends_with(name, ".hfi") || ends_with(name, ".hfp") || alive ||
		 (private && is_recent(p, name)) || !ours || (p->catalogue_unreadable && !private))
		p->prune->kept++;
	else
		drop(p, name, private ? "an interrupted build" : "without an index that is of use");
}

typedef int (*read_fn)(struct pruner *p, const char *name, const char **ret_reason);

static bool is_published(const char *name, const char *end)
{
	return name[0] != '.' && ends_with(name, end);
}

/* All files with that ending: after all were read, those go for which read gave a reason. */
static int judge(struct pruner *p, const char *end, read_fn read)
{
	const char **reasons = calloc(p->name_count + 1, sizeof *reasons);
	int err = reasons ? 0 : HF_ERR_NOMEM;

	for (size_t i = 0; i < p->name_count && !err; i++)
		if (is_published(p->names[i].name, end))
			err = read(p, p->names[i].name, &reasons[i]);
	for (size_t i = 0; i < p->name_count && !err; i++) {
		if (!reasons[i])
			continue;
		drop(p, p->names[i].name, reasons[i]);
		/* It was judged. NOLINTNEXTLINE(clang-analyzer-unix.Malloc): p->names still has the row */
		p->names[i].name[0] = '\0';
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
	if (!err)
		err = judge(&p, ".hfp", read_pack);
	if (!err)
		err = judge(&p, ".hfv", read_table);
	if (!err)
		err = judge(&p, ".hfq", read_summary);
	if (p.alive_count)
		qsort(p.alive, p.alive_count, sizeof *p.alive, compare_names);
	for (size_t i = 0; i < p.name_count && !err; i++)
		if (*p.names[i].name)
			judge_rest(&p, p.names[i].name);
	free(p.names);
	free(p.live);
	free(p.alive);
	return err;
}
