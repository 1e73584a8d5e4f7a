/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A read of bytes: which pieces it needs, all of them asked for at once, done when the last is there. A read that
 * needs more pieces than a struct hf_read can hold (chunks of a few bytes) goes in rounds and is copied together.
 */
#include "fs/bytes/request.h"
#include "codecs/source/errors.h"
#include "fs/capture/repair.h"
#include "fs/facts/opened.h"

#include <stdlib.h>

struct wait {
	struct hf_cache_waiter waiter;
	struct hf_request *rq;
	struct hf_piece piece;
	struct hf_cache_block *block; /* pinned */
	bool outstanding;	      /* ready will be called */
};

struct hf_request {
	struct hf_common *common;
	struct hf_read *read;
	struct hf_bytes source;
	uint8_t *own;	      /* where the bytes are gathered, if they are not served from the cache */
	uint64_t pos, end;    /* of the source: what is still to be got */
	bool forward;         /* the reader goes on behind end */
	size_t cap;	      /* of wait */
	pthread_mutex_t lock; /* of all below: a cancellation may look at them at any moment */
	size_t left;	      /* outstanding waits, and one while a round is being started */
	bool cancelled;
	int err;
	size_t count; /* waits of this round */
	struct wait wait[];
};

static int request_new(struct hf_common *common, struct hf_read *read, size_t waits, uint8_t *own,
		   struct hf_request **ret_rq)
{
	struct hf_request *rq = calloc(1, sizeof *rq + waits * sizeof *rq->wait);

	if (!rq)
		return HF_ERR_NOMEM;
	rq->common = common;
	rq->read = read;
	rq->own = own;
	rq->cap = waits;
	pthread_mutex_init(&rq->lock, NULL);
	__atomic_store_n(&read->state, rq, __ATOMIC_RELEASE);
	*ret_rq = rq;
	return 0;
}

int hf_read_own(struct hf_common *common, struct hf_read *read, uint8_t *own, size_t size)
{
	struct hf_request *rq;
	int err = request_new(common, read, 0, own, &rq);

	if (err) {
		free(own);
		return err;
	}
	read->pieces = size > 0;
	read->piece[0].bytes = own;
	read->piece[0].size = size;
	return 0;
}

static void unpin_all(struct hf_request *rq)
{
	HF_LOCKED(&rq->lock);
	for (size_t i = 0; i < rq->count; i++) {
		const struct wait *wait = &rq->wait[i];

		if (wait->block && rq->forward && wait->piece.offset + wait->piece.size <= rq->end)
			hf_cache_unpin_passed(rq->common->cache, wait->block);
		else if (wait->block)
			hf_cache_unpin(rq->common->cache, wait->block);
	}
	rq->count = 0;
}

void hf_fs_read_release(struct hf_read *read)
{
	struct hf_request *rq = read->state;

	hf_latency_add(read->latency, read->began_ns);
	read->state = NULL;
	if (!rq)
		return;
	unpin_all(rq);
	free(rq->own);
	pthread_mutex_destroy(&rq->lock);
	free(rq);
}

static bool read_around(struct hf_request *rq);

static void finish(struct hf_request *rq, int err)
{
	if (err)
		unpin_all(rq);
	if (err && err != HF_ERR_CANCELLED)
		hf_metrics_add(&rq->common->metrics.read_errors, 1);
	rq->read->err = err;
	rq->read->done(rq->read);
}

/* Pieces of bytes[pos..end) that are not empty, at most max. */
static int plan(const struct hf_bytes *bytes, unsigned wait_ms, uint64_t pos, uint64_t end, struct hf_piece *piece,
		size_t max, size_t *ret_count)
{
	struct hf_open *open;
	size_t n = 0;
	int err = hf_bytes_open(bytes, wait_ms, &open);

	if (err)
		return err;
	err = bytes->ops->piece_at(bytes, open, pos, &piece[0]);
	while (!err && piece[n].offset < end) {
		uint64_t next = piece[n].number + 1;

		n += piece[n].size > 0;
		if (n == max)
			break;
		err = bytes->ops->piece(bytes, open, next, &piece[n]);
	}
	*ret_count = n;
	/* The index promises bytes up to the size: then there are chunks with them. */
	if (err == HF_NOTE_END && n && piece[n - 1].offset + piece[n - 1].size >= end)
		err = 0;
	else if (err > 0 || err == HF_ERR_NOT_FOUND)
		err = HF_ERR_MISMATCH;
	hf_bytes_close(open, err);
	return err;
}

/* What is wanted of a piece: its bytes [*ret_from, *ret_from + result). */
static size_t part(const struct hf_request *rq, const struct hf_piece *piece, size_t *ret_from)
{
	uint64_t from = rq->pos > piece->offset ? rq->pos - piece->offset : 0;
	uint64_t to = rq->end - piece->offset < piece->size ? rq->end - piece->offset : piece->size;

	*ret_from = (size_t)from;
	return (size_t)(to - from);
}

static void set_plan(struct hf_request *rq, const struct hf_piece *piece, size_t count)
{
	HF_LOCKED(&rq->lock);
	rq->count = count;
	for (size_t i = 0; i < count; i++)
		rq->wait[i] = (struct wait){.rq = rq, .piece = piece[i]};
}

/* All pieces of a gathering round are there: copies them and plans the next round. */
static int gather(struct hf_request *rq)
{
	const uint64_t start = rq->read->offset + rq->source.base;
	struct hf_piece piece[HF_READ_PIECES];
	size_t count;
	int err;

	for (size_t i = 0; i < rq->count; i++) {
		size_t from, n = part(rq, &rq->wait[i].piece, &from);

		memcpy(rq->own + (rq->pos - start), rq->wait[i].block->bytes + from, n);
		rq->pos += n;
	}
	unpin_all(rq);
	if (rq->pos == rq->end) {
		rq->read->pieces = 1;
		rq->read->piece[0].bytes = rq->own;
		rq->read->piece[0].size = (size_t)(rq->end - start);
		return HF_NOTE_END;
	}
	err = plan(&rq->source, 0, rq->pos, rq->end, piece, rq->cap, &count);
	if (!err)
		set_plan(rq, piece, count);
	return err;
}

static void hand_out(struct hf_request *rq)
{
	struct hf_read *read = rq->read;

	for (size_t i = 0; i < rq->count; i++) {
		size_t from;

		read->piece[i].size = part(rq, &rq->wait[i].piece, &from);
		read->piece[i].bytes = rq->wait[i].block->bytes + from;
	}
	read->pieces = rq->count;
}

static void advance(struct hf_request *rq);

static void ready(struct hf_cache_waiter *waiter, struct hf_cache_block *block, int err)
{
	struct wait *wait = waiter->ctx;
	struct hf_request *rq = wait->rq;
	bool last;

	pthread_mutex_lock(&rq->lock);
	wait->outstanding = false;
	wait->block = block;
	if (err && !rq->err)
		rq->err = err;
	last = --rq->left == 0;
	pthread_mutex_unlock(&rq->lock);
	if (last)
		advance(rq);
}

/* Asks for all pieces of the round. True if the answers will come later. */
static bool start_round(struct hf_request *rq, struct hf_reading *forward)
{
	struct hf_cache_block *make[HF_READ_PIECES] = {0};
	bool pending;

	pthread_mutex_lock(&rq->lock);
	rq->left = 1;
	if (rq->cancelled)
		rq->err = HF_ERR_CANCELLED;
	for (size_t i = 0; i < rq->count && !rq->err; i++) {
		struct hf_cache_key key = {rq->source.owner, rq->wait[i].piece.number};
		struct wait *wait = &rq->wait[i];
		struct hf_cache_block *block;

		wait->waiter = (struct hf_cache_waiter){.ready = ready, .ctx = wait};
		switch (hf_cache_acquire(rq->common->cache, key, &wait->waiter, &block, &rq->err)) {
		case HF_CACHE_HIT:
			wait->block = block;
			break;
		case HF_CACHE_MAKE:
			make[i] = block;
			/* fall through */
		case HF_CACHE_PENDING:
			wait->outstanding = true;
			rq->left++;
			break;
		case HF_CACHE_ERROR:
			break;
		}
	}
	pthread_mutex_unlock(&rq->lock);
	for (size_t i = 0; i < HF_READ_PIECES; i++)
		if (make[i])
			hf_bytes_submit(&rq->source, rq->wait[i].piece.number, make[i], HF_URGENT);
	/* Before the round can end: the file may be closed as soon as it does. */
	if (forward)
		hf_reading_ahead(forward, &rq->source, rq->end);
	pthread_mutex_lock(&rq->lock);
	pending = --rq->left > 0;
	pthread_mutex_unlock(&rq->lock);
	return pending;
}

static int outcome(struct hf_request *rq)
{
	HF_LOCKED(&rq->lock);
	return rq->cancelled ? HF_ERR_CANCELLED : rq->err;
}

/* A round is complete, with an error or without. */
static void advance(struct hf_request *rq)
{
	int err;

	do {
		err = outcome(rq);
		if (err == HF_ERR_ZSTF_CHUNK && read_around(rq))
			return;
		if (err) {
			finish(rq, err);
			return;
		}
		if (!rq->own) {
			hand_out(rq);
			finish(rq, 0);
			return;
		}
		err = gather(rq);
		if (err) {
			finish(rq, err == HF_NOTE_END ? 0 : err);
			return;
		}
	} while (!start_round(rq, NULL));
}

void hf_request_cancel(struct hf_read *read)
{
	struct hf_request *rq = __atomic_load_n(&read->state, __ATOMIC_ACQUIRE);
	size_t taken = 0;
	bool last;

	if (!rq)
		return;
	pthread_mutex_lock(&rq->lock);
	rq->cancelled = true;
	for (size_t i = 0; i < rq->count; i++)
		if (rq->wait[i].outstanding && hf_cache_cancel(rq->common->cache, &rq->wait[i].waiter)) {
			rq->wait[i].outstanding = false;
			rq->left--;
			taken++;
		}
	last = taken && !rq->left;
	pthread_mutex_unlock(&rq->lock);
	if (last)
		advance(rq);
}

/* A small read from somewhere: makes no more than it must. */
struct once_job {
	struct hf_job job;
	struct hf_request *rq;
};

static int run_once(struct hf_job *job, struct hf_worker *worker)
{
	struct hf_request *rq = ((struct once_job *)job)->rq;
	struct hf_open *open;
	int err;

	if (hf_stopping(rq->common))
		return HF_ERR_CANCELLED;
	err = hf_bytes_open(&rq->source, 0, &open);
	if (!err)
		err = rq->source.ops->read_once(&rq->source, open, worker, rq->pos, rq->own,
						(size_t)(rq->end - rq->pos));
	err = hf_bytes_check_made(&rq->source, err);
	hf_bytes_close(open, err);
	return err;
}

static void end_once(struct hf_job *job, int err)
{
	struct hf_request *rq = ((struct once_job *)job)->rq;

	free(job);
	rq->read->pieces = 1;
	rq->read->piece[0].bytes = rq->own;
	rq->read->piece[0].size = (size_t)(rq->end - rq->pos);
	finish(rq, err);
}

static bool submit_once(struct hf_request *rq)
{
	struct once_job *once = malloc(sizeof *once);

	if (!once)
		return false;
	*once = (struct once_job){.job = {.fn = run_once, .done = end_once, .work = HF_WORK_DECODE}, .rq = rq};
	hf_job_submit(rq->common->exec, &once->job);
	return true;
}

/* Pieces are larger than a request, and damage in one of them may lie outside of what is wanted. */
static bool read_around(struct hf_request *rq)
{
	rq->pos = rq->read->offset;
	if (rq->source.ops != &hf_bytes_stream)
		return false;
	unpin_all(rq);
	if (!rq->own)
		rq->own = malloc((size_t)(rq->end - rq->pos));
	return rq->own && submit_once(rq);
}

static int read_once(struct hf_common *common, struct hf_read *read, const struct hf_bytes *bytes, size_t size)
{
	uint8_t *own = malloc(size);
	struct hf_request *rq;

	if (!own || request_new(common, read, 0, own, &rq)) {
		free(own);
		return HF_ERR_NOMEM;
	}
	rq->source = *bytes;
	rq->pos = read->offset + bytes->base;
	rq->end = rq->pos + size;
	/* The caller ends the read; what it holds is released with it. */
	return submit_once(rq) ? 0 : HF_ERR_NOMEM;
}

/* The request with its first round planned: these pieces. */
static int make_request(struct hf_common *common, struct hf_read *read, const struct hf_bytes *bytes, size_t size,
			const struct hf_piece *piece, size_t count, struct hf_request **ret_rq)
{
	const uint64_t pos = read->offset + bytes->base;
	uint8_t *own = NULL;
	int err;

	if (piece[count - 1].offset + piece[count - 1].size < pos + size) {
		own = malloc(size);
		if (!own)
			return HF_ERR_NOMEM;
	}
	err = request_new(common, read, count, own, ret_rq);
	if (err) {
		free(own);
		return err;
	}
	(*ret_rq)->source = *bytes;
	(*ret_rq)->pos = pos;
	(*ret_rq)->end = pos + size;
	set_plan(*ret_rq, piece, count);
	return 0;
}

/* Reads size > 0 bytes that are there; an error: the caller ends the read. */
static int start_read(struct hf_common *common, struct hf_read *read, const struct hf_bytes *bytes, size_t size,
		      struct hf_reading *reading)
{
	const bool forward = hf_reading_note(reading, read->offset, read->offset + size);
	const uint64_t pos = read->offset + bytes->base;
	const size_t most = bytes->ops->at_once ? bytes->ops->at_once : HF_READ_PIECES;
	struct hf_piece piece[HF_READ_PIECES];
	struct hf_request *rq;
	size_t count = 0;
	int err = plan(bytes, HF_REPAIR_MS, pos, pos + size, piece, most, &count);

	if (err)
		return err;
	if (bytes->ops->at_once && piece[count - 1].offset + piece[count - 1].size < pos + size)
		size = (size_t)(piece[count - 1].offset + piece[count - 1].size - pos);
	if (!forward && hf_reading_goes_once(reading, bytes, piece, count, read->offset, size))
		return read_once(common, read, bytes, size);
	err = make_request(common, read, bytes, size, piece, count, &rq);
	if (err)
		return err;
	rq->forward = forward;
	if (!start_round(rq, forward ? reading : NULL))
		advance(rq);
	return 0;
}

void hf_bytes_read(struct hf_common *common, struct hf_read *read, const struct hf_bytes *bytes,
		   struct hf_reading *reading)
{
	size_t size = read->size;
	int err = 0;

	if (bytes->capture->version != bytes->version)
		err = HF_ERR_CHANGED;
	if (read->offset >= bytes->size)
		size = 0;
	else if (size > bytes->size - read->offset)
		size = (size_t)(bytes->size - read->offset);
	if (err || !size) {
		read->err = err;
		read->done(read);
		return;
	}
	err = start_read(common, read, bytes, size, reading);
	if (err) {
		read->err = err;
		read->done(read);
	}
}
