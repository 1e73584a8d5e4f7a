/* SPDX-License-Identifier: Apache-2.0 */
/* All captures of an archive: opening and closing what they share, and the numbers about all of them. */
#include "fs/capture/captures.h"
#include "fs/archive/probe.h"
#include "fs/base/simulator_log.h"
#include "fs/capture/all.h"
#include "fs/capture/index_wait.h"
#include "fs/capture/recognise.h"
#include "fs/facts/facts.h"
#include "fs/facts/info.h"
#include "fs/facts/state.h"
#include "index/store/spool.h"
#include "index/store/spool_room.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int read_params(struct hf_captures *all, const char *given)
{
	const struct hf_fs_options *options = &all->shared.common->options;
	struct hf_access *read = &all->params_access.read;
	char *params, why[256];
	int err = hf_params_read(all->shared.archive, given, &params, read, why, sizeof why);

	if (err && err != HF_ERR_NOMEM) {
		all->params_wrong = strdup(why);
		hf_common_log(all->shared.common, 4, "%s; the archive is shown without " HF_PARAMS_FILE, why);
		err = all->params_wrong ? hf_params_read(NULL, given, &params, read, why, sizeof why) : HF_ERR_NOMEM;
	}
	if (err) {
		hf_common_log(all->shared.common, 3, "view parameters: %s", why);
		return err;
	}
	if (read->some && !hf_access_is_everybody(read) && !options->no_index)
		hf_common_log(all->shared.common, 5,
			      HF_PARAMS_FILE ": not everybody may read it: nor are the views for everybody");
	err = hf_views_init(&all->views, params, options->expansion, options->all_sums);
	free(params);
	return err;
}

static int open_index_dir(struct hf_captures *all, const struct hf_fs_options *options)
{
	const uint64_t memory = options->index_on_disk ? 0 : all->shared.common->options.cache_bytes / 2;
	int err = hf_index_dir_init(&all->shared, options->index_fd, options->index_path, memory, options->index_error);

	all->shared.dir = &all->index_dir.disk;
	/* Without a directory indexes are in memory, and there are no spools: they may be large. */
	if (options->index_fd < 0)
		all->shared.common->options.spool_bytes = 0;
	return err;
}

static size_t shed(void *ctx)
{
	struct hf_captures *all = ctx;

	return hf_open_files_shed(all->shared.open_files) + hf_open_files_shed(&all->debug_dir.open_files) +
	       hf_open_pool_shed(&all->open_pool);
}

static void share(struct hf_captures *all)
{
	all->shared.params_access = &all->params_access;
	all->shared.views = &all->views;
	all->shared.debug_dir = &all->debug_dir;
	all->shared.index_dir = &all->index_dir;
	all->shared.builder = &all->builder;
	all->shared.open_pool = &all->open_pool;
	all->shared.decoder_pool = &all->decoder_pool;
	all->shared.executables = &all->executables;
	all->shared.table = &all->table;
	all->shared.not_captures = &all->not_captures;
	all->shared.catalogue_use = &all->catalogue_use;
	all->shared.jobs = &all->jobs;
}

int hf_captures_open(struct hf_captures *all, const struct hf_fs_options *options)
{
	int err, debug_err = hf_debug_dir_init(&all->debug_dir, all->shared.archive,
					       all->shared.descriptors->open_files, options);

	share(all);
	hf_builder_init(&all->builder, options->chunk_insns);
	hf_views_choose(&all->views, options->views);
	pthread_mutex_init(&all->params_access.lock, NULL);
	hf_open_pool_init(&all->open_pool);
	hf_open_pool_limit(&all->open_pool, all->shared.common->cache, all->shared.descriptors->open);
	hf_decoder_pool_init(&all->decoder_pool);
	hf_executables_init(&all->executables);
	all->executables.cache = all->shared.common->cache;
	hf_jobs_init(&all->jobs, all->shared.common, &all->table);
	hf_table_init(&all->table, &all->shared);
	err = hf_not_captures_init(&all->not_captures);
	if (!err)
		err = debug_err;
	all->shared.descriptors->shed = shed;
	all->shared.descriptors->ctx = all;
	if (open_index_dir(all, options) && !err)
		err = HF_ERR_NOMEM;
	if (!err)
		err = read_params(all, options->params);
	hf_catalogue_use_init(&all->shared, err || options->index_fd < 0 ? NULL : options->archive_path);
	return err;
}

static void wake_waiters(void *ctx, struct hf_capture *capture)
{
	(void)ctx;
	HF_LOCKED(&capture->lock);
	pthread_cond_broadcast(&capture->changed);
}

void hf_captures_wake(struct hf_captures *all)
{
	hf_captures_each(all, wake_waiters, NULL);
	hf_open_pool_wake(&all->open_pool);
}

void hf_captures_stop(struct hf_captures *all)
{
	hf_jobs_stop(&all->jobs);
	hf_index_dir_stop(&all->index_dir);
}

void hf_captures_put_down(struct hf_captures *all)
{
	hf_open_pool_fini(&all->open_pool);
	hf_decoder_pool_fini(&all->decoder_pool);
	hf_executables_fini(&all->executables);
}

void hf_captures_close(struct hf_captures *all)
{
	hf_catalogue_use_fini(&all->shared);
	hf_jobs_fini(&all->jobs);
	hf_table_fini(&all->table);
	hf_not_captures_fini(&all->not_captures);
	pthread_mutex_destroy(&all->params_access.lock);
	free(all->params_wrong);
	hf_views_fini(&all->views);
	hf_builder_fini(&all->builder);
	hf_index_dir_fini(&all->index_dir);
	hf_debug_dir_fini(&all->debug_dir);
}

/* ---- finding and listing ---- */

int hf_capture_find(struct hf_captures *all, const char *path, const struct stat *st, struct hf_capture **ret_capture)
{
	return hf_recognise(&all->shared, path, st, ret_capture);
}

int hf_capture_at(struct hf_captures *all, const char *path, struct hf_capture **ret_capture)
{
	return hf_recognise_at(&all->shared, path, ret_capture);
}

struct hf_capture *hf_capture_known(struct hf_captures *all, const char *path)
{
	return hf_table_find(&all->table, path);
}

void hf_captures_each(struct hf_captures *all, void (*fn)(void *ctx, struct hf_capture *capture), void *ctx)
{
	hf_table_each(&all->table, fn, ctx);
}

bool hf_captures_offer(void *ctx, const char *path, const char *view_dir)
{
	struct hf_captures *all = ctx;
	struct hf_capture *capture;
	struct hf_facts *facts;

	(void)view_dir;
	if (hf_stopping(all->shared.common))
		return false;
	if (!hf_recognise_at(&all->shared, path, &capture) && !hf_capture_facts(capture, 0, &facts))
		hf_facts_unref(facts);
	return true;
}

/* ---- numbers about all ---- */

static void add_progress(void *ctx, struct hf_capture *capture)
{
	struct hf_captures_stats *stats = ctx;

	HF_LOCKED(&capture->lock);
	stats->count.state[hf_capture_told_state(capture)]++;
	if (capture->state == HF_CAPTURE_INDEXING) {
		stats->done += capture->progress.done;
		stats->total += capture->progress.total;
	}
}

void hf_captures_get_stats(struct hf_captures *all, struct hf_captures_stats *ret_stats)
{
	*ret_stats = (struct hf_captures_stats){
		.searching = hf_jobs_searching(&all->jobs),
		.params_wrong = all->params_wrong,
		.index_path = all->index_dir.path,
		.recalled = all->catalogue_use.recalled,
		.probed = all->catalogue_use.probed,
		.opened = all->catalogue_use.opened,
		.flushed = all->catalogue_use.flushed,
	};
	hf_index_dir_get_stats(&all->index_dir, &ret_stats->index_dir);
	hf_captures_each(all, add_progress, ret_stats);
}

void hf_captures_count_spools(struct hf_captures *all, uint64_t *ret_count, uint64_t *ret_bytes)
{
	hf_spool_count(all->shared.dir->fd, ret_count, ret_bytes);
}

bool hf_captures_index_trouble(struct hf_captures *all, char *text, size_t size, size_t *ret_memory,
			       size_t *ret_waiting)
{
	struct hf_captures_stats stats;

	hf_captures_get_stats(all, &stats);
	if (ret_memory)
		*ret_memory = stats.index_dir.memory.files;
	if (ret_waiting)
		*ret_waiting = stats.count.state[HF_CAPTURE_WAITING];
	return hf_index_dir_text(&all->index_dir, text, size);
}

/* "Spike commit log", of a file that is no capture; NULL: nobody knows what it is. */
static const char *log_name(const struct hf_captures *all, const char *path)
{
	char *head = malloc(HF_SIMULATOR_LOG_HEAD + 1);
	const char *name = NULL;
	size_t n;

	if (head && !hf_probe_head(all->shared.archive, path, (uint8_t *)head, HF_SIMULATOR_LOG_HEAD, &n)) {
		head[n] = '\0';
		name = hf_simulator_log_name(head);
	}
	free(head);
	return name;
}

/* The codec that would have taken the file if there were more in it than its first bytes say; NULL: there is none. */
static const struct hf_codec *claimant(const struct hf_captures *all, const char *path)
{
	const struct hf_codec *codec = NULL;
	uint8_t head[HF_PROBE_SIZE];
	size_t n;

	if (!hf_probe_head(all->shared.archive, path, head, sizeof head, &n))
		codec = hf_codec_probe(head, n);
	return codec && codec->otherwise ? codec : NULL;
}

bool hf_captures_explain(struct hf_captures *all, const char *path, char *text, size_t size)
{
	struct hf_capture *capture = hf_capture_known(all, path);
	const char *log = capture ? NULL : log_name(all, path);
	const struct hf_codec *codec = capture || log ? NULL : claimant(all, path);
	struct hf_diag diag;

	if (log)
		snprintf(text, size, "%s: not read yet", log);
	if (codec)
		snprintf(text, size, "%s", codec->otherwise);
	return log || codec || (capture && hf_capture_failure(capture, &diag, text, size));
}

bool hf_captures_refusal(struct hf_captures *all, const char *path, const char *view, char *text, size_t size)
{
	struct hf_capture *capture = hf_capture_known(all, path);
	struct hf_facts *facts = NULL;
	bool known;

	known = capture && !hf_capture_facts_now(capture, &facts) && hf_info_refusal(facts, view, text, size);
	hf_facts_unref(facts);
	return known;
}

/* ---- failures ---- */

struct failures {
	struct hf_capture **capture;
	size_t count, room;
};

static void collect_failure(void *ctx, struct hf_capture *capture)
{
	struct failures *failures = ctx;
	struct hf_diag diag;

	if (!hf_capture_failure(capture, &diag, NULL, 0))
		return;
	if (failures->count < failures->room)
		failures->capture[failures->count] = capture;
	failures->count++;
}

static int by_path(const void *a, const void *b)
{
	return strcmp((*(struct hf_capture *const *)a)->path, (*(struct hf_capture *const *)b)->path);
}

size_t hf_captures_failures(struct hf_captures *all,
			    void (*fn)(void *ctx, const char *path, const struct hf_diag *diag), void *ctx)
{
	struct failures failures = {0};
	struct hf_diag diag;
	size_t have;

	hf_captures_each(all, collect_failure, &failures);
	failures.room = failures.count;
	failures.capture = calloc(failures.room + 1, sizeof(struct hf_capture *));
	if (!failures.capture)
		return failures.count;
	failures.count = 0;
	hf_captures_each(all, collect_failure, &failures);
	have = failures.count < failures.room ? failures.count : failures.room;
	qsort(failures.capture, have, sizeof(struct hf_capture *), by_path);
	for (size_t i = 0; fn && i < have; i++)
		if (hf_capture_failure(failures.capture[i], &diag, NULL, 0))
			fn(ctx, failures.capture[i]->path, &diag);
	free(failures.capture);
	return failures.count;
}
