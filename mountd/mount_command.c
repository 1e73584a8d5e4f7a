/* SPDX-License-Identifier: Apache-2.0 */
/* hartfs mount and hartfs umount, up to where processes start: everything that can be wrong is said here, in a line. */
#include "index/base/libc.h"
#include "mountd/commands.h"
#include "mountd/daemon.h"
#include "mountd/dead.h"
#include "mountd/log.h"
#include "mountd/paths.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Whether path is directory or lies beneath it; both without links and dots. */
static bool is_beneath(const char *path, const char *directory)
{
	size_t length = strlen(directory);

	if (length == 1)
		return true;
	return !strncmp(path, directory, length) && (path[length] == 0 || path[length] == '/');
}

static bool complain(const char *path, const char *what)
{
	hf_say(stderr, "hartfs mount: %s: %s", path, what);
	return false;
}

static bool open_archive(struct hf_plan *plan, const char *path)
{
	plan->archive = realpath(path, NULL);
	if (!plan->archive)
		return complain(path, errno == ENOENT ? "there is no such archive" : strerror(errno));
	plan->archive_fd = open(plan->archive, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (plan->archive_fd < 0)
		return complain(path, errno == ENOTDIR ? "the archive is not a directory" : strerror(errno));
	return true;
}

static bool open_debug_dir(struct hf_plan *plan)
{
	const char *path = plan->settings->debug_dir;

	if (!path)
		return true;
	plan->debug_fd = hf_paths_open_debug_dir(path, &plan->debug_path);
	return plan->debug_fd >= 0;
}

/* As hf_dead_clear. */
static int clear_dead(const struct hf_settings *settings, const char *place, const struct hf_mount_entry *entry)
{
	pid_t supervisor;
	int watch, err;
	bool gone;

	if (geteuid() != 0 && entry->uid != getuid()) {
		complain(place, "a dead mount of another user is in the way");
		return -1;
	}
	/* One that lives does so itself, and must not take the next mount for its own. */
	watch = hf_mounts_watch(entry, HF_MOUNTS_SUPERVISOR, &supervisor);
	gone = watch >= 0 && hf_mounts_wait_gone(watch, 30);
	if (watch >= 0)
		close(watch);
	if (gone)
		return 0;
	err = hf_dead_clear(place, entry);
	if (!err && settings->verbosity >= 0)
		complain(place, "a dead mount was removed");
	return err;
}

/* Whether what was found at place is gone: the supervisor of a server that died takes it away at any moment. */
static bool is_gone(const char *place, const struct hf_mount_entry *entry)
{
	struct hf_mount_entry now;

	return !hf_mounts_holds(place, entry->dev, &now);
}

/*
 * Takes dead mounts of ours away, however many there are on that place; false if there is something that is not to be
 * taken away. Asks a mountpoint nothing before it is known to answer.
 */
static bool make_way(const struct hf_settings *settings, const char *path)
{
	struct hf_mount_entry entry;
	char *place;

	while ((place = hf_mounts_at(path, &entry)) && hf_mounts_is_ours(&entry)) {
		enum hf_life life = hf_dead_ask(place, &entry);
		int err = 0;

		if (life != HF_DEAD && is_gone(place, &entry))
			life = HF_DEAD;
		else if (life == HF_LIVES)
			complain(path, "hartfs is mounted there already");
		else if (life == HF_SILENT)
			complain(path, "hartfs is mounted there already, but does not answer: remove it with 'hartfs "
				       "umount --lazy'");
		else
			err = clear_dead(settings, place, &entry);
		if (err > 0 && is_gone(place, &entry))
			err = 0;
		if (err > 0)
			complain(path, strerror(err));
		free(place);
		if (life != HF_DEAD || err)
			return false;
	}
	free(place);
	return true;
}

static bool check_mountpoint(struct hf_plan *plan, const char *path)
{
	struct stat st;

	if (!make_way(plan->settings, path))
		return false;
	plan->mountpoint = realpath(path, NULL);
	if (!plan->mountpoint || stat(plan->mountpoint, &st) < 0) {
		if (errno == ENOENT)
			return complain(path, "there is no such mountpoint; mkdir makes it");
		if (errno == ENOTCONN)
			return complain(path, "a dead mount, and not one of hartfs, is in the way: remove it with 'umount'");
		return complain(path, strerror(errno));
	}
	if (!S_ISDIR(st.st_mode))
		return complain(path, "the mountpoint is not a directory");
	if (is_beneath(plan->archive, plan->mountpoint))
		return complain(path, "the mount would hide its own archive");
	plan->skip[plan->skip_count++] = (struct hf_fs_place){.dev = st.st_dev, .ino = st.st_ino};
	return true;
}

/* Said at once, to whoever mounts; what then fails goes to the log. */
static void look_at_index(const struct hf_plan *plan)
{
	struct statvfs fs;
	int errnum = 0;

	if (faccessat(plan->index_fd, ".", W_OK | X_OK, AT_EACCESS) < 0)
		errnum = errno;
	else if (fstatvfs(plan->index_fd, &fs) == 0 && fs.f_blocks && !fs.f_bavail)
		errnum = ENOSPC;
	if (errnum)
		hf_log(4, "index directory %s: %s: what is not indexed there is indexed in memory", plan->index_path,
		       strerror(errnum));
}

static bool open_index(struct hf_plan *plan)
{
	struct hf_index_place place;
	char path[64], real[PATH_MAX];
	struct stat st;
	ssize_t n;

	if (!hf_paths_open_index(plan->settings, &place))
		return false;
	plan->index_fd = place.fd;
	plan->index_error = place.errnum;
	plan->index_path = place.path;
	/* The server says that it does without. */
	if (place.fd < 0)
		return true;
	if (fstat(plan->index_fd, &st) < 0)
		return complain("index directory", strerror(errno));
	snprintf(path, sizeof path, "/proc/self/fd/%d", plan->index_fd);
	n = readlink(path, real, sizeof real - 1);
	if (n > 0) {
		real[n] = 0;
		if (is_beneath(real, plan->mountpoint))
			return complain(plan->mountpoint, "the mount would hide its own index directory");
	}
	plan->skip[plan->skip_count++] = (struct hf_fs_place){.dev = st.st_dev, .ino = st.st_ino};
	look_at_index(plan);
	return true;
}

static bool check_fuse(void)
{
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char text[160];

	if (fd >= 0) {
		close(fd);
		return true;
	}
	if (errno == EACCES || errno == EPERM)
		return complain("/dev/fuse", "this user may not open it: its mode should be 0666 for ordinary users to "
					     "mount");
	if (errno == ENOENT || errno == ENODEV)
		return complain("/dev/fuse", "this system has no FUSE: try 'modprobe fuse', or give the container the "
					     "device");
	snprintf(text, sizeof text, "cannot be opened: %s", strerror(errno));
	return complain("/dev/fuse", text);
}

static char *absolute_path(const char *path)
{
	char *here = *path == '/' ? NULL : getcwd(NULL, 0), *result = NULL;

	if (*path == '/')
		return strdup(path);
	if (here && asprintf(&result, "%s/%s", here, path) < 0)
		result = NULL;
	free(here);
	return result;
}

static bool open_log(struct hf_plan *plan)
{
	const char *path = plan->settings->log_file;

	plan->log_fd = -1;
	/* It is opened again when the process is elsewhere. */
	if (path && !(plan->log_path = absolute_path(path)))
		return complain(path, strerror(errno));
	if (path)
		plan->log_fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (path && plan->log_fd < 0)
		return complain(path, strerror(errno));
	if (path)
		hf_log_open(HF_LOG_FILE, plan->log_fd);
	else if (!plan->settings->foreground)
		hf_log_open(HF_LOG_SYSLOG, -1);
	plan->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	return plan->null_fd >= 0 || complain("/dev/null", strerror(errno));
}

/* Within the archive a mountpoint is left out, or looking there would be a question to the mount itself. */
static void tell_hidden(const struct hf_plan *plan)
{
	const struct dirent *entry = NULL;
	DIR *dir = is_beneath(plan->mountpoint, plan->archive) ? opendir(plan->mountpoint) : NULL;

	while (dir && (entry = readdir(dir)) && (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")))
		;
	if (entry)
		hf_log(4, "%s lies within the archive and is not empty: the mount hides what is there, and shows none of it",
		       plan->mountpoint);
	if (dir)
		closedir(dir);
}

int hf_command_mount(const struct hf_settings *settings)
{
	struct hf_plan plan = {.settings = settings, .archive_fd = -1, .index_fd = -1};
	int status = HF_EXIT_FAILURE;

	if (settings->operand_count != 2)
		return hf_settings_usage(settings, "an archive and a mountpoint are needed");
	/* A daemon outlives whoever left it descriptors: pipes would never end, locks never go. */
	if (!settings->foreground)
		close_range(STDERR_FILENO + 1, ~0u, 0);
	if (open_archive(&plan, settings->operands[0]) && check_mountpoint(&plan, settings->operands[1]) &&
	    check_fuse() && open_index(&plan) && open_debug_dir(&plan) && open_log(&plan)) {
		tell_hidden(&plan);
		status = hf_daemon_run(&plan);
	}
	free(plan.archive);
	free(plan.mountpoint);
	free(plan.index_path);
	free(plan.debug_path);
	free(plan.log_path);
	return status;
}

/* Until both processes of a mount have ended. A supervisor ends after its server, unless it is killed. One that was killed
 * ends at once or, stuck somewhere in the kernel, nobody knows when: false. One that lives may wait for a slow disk.
 * watches: by role, -1 for one that is not there; all are closed. */
static bool wait_gone(const char *path, const int *watches, bool killed)
{
	bool gone = true, said = killed;

	for (int role = 0; role < HF_MOUNTS_ROLES; role++) {
		if (watches[role] < 0)
			continue;
		gone = gone && hf_mounts_wait_gone(watches[role], 5);
		if (!gone && !said)
			hf_say(stderr, "hartfs umount: %s: unmounted; waiting for the server to end", path);
		said |= !gone;
		gone = gone || (!killed && hf_mounts_wait_gone(watches[role], -1));
		close(watches[role]);
	}
	return gone;
}

static void explain_umount(const char *path, int err, enum hf_life life)
{
	const char *why = strerror(err);

	if (life == HF_SILENT)
		why = "it does not answer (--lazy detaches it all the same)";
	else if (err == EBUSY)
		why = "in use (--lazy detaches it all the same)";
	hf_say(stderr, "hartfs umount: %s: %s", path, why);
}

static int umount_one(const struct hf_settings *settings, const char *path)
{
	struct hf_mount_entry entry;
	char *mountpoint = hf_mounts_at(path, &entry);
	enum hf_life life;
	int err, watches[HF_MOUNTS_ROLES];
	pid_t pid;

	if (!mountpoint || !hf_mounts_is_ours(&entry)) {
		if (settings->verbosity >= 0)
			hf_say(stderr, "hartfs umount: %s: hartfs is not mounted there", path);
		free(mountpoint);
		return HF_EXIT_FAILURE;
	}
	for (int role = 0; role < HF_MOUNTS_ROLES; role++)
		watches[role] = hf_mounts_watch(&entry, role, &pid);
	life = hf_dead_ask(mountpoint, &entry);
	if (life == HF_DEAD || (life == HF_SILENT && settings->lazy))
		err = hf_dead_clear(mountpoint, &entry);
	else
		err = hf_mounts_detach(mountpoint, settings->lazy);
	if (err > 0 && is_gone(mountpoint, &entry))
		err = 0;
	free(mountpoint);
	if (err) {
		if (err > 0)
			explain_umount(path, err, life);
		return HF_EXIT_FAILURE;
	}
	if (!settings->lazy && !wait_gone(path, watches, life == HF_DEAD)) {
		hf_say(stderr, "hartfs umount: %s: unmounted, but the server is still running", path);
		return HF_EXIT_FAILURE;
	}
	return HF_EXIT_OK;
}

int hf_command_umount(const struct hf_settings *settings)
{
	int status = HF_EXIT_OK;

	if (settings->operand_count == 0)
		return hf_settings_usage(settings, "a mountpoint is needed");
	for (int i = 0; i < settings->operand_count; i++)
		if (umount_one(settings, settings->operands[i]))
			status = HF_EXIT_FAILURE;
	return status;
}
