/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/stream/members.h"
#include "codecs/setup/ini.h"
#include "codecs/setup/read.h"
#include "fs/archive/names.h"
#include "fs/archive/path.h"
#include "fs/archive/stamp.h"
#include "fs/stream/elf_nearby.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

const struct hf_codec hf_members_unknown = {.name = HF_NAME_UNKNOWN, .title = "a description that cannot be read"};

static const char *const descriptions[] = {"capture.ini", "snapshot.ini", "data"};
enum { DESCRIPTIONS = 3, TEXTS = 2 }; /* the last is one if its content says so */

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_description_name(const char *base)
{
	for (unsigned i = 0; i < DESCRIPTIONS; i++)
		if (strcmp(base, descriptions[i]) == 0)
			return true;
	return false;
}

static bool is_text(const char *base)
{
	const size_t n = strlen(base);

	return n > 4 && strcmp(base + n - 4, ".ini") == 0;
}

bool hf_members_describes(const struct hf_codec *codec)
{
	return codec && codec->describe;
}

/* The i-th description in that directory of the archive: its path and stat. HF_ERR_NOT_FOUND if it is not there. */
static int find_in(const struct hf_archive *archive, const char *dir, unsigned i, char *ret_ini, struct stat *ret_st)
{
	uint8_t head[HF_PROBE_SIZE];
	size_t n = 0;
	int fd, err = hf_path_join(ret_ini, dir, descriptions[i]);

	if (!err)
		err = hf_archive_stat(archive, ret_ini, ret_st);
	if (err || !S_ISREG(ret_st->st_mode))
		return hf_err_is_shortage(err) ? err : HF_ERR_NOT_FOUND;
	if (i < TEXTS)
		return 0;
	err = hf_archive_open_file(archive, ret_ini, &fd, ret_st);
	if (err)
		return hf_err_is_shortage(err) ? err : HF_ERR_NOT_FOUND;
	err = hf_archive_pread(fd, head, sizeof head, 0, &n);
	close(fd);
	return !err && n && hf_members_describes(hf_codec_probe(head, n)) ? 0 : HF_ERR_NOT_FOUND;
}

int hf_members_find(const struct hf_archive *archive, const char *path, const struct stat *st, char *ret_ini,
		    struct stat *ret_st)
{
	const char *base = base_of(path);
	const size_t n = strlen(base);

	if (S_ISREG(st->st_mode)) {
		/* A capture.ini makes its directory a capture, but not the root of the archive. */
		if (n < 5 || strcmp(base + n - 4, ".ini") != 0 || st->st_size > HF_INI_SIZE_MAX ||
		    (is_description_name(base) && base != path) || strlen(path) >= HF_PATH_SIZE)
			return HF_ERR_NOT_FOUND;
		memcpy(ret_ini, path, strlen(path) + 1);
		*ret_st = *st;
		return 0;
	}
	if (!S_ISDIR(st->st_mode) || !*path)
		return HF_ERR_NOT_FOUND;
	for (unsigned i = 0; i < DESCRIPTIONS; i++) {
		int err = find_in(archive, path, i, ret_ini, ret_st);

		if (err != HF_ERR_NOT_FOUND)
			return err;
	}
	return HF_ERR_NOT_FOUND;
}

int hf_members_resolve(const char *ini, const char *name, char *ret_path)
{
	size_t len;

	hf_path_split(ret_path, ini);
	len = strlen(ret_path);
	if (*name == '/')
		return HF_ERR_NOT_FOUND;
	while (*name) {
		const size_t n = strcspn(name, "/");

		if (n == 2 && name[0] == '.' && name[1] == '.') {
			if (!len)
				return HF_ERR_NOT_FOUND;
			while (len && ret_path[len - 1] != '/')
				len--;
			len -= len > 0;
		} else if (n && !(n == 1 && *name == '.')) {
			if (len + n + 2 > HF_PATH_SIZE)
				return HF_ERR_NOT_FOUND;
			if (len)
				ret_path[len++] = '/';
			memcpy(ret_path + len, name, n);
			len += n;
		}
		ret_path[len] = '\0';
		name += n + (name[n] == '/');
	}
	return len ? 0 : HF_ERR_NOT_FOUND;
}

/* ---- beside ---- */

/* What lies beside the capture of that description, which is in its directory or is it. */
static int list_beside(const struct hf_archive *archive, const char *ini, struct hf_access *access,
		       struct hf_elf_nearby *ret_nearby)
{
	char dir[HF_PATH_SIZE];
	const char *base = hf_path_split(dir, ini);

	return hf_elf_nearby_list(archive, is_description_name(base) && *dir ? dir : ini, access, ret_nearby);
}

static int stamp_beside(const struct hf_archive *archive, const struct hf_members *members, struct hf_access *access,
			uint64_t *hash)
{
	struct hf_elf_nearby nearby;
	uint64_t words[2] = {*hash, 0};
	int err = members->listed ? list_beside(archive, members->ini, access, &nearby) : HF_NOTE_END;

	if (err)
		return err == HF_NOTE_END ? 0 : err;
	words[1] = hf_elf_nearby_stamp(&nearby);
	hf_elf_nearby_free(&nearby);
	*hash = XXH3_64bits(words, sizeof words);
	return 0;
}

int hf_members_list(const struct hf_archive *archive, const char *ini, int (*fn)(void *ctx, const char *name), void *ctx)
{
	struct hf_elf_nearby nearby;
	char home[HF_PATH_SIZE], name[HF_PATH_SIZE + 4];
	const char *base = hf_path_split(home, ini);
	const bool inside = is_description_name(base) && *home;
	char above[HF_PATH_SIZE];
	size_t cut;
	int err = list_beside(archive, ini, NULL, &nearby);

	if (err)
		return err;
	if (inside)
		hf_path_split(above, home);
	cut = strlen(inside ? above : home);
	for (size_t i = 0; i < nearby.count && !err; i++) {
		const char *path = nearby.file[i].path + cut;

		snprintf(name, sizeof name, "%s%s", inside ? "../" : "", *path == '/' ? path + 1 : path);
		err = fn(ctx, name);
	}
	hf_elf_nearby_free(&nearby);
	return err;
}

/* ---- reading ---- */

struct opener {
	const struct hf_archive *archive;
	struct hf_members *members; /* each file that is opened is added */
};

static uint64_t hash_of(const char *path)
{
	return XXH3_64bits(path, strlen(path));
}

static size_t find_row(char *const *row, const uint64_t *hash, size_t count, const char *path)
{
	const uint64_t wanted = hash_of(path);
	size_t i = 0;

	while (i < count && !(hash[i] == wanted && row[i] && strcmp(row[i], path) == 0))
		i++;
	return i;
}

/* One row more; path may be NULL. */
static int add_row(char ***row, uint64_t **hash, size_t *count, const char *path)
{
	int err = hf_setup_room(row, *count, sizeof **row);

	if (!err)
		err = hf_setup_room(hash, *count, sizeof **hash);
	if (err)
		return err;
	(*row)[*count] = path ? strdup(path) : NULL;
	(*hash)[*count] = path ? hash_of(path) : 0;
	if (path && !(*row)[*count])
		return HF_ERR_NOMEM;
	++*count;
	return 0;
}

static int add_path(struct hf_members *members, const char *path)
{
	return path && hf_members_have(members, path) ? 0
						      : add_row(&members->path, &members->hash, &members->count, path);
}

static int open_text(void *ctx, const char *name, struct hf_src **ret_src, struct hf_diag *diag)
{
	struct opener *o = ctx;
	char path[HF_PATH_SIZE];
	struct stat st;
	int fd, err = hf_members_resolve(o->members->ini, name, path);

	if (!err)
		err = add_path(o->members, path);
	if (!err)
		err = hf_archive_open_file(o->archive, path, &fd, &st);
	o->members->unread |= hf_err_is_passing(err) || err == HF_ERR_CHANGED;
	return err ? err : hf_archive_source(o->archive, fd, ret_src, diag);
}

static int list_names(void *ctx, int (*fn)(void *fn_ctx, const char *name), void *fn_ctx)
{
	struct opener *o = ctx;

	o->members->listed = true;
	return hf_members_list(o->archive, o->members->ini, fn, fn_ctx);
}

static struct hf_members *new_members(const char *ini)
{
	struct hf_members *members = calloc(1, sizeof *members);

	if (!members)
		return NULL;
	atomic_init(&members->refs, 1);
	members->codec = &hf_members_unknown;
	members->ini = strdup(ini);
	if (members->ini && !add_path(members, ini))
		return members;
	hf_members_unref(members);
	return NULL;
}

static int add_files(struct hf_members *members, const struct hf_setup *setup)
{
	char path[HF_PATH_SIZE];
	int err = 0;

	for (size_t i = 0; setup && i < setup->file_count && !err; i++)
		err = add_path(members,
			       hf_members_resolve(members->ini, setup->files[i].name, path) ? NULL : path);
	return err;
}

/* Adds the directories of the member at path, except home and those above it. */
static int add_dirs(struct hf_members *members, const char *path, const char *home)
{
	const size_t home_length = strlen(home);
	char dir[HF_PATH_SIZE], next[HF_PATH_SIZE];

	for (hf_path_split(dir, path); *dir; memcpy(dir, next, HF_PATH_SIZE)) {
		const size_t length = strlen(dir);
		int err;

		/* The directories above a known one are known, too. */
		if ((strncmp(home, dir, length) == 0 && (length == home_length || home[length] == '/')) ||
		    find_row(members->dir, members->dir_hash, members->dir_count, dir) < members->dir_count)
			return 0;
		members->scattered |= members->dir_count >= HF_MEMBERS_DIRS_MAX;
		if (members->scattered)
			return 0;
		err = add_row(&members->dir, &members->dir_hash, &members->dir_count, dir);
		if (err)
			return err;
		hf_path_split(next, dir);
	}
	return 0;
}

static int find_dirs(struct hf_members *members)
{
	char home[HF_PATH_SIZE], above[HF_PATH_SIZE];
	const char *base = hf_path_split(home, members->ini);
	int err = 0;

	/* The views of a directory lie beside it. */
	if (is_description_name(base)) {
		hf_path_split(above, home);
		memcpy(home, above, sizeof home);
	}
	for (size_t i = 0; i < members->count && !err; i++)
		if (members->path[i])
			err = add_dirs(members, members->path[i], home);
	return err;
}

int hf_members_read(const struct hf_archive *archive, const char *ini, struct hf_members **ret_members)
{
	struct opener own = {archive, new_members(ini)};
	const struct hf_setup_opener opener = {.ctx = &own, .open = open_text, .list = list_names, .codecs = hf_codecs};
	struct hf_setup *setup = NULL;
	struct hf_setup_error error;
	int err;

	*ret_members = NULL;
	if (!own.members)
		return HF_ERR_NOMEM;
	err = hf_setup_read(&opener, base_of(ini), &setup, &error);
	own.members->unread |= hf_err_is_passing(err) && err != HF_ERR_NOT_FOUND;
	/* A file that says itself whether it is one. */
	if (err == HF_ERR_NOT_FOUND && !is_text(base_of(ini))) {
		hf_members_unref(own.members);
		return err;
	}
	if (err && !hf_err_is_shortage(err))
		err = !*error.format && !is_description_name(base_of(ini)) ? HF_ERR_NOT_FOUND : 0;
	if (!err && *error.format && hf_codec_by_name(error.format))
		own.members->codec = hf_codec_by_name(error.format);
	if (!err)
		err = add_files(own.members, setup);
	if (!err)
		err = find_dirs(own.members);
	hf_setup_free(setup);
	if (err)
		hf_members_unref(own.members);
	else
		*ret_members = own.members;
	return err;
}

struct hf_members *hf_members_ref(struct hf_members *members)
{
	if (members)
		atomic_fetch_add(&members->refs, 1);
	return members;
}

void hf_members_unref(struct hf_members *members)
{
	if (!members || atomic_fetch_sub(&members->refs, 1) != 1)
		return;
	for (size_t i = 0; i < members->count; i++)
		free(members->path[i]);
	for (size_t i = 0; i < members->dir_count; i++)
		free(members->dir[i]);
	free(members->path);
	free(members->hash);
	free(members->dir);
	free(members->dir_hash);
	free(members->ini);
	free(members);
}

struct hf_member_state hf_member_state_of(const struct stat *st)
{
	/* Without the device: its number may change when the file system is mounted again. */
	return (struct hf_member_state){.ino = st->st_ino,
					.size = (uint64_t)st->st_size,
					.mtime_ns = (uint64_t)hf_time_ns(&st->st_mtim),
					.opened = true};
}

static uint64_t add_state(uint64_t hash, const struct hf_member_state *state)
{
	const uint64_t words[4] = {hash, state->ino, state->size, state->mtime_ns};

	return XXH3_64bits(words, sizeof words);
}

/* If the file cannot be looked at, nobody may read the views; a missing one has no bytes. */
static int look(const struct hf_archive *archive, const char *path, struct hf_access *access, struct stat *ret_st)
{
	int err = hf_archive_stat(archive, path, ret_st);

	if (access && err && err != HF_ERR_NOT_FOUND)
		hf_access_close(access);
	else if (access && !err)
		hf_access_add(access, ret_st);
	return err;
}

/* A member that cannot be looked at counts as missing; only shortages are errors. */
static int look_at_member(const struct hf_archive *archive, const char *path, struct hf_access *access,
			  struct hf_member_state *state)
{
	struct stat st;
	int err = path ? look(archive, path, access, &st) : HF_ERR_NOT_FOUND;

	if (!err)
		*state = hf_member_state_of(&st);
	return hf_err_is_shortage(err) ? err : 0;
}

int hf_members_look(const struct hf_archive *archive, const struct hf_members *members, const struct stat *ini_st,
		    struct hf_access *access, uint64_t *ret_stamp)
{
	const struct hf_member_state ini = hf_member_state_of(ini_st);
	uint64_t hash = add_state(members->count, &ini);
	struct stat st;
	int err;

	if (access) {
		*access = (struct hf_access){0};
		hf_access_add(access, ini_st);
		for (size_t i = 0; i < members->dir_count; i++)
			look(archive, members->dir[i], access, &st);
		if (members->scattered)
			hf_access_close(access);
	}
	for (size_t i = 1; i < members->count; i++) {
		struct hf_member_state state = {0};

		err = look_at_member(archive, members->path[i], access, &state);

		if (err)
			return err;
		hash = add_state(hash, &state);
	}
	err = stamp_beside(archive, members, access, &hash);
	*ret_stamp = hash | 1;
	return err;
}

int hf_members_stamp_opened(const struct hf_archive *archive, const struct hf_members *members,
			    const struct hf_member_state *opened, uint64_t *ret_stamp)
{
	uint64_t hash = members->count;
	int err;

	for (size_t i = 0; i < members->count; i++) {
		struct hf_member_state state = opened[i];

		err = state.opened ? 0 : look_at_member(archive, members->path[i], NULL, &state);

		if (err)
			return err;
		hash = add_state(hash, &state);
	}
	err = stamp_beside(archive, members, NULL, &hash);
	*ret_stamp = hash | 1;
	return err;
}

size_t hf_members_find_path(const struct hf_members *members, const char *path)
{
	return find_row(members->path, members->hash, members->count, path);
}

bool hf_members_have(const struct hf_members *members, const char *path)
{
	return hf_members_find_path(members, path) < members->count;
}

int hf_members_claim(const struct hf_archive *archive, const char *path, bool *ret_member)
{
	char dir[HF_PATH_SIZE], next[HF_PATH_SIZE], ini[HF_PATH_SIZE];

	*ret_member = false;
	hf_path_split(dir, path);
	for (;; memcpy(dir, next, HF_PATH_SIZE)) {
		for (unsigned i = 0; i < DESCRIPTIONS && !*ret_member; i++) {
			struct hf_members *members;
			struct stat st;
			int err = find_in(archive, dir, i, ini, &st);

			if (err == HF_ERR_NOT_FOUND)
				continue;
			if (err)
				return err;
			err = hf_members_read(archive, ini, &members);
			if (hf_err_is_shortage(err))
				return err;
			if (!err)
				*ret_member = hf_members_have(members, path);
			hf_members_unref(members);
		}
		if (*ret_member || !*dir)
			return 0;
		hf_path_split(next, dir);
	}
}

static int open_beside(void *ctx, const char *name, struct hf_src **ret_src, struct hf_diag *diag)
{
	const int fd = openat(*(const int *)ctx, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return HF_ERR_NOT_FOUND;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return HF_ERR_NOT_FOUND;
	}
	return hf_src_file_new(fd, ret_src, diag);
}

/* How many levels up a name leads at its highest point. */
static unsigned levels_of(const char *name)
{
	int level = 0, lowest = 0;

	while (*name) {
		const size_t n = strcspn(name, "/");

		if (n == 2 && name[0] == '.' && name[1] == '.')
			level--;
		else if (n && !(n == 1 && *name == '.'))
			level++;
		lowest = level < lowest ? level : lowest;
		name += n + (name[n] == '/');
	}
	return (unsigned)-lowest;
}

unsigned hf_members_reach(int dir_fd, const char *ini)
{
	const struct hf_setup_opener opener = {.ctx = &dir_fd, .open = open_beside, .codecs = hf_codecs};
	struct hf_setup_error error;
	struct hf_setup *setup;
	unsigned most = 0;

	if (hf_setup_read(&opener, ini, &setup, &error))
		return 0;
	for (size_t i = 0; i < setup->file_count; i++)
		if (levels_of(setup->files[i].name) > most)
			most = levels_of(setup->files[i].name);
	hf_setup_free(setup);
	return most;
}
