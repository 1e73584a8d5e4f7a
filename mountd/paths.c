/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/paths.h"

#include "fs/locate.h"
#include "mountd/confine.h"
#include "mountd/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int make_one(const char *path, mode_t mode)
{
	return mkdir(path, mode) < 0 && errno != EEXIST ? errno : 0;
}

int hf_paths_make(const char *path, mode_t mode)
{
	char *part = strdup(path);
	int err = !part ? ENOMEM : *part ? 0 : ENOENT;

	for (char *slash = part; !err && (slash = strchr(slash + 1, '/'));) {
		*slash = 0;
		err = make_one(part, mode);
		*slash = '/';
	}
	if (!err)
		err = make_one(part, mode);
	free(part);
	return err;
}

static char *default_index_dir(void)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *path = NULL;
	int n;

	if (cache && *cache == '/')
		n = asprintf(&path, "%s/hartfs", cache);
	else if (home && *home == '/')
		n = asprintf(&path, "%s/.cache/hartfs", home);
	else
		n = asprintf(&path, "/var/cache/hartfs"); /* started by the system, from fstab for one */
	return n < 0 ? NULL : path;
}

/* Nothing will ever be there, whatever becomes of the disk. */
static bool is_wrong_name(int errnum)
{
	return errnum == ENOTDIR || errnum == ENAMETOOLONG || errnum == ELOOP || errnum == EINVAL || errnum == ENOENT;
}

static void complain_of_index(const struct hf_index_place *place)
{
	hf_say(stderr, "hartfs: %s: the index directory cannot be used: %s", place->path ? place->path : "",
		strerror(place->errnum));
}

/* What is made for a group gets its right whatever the umask says; only a setgid directory gives files its group. */
static bool may_be_a_teams(const struct hf_settings *settings, const struct hf_index_place *place)
{
	struct stat st;

	if (!settings->sharing.publish || place->fd < 0)
		return true;
	umask(umask(077) & ~(mode_t)S_IRGRP);
	if (fstat(place->fd, &st) == 0 && st.st_mode & S_ISGID)
		return true;
	hf_say(stderr, "hartfs: --index-mode=group: %s is no setgid directory: chgrp GROUP and chmod 2770 make it one", place->path);
	return false;
}

bool hf_paths_open_index(const struct hf_settings *settings, struct hf_index_place *ret_place)
{
	struct hf_index_place *place = ret_place;

	*place = (struct hf_index_place){.fd = -1, .errnum = ENOMEM};
	place->path = settings->index_dir ? strdup(settings->index_dir) : default_index_dir();
	if (place->path) {
		place->fd = open(place->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		place->errnum = place->fd < 0 ? errno : 0;
	}
	if (place->path && place->errnum == ENOENT) {
		place->errnum = hf_paths_make(place->path, 0700);
		if (!place->errnum)
			place->fd = open(place->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (!place->errnum && place->fd < 0)
			place->errnum = errno;
	}
	if (!place->path || (settings->index_dir && is_wrong_name(place->errnum))) {
		complain_of_index(place);
		free(place->path);
		place->path = NULL;
		return false;
	}
	if (may_be_a_teams(settings, place))
		return true;
	close(place->fd);
	free(place->path);
	*place = (struct hf_index_place){.fd = -1};
	return false;
}

int hf_paths_need_index(const struct hf_settings *settings)
{
	struct hf_index_place place;

	if (!hf_paths_open_index(settings, &place))
		return -1;
	if (place.fd < 0)
		complain_of_index(&place);
	free(place.path);
	return place.fd;
}

int hf_paths_open_debug_dir(const char *path, char **ret_path)
{
	int fd = -1;

	*ret_path = realpath(path, NULL);
	if (*ret_path)
		fd = open(*ret_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	hf_say(stderr, "hartfs: %s: the directory of debug files cannot be used: %s", path, strerror(errno));
	free(*ret_path);
	*ret_path = NULL;
	return -1;
}

/* Indexing has no use without a directory to write to; all else can do without. */
static bool open_own_index(const struct hf_settings *settings, struct hf_index_place *ret_index)
{
	if (!hf_paths_open_index(settings, ret_index))
		return false;
	if (ret_index->fd >= 0 || settings->command != HF_COMMAND_INDEX)
		return true;
	complain_of_index(ret_index);
	return false;
}

bool hf_opened_open(const struct hf_settings *settings, const char *directory, struct hf_opened *ret_archive)
{
	struct hf_opened archive = {.archive_fd = -1, .index.fd = -1, .debug_fd = -1};
	bool ok = false;

	archive.archive_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (archive.archive_fd < 0)
		hf_say(stderr, "hartfs: %s: %s", directory, strerror(errno));
	else
		ok = open_own_index(settings, &archive.index);
	if (ok && settings->debug_dir) {
		archive.debug_fd = hf_paths_open_debug_dir(settings->debug_dir, &archive.debug_path);
		ok = archive.debug_fd >= 0;
	}
	archive.directory = hf_got(strdup(directory));
	archive.real = realpath(directory, NULL);
	*ret_archive = archive;
	if (ok && archive.directory)
		return true;
	hf_opened_close(ret_archive);
	return false;
}

bool hf_opened_confine(const struct hf_settings *settings, const struct hf_opened *archives, size_t count)
{
	struct hf_sandbox_places places = {.read_count = count, .write = -1};
	int *fds = hf_got(calloc(count + 1, sizeof *fds));
	bool ok = false;

	if (!hf_load_disassembler()) {
		free(fds);
		return false;
	}
	for (size_t i = 0; fds && i < count; i++) {
		fds[i] = archives[i].archive_fd;
		/* Of all of them the same directories. */
		places.write = archives[i].index.fd;
		fds[count] = archives[i].debug_fd;
	}
	if (fds && count && fds[count] >= 0)
		places.read_count++;
	places.read = fds;
	if (fds)
		ok = hf_confine(settings, &places);
	free(fds);
	return ok;
}

struct hartfs_archive *hf_opened_start(const struct hf_settings *settings, struct hf_opened *opened, bool catalogue,
				       const struct hf_stop *stop)
{
	struct hartfs_options options = HARTFS_OPTIONS_INIT;
	struct hartfs_archive *archive;
	struct hartfs_diag diag;

	options.archive = catalogue ? opened->real : NULL;
	options.archive_fd = opened->archive_fd;
	options.index = opened->index.path;
	options.index_fd = opened->index.fd;
	options.index_error = opened->index.errnum;
	options.debug_dir = opened->debug_path;
	options.debug_fd = opened->debug_fd;
	options.index_on_disk = settings->command == HF_COMMAND_INDEX;
	options.pack_below = settings->pack_below;
	options.summary = settings->summary;
	options.summary_of_indexed = settings->command == HF_COMMAND_INDEX;
	options.all_checksums = settings->all_checksums;
	options.index_for_group = settings->sharing.publish;
	options.trusts_group = settings->sharing.trust;
	options.trusted_group = settings->sharing.trusted;
	options.cache_bytes = settings->cache;
	options.stream_memory = settings->stream_memory;
	options.expansion = settings->expansion;
	options.chunk = settings->chunk;
	options.threads = settings->threads;
	options.index_threads = settings->jobs;
	options.views = settings->views;
	options.params = settings->params;
	options.log = hf_log_line;
	options.stop = stop ? stop->wanted : NULL;
	options.stop_ctx = stop ? stop->ctx : NULL;
	opened->archive_fd = opened->index.fd = opened->debug_fd = -1;
	if (hartfs_open(&options, &archive, &diag))
		hf_paths_complain("", opened->directory, &diag);
	return archive;
}

void hf_opened_close(struct hf_opened *archive)
{
	if (archive->archive_fd >= 0)
		close(archive->archive_fd);
	if (archive->index.fd >= 0)
		close(archive->index.fd);
	if (archive->debug_fd >= 0)
		close(archive->debug_fd);
	free(archive->debug_path);
	free(archive->index.path);
	free(archive->directory);
	free(archive->real);
	*archive = (struct hf_opened){.archive_fd = -1, .index.fd = -1, .debug_fd = -1};
}

/* What hf_fs_reach is asked, in a process that reads nothing else, for nobody vouches for a description. */
struct reach {
	int fd;
	const char *ini;
};

static void find_reach(void *ctx, void *result)
{
	const struct reach *reach = ctx;
	unsigned *levels = result;

	*levels = hf_fs_reach(reach->fd, reach->ini);
}

static unsigned reach_confined(void *ctx, int dir_fd, const char *ini)
{
	const struct hf_settings *settings = ctx;
	struct reach reach = {dir_fd, ini};
	unsigned levels = 0;

	return hf_confine_call(settings, dir_fd, find_reach, &reach, &levels, sizeof levels) ? levels : 0;
}

bool hf_paths_split(const struct hf_settings *settings, const char *path, bool as_capture, char **ret_directory,
		    char **ret_name)
{
	return hf_locate(path, as_capture, reach_confined, (void *)settings, ret_directory, ret_name);
}

void hf_paths_complain(const char *command, const char *shown, const struct hartfs_diag *diag)
{
	hf_say(stderr, "hartfs%s%s: %s: %s", *command ? " " : "", command, shown, diag->text);
}

void hf_paths_warn(const char *command, const char *shown, struct hf_fs *fs, const char *path)
{
	struct hf_fs_ls_line line;

	if (!hf_fs_ls_line(fs, path, &line) && line.state == HF_FS_INDEXED && line.problems)
		hf_say(stderr, "hartfs %s: %s: it has %llu problem%s: answers may be wrong; errors.txt says where",
		       command, shown, (unsigned long long)line.problems, line.problems == 1 ? "" : "s");
}

void hf_paths_explain_capture(const char *command, const char *shown, struct hf_fs *fs, const char *path, int err,
			      const struct hf_diag *diag)
{
	struct hartfs_diag all;

	hf_library_fail(fs, path, err, diag, &all);
	hf_paths_complain(command, shown, &all);
}

void hf_paths_no_capture(const char *command, const char *shown)
{
	hf_say(stderr,
	       "hartfs %s: %s: there is no capture in it; a dump of packets needs a description beside it (hartfs help capture)",
	       command, shown);
}

void hf_paths_explain(const char *command, const char *path, int err, const struct hf_diag *diag)
{
	hf_paths_explain_capture(command, path, NULL, NULL, err, diag);
}
