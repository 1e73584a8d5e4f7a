/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files on disk in an index directory: whom to trust, the private file that a build writes, and its publication. file.h
 * is the same for files on disk and in memory. Internal to index/.
 */
#ifndef HF_INDEX_DISK_FILE_H
#define HF_INDEX_DISK_FILE_H

#include "index/store/dir.h"
#include "index/store/pack.h"

#include <fcntl.h>
#include <sys/stat.h>

/* Opens a published file for reading, without waiting for anything: see hf_index_file_open. dirfd -1: there is no
 * directory. */
int hf_disk_file_open(int dirfd, const struct hf_sharing *sharing, const char *name, int *ret_fd);

/* The lock that whoever has a published file open holds (F_RDLCK), if it can be had: only hf_prune_to_limit asks. Not
 * that of private files, whose maker may still have one open under its new name. */
struct flock hf_disk_use_lock(short type);

/* Opens it as hf_disk_file_open does, to be judged: that is no use of it, as far as the system lets us. */
int hf_disk_file_look(int dirfd, const struct hf_sharing *sharing, const char *name, int *ret_fd);

struct hf_memdir;
struct hf_packs;

/* A private file that will be published as name. */
struct hf_part {
	int dirfd, fd;
	struct hf_sharing sharing; /* of one in the directory */
	struct hf_memdir *memory; /* it is there */
	struct hf_packs *packs;	  /* it is there; both NULL: in the directory, as hf_disk_part_open makes it */
	struct hf_packed packed;
	struct hf_memdir *hiding; /* of one in the directory: what hides others of its name; NULL: nothing does */
	bool replaces;		  /* what stands there goes only when this comes */
	struct stat before;	  /* what stood under the name when it was begun: st_ino 0, nothing */
	char name[HF_FILE_NAME_SIZE];
	char part[HF_FILE_NAME_SIZE]; /* ".<name>.part", or ".<name>.<uid>.part" while another user has that */
};

/* One that is not open yet. HF_ERR_LIMIT: the name is too long. */
int hf_part_name(struct hf_part *part, int dirfd, const char *name);

/* As the functions of file.h without "disk", of a file in the directory. */
/* sharing NULL: with nobody. */
int hf_disk_part_open(struct hf_part *part, int dirfd, const struct hf_sharing *sharing, const char *name);
void hf_disk_part_close(struct hf_part *part);
int hf_disk_part_reset(const struct hf_part *part);
/* Fills it with the bytes of that database, which must be sound. */
int hf_disk_part_copy(const struct hf_part *part, int from);
int hf_disk_part_publish(const struct hf_part *part);
void hf_disk_part_remove(const struct hf_part *part);
/* Whether nobody works on another user's private file any more. False: somebody does, or it cannot be told. */
bool hf_disk_part_is_left(int dirfd, const char *name);

#endif
