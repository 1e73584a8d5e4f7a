/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/mounts.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Undoes the \040 of /proc/self/mountinfo in place. */
static void unescape(char *s)
{
	char *to = s;

	while (*s) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' && s[3] >= '0' &&
		    s[3] <= '7') {
			*to++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 4;
		} else {
			*to++ = *s++;
		}
	}
	*to = 0;
}

/* One line: "36 35 98:0 /root /mount/point options [tags...] - type source options" (proc(5)). */
static bool parse_line(char *line, const char *path, struct hf_mount_entry *ret_entry)
{
	unsigned major, minor;
	char *save, *point = NULL, *type, *rest, *id;
	char *dash = strstr(line, " - ");

	if (!dash)
		return false;
	*dash = 0;
	/* NOLINTNEXTLINE(cert-err34-c): these are the kernel's own numbers */
	if (sscanf(line, "%*u %*u %u:%u", &major, &minor) != 2)
		return false;
	save = line;
	for (int field = 0; field < 5; field++)
		point = strsep(&save, " ");
	if (!point)
		return false;
	unescape(point);
	if (strcmp(point, path) != 0)
		return false;
	rest = dash + 3;
	type = strsep(&rest, " ");
	*ret_entry = (struct hf_mount_entry){.dev = makedev(major, minor), .uid = (uid_t)-1, .gid = (gid_t)-1};
	snprintf(ret_entry->type, sizeof ret_entry->type, "%s", type);
	/* The options of the file system come behind its source, which may hold anything but a blank. */
	strsep(&rest, " ");
	if (rest && (id = strstr(rest, "user_id=")))
		ret_entry->uid = (uid_t)strtoul(id + 8, NULL, 10);
	if (rest && (id = strstr(rest, "group_id=")))
		ret_entry->gid = (gid_t)strtoul(id + 9, NULL, 10);
	return true;
}

void hf_mounts_read_ahead(dev_t dev, uint32_t size)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof path, "/sys/class/bdi/%u:%u/read_ahead_kb", major(dev), minor(dev));
	file = fopen(path, "we");
	if (!file)
		return;
	fprintf(file, "%u", (unsigned)(size >> 10));
	fclose(file);
}

bool hf_mounts_find(const char *path, struct hf_mount_entry *ret_entry)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t size = 0;
	bool found = false;

	if (!file)
		return false;
	/* Mounts on one place are listed from the bottom to the top. */
	while (getline(&line, &size, file) > 0)
		found |= parse_line(line, path, ret_entry);
	free(line);
	fclose(file);
	return found;
}

/* Like realpath, but never looks at the mountpoint itself, which may be dead. */
static char *resolve_mountpoint(const char *path)
{
	char *copy = strdup(path), *real = NULL, *directory, *result = NULL, *slash;
	size_t length = copy ? strlen(copy) : 0;

	/* A slash or a dot at the end would be a question to the directory. */
	while (length > 1 && (copy[length - 1] == '/' || (copy[length - 1] == '.' && copy[length - 2] == '/')))
		copy[--length] = 0;
	slash = copy ? strrchr(copy, '/') : NULL;
	if (!copy || !strcmp(copy, "/") || !strcmp(slash ? slash + 1 : copy, ".") ||
	    !strcmp(slash ? slash + 1 : copy, "..")) {
		free(copy);
		return realpath(path, NULL);
	}
	if (slash)
		*slash = 0;
	directory = !slash ? "." : slash == copy ? "/" : copy;
	real = realpath(directory, NULL);
	if (real && asprintf(&result, "%s/%s", strcmp(real, "/") ? real : "", slash ? slash + 1 : copy) < 0)
		result = NULL;
	free(real);
	free(copy);
	return result;
}

char *hf_mounts_at(const char *path, struct hf_mount_entry *ret_entry)
{
	char *found = resolve_mountpoint(path);

	if (found && !hf_mounts_find(found, ret_entry)) {
		free(found);
		found = realpath(path, NULL);
		if (found && !hf_mounts_find(found, ret_entry)) {
			free(found);
			found = NULL;
		}
	}
	return found;
}

bool hf_mounts_is_ours(const struct hf_mount_entry *entry)
{
	return !strcmp(entry->type, "fuse.hartfs");
}

bool hf_mounts_holds(const char *path, dev_t dev, struct hf_mount_entry *ret_entry)
{
	return dev && hf_mounts_find(path, ret_entry) && hf_mounts_is_ours(ret_entry) && ret_entry->dev == dev;
}

static int run_fusermount(const char *path, bool lazy)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return errno;
	if (pid == 0) {
		execlp("fusermount3", "fusermount3", "-u", lazy ? "-z" : "--", path, (char *)NULL);
		dprintf(STDERR_FILENO, "hartfs: fusermount3 cannot be run: %s\n", strerror(errno));
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

int hf_mounts_detach(const char *path, bool lazy)
{
	if (umount2(path, UMOUNT_NOFOLLOW | (lazy ? MNT_DETACH : 0)) == 0)
		return 0;
	return errno == EPERM ? run_fusermount(path, lazy) : errno;
}

static const char *const role_names[] = {[HF_MOUNTS_SUPERVISOR] = "hartfs-", [HF_MOUNTS_SERVER] = "hartfs-server-"};

/* The kernel gives the number of a mount that is gone to the next one at once, maybe long before the processes behind the
 * former have ended: of several names the newest, of either role, tells the mount there is. */
static socklen_t make_address(enum hf_mounts_role role, dev_t dev, uint64_t since, struct sockaddr_un *ret_address)
{
	int length;

	*ret_address = (struct sockaddr_un){.sun_family = AF_UNIX};
	length = snprintf(ret_address->sun_path + 1, sizeof ret_address->sun_path - 1, "%s%u:%u-%016" PRIx64,
			  role_names[role], major(dev), minor(dev), since);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

uint64_t hf_mounts_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int hf_mounts_announce(dev_t dev, uint64_t since, enum hf_mounts_role role)
{
	struct sockaddr_un address;
	const socklen_t length = make_address(role, dev, since, &address);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	/* Nobody accepts: whoever connects only looks, and waits for the end. */
	if (fd >= 0 && (bind(fd, (struct sockaddr *)&address, length) < 0 || listen(fd, SOMAXCONN) < 0)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Whether a line of /proc/net/unix is a name of either role; of which device and time then. */
static bool parse_name(const char *line, dev_t *ret_dev, uint64_t *ret_since)
{
	const char *name = strstr(line, " @");
	unsigned of[2];

	for (enum hf_mounts_role role = 0; name && role < HF_MOUNTS_ROLES; role++) {
		const size_t prefix = strlen(role_names[role]);

		if (!strncmp(name + 2, role_names[role], prefix) &&
		    /* NOLINTNEXTLINE(cert-err34-c): so few digits always fit */
		    sscanf(name + 2 + prefix, "%9u:%9u-%16" SCNx64, &of[0], &of[1], ret_since) == 3) {
			*ret_dev = makedev(of[0], of[1]);
			return true;
		}
	}
	return false;
}

/* The time of the newest name for that device from before a time. */
static bool find_time(dev_t dev, uint64_t before, uint64_t *ret_since)
{
	FILE *file = fopen("/proc/net/unix", "re");
	char *line = NULL;
	size_t size = 0;
	bool found = false;

	while (file && getline(&line, &size, file) > 0) {
		uint64_t since;
		dev_t of;

		if (!parse_name(line, &of, &since) || of != dev || since >= before || (found && since < *ret_since))
			continue;
		*ret_since = since;
		found = true;
	}
	free(line);
	if (file)
		fclose(file);
	return found;
}

static int watch_name(enum hf_mounts_role role, const struct hf_mount_entry *entry, uint64_t since, pid_t *ret_pid)
{
	struct sockaddr_un address;
	socklen_t length = make_address(role, entry->dev, since, &address);
	struct ucred peer = {0};
	socklen_t peer_size = sizeof peer;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	/* Anyone may take a free name: only who made the mount is believed. */
	if (connect(fd, (struct sockaddr *)&address, length) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) < 0 || peer.uid != entry->uid) {
		close(fd);
		return -1;
	}
	*ret_pid = peer.pid;
	return fd;
}

int hf_mounts_watch(const struct hf_mount_entry *entry, enum hf_mounts_role role, pid_t *ret_pid)
{
	uint64_t since = UINT64_MAX;
	bool known = false;
	int fd = -1;

	while (!known && find_time(entry->dev, since, &since)) {
		for (enum hf_mounts_role r = 0; r < HF_MOUNTS_ROLES; r++) {
			pid_t pid;
			int name_fd = watch_name(r, entry, since, &pid);

			known |= name_fd >= 0;
			if (r == role && name_fd >= 0) {
				*ret_pid = pid;
				fd = name_fd;
			} else if (name_fd >= 0) {
				close(name_fd);
			}
		}
	}
	return fd;
}

bool hf_mounts_wait_gone(int fd, int seconds)
{
	struct pollfd poller = {.fd = fd, .events = POLLIN};
	int ready;

	do
		ready = poll(&poller, 1, seconds * 1000);
	while (ready < 0 && errno == EINTR);
	return ready > 0;
}
