/* SPDX-License-Identifier: Apache-2.0 */
#include "index/file.h"

#include "index/dir_entry.h"
#include "index/fault.h"
#include "index/memdir.h"

#include <errno.h>
#include <unistd.h>

int hf_index_file_open(int dirfd, const char *name, int *ret_fd)
{
	bool own;
	struct hf_memdir *memdir = hf_memdir_of(dirfd, &own);
	int err = memdir ? hf_memdir_open(memdir, name, ret_fd) : HF_ERR_NOT_FOUND;

	if (err != HF_ERR_NOT_FOUND || (memdir && hf_memdir_hides(memdir, name)))
		return err;
	return hf_disk_file_open(memdir ? hf_memdir_dirfd(memdir) : dirfd, name, ret_fd);
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
	bool own;
	struct hf_memdir *memdir = hf_memdir_of(dirfd, &own);

	if (memdir && hf_memdir_remove(memdir, name, fd))
		return;
	drop_on_disk(memdir, memdir ? hf_memdir_dirfd(memdir) : dirfd, name, fd);
}

void hf_index_file_drop(int dirfd, const char *name)
{
	bool own;
	struct hf_memdir *memdir = hf_memdir_of(dirfd, &own);
	int fd;

	if (memdir) {
		hf_memdir_remove(memdir, name, -1);
		dirfd = hf_memdir_dirfd(memdir);
	}
	if (hf_disk_file_open(dirfd, name, &fd) == HF_ERR_INDEX_DIR && memdir)
		hf_memdir_hide(memdir, name);
	if (fd >= 0) {
		drop_on_disk(memdir, dirfd, name, fd);
		close(fd);
	}
}

void hf_index_file_hide(int dirfd, const char *name)
{
	bool own;
	struct hf_memdir *memdir = hf_memdir_of(dirfd, &own);

	if (memdir)
		hf_memdir_hide(memdir, name);
}

int hf_part_open(int dirfd, const char *name, struct hf_part *ret_part)
{
	bool own;
	struct hf_memdir *memdir = hf_memdir_of(dirfd, &own);
	int err;

	if (!own)
		return hf_disk_part_open(ret_part, dirfd, name);
	err = hf_part_name(ret_part, dirfd, name);
	if (err)
		return err;
	ret_part->memory = memdir;
	return hf_memdir_begin(memdir, ret_part->name, &ret_part->fd);
}

int hf_part_journaled(const struct hf_part *part)
{
	return part->memory ? -1 : part->fd;
}

int hf_part_count(const struct hf_part *part)
{
	return part->memory ? hf_memdir_count(part->memory, part->name) : 0;
}

void hf_part_close(struct hf_part *part)
{
	if (part->fd < 0)
		return;
	if (!part->memory) {
		hf_disk_part_close(part);
		return;
	}
	hf_memdir_end(part->memory, part->name);
	part->fd = -1;
}

int hf_part_reset(struct hf_part *part)
{
	if (!part->memory)
		return hf_disk_part_reset(part);
	return ftruncate(part->fd, 0) < 0 ? hf_fault_set("writing", part->part, errno) : 0;
}

int hf_part_publish(struct hf_part *part)
{
	struct hf_memdir *memdir;
	bool own;
	int err;

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
	if (!part->memory)
		hf_disk_part_remove(part);
}
