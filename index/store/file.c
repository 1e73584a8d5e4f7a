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

int hf_index_file_open(const struct hf_store_dir *dir, const char *name, int *ret_fd)
{
	int err = dir->memory ? hf_memdir_open(dir->memory, name, ret_fd) : HF_ERR_NOT_FOUND;

	if (err == HF_ERR_NOT_FOUND && !(dir->memory && hf_memdir_hides(dir->memory, name)))
		err = hf_disk_file_open(dir->fd, &dir->sharing, name, ret_fd);
	return err;
}

int hf_index_file_find(const struct hf_store_dir *dir, const char *name, struct hf_packed *ret_file)
{
	ret_file->pack = NULL;
	return dir->packs ? hf_packs_find(dir->packs, name, ret_file) : HF_ERR_NOT_FOUND;
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

void hf_index_file_drop_open(const struct hf_store_dir *dir, const char *name, int fd)
{
	if (fd < 0) {
		if (dir->packs)
			hf_packs_drop(dir->packs, name);
		return;
	}
	if (dir->memory && hf_memdir_remove(dir->memory, name, fd))
		return;
	drop_on_disk(dir->memory, dir->fd, name, fd);
}

void hf_index_file_drop(const struct hf_store_dir *dir, const char *name)
{
	int fd;

	if (dir->memory)
		hf_memdir_remove(dir->memory, name, -1);
	if (dir->packs)
		hf_packs_drop(dir->packs, name);
	if (hf_disk_file_open(dir->fd, &dir->sharing, name, &fd) == HF_ERR_INDEX_DIR && dir->memory)
		hf_memdir_hide(dir->memory, name);
	if (fd >= 0) {
		drop_on_disk(dir->memory, dir->fd, name, fd);
		close(fd);
	}
}

void hf_index_file_hide(const struct hf_store_dir *dir, const char *name)
{
	if (dir->memory)
		hf_memdir_hide(dir->memory, name);
	if (dir->packs)
		hf_packs_drop(dir->packs, name);
}

int hf_part_open(const struct hf_store_dir *dir, const char *name, struct hf_part *ret_part)
{
	int err;

	if (dir->into == HF_INTO_DISK) {
		err = hf_disk_part_open(ret_part, dir->fd, &dir->sharing, name);
		ret_part->hiding = dir->memory;
		return err;
	}
	err = hf_part_name(ret_part, dir->fd, name);
	if (err)
		return err;
	if (dir->into == HF_INTO_PACKS) {
		err = hf_packs_begin(dir->packs, ret_part->name, &ret_part->packed);
		ret_part->packs = err ? NULL : dir->packs;
		return err;
	}
	ret_part->memory = dir->memory;
	return hf_memdir_begin(dir->memory, ret_part->name, &ret_part->fd);
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
	int err;

	if (part->packs) {
		hf_packs_finish(part->packs, &part->packed);
		return 0;
	}
	if (part->memory)
		return hf_memdir_finish(part->memory, part->name);
	err = hf_disk_part_publish(part);
	if (!err && part->hiding)
		hf_memdir_show(part->hiding, part->name);
	return err;
}

void hf_part_remove(struct hf_part *part)
{
	/* Closing it lets go of one in memory. */
	if (is_on_disk(part))
		hf_disk_part_remove(part);
}
