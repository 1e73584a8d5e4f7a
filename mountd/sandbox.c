#include "mountd/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
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
#define FS_REFER (1ull << 13)
#define FS_TRUNCATE (1ull << 14)

#define FS_READ (FS_READ_FILE | FS_READ_DIR)
#define FS_WRITE (FS_WRITE_FILE | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_DIR | FS_MAKE_REG | FS_REFER | FS_TRUNCATE)

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
} versions[] = {
	{(1ull << 13) - 1, 0, 0, 8},  /* 1 */
	{(1ull << 14) - 1, 0, 0, 8},  /* 2: refer */
	{(1ull << 15) - 1, 0, 0, 8},  /* 3: truncate */
	{(1ull << 15) - 1, 3, 0, 16}, /* 4: TCP bind and connect */
	{(1ull << 16) - 1, 3, 0, 16}, /* 5: ioctl on devices */
	{(1ull << 16) - 1, 3, 3, 24}, /* 6: abstract sockets and signals stay within */
};

static int allow(int ruleset, int fd, uint64_t access)
{
	struct path_rule rule = {.access = access, .fd = fd};

	return syscall(CALL_ADD_RULE, ruleset, RULE_PATH_BENEATH, &rule, 0) < 0 ? -errno : 0;
}

/* Conveniences whose absence is no failure: the process's own statistics, and SQLite's source of random names. */
static void allow_extras(int ruleset)
{
	static const char *const paths[] = {"/proc/self", "/dev/urandom"};

	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		int fd = open(paths[i], O_PATH | O_CLOEXEC);

		if (fd < 0)
			continue;
		allow(ruleset, fd, i == 0 ? FS_READ : FS_READ_FILE);
		close(fd);
	}
}

int hf_sandbox_enter(int archive_fd, int index_fd)
{
	long version = syscall(CALL_CREATE, NULL, (size_t)0, CREATE_VERSION);
	size_t row, rows = sizeof versions / sizeof versions[0];
	struct ruleset handled;
	int ruleset, err;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	if (version <= 0)
		return 0;
	row = (size_t)version > rows ? rows - 1 : (size_t)version - 1;
	handled = (struct ruleset){.fs = versions[row].fs, .net = versions[row].net, .scope = versions[row].scope};
	ruleset = (int)syscall(CALL_CREATE, &handled, versions[row].size, 0);
	if (ruleset < 0)
		return -errno;
	err = allow(ruleset, archive_fd, FS_READ);
	if (!err && index_fd >= 0)
		err = allow(ruleset, index_fd, (FS_READ | FS_WRITE) & handled.fs);
	allow_extras(ruleset);
	if (!err && syscall(CALL_RESTRICT, ruleset, 0) < 0)
		err = -errno;
	close(ruleset);
	return err ? err : (int)row + 1;
}
