/* SPDX-License-Identifier: Apache-2.0 */
/* When which slice is measured, who waits for it, and how far it is. */
#include "codecs/base/errors.h"
#include "fs/bytes/slice.h"
#include "fs/bytes/slice_parts.h"
#include "fs/capture/open_pool.h"
#include "fs/capture/repair.h"
#include "fs/facts/facts.h"
#include "fs/facts/info.h"
#include "fs/facts/state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Measuring up to so many instructions is done at once; of longer slices one after the other, in steps. */
#define SHORT (UINT64_C(4) << 20)
enum { QUEUE_MAX = 64 };
/* A lookup waits that long; nobody who asked for a long slice waits for its turn after that. */
#define PATIENCE_NS (INT64_C(2) * 1000000000)
#define WANTED_NS (INT64_C(60) * 1000000000)

/* ---- parts that are done ---- */

static size_t bytes_of(const struct hf_slice_part *part)
{
	size_t bytes = 0;

	for (size_t i = 0; i < part->marks; i++)
		bytes += sizeof *part->mark + part->mark[i].entry_size + 16;
	return bytes;
}

/* What was used for long learned much, and is not kept. */
static void end_cutter(struct hf_measure *m, int err)
{
	if (!m->encoder)
		return;
	hf_slice_encoder_free(m->encoder);
	hf_decoder_pool_put(&m->maker, m->turn ? (int)HF_NOTE_END : err);
	m->encoder = NULL;
}

/* Of the part at hand: it is measured, or it is not. */
static void settle_part(struct hf_measure *m, int err)
{
	struct hf_slices *slices = m->slice->slices;
	struct hf_slice_part *part = &m->slice->part[m->view];

	end_cutter(m, err);
	if (err)
		hf_slice_free_part(&m->part);
	pthread_mutex_lock(&slices->lock);
	part->err = err;
	part->state = err ? HF_SLICE_UNKNOWN : HF_SLICE_READY;
	if (!err) {
		const size_t bytes = bytes_of(&m->part);

		part->base = m->part.base;
		part->size = m->part.size;
		part->number = m->part.number;
		part->stride = m->part.stride;
		part->marks = m->part.marks;
		part->mark = m->part.mark;
		m->slice->bytes += bytes;
		slices->bytes += bytes;
	}
	pthread_cond_broadcast(&slices->changed);
	pthread_mutex_unlock(&slices->lock);
	m->part = (struct hf_slice_part){0};
}

/* Nobody measures the slice any more; what is still open of it failed with err. */
static void end_measure(struct hf_job *job, int err)
{
	struct hf_measure *m = (struct hf_measure *)job, *next = NULL;
	struct hf_exec *exec = m->slice->capture->common->exec;
	struct hf_slices *slices = m->slice->slices;

	end_cutter(m, err);
	hf_slice_free_part(&m->part);
	if (m->open)
		hf_open_put(m->open);
	pthread_mutex_lock(&slices->lock);
	for (size_t i = 0; i < HF_VIEW_COUNT; i++)
		if (m->slice->part[i].state == HF_SLICE_QUEUED) {
			m->slice->part[i].state = HF_SLICE_UNKNOWN;
			m->slice->part[i].err = err;
		}
	m->slice->measuring = false;
	m->slice->refs--;
	if (m->turn) {
		next = slices->first;
		slices->busy = next;
		if (next) {
			slices->first = next->next;
			slices->waiting--;
			next->turn = true;
		}
	}
	pthread_cond_broadcast(&slices->changed);
	pthread_mutex_unlock(&slices->lock);
	free(m);
	if (next)
		hf_job_submit(exec, &next->job);
}

/* HF_NOTE_END: it has the turn for a long pass. HF_ERR_BUSY: it waits in the queue, whose first one is submitted when
 * it is its turn. HF_ERR_CANCELLED: too many wait. */
static int take_turn(struct hf_measure *m)
{
	struct hf_slices *slices = m->slice->slices;
	int err = HF_NOTE_END;

	m->job.urgency = HF_LATER;
	/* While it waits it holds no capture open. */
	hf_open_put(m->open);
	m->open = NULL;
	HF_LOCKED(&slices->lock);
	if (!slices->busy) {
		m->turn = slices->busy = true;
	} else if (slices->waiting == QUEUE_MAX) {
		err = HF_ERR_CANCELLED;
	} else {
		m->next = NULL;
		*(slices->first ? &slices->last->next : &slices->first) = m;
		slices->last = m;
		slices->waiting++;
		err = HF_ERR_BUSY;
	}
	return err;
}

/* ---- parts one after the other ---- */

/* The first part of the kind that is to be measured; lines come first, they take no time. */
static bool next_part(struct hf_measure *m, bool lines)
{
	for (size_t i = 0; i < HF_VIEW_COUNT; i++)
		if (m->slice->part[i].state == HF_SLICE_QUEUED && hf_slice_is_lines(i) == lines) {
			m->view = i;
			return true;
		}
	return false;
}

/* All that is needed of the capture, which any of its bytes need too. */
static struct hf_bytes any_of(const struct hf_slice *slice)
{
	return (struct hf_bytes){.ops = &hf_bytes_slice, .capture = slice->capture, .version = slice->version};
}

static int check_version(const struct hf_slice *slice)
{
	const struct hf_bytes any = any_of(slice);

	return hf_bytes_check(&any);
}

/* Nobody asked for it for a while, and it has not begun. */
static bool is_forgotten(const struct hf_measure *m)
{
	struct hf_slices *slices = m->slice->slices;
	int64_t asked_ns;

	if (!m->turn || m->encoder)
		return false;
	pthread_mutex_lock(&slices->lock);
	asked_ns = m->slice->asked_ns;
	pthread_mutex_unlock(&slices->lock);
	return hf_now_ns() - asked_ns > WANTED_NS;
}

/* 0: all is measured. HF_NOTE_END: to be called again. HF_ERR_BUSY: it waits for its turn. */
static int run_parts(struct hf_measure *m, struct hf_worker *worker)
{
	const struct hf_bytes any = any_of(m->slice);
	int err = m->open ? 0 : hf_bytes_open(&any, 0, &m->open);

	/* It is being made again. */
	if (err == HF_ERR_STATE && !m->open)
		err = HF_ERR_CANCELLED;

	while (!err && !m->encoder && next_part(m, true)) {
		err = hf_measure_lines(m, worker);
		if (!err)
			err = check_version(m->slice);
		if (!err)
			settle_part(m, 0);
	}
	if (err || (!m->encoder && !next_part(m, false)))
		return err;
	if (!m->turn && m->slice->last - m->slice->first >= SHORT)
		return take_turn(m);
	err = hf_measure_encoded(m, worker);
	if (!err)
		err = check_version(m->slice);
	if (!err)
		settle_part(m, 0);
	/* There may be another one. */
	return err ? err : HF_NOTE_END;
}

static int run_measure(struct hf_job *job, struct hf_worker *worker)
{
	struct hf_measure *m = (struct hf_measure *)job;
	struct hf_common *common = m->slice->capture->common;
	int err;

	do
		err = hf_stopping(common) || is_forgotten(m) ? HF_ERR_CANCELLED : run_parts(m, worker);
	while (err == HF_NOTE_END && !m->turn);
	if (err == HF_NOTE_END)
		hf_job_submit(common->exec, job);
	else if (err != HF_ERR_BUSY && m->open)
		hf_open_blame(m->open, err);
	return err == HF_NOTE_END || err == HF_ERR_BUSY ? HF_JOB_ASIDE : err;
}

/* ---- who wants them ---- */

/* With the lock held, which it gives up meanwhile. */
static int start_measure(struct hf_slice *slice)
{
	struct hf_slices *slices = slice->slices;
	struct hf_measure *m;

	slice->asked_ns = hf_now_ns();
	if (slice->measuring)
		return 0;
	m = malloc(sizeof *m);
	if (!m)
		return HF_ERR_NOMEM;
	memset(m, 0, offsetof(struct hf_measure, buf));
	m->job = (struct hf_job){.fn = run_measure, .done = end_measure, .work = HF_WORK_DECODE};
	m->slice = slice;
	slice->refs++;
	slice->measuring = true;
	slice->started_ns = slice->asked_ns;
	slice->done = 0;
	for (size_t i = 0; i < HF_VIEW_COUNT; i++)
		if (slice->part[i].state == HF_SLICE_UNKNOWN) {
			slice->part[i].state = HF_SLICE_QUEUED;
			slice->part[i].err = 0;
		}
	pthread_mutex_unlock(&slices->lock);
	hf_job_submit(slice->capture->common->exec, &m->job);
	pthread_mutex_lock(&slices->lock);
	return 0;
}

/* Waits for a part to be measured. With the lock held. */
static void await(struct hf_slice *slice, const struct hf_slice_part *part)
{
	const struct hf_common *common = slice->capture->common;
	struct hf_slices *slices = slice->slices;
	const int64_t until_ns = slice->started_ns + PATIENCE_NS;
	const struct timespec until = {.tv_sec = until_ns / 1000000000, .tv_nsec = until_ns % 1000000000};
	int late = 0;

	while (part->state == HF_SLICE_QUEUED && late != ETIMEDOUT && !hf_stopping(common)) {
		/* Without a mount there is nobody to see that it is not there yet. */
		if (common->options.no_index)
			pthread_cond_wait(&slices->changed, &slices->lock);
		else
			late = pthread_cond_timedwait(&slices->changed, &slices->lock, &until);
	}
}

int hf_slice_want(struct hf_slice *slice)
{
	struct hf_slices *slices = slice->slices;

	HF_LOCKED(&slices->lock);
	return start_measure(slice);
}

int hf_slice_view(struct hf_slice *slice, const struct hf_facts *facts, size_t number, struct hf_bytes *ret_bytes)
{
	struct hf_slices *slices = slice->slices;
	const struct hf_slice_part *part = &slice->part[number];
	int err = 0;

	HF_LOCKED(&slices->lock);
	if (part->state == HF_SLICE_ABSENT)
		err = HF_ERR_NOT_FOUND;
	else if (part->state != HF_SLICE_READY)
		err = start_measure(slice);
	if (!err)
		await(slice, part);
	if (!err && part->state != HF_SLICE_READY)
		err = part->state == HF_SLICE_UNKNOWN && part->err && part->err != HF_ERR_CANCELLED ? part->err
												    : HF_ERR_BUSY;
	if (!err && part->owner) {
		*ret_bytes = (struct hf_bytes){.ops = &hf_bytes_slice,
					       .capture = slice->capture,
					       .version = slice->version,
					       .owner = part->owner,
					       .size = part->size,
					       .hart = slice->hart,
					       .view = number,
					       .own = slice};
	} else if (!err) {
		hf_slice_whole(slice, facts, number, ret_bytes);
		ret_bytes->base = part->base;
		ret_bytes->size = part->size;
	}
	return err;
}

void hf_slice_indexing(struct hf_slice *slice, struct hf_sink *sink)
{
	struct hf_slices *slices = slice->slices;
	const struct hf_facts_hart *hart;
	struct hf_facts *facts;
	char left[32], text[HF_INFO_INDEXING_SIZE];
	double percent = 0, seconds = -1;

	if (!hf_capture_facts_now(slice->capture, &facts)) {
		hart = hf_facts_hart(facts, slice->hart);
		pthread_mutex_lock(&slices->lock);
		/* Chunks are about equally long. */
		if (hart && hart->info.insns)
			percent = 100.0 * (double)__atomic_load_n(&slice->done, __ATOMIC_RELAXED) /
				  ((double)(slice->last - slice->first + 1) / (double)hart->info.insns *
					   (double)hart->info.chunks + 1);
		percent = percent > 100 ? 100 : percent;
		if (percent > 0)
			seconds = (double)(hf_now_ns() - slice->started_ns) / 1e9 * (100 - percent) / percent;
		pthread_mutex_unlock(&slices->lock);
		hf_facts_unref(facts);
	}
	hf_info_duration(seconds, left, sizeof left);
	snprintf(text, sizeof text, "%5.1f%% measured, %s left", percent, left);
	/* Filled up, so that its size stays right while it changes. */
	hf_sink_printf(sink, "%-*s\n", HF_INFO_INDEXING_SIZE - 1, text);
}
