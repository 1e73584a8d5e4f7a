#include "fs/members.h"

#include "codecs/setup/ini.h"
#include "codecs/setup/read.h"
#include "fs/capture.h"
#include "fs/names.h"
#include "fs/tree.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

const struct hf_codec hf_members_unknown = {.name = HF_NAME_UNKNOWN, .title = "a description that cannot be read"};

static const char *const descriptions[] = {"capture.ini", "snapshot.ini"};

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_description_name(const char *base)
{
	return strcmp(base, descriptions[0]) == 0 || strcmp(base, descriptions[1]) == 0;
}

int hf_members_find(const struct hf_archive *archive, const char *path, const struct stat *st, char *ret_ini,
		    struct stat *ret_st)
{
	const char *base = base_of(path);
	const size_t n = strlen(base);

	if (S_ISREG(st->st_mode)) {
		/* capture.ini is its directory's, unless that is the archive itself, which has nothing beside it. */
		if (n < 5 || strcmp(base + n - 4, ".ini") != 0 || st->st_size > HF_INI_SIZE_MAX ||
		    (is_description_name(base) && base != path) || strlen(path) >= HF_PATH_SIZE)
			return HF_ERR_NOT_FOUND;
		memcpy(ret_ini, path, strlen(path) + 1);
		*ret_st = *st;
		return 0;
	}
	if (!S_ISDIR(st->st_mode) || !*path)
		return HF_ERR_NOT_FOUND;
	for (size_t i = 0; i < 2; i++) {
		int err = hf_path_join(ret_ini, path, descriptions[i]);

		if (!err)
			err = hf_archive_stat(archive, ret_ini, ret_st);
		if (!err && S_ISREG(ret_st->st_mode))
			return 0;
		if (err == HF_ERR_NOMEM)
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

/* ---- reading ---- */

struct opener {
	const struct hf_archive *archive;
	const char *ini;
};

static int open_text(void *ctx, const char *name, struct hf_src **ret_src, struct hf_diag *diag)
{
	const struct opener *o = ctx;
	char path[HF_PATH_SIZE];
	struct stat st;
	int fd, err = hf_members_resolve(o->ini, name, path);

	if (!err)
		err = hf_archive_open_file(o->archive, path, &fd, &st);
	return err ? err : hf_archive_source(o->archive, fd, ret_src, diag);
}

static struct hf_members *new_members(const char *ini, size_t count)
{
	struct hf_members *members = calloc(1, sizeof *members);

	if (!members)
		return NULL;
	atomic_init(&members->refs, 1);
	members->codec = &hf_members_unknown;
	members->ini = strdup(ini);
	members->path = calloc(count + 1, sizeof *members->path);
	if (members->ini && members->path)
		return members;
	hf_members_unref(members);
	return NULL;
}

static int add_path(struct hf_members *members, const char *name)
{
	char path[HF_PATH_SIZE];
	char **at = &members->path[members->count++];

	if (hf_members_resolve(members->ini, name, path))
		return 0;
	*at = strdup(path);
	return *at ? 0 : HF_ERR_NOMEM;
}

int hf_members_read(const struct hf_archive *archive, const char *ini, struct hf_members **ret_members)
{
	struct opener own = {archive, ini};
	const struct hf_setup_opener opener = {.ctx = &own, .open = open_text};
	struct hf_setup *setup = NULL;
	struct hf_setup_error error;
	struct hf_members *members;
	int err = hf_setup_read(&opener, base_of(ini), &setup, &error);

	*ret_members = NULL;
	if (err == HF_ERR_NOMEM)
		return err;
	if (err && !*error.format && !is_description_name(base_of(ini)))
		return HF_ERR_NOT_FOUND;
	members = new_members(ini, setup ? setup->file_count : 1);
	if (!members) {
		hf_setup_free(setup);
		return HF_ERR_NOMEM;
	}
	if (*error.format && hf_codec_by_name(error.format))
		members->codec = hf_codec_by_name(error.format);
	err = setup ? 0 : add_path(members, base_of(ini));
	for (size_t i = 0; setup && i < setup->file_count && !err; i++)
		err = add_path(members, setup->files[i].name);
	hf_setup_free(setup);
	if (err)
		hf_members_unref(members);
	else
		*ret_members = members;
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
	free(members->path);
	free(members->ini);
	free(members);
}

uint64_t hf_members_stamp(const struct hf_archive *archive, const struct hf_members *members)
{
	uint64_t hash = members->count;

	for (size_t i = 0; i < members->count; i++) {
		struct stat st;
		uint64_t words[4] = {hash};

		if (members->path[i] && !hf_archive_stat(archive, members->path[i], &st)) {
			/* Without the device, which may be another one after the next mount of the same file system. */
			words[1] = st.st_ino;
			words[2] = (uint64_t)st.st_size;
			words[3] = (uint64_t)hf_time_ns(&st.st_mtim);
		}
		hash = XXH3_64bits(words, sizeof words);
	}
	return hash | 1;
}

bool hf_members_have(const struct hf_members *members, const char *path)
{
	for (size_t i = 0; i < members->count; i++)
		if (members->path[i] && strcmp(members->path[i], path) == 0)
			return true;
	return false;
}

int hf_members_claim(const struct hf_archive *archive, const char *path, bool *ret_member)
{
	char dir[HF_PATH_SIZE], next[HF_PATH_SIZE], ini[HF_PATH_SIZE];

	*ret_member = false;
	hf_path_split(dir, path);
	for (;; memcpy(dir, next, HF_PATH_SIZE)) {
		for (size_t i = 0; i < 2 && !*ret_member; i++) {
			struct hf_members *members;
			struct stat st;
			int err = hf_path_join(ini, dir, descriptions[i]);

			if (err || hf_archive_stat(archive, ini, &st) || !S_ISREG(st.st_mode))
				continue;
			err = hf_members_read(archive, ini, &members);
			if (err == HF_ERR_NOMEM)
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

/* How far up a name leads at its highest point. */
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

unsigned hf_fs_reach(int dir_fd, const char *ini)
{
	const struct hf_setup_opener opener = {.ctx = &dir_fd, .open = open_beside};
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
