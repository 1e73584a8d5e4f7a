/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The facts of a capture: its index is looked for, queued and waited for. Facts that the catalogue recalled hold until
 * bytes are wanted, a failure for a minute.
 */
#include "fs/capture/index_wait.h"
#include "codecs/base/errors.h"
#include "fs/base/common.h"
#include "fs/capture/open_pool.h"
#include "fs/facts/capture.h"
#include "fs/facts/catalogue_use.h"
#include "fs/facts/facts.h"
#include "fs/facts/index_dir.h"
#include "fs/facts/open_facts.h"
#include "fs/facts/queue.h"
#include "fs/facts/shared.h"
#include "fs/facts/state.h"

#include <errno.h>

/* After that long a capture that could not be indexed is tried again, when somebody looks for it. */
#define RETRY_NS (INT64_C(60) * 1000000000)

/* Another thread that opens it reads the archive, which may take long: it is waited for no longer than an index. */
enum { OPEN_MS = 2000 };

/* Forgets a failure of long ago, for its cause may have passed. With the lock held; the caller unrefs the result. */
static struct hf_facts *forget_failure(struct hf_capture *capture)
{
	struct hf_facts *facts = capture->facts;

	if (capture->state != HF_CAPTURE_FAILED || hf_now_ns() - capture->failed_ns < RETRY_NS)
		return NULL;
	capture->facts = NULL;
	capture->state = HF_CAPTURE_UNKNOWN;
	return facts;
}

/* Opens the index that may be there from earlier; otherwise queues the capture. */
static int find_index(struct hf_capture *capture, bool urgent)
{
	const struct hf_shared *shared = capture->shared;
	uint64_t version = capture->version;
	struct hf_facts *facts;
	struct hf_open *open;
	struct hf_diag diag = {.offset = HF_NOWHERE};
	int err = hf_open_get_within(capture, version, OPEN_MS, &open);

	if (!err) {
		hf_open_put(open);
		return 0;
	}
	if (err == HF_ERR_NOT_FOUND) {
		if (!shared->common->options.no_index)
			hf_jobs_add(capture, urgent);
		return 0;
	}
	if (err == HF_ERR_CHANGED || err == HF_ERR_BUSY)
		return err;
	/* A shortage says nothing about the capture. In a mount a thread tries again. */
	if (hf_err_is_shortage(err)) {
		if (shared->common->options.no_index)
			return err;
		hf_jobs_add(capture, urgent);
		return 0;
	}
	diag.code = err;
	err = hf_facts_new_failed(capture, version, &diag, &facts);
	if (!err) {
		hf_capture_settle(capture, version, facts);
		hf_facts_unref(facts);
	}
	return err;
}

int hf_capture_facts(struct hf_capture *capture, unsigned wait_ms, struct hf_facts **ret_facts)
{
	const struct timespec until = hf_in_ms(wait_ms);
	struct hf_facts *old;
	bool unknown, late = false;
	int err = 0;

	*ret_facts = NULL;
	pthread_mutex_lock(&capture->lock);
	old = forget_failure(capture);
	if (capture->state == HF_CAPTURE_WAITING && wait_ms && hf_index_dir_may_try(capture->shared->index_dir))
		capture->state = HF_CAPTURE_UNKNOWN;
	unknown = capture->state == HF_CAPTURE_UNKNOWN;
	pthread_mutex_unlock(&capture->lock);
	hf_facts_unref(old);
	if (unknown)
		err = find_index(capture, wait_ms > 0);
	else if (wait_ms)
		hf_capture_hurry(capture);
	if (err)
		return err;

	pthread_mutex_lock(&capture->lock);
	while (!capture->facts && !late && wait_ms && !hf_stopping(capture->common) &&
	       (capture->state == HF_CAPTURE_QUEUED || capture->state == HF_CAPTURE_INDEXING))
		late = pthread_cond_timedwait(&capture->changed, &capture->lock, &until) == ETIMEDOUT;
	if (capture->facts)
		*ret_facts = hf_facts_ref(capture->facts);
	else
		err = capture->state == HF_CAPTURE_GONE ? HF_ERR_NOT_FOUND : HF_ERR_BUSY;
	pthread_mutex_unlock(&capture->lock);
	return err;
}

/* The catalogue told of an index that is not there: the capture counts as never indexed. */
static void forget_recalled(struct hf_capture *capture, struct hf_facts *recalled)
{
	bool forgotten;

	pthread_mutex_lock(&capture->lock);
	forgotten = capture->facts == recalled;
	if (forgotten) {
		capture->facts = NULL;
		if (capture->state == HF_CAPTURE_READY)
			capture->state = HF_CAPTURE_UNKNOWN;
	}
	pthread_mutex_unlock(&capture->lock);
	if (!forgotten)
		return;
	hf_facts_unref(recalled);
	hf_catalogue_use_put(capture, NULL);
	hf_jobs_notify(capture);
}

int hf_capture_confirm(struct hf_capture *capture, unsigned wait_ms, struct hf_facts **facts)
{
	struct hf_facts *recalled = *facts;
	struct hf_open *open;
	int err;

	if (!recalled || !recalled->recalled)
		return 0;
	*facts = NULL;
	err = hf_open_get_within(capture, recalled->version, OPEN_MS, &open);
	if (!err) {
		hf_open_put(open);
		err = hf_capture_facts_now(capture, facts);
	} else if (err == HF_ERR_NOT_FOUND) {
		forget_recalled(capture, recalled);
		err = hf_capture_facts(capture, wait_ms, facts);
	}
	hf_facts_unref(recalled);
	return err == HF_ERR_BUSY ? HF_ERR_CHANGED : err;
}

