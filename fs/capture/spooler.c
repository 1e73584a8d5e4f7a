/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/capture/spooler.h"
#include "codecs/base/errors.h"
#include "fs/base/common.h"
#include "fs/facts/capture.h"
#include "fs/facts/opened.h"
#include "fs/facts/shared.h"
#include "fs/stream/block_source.h"
#include "index/base/fault.h"

#include <string.h>

static bool is_closing(void *ctx)
{
	const struct hf_capture *capture = ctx;

	return hf_stopping(capture->common);
}

void hf_spooler_make(struct hf_open *open)
{
	struct hf_capture *capture = open->capture;
	const struct hf_shared *shared = capture->shared;
	const struct hf_spool_build build = {
		.dirfd = shared->index_fd,
		.identity = &open->trace.identity,
		.box = hf_index_box(open->index),
		.file = open->trace.file,
		.stream_size = hf_index_stream_size(open->index),
		.limit = shared->common->options.spool_bytes,
		.cancelled = is_closing,
		.ctx = capture,
	};
	int err = hf_spool_build(&build);

	if (err == HF_ERR_CANCELLED)
		return;
	hf_metrics_add(err && err != HF_ERR_BUSY ? &shared->common->metrics.spool_errors : &shared->common->metrics.spools,
		       err != HF_ERR_BUSY);
	if (!err)
		hf_common_log(shared->common, 6,
			      "%s: is recompressed in the index directory, for it is read again and again",
			      capture->path);
	else if (err == HF_ERR_INDEX_DIR)
		hf_common_log(shared->common, 4, "%s: could not be recompressed in the index directory: %s failed: %s",
			      capture->path, hf_fault_last()->doing, strerror(hf_fault_last()->errnum));
	else if (err != HF_ERR_BUSY)
		hf_common_log(shared->common, 4, "%s: could not be recompressed in the index directory: %s", capture->path,
			  hf_err_name(err));
	/* If another process makes it, it is looked for when a spool would pay again. */
	hf_block_source_spooled(open->source, !err || err == HF_ERR_BUSY);
}
