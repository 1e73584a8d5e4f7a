/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/dead.h"

#include "index/base/libc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How long a mount may take to answer before it is called silent, and how long its probe to end when it was killed. */
enum { PROBE_MS = 5000, REAP_MS = 1000, STEP_MS = 5 };
/* How often a server that seems to live is looked at, STEP_MS apart. */
enum { LOOKS = 20 };

/* Of a line "ShdPnd:\t0000000000000100" (proc(5)). */
static bool has_kill_pending(const char *line)
{
	uint64_t pending;

	/* NOLINTNEXTLINE(cert-err34-c): these are the kernel's own numbers */
	return (sscanf(line, "SigPnd: %" SCNx64, &pending) == 1 || sscanf(line, "ShdPnd: %" SCNx64, &pending) == 1) &&
	       pending >> (SIGKILL - 1) & 1;
}

bool hf_dead_process(pid_t pid)
{
	char path[64], line[256], state;
	bool dead = false, has_memory = false;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return errno == ENOENT || errno == ESRCH;
	while (!dead && fgets(line, sizeof line, file)) {
		has_memory |= !strncmp(line, "VmSize:", 7);
		dead = (sscanf(line, "State: %c", &state) == 1 && (state == 'Z' || state == 'X')) ||
		       has_kill_pending(line);
	}
	fclose(file);
	/* On its way out a process first gives back its memory, and then, maybe much later, its files. */
	return dead || !has_memory;
}

/* The kernel lets in whose mount it is; root is not, unless others may use it. */
static void become_mounter(const struct hf_mount_entry *entry)
{
	if (geteuid() != 0 || entry->uid == (uid_t)-1 || entry->uid == 0)
		return;
	if (setresgid(entry->gid, entry->gid, entry->gid) < 0 || setresuid(entry->uid, entry->uid, entry->uid) < 0)
		_exit(EPERM);
}

static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = STEP_MS * 1000000L}, NULL);
}

/* False if it has not ended within that time. */
static bool wait_for(pid_t pid, int ms, int *ret_status)
{
	for (int left = ms; left > 0; left -= STEP_MS) {
		pid_t got = waitpid(pid, ret_status, WNOHANG);

		if (got == pid || (got < 0 && errno != EINTR))
			return true;
		nap();
	}
	return false;
}

/* What the server says; a process of its own waits for the answer, since only killing it ends such a wait. */
static enum hf_life probe(const char *path, const struct hf_mount_entry *entry)
{
	int status = 0, err;
	pid_t pid = fork();

	if (pid < 0)
		return HF_LIVES;
	if (pid == 0) {
		struct statx stx;

		become_mounter(entry);
		_exit(statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_FORCE_SYNC, STATX_MTIME,
			    &stx) < 0
			      ? errno
			      : 0);
	}
	if (!wait_for(pid, PROBE_MS, &status)) {
		kill(pid, SIGKILL);
		wait_for(pid, REAP_MS, &status);
		return HF_SILENT;
	}
	err = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
	return err == ENOTCONN || err == ECONNABORTED || err == ECONNREFUSED ? HF_DEAD : HF_LIVES;
}

enum hf_life hf_dead_ask(const char *path, const struct hf_mount_entry *entry)
{
	pid_t server;
	int fd = hf_mounts_watch(entry, HF_MOUNTS_SERVER, &server);

	if (fd < 0)
		return probe(path, entry);
	/* A server that can be seen needs no question, which it may be too busy to answer. One that was killed just now
	 * may not show it yet. */
	close(fd);
	for (int looks = 0; looks < LOOKS; looks++) {
		if (server <= 0 || hf_dead_process(server))
			break;
		nap();
	}
	return server > 0 && hf_dead_process(server) ? HF_DEAD : HF_LIVES;
}

/* The file system of connections, for root where it is not mounted: without a place in the tree. */
static int open_fusectl(void)
{
	enum { CREATE = 6 }; /* FSCONFIG_CMD_CREATE */
	int tree = -1, context = (int)syscall(SYS_fsopen, "fusectl", 1);

	if (context < 0)
		return -1;
	if (syscall(SYS_fsconfig, context, CREATE, NULL, NULL, 0) == 0)
		tree = (int)syscall(SYS_fsmount, context, 1, 0);
	close(context);
	return tree;
}

/* A file of the connection of that device. */
static int open_control(dev_t dev, const char *name, int flags)
{
	char path[64];
	int fd, tree;

	snprintf(path, sizeof path, "/sys/fs/fuse/connections/%u/%s", minor(dev), name);
	fd = open(path, flags | O_CLOEXEC);
	if (fd >= 0 || errno != ENOENT || (tree = open_fusectl()) < 0)
		return fd;
	snprintf(path, sizeof path, "%u/%s", minor(dev), name);
	fd = openat(tree, path, flags | O_CLOEXEC);
	close(tree);
	return fd;
}

int hf_dead_watch(dev_t dev)
{
	return open_control(dev, "waiting", O_PATH);
}

bool hf_dead_connected(int watch)
{
	char path[64], byte;
	ssize_t n;
	int fd;

	if (watch < 0)
		return true;
	/* It can be read once, and is empty without a connection. */
	snprintf(path, sizeof path, "/proc/self/fd/%d", watch);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return true;
	n = read(fd, &byte, 1);
	close(fd);
	return n != 0;
}

int hf_dead_handle(dev_t dev)
{
	return open_control(dev, "abort", O_WRONLY);
}

void hf_dead_abort(int handle)
{
	/* Fails only if the connection is gone already. */
	if (write(handle, "1", 1) != 1)
		return;
}

int hf_dead_clear(const char *path, const struct hf_mount_entry *entry)
{
	struct hf_mount_entry now;
	int handle = -1, err;
	/* Asks the server nothing; as long as it is open, no other mount can get the number of this one. */
	int pin = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (pin >= 0 && hf_mounts_find(path, &now) && hf_mounts_is_ours(&now) && now.dev == entry->dev)
		handle = hf_dead_handle(now.dev);
	if (handle >= 0) {
		hf_dead_abort(handle);
		close(handle);
	}
	err = handle < 0 ? umount2(path, UMOUNT_NOFOLLOW | MNT_FORCE | MNT_DETACH) : -1;
	if (err)
		err = hf_mounts_detach(path, true);
	if (pin >= 0)
		close(pin);
	return err;
}

void hf_dead_clear_own(const char *path, dev_t dev)
{
	struct hf_mount_entry entry;

	if (dev ? hf_mounts_holds(path, dev, &entry)
		: hf_mounts_find(path, &entry) && hf_mounts_is_ours(&entry) && hf_dead_ask(path, &entry) == HF_DEAD)
		hf_dead_clear(path, &entry);
}
