/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a capture's index, looked at page by page. */
#include "fs/capture/captures.h"
#include "fs/capture/trace.h"

static int examine(struct hf_captures *all, struct hf_capture *capture, hf_examine_fn fn, void *ctx,
		   struct hf_diag *diag)
{
	struct hf_view_key key[HF_VIEW_COUNT];
	struct hf_companion companion;
	struct hf_trace trace;
	struct hf_stamp stamp;
	uint64_t version;
	int err;

	pthread_mutex_lock(&capture->lock);
	stamp = capture->stamp;
	version = capture->version;
	pthread_mutex_unlock(&capture->lock);
	err = hf_capture_open_trace(capture, &stamp, &trace, diag);
	if (err)
		return err;
	err = hf_companion_open(capture, &trace, &stamp, &companion);
	if (!err) {
		err = hf_companion_place_in(&companion, capture, version, all->index_fd, &trace.identity, NULL);
		if (!err)
			err = hf_index_examine(all->index_fd, &trace.identity, key,
					       hf_open_views(capture, &companion, key), HF_EXAMINE_PAGES, fn, ctx);
		hf_companion_close(&companion);
	}
	hf_trace_close(&trace);
	return err ? hf_diag_set(diag, err, HF_SPACE_FILE, HF_NOWHERE, 0) : 0;
}

int hf_captures_examine(struct hf_captures *all, const char *path,
			void (*fn)(void *ctx, const char *name, const char *what), void *ctx, struct hf_diag *diag)
{
	struct hf_capture *capture;
	int err = hf_capture_at(all, path, &capture);

	return err ? hf_diag_set(diag, err, HF_SPACE_FILE, HF_NOWHERE, 0) : examine(all, capture, fn, ctx, diag);
}
