/* SPDX-License-Identifier: Apache-2.0 */
/* What all kinds of bytes have in common: opening the capture for them, and making a piece. */
#include "fs/bytes/bytes.h"
#include "fs/capture/open_pool.h"
#include "fs/capture/recognise.h"
#include "fs/capture/repair.h"

#include <stdlib.h>

void hf_bytes_ref(const struct hf_bytes *bytes)
{
	if (bytes->own)
		bytes->ops->ref(bytes);
}

void hf_bytes_unref(const struct hf_bytes *bytes)
{
	if (bytes->own)
		bytes->ops->unref(bytes);
}

int hf_bytes_open(const struct hf_bytes *bytes, unsigned wait_ms, struct hf_open **ret_open)
{
	*ret_open = NULL;
	if (bytes->closed)
		return 0;
	return hf_capture_reopen(bytes->capture, bytes->version, bytes->ops->table ? (int)bytes->view : -1, wait_ms,
				 ret_open);
}

int hf_bytes_check(const struct hf_bytes *bytes)
{
	struct stat st;
	int err = hf_capture_check(bytes->capture, &st);

	if (err && err != HF_ERR_NOT_FOUND)
		return err;
	return err || bytes->capture->version != bytes->version ? HF_ERR_CHANGED : 0;
}

int hf_bytes_check_made(const struct hf_bytes *bytes, int err)
{
	const bool blamed = err == HF_ERR_MISMATCH || err == HF_ERR_STATE;
	const int now = err == HF_ERR_CANCELLED ? 0 : hf_bytes_check(bytes);

	return now && (!err || blamed || now == HF_ERR_CHANGED) ? now : err;
}

int hf_bytes_make_piece(const struct hf_bytes *bytes, struct hf_open *open, uint64_t number, struct hf_worker *worker,
			uint8_t **ret_bytes, size_t *ret_size)
{
	struct hf_piece piece;
	uint8_t *to = NULL;
	int err = bytes->ops->piece(bytes, open, number, &piece);

	/* The index does not have what it has promised. */
	if (err == HF_ERR_NOT_FOUND || err == HF_NOTE_END)
		return HF_ERR_MISMATCH;
	if (err)
		return err;
	if (piece.size < SIZE_MAX - HF_SINK_ROOM)
		to = hf_cache_alloc(bytes->capture->common->cache, (size_t)piece.size + HF_SINK_ROOM);
	if (!to)
		return HF_ERR_NOMEM;
	err = bytes->ops->fill(bytes, open, &piece, worker, to);
	if (err) {
		free(to);
		return err == HF_ERR_NOT_FOUND ? HF_ERR_MISMATCH : err;
	}
	*ret_bytes = to;
	*ret_size = (size_t)piece.size;
	return 0;
}

int hf_bytes_make(const struct hf_bytes *bytes, uint64_t number, struct hf_worker *worker, uint8_t **ret_bytes,
		  size_t *ret_size)
{
	struct hf_open *open;
	int err, made;

	if (hf_stopping(bytes->capture->common))
		return HF_ERR_CANCELLED;
	made = hf_bytes_open(bytes, 0, &open);
	if (!made)
		made = hf_bytes_make_piece(bytes, open, number, worker, ret_bytes, ret_size);
	err = hf_bytes_check_made(bytes, made);
	if (err && !made)
		free(*ret_bytes);
	hf_bytes_close(open, err);
	return err;
}

/* A piece that is a block which others use too. HF_NOTE_END: it is to be made. */
static int borrow(const struct hf_bytes *bytes, uint64_t number, struct hf_cache_block **ret_lent)
{
	struct hf_open *open;
	struct hf_piece piece;
	int err;

	*ret_lent = NULL;
	if (!bytes->ops->lend || hf_stopping(bytes->capture->common))
		return HF_NOTE_END;
	err = hf_bytes_open(bytes, 0, &open);
	if (!err)
		err = bytes->ops->piece(bytes, open, number, &piece);
	if (!err)
		err = bytes->ops->lend(bytes, open, &piece, ret_lent);
	if (err) {
		hf_bytes_close(open, 0);
		return err == HF_ERR_CANCELLED ? err : (int)HF_NOTE_END;
	}
	err = hf_bytes_check_made(bytes, 0);
	if (err) {
		hf_cache_unpin(bytes->capture->common->cache, *ret_lent);
		*ret_lent = NULL;
	}
	hf_bytes_close(open, err);
	return err;
}

void hf_bytes_close(struct hf_open *open, int err)
{
	if (!open)
		return;
	hf_open_blame(open, err);
	hf_open_put(open);
}

struct make_job {
	struct hf_job job;
	struct hf_bytes bytes;
	uint64_t number;
	struct hf_cache_block *block, *lent; /* lent: which block it is; NULL: made is malloc'ed */
	uint8_t *made;
	size_t size;
};

static int run_make(struct hf_job *job, struct hf_worker *worker)
{
	struct make_job *make = (struct make_job *)job;
	struct hf_metrics *metrics = &make->bytes.capture->common->metrics;
	const int64_t start_ns = hf_now_ns();
	int err = borrow(&make->bytes, make->number, &make->lent);

	if (!err)
		make->size = make->lent->size;
	else if (err == HF_NOTE_END)
		err = hf_bytes_make(&make->bytes, make->number, worker, &make->made, &make->size);
	if (err == HF_ERR_CANCELLED && job->gave_up)
		return err;
	hf_metrics_add(err ? &metrics->chunk_errors : &metrics->chunks, 1);
	hf_metrics_add(&metrics->chunk_bytes, err ? 0 : make->size);
	hf_metrics_add(&metrics->chunk_ns, (uint64_t)(hf_now_ns() - start_ns));
	return err;
}

/* What was made ahead was given up: true, if nobody has come to want it. Whoever has has taken it on. */
static bool is_over(struct make_job *make)
{
	struct hf_common *common = make->bytes.capture->common;

	if (hf_cache_abandon(common->cache, make->block))
		return true;
	make->job.spare = make->job.gave_up = false;
	make->job.urgency = HF_URGENT;
	hf_job_submit(common->exec, &make->job);
	return false;
}

static void end_make(struct hf_job *job, int err)
{
	struct make_job *make = (struct make_job *)job;
	struct hf_cache *cache = make->bytes.capture->common->cache;
	const bool gave_up = err == HF_ERR_CANCELLED && job->gave_up;

	if (gave_up && !is_over(make))
		return;
	if (!err && make->lent)
		hf_cache_fill_lent(cache, make->block, make->lent);
	else if (!err)
		hf_cache_fill(cache, make->block, make->made, make->size);
	else if (!gave_up)
		hf_cache_fail(cache, make->block, err);
	hf_bytes_unref(&make->bytes);
	free(make);
}

void hf_bytes_submit(const struct hf_bytes *bytes, uint64_t number, struct hf_cache_block *block,
		     enum hf_urgency urgency)
{
	struct hf_common *common = bytes->capture->common;
	struct make_job *make = malloc(sizeof *make);

	if (!make) {
		hf_cache_fail(common->cache, block, HF_ERR_NOMEM);
		return;
	}
	*make = (struct make_job){.job = {.fn = run_make,
					  .done = end_make,
					  .work = HF_WORK_DECODE,
					  .urgency = urgency,
					  .spare = urgency == HF_LATER},
				  .bytes = *bytes,
				  .number = number,
				  .block = block};
	/* The file may be closed before the job runs. */
	hf_bytes_ref(bytes);
	hf_job_submit(common->exec, &make->job);
}
