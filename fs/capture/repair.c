/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/capture/repair.h"
#include "fs/capture/captures.h"
#include "fs/capture/repair.h"
#include "fs/capture/spooler.h"

#include <errno.h>

/* Nothing is there that could be opened. */
enum { ABSENT = 1 };

/* With the lock held: whether it is time. The share of the time that goes into repairs is bounded, however often files are
 * damaged. */
static bool may_begin(struct hf_capture *capture)
{
	if (capture->repair)
		return true;
	if (hf_now_ns() - capture->repaired_ns < capture->repair_ns)
		return false;
	capture->repair = true;
	return true;
}

void hf_capture_repair(struct hf_capture *capture, uint64_t version)
{
	struct hf_captures *all = capture->all;
	bool begin;

	pthread_mutex_lock(&capture->lock);
	begin = capture->version == version && capture->state == HF_CAPTURE_READY && !capture->facts->recalled &&
		may_begin(capture);
	pthread_mutex_unlock(&capture->lock);
	if (begin && !all->common->options.no_index)
		hf_jobs_add(all, capture, true);
}

static int try_open(struct hf_capture *capture, uint64_t version, int view, struct hf_open **ret_open)
{
	int err = hf_open_get(capture, version, ret_open);

	if (err == HF_ERR_NOT_FOUND)
		return ABSENT;
	/* Made again it is not what it was. */
	if (err == HF_ERR_MISMATCH) {
		hf_capture_distrust(capture, version, err);
		return HF_ERR_CHANGED;
	}
	if (!err && view >= 0 && !(*ret_open)->table[view]) {
		hf_open_put(*ret_open);
		err = ABSENT;
	}
	return err;
}

/* Whether a repair came to its end. */
static bool await(struct hf_capture *capture, uint64_t version, unsigned wait_ms)
{
	const int64_t until_ns = hf_now_ns() + (int64_t)wait_ms * 1000000;
	const struct timespec until = {.tv_sec = until_ns / 1000000000, .tv_nsec = until_ns % 1000000000};
	bool done, late = false;

	pthread_mutex_lock(&capture->lock);
	while (capture->repair && capture->version == version && !late && !capture->all->common->closing)
		late = pthread_cond_timedwait(&capture->changed, &capture->lock, &until) == ETIMEDOUT;
	done = !capture->repair;
	pthread_mutex_unlock(&capture->lock);
	return done;
}

int hf_capture_reopen(struct hf_capture *capture, uint64_t version, int view, unsigned wait_ms, struct hf_open **ret_open)
{
	struct hf_diag diag;
	bool done = false;
	int err = try_open(capture, version, view, ret_open);

	if (err != ABSENT)
		return err;
	hf_capture_repair(capture, version);
	/* Where nothing is indexed in the background, it is done here. */
	if (wait_ms && capture->all->common->options.no_index)
		done = !hf_capture_index(capture, true, NULL, NULL, NULL, &diag);
	else if (wait_ms)
		done = await(capture, version, wait_ms);
	if (done)
		err = try_open(capture, version, view, ret_open);
	return err == ABSENT ? HF_ERR_STATE : err;
}

bool hf_open_remove_damaged(struct hf_open *open)
{
	struct hf_captures *all = open->capture->all;
	const bool first = !atomic_exchange(&open->blamed, true);
	bool any = open->index && hf_index_is_damaged(open->index);

	if (any) {
		hf_index_remove(open->index);
		if (first)
			hf_common_log(all->common, 4, "%s: index file %s is damaged; it is made again", open->capture->path,
				  hf_index_name(open->index));
	}
	for (size_t i = 0; open->table && i < HF_VIEW_COUNT; i++) {
		const struct hf_view_table *table = open->table[i];

		if (!table || !hf_view_table_is_damaged(table))
			continue;
		any = true;
		hf_view_table_remove(table);
		if (first)
			hf_common_log(all->common, 4, "%s: index file %s is damaged; it is made again", open->capture->path,
				  hf_view_table_name(table));
	}
	return any;
}

void hf_open_blame(struct hf_open *open, int err)
{
	struct hf_capture *capture = open->capture;

	if (err == HF_ERR_INDEX_DIR) {
		hf_capture_distrust(capture, open->version, err);
		return;
	}
	if (err != HF_ERR_STATE && err != HF_ERR_MISMATCH)
		return;
	if (hf_open_remove_damaged(open)) {
		hf_open_drop_if(open);
		hf_capture_repair(capture, open->version);
	} else {
		hf_capture_distrust(capture, open->version, HF_ERR_MISMATCH);
	}
}
