/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite's files: descriptors, with a checksum in each page. Internal to index/. */
#ifndef HF_INDEX_VFS_H
#define HF_INDEX_VFS_H

#include <stdint.h>

#define HF_PAGE_SIZE 8192
#define HF_PAGE_SUM 8 /* of which the last bytes are its checksum */

/* Registers it with SQLite, once. */
int hf_vfs_register(void);
#define HF_VFS_NAME "hartfs"
/*
 * Names a database for that VFS: the file is fd (borrowed until the database is closed); its journal, if it gets one,
 * is "<name>-journal" in dirfd.
 */
#define HF_VFS_PATH_SIZE 320
void hf_vfs_path(char path[HF_VFS_PATH_SIZE], int fd, int dirfd, const char *name);
/* Puts the checksum into a page at that offset of the file. */
void hf_vfs_seal(uint8_t page[HF_PAGE_SIZE], uint64_t offset);
/* The error for a result of SQLite that is not OK, ROW or DONE; of SQLITE_CANTOPEN the last one on this thread. */
int hf_vfs_err(int rc);
/* Whether all pages have theirs: 0, HF_ERR_STATE, or why they cannot be read. */
int hf_vfs_verify(int fd);
/* The same of one page, at that offset of the file. */
int hf_vfs_verify_page(int fd, uint64_t offset);
/* Of a database that is complete: how many commits it took does not show any more. So two builds give the same bytes. */
int hf_vfs_settle(int fd);

#endif
