/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/stream/elf_nearby.h"
#include "codecs/base/array.h"
#include "fs/archive/names.h"
#include "fs/archive/path.h"
#include "fs/archive/stamp.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

/* Of a directory no more entries are looked at: anybody may put any number there. */
enum { ENTRIES_MAX = 4096 };

struct search {
	const struct hf_archive *archive;
	struct hf_access *access; /* or NULL */
	const struct hf_access *within; /* only files that all of these may read; NULL: all */
	struct hf_elf_nearby *nearby;
	unsigned entries;
};

uint64_t hf_elf_nearby_stamp_of(const struct stat *st)
{
	const struct hf_stamp stamp = hf_stamp_of(st);
	const uint64_t words[3] = {stamp.ino, (uint64_t)stamp.size, (uint64_t)stamp.mtime_ns};

	/* Without the device: its number may change when the file system is mounted again. */
	return XXH3_64bits(words, sizeof words) | 1;
}

/* A file that cannot be looked at is left out, and nobody may read the views; a missing one is left out. */
static int pass_over(const struct search *search, int err)
{
	if (search->access && err && err != HF_ERR_NOT_FOUND)
		hf_access_close(search->access);
	return hf_err_is_shortage(err) ? err : 0;
}

static int add_file(struct search *search, const char *path, const struct stat *st)
{
	struct hf_elf_nearby *nearby = search->nearby;

	if (search->within && !hf_access_suffices(search->within, st)) {
		nearby->withheld++;
		return 0;
	}
	if (search->access)
		hf_access_add(search->access, st);
	if (hf_array_reserve(&nearby->file, nearby->count + 1, &nearby->cap, sizeof *nearby->file))
		return HF_ERR_NOMEM;
	nearby->file[nearby->count].path = strdup(path);
	nearby->file[nearby->count].stamp = hf_elf_nearby_stamp_of(st);
	if (!nearby->file[nearby->count].path)
		return HF_ERR_NOMEM;
	nearby->count++;
	return 0;
}

static int look_at_stem(struct search *search, const char *dir, const char *base)
{
	char name[NAME_MAX + 1], path[HF_PATH_SIZE];
	struct stat st;
	int err = hf_name_elf(base, name) > NAME_MAX ? HF_ERR_NOT_FOUND : hf_path_join(path, dir, name);

	if (!err)
		err = hf_archive_stat(search->archive, path, &st);
	if (err)
		return pass_over(search, err);
	search->nearby->stem = S_ISREG(st.st_mode);
	return search->nearby->stem ? add_file(search, path, &st) : 0;
}

static int list_dir(struct search *search, const char *dir, unsigned depth);

static int look_at_entry(struct search *search, const char *dir, const char *name, unsigned depth)
{
	char path[HF_PATH_SIZE];
	struct stat st;
	int err = hf_path_join(path, dir, name);

	if (!err)
		err = hf_archive_stat(search->archive, path, &st);
	if (err)
		return pass_over(search, err);
	if (S_ISREG(st.st_mode))
		return add_file(search, path, &st);
	if (!S_ISDIR(st.st_mode) || depth == HF_ELF_NEARBY_DEPTH)
		return 0;
	if (search->access)
		hf_access_add(search->access, &st);
	return list_dir(search, path, depth + 1);
}

static int list_dir(struct search *search, const char *dir, unsigned depth)
{
	const struct dirent *entry;
	DIR *stream;
	int fd, err = hf_archive_open_dir(search->archive, dir, &fd);

	if (err)
		return pass_over(search, err);
	stream = fdopendir(fd);
	if (!stream) {
		err = hf_archive_error(errno);
		close(fd);
		return pass_over(search, err);
	}
	while (!err && search->entries < ENTRIES_MAX && (entry = readdir(stream))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		search->entries++;
		err = look_at_entry(search, dir, entry->d_name, depth);
	}
	closedir(stream);
	return err;
}

/* length: of name before it was truncated. */
static int look_at_dir(struct search *search, const char *dir, const char *name, size_t length)
{
	char path[HF_PATH_SIZE];
	struct stat st;
	int err = length > NAME_MAX ? HF_ERR_NOT_FOUND : hf_path_join(path, dir, name);

	if (!err)
		err = hf_archive_stat(search->archive, path, &st);
	if (err)
		return pass_over(search, err);
	if (!S_ISDIR(st.st_mode))
		return 0;
	if (search->access)
		hf_access_add(search->access, &st);
	return list_dir(search, path, 1);
}

static int order(const void *a, const void *b)
{
	return strcmp(((const struct hf_elf_nearby_file *)a)->path, ((const struct hf_elf_nearby_file *)b)->path);
}

static void sort(struct hf_elf_nearby *nearby)
{
	const size_t first = nearby->stem;

	if (nearby->count > first + 1)
		qsort(nearby->file + first, nearby->count - first, sizeof *nearby->file, order);
	for (; nearby->count > first + HF_ELF_NEARBY_MAX; nearby->left_out++)
		free(nearby->file[--nearby->count].path);
}

int hf_elf_nearby_list(const struct hf_archive *archive, const char *path, struct hf_access *access,
		       struct hf_elf_nearby *ret_nearby)
{
	struct search search = {.archive = archive, .access = access, .nearby = ret_nearby};
	char dir[HF_PATH_SIZE], name[NAME_MAX + 1];
	const char *base = hf_path_split(dir, path);
	const size_t length = hf_name_program_dir(base, name);
	int err;

	*ret_nearby = (struct hf_elf_nearby){0};
	err = look_at_stem(&search, dir, base);
	if (!err)
		err = look_at_dir(&search, dir, name, length);
	if (err)
		hf_elf_nearby_free(ret_nearby);
	else
		sort(ret_nearby);
	return err;
}

int hf_elf_nearby_list_flat(const struct hf_archive *archive, const struct hf_access *access,
			    struct hf_elf_nearby *ret_nearby)
{
	struct search search = {.archive = archive, .within = access, .nearby = ret_nearby};
	int err;

	*ret_nearby = (struct hf_elf_nearby){0};
	err = list_dir(&search, "", HF_ELF_NEARBY_DEPTH);
	if (err)
		hf_elf_nearby_free(ret_nearby);
	else
		sort(ret_nearby);
	return err;
}

void hf_elf_nearby_free(struct hf_elf_nearby *nearby)
{
	for (size_t i = 0; i < nearby->count; i++)
		free(nearby->file[i].path);
	free(nearby->file);
	*nearby = (struct hf_elf_nearby){0};
}

uint64_t hf_elf_nearby_stamp(const struct hf_elf_nearby *nearby)
{
	uint64_t stamp = 0;

	/* x.elf alone: the stamp of that file. */
	if (nearby->stem && nearby->count == 1)
		return nearby->file[0].stamp;
	for (size_t i = 0; i < nearby->count; i++) {
		const struct hf_elf_nearby_file *file = &nearby->file[i];
		const uint64_t words[3] = {stamp, file->stamp, XXH3_64bits(file->path, strlen(file->path))};

		stamp = XXH3_64bits(words, sizeof words) | 1;
	}
	return stamp;
}
