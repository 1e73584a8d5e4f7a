/* SPDX-License-Identifier: Apache-2.0 */
/* hartfs wait: until captures of a mount are indexed, asked as any program can: by names and extended attributes. */
#include "mountd/commands.h"
#include "mountd/log.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#define FUSE_MAGIC 0x65735546

/* Between two looks; the server itself lets a look wait for a second or two. */
#define NAP_NS 20000000L

struct waiting {
	const struct hf_settings *settings;
	size_t good, failed;
	bool no_index_dir;
};

__attribute__((format(printf, 2, 3))) static void fail(struct waiting *w, const char *format, ...)
{
	char text[2 * PATH_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	w->failed++;
	if (w->settings->verbosity > -2)
		hf_say(stderr, "hartfs wait: %s", text);
}

/* An attribute of a view or of its directory; false if it has none of that name. */
static bool get(const char *path, const char *name, char *buf, size_t size)
{
	char full[64];
	ssize_t n;

	snprintf(full, sizeof full, "user.hartfs.%s", name);
	n = getxattr(path, full, buf, size - 1);
	if (n < 0)
		return false;
	buf[n] = 0;
	return true;
}

static bool is_view(const char *path)
{
	char state[64];

	return get(path, "state", state, sizeof state);
}

/* Makes the server index that capture before others. */
static void hurry(const char *views)
{
	char path[PATH_MAX];
	struct stat st;

	if (snprintf(path, sizeof path, "%s/errors.txt", views) < (int)sizeof path)
		(void)!stat(path, &st);
}

/* A directory of views, or something in it. */
static void wait_for(struct waiting *w, const char *views)
{
	char state[64], why[4096];

	for (;;) {
		hurry(views);
		if (!get(views, "state", state, sizeof state)) {
			fail(w, "%s: %s", views, errno == ENODATA ? "it is gone" : strerror(errno));
			return;
		}
		if (!strcmp(state, "ready") || !strcmp(state, "failed"))
			break;
		if (!strcmp(state, "waiting")) {
			w->no_index_dir = true;
			fail(w, "%s: it waits for the index directory, see info.json there", views);
			return;
		}
		nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
	}
	if (get(views, "error", why, sizeof why))
		fail(w, "%s: %s", views, why);
	else
		w->good++;
}

/* dir/name, to be freed. */
static char *join(const char *dir, const char *name)
{
	const size_t n = strlen(dir);
	char *path;

	return asprintf(&path, "%s%s%s", dir, n && dir[n - 1] != '/' ? "/" : "", name) < 0 ? NULL : path;
}

/* The part of path that its last component stands in, to be freed; *ret_base is that component. */
static char *parent_of(char *path, const char **ret_base)
{
	char *slash;

	for (size_t n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
		path[n - 1] = 0;
	slash = strrchr(path, '/');
	*ret_base = slash ? slash + 1 : path;
	return !slash ? strdup(".") : strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/* Whether a directory is that of the views of the capture called base: its name begins alike, and it says so. */
static bool is_of(const char *path, const char *name, const char *base)
{
	const size_t alike = strcspn(name, "@~");
	char capture[PATH_MAX];
	const char *slash;

	if (!name[alike] || strncmp(name, base, alike) != 0 || !get(path, "capture", capture, sizeof capture))
		return false;
	slash = strrchr(capture, '/');
	return strcmp(slash ? slash + 1 : capture, base) == 0;
}

/* The directory of views beside a capture, to be freed; NULL: there is none. */
static char *find_beside(const char *dir, const char *base)
{
	DIR *stream = opendir(dir);
	struct dirent *entry;
	char *found = NULL;

	while (stream && !found && (entry = readdir(stream))) {
		found = join(dir, entry->d_name);
		if (found && !is_of(found, entry->d_name, base)) {
			free(found);
			found = NULL;
		}
	}
	if (stream)
		closedir(stream);
	return found;
}

/* All captures below a directory. */
static void wait_below(struct waiting *w, const char *dir)
{
	DIR *stream = opendir(dir);
	struct dirent *entry;

	if (!stream) {
		fail(w, "%s: %s", dir, strerror(errno));
		return;
	}
	while ((entry = readdir(stream))) {
		char *path = entry->d_type == DT_DIR && strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0
				     ? join(dir, entry->d_name)
				     : NULL;

		if (path && is_view(path))
			wait_for(w, path);
		else if (path)
			wait_below(w, path);
		free(path);
	}
	closedir(stream);
}

/* A capture, or a directory with some. */
static void wait_plain(struct waiting *w, const char *path, const struct stat *st)
{
	const size_t before = w->good + w->failed;
	char *copy = strdup(path), *dir, *views;
	struct statfs fs;
	struct stat above;
	const char *base;

	if (!copy || statfs(path, &fs) < 0 || (unsigned long)fs.f_type != FUSE_MAGIC) {
		fail(w, "%s: this is not in a mount of hartfs (hartfs index is for archives)", path);
		free(copy);
		return;
	}
	dir = parent_of(copy, &base);
	views = dir && stat(dir, &above) == 0 && above.st_dev == st->st_dev ? find_beside(dir, base) : NULL;
	if (views)
		wait_for(w, views);
	else if (S_ISDIR(st->st_mode))
		wait_below(w, path);
	else
		fail(w, "%s: this is not a capture", path);
	if (w->good + w->failed == before)
		fail(w, "%s: there is no capture in it", path);
	free(views);
	free(dir);
	free(copy);
}

/* What is not there yet: a view of a capture that is not indexed. */
static void wait_absent(struct waiting *w, const char *path)
{
	const int why = errno;
	const size_t good = w->good;
	char *part = strdup(path);
	const char *base = part;
	struct stat st;

	while (part && *base && stat(part, &st) < 0) {
		char *above = parent_of(part, &base);
		const bool top = above && strcmp(above, part) == 0;

		free(part);
		part = above;
		base = top ? "" : "x";
	}
	if (!part || !is_view(part)) {
		fail(w, "%s: %s", path, strerror(why));
	} else {
		wait_for(w, part);
		if (w->good > good && stat(path, &st) < 0) {
			w->good--;
			fail(w, "%s: %s", path, strerror(errno));
		}
	}
	free(part);
}

static void wait_path(struct waiting *w, const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		wait_absent(w, path);
	else if (is_view(path))
		wait_for(w, path);
	else
		wait_plain(w, path, &st);
}

int hf_command_wait(const struct hf_settings *settings)
{
	struct waiting w = {.settings = settings};

	if (settings->operand_count == 0)
		return hf_settings_usage(settings, "a path in a mount is needed");
	for (int i = 0; i < settings->operand_count; i++)
		wait_path(&w, settings->operands[i]);
	if (w.no_index_dir)
		return HF_EXIT_INDEX_DIR;
	return !w.failed ? HF_EXIT_OK : w.good ? HF_EXIT_SOME : HF_EXIT_FAILURE;
}
