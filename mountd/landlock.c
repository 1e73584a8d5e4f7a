/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/sandbox_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * The kernel's interface in our own words: headers of the machine that compiles are often older than the kernel that
 * runs, and the numbers never change. landlock(7) has the version that brought each.
 */
enum {
	CALL_CREATE = 444,
	CALL_ADD_RULE = 445,
	CALL_RESTRICT = 446,
	CREATE_VERSION = 1,
	RULE_PATH_BENEATH = 1,
};

#define FS_WRITE_FILE (1ull << 1)
#define FS_READ_FILE (1ull << 2)
#define FS_READ_DIR (1ull << 3)
#define FS_REMOVE_DIR (1ull << 4)
#define FS_REMOVE_FILE (1ull << 5)
#define FS_MAKE_DIR (1ull << 7)
#define FS_MAKE_REG (1ull << 8)
#define FS_TRUNCATE (1ull << 14)

#define FS_READ (FS_READ_FILE | FS_READ_DIR)
/* Directories: one that is in the way of an index is put aside. */
#define FS_WRITE (FS_WRITE_FILE | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_DIR | FS_MAKE_REG | FS_TRUNCATE)

struct ruleset {
	uint64_t fs, net, scope;
};

struct path_rule {
	uint64_t access;
	int32_t fd;
} __attribute__((packed));

/* What each version can handle, and how much of struct ruleset it knows. */
static const struct {
	uint64_t fs, net, scope;
	size_t size;
} versions[HF_LANDLOCK_KNOWN] = {
	{(1ull << 13) - 1, 0, 0, 8},  /* 1 */
	{(1ull << 14) - 1, 0, 0, 8},  /* 2: refer */
	{(1ull << 15) - 1, 0, 0, 8},  /* 3: truncate */
	{(1ull << 15) - 1, 3, 0, 16}, /* 4: TCP bind and connect */
	{(1ull << 16) - 1, 3, 0, 16}, /* 5: ioctl on devices */
	{(1ull << 16) - 1, 3, 3, 24}, /* 6: abstract sockets and signals stay within */
	{(1ull << 16) - 1, 3, 3, 24}, /* 7: what is refused is in the kernel's audit log, as it is by default */
};

static int allow(int ruleset, int fd, uint64_t access)
{
	struct path_rule rule = {.access = access, .fd = fd};

	return syscall(CALL_ADD_RULE, ruleset, RULE_PATH_BENEATH, &rule, 0) < 0 ? -errno : 0;
}

/* Without one of these there is less convenience, no failure. */
static void allow_path(int ruleset, const char *path, uint64_t access)
{
	int fd = open(path, O_PATH | O_CLOEXEC);

	if (fd < 0)
		return;
	allow(ruleset, fd, access);
	close(fd);
}

static int allow_places(int ruleset, const struct hf_sandbox_places *places, uint64_t handled)
{
	int err = 0;

	for (size_t i = 0; i < places->read_count && !err; i++)
		err = allow(ruleset, places->read[i], FS_READ);
	if (!err && places->write >= 0)
		err = allow(ruleset, places->write, (FS_READ | FS_WRITE) & handled);
	/* SQLite's source of random names. */
	allow_path(ruleset, "/dev/urandom", FS_READ_FILE);
	/* LeakSanitizer lists its threads at the end. A rule is of an inode, and /proc/self gets another one when the kernel
	 * drops its caches: only /proc keeps its own. */
	if (HF_SANDBOX_SANITIZER)
		allow_path(ruleset, "/proc", FS_READ);
	return err;
}

int hf_landlock_enter(const struct hf_sandbox_places *places, int *ret_known)
{
	const long version = syscall(CALL_CREATE, NULL, (size_t)0, CREATE_VERSION);
	struct ruleset handled;
	int ruleset, row, err;

	*ret_known = 0;
	if (version < 0)
		return errno == ENOSYS || errno == EOPNOTSUPP ? 0 : -errno;
	if (version == 0)
		return 0;
	row = version > HF_LANDLOCK_KNOWN ? HF_LANDLOCK_KNOWN - 1 : (int)version - 1;
	handled = (struct ruleset){.fs = versions[row].fs, .net = versions[row].net, .scope = versions[row].scope};
	ruleset = (int)syscall(CALL_CREATE, &handled, versions[row].size, 0);
	if (ruleset < 0)
		return -errno;
	err = allow_places(ruleset, places, handled.fs);
	if (!err && syscall(CALL_RESTRICT, ruleset, 0) < 0)
		err = -errno;
	close(ruleset);
	*ret_known = row + 1;
	return err ? err : (int)version;
}
