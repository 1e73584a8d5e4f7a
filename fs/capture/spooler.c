/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/capture/block_source.h"
#include "fs/core.h"

#include <sys/resource.h>

/* Reads come first. */
#define NICE 10

void hf_spooler_init(struct hf_spooler *spooler)
{
	*spooler = (struct hf_spooler){0};
	pthread_mutex_init(&spooler->lock, NULL);
	pthread_cond_init(&spooler->wake, NULL);
}

void hf_spooler_fini(struct hf_spooler *spooler)
{
	pthread_mutex_destroy(&spooler->lock);
	pthread_cond_destroy(&spooler->wake);
}

void hf_spooler_stop(struct hf_spooler *spooler)
{
	bool running;

	pthread_mutex_lock(&spooler->lock);
	spooler->stop = true;
	running = spooler->has_thread;
	pthread_cond_signal(&spooler->wake);
	pthread_mutex_unlock(&spooler->lock);
	if (running)
		pthread_join(spooler->thread, NULL);
}

static bool is_closing(void *ctx)
{
	const struct hf_capture *capture = ctx;

	return hf_fs_stopping(capture->fs);
}

static void make(struct hf_capture *capture, struct hf_open *open)
{
	struct hf_fs *fs = capture->fs;
	const struct hf_spool_build build = {
		.dirfd = fs->index_fd,
		.identity = &open->trace.identity,
		.box = hf_index_box(open->index),
		.file = open->trace.file,
		.stream_size = hf_index_stream_size(open->index),
		.limit = fs->options.spool_bytes,
		.cancelled = is_closing,
		.ctx = capture,
	};
	int err = hf_spool_build(&build);

	if (err == HF_ERR_CANCELLED)
		return;
	hf_metrics_add(err && err != HF_ERR_BUSY ? &fs->metrics.spool_errors : &fs->metrics.spools, err != HF_ERR_BUSY);
	if (!err)
		hf_fs_log(fs, 6, "%s: is recompressed in the index directory, for it is read again and again", capture->path);
	else if (err == HF_ERR_INDEX_DIR)
		hf_fs_log(fs, 4, "%s: could not be recompressed in the index directory: %s failed: %s", capture->path,
			  hf_fault_last()->doing, strerror(hf_fault_last()->errnum));
	else if (err != HF_ERR_BUSY)
		hf_fs_log(fs, 4, "%s: could not be recompressed in the index directory: %s", capture->path,
			  hf_err_name(err));
	/* Where another process is at it, it is looked for when it would pay again. */
	hf_block_source_spooled(open->source, !err || err == HF_ERR_BUSY);
}

static void *run(void *ctx)
{
	struct hf_fs *fs = ctx;
	struct hf_spooler *spooler = &fs->spooler;

	setpriority(PRIO_PROCESS, 0, NICE);
	pthread_mutex_lock(&spooler->lock);
	while (!spooler->stop) {
		struct hf_capture *capture = spooler->first;
		struct hf_open *open;
		uint64_t version;

		if (!capture) {
			pthread_cond_wait(&spooler->wake, &spooler->lock);
			continue;
		}
		spooler->first = capture->spool_next;
		if (!spooler->first)
			spooler->last = NULL;
		version = capture->spool_version;
		capture->spool_version = 0;
		pthread_mutex_unlock(&spooler->lock);
		if (!hf_open_get(capture, version, &open)) {
			make(capture, open);
			hf_open_put(open);
		}
		pthread_mutex_lock(&spooler->lock);
	}
	pthread_mutex_unlock(&spooler->lock);
	return NULL;
}

static void enqueue(struct hf_spooler *spooler, struct hf_capture *capture)
{
	capture->spool_next = NULL;
	if (spooler->last)
		spooler->last->spool_next = capture;
	else
		spooler->first = capture;
	spooler->last = capture;
}

static void want(void *ctx)
{
	const struct hf_open *open = ctx;
	struct hf_capture *capture = open->capture;
	struct hf_spooler *spooler = &capture->fs->spooler;

	pthread_mutex_lock(&spooler->lock);
	if (!spooler->stop && !spooler->has_thread)
		spooler->has_thread = pthread_create(&spooler->thread, NULL, run, capture->fs) == 0;
	if (!spooler->stop && spooler->has_thread) {
		if (!capture->spool_version)
			enqueue(spooler, capture);
		capture->spool_version = open->version;
		pthread_cond_signal(&spooler->wake);
	}
	pthread_mutex_unlock(&spooler->lock);
}

void hf_spooler_attach(struct hf_open *open)
{
	struct hf_fs *fs = open->capture->fs;

	if (!fs->options.spool_bytes)
		return;
	open->spooling = (struct hf_spooling){
		.dirfd = fs->index_fd,
		.identity = open->trace.identity,
		.wanted = want,
		.ctx = open,
		.reads = &fs->metrics.spool_reads,
		.damaged = &fs->metrics.spools_damaged,
	};
	hf_block_source_spool(open->source, &open->spooling);
}
