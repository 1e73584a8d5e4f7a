/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/facts/catalogue_use.h"
#include "codecs/base/errors.h"
#include "fs/archive/archive.h"
#include "fs/archive/stamp.h"
#include "fs/base/chunk_cache.h"
#include "fs/base/common.h"
#include "fs/base/list.h"
#include "fs/base/views.h"
#include "fs/facts/capture.h"
#include "fs/facts/facts.h"
#include "fs/facts/index_dir.h"
#include "fs/facts/shared.h"
#include "index/base/libc.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * A change is written after DELAY_NS, or after DELAY_TIMES as long as the last write took, if that is more: each time
 * the whole catalogue is written.
 */
enum { DELAY_TIMES = 50 };
#define DELAY_NS (INT64_C(2) * 1000000000)
#define AGAIN_NS (INT64_C(60) * 1000000000)

/* At the end another process may be writing: so often, and so long, it is waited for. */
enum { LAST_TRIES = 20, LAST_WAIT_MS = 50 };

static bool exists(void *ctx, const char *path)
{
	const struct hf_shared *shared = ctx;
	struct stat st;

	return hf_archive_stat(shared->archive, path, &st) != HF_ERR_NOT_FOUND;
}

static int open_catalogue(const struct hf_shared *shared, const char *path)
{
	struct hf_catalogue_use *use = shared->catalogue_use;
	struct hf_view_key views[HF_VIEW_ALL];
	struct hf_catalogue_key key = {.path = path, .views = views, .exists = exists, .ctx = (void *)shared};
	struct statx stx;

	use->view = calloc(HF_VIEW_ALL, sizeof *use->view);
	if (!use->view)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < HF_VIEW_ALL; i++) {
		if (!shared->views->wanted[i])
			continue;
		/* program.elf shows the same symbols as the listing. */
		views[key.view_count] = (struct hf_view_key){
			.ops = hf_fs_view_ops(i),
			.params = hf_view_params(shared->views, i == HF_VIEW_PROGRAM ? hf_views_naming() : i)};
		use->view[key.view_count++] = i;
	}
	use->view_count = key.view_count;
	if (statx(shared->archive->fd, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &stx))
		return HF_ERR_IO;
	key.ino = stx.stx_ino;
	if (stx.stx_mask & STATX_BTIME)
		key.btime_ns = stx.stx_btime.tv_sec * INT64_C(1000000000) + stx.stx_btime.tv_nsec;
	return hf_catalogue_open(shared->dir, &key, &use->catalogue);
}

/* Writes all changes. */
static int flush(const struct hf_shared *shared)
{
	struct hf_catalogue_use *use = shared->catalogue_use;
	int err;

	pthread_mutex_lock(&use->lock);
	use->dirty = false;
	pthread_mutex_unlock(&use->lock);
	err = hf_catalogue_flush(use->catalogue);
	if (!err) {
		use->flushed++;
		hf_index_dir_wrote(shared->index_dir);
	} else if (err == HF_ERR_INDEX_DIR) {
		hf_index_dir_failed(shared->index_dir);
	} else if (err != HF_ERR_BUSY) {
		hf_common_log(shared->common, 7, "the catalogue cannot be written: %s", hf_err_name(err));
	}
	return err;
}

static int run_write(struct hf_job *job, struct hf_worker *worker)
{
	struct hf_catalogue_use *use = HF_OWNER(job, struct hf_catalogue_use, write);
	const struct hf_shared *shared = use->shared;
	const int64_t begun = hf_now_ns();
	const int err = flush(shared);
	int64_t delay = (hf_now_ns() - begun) * DELAY_TIMES;
	bool again;

	(void)worker;
	pthread_mutex_lock(&use->lock);
	if (delay < DELAY_NS)
		delay = DELAY_NS;
	/* A directory that fails is tried again, each time later. */
	if (err == HF_ERR_INDEX_DIR && delay < 2 * use->delay_ns)
		delay = 2 * use->delay_ns < AGAIN_NS ? 2 * use->delay_ns : AGAIN_NS;
	use->delay_ns = delay;
	use->many = err ? SIZE_MAX : HF_CATALOGUE_MANY;
	/* Other failures will not pass soon: tried again with the next change. */
	use->dirty |= err == HF_ERR_BUSY || err == HF_ERR_INDEX_DIR;
	again = use->dirty;
	pthread_mutex_unlock(&use->lock);
	if (again)
		hf_job_submit_after(shared->common->exec, job, delay);
	return err;
}

void hf_catalogue_use_init(const struct hf_shared *shared, const char *path)
{
	struct hf_catalogue_use *use = shared->catalogue_use;
	int err;

	use->shared = shared;
	pthread_mutex_init(&use->lock, NULL);
	use->write = (struct hf_job){.fn = run_write, .work = HF_WORK_CHORE};
	use->delay_ns = DELAY_NS;
	use->many = HF_CATALOGUE_MANY;
	if (!path)
		return;
	err = open_catalogue(shared, path);
	if (err)
		hf_common_log(shared->common, 7, "no catalogue: %s", hf_err_name(err));
}

void hf_catalogue_use_fini(const struct hf_shared *shared)
{
	struct hf_catalogue_use *use = shared->catalogue_use;

	for (int i = 0; use->catalogue && i < LAST_TRIES && flush(shared) == HF_ERR_BUSY; i++)
		nanosleep(&(struct timespec){.tv_nsec = LAST_WAIT_MS * 1000000L}, NULL);
	hf_catalogue_close(use->catalogue);
	free(use->view);
	pthread_mutex_destroy(&use->lock);
}

int hf_catalogue_use_recall(const struct hf_shared *shared, const char *path, const struct stat *st,
			    struct hf_catalogue_entry *ret_entry)
{
	const struct hf_catalogue_stamp stamp = {
		.size = (uint64_t)st->st_size,
		.ino = st->st_ino,
		.mtime_ns = hf_time_ns(&st->st_mtim),
		.ctime_ns = hf_time_ns(&st->st_ctim),
	};
	int err;

	if (!shared->catalogue_use->catalogue)
		return HF_ERR_NOT_FOUND;
	err = hf_catalogue_find(shared->catalogue_use->catalogue, path, &stamp, ret_entry);
	if (!err)
		shared->catalogue_use->recalled++;
	return err;
}

static int recall_hart(const struct hf_catalogue_use *use, struct hf_facts *facts, struct hf_cache *cache,
		       const struct hf_catalogue_entry *entry, size_t i)
{
	struct hf_facts_hart *hart = &facts->hart[i];

	hart->info = entry->hart[i];
	hart->view = calloc(HF_VIEW_ALL, sizeof *hart->view);
	if (!hart->view)
		return HF_ERR_NOMEM;
	for (size_t k = 0; k < HF_VIEW_ALL; k++)
		hart->view[k] = (struct hf_facts_view){.size = HF_NOWHERE, .owner = hf_cache_owner(cache)};
	for (size_t k = 0; k < use->view_count; k++)
		hart->view[use->view[k]].size = entry->size[i * use->view_count + k];
	return 0;
}

int hf_catalogue_use_facts(struct hf_capture *capture, uint64_t version, const struct hf_catalogue_entry *entry,
			   struct hf_facts **ret_facts)
{
	const struct hf_shared *shared = capture->shared;
	struct hf_facts *facts = hf_facts_new(capture, version);
	int err = facts ? 0 : HF_ERR_NOMEM;

	*ret_facts = NULL;
	if (err)
		return err;
	facts->recalled = true;
	facts->known = entry->known;
	if (entry->known.original >= 0)
		facts->known.original = (int)shared->catalogue_use->view[entry->known.original];
	facts->hart = calloc(entry->hart_count + 1, sizeof *facts->hart);
	if (!facts->hart)
		err = HF_ERR_NOMEM;
	for (size_t i = 0; !err && i < entry->hart_count; i++) {
		err = recall_hart(shared->catalogue_use, facts, shared->common->cache, entry, i);
		if (entry->hart[i].id == HF_HART_RECORDS)
			facts->has_records = !err;
		else
			facts->hart_count += !err;
	}
	if (err)
		hf_facts_unref(facts);
	else
		*ret_facts = facts;
	return err;
}

static void put(const struct hf_shared *shared, const char *path, const struct hf_catalogue_entry *entry)
{
	struct hf_catalogue_use *use = shared->catalogue_use;
	int64_t delay_ns;
	bool first, many;

	if (hf_catalogue_put(use->catalogue, path, entry))
		return;
	pthread_mutex_lock(&use->lock);
	first = !use->dirty;
	use->dirty = true;
	many = hf_catalogue_pending(use->catalogue) >= use->many;
	delay_ns = many ? 0 : use->delay_ns;
	pthread_mutex_unlock(&use->lock);
	if (first || many)
		hf_job_submit_after(shared->common->exec, &use->write, delay_ns);
}

static struct hf_catalogue_stamp stamp_of(const struct hf_stamp *stamp)
{
	return (struct hf_catalogue_stamp){.size = (uint64_t)stamp->size,
					   .ino = stamp->ino,
					   .mtime_ns = stamp->mtime_ns,
					   .ctime_ns = stamp->ctime_ns};
}

void hf_catalogue_use_put_not_capture(const struct hf_shared *shared, const char *path, const struct hf_stamp *stamp)
{
	struct hf_catalogue_entry entry = {.stamp = stamp_of(stamp), .kind = HF_CATALOGUE_NOT_CAPTURE};

	if (shared->catalogue_use->catalogue)
		put(shared, path, &entry);
}

/* Fills an entry from the facts; its harts and sizes are to be freed. */
static int fill_entry(const struct hf_catalogue_use *use, const struct hf_facts *facts, uint64_t beside,
		      struct hf_catalogue_entry *entry)
{
	size_t harts = facts->hart_count + facts->has_records;

	entry->kind = HF_CATALOGUE_INDEXED;
	entry->beside = beside;
	entry->known = facts->known;
	entry->known.original = -1;
	entry->hart_count = harts;
	entry->hart = calloc(harts + 1, sizeof *entry->hart);
	entry->size = calloc(harts * use->view_count + 1, sizeof *entry->size);
	if (!entry->hart || !entry->size)
		return HF_ERR_NOMEM;
	for (size_t k = 0; k < use->view_count; k++)
		if (facts->known.original == (int)use->view[k])
			entry->known.original = (int)k;
	for (size_t i = 0; i < harts; i++) {
		entry->hart[i] = facts->hart[i].info;
		for (size_t k = 0; k < use->view_count; k++)
			entry->size[i * use->view_count + k] = facts->hart[i].view[use->view[k]].size;
	}
	return 0;
}

void hf_catalogue_use_put(struct hf_capture *capture, const struct hf_facts *facts)
{
	const struct hf_shared *shared = capture->shared;
	struct hf_catalogue_entry entry = {.known.original = -1};
	uint64_t beside;
	int err = 0;

	if (!shared->catalogue_use->catalogue)
		return;
	pthread_mutex_lock(&capture->lock);
	entry.stamp = stamp_of(&capture->stamp);
	beside = hf_stamp_around(&capture->stamp);
	entry.kind = capture->state != HF_CAPTURE_GONE ? HF_CATALOGUE_CAPTURE
		     : capture->stamp.ino	       ? HF_CATALOGUE_NOT_CAPTURE
						       : HF_CATALOGUE_GONE;
	entry.box = capture->box;
	entry.codec = capture->codec;
	if (facts && capture->version != facts->version)
		facts = NULL;
	if (facts && capture->profiles && capture->profiles_of == facts->version)
		entry.profiles = strdup(capture->profiles);
	pthread_mutex_unlock(&capture->lock);
	if (facts && entry.kind == HF_CATALOGUE_CAPTURE && !facts->failure.code)
		err = fill_entry(shared->catalogue_use, facts, beside, &entry);
	if (!err)
		put(shared, capture->path, &entry);
	hf_catalogue_clear(&entry);
}
