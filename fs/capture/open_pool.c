/* SPDX-License-Identifier: Apache-2.0 */
/* Captures that stay open: finding one, opening it, and closing the one used longest ago. */
#include "fs/capture/open_pool.h"
#include "codecs/base/errors.h"
#include "fs/archive/descriptors.h"
#include "fs/base/list.h"
#include "fs/capture/open_capture.h"
#include "fs/capture/spooler.h"
#include "fs/facts/capture.h"
#include "fs/facts/opened.h"
#include "fs/facts/queue.h"
#include "fs/facts/shared.h"
#include "fs/facts/state.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

/* So long one waits for descriptors that others are using; then it is tried without them. */
enum { PATIENCE_MS = 10000 };

void hf_open_pool_init(struct hf_open_pool *pool)
{
	*pool = (struct hf_open_pool){.max_bytes = HF_OPEN_CAPTURES_BYTES,
				      .max_files = HF_OPEN_CAPTURES_MAX * HF_OPEN_FILES};
	hf_link_init(&pool->used);
	pthread_mutex_init(&pool->lock, NULL);
	hf_cond_init(&pool->opened);
}

void hf_open_pool_limit(struct hf_open_pool *pool, struct hf_cache *cache, size_t max_files)
{
	pool->cache = cache;
	pool->max_bytes = HF_OPEN_CAPTURES_BYTES + hf_cache_size(cache) / 4;
	pool->max_files = max_files;
}

void hf_open_pool_wake(struct hf_open_pool *pool)
{
	HF_LOCKED(&pool->lock);
	pthread_cond_broadcast(&pool->opened);
}

static void unlink_open(struct hf_open_pool *pool, struct hf_open *open)
{
	hf_link_remove(&open->used);
	open->listed = false;
	pool->count--;
	pool->bytes -= open->bytes;
}

static void link_newest(struct hf_open_pool *pool, struct hf_open *open)
{
	hf_link_add(&pool->used, &open->used);
	open->listed = true;
	pool->count++;
	pool->bytes += open->bytes;
}

/* ---- closing ---- */

/* How much may stay in the list. */
struct room {
	size_t count;
	uint64_t bytes;
	size_t files;
	bool newest; /* the one used last stays, too: somebody is about to use it again */
};

static struct room room_of(const struct hf_open_pool *pool)
{
	return (struct room){HF_OPEN_CAPTURES_MAX, pool->max_bytes, pool->max_files, true};
}

/* Takes those used longest ago out of the list, until the rest fits. The caller closes the chain that is returned. */
static struct hf_open *take_surplus(struct hf_open_pool *pool, struct room room)
{
	struct hf_open *chain = NULL;
	size_t files = pool->files;

	for (struct hf_link *link = pool->used.prev, *newer; link != &pool->used; link = newer) {
		struct hf_open *open = HF_OWNER(link, struct hf_open, used);

		newer = link->prev;
		if (pool->count <= room.count && pool->bytes <= room.bytes && files <= room.files)
			break;
		if (open->refs > 1 || (link == pool->used.next && room.newest))
			continue;
		unlink_open(pool, open);
		files -= open->files;
		open->capture->open = NULL;
		open->next = chain;
		chain = open;
	}
	return chain;
}

/* Tells the cache the bytes in the list after they changed. Without the lock. */
static void lend(struct hf_open_pool *pool)
{
	uint64_t bytes;

	pthread_mutex_lock(&pool->lock);
	bytes = pool->bytes;
	pthread_mutex_unlock(&pool->lock);
	if (pool->cache)
		hf_cache_lend(pool->cache, HF_LEND_OPEN_CAPTURES, bytes);
}

/* Closes one that is in no list and has no references. */
static void close_one(struct hf_open_pool *pool, struct hf_open *open)
{
	const unsigned files = open->files;

	hf_open_close(open);
	HF_LOCKED(&pool->lock);
	pool->files -= files;
	pthread_cond_broadcast(&pool->opened);
}

static size_t close_chain(struct hf_open_pool *pool, struct hf_open *chain)
{
	size_t count = 0;

	for (struct hf_open *open = chain, *next; open; open = next, count++) {
		next = open->next;
		close_one(pool, open);
	}
	if (count)
		lend(pool);
	return count;
}

size_t hf_open_pool_shed(struct hf_open_pool *pool)
{
	struct hf_open *chain;

	pthread_mutex_lock(&pool->lock);
	chain = take_surplus(pool, (struct room){0});
	pthread_mutex_unlock(&pool->lock);
	return close_chain(pool, chain);
}

/* ---- opening ---- */

/*
 * Counts the descriptors of one that is about to be opened. With the lock held, which it releases to close others.
 * Nobody waits for a capture while having another one open, so the wait for those in use ends.
 */
static void reserve(struct hf_open_pool *pool, const struct hf_common *common)
{
	const struct timespec until = hf_in_ms(PATIENCE_MS);
	int late = 0;

	while (pool->files && pool->files + HF_OPEN_FILES > pool->max_files && late != ETIMEDOUT &&
	       !hf_stopping(common)) {
		const size_t files = pool->max_files > HF_OPEN_FILES ? pool->max_files - HF_OPEN_FILES : 0;
		struct hf_open *chain =
			take_surplus(pool, (struct room){HF_OPEN_CAPTURES_MAX, UINT64_MAX, files, false});

		if (!chain) {
			late = pthread_cond_timedwait(&pool->opened, &pool->lock, &until);
			continue;
		}
		pthread_mutex_unlock(&pool->lock);
		close_chain(pool, chain);
		pthread_mutex_lock(&pool->lock);
	}
	pool->files += HF_OPEN_FILES;
}

static void want_spool(void *open);

static int open_anew(struct hf_capture *capture, uint64_t version, struct hf_open **ret_open)
{
	int err;

	for (unsigned tries = 1;; tries++) {
		err = hf_open_new(capture, version, want_spool, ret_open);
		if (!err || !hf_descriptors_again(capture->shared->descriptors, tries, err))
			break;
	}
	if (err)
		return err;
	(*ret_open)->refs = 2; /* the caller's and the pool's own */
	(*ret_open)->bytes = hf_open_memory(*ret_open);
	(*ret_open)->files = hf_open_files(*ret_open);
	return 0;
}

/* Opens the capture; the caller has set opening. With the lock held, which it releases. */
static int fill(struct hf_capture *capture, uint64_t version, struct hf_open **ret_open)
{
	struct hf_open_pool *pool = capture->shared->open_pool;
	struct hf_open *older = capture->open, *open, *surplus = NULL;
	int err;

	reserve(pool, capture->common);
	pthread_mutex_unlock(&pool->lock);
	/* An older version is still open. */
	if (older)
		hf_open_drop(capture);
	err = open_anew(capture, version, &open);
	if (!err)
		hf_capture_settle(capture, version, open->facts);
	if (!err && open->missing)
		hf_capture_repair(capture, version);
	pthread_mutex_lock(&pool->lock);
	pool->files -= HF_OPEN_FILES;
	if (!err)
		pool->files += open->files;
	capture->opening = false;
	pthread_cond_broadcast(&pool->opened);
	if (!err && capture->version == version) {
		capture->open = open;
		link_newest(pool, open);
		surplus = take_surplus(pool, room_of(pool));
	} else if (!err) {
		open->refs--;
	}
	pthread_mutex_unlock(&pool->lock);
	close_chain(pool, surplus);
	lend(pool);
	if (!err)
		*ret_open = open;
	return err;
}

static bool is_open(const struct hf_capture *capture, uint64_t version)
{
	return capture->open && capture->open->version == version;
}

/* Waits until that version is open, nobody opens any, or time is up (false). With the lock held. */
static bool await_opening(struct hf_open_pool *pool, const struct hf_capture *capture, uint64_t version,
			  const struct timespec *until)
{
	struct hf_job *job = hf_job_here();
	bool left;
	int late = 0;

	if (!capture->opening || is_open(capture, version))
		return true;
	/* The thread that opens it reads the archive, which may take long. */
	left = hf_job_leave_seat(job);
	while (capture->opening && !is_open(capture, version) && late != ETIMEDOUT)
		if (until)
			late = pthread_cond_timedwait(&pool->opened, &pool->lock, until);
		else
			pthread_cond_wait(&pool->opened, &pool->lock);
	hf_job_take_seat(job, left);
	return !capture->opening || is_open(capture, version);
}

static int get(struct hf_capture *capture, uint64_t version, const struct timespec *until, struct hf_open **ret_open)
{
	struct hf_open_pool *pool = capture->shared->open_pool;
	struct hf_open *open;

	pthread_mutex_lock(&pool->lock);
	if (!await_opening(pool, capture, version, until)) {
		pthread_mutex_unlock(&pool->lock);
		return HF_ERR_BUSY;
	}
	open = capture->open;
	if (is_open(capture, version) && capture->version == version) {
		open->refs++;
		unlink_open(pool, open);
		link_newest(pool, open);
		pthread_mutex_unlock(&pool->lock);
		*ret_open = open;
		return 0;
	}
	if (capture->version != version) {
		pthread_mutex_unlock(&pool->lock);
		return HF_ERR_CHANGED;
	}
	capture->opening = true;
	return fill(capture, version, ret_open);
}

int hf_open_get(struct hf_capture *capture, uint64_t version, struct hf_open **ret_open)
{
	return get(capture, version, NULL, ret_open);
}

int hf_open_get_within(struct hf_capture *capture, uint64_t version, unsigned wait_ms, struct hf_open **ret_open)
{
	const struct timespec until = hf_in_ms(wait_ms);

	return get(capture, version, &until, ret_open);
}

/* Measures its memory again, after 1, 2, 4, 8... uses: databases read their pages when they need them. */
static void look_again(struct hf_open_pool *pool, struct hf_open *open)
{
	const uint64_t bytes = hf_open_memory(open);

	pthread_mutex_lock(&pool->lock);
	if (open->listed)
		pool->bytes += bytes - open->bytes;
	open->bytes = bytes;
	pthread_mutex_unlock(&pool->lock);
	lend(pool);
}

void hf_open_put(struct hf_open *open)
{
	struct hf_open_pool *pool = open->capture->shared->open_pool;
	struct hf_open *surplus = NULL;
	bool last, look;

	pthread_mutex_lock(&pool->lock);
	open->uses++;
	look = !(open->uses & (open->uses - 1));
	pthread_mutex_unlock(&pool->lock);
	if (look)
		look_again(pool, open);
	pthread_mutex_lock(&pool->lock);
	last = --open->refs == 0;
	if (!last && open->refs == 1) {
		surplus = take_surplus(pool, room_of(pool));
		pthread_cond_broadcast(&pool->opened);
	}
	pthread_mutex_unlock(&pool->lock);
	close_chain(pool, surplus);
	if (last)
		close_one(pool, open);
}

/* ---- spools ---- */

/* Makes the spool of a capture. */
struct spool_job {
	struct hf_job job;
	struct hf_capture *capture;
	uint64_t version;
};

static int run_spool(struct hf_job *job, struct hf_worker *worker)
{
	const struct spool_job *spool = (struct spool_job *)job;
	struct hf_open *open;
	int err;

	(void)worker;
	if (hf_stopping(spool->capture->common))
		return HF_ERR_CANCELLED;
	err = hf_open_get(spool->capture, spool->version, &open);
	if (!err) {
		hf_spooler_make(open);
		hf_open_put(open);
	}
	return err;
}

static void end_spool(struct hf_job *job, int err)
{
	(void)err;
	free(job);
}

static void want_spool(void *ctx)
{
	const struct hf_open *open = ctx;
	struct spool_job *spool = malloc(sizeof *spool);

	if (!spool)
		return;
	*spool = (struct spool_job){.job = {.fn = run_spool, .done = end_spool, .work = HF_WORK_SPOOL},
				    .capture = open->capture,
				    .version = open->version};
	hf_job_submit(open->capture->common->exec, &spool->job);
}

/* ---- dropping ---- */

/* Takes it out of the list (only NULL: whichever is open). True: the caller closes it. With the lock held. */
static bool take_out(struct hf_capture *capture, const struct hf_open *only, struct hf_open **ret_open)
{
	struct hf_open *open = *ret_open = capture->open;

	if (!open || (only && only != open)) {
		*ret_open = NULL;
		return false;
	}
	capture->open = NULL;
	unlink_open(capture->shared->open_pool, open);
	return --open->refs == 0;
}

static void drop(struct hf_capture *capture, const struct hf_open *only)
{
	struct hf_open_pool *pool = capture->shared->open_pool;
	struct hf_open *open;
	bool last;

	pthread_mutex_lock(&pool->lock);
	last = take_out(capture, only, &open);
	pthread_mutex_unlock(&pool->lock);
	if (last)
		close_one(pool, open);
	if (open)
		lend(pool);
}

void hf_open_drop(struct hf_capture *capture)
{
	drop(capture, NULL);
}

void hf_open_drop_if(struct hf_open *open)
{
	drop(open->capture, open);
}

void hf_open_discard(struct hf_capture *capture, uint64_t version, int why)
{
	struct hf_open_pool *pool = capture->shared->open_pool;
	struct hf_open *open;

	pthread_mutex_lock(&pool->lock);
	open = capture->open;
	if (open && open->version == version)
		open->refs++;
	else
		open = NULL;
	pthread_mutex_unlock(&pool->lock);
	if (!open)
		return;
	hf_open_discard_files(open, why);
	hf_open_drop(capture);
	hf_open_put(open);
}

void hf_open_pool_fini(struct hf_open_pool *pool)
{
	hf_open_pool_shed(pool);
	pthread_mutex_destroy(&pool->lock);
	pthread_cond_destroy(&pool->opened);
}
