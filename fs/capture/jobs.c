/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/capture/jobs.h"
#include "fs/core.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

/* Between two looks whether another process has finished a capture. */
enum { BUSY_WAIT_MS = 500, NICE = 10 };

static void push(struct hf_jobs_queue *queue, struct hf_capture *capture)
{
	capture->queue_next = NULL;
	if (queue->last)
		queue->last->queue_next = capture;
	else
		queue->first = capture;
	queue->last = capture;
}

static struct hf_capture *pop(struct hf_jobs_queue *queue)
{
	struct hf_capture *capture = queue->first;

	if (capture) {
		queue->first = capture->queue_next;
		if (!queue->first)
			queue->last = NULL;
	}
	return capture;
}

static bool take_out(struct hf_jobs_queue *queue, struct hf_capture *capture)
{
	struct hf_capture *before = NULL;

	for (struct hf_capture *at = queue->first; at; before = at, at = at->queue_next) {
		if (at != capture)
			continue;
		if (before)
			before->queue_next = at->queue_next;
		else
			queue->first = at->queue_next;
		if (queue->last == at)
			queue->last = before;
		return true;
	}
	return false;
}

/* Sleeps, but not when the fs is being closed. */
static void wait_a_little(struct hf_jobs *jobs)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += BUSY_WAIT_MS * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&jobs->lock);
	if (!jobs->stop)
		pthread_cond_timedwait(&jobs->work, &jobs->lock, &until);
	pthread_mutex_unlock(&jobs->lock);
}

static void index_one(struct hf_fs *fs, struct hf_capture *capture)
{
	struct hf_diag diag;
	int err = hf_capture_index(capture, false, NULL, NULL, NULL, &diag);

	/* Another process is at it, the file changed meanwhile and perhaps goes on changing, or memory or descriptors ran
	 * out; if that happened too often it is not queued any more. */
	if (!hf_fs_stopping(fs) && (err == HF_ERR_BUSY || err == HF_ERR_CHANGED || err == HF_ERR_CANCELLED ||
			     hf_err_is_shortage(err))) {
		wait_a_little(&fs->jobs);
		hf_jobs_add(fs, capture, false);
	}
}

static void *index_thread(void *arg)
{
	struct hf_fs *fs = arg;
	struct hf_jobs *jobs = &fs->jobs;
	struct hf_capture *capture;

	/* Readers come first; on Linux this is the thread's own. */
	setpriority(PRIO_PROCESS, 0, NICE);
	pthread_mutex_lock(&jobs->lock);
	for (;;) {
		while (!jobs->stop && !(capture = pop(&jobs->urgent)) && !(capture = pop(&jobs->normal)))
			pthread_cond_wait(&jobs->work, &jobs->lock);
		if (jobs->stop)
			break;
		capture->queued = false;
		jobs->queued--;
		jobs->running++;
		pthread_mutex_unlock(&jobs->lock);
		index_one(fs, capture);
		pthread_mutex_lock(&jobs->lock);
		jobs->running--;
		if (!jobs->queued && !jobs->running && !jobs->walking)
			pthread_cond_broadcast(&jobs->idle);
	}
	pthread_mutex_unlock(&jobs->lock);
	return NULL;
}

/* With the lock held. */
static void start_threads(struct hf_fs *fs)
{
	struct hf_jobs *jobs = &fs->jobs;

	while (jobs->started < jobs->threads && jobs->started < jobs->queued + jobs->running && !jobs->stop) {
		if (pthread_create(&jobs->thread[jobs->started], NULL, index_thread, fs))
			break;
		jobs->started++;
	}
}

void hf_jobs_add(struct hf_fs *fs, struct hf_capture *capture, bool urgent)
{
	struct hf_jobs *jobs = &fs->jobs;

	pthread_mutex_lock(&capture->lock);
	if (capture->state == HF_CAPTURE_UNKNOWN)
		capture->state = HF_CAPTURE_QUEUED;
	if (capture->state == HF_CAPTURE_QUEUED || (capture->state == HF_CAPTURE_READY && capture->repair)) {
		pthread_mutex_lock(&jobs->lock);
		if (!capture->queued && !jobs->stop) {
			capture->queued = true;
			jobs->queued++;
			push(urgent ? &jobs->urgent : &jobs->normal, capture);
			start_threads(fs);
			pthread_cond_signal(&jobs->work);
		}
		pthread_mutex_unlock(&jobs->lock);
	}
	pthread_mutex_unlock(&capture->lock);
}

void hf_jobs_hurry(struct hf_fs *fs, struct hf_capture *capture)
{
	struct hf_jobs *jobs = &fs->jobs;

	pthread_mutex_lock(&jobs->lock);
	if (capture->queued && take_out(&jobs->normal, capture))
		push(&jobs->urgent, capture);
	pthread_mutex_unlock(&jobs->lock);
}

void hf_jobs_notify(struct hf_fs *fs, struct hf_capture *capture)
{
	struct hf_jobs *jobs = &fs->jobs;

	if (!fs->options.invalidate)
		return;
	pthread_mutex_lock(&jobs->lock);
	if (!capture->notified && !jobs->stop) {
		capture->notified = true;
		capture->notify_next = NULL;
		if (jobs->notify.last)
			jobs->notify.last->notify_next = capture;
		else
			jobs->notify.first = capture;
		jobs->notify.last = capture;
		pthread_cond_signal(&jobs->notices);
	}
	pthread_mutex_unlock(&jobs->lock);
}

static void notify_of(struct hf_fs *fs, struct hf_capture *capture)
{
	size_t count = hf_nodes_of(&fs->nodes, capture, NULL, 0);
	uint64_t *ino = count ? malloc(count * sizeof *ino) : NULL;
	size_t have;

	if (!ino)
		return;
	have = hf_nodes_of(&fs->nodes, capture, ino, count);
	for (size_t i = 0; i < have && i < count; i++)
		fs->options.invalidate(fs->options.invalidate_ctx, ino[i]);
	free(ino);
}

static void *notify_thread(void *arg)
{
	struct hf_fs *fs = arg;
	struct hf_jobs *jobs = &fs->jobs;
	struct hf_capture *capture;

	pthread_mutex_lock(&jobs->lock);
	for (;;) {
		while (!jobs->stop && !jobs->notify.first)
			pthread_cond_wait(&jobs->notices, &jobs->lock);
		if (jobs->stop)
			break;
		capture = jobs->notify.first;
		jobs->notify.first = capture->notify_next;
		if (!jobs->notify.first)
			jobs->notify.last = NULL;
		capture->notified = false;
		pthread_mutex_unlock(&jobs->lock);
		notify_of(fs, capture);
		pthread_mutex_lock(&jobs->lock);
	}
	pthread_mutex_unlock(&jobs->lock);
	return NULL;
}

int hf_jobs_init(struct hf_fs *fs)
{
	struct hf_jobs *jobs = &fs->jobs;

	pthread_mutex_init(&jobs->lock, NULL);
	pthread_cond_init(&jobs->work, NULL);
	pthread_cond_init(&jobs->idle, NULL);
	pthread_cond_init(&jobs->notices, NULL);
	jobs->threads = fs->options.index_threads ? fs->options.index_threads : hf_pool_cores();
	jobs->thread = calloc(jobs->threads, sizeof *jobs->thread);
	if (!jobs->thread)
		return HF_ERR_NOMEM;
	if (fs->options.invalidate) {
		if (pthread_create(&jobs->notifier, NULL, notify_thread, fs))
			return HF_ERR_NOMEM;
		jobs->has_notifier = true;
	}
	return 0;
}

void hf_jobs_fini(struct hf_fs *fs)
{
	struct hf_jobs *jobs = &fs->jobs;

	pthread_mutex_lock(&jobs->lock);
	jobs->stop = true;
	pthread_cond_broadcast(&jobs->work);
	pthread_cond_broadcast(&jobs->notices);
	pthread_cond_broadcast(&jobs->idle);
	pthread_mutex_unlock(&jobs->lock);
	if (jobs->has_walker)
		pthread_join(jobs->walker, NULL);
	for (unsigned i = 0; i < jobs->started; i++)
		pthread_join(jobs->thread[i], NULL);
	if (jobs->has_notifier)
		pthread_join(jobs->notifier, NULL);
	free(jobs->thread);
	pthread_mutex_destroy(&jobs->lock);
	pthread_cond_destroy(&jobs->work);
	pthread_cond_destroy(&jobs->idle);
	pthread_cond_destroy(&jobs->notices);
}

static bool add_found(void *ctx, const char *path, const char *view_dir)
{
	struct hf_fs *fs = ctx;
	struct hf_capture *capture;
	struct hf_facts *facts;

	(void)view_dir;
	if (hf_fs_stopping(fs))
		return false;
	/* Either there is an index of it already, or this queues it. */
	if (!hf_capture_at(fs, path, &capture) && !hf_capture_facts(capture, 0, &facts))
		hf_facts_unref(facts);
	return true;
}

static void *walk_thread(void *arg)
{
	struct hf_fs *fs = arg;
	struct hf_jobs *jobs = &fs->jobs;

	setpriority(PRIO_PROCESS, 0, NICE);
	hf_fs_each_capture(fs, "", add_found, fs);
	pthread_mutex_lock(&jobs->lock);
	jobs->walking--;
	if (!jobs->queued && !jobs->running && !jobs->walking)
		pthread_cond_broadcast(&jobs->idle);
	pthread_mutex_unlock(&jobs->lock);
	return NULL;
}

int hf_fs_index_all(struct hf_fs *fs)
{
	struct hf_jobs *jobs = &fs->jobs;
	int err = 0;

	pthread_mutex_lock(&jobs->lock);
	if (!jobs->walking && !jobs->stop) {
		/* One that walked before is done, or about to return. */
		if (jobs->has_walker)
			pthread_join(jobs->walker, NULL);
		jobs->walking = 1;
		jobs->has_walker = !pthread_create(&jobs->walker, NULL, walk_thread, fs);
		if (!jobs->has_walker) {
			jobs->walking = 0;
			err = HF_ERR_NOMEM;
		}
	}
	pthread_mutex_unlock(&jobs->lock);
	return err;
}

void hf_fs_idle(struct hf_fs *fs)
{
	struct hf_jobs *jobs = &fs->jobs;

	pthread_mutex_lock(&jobs->lock);
	while ((jobs->queued || jobs->running || jobs->walking) && !jobs->stop)
		pthread_cond_wait(&jobs->idle, &jobs->lock);
	pthread_mutex_unlock(&jobs->lock);
}

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

size_t hf_fs_failures(struct hf_fs *fs, void (*fn)(void *ctx, const char *path, const struct hf_diag *diag), void *ctx)
{
	struct failures failures = {0};
	struct hf_diag diag;
	size_t have;

	hf_captures_each(&fs->captures, collect_failure, &failures);
	failures.room = failures.count;
	failures.capture = calloc(failures.room + 1, sizeof(struct hf_capture *));
	if (!failures.capture)
		return failures.count;
	failures.count = 0;
	hf_captures_each(&fs->captures, collect_failure, &failures);
	have = failures.count < failures.room ? failures.count : failures.room;
	qsort(failures.capture, have, sizeof(struct hf_capture *), by_path);
	for (size_t i = 0; fn && i < have; i++)
		if (hf_capture_failure(failures.capture[i], &diag, NULL, 0))
			fn(ctx, failures.capture[i]->path, &diag);
	free(failures.capture);
	return failures.count;
}
