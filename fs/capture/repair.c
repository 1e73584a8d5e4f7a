/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/capture/repair.h"
#include "codecs/base/errors.h"
#include "fs/base/common.h"
#include "fs/capture/build.h"
#include "fs/capture/drop_index.h"
#include "fs/capture/open_capture.h"
#include "fs/capture/open_pool.h"
#include "fs/facts/capture.h"
#include "fs/facts/queue.h"

#include <errno.h>

/* There is no index, or no table of the view. */
enum { ABSENT = 1 };

static int try_open(struct hf_capture *capture, uint64_t version, int view, struct hf_open **ret_open)
{
	int err = hf_open_get(capture, version, ret_open);

	if (err == HF_ERR_NOT_FOUND)
		return ABSENT;
	/* The index that was made again differs from the old one. */
	if (err == HF_ERR_MISMATCH) {
		hf_capture_drop_index(capture, version, err);
		return HF_ERR_CHANGED;
	}
	if (!err && view >= 0 && !(*ret_open)->table[view]) {
		hf_open_put(*ret_open);
		err = ABSENT;
	}
	return err;
}

/* Waits for a repair. Returns whether it ended. */
static bool await(struct hf_capture *capture, uint64_t version, unsigned wait_ms)
{
	const struct timespec until = hf_in_ms(wait_ms);
	bool done, late = false;

	HF_LOCKED(&capture->lock);
	while (capture->repair && capture->version == version && !late && !capture->common->closing)
		late = pthread_cond_timedwait(&capture->changed, &capture->lock, &until) == ETIMEDOUT;
	done = !capture->repair;
	return done;
}

int hf_capture_reopen(struct hf_capture *capture, uint64_t version, int view, unsigned wait_ms,
		      struct hf_open **ret_open)
{
	struct hf_diag diag;
	bool done = false;
	int err = try_open(capture, version, view, ret_open);

	if (err != ABSENT)
		return err;
	hf_capture_repair(capture, version);
	/* Nothing is indexed in the background: done here. */
	if (wait_ms && capture->common->options.no_index)
		done = !hf_capture_index(capture, true, NULL, NULL, NULL, &diag);
	else if (wait_ms)
		done = await(capture, version, wait_ms);
	if (done)
		err = try_open(capture, version, view, ret_open);
	return err == ABSENT ? HF_ERR_STATE : err;
}

void hf_open_blame(struct hf_open *open, int err)
{
	struct hf_capture *capture = open->capture;

	if (err == HF_ERR_INDEX_DIR) {
		hf_capture_drop_index(capture, open->version, err);
		return;
	}
	if (err != HF_ERR_STATE && err != HF_ERR_MISMATCH)
		return;
	if (hf_open_remove_damaged(open)) {
		hf_open_drop_if(open);
		hf_capture_repair(capture, open->version);
	} else {
		hf_capture_drop_index(capture, open->version, HF_ERR_MISMATCH);
	}
}
