/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQLite's view of the operating system, cut down to what an index needs: one process at a time has a file for
 * writing (disk_file.c sees to that with a lock), published ones never change. Files are descriptors that were opened and
 * checked by us, so no path is resolved behind our back, /proc is not needed, and a sandbox that allows the
 * directory is enough. Pages carry a checksum, so that damage is met as an error, wherever it lies.
 */
#include "index/table/vfs.h"

#include "codecs/base/bytes.h"
#include "codecs/base/errors.h"
#include "index/base/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

struct vfs_file {
	sqlite3_file base;
	int fd;
	bool pages; /* the database, not its journal */
};

static const sqlite3_io_methods file_methods;

static sqlite3_vfs *system_vfs;
static _Thread_local int last_errno;

/* Notes why a call failed, for whoever asked SQLite; returns what SQLite shall hear. */
static int failed(int rc, const char *doing, int fd, const char *name)
{
	last_errno = errno;
	if (name)
		hf_fault_set(doing, name, last_errno);
	else
		hf_fault_set_fd(doing, fd, last_errno);
	return rc;
}

void hf_vfs_path(char path[HF_VFS_PATH_SIZE], int fd, int dirfd, const char *name)
{
	snprintf(path, HF_VFS_PATH_SIZE, "/%d/%d/%s", fd, dirfd, name);
}

/* Of a database or, as SQLite appends to its name, of its journal. */
static bool parse_path(const char *path, int *ret_fd, int *ret_dirfd, const char **ret_name)
{
	char *end;

	if (!path || *path != '/')
		return false;
	*ret_fd = (int)strtol(path + 1, &end, 10);
	if (*end != '/')
		return false;
	*ret_dirfd = (int)strtol(end + 1, &end, 10);
	*ret_name = end + 1;
	return *end == '/';
}

static uint64_t page_sum(const uint8_t *page, uint64_t offset)
{
	return XXH3_64bits_withSeed(page, HF_PAGE_SIZE - HF_PAGE_SUM, offset);
}

void hf_vfs_seal(uint8_t page[HF_PAGE_SIZE], uint64_t offset)
{
	hf_put64(page + HF_PAGE_SIZE - HF_PAGE_SUM, page_sum(page, offset));
}

static bool is_page(const struct vfs_file *f, int n, sqlite3_int64 offset)
{
	return f->pages && n == HF_PAGE_SIZE && offset % HF_PAGE_SIZE == 0;
}

static int file_close(sqlite3_file *file)
{
	struct vfs_file *f = (struct vfs_file *)file;

	if (!f->pages)
		close(f->fd);
	return SQLITE_OK;
}

static int file_read(sqlite3_file *file, void *buf, int n, sqlite3_int64 offset)
{
	const struct vfs_file *f = (const struct vfs_file *)file;
	int got = 0;

	while (got < n) {
		ssize_t r = pread(f->fd, (char *)buf + got, (size_t)(n - got), (off_t)(offset + got));

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return failed(SQLITE_IOERR_READ, "reading", f->fd, NULL);
		if (r == 0)
			break;
		got += (int)r;
	}
	if (got < n) {
		memset((char *)buf + got, 0, (size_t)(n - got));
		return SQLITE_IOERR_SHORT_READ;
	}
	if (is_page(f, n, offset) &&
	    hf_get64((uint8_t *)buf + HF_PAGE_SIZE - HF_PAGE_SUM) != page_sum(buf, (uint64_t)offset))
		return SQLITE_IOERR_DATA;
	return SQLITE_OK;
}

static int write_all(int fd, const uint8_t *p, size_t n, off_t offset)
{
	while (n) {
		ssize_t r = pwrite(fd, p, n, offset);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return failed(errno == ENOSPC || errno == EDQUOT ? SQLITE_FULL : SQLITE_IOERR_WRITE, "writing",
				      fd, NULL);
		p += r;
		n -= (size_t)r;
		offset += r;
	}
	return SQLITE_OK;
}

static int file_write(sqlite3_file *file, const void *buf, int n, sqlite3_int64 offset)
{
	const struct vfs_file *f = (const struct vfs_file *)file;
	uint8_t page[HF_PAGE_SIZE];

	if (!is_page(f, n, offset))
		return write_all(f->fd, buf, (size_t)n, (off_t)offset);
	memcpy(page, buf, HF_PAGE_SIZE);
	hf_vfs_seal(page, (uint64_t)offset);
	return write_all(f->fd, page, HF_PAGE_SIZE, (off_t)offset);
}

/* Why SQLite could not open a file, on this thread: HF_ERR_STATE if nothing failed and it was refused. */
static int open_error(void)
{
	if (!last_errno) /* a file that wants others beside it, such as a write-ahead log, is none of ours */
		return HF_ERR_STATE;
	return last_errno == EMFILE ? HF_ERR_FILES : last_errno == ENFILE ? HF_ERR_FILES_SYSTEM : HF_ERR_INDEX_DIR;
}

int hf_vfs_err(int rc)
{
	switch (rc & 0xff) {
	case SQLITE_NOMEM:
		return HF_ERR_NOMEM;
	case SQLITE_CANTOPEN:
		return open_error();
	/* All of it is about files of the index directory; failed() has noted which. */
	case SQLITE_FULL:
	case SQLITE_READONLY:
		return HF_ERR_INDEX_DIR;
	case SQLITE_IOERR:
		return rc == SQLITE_IOERR_DATA || rc == SQLITE_IOERR_SHORT_READ || rc == SQLITE_IOERR_CORRUPTFS
			       ? HF_ERR_STATE
			       : HF_ERR_INDEX_DIR;
	default:
		return HF_ERR_STATE;
	}
}

/* SQLite leaves this page out, for it locks files there elsewhere (sqlite.org/fileformat2.html, 1.4). */
#define LOCK_PAGE INT64_C(0x40000000)

int hf_vfs_verify_page(int fd, uint64_t offset)
{
	const struct vfs_file f = {.base.pMethods = &file_methods, .fd = fd, .pages = true};
	uint8_t page[HF_PAGE_SIZE];
	int rc;

	if (offset == LOCK_PAGE)
		return 0;
	rc = file_read((sqlite3_file *)&f, page, HF_PAGE_SIZE, (sqlite3_int64)offset);
	return rc == SQLITE_OK ? 0 : hf_vfs_err(rc);
}

int hf_vfs_verify(int fd)
{
	struct stat st;
	int err = fstat(fd, &st) < 0 ? hf_fault_set_fd("reading", fd, errno) : 0;

	for (off_t at = 0; !err && at < st.st_size; at += HF_PAGE_SIZE)
		err = hf_vfs_verify_page(fd, (uint64_t)at);
	return err;
}

/* The database header, sqlite.org/fileformat2.html, 1.3: the change counter, and for which of its values the rest holds. */
enum { CHANGES_AT = 24, CHANGES_VALID_AT = 92 };

int hf_vfs_settle(int fd)
{
	static const uint8_t once[4] = {0, 0, 0, 1};
	struct vfs_file f = {.base.pMethods = &file_methods, .fd = fd, .pages = true};
	uint8_t page[HF_PAGE_SIZE];
	int rc = file_read((sqlite3_file *)&f, page, HF_PAGE_SIZE, 0);

	if (rc == SQLITE_OK) {
		memcpy(page + CHANGES_AT, once, sizeof once);
		memcpy(page + CHANGES_VALID_AT, once, sizeof once);
		rc = file_write((sqlite3_file *)&f, page, HF_PAGE_SIZE, 0);
	}
	return rc == SQLITE_OK ? 0 : hf_vfs_err(rc);
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	const int fd = ((struct vfs_file *)file)->fd;

	return ftruncate(fd, (off_t)size) < 0 ? failed(SQLITE_IOERR_TRUNCATE, "truncating", fd, NULL) : SQLITE_OK;
}

static int file_sync(sqlite3_file *file, int flags)
{
	const int fd = ((struct vfs_file *)file)->fd;

	(void)flags;
	return fsync(fd) < 0 ? failed(SQLITE_IOERR_FSYNC, "writing", fd, NULL) : SQLITE_OK;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *ret_size)
{
	struct stat st;

	if (fstat(((struct vfs_file *)file)->fd, &st) < 0)
		return failed(SQLITE_IOERR_FSTAT, "reading", ((struct vfs_file *)file)->fd, NULL);
	*ret_size = st.st_size;
	return SQLITE_OK;
}

static int file_lock(sqlite3_file *file, int level)
{
	(void)file;
	(void)level;
	return SQLITE_OK;
}

static int file_check_lock(sqlite3_file *file, int *ret_locked)
{
	(void)file;
	*ret_locked = 0;
	return SQLITE_OK;
}

static int file_control(sqlite3_file *file, int op, void *arg)
{
	(void)file;
	(void)op;
	(void)arg;
	return SQLITE_NOTFOUND;
}

static int file_sector(sqlite3_file *file)
{
	(void)file;
	return 4096;
}

static int file_traits(sqlite3_file *file)
{
	(void)file;
	return 0;
}

static const sqlite3_io_methods file_methods = {
	.iVersion = 1,
	.xClose = file_close,
	.xRead = file_read,
	.xWrite = file_write,
	.xTruncate = file_truncate,
	.xSync = file_sync,
	.xFileSize = file_size,
	.xLock = file_lock,
	.xUnlock = file_lock,
	.xCheckReservedLock = file_check_lock,
	.xFileControl = file_control,
	.xSectorSize = file_sector,
	.xDeviceCharacteristics = file_traits,
};

static int vfs_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *ret_flags)
{
	struct vfs_file *f = (struct vfs_file *)file;
	const char *name;
	int fd, dirfd;

	(void)vfs;
	last_errno = 0;
	*f = (struct vfs_file){.base.pMethods = NULL};
	if (!parse_path(path, &fd, &dirfd, &name))
		return SQLITE_CANTOPEN;
	if (flags & SQLITE_OPEN_MAIN_DB) {
		f->fd = fd;
		f->pages = true;
	} else if (flags & SQLITE_OPEN_MAIN_JOURNAL) {
		int mode = flags & SQLITE_OPEN_READWRITE ? O_RDWR : O_RDONLY;

		if (flags & SQLITE_OPEN_CREATE)
			mode |= O_CREAT;
		/* No FIFO may keep us waiting; anything but a regular file was cleared away, and fails when it is used. */
		f->fd = openat(dirfd, name, mode | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
		if (f->fd < 0)
			return failed(SQLITE_CANTOPEN, "creating", -1, name);
	} else {
		return SQLITE_CANTOPEN;
	}
	f->base.pMethods = &file_methods;
	if (ret_flags)
		*ret_flags = flags;
	return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *path, int sync_dir)
{
	const char *name;
	int fd, dirfd;

	(void)vfs;
	(void)sync_dir;
	if (!parse_path(path, &fd, &dirfd, &name))
		return SQLITE_IOERR_DELETE;
	if (unlinkat(dirfd, name, 0) < 0)
		return errno == ENOENT ? SQLITE_IOERR_DELETE_NOENT
				       : failed(SQLITE_IOERR_DELETE, "removing", -1, name);
	return SQLITE_OK;
}

static int vfs_access(sqlite3_vfs *vfs, const char *path, int flags, int *ret_yes)
{
	const char *name;
	struct stat st;
	int fd, dirfd;

	(void)vfs;
	(void)flags;
	/* In no directory there is no journal. */
	*ret_yes = parse_path(path, &fd, &dirfd, &name) && dirfd >= 0 &&
		   fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
	return SQLITE_OK;
}

static int vfs_full_path(sqlite3_vfs *vfs, const char *path, int size, char *ret_path)
{
	(void)vfs;
	sqlite3_snprintf(size, ret_path, "%s", path);
	return SQLITE_OK;
}

static int vfs_randomness(sqlite3_vfs *vfs, int size, char *buf)
{
	(void)vfs;
	return system_vfs->xRandomness(system_vfs, size, buf);
}

static int vfs_sleep(sqlite3_vfs *vfs, int us)
{
	(void)vfs;
	return system_vfs->xSleep(system_vfs, us);
}

static int vfs_time(sqlite3_vfs *vfs, double *ret_now)
{
	(void)vfs;
	return system_vfs->xCurrentTime(system_vfs, ret_now);
}

static int vfs_last_error(sqlite3_vfs *vfs, int size, char *buf)
{
	(void)vfs;
	(void)size;
	(void)buf;
	return last_errno;
}

static sqlite3_vfs vfs = {
	.iVersion = 1,
	.szOsFile = sizeof(struct vfs_file),
	.mxPathname = HF_VFS_PATH_SIZE,
	.zName = HF_VFS_NAME,
	.xOpen = vfs_open,
	.xDelete = vfs_delete,
	.xAccess = vfs_access,
	.xFullPathname = vfs_full_path,
	.xRandomness = vfs_randomness,
	.xSleep = vfs_sleep,
	.xCurrentTime = vfs_time,
	.xGetLastError = vfs_last_error,
};

static int register_result;

static void register_once(void)
{
	/* Pages when they are needed: by default each connection takes 20 at once, 160 KiB, and most need fewer. */
	sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 0);
	register_result = sqlite3_initialize();
	system_vfs = sqlite3_vfs_find(NULL);
	if (register_result == SQLITE_OK)
		register_result = system_vfs ? sqlite3_vfs_register(&vfs, 0) : SQLITE_ERROR;
}

int hf_vfs_register(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, register_once);
	return register_result == SQLITE_OK ? 0 : hf_vfs_err(register_result);
}
