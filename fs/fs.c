/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and closing, and what the command line needs beyond the calls of a mount. */
#include "fs/tree/tree.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define CACHE_DEFAULT (UINT64_C(256) << 20)

void hf_fs_log(struct hf_fs *fs, int level, const char *format, ...)
{
	char line[HF_LOG_LINE_SIZE];
	va_list args;

	if (!fs->options.log)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof line, format, args);
	va_end(args);
	fs->options.log(fs->options.log_ctx, level, line);
}

struct hf_exec *hf_fs_exec(struct hf_fs *fs)
{
	return fs->exec;
}

int64_t hf_fs_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int hf_fs_libraries(char *buf, size_t size)
{
	return hf_index_libraries(buf, size);
}

static int add_root(struct hf_fs *fs)
{
	struct hf_node_key key = {.kind = HF_NODE_PLAIN, .type = S_IFDIR, .path = ""};
	struct hf_node *root;

	return hf_node_get(&fs->nodes, &key, &root);
}

static int read_params(struct hf_fs *fs, const char *given)
{
	char *params, why[256];
	int err = hf_params_read(&fs->archive, given, &params, &fs->params_access.read, why, sizeof why);

	if (err) {
		hf_fs_log(fs, 3, "view parameters: %s", why);
		return err;
	}
	if (fs->params_access.read.some && !hf_access_is_everybody(&fs->params_access.read) && !fs->options.no_index)
		hf_fs_log(fs, 5, HF_PARAMS_FILE ": not everybody may read it: nor are the views for everybody");
	err = hf_views_init(fs, params);
	free(params);
	return err;
}

static bool is_stopping(void *ctx)
{
	return hf_fs_stopping(ctx);
}

static int start(struct hf_fs *fs)
{
	int err = hf_nodes_init(&fs->nodes);

	if (!err)
		err = add_root(fs);
	if (!err)
		err = hf_cache_new(fs->options.cache_bytes, &fs->cache);
	if (!err) {
		hf_opens_limit(&fs->opens, fs->cache, fs->descriptors.opens);
		fs->executables.cache = fs->cache;
	}
	return err;
}

static int open_index_dir(struct hf_fs *fs, const struct hf_fs_options *options)
{
	const uint64_t memory = options->index_on_disk ? 0 : fs->options.cache_bytes / 2;
	int err = hf_index_dir_init(fs, options->index_fd, options->index_path, memory, options->index_error);

	fs->index_fd = options->index_fd;
	/* Without a directory all of it is in memory, but for what may be large. */
	if (fs->index_fd < 0)
		fs->options.spool_bytes = 0;
	if (fs->index_fd < 0 && fs->index_dir.memdir)
		fs->index_fd = hf_memdir_fd(fs->index_dir.memdir);
	return err;
}

static int start_exec(struct hf_fs *fs)
{
	const unsigned cores = hf_exec_cores(), builds = (unsigned)fs->descriptors.builds;
	struct hf_exec_limits limits = {.no_nice = fs->options.no_index, .seats = {
		[HF_WORK_DECODE] = fs->options.threads ? fs->options.threads : cores,
		[HF_WORK_SERVE] = 4,
		[HF_WORK_HELP] = 64,
		[HF_WORK_SPOOL] = 1,
		[HF_WORK_CHORE] = 4,
	}};

	fs->index_threads = fs->options.index_threads ? fs->options.index_threads : cores;
	/* Captures that are being indexed hold descriptors, and go on holding them when they are put aside. */
	limits.seats[HF_WORK_INDEX] = fs->index_threads < builds ? fs->index_threads : builds;
	limits.paused = builds < HF_PAUSED_MAX ? builds : HF_PAUSED_MAX;
	return hf_exec_new(&limits, &fs->exec);
}

int hf_fs_open(const struct hf_fs_options *options, struct hf_fs **ret_fs, struct hf_diag *diag)
{
	struct hf_fs *fs = calloc(1, sizeof *fs);
	int err;

	*ret_fs = NULL;
	if (!fs) {
		close(options->archive_fd);
		if (options->index_fd >= 0)
			close(options->index_fd);
		return hf_diag_set(diag, HF_ERR_NOMEM, HF_SPACE_FILE, HF_NOWHERE, 0);
	}
	fs->options = *options;
	if (!fs->options.cache_bytes)
		fs->options.cache_bytes = CACHE_DEFAULT;
	fs->limits = hf_chunk_limits_default;
	if (options->chunk_insns)
		fs->limits.insns = options->chunk_insns;
	hf_views_choose(fs, options->views);
	fs->options.views = fs->options.params = NULL;
	fs->options.skip = NULL;
	fs->options.archive_path = fs->options.index_path = NULL;
	fs->uid = geteuid();
	fs->gid = getegid();
	clock_gettime(CLOCK_REALTIME, &fs->started);
	pthread_mutex_init(&fs->params_access.lock, NULL);
	atomic_init(&fs->closing, false);
	hf_descriptors_init(&fs->descriptors);
	hf_held_init(&fs->held, &fs->archive, fs->descriptors.held);
	hf_kepts_init(&fs->kepts);
	fs->stop = (struct hf_stop){.wanted = is_stopping, .ctx = fs};
	hf_opens_init(&fs->opens);
	hf_slices_init(&fs->slices);
	hf_executables_init(&fs->executables);
	hf_control_init(&fs->control);
	hf_jobs_init(fs);
	err = hf_archive_init(&fs->archive, options->archive_fd, options->skip, options->skip_count);
	if (start_exec(fs) && !err)
		err = HF_ERR_NOMEM;
	fs->archive.make_room = hf_descriptors_make_room;
	fs->archive.ctx = fs;
	if (open_index_dir(fs, options) && !err)
		err = HF_ERR_NOMEM;
	fs->archive.stop = &fs->stop;
	if (hf_captures_init(&fs->captures) && !err)
		err = HF_ERR_NOMEM;
	if (!err)
		err = read_params(fs, options->params);
	if (!err)
		err = start(fs);
	hf_memory_init(fs, err || options->index_fd < 0 ? NULL : options->archive_path);
	if (err) {
		hf_fs_close(fs);
		return hf_diag_set(diag, err, HF_SPACE_FILE, HF_NOWHERE, 0);
	}
	*ret_fs = fs;
	return 0;
}

static void wake_waiters(void *ctx, struct hf_capture *capture)
{
	(void)ctx;
	pthread_mutex_lock(&capture->lock);
	pthread_cond_broadcast(&capture->changed);
	pthread_mutex_unlock(&capture->lock);
}

void hf_fs_stop(struct hf_fs *fs)
{
	fs->closing = true;
	if (fs->exec)
		hf_exec_wake(fs->exec);
	if (fs->captures.bucket)
		hf_captures_each(&fs->captures, wake_waiters, NULL);
}

void hf_fs_close(struct hf_fs *fs)
{
	hf_fs_stop(fs);
	hf_slices_stop(&fs->slices);
	hf_index_dir_stop(&fs->index_dir);
	hf_jobs_stop(fs);
	if (fs->exec)
		hf_exec_stop(fs->exec);
	hf_opens_fini(&fs->opens);
	hf_slices_fini(&fs->slices, fs->cache);
	hf_executables_fini(&fs->executables);
	if (fs->cache)
		hf_cache_free(fs->cache);
	hf_memory_fini(fs);
	hf_jobs_fini(fs);
	hf_nodes_fini(&fs->nodes);
	hf_captures_fini(&fs->captures);
	hf_control_fini(&fs->control);
	hf_held_fini(&fs->held);
	hf_kepts_fini(&fs->kepts);
	hf_descriptors_fini(&fs->descriptors);
	hf_archive_fini(&fs->archive);
	pthread_mutex_destroy(&fs->params_access.lock);
	hf_views_fini(fs);
	hf_index_dir_fini(&fs->index_dir);
	if (fs->options.index_fd >= 0)
		close(fs->options.index_fd);
	hf_exec_free(fs->exec);
	free(fs);
}

int hf_fs_resolve(struct hf_fs *fs, const char *path, uint64_t *ret_ino)
{
	uint64_t ino = HF_FS_ROOT;
	struct hf_attr attr;
	int err = hf_fs_getattr(fs, ino, &attr);

	/* The caller's reference; the root keeps its own whatever is given back. */
	while (!err && *path) {
		char name[NAME_MAX + 1];
		size_t len = strcspn(path, "/");

		if (len > NAME_MAX) {
			err = HF_ERR_PATH_LENGTH;
		} else if (len && !(len == 1 && *path == '.')) {
			memcpy(name, path, len);
			name[len] = '\0';
			err = hf_fs_lookup(fs, ino, name, &attr);
			hf_fs_forget(fs, ino, 1);
			ino = err ? 0 : attr.st.st_ino;
		}
		path += len;
		path += *path == '/';
	}
	*ret_ino = ino;
	return err;
}

/* The path of the view directory of a capture. */
static int view_dir_of(struct hf_fs *fs, const char *path, struct hf_capture *capture, char ret_view_dir[HF_PATH_SIZE])
{
	char dir[HF_PATH_SIZE], name[NAME_MAX + 1];
	const char *base = hf_path_split(dir, path);
	int err = hf_tree_view_name(fs, dir, base, capture, hf_tree_exists, fs, name);

	return err ? err : hf_path_join(ret_view_dir, dir, name);
}

/* The capture whose view directory is the first part of path that the archive does not have. */
static int find_viewed(struct hf_fs *fs, const char *path, struct hf_capture **ret_capture, char ret_view_dir[HF_PATH_SIZE])
{
	char dir[HF_PATH_SIZE] = "";
	int err = 0;

	for (; *path && !err; path += strspn(path, "/")) {
		const size_t length = strcspn(path, "/");
		char name[NAME_MAX + 1];
		struct stat st;

		if (length > NAME_MAX)
			return HF_ERR_PATH_LENGTH;
		memcpy(name, path, length);
		name[length] = '\0';
		path += length;
		err = hf_path_join(ret_view_dir, dir, name);
		if (!err)
			err = hf_archive_stat(&fs->archive, ret_view_dir, &st);
		if (err == HF_ERR_NOT_FOUND) {
			err = hf_tree_find_viewed(fs, dir, name, ret_capture);
			return err || *ret_capture ? err : HF_ERR_NOT_FOUND;
		}
		memcpy(dir, ret_view_dir, sizeof dir);
	}
	return err ? err : HF_ERR_NOT_FOUND;
}

int hf_fs_capture_of(struct hf_fs *fs, const char *path, char ret_capture[PATH_MAX], char ret_view_dir[PATH_MAX])
{
	struct hf_capture *capture = NULL;
	int err = hf_capture_at(fs, path, &capture);

	if (!err)
		err = view_dir_of(fs, path, capture, ret_view_dir);
	else if (err == HF_ERR_NOT_FOUND)
		err = find_viewed(fs, path, &capture, ret_view_dir);
	if (!err)
		snprintf(ret_capture, PATH_MAX, "%s", capture->path);
	return err;
}

struct walk {
	struct hf_fs *fs;
	hf_capture_fn fn;
	void *ctx;
	bool stop;
	int err;
};

struct found {
	char **name; /* owned */
	bool *dir;
	size_t count, cap;
	int err;
};

static bool collect(void *ctx, const char *name, const struct hf_attr *attr, uint64_t next_cookie)
{
	struct found *found = ctx;

	(void)next_cookie;
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
	    (!S_ISDIR(attr->st.st_mode) && !S_ISREG(attr->st.st_mode)))
		return true;
	if (found->count == found->cap) {
		size_t cap = found->cap ? found->cap * 2 : 64;
		char **names = realloc(found->name, cap * sizeof *names);
		bool *dirs;

		if (names)
			found->name = names;
		dirs = names ? realloc(found->dir, cap * sizeof *dirs) : NULL;
		if (!dirs) {
			found->err = HF_ERR_NOMEM;
			return false;
		}
		found->dir = dirs;
		found->cap = cap;
	}
	found->name[found->count] = strdup(name);
	found->dir[found->count] = S_ISDIR(attr->st.st_mode);
	if (!found->name[found->count])
		found->err = HF_ERR_NOMEM;
	else
		found->count++;
	return !found->err;
}

/* dir/name, or dir itself (name NULL), is left out. What is no capture, or vanished meanwhile, is nothing to tell of. */
static void leave_out(struct walk *walk, const char *dir, const char *name, int err)
{
	const struct hf_diag diag = {.code = err, .offset = HF_NOWHERE};
	char text[HF_DIAG_SIZE];

	if (hf_err_is_shortage(err))
		walk->err = err;
	if (hf_err_is_shortage(err) || err == HF_ERR_NOT_FOUND || err == HF_ERR_UNKNOWN_FORMAT || hf_fs_stopping(walk->fs) ||
	    !hf_control_unreached(&walk->fs->control, dir, name, err))
		return;
	hf_diag_format(&diag, text, sizeof text);
	hf_fs_log(walk->fs, 4, "%s%s%s: not searched for captures: %s", dir, *dir && name ? "/" : "",
		  name ? name : "", text);
}

/* A file or directory of the archive, if it is a capture. */
static void walk_capture(struct walk *walk, const char *path)
{
	struct hf_capture *capture;
	char views[HF_PATH_SIZE];
	int err = hf_capture_at(walk->fs, path, &capture);

	if (!err)
		err = view_dir_of(walk->fs, path, capture, views);
	if (err)
		leave_out(walk, path, NULL, err);
	else if (!walk->fn(walk->ctx, path, views))
		walk->stop = true;
}

static int list_dir(struct hf_fs *fs, const char *path, struct found *found)
{
	struct hf_dir *dir;
	uint64_t ino;
	int err = hf_fs_resolve(fs, path, &ino);

	if (err)
		return err;
	err = hf_dir_open(fs, ino, &dir, NULL);
	if (!err) {
		err = hf_dir_read(dir, 0, false, collect, found);
		hf_dir_close(dir);
	}
	hf_fs_forget(fs, ino, 1);
	return err ? err : found->err;
}

static void walk_dir(struct walk *walk, const char *path);

/* What stands under a name of a directory, and what is below it. below: HF_PATH_SIZE bytes to work in. */
static void walk_entry(struct walk *walk, const char *dir, const char *name, bool is_dir, char *below)
{
	struct stat st;
	int err = hf_path_join(below, dir, name);

	/* View directories are not gone into: the archive does not have them. */
	if (!err)
		err = hf_archive_stat(&walk->fs->archive, below, &st);
	if (err) {
		leave_out(walk, dir, name, err);
		return;
	}
	walk_capture(walk, below);
	if (is_dir && !walk->stop)
		walk_dir(walk, below);
}

/* As deep as paths are long: the paths are not on the stack. */
static void walk_dir(struct walk *walk, const char *path)
{
	struct found found = {0};
	char *below = malloc(HF_PATH_SIZE);
	int err = below ? list_dir(walk->fs, path, &found) : HF_ERR_NOMEM;

	if (err)
		leave_out(walk, path, NULL, err);
	for (size_t i = 0; !err && i < found.count && !walk->stop && !walk->err && !hf_fs_stopping(walk->fs); i++)
		walk_entry(walk, path, found.name[i], found.dir[i], below);
	for (size_t i = 0; i < found.count; i++)
		free(found.name[i]);
	free(found.name);
	free(found.dir);
	free(below);
}

int hf_fs_each_capture(struct hf_fs *fs, const char *under, hf_capture_fn fn, void *ctx)
{
	struct walk walk = {.fs = fs, .fn = fn, .ctx = ctx};
	struct stat st;
	int err = hf_archive_stat(&fs->archive, under, &st);

	if (err)
		return err;
	if (!*under)
		hf_control_search_begins(&fs->control);
	if (*under)
		walk_capture(&walk, under);
	if (S_ISDIR(st.st_mode) && !walk.stop)
		walk_dir(&walk, under);
	return walk.err;
}

/* The view with that path in a view directory; false: it has no encoder, or is not of a capture's own. */
static bool find_tap(const char *view, struct hf_tap *tap)
{
	char prefix[24];
	unsigned hart;
	int n = 0;

	if (strcmp(view, hf_fs_view_ops(HF_VIEW_RECORDS)->view) == 0) {
		tap->ops = hf_fs_view_ops(HF_VIEW_RECORDS);
		tap->hart = HF_HART_RECORDS;
		return true;
	}
	if (sscanf(view, "hart%u/%n", &hart, &n) != 1 || !n)
		return false;
	snprintf(prefix, sizeof prefix, "hart%u/", hart);
	if (strncmp(view, prefix, strlen(prefix)) != 0)
		return false;
	tap->hart = hart;
	for (size_t i = 0; i < HF_ENC_COUNT; i++) {
		tap->ops = hf_fs_view_ops(i);
		if (tap->ops && strcmp(view + n, tap->ops->view) == 0)
			return true;
	}
	return false;
}

int hf_fs_index_tapped(struct hf_fs *fs, const char *path, const char *view, hf_tap_fn put,
		       bool (*progress)(void *ctx, double percent, uint64_t insns), void *ctx, struct hf_diag *diag)
{
	struct hf_tap tap = {.put = put, .ctx = ctx};
	const bool tapped = put && find_tap(view, &tap);
	struct hf_capture *capture;
	struct hf_diag failure;
	int err = hf_capture_at(fs, path, &capture);

	if (err)
		return hf_diag_set(diag, err, HF_SPACE_FILE, HF_NOWHERE, 0);
	err = hf_capture_index(capture, true, tapped ? &tap : NULL, progress, ctx, diag);
	if (!err && hf_capture_failure(capture, &failure, NULL, 0)) {
		*diag = failure;
		err = failure.code;
	}
	return err;
}

int hf_fs_index(struct hf_fs *fs, const char *path, bool (*progress)(void *ctx, double percent, uint64_t insns),
		void *ctx, struct hf_diag *diag)
{
	return hf_fs_index_tapped(fs, path, "", NULL, progress, ctx, diag);
}

bool hf_fs_index_trouble(struct hf_fs *fs, char *text, size_t size, size_t *ret_memory, size_t *ret_waiting)
{
	struct hf_index_dir_stats stats;
	struct hf_capture_count count;

	hf_index_dir_get_stats(&fs->index_dir, &stats);
	hf_captures_count(&fs->captures, &count);
	if (ret_memory)
		*ret_memory = stats.memory.files;
	if (ret_waiting)
		*ret_waiting = count.state[HF_CAPTURE_WAITING];
	return hf_index_dir_text(&fs->index_dir, text, size);
}

bool hf_fs_explain(struct hf_fs *fs, const char *path, char *text, size_t size)
{
	struct hf_capture *capture = hf_capture_known(fs, path);
	struct hf_diag diag;

	return capture && hf_capture_failure(capture, &diag, text, size);
}
