/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/base/errors.h"
#include "fs/capture/block_source.h"
#include "fs/capture/captures.h"
#include "fs/capture/spooler.h"

#include <stdlib.h>

/* The spool of a capture that is to be made. */
struct spool_job {
	struct hf_job job;
	struct hf_capture *capture;
	uint64_t version;
};

static bool is_closing(void *ctx)
{
	const struct hf_capture *capture = ctx;

	return hf_stopping(capture->all->common);
}

static void make(struct hf_capture *capture, struct hf_open *open)
{
	struct hf_captures *all = capture->all;
	const struct hf_spool_build build = {
		.dirfd = all->index_fd,
		.identity = &open->trace.identity,
		.box = hf_index_box(open->index),
		.file = open->trace.file,
		.stream_size = hf_index_stream_size(open->index),
		.limit = all->common->options.spool_bytes,
		.cancelled = is_closing,
		.ctx = capture,
	};
	int err = hf_spool_build(&build);

	if (err == HF_ERR_CANCELLED)
		return;
	hf_metrics_add(err && err != HF_ERR_BUSY ? &all->common->metrics.spool_errors : &all->common->metrics.spools,
		       err != HF_ERR_BUSY);
	if (!err)
		hf_common_log(all->common, 6,
			      "%s: is recompressed in the index directory, for it is read again and again",
			      capture->path);
	else if (err == HF_ERR_INDEX_DIR)
		hf_common_log(all->common, 4, "%s: could not be recompressed in the index directory: %s failed: %s",
			      capture->path, hf_fault_last()->doing, strerror(hf_fault_last()->errnum));
	else if (err != HF_ERR_BUSY)
		hf_common_log(all->common, 4, "%s: could not be recompressed in the index directory: %s", capture->path,
			  hf_err_name(err));
	/* Where another process is at it, it is looked for when it would pay again. */
	hf_block_source_spooled(open->source, !err || err == HF_ERR_BUSY);
}

static int run_spool(struct hf_job *job, struct hf_worker *worker)
{
	const struct spool_job *spool = (struct spool_job *)job;
	struct hf_open *open;
	int err;

	(void)worker;
	if (hf_stopping(spool->capture->all->common))
		return HF_ERR_CANCELLED;
	err = hf_open_get(spool->capture, spool->version, &open);
	if (!err) {
		make(spool->capture, open);
		hf_open_put(open);
	}
	return err;
}

static void end_spool(struct hf_job *job, int err)
{
	(void)err;
	free(job);
}

void hf_spooler_want(void *ctx)
{
	const struct hf_open *open = ctx;
	struct spool_job *spool = malloc(sizeof *spool);

	if (!spool)
		return;
	*spool = (struct spool_job){.job = {.fn = run_spool, .done = end_spool, .work = HF_WORK_SPOOL},
				    .capture = open->capture,
				    .version = open->version};
	hf_job_submit(open->capture->all->common->exec, &spool->job);
}
