/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/bytes/answer.h"

#include "codecs/isa/disasm.h"
#include "fs/capture/all.h"
#include "fs/capture/open_pool.h"
#include "fs/capture/repair.h"

struct answer {
	struct hf_job job;
	struct hf_capture *capture;
	uint64_t version;
	int (*fn)(void *ctx, struct hf_open *open, struct hf_worker *worker);
	void *ctx;
	int err;
};

int hf_answer_check(const struct hf_open *open, int err)
{
	const struct hf_bytes any = {.capture = open->capture, .version = open->version};

	return hf_bytes_check_made(&any, err);
}

int hf_answer_make(struct hf_capture *capture, uint64_t version,
		   int (*fn)(void *ctx, struct hf_open *open, struct hf_worker *worker), void *ctx, struct hf_worker *worker)
{
	struct hf_open *open;
	int err = hf_disasm_need(&worker->env.disasm);

	if (!err)
		err = hf_capture_reopen(capture, version, -1, HF_REPAIR_MS, &open);
	if (!err) {
		err = hf_answer_check(open, fn(ctx, open, worker));
		hf_bytes_close(open, err);
	}
	return err;
}

static int run(struct hf_job *job, struct hf_worker *worker)
{
	struct answer *answer = (struct answer *)job;

	return answer->err = hf_answer_make(answer->capture, answer->version, answer->fn, answer->ctx, worker);
}

int hf_answer_run(struct hf_capture *capture, uint64_t version,
		  int (*fn)(void *ctx, struct hf_open *open, struct hf_worker *worker), void *ctx)
{
	struct answer answer = {.job = {.fn = run, .work = HF_WORK_DECODE},
				.capture = capture,
				.version = version,
				.fn = fn,
				.ctx = ctx,
				.err = HF_ERR_CANCELLED};

	hf_job_submit(capture->common->exec, &answer.job);
	hf_job_join(&answer.job);
	return answer.err;
}

int hf_answer_here(struct hf_captures *all, const char *path, int (*fn)(void *ctx, struct hf_open *open), void *ctx,
		   const char *why)
{
	struct hf_capture *capture;
	struct hf_open *open;
	int err = hf_capture_at(all, path, &capture);

	if (!err)
		err = hf_open_get(capture, capture->version, &open);
	if (err)
		return err;
	err = fn(ctx, open);
	hf_bytes_close(open, *why ? 0 : err);
	return err;
}

int hf_answer_summed(struct hf_open *open, int (*fn)(void *ctx, struct hf_summary *summary), void *ctx)
{
	struct hf_summary *summary;
	int err;

	if (hf_open_summary(open, &summary))
		return fn(ctx, NULL);
	err = fn(ctx, summary);
	if (err == HF_ERR_STATE)
		hf_summary_remove(summary);
	hf_summary_close(summary);
	return err == HF_ERR_STATE ? fn(ctx, NULL) : err;
}
