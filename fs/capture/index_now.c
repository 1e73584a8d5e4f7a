/* SPDX-License-Identifier: Apache-2.0 */
/* Indexes a capture for a caller who waits for it, and who may want the bytes of a view meanwhile. */
#include "codecs/base/errors.h"
#include "codecs/base/number.h"
#include "fs/base/callbacks.h"
#include "fs/base/common.h"
#include "fs/base/views.h"
#include "fs/capture/all.h"
#include "fs/capture/build.h"
#include "fs/facts/state.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* The view with that path in a view directory; false: no encoder makes it, or it is that of a slice. */
static bool find_tap(const char *view, struct hf_tap *tap)
{
	char prefix[24];
	const char *rest;
	uint64_t hart;

	if (strcmp(view, hf_fs_view_ops(HF_VIEW_RECORDS)->view) == 0) {
		tap->ops = hf_fs_view_ops(HF_VIEW_RECORDS);
		tap->hart = HF_HART_RECORDS;
		return true;
	}
	if (strncmp(view, "hart", 4) != 0 || !hf_number_parse(view + 4, &hart, &rest) || hart > UINT32_MAX)
		return false;
	/* A name has no leading zeros. */
	snprintf(prefix, sizeof prefix, "hart%u/", (unsigned)hart);
	if (strncmp(view, prefix, strlen(prefix)) != 0)
		return false;
	tap->hart = (uint32_t)hart;
	for (size_t i = 0; i < HF_ENC_COUNT; i++) {
		tap->ops = hf_fs_view_ops(i);
		if (tap->ops && strcmp(rest + 1, tap->ops->view) == 0)
			return true;
	}
	return false;
}

/* Another process indexes the capture: what it makes is used. False: nobody wants to wait any more. */
static bool wait_for_other(struct hf_capture *capture, unsigned rounds)
{
	enum { MS = 50 };

	if (!rounds)
		hf_common_log(capture->common, 5, "%s: another process indexes it; this one waits", capture->path);
	nanosleep(&(struct timespec){.tv_nsec = MS * 1000000L}, NULL);
	return !hf_stopping(capture->common);
}

int hf_captures_index(struct hf_captures *all, const char *path, const char *view, hf_tap_fn put,
		      bool (*progress)(void *ctx, double percent, uint64_t insns), void *ctx, struct hf_diag *diag)
{
	struct hf_tap tap = {.put = put, .ctx = ctx};
	const bool tapped = put && find_tap(view, &tap);
	struct hf_capture *capture;
	struct hf_diag failure;
	unsigned rounds = 0;
	int err = hf_capture_at(all, path, &capture);

	if (err)
		return hf_diag_set(diag, err, HF_SPACE_FILE, HF_NOWHERE, 0);
	do
		err = hf_capture_index(capture, true, tapped ? &tap : NULL, progress, ctx, diag);
	while (err == HF_ERR_BUSY && wait_for_other(capture, rounds++));
	if (!err && hf_capture_failure(capture, &failure, NULL, 0)) {
		*diag = failure;
		err = failure.code;
	}
	return err;
}
