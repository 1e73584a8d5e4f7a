/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/program/debug_dir.h"
#include "fs/archive/path.h"
#include "fs/archive/stamp.h"
#include "fs/program/debug_file.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#define BUILD_IDS ".build-id"
#define LOOK_NS INT64_C(1000000000)

/* ---- who may read it ---- */

/* Notes who may pass the directories above it. */
static void look_above(struct hf_debug_dir *dir)
{
	enum { LEVELS_MAX = 64 };
	/* Without skip: directories that are skipped count, too. */
	const struct hf_archive bare = {.fd = dir->archive.fd};
	char up[3 * LEVELS_MAX + 1] = "";
	struct stat below, st;
	int err = hf_archive_stat_at(&bare, bare.fd, "", &below);

	for (unsigned level = 0; level < LEVELS_MAX && !err; level++) {
		memcpy(up + (level ? 3 * level - 1 : 0), level ? "/.." : "..", level ? 4 : 3);
		err = hf_archive_stat_at(&bare, bare.fd, up, &st);
		if (!err && st.st_dev == below.st_dev && st.st_ino == below.st_ino)
			return;
		if (!err)
			hf_access_add(&dir->above, &st);
		below = st;
	}
	hf_access_close(&dir->above);
}

int hf_debug_dir_init(struct hf_debug_dir *dir, const struct hf_archive *like, size_t open_files,
		      const struct hf_fs_options *options)
{
	int err;

	*dir = (struct hf_debug_dir){.archive.fd = -1};
	pthread_mutex_init(&dir->lock, NULL);
	hf_open_files_init(&dir->open_files, &dir->archive, open_files);
	if (!options->debug_path)
		return 0;
	err = hf_archive_init(&dir->archive, options->debug_fd, options->skip, options->skip_count);
	dir->archive.make_room = like->make_room;
	dir->archive.ctx = like->ctx;
	dir->archive.stop = like->stop;
	if (err)
		return err;
	look_above(dir);
	dir->path = strdup(options->debug_path);
	return dir->path ? 0 : HF_ERR_NOMEM;
}

void hf_debug_dir_fini(struct hf_debug_dir *dir)
{
	hf_elf_nearby_free(&dir->files);
	hf_open_files_fini(&dir->open_files);
	dir->archive.fd = -1;
	hf_archive_fini(&dir->archive);
	pthread_mutex_destroy(&dir->lock);
	free(dir->path);
	dir->path = NULL;
}

/* ---- its contents ---- */

/*
 * One number for the directories in .build-id: adding, removing or replacing a file changes its directory. The files
 * themselves may be too many to look at.
 */
static int stamp_ids(const struct hf_debug_dir *dir, uint64_t *ret_stamp)
{
	enum { ENTRIES_MAX = 4096 };
	const struct dirent *entry;
	DIR *stream;
	int fd, err = hf_archive_open_dir(&dir->archive, BUILD_IDS, &fd);

	*ret_stamp = 0;
	if (err)
		return hf_err_is_shortage(err) ? err : 0;
	stream = fdopendir(fd);
	if (!stream) {
		err = hf_archive_error(errno);
		close(fd);
		return hf_err_is_shortage(err) ? err : 0;
	}
	for (unsigned i = 0; i < ENTRIES_MAX && (entry = readdir(stream)); i++) {
		struct hf_stamp stamp;
		struct stat st;

		if (strcmp(entry->d_name, "..") == 0 || hf_archive_stat_at(&dir->archive, fd, entry->d_name, &st) ||
		    !S_ISDIR(st.st_mode))
			continue;
		stamp = hf_stamp_of(&st);
		/* A sum, for readdir has no order. */
		*ret_stamp +=
			XXH3_64bits((uint64_t[]){stamp.ino, (uint64_t)stamp.mtime_ns, st.st_mode, st.st_uid, st.st_gid},
				    5 * sizeof(uint64_t));
	}
	closedir(stream);
	return 0;
}

static int look_again(struct hf_debug_dir *dir)
{
	struct hf_access access = dir->above;
	struct hf_elf_nearby files;
	struct stat st;
	uint64_t ids;
	int err = hf_archive_stat(&dir->archive, "", &st);

	if (hf_err_is_shortage(err))
		return err;
	if (err)
		hf_access_close(&access);
	else
		hf_access_add(&access, &st);
	err = hf_elf_nearby_list_flat(&dir->archive, &access, &files);
	if (err)
		return err;
	err = stamp_ids(dir, &ids);
	if (err) {
		hf_elf_nearby_free(&files);
		return err;
	}
	hf_elf_nearby_free(&dir->files);
	dir->files = files;
	dir->access = access;
	dir->stamp = XXH3_64bits((uint64_t[]){hf_elf_nearby_stamp(&files), files.withheld, ids, access.bits, access.uid,
					      access.gid},
				 6 * sizeof(uint64_t)) |
		     1;
	return 0;
}

/* With the lock held. */
static int look(struct hf_debug_dir *dir)
{
	const int64_t now_ns = hf_now_ns();
	int err;

	if (dir->looked_ns && now_ns - dir->looked_ns <= LOOK_NS)
		return 0;
	err = look_again(dir);
	if (!err)
		dir->looked_ns = now_ns;
	return err;
}

int hf_debug_dir_look(struct hf_debug_dir *dir, uint64_t *ret_stamp)
{
	int err;

	*ret_stamp = 0;
	if (!dir->path)
		return 0;
	HF_LOCKED(&dir->lock);
	err = look(dir);
	if (!err)
		*ret_stamp = dir->stamp;
	return err;
}

void hf_debug_dir_join_access(struct hf_debug_dir *dir, struct hf_access *access)
{
	if (!dir->path)
		return;
	HF_LOCKED(&dir->lock);
	if (look(dir))
		hf_access_close(access);
	else
		hf_access_join(access, &dir->access);
}

static int copy_files(const struct hf_elf_nearby *files, struct hf_elf_nearby *ret_copy)
{
	*ret_copy = (struct hf_elf_nearby){.left_out = files->left_out, .withheld = files->withheld};
	ret_copy->file = calloc(files->count + 1, sizeof *ret_copy->file);
	if (!ret_copy->file)
		return HF_ERR_NOMEM;
	for (; ret_copy->count < files->count; ret_copy->count++) {
		ret_copy->file[ret_copy->count] = files->file[ret_copy->count];
		ret_copy->file[ret_copy->count].path = strdup(files->file[ret_copy->count].path);
		if (!ret_copy->file[ret_copy->count].path) {
			hf_elf_nearby_free(ret_copy);
			return HF_ERR_NOMEM;
		}
	}
	return 0;
}

int hf_debug_dir_list(struct hf_debug_dir *dir, uint64_t stamp, struct hf_elf_nearby *ret_files)
{
	*ret_files = (struct hf_elf_nearby){0};
	if (!dir->path)
		return stamp ? HF_ERR_CHANGED : 0;
	HF_LOCKED(&dir->lock);
	return dir->stamp == stamp ? copy_files(&dir->files, ret_files) : HF_ERR_CHANGED;
}

/* ---- its files ---- */

/* HF_ERR_NOT_FOUND unless all who may read the directory may also read the file and the directories down to it. */
static int check_access(const struct hf_debug_dir *dir, const struct hf_access *access, const char *path)
{
	char part[HF_PATH_SIZE];
	int err = 0;

	for (size_t n = strcspn(path, "/"); !err; n += 1 + strcspn(path + n + 1, "/")) {
		struct stat st;

		snprintf(part, sizeof part, "%.*s", (int)n, path);
		err = hf_archive_stat(&dir->archive, part, &st);
		if (!err && !hf_access_suffices(access, &st))
			err = HF_ERR_NOT_FOUND;
		if (!path[n])
			break;
	}
	return err;
}

int hf_debug_dir_open(struct hf_debug_dir *dir, const char *path, struct stat *ret_st, struct hf_src **ret_src)
{
	struct hf_access access;
	int err;

	pthread_mutex_lock(&dir->lock);
	access = dir->access;
	pthread_mutex_unlock(&dir->lock);
	err = check_access(dir, &access, path);
	if (!err)
		err = hf_open_file_as_src(&dir->open_files, path, ret_st, ret_src);
	if (err || hf_access_suffices(&access, ret_st))
		return err;
	hf_src_free(*ret_src);
	*ret_src = NULL;
	return HF_ERR_NOT_FOUND;
}

bool hf_debug_dir_place(const struct hf_debug_id *id, unsigned which, char *buf, size_t size)
{
	size_t used;

	if (which) {
		used = (size_t)snprintf(buf, size, "%s", id->link);
		return used && used < size;
	}
	if (!id->build_id_size)
		return false;
	used = (size_t)snprintf(buf, size, BUILD_IDS "/%02x/", id->build_id[0]);
	for (size_t i = 1; i < id->build_id_size && used < size; i++)
		used += (size_t)snprintf(buf + used, size - used, "%02x", id->build_id[i]);
	if (used < size)
		used += (size_t)snprintf(buf + used, size - used, ".debug");
	return used < size;
}
