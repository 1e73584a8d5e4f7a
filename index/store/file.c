/* SPDX-License-Identifier: Apache-2.0 */
#include "index/store/file.h"

#include "codecs/base/errors.h"
#include "index/base/fault.h"
#include "index/base/lock.h"
#include "index/store/dir_entry.h"
#include "index/store/memdir.h"
#include "index/store/packs.h"

#include <errno.h>
#include <unistd.h>

/* All that stands for one directory. */
struct place {
	int dirfd;                /* on disk; -1: there is none */
	struct hf_memdir *memdir; /* NULL: there is none */
	struct hf_packs *packs;   /* NULL: there are none */
	bool into_memdir, into_packs;
};

static struct place place_of(int fd)
{
	struct place place = {.dirfd = fd};

	place.packs = hf_packs_of(fd, &place.into_packs);
	if (place.packs)
		place.dirfd = hf_packs_dirfd(place.packs);
	place.memdir = hf_memdir_of(place.dirfd, &place.into_memdir);
	if (place.memdir)
		place.dirfd = hf_memdir_dirfd(place.memdir);
	if (!place.packs)
		place.packs = hf_packs_of(place.dirfd, &place.into_packs);
	return place;
}

int hf_index_file_open(int dirfd, const char *name, int *ret_fd)
{
	const struct place place = place_of(dirfd);
	int err = place.memdir ? hf_memdir_open(place.memdir, name, ret_fd) : HF_ERR_NOT_FOUND;

	if (err == HF_ERR_NOT_FOUND && !(place.memdir && hf_memdir_hides(place.memdir, name)))
		err = hf_disk_file_open(place.dirfd, name, ret_fd);
	return err;
}

int hf_index_file_find(int dirfd, const char *name, struct hf_packed *ret_file)
{
	const struct place place = place_of(dirfd);

	ret_file->pack = NULL;
	return place.packs ? hf_packs_find(place.packs, name, ret_file) : HF_ERR_NOT_FOUND;
}

/* Of the file on disk that is open as fd. */
static void drop_on_disk(struct hf_memdir *memdir, int dirfd, const char *name, int fd)
{
	if (memdir && hf_memdir_keeps(memdir)) {
		if (hf_dir_entry_is_named(dirfd, name, fd))
			hf_memdir_hide(memdir, name);
		return;
	}
	/* What can neither be read nor removed must not be met again. */
	if (hf_dir_entry_remove_open(dirfd, name, fd) && memdir)
		hf_memdir_hide(memdir, name);
}

void hf_index_file_drop_open(int dirfd, const char *name, int fd)
{
	const struct place place = place_of(dirfd);

	if (fd < 0) {
		if (place.packs)
			hf_packs_drop(place.packs, name);
		return;
	}
	if (place.memdir && hf_memdir_remove(place.memdir, name, fd))
		return;
	drop_on_disk(place.memdir, place.dirfd, name, fd);
}

void hf_index_file_drop(int dirfd, const char *name)
{
	const struct place place = place_of(dirfd);
	int fd;

	if (place.memdir)
		hf_memdir_remove(place.memdir, name, -1);
	if (place.packs)
		hf_packs_drop(place.packs, name);
	if (hf_disk_file_open(place.dirfd, name, &fd) == HF_ERR_INDEX_DIR && place.memdir)
		hf_memdir_hide(place.memdir, name);
	if (fd >= 0) {
		drop_on_disk(place.memdir, place.dirfd, name, fd);
		close(fd);
	}
}

void hf_index_file_hide(int dirfd, const char *name)
{
	const struct place place = place_of(dirfd);

	if (place.memdir)
		hf_memdir_hide(place.memdir, name);
	if (place.packs)
		hf_packs_drop(place.packs, name);
}

int hf_part_open(int dirfd, const char *name, struct hf_part *ret_part)
{
	const struct place place = place_of(dirfd);
	int err;

	if (!place.into_memdir && !place.into_packs)
		return hf_disk_part_open(ret_part, dirfd, name);
	err = hf_part_name(ret_part, dirfd, name);
	if (err)
		return err;
	if (place.into_packs) {
		err = hf_packs_begin(place.packs, ret_part->name, &ret_part->packed);
		ret_part->packs = err ? NULL : place.packs;
		return err;
	}
	ret_part->memory = place.memdir;
	return hf_memdir_begin(place.memdir, ret_part->name, &ret_part->fd);
}

static bool is_on_disk(const struct hf_part *part)
{
	return !part->memory && !part->packs;
}

bool hf_part_is_empty(const struct hf_part *part)
{
	return part->packs ? !part->packed.bytes : hf_db_look(part->fd, HF_DB_INDEX) == HF_LOOK_EMPTY;
}

int hf_part_journaled(const struct hf_part *part)
{
	return is_on_disk(part) ? part->fd : -1;
}

int hf_part_count(const struct hf_part *part)
{
	return part->memory ? hf_memdir_count(part->memory, part->name) : 0;
}

void hf_part_close(struct hf_part *part)
{
	if (part->packs) {
		hf_packs_end(part->packs, &part->packed);
		part->packs = NULL;
		return;
	}
	if (part->fd < 0)
		return;
	if (is_on_disk(part)) {
		hf_disk_part_close(part);
		return;
	}
	hf_memdir_end(part->memory, part->name);
	part->fd = -1;
}

int hf_part_reset(struct hf_part *part)
{
	if (part->packs) {
		HF_LOCKED(&part->packed.pack->lock);
		if (!part->packed.bytes)
			return 0;
		part->packed.bytes = 0;
		return hf_pack_drop(part->packed.pack, part->packed.part);
	}
	if (is_on_disk(part))
		return hf_disk_part_reset(part);
	return ftruncate(part->fd, 0) < 0 ? hf_fault_set("writing", part->part, errno) : 0;
}

int hf_part_publish(struct hf_part *part)
{
	struct hf_memdir *memdir;
	bool own;
	int err;

	if (part->packs) {
		hf_packs_finish(part->packs, &part->packed);
		return 0;
	}
	if (part->memory)
		return hf_memdir_finish(part->memory, part->name);
	err = hf_disk_part_publish(part);
	memdir = err ? NULL : hf_memdir_of(part->dirfd, &own);
	if (memdir)
		hf_memdir_show(memdir, part->name);
	return err;
}

void hf_part_remove(struct hf_part *part)
{
	/* Closing it lets go of one in memory. */
	if (is_on_disk(part))
		hf_disk_part_remove(part);
}
