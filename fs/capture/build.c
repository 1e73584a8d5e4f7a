/* SPDX-License-Identifier: Apache-2.0 */
/* Indexes one capture, on the calling thread. */
#include "fs/capture/build.h"
#include "codecs/base/errors.h"
#include "codecs/isa/disasm.h"
#include "fs/archive/descriptors.h"
#include "fs/archive/stamp.h"
#include "fs/base/views.h"
#include "fs/capture/drop_index.h"
#include "fs/capture/open_pool.h"
#include "fs/capture/open_trace.h"
#include "fs/capture/recognise.h"
#include "fs/facts/capture.h"
#include "fs/facts/facts.h"
#include "fs/facts/index_dir.h"
#include "fs/facts/info.h"
#include "fs/facts/open_facts.h"
#include "fs/facts/shared.h"
#include "fs/facts/state.h"
#include "fs/program/symbol_files.h"
#include "index/summary/summary.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Captures that are being indexed in this process: they share the threads that indexing may use. */
static _Atomic unsigned building;

struct progress {
	struct hf_capture *capture;
	uint64_t version;
	struct hf_stop stop; /* is_over */
	struct hf_stop pausing; /* is_over_by_now: for reads of the capture only */
	int64_t looked_ns;   /* when it last checked whether to give way */
	bool foreground; /* a caller waits, and will report the result */
	bool repair;     /* of an index that is in use */
	const struct hf_tap *tap; /* or NULL */
	bool (*fn)(void *ctx, double percent, uint64_t insns);
	void *ctx;
};

/* The fs is closing, or the capture has changed. */
static bool is_over(void *ctx)
{
	const struct progress *progress = ctx;

	return hf_stopping(progress->capture->common) || progress->capture->version != progress->version;
}

/*
 * Pauses if all indexing threads are busy and somebody waits for another capture. The build keeps its files open and
 * what it has in memory, and goes on later. It holds no lock but those of its own private files.
 */
static void give_way(struct progress *progress)
{
	struct hf_capture *capture = progress->capture;
	struct hf_job *job = hf_job_here();
	int64_t paused_ns;

	if (!job || job->work != HF_WORK_INDEX || !hf_job_must_give_way(job))
		return;
	pthread_mutex_lock(&capture->lock);
	capture->paused_ns = hf_now_ns();
	pthread_mutex_unlock(&capture->lock);
	atomic_fetch_sub_explicit(&building, 1, memory_order_relaxed);
	hf_descriptors_pause_build(capture->shared->descriptors, true);
	paused_ns = hf_job_give_way(job, &progress->stop);
	hf_descriptors_pause_build(capture->shared->descriptors, false);
	atomic_fetch_add_explicit(&building, 1, memory_order_relaxed);
	pthread_mutex_lock(&capture->lock);
	capture->paused_ns = 0;
	capture->started_ns += paused_ns;
	pthread_mutex_unlock(&capture->lock);
}

#define LOOK_NS (INT64_C(10) * 1000000)

/* Bytes without instructions end no chunk, so on_progress is not called: reading them gives way instead. */
static bool is_over_by_now(void *ctx)
{
	struct progress *progress = ctx;
	const struct hf_job *job = hf_job_here();

	/* Threads that help wait for the one that owns the build. */
	if (job && job->work == HF_WORK_INDEX && hf_now_ns() - progress->looked_ns >= LOOK_NS) {
		progress->looked_ns = hf_now_ns();
		give_way(progress);
	}
	return is_over(progress);
}

static int on_progress(void *ctx, const struct hf_build_progress *now)
{
	struct progress *progress = ctx;
	struct hf_capture *capture = progress->capture;
	double percent;

	pthread_mutex_lock(&capture->lock);
	capture->progress = *now;
	percent = hf_capture_percent(capture);
	pthread_mutex_unlock(&capture->lock);
	give_way(progress);
	if (is_over(progress))
		return 1;
	return progress->fn && !progress->fn(progress->ctx, percent, now->insns);
}

static unsigned share_of_threads(void *ctx)
{
	const struct progress *progress = ctx;
	unsigned count = atomic_load_explicit(&building, memory_order_relaxed);

	return progress->capture->common->index_threads / (count ? count : 1);
}

static uint64_t too_small(struct hf_capture *capture, uint64_t at_least)
{
	HF_LOCKED(&capture->lock);
	if (capture->too_small < at_least)
		capture->too_small = at_least;
	return capture->too_small;
}

/* Builds in the index directory or, where that fails, in memory: tries each once. HF_ERR_INDEX_DIR: both failed. */
static int build_somewhere(struct hf_capture *capture, bool publish, struct hf_build *build, struct hf_diag *diag)
{
	struct hf_index_dir *dir = capture->shared->index_dir;
	uint64_t least = 0;
	bool memory, tried_memory = false, tried_disk = false;
	int err = HF_ERR_INDEX_DIR;

	while (err == HF_ERR_INDEX_DIR) {
		const uint64_t free_bytes = hf_index_dir_free(dir);

		build->dir = hf_index_dir_choose(dir, publish, too_small(capture, least), &memory);
		if (memory ? tried_memory : tried_disk)
			break;
		*(memory ? &tried_memory : &tried_disk) = true;
		/* A summary is not worth memory. */
		build->summary = capture->common->options.summary && !memory;
		err = hf_build_run(build, diag);
		if (memory)
			hf_index_dir_kept(dir);
		else if (!err)
			hf_index_dir_wrote(dir);
		if (err != HF_ERR_INDEX_DIR)
			break;
		if (memory)
			least = free_bytes;
		else
			hf_index_dir_failed(dir);
	}
	return err;
}

static bool may_publish(struct hf_capture *capture)
{
	HF_LOCKED(&capture->lock);
	return hf_index_dir_may_publish(capture->shared->index_dir, &capture->access);
}

/* The index of a small capture goes into a pack, unless it turns out large. */
static int build_in_place(struct hf_capture *capture, struct hf_build *build, struct hf_diag *diag)
{
	struct hf_index_dir *dir = capture->shared->index_dir;
	const bool publish = may_publish(capture);
	int err = HF_ERR_INDEX_DIR;

	build->dir = hf_index_dir_choose_pack(dir, publish, build->identity.size);
	if (build->dir)
		err = hf_build_run(build, diag);
	if (!err)
		hf_index_dir_packed(dir);
	return err == HF_ERR_INDEX_DIR ? build_somewhere(capture, publish, build, diag) : err;
}

void hf_builder_init(struct hf_builder *builder, uint64_t chunk_insns)
{
	builder->limits = hf_chunk_limits_default;
	if (chunk_insns)
		builder->limits.insns = chunk_insns;
}

void hf_builder_fini(struct hf_builder *builder)
{
	for (size_t i = 0; i < sizeof builder->spare_disasm / sizeof *builder->spare_disasm; i++)
		hf_disasm_free(builder->spare_disasm[i]);
}

/* A new one clears two megabytes. */
static int take_disasm(struct hf_builder *builder, struct hf_disasm **ret_disasm)
{
	for (size_t i = 0; i < sizeof builder->spare_disasm / sizeof *builder->spare_disasm; i++) {
		*ret_disasm = atomic_exchange(&builder->spare_disasm[i], NULL);
		if (*ret_disasm)
			return 0;
	}
	return hf_disasm_new(ret_disasm);
}

static void give_disasm(struct hf_builder *builder, struct hf_disasm *disasm)
{
	for (size_t i = 0; i < sizeof builder->spare_disasm / sizeof *builder->spare_disasm && disasm; i++)
		disasm = atomic_exchange(&builder->spare_disasm[i], disasm);
	hf_disasm_free(disasm);
}

/* Whether that field of the capture has this version, and clears it. */
static bool take_version(struct hf_capture *capture, uint64_t *field, uint64_t version)
{
	bool same;

	HF_LOCKED(&capture->lock);
	same = *field == version;
	*field = 0;
	return same;
}

static void tell_bad(void *ctx, const char *name, const char *what)
{
	const struct hf_capture *capture = ctx;

	hf_common_log(capture->common, 4, "%s: index file %s %s; it is made again", capture->path, name, what);
}

/* Keeps only views without symbols, while it is not known which symbols there are. */
static size_t without_names(struct hf_view_key *views, size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (!(views[i].ops->flags & HF_ENC_SYMBOLS))
			views[n++] = views[i];
	return n;
}

/* One build, with the symbols that files has by now. *ret_dir: the directory of its files. */
static int build_named(const struct hf_trace *trace, const struct hf_symbol_files *files, struct hf_disasm *disasm,
		       struct progress *progress, const struct hf_store_dir **ret_dir, struct hf_diag *diag)
{
	const struct hf_shared *shared = progress->capture->shared;
	struct hf_view_key views[HF_VIEW_COUNT];
	struct hf_build build = hf_open_build(progress->capture, trace, files, views);
	int err;

	build.limits = &shared->builder->limits;
	build.on_progress = on_progress;
	build.threads = share_of_threads;
	build.tap = progress->tap;
	build.ctx = progress;
	build.disasm = disasm;
	if (files->waiting)
		build.view_count = without_names(views, build.view_count);
	if (!take_version(progress->capture, &progress->capture->examined, progress->version))
		hf_index_examine(shared->dir, &trace->identity, views, build.view_count, HF_EXAMINE_OPENED, tell_bad,
				 progress->capture, NULL);
	err = build_in_place(progress->capture, &build, diag);
	*ret_dir = build.dir;
	return err;
}

/* The load addresses of ELF files are found in the code that was executed: views with symbols need a second build. */
static int build_placed(const struct hf_trace *trace, struct hf_symbol_files *files, struct hf_disasm *disasm,
			struct progress *progress, struct hf_diag *diag)
{
	bool moved = false;
	const struct hf_store_dir *dir;
	int err;

	for (size_t i = 0; i < files->file_count; i++)
		if (files->file[i].src)
			files->file[i].src->stop = &progress->stop;
	err = build_named(trace, files, disasm, progress, &dir, diag);

	if (err)
		return err;
	err = hf_symbol_files_place_in(files, &progress->capture->load_addresses, progress->version, dir,
				       &trace->identity, &moved);
	if (err)
		return hf_diag_set(diag, err, HF_SPACE_FILE, HF_NOWHERE, 0);
	return moved ? build_named(trace, files, disasm, progress, &dir, diag) : 0;
}

static int run_build(const struct hf_shared *shared, const struct hf_trace *trace, const struct hf_stamp *stamp,
		     struct progress *progress, struct hf_diag *diag)
{
	struct hf_symbol_files files;
	struct hf_disasm *disasm;
	int err = hf_capture_open_symbol_files(progress->capture, trace, stamp, &files);

	if (err)
		return hf_diag_set(diag, err, HF_SPACE_FILE, HF_NOWHERE, 0);
	err = take_disasm(shared->builder, &disasm);
	if (!err)
		err = hf_symbol_files_trust(&files);
	if (!err)
		err = build_placed(trace, &files, disasm, progress, diag);
	give_disasm(shared->builder, disasm);
	hf_symbol_files_close(&files);
	return err;
}

static void count(struct hf_capture *capture, int err)
{
	struct hf_metrics *metrics = &capture->common->metrics;

	hf_metrics_add(&metrics->indexed, !err);
	hf_metrics_add(&metrics->index_failed, err && err != HF_ERR_INDEX_DIR && hf_err_class(err) != HF_CLASS_state);
	/* Only the thread whose turn it is writes started_ns. */
	hf_metrics_add(&metrics->index_ns, (uint64_t)(hf_now_ns() - capture->started_ns));
}

static void tell_density(struct hf_capture *capture, const struct hf_open *open)
{
	const uint64_t density = hf_info_density(open);

	if (density)
		hf_common_log(capture->common, 5, "%s: each of its bytes stands for %llu instructions",
			      capture->path, (unsigned long long)density);
}

static int build_once(struct hf_capture *capture, const struct hf_stamp *stamp, struct progress *progress,
		      struct hf_diag *diag)
{
	struct hf_trace trace;
	int err = hf_capture_open_trace(capture, stamp, &trace, diag);

	if (err)
		return err;
	trace.file->stop = &progress->pausing;
	atomic_fetch_add_explicit(&building, 1, memory_order_relaxed);
	err = run_build(capture->shared, &trace, stamp, progress, diag);
	atomic_fetch_sub_explicit(&building, 1, memory_order_relaxed);
	hf_trace_close(&trace);
	return err;
}

/* Whether all of the index can be opened: 0, HF_ERR_NOT_FOUND, or another error. */
static int open_whole(struct hf_capture *capture, uint64_t version)
{
	struct hf_open *open;
	int err = hf_open_get(capture, version, &open);

	if (err)
		return err;
	if (open->missing)
		err = HF_ERR_NOT_FOUND;
	hf_open_put(open);
	return err;
}

/* HF_ERR_NOT_FOUND: what was published cannot be opened. */
static int build_and_open(struct hf_capture *capture, const struct hf_stamp *stamp, struct progress *progress,
			  struct hf_diag *diag)
{
	struct hf_descriptors *descriptors = capture->shared->descriptors;
	int err = hf_descriptors_begin_build(descriptors, &progress->stop);

	if (err)
		return err;
	for (unsigned tries = 1;; tries++) {
		err = build_once(capture, stamp, progress, diag);
		/* The next try goes on with the private files of this one. */
		if (!err || !hf_descriptors_again(capture->shared->descriptors, tries, err))
			break;
	}
	hf_descriptors_end_build(descriptors);
	count(capture, err);
	if (err)
		return err;
	hf_common_log(capture->common, progress->foreground ? 7 : 6, "%s: indexed in %.1f s", capture->path,
		  (double)(hf_now_ns() - capture->started_ns) / 1e9);
	/* It may be open without a table that is there now. */
	hf_open_drop(capture);
	hf_index_dir_keep_limit(capture->shared->index_dir);
	return open_whole(capture, progress->version);
}

/* Whether it was indexed without a summary, and should have one. */
static bool lacks_summary(struct hf_capture *capture, uint64_t version)
{
	const struct hf_fs_options *options = &capture->common->options;
	struct hf_summary *summary = NULL;
	struct hf_open *open;
	bool lacks = false;

	if (!options->summary || !options->summary_of_indexed || hf_index_dir_is_none(capture->shared->index_dir) ||
	    hf_open_get(capture, version, &open))
		return false;
	/* Captures in packs have no summary. */
	if (open->trace.identity.size >= options->pack_below && hf_summary_is_wanted(open->index))
		lacks = hf_open_summary(open, &summary) == HF_ERR_NOT_FOUND;
	hf_summary_close(summary);
	hf_open_put(open);
	return lacks;
}

static int build(struct hf_capture *capture, const struct hf_stamp *stamp, struct progress *progress,
		 struct hf_diag *diag)
{
	struct hf_open *open;
	/* If another process has built it meanwhile, the build finds that. */
	int err = take_version(capture, &capture->absent, progress->version) ? HF_ERR_NOT_FOUND
									     : open_whole(capture, progress->version);

	if (!err && lacks_summary(capture, progress->version))
		err = HF_ERR_NOT_FOUND;
	if (err != HF_ERR_NOT_FOUND)
		return err;
	err = build_and_open(capture, stamp, progress, diag);
	/* If the directory failed when the index was opened, the next one is made in memory. */
	if (err == HF_ERR_NOT_FOUND)
		err = build_and_open(capture, stamp, progress, diag);
	if (!err && !hf_open_get(capture, progress->version, &open)) {
		tell_density(capture, open);
		hf_open_put(open);
	}
	/* Twice a published index was not there: trying again would not help. */
	return err == HF_ERR_NOT_FOUND ? HF_ERR_STATE : err;
}

/* Waits for the turn to build and takes it. False: another thread has it, or nothing is to be built; *ret_err says. */
static bool take_turn(struct hf_capture *capture, bool wait, struct progress *progress, struct hf_stamp *ret_stamp,
		      int *ret_err)
{
	bool turn = false;

	HF_LOCKED(&capture->lock);
	while (capture->building && wait)
		pthread_cond_wait(&capture->changed, &capture->lock);
	if (capture->building) {
		*ret_err = HF_ERR_BUSY;
	} else if ((capture->state == HF_CAPTURE_READY && !capture->repair &&
		    (!capture->facts->recalled || capture->confirmed == capture->version)) ||
		   capture->state == HF_CAPTURE_GONE) {
		*ret_err = capture->state == HF_CAPTURE_READY ? 0 : HF_ERR_NOT_FOUND;
	} else if (capture->state == HF_CAPTURE_FAILED && !wait) {
		*ret_err = capture->facts->failure.code;
	} else {
		turn = true;
		progress->repair = capture->state == HF_CAPTURE_READY && capture->repair;
		/* While an index is repaired, its capture is served as far as possible. */
		if (!progress->repair) {
			hf_facts_unref(capture->facts);
			capture->facts = NULL;
			capture->state = HF_CAPTURE_INDEXING;
		}
		capture->building = true;
		capture->progress = (struct hf_build_progress){0};
		capture->started_ns = hf_now_ns();
		*ret_stamp = capture->stamp;
		progress->version = capture->version;
	}
	return turn;
}

/* A repair that failed is tried again after this time. */
#define REPAIR_PAUSE_NS (INT64_C(2) * 1000000000)

/* Ends the turn and sets the state of the capture. A successful build has made it READY already. */
static void end_turn(struct hf_capture *capture, const struct progress *progress, int err, const struct hf_diag *diag)
{
	const uint64_t version = progress->version;
	const int64_t now_ns = hf_now_ns();
	char text[HF_DIAG_SIZE];
	struct hf_facts *facts = NULL;
	bool failed = err && err != HF_ERR_CANCELLED && err != HF_ERR_BUSY && err != HF_ERR_CHANGED &&
		      err != HF_ERR_INDEX_DIR && !hf_capture_may_try(capture, err);

	if (failed && progress->repair) {
		hf_diag_format(diag, text, sizeof text);
		hf_common_log(capture->common, 4, "%s: its index could not be made again: %s", capture->path,
			      text);
	} else if (failed && !hf_facts_new_failed(capture, version, diag, &facts)) {
		hf_capture_settle(capture, version, facts);
		hf_facts_unref(facts);
	}
	pthread_mutex_lock(&capture->lock);
	capture->building = false;
	if (err == HF_ERR_INDEX_DIR)
		capture->failed_ns = now_ns;
	if (progress->repair && err != HF_ERR_BUSY) {
		capture->repair = false;
		capture->repaired_ns = now_ns;
		capture->repair_ns = now_ns - capture->started_ns;
		if (err && capture->repair_ns < REPAIR_PAUSE_NS)
			capture->repair_ns = REPAIR_PAUSE_NS;
	}
	if (capture->state == HF_CAPTURE_INDEXING)
		capture->state = err == HF_ERR_BUSY	   ? HF_CAPTURE_QUEUED
				 : err == HF_ERR_INDEX_DIR ? HF_CAPTURE_WAITING
							   : HF_CAPTURE_UNKNOWN;
	if (!hf_err_is_shortage(err))
		capture->shortages = 0;
	pthread_cond_broadcast(&capture->changed);
	pthread_mutex_unlock(&capture->lock);
	if (err == HF_ERR_INDEX_DIR)
		hf_index_dir_waited_for(capture->shared->index_dir);
}

int hf_capture_index(struct hf_capture *capture, bool wait, const struct hf_tap *tap,
		     bool (*fn)(void *ctx, double percent, uint64_t insns), void *ctx, struct hf_diag *diag)
{
	struct progress progress = {.capture = capture, .foreground = wait, .tap = tap, .fn = fn, .ctx = ctx};
	struct hf_stamp stamp;
	int err;

	progress.stop = (struct hf_stop){.wanted = is_over, .ctx = &progress};
	progress.pausing = (struct hf_stop){.wanted = is_over_by_now, .ctx = &progress};
	hf_diag_set(diag, 0, HF_SPACE_FILE, HF_NOWHERE, 0);
	if (!take_turn(capture, wait, &progress, &stamp, &err))
		return hf_diag_set(diag, err, HF_SPACE_FILE, HF_NOWHERE, 0);
	err = build(capture, &stamp, &progress, diag);
	if (err && diag->code != err)
		hf_diag_set(diag, err, HF_SPACE_FILE, HF_NOWHERE, 0);
	end_turn(capture, &progress, err, diag);
	/* The repaired index differs from the damaged one. */
	if (progress.repair && err == HF_ERR_MISMATCH)
		hf_capture_drop_index(capture, progress.version, err);
	if (err == HF_ERR_CHANGED) {
		struct stat st;

		/* Begins the new version; the next look-up queues it. */
		hf_capture_check(capture, &st);
	}
	return err;
}

