/* SPDX-License-Identifier: Apache-2.0 */
/* The file system: its floors put together, and its functions handed on to them. */
#include "fs/fs.h"
#include "fs/capture/all.h"
#include "fs/capture/index_wait.h"
#include "fs/bytes/channels.h"
#include "fs/diff/run.h"
#include "fs/find/run.h"
#include "fs/profile/ahead.h"
#include "fs/rows/run.h"
#include "fs/stream/members.h"
#include "fs/whole.h"

#include <stdlib.h>
#include <unistd.h>

#define CACHE_DEFAULT (UINT64_C(256) << 20)

int hf_fs_libraries(char *buf, size_t size)
{
	return hf_index_libraries(buf, size);
}

bool hf_fs_knows_views(const char *list)
{
	return hf_views_known(list);
}

bool hf_fs_view_name(size_t i, char buf[HF_FS_VIEW_NAME])
{
	return hf_views_name(i, buf, HF_FS_VIEW_NAME);
}

int hf_fs_check_params(int archive_fd, const char *given, char *why, size_t size)
{
	return hf_params_check(archive_fd, given, why, size);
}

unsigned hf_fs_reach(int dir_fd, const char *ini)
{
	return hf_members_reach(dir_fd, ini);
}

static bool is_stopping(void *ctx)
{
	return hf_stopping(ctx);
}

static int start_exec(struct hf_common *common, unsigned builds)
{
	const struct hf_fs_options *options = &common->options;
	const unsigned cores = hf_exec_cores();
	struct hf_exec_limits limits = {.no_nice = options->no_index, .seats = {
		[HF_WORK_DECODE] = options->threads ? options->threads : cores,
		[HF_WORK_SERVE] = 4,
		[HF_WORK_HELP] = 64,
		[HF_WORK_SPOOL] = 1,
		[HF_WORK_CHORE] = 4,
	}};

	common->index_threads = options->index_threads ? options->index_threads : cores;
	/* Captures that are being indexed hold descriptors, and go on holding them when they are put aside. */
	limits.seats[HF_WORK_INDEX] = common->index_threads < builds ? common->index_threads : builds;
	limits.paused = builds < HF_PAUSED_MAX ? builds : HF_PAUSED_MAX;
	return hf_exec_new(&limits, &common->exec);
}

static int open_common(struct hf_common *common, const struct hf_fs_options *options)
{
	common->options = *options;
	if (!common->options.cache_bytes)
		common->options.cache_bytes = CACHE_DEFAULT;
	/* Borrowed, and only as long as this is being opened. */
	common->options.views = common->options.params = NULL;
	common->options.skip = NULL;
	common->options.debug_fd = options->debug_path ? options->debug_fd : -1;
	common->options.archive_path = common->options.index_path = common->options.debug_path = NULL;
	clock_gettime(CLOCK_REALTIME, &common->started);
	atomic_init(&common->closing, false);
	common->stop = (struct hf_stop){.wanted = is_stopping, .ctx = common};
	return hf_cache_new(common->options.cache_bytes, &common->cache);
}

static void borrow(struct hf_fs *fs)
{
	fs->archive.make_room = hf_descriptors_make_room;
	fs->archive.ctx = &fs->descriptors;
	fs->archive.stop = &fs->common.stop;
	fs->captures.shared.common = &fs->common;
	fs->captures.shared.archive = &fs->archive;
	fs->captures.shared.open_files = &fs->open_files;
	fs->captures.shared.descriptors = &fs->descriptors;
	fs->captures.jobs.on_change = fs->common.options.invalidate ? hf_tree_tell_change : NULL;
	fs->captures.jobs.ctx = &fs->tree;
	fs->tree.common = &fs->common;
	fs->tree.archive = &fs->archive;
	fs->tree.open_files = &fs->open_files;
	fs->tree.captures = &fs->captures;
	fs->tree.slices = &fs->slices;
	fs->tree.profiles = &fs->profiles;
	fs->tree.wheres = &fs->wheres;
	fs->tree.channels = &fs->channels;
	fs->tree.hart_states = &fs->hart_states;
}

static int run_search(struct hf_job *job, struct hf_worker *worker)
{
	struct hf_fs *fs = HF_OWNER(job, struct hf_fs, search);

	(void)worker;
	return hf_tree_each_capture(&fs->tree, "", NULL, hf_captures_offer, &fs->captures);
}

static void end_search(struct hf_job *job, int err)
{
	(void)err;
	hf_jobs_search_ends(&HF_OWNER(job, struct hf_fs, search)->captures.jobs);
}

static int open_floors(struct hf_fs *fs, const struct hf_fs_options *options)
{
	int err = open_common(&fs->common, options);
	int archive_err = hf_archive_init(&fs->archive, options->archive_fd, options->skip, options->skip_count);

	fs->search = (struct hf_job){.fn = run_search, .done = end_search, .work = HF_WORK_CHORE};
	hf_descriptors_init(&fs->descriptors, &fs->common);
	hf_open_files_init(&fs->open_files, &fs->archive, fs->descriptors.open_files);
	borrow(fs);
	if (!err)
		err = archive_err;
	if (!err)
		err = start_exec(&fs->common, (unsigned)fs->descriptors.builds);
	if (err)
		return err;
	err = hf_captures_open(&fs->captures, options);
	fs->opened = true;
	hf_slices_init(&fs->slices, &fs->common);
	hf_profiles_init(&fs->profiles, &fs->common);
	hf_mades_init(&fs->wheres, &hf_made_where, &fs->common);
	hf_mades_init(&fs->channels, &hf_made_channels, &fs->common);
	hf_mades_init(&fs->hart_states, &hf_made_hart_state, &fs->common);
	archive_err = hf_tree_init(&fs->tree);
	return err ? err : archive_err;
}

int hf_fs_open(const struct hf_fs_options *options, struct hf_fs **ret_fs, struct hf_diag *diag)
{
	struct hf_fs *fs = calloc(1, sizeof *fs);
	int err = HF_ERR_NOMEM;

	*ret_fs = NULL;
	if (fs) {
		err = open_floors(fs, options);
	} else {
		close(options->archive_fd);
		if (options->index_fd >= 0)
			close(options->index_fd);
		if (options->debug_path)
			close(options->debug_fd);
	}
	if (!err)
		*ret_fs = fs;
	else if (fs)
		hf_fs_close(fs);
	return err ? hf_diag_set(diag, err, HF_SPACE_FILE, HF_NOWHERE, 0) : 0;
}

struct hf_exec *hf_fs_exec(struct hf_fs *fs)
{
	return fs->common.exec;
}

void hf_fs_stop(struct hf_fs *fs)
{
	fs->common.closing = true;
	hf_descriptors_wake(&fs->descriptors);
	if (fs->opened)
		hf_captures_wake(&fs->captures);
	if (fs->common.exec)
		hf_exec_wake(fs->common.exec);
}

static void close_floors(struct hf_fs *fs)
{
	hf_slices_stop(&fs->slices);
	hf_captures_stop(&fs->captures);
	hf_exec_stop(fs->common.exec);
	hf_captures_put_down(&fs->captures);
	hf_mades_fini(&fs->wheres);
	hf_mades_fini(&fs->channels);
	hf_mades_fini(&fs->hart_states);
	hf_profile_ahead_fini(&fs->profiles);
	hf_profiles_fini(&fs->profiles);
	hf_slices_fini(&fs->slices);
	hf_cache_free(fs->common.cache);
	fs->common.cache = NULL;
	hf_tree_fini(&fs->tree);
	hf_captures_close(&fs->captures);
}

void hf_fs_close(struct hf_fs *fs)
{
	hf_fs_stop(fs);
	if (fs->opened)
		close_floors(fs);
	hf_open_files_fini(&fs->open_files);
	hf_descriptors_fini(&fs->descriptors);
	hf_archive_fini(&fs->archive);
	if (fs->common.cache)
		hf_cache_free(fs->common.cache);
	if (fs->common.options.index_fd >= 0)
		close(fs->common.options.index_fd);
	if (fs->common.options.debug_fd >= 0)
		close(fs->common.options.debug_fd);
	hf_exec_free(fs->common.exec);
	free(fs);
}

/* ---- the tree ---- */

int hf_fs_lookup(struct hf_fs *fs, uint64_t parent, const char *name, struct hf_attr *ret_attr)
{
	const int64_t began_ns = hf_now_ns();
	const int err = hf_tree_lookup(&fs->tree, parent, name, ret_attr);

	hf_latency_add(&fs->common.metrics.latency[HF_METRICS_LOOKUP], began_ns);
	return err;
}

void hf_fs_forget(struct hf_fs *fs, uint64_t ino, uint64_t count)
{
	hf_tree_forget(&fs->tree, ino, count);
}

void hf_fs_unseen(struct hf_fs *fs, uint64_t ino)
{
	hf_tree_unseen(&fs->tree, ino);
}

int hf_fs_getattr(struct hf_fs *fs, uint64_t ino, struct hf_attr *ret_attr)
{
	return hf_tree_getattr(&fs->tree, ino, ret_attr);
}

int hf_fs_check(struct hf_fs *fs, uint64_t ino, struct hf_attr *ret_attr)
{
	return hf_tree_check(&fs->tree, ino, ret_attr);
}

int hf_fs_readlink(struct hf_fs *fs, uint64_t ino, char *buf, size_t size)
{
	return hf_tree_readlink(&fs->tree, ino, buf, size);
}

int hf_fs_xattr(struct hf_fs *fs, uint64_t ino, const char *name, char buf[HF_FS_XATTR_SIZE], size_t *ret_size)
{
	return hf_tree_xattr(&fs->tree, ino, name, buf, ret_size);
}

int hf_fs_xattr_list(struct hf_fs *fs, uint64_t ino, char buf[HF_FS_XATTR_SIZE], size_t *ret_size)
{
	return hf_tree_xattr_list(&fs->tree, ino, buf, ret_size);
}

int hf_dir_open(struct hf_fs *fs, uint64_t ino, struct hf_dir **ret_dir, bool *ret_keep)
{
	const int64_t began_ns = hf_now_ns();
	const int err = hf_tree_open_dir(&fs->tree, ino, ret_dir, ret_keep);

	hf_latency_add(&fs->common.metrics.latency[HF_METRICS_LIST], began_ns);
	return err;
}

int hf_file_open(struct hf_fs *fs, uint64_t ino, struct hf_file **ret_file, bool *ret_keep)
{
	const int64_t began_ns = hf_now_ns();
	const int err = hf_tree_open_file(&fs->tree, ino, ret_file, ret_keep);

	hf_latency_add(&fs->common.metrics.latency[HF_METRICS_OPEN], began_ns);
	return err;
}

void hf_fs_read(struct hf_fs *fs, struct hf_read *read)
{
	(void)fs;
	hf_file_read(read);
}

void hf_fs_read_cancel(struct hf_fs *fs, struct hf_read *read)
{
	(void)fs;
	hf_request_cancel(read);
}

int hf_fs_read_wait(struct hf_fs *fs, struct hf_file *file, uint64_t offset, void *buf, size_t size, size_t *ret_n)
{
	(void)fs;
	return hf_file_read_wait(file, offset, buf, size, ret_n);
}

int hf_fs_read_each(struct hf_fs *fs, struct hf_file *file, uint64_t offset, uint64_t size, hf_bytes_fn fn, void *ctx,
		    uint64_t *ret_n)
{
	(void)fs;
	return hf_file_read_each(file, offset, size, fn, ctx, ret_n);
}

int hf_fs_resolve(struct hf_fs *fs, const char *path, uint64_t *ret_ino)
{
	return hf_tree_resolve(&fs->tree, path, ret_ino);
}

int hf_fs_each_capture(struct hf_fs *fs, const char *under, hf_wanted_fn wanted, hf_capture_fn fn, void *ctx)
{
	return hf_tree_each_capture(&fs->tree, under, wanted, fn, ctx);
}

int hf_fs_each_file(struct hf_fs *fs, const char *view_dir, hf_file_fn fn, void *ctx)
{
	return hf_tree_each_file(&fs->tree, view_dir, fn, ctx);
}

size_t hf_fs_unreached(struct hf_fs *fs, void (*fn)(void *ctx, const char *path, const char *why), void *ctx)
{
	return hf_tree_unreached(&fs->tree, fn, ctx);
}

int hf_fs_capture_of(struct hf_fs *fs, const char *path, char ret_capture[PATH_MAX], char ret_view_dir[PATH_MAX])
{
	return hf_tree_capture_of(&fs->tree, path, ret_capture, ret_view_dir);
}

/* ---- captures ---- */

int hf_fs_index_tapped(struct hf_fs *fs, const char *path, const char *view, hf_tap_fn put,
		       bool (*progress)(void *ctx, double percent, uint64_t insns), void *ctx, struct hf_diag *diag)
{
	return hf_captures_index(&fs->captures, path, view, put, progress, ctx, diag);
}

int hf_fs_index(struct hf_fs *fs, const char *path, bool (*progress)(void *ctx, double percent, uint64_t insns),
		void *ctx, struct hf_diag *diag)
{
	return hf_captures_index(&fs->captures, path, "", NULL, progress, ctx, diag);
}

int hf_fs_make_profiles(struct hf_fs *fs, const char *path, struct hf_diag *diag)
{
	struct hf_capture *capture;
	struct hf_facts *facts = NULL;
	int err = hf_capture_at(&fs->captures, path, &capture);

	if (!err)
		err = hf_capture_facts(capture, 0, &facts);
	if (!err)
		err = hf_profile_make_ahead(&fs->profiles, capture, facts);
	hf_facts_unref(facts);
	return hf_diag_set(diag, err, HF_SPACE_FILE, HF_NOWHERE, 0);
}

bool hf_fs_explain(struct hf_fs *fs, const char *path, char *text, size_t size)
{
	return hf_captures_explain(&fs->captures, path, text, size);
}

bool hf_fs_refusal(struct hf_fs *fs, const char *path, const char *view, char *text, size_t size)
{
	return hf_captures_refusal(&fs->captures, path, view, text, size);
}

int hf_fs_info_page(struct hf_fs *fs, const char *path, char **ret_text)
{
	return hf_captures_info_page(&fs->captures, path, ret_text);
}

int hf_fs_ls_line(struct hf_fs *fs, const char *path, struct hf_fs_ls_line *ret_line)
{
	return hf_captures_ls_line(&fs->captures, path, ret_line);
}

int hf_fs_flush(struct hf_fs *fs)
{
	return hf_index_dir_flush(&fs->captures.index_dir);
}

bool hf_fs_index_trouble(struct hf_fs *fs, char *text, size_t size, size_t *ret_memory, size_t *ret_waiting)
{
	return hf_captures_index_trouble(&fs->captures, text, size, ret_memory, ret_waiting);
}

size_t hf_fs_failures(struct hf_fs *fs, void (*fn)(void *ctx, const char *path, const struct hf_diag *diag), void *ctx)
{
	return hf_captures_failures(&fs->captures, fn, ctx);
}

void hf_fs_index_all(struct hf_fs *fs)
{
	if (hf_jobs_search_begins(&fs->captures.jobs))
		hf_job_submit(fs->common.exec, &fs->search);
}

void hf_fs_idle(struct hf_fs *fs)
{
	hf_jobs_idle(&fs->captures.jobs);
}

void hf_fs_when_idle(struct hf_fs *fs, void (*fn)(void *ctx), void *ctx)
{
	hf_jobs_when_idle(&fs->captures.jobs, fn, ctx);
}

int hf_fs_examine(struct hf_fs *fs, const char *path, void (*fn)(void *ctx, const char *name, const char *what),
		  void *ctx, struct hf_diag *diag)
{
	return hf_captures_examine(&fs->captures, path, fn, ctx, diag);
}

int hf_fs_compare(struct hf_fs *fs, const char *path, void (*fn)(void *ctx, const char *name, const char *what),
		  void *ctx, struct hf_diag *diag)
{
	return hf_captures_compare(&fs->captures, path, fn, ctx, diag);
}

int hf_fs_hart_state(struct hf_fs *fs, const struct hf_hart_state_ask *ask, struct hf_sink *sink, char *why,
		     size_t size)
{
	return hf_hart_state_run(&fs->captures, ask, sink, why, size);
}

int hf_fs_find(struct hf_fs *fs, const struct hf_find *find, uint64_t *ret_count, char *why, size_t size)
{
	return hf_find_run(&fs->captures, find, ret_count, why, size);
}

int hf_fs_diff(const struct hf_diff *diff, struct hf_diff_told *ret_told, unsigned *ret_which, char *why, size_t size)
{
	struct hf_captures *all[2] = {&diff->hart[0].fs->captures, &diff->hart[1].fs->captures};

	return hf_diff_run(all, diff, ret_told, ret_which, why, size);
}

int hf_rows_session_new(struct hf_fs *fs, struct hf_rows_session **ret_session)
{
	return hf_rows_session_open(&fs->captures, &fs->tree, ret_session);
}

int hf_fs_verify(struct hf_fs *fs, const char *path, uint64_t *ret_chunks, uint64_t *ret_bad, struct hf_diag *diag)
{
	return hf_bytes_verify(&fs->captures, path, ret_chunks, ret_bad, diag);
}
