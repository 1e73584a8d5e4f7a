/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/capture/jobs.h"
#include "fs/core.h"

#include <stddef.h>
#include <stdlib.h>

/* Between two looks whether another process has finished a capture. */
#define AGAIN_NS (INT64_C(500) * 1000000)

static void add(struct hf_fs *fs, struct hf_capture *capture, bool urgent, int64_t delay_ns)
{
	pthread_mutex_lock(&capture->lock);
	if (capture->state == HF_CAPTURE_UNKNOWN)
		capture->state = HF_CAPTURE_QUEUED;
	if (capture->state == HF_CAPTURE_QUEUED || (capture->state == HF_CAPTURE_READY && capture->repair)) {
		hf_job_submit_after(fs->exec, &capture->job, delay_ns);
		if (urgent)
			hf_job_hurry(&capture->job);
	}
	pthread_mutex_unlock(&capture->lock);
}

void hf_jobs_add(struct hf_fs *fs, struct hf_capture *capture, bool urgent)
{
	add(fs, capture, urgent, 0);
}

void hf_jobs_hurry(struct hf_capture *capture)
{
	hf_job_hurry(&capture->job);
}

static int run_index(struct hf_job *job, struct hf_worker *worker)
{
	struct hf_capture *capture = (struct hf_capture *)((char *)job - offsetof(struct hf_capture, job));
	struct hf_fs *fs = capture->fs;
	struct hf_diag diag;
	int err;

	(void)worker;
	if (hf_fs_stopping(fs))
		return HF_ERR_CANCELLED;
	err = hf_capture_index(capture, false, NULL, NULL, NULL, &diag);
	/* Another process is at it, the file changed meanwhile and perhaps goes on changing, or memory or descriptors ran
	 * out; if that happened too often it is not queued any more. */
	if (!hf_fs_stopping(fs) && (err == HF_ERR_BUSY || err == HF_ERR_CHANGED || err == HF_ERR_CANCELLED ||
			     hf_err_is_shortage(err)))
		add(fs, capture, false, AGAIN_NS);
	return err;
}

static bool is_idle(struct hf_fs *fs)
{
	return !fs->jobs.walking && !hf_exec_load(fs->exec, HF_WORK_INDEX, HF_URGENT) &&
	       !hf_exec_load(fs->exec, HF_WORK_INDEX, HF_LATER);
}

static void look_if_idle(struct hf_fs *fs)
{
	struct hf_jobs *jobs = &fs->jobs;

	pthread_mutex_lock(&jobs->lock);
	if (is_idle(fs)) {
		pthread_cond_broadcast(&jobs->idle);
		if (jobs->on_idle)
			hf_job_submit(fs->exec, &jobs->tell_idle);
	}
	pthread_mutex_unlock(&jobs->lock);
}

static void end_index(struct hf_job *job, int err)
{
	struct hf_capture *capture = (struct hf_capture *)((char *)job - offsetof(struct hf_capture, job));

	(void)err;
	look_if_idle(capture->fs);
}

static int run_notice(struct hf_job *job, struct hf_worker *worker)
{
	struct hf_capture *capture = (struct hf_capture *)((char *)job - offsetof(struct hf_capture, notice));
	struct hf_fs *fs = capture->fs;
	size_t count = hf_nodes_of(&fs->nodes, capture, NULL, 0);
	uint64_t *ino = count ? malloc(count * sizeof *ino) : NULL;
	size_t have;

	(void)worker;
	if (!ino)
		return 0;
	have = hf_nodes_of(&fs->nodes, capture, ino, count);
	for (size_t i = 0; i < have && i < count; i++)
		fs->options.invalidate(fs->options.invalidate_ctx, ino[i]);
	free(ino);
	return 0;
}

void hf_jobs_notify(struct hf_fs *fs, struct hf_capture *capture)
{
	if (fs->options.invalidate)
		hf_job_submit(fs->exec, &capture->notice);
}

void hf_jobs_init_capture(struct hf_capture *capture)
{
	capture->job = (struct hf_job){
		.fn = run_index, .done = end_index, .work = HF_WORK_INDEX, .urgency = HF_LATER};
	capture->notice = (struct hf_job){.fn = run_notice, .work = HF_WORK_SERVE};
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

static struct hf_fs *fs_of(struct hf_jobs *jobs)
{
	return (struct hf_fs *)((char *)jobs - offsetof(struct hf_fs, jobs));
}

static int run_walk(struct hf_job *job, struct hf_worker *worker)
{
	struct hf_fs *fs = fs_of((struct hf_jobs *)((char *)job - offsetof(struct hf_jobs, walk)));

	(void)worker;
	return hf_fs_each_capture(fs, "", add_found, fs);
}

static void end_walk(struct hf_job *job, int err)
{
	struct hf_jobs *jobs = (struct hf_jobs *)((char *)job - offsetof(struct hf_jobs, walk));

	(void)err;
	pthread_mutex_lock(&jobs->lock);
	jobs->walking = false;
	pthread_mutex_unlock(&jobs->lock);
	look_if_idle(fs_of(jobs));
}

static int run_tell_idle(struct hf_job *job, struct hf_worker *worker)
{
	struct hf_jobs *jobs = (struct hf_jobs *)((char *)job - offsetof(struct hf_jobs, tell_idle));
	void (*on_idle)(void *ctx) = NULL;

	(void)worker;
	pthread_mutex_lock(&jobs->lock);
	if (is_idle(fs_of(jobs))) {
		on_idle = jobs->on_idle;
		jobs->on_idle = NULL;
	}
	pthread_mutex_unlock(&jobs->lock);
	if (on_idle)
		on_idle(jobs->on_idle_ctx);
	return 0;
}

void hf_jobs_init(struct hf_fs *fs)
{
	struct hf_jobs *jobs = &fs->jobs;

	pthread_mutex_init(&jobs->lock, NULL);
	pthread_cond_init(&jobs->idle, NULL);
	jobs->walk = (struct hf_job){.fn = run_walk, .done = end_walk, .work = HF_WORK_CHORE};
	jobs->tell_idle = (struct hf_job){.fn = run_tell_idle, .work = HF_WORK_CHORE};
}

void hf_jobs_stop(struct hf_fs *fs)
{
	struct hf_jobs *jobs = &fs->jobs;

	pthread_mutex_lock(&jobs->lock);
	jobs->stop = true;
	jobs->on_idle = NULL;
	pthread_cond_broadcast(&jobs->idle);
	pthread_mutex_unlock(&jobs->lock);
}

void hf_jobs_fini(struct hf_fs *fs)
{
	pthread_mutex_destroy(&fs->jobs.lock);
	pthread_cond_destroy(&fs->jobs.idle);
}

void hf_fs_index_all(struct hf_fs *fs)
{
	struct hf_jobs *jobs = &fs->jobs;
	bool begin;

	pthread_mutex_lock(&jobs->lock);
	begin = !jobs->walking && !jobs->stop;
	jobs->walking |= begin;
	pthread_mutex_unlock(&jobs->lock);
	if (begin)
		hf_job_submit(fs->exec, &jobs->walk);
}

void hf_fs_idle(struct hf_fs *fs)
{
	struct hf_jobs *jobs = &fs->jobs;

	pthread_mutex_lock(&jobs->lock);
	while (!is_idle(fs) && !jobs->stop)
		pthread_cond_wait(&jobs->idle, &jobs->lock);
	pthread_mutex_unlock(&jobs->lock);
}

void hf_fs_when_idle(struct hf_fs *fs, void (*fn)(void *ctx), void *ctx)
{
	struct hf_jobs *jobs = &fs->jobs;

	pthread_mutex_lock(&jobs->lock);
	jobs->on_idle = fn;
	jobs->on_idle_ctx = ctx;
	pthread_mutex_unlock(&jobs->lock);
	look_if_idle(fs);
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
