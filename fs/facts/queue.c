/* SPDX-License-Identifier: Apache-2.0 */
/* Requests about a capture that jobs do later: indexing, repairing the index, telling the kernel of a change. */
#include "fs/facts/queue.h"
#include "fs/base/common.h"
#include "fs/facts/capture.h"
#include "fs/facts/facts.h"

void hf_jobs_add_after(struct hf_capture *capture, bool urgent, int64_t delay_ns)
{
	HF_LOCKED(&capture->lock);
	if (capture->state == HF_CAPTURE_UNKNOWN)
		capture->state = HF_CAPTURE_QUEUED;
	if (capture->state == HF_CAPTURE_QUEUED || (capture->state == HF_CAPTURE_READY && capture->repair)) {
		hf_job_submit_after(capture->common->exec, &capture->job, delay_ns);
		if (urgent)
			hf_job_hurry(&capture->job);
	}
}

void hf_jobs_add(struct hf_capture *capture, bool urgent)
{
	hf_jobs_add_after(capture, urgent, 0);
}

void hf_capture_hurry(struct hf_capture *capture)
{
	hf_job_hurry(&capture->job);
}

void hf_jobs_notify(struct hf_capture *capture)
{
	if (capture->notice.fn)
		hf_job_submit(capture->common->exec, &capture->notice);
}

/* With the lock held: whether a repair may begin. Repairs take a bounded share of the time, however often files are
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
	bool begin;

	pthread_mutex_lock(&capture->lock);
	begin = capture->version == version && capture->state == HF_CAPTURE_READY && !capture->facts->recalled &&
		may_begin(capture);
	pthread_mutex_unlock(&capture->lock);
	if (begin && !capture->common->options.no_index)
		hf_jobs_add(capture, true);
}
