/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/stream/beside.h"
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

/* More entries of a directory are not looked at: somebody may put any number there. */
enum { ENTRIES_MAX = 4096 };

struct search {
	const struct hf_archive *archive;
	struct hf_access *access; /* or NULL */
	const struct hf_access *within; /* only files that these may read; NULL: all */
	struct hf_beside *beside;
	unsigned entries;
};

uint64_t hf_beside_stamp_of(const struct stat *st)
{
	const struct hf_stamp stamp = hf_stamp_of(st);
	const uint64_t words[3] = {stamp.ino, (uint64_t)stamp.size, (uint64_t)stamp.mtime_ns};

	/* Without the device, which may be another one after the next mount of the same file system. */
	return XXH3_64bits(words, sizeof words) | 1;
}

/* One error of looking: it is not there, or nobody may know, or it is a shortage and the caller's. */
static int pass_over(const struct search *search, int err)
{
	if (search->access && err && err != HF_ERR_NOT_FOUND)
		hf_access_close(search->access);
	return hf_err_is_shortage(err) ? err : 0;
}

static int add_file(struct search *search, const char *path, const struct stat *st)
{
	struct hf_beside *beside = search->beside;

	if (search->within && !hf_access_suffices(search->within, st)) {
		beside->withheld++;
		return 0;
	}
	if (search->access)
		hf_access_add(search->access, st);
	if (hf_array_reserve(&beside->file, beside->count + 1, &beside->cap, sizeof *beside->file))
		return HF_ERR_NOMEM;
	beside->file[beside->count].path = strdup(path);
	beside->file[beside->count].stamp = hf_beside_stamp_of(st);
	if (!beside->file[beside->count].path)
		return HF_ERR_NOMEM;
	beside->count++;
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
	search->beside->stem = S_ISREG(st.st_mode);
	return search->beside->stem ? add_file(search, path, &st) : 0;
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
	if (!S_ISDIR(st.st_mode) || depth == HF_BESIDE_DEPTH)
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

/* length: of name before it was cut. */
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
	return strcmp(((const struct hf_beside_file *)a)->path, ((const struct hf_beside_file *)b)->path);
}

static void sort(struct hf_beside *beside)
{
	const size_t first = beside->stem;

	if (beside->count > first + 1)
		qsort(beside->file + first, beside->count - first, sizeof *beside->file, order);
	for (; beside->count > first + HF_BESIDE_MAX; beside->left_out++)
		free(beside->file[--beside->count].path);
}

int hf_beside_list(const struct hf_archive *archive, const char *path, struct hf_access *access,
		   struct hf_beside *ret_beside)
{
	struct search search = {.archive = archive, .access = access, .beside = ret_beside};
	char dir[HF_PATH_SIZE], name[NAME_MAX + 1];
	const char *base = hf_path_split(dir, path);
	size_t length = hf_name_program_dir(base, name);
	int err;

	*ret_beside = (struct hf_beside){0};
	err = look_at_stem(&search, dir, base);
	if (!err)
		err = look_at_dir(&search, dir, name, length);
	length = hf_name_recording_dir(base, name);
	if (!err && length)
		err = look_at_dir(&search, dir, name, length);
	if (err)
		hf_beside_free(ret_beside);
	else
		sort(ret_beside);
	return err;
}

int hf_beside_list_flat(const struct hf_archive *archive, const struct hf_access *access, struct hf_beside *ret_beside)
{
	struct search search = {.archive = archive, .within = access, .beside = ret_beside};
	int err;

	*ret_beside = (struct hf_beside){0};
	err = list_dir(&search, "", HF_BESIDE_DEPTH);
	if (err)
		hf_beside_free(ret_beside);
	else
		sort(ret_beside);
	return err;
}

void hf_beside_free(struct hf_beside *beside)
{
	for (size_t i = 0; i < beside->count; i++)
		free(beside->file[i].path);
	free(beside->file);
	*beside = (struct hf_beside){0};
}

uint64_t hf_beside_stamp(const struct hf_beside *beside)
{
	uint64_t stamp = 0;

	/* Of x.elf alone it is that file's own. */
	if (beside->stem && beside->count == 1)
		return beside->file[0].stamp;
	for (size_t i = 0; i < beside->count; i++) {
		const struct hf_beside_file *file = &beside->file[i];
		const uint64_t words[3] = {stamp, file->stamp, XXH3_64bits(file->path, strlen(file->path))};

		stamp = XXH3_64bits(words, sizeof words) | 1;
	}
	return stamp;
}
