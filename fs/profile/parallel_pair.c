/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/profile/parallel_pair.h"
#include "fs/base/common.h"

struct half {
	struct hf_job job;
	int (*fn)(void *ctx);
	void *ctx;
	int err;
};

static int run(struct hf_job *job, struct hf_worker *worker)
{
	struct half *half = (struct half *)job;

	(void)worker;
	half->err = half->fn(half->ctx);
	return half->err;
}

/* Nobody may wait for a job that has not begun: it is taken back then. */
static void end(struct half *half)
{
	struct hf_job *here = hf_job_here();
	bool left;

	if (hf_job_cancel(&half->job)) {
		half->err = half->fn(half->ctx);
		return;
	}
	left = hf_job_leave_seat(here);
	hf_job_join(&half->job);
	hf_job_take_seat(here, left);
}

int hf_profile_parallel_pair(const struct hf_profile_source *source, int (*fn)(void *ctx), void *one, void *other)
{
	struct half half = {
		.job = {.fn = run, .work = HF_WORK_DECODE}, .fn = fn, .ctx = other, .err = HF_ERR_CANCELLED};
	int err;

	hf_job_submit(source->open->capture->common->exec, &half.job);
	err = fn(one);
	end(&half);
	return err ? err : half.err;
}
