/* SPDX-License-Identifier: Apache-2.0 */
/* Compares a capture's index with one that is made anew: hartfs verify. */
#include "codecs/isa/disasm.h"
#include "fs/archive/stamp.h"
#include "fs/base/common.h"
#include "fs/base/views.h"
#include "fs/capture/all.h"
#include "fs/capture/drop_index.h"
#include "fs/capture/open_trace.h"
#include "fs/facts/opened.h"
#include "fs/facts/shared.h"

#include <stdatomic.h>

struct compare {
	struct hf_capture *capture;
	uint64_t version;
	struct hf_stop stop; /* is_over */
	void (*fn)(void *ctx, const char *name, const char *what);
	void *ctx;
	bool differs;
};

/* Captures that are being compared: they share the threads. */
static _Atomic unsigned comparing;

static bool is_over(void *ctx)
{
	const struct compare *compare = ctx;

	return hf_stopping(compare->capture->common) || compare->capture->version != compare->version;
}

static int on_progress(void *ctx, const struct hf_build_progress *progress)
{
	(void)progress;
	return is_over(ctx);
}

static unsigned share_of_threads(void *ctx)
{
	const struct compare *compare = ctx;
	const unsigned count = atomic_load_explicit(&comparing, memory_order_relaxed);

	return compare->capture->common->index_threads / (count ? count : 1);
}

static void take(void *ctx, const char *name, const char *what)
{
	struct compare *compare = ctx;

	compare->differs = true;
	compare->fn(compare->ctx, name, what);
}

static int compare_symbol_files(struct compare *compare, const struct hf_trace *trace,
				const struct hf_symbol_files *files, struct hf_diag *diag)
{
	struct hf_view_key views[HF_VIEW_COUNT];
	struct hf_build build = hf_open_build(compare->capture, trace, files, views);
	int err = hf_disasm_new(&build.disasm);

	build.dirfd = compare->capture->shared->index_fd;
	build.on_progress = on_progress;
	build.threads = share_of_threads;
	build.ctx = compare;
	if (err)
		return err;
	atomic_fetch_add_explicit(&comparing, 1, memory_order_relaxed);
	err = hf_index_compare(&build, take, compare, diag);
	atomic_fetch_sub_explicit(&comparing, 1, memory_order_relaxed);
	hf_disasm_free(build.disasm);
	return err;
}

static int compare_trace(struct compare *compare, const struct hf_stamp *stamp, struct hf_diag *diag)
{
	struct hf_capture *capture = compare->capture;
	struct hf_symbol_files files;
	struct hf_trace trace;
	int err = hf_capture_open_trace(capture, stamp, &trace, diag);

	if (err)
		return err;
	trace.file->stop = &compare->stop;
	err = hf_capture_open_symbol_files(capture, &trace, stamp, &files);
	if (!err) {
		err = hf_symbol_files_place_in(&files, &capture->load_addresses, compare->version,
					       capture->shared->index_fd, &trace.identity, NULL);
		if (!err)
			err = compare_symbol_files(compare, &trace, &files, diag);
		hf_symbol_files_close(&files);
	}
	hf_trace_close(&trace);
	return err;
}

int hf_captures_compare(struct hf_captures *all, const char *path,
			void (*fn)(void *ctx, const char *name, const char *what), void *ctx, struct hf_diag *diag)
{
	struct compare compare = {.fn = fn, .ctx = ctx};
	struct hf_stamp stamp;
	int err = hf_capture_at(all, path, &compare.capture);

	if (!err) {
		compare.stop = (struct hf_stop){.wanted = is_over, .ctx = &compare};
		pthread_mutex_lock(&compare.capture->lock);
		stamp = compare.capture->stamp;
		compare.version = compare.capture->version;
		pthread_mutex_unlock(&compare.capture->lock);
		err = compare_trace(&compare, &stamp, diag);
	}
	/* A wrong index is not to serve anybody. */
	if (compare.differs)
		hf_capture_drop_index(compare.capture, compare.version, HF_ERR_MISMATCH);
	return err && diag->code != err ? hf_diag_set(diag, err, HF_SPACE_FILE, HF_NOWHERE, 0) : err;
}
