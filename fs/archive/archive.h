/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The archive: the one directory whose files are shown. Everything is opened beneath its descriptor, read-only, and
 * without following a symbolic link anywhere in the path. Paths are relative to the archive; "" is the archive itself.
 */
#ifndef HF_FS_ARCHIVE_H
#define HF_FS_ARCHIVE_H

#include "fs/base/options.h"

#include <stdatomic.h>
#include <sys/stat.h>

struct hf_archive {
	int fd;                   /* owned */
	_Atomic uint64_t *narrow; /* owned: which bits access lists leave, of files looked at before; NULL: not kept */
	uint64_t seed;            /* of its hash, so that nobody can choose what falls together */
	size_t skip_count;
	struct hf_fs_place *skip; /* owned */
	/* Descriptors or memory ran out, for the time tries of one call: gives back what can be done without and waits
	 * a moment, or says that trying again is no use. May be NULL. */
	bool (*make_room)(void *ctx, unsigned tries, int errnum);
	void *ctx;
	const struct hf_stop *stop; /* of what is read from it */
};

/* Takes fd, also on failure. */
int hf_archive_init(struct hf_archive *archive, int fd, const struct hf_fs_place *skip, size_t skip_count);
void hf_archive_fini(struct hf_archive *archive);

/* Like lstat, but st_mode has no more than the file's access list gives, if it has one (fs/archive/acl.h).
 * HF_ERR_NOT_FOUND also for skipped directories and whatever leads out of the archive. */
int hf_archive_stat(const struct hf_archive *archive, const char *path, struct stat *ret_st);
/* A regular file, never anything else: opening a FIFO or a device could block or act. ret_st as hf_archive_stat. */
int hf_archive_open_file(const struct hf_archive *archive, const char *path, int *ret_fd, struct stat *ret_st);
/* The same as a source; takes fd. */
int hf_archive_source(const struct hf_archive *archive, int fd, struct hf_src **ret_src, struct hf_diag *diag);
int hf_archive_open_dir(const struct hf_archive *archive, const char *path, int *ret_fd);
/* Gives fn the names of an open directory that nothing was read of yet, in no order, but "." and "..", with the type of
 * each as in st_mode. None of skipped directories. The first error of fn ends it. */
int hf_archive_list(const struct hf_archive *archive, int dirfd, int (*fn)(void *ctx, const char *name, mode_t type),
		    void *ctx);
/* The target, terminated; HF_ERR_LIMIT if it does not fit. */
int hf_archive_readlink(const struct hf_archive *archive, const char *path, char *buf, size_t size);

/* Like hf_archive_stat, for an entry of an open directory. */
int hf_archive_stat_at(const struct hf_archive *archive, int dirfd, const char *name, struct stat *ret_st);

/* Bytes [offset, offset + size) of an opened file; *ret_n is less only at its end, or after an error. */
int hf_archive_pread(int fd, uint8_t *bytes, size_t size, uint64_t offset, size_t *ret_n);

/* The HF_ERR_* for an errno of opening or looking at a file. */
int hf_archive_error(int errnum);

#endif
