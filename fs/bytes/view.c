/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The read of a view: which pieces it needs, all of them asked for at once, done when the last is there. A read that
 * needs more pieces than a struct hf_read can hold (chunks of a few bytes) goes in rounds and is copied together.
 */
#include "fs/bytes/view.h"
#include "fs/capture/block_source.h"

#include <stdlib.h>

struct wait {
	struct hf_cache_waiter waiter;
	struct hf_request *rq;
	struct hf_piece piece;
	struct hf_block *block; /* pinned */
	bool outstanding;       /* ready will be called */
};

struct hf_request {
	struct hf_fs *fs;
	struct hf_read *read;
	struct hf_view view;
	uint8_t *bytes;       /* owned: where the bytes are gathered, if they are not served from the cache */
	uint64_t pos, end;    /* of the view: what is still to be got */
	size_t cap;           /* of wait */
	pthread_mutex_t lock; /* of all below: a cancellation may look at them at any moment */
	size_t left;          /* outstanding waits, and one while a round is being started */
	bool cancelled;
	int err;
	size_t count;         /* waits of this round */
	struct wait wait[];
};

int hf_request_new(struct hf_fs *fs, struct hf_read *read, size_t waits, uint8_t *bytes, struct hf_request **ret_rq)
{
	struct hf_request *rq = calloc(1, sizeof *rq + waits * sizeof *rq->wait);

	if (!rq)
		return HF_ERR_NOMEM;
	rq->fs = fs;
	rq->read = read;
	rq->bytes = bytes;
	rq->cap = waits;
	pthread_mutex_init(&rq->lock, NULL);
	__atomic_store_n(&read->state, rq, __ATOMIC_RELEASE);
	*ret_rq = rq;
	return 0;
}

static void unpin_all(struct hf_request *rq)
{
	pthread_mutex_lock(&rq->lock);
	for (size_t i = 0; i < rq->count; i++)
		if (rq->wait[i].block)
			hf_cache_unpin(rq->fs->cache, rq->wait[i].block);
	rq->count = 0;
	pthread_mutex_unlock(&rq->lock);
}

void hf_fs_read_release(struct hf_read *read)
{
	struct hf_request *rq = read->state;

	read->state = NULL;
	if (!rq)
		return;
	unpin_all(rq);
	free(rq->bytes);
	pthread_mutex_destroy(&rq->lock);
	free(rq);
}

static bool read_around(struct hf_request *rq);

static void finish(struct hf_request *rq, int err)
{
	if (err)
		unpin_all(rq);
	if (err && err != HF_ERR_CANCELLED)
		hf_metrics_add(&rq->fs->metrics.read_errors, 1);
	rq->read->err = err;
	rq->read->done(rq->read);
}

/* Pieces of view[pos..end) that are not empty, at most max. */
static int plan(const struct hf_view *view, unsigned wait_ms, uint64_t pos, uint64_t end, struct hf_piece *piece,
		size_t max, size_t *ret_count)
{
	struct hf_open *open;
	size_t n = 0;
	int err = hf_view_open(view, wait_ms, &open);

	if (err)
		return err;
	err = hf_view_piece_of(view, open, pos, &piece[0]);
	while (!err && piece[n].offset < end) {
		uint64_t next = piece[n].number + 1;

		n += piece[n].size > 0;
		if (n == max)
			break;
		err = hf_view_piece(view, open, next, &piece[n]);
	}
	*ret_count = n;
	/* The index promises bytes up to the size: then there are chunks with them. */
	if (err == HF_NOTE_END && n && piece[n - 1].offset + piece[n - 1].size >= end)
		err = 0;
	else if (err > 0 || err == HF_ERR_NOT_FOUND)
		err = HF_ERR_MISMATCH;
	hf_open_blame(open, err);
	hf_open_put(open);
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
	pthread_mutex_lock(&rq->lock);
	rq->count = count;
	for (size_t i = 0; i < count; i++)
		rq->wait[i] = (struct wait){.rq = rq, .piece = piece[i]};
	pthread_mutex_unlock(&rq->lock);
}

/* All pieces of a gathering round are there: copies them and plans the next round. */
static int gather(struct hf_request *rq)
{
	const uint64_t start = rq->read->offset + rq->view.base;
	struct hf_piece piece[HF_READ_PIECES];
	size_t count;
	int err;

	for (size_t i = 0; i < rq->count; i++) {
		size_t from, n = part(rq, &rq->wait[i].piece, &from);

		memcpy(rq->bytes + (rq->pos - start), rq->wait[i].block->bytes + from, n);
		rq->pos += n;
	}
	unpin_all(rq);
	if (rq->pos == rq->end) {
		rq->read->pieces = 1;
		rq->read->piece[0].bytes = rq->bytes;
		rq->read->piece[0].size = (size_t)(rq->end - start);
		return HF_NOTE_END;
	}
	err = plan(&rq->view, 0, rq->pos, rq->end, piece, rq->cap, &count);
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

static void ready(struct hf_cache_waiter *waiter, struct hf_block *block, int err)
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

static uint64_t planned(struct hf_reading *reading)
{
	uint64_t offset;

	pthread_mutex_lock(&reading->lock);
	offset = reading->planned;
	pthread_mutex_unlock(&reading->lock);
	return offset;
}

/*
 * Makes ahead what a reader that goes forward from end will want, so much that all cores have work but little enough
 * that the cache is not filled with it.
 */
static void make_ahead(const struct hf_view *view, struct hf_reading *reading, uint64_t end)
{
	struct hf_fs *fs = view->capture->fs;
	const unsigned threads = hf_exec_seats(fs->exec, HF_WORK_DECODE);
	struct hf_piece piece;
	struct hf_open *open;
	struct hf_block *block;
	uint64_t bytes = 0;
	size_t count = 0;
	int err;

	if (end >= view->base + view->size || end <= planned(reading) ||
	    hf_exec_load(fs->exec, HF_WORK_DECODE, HF_LATER) > 8u * threads || hf_view_open(view, 0, &open))
		return;
	err = hf_view_piece_of(view, open, end - 1, &piece);
	pthread_mutex_lock(&reading->lock);
	if (!err)
		reading->planned = piece.offset + piece.size;
	while (!err && !(err = hf_view_piece(view, open, piece.number + 1, &piece))) {
		struct hf_cache_key key = {view->owner, piece.number};

		if (piece.offset >= view->base + view->size)
			break;
		bytes += piece.size;
		if ((++count > 2 * threads && bytes > HF_SOURCE_PIECE) || count > 256 ||
		    bytes > fs->options.cache_bytes / 4)
			break;
		if (piece.number < reading->ahead || !piece.size || hf_cache_has(fs->cache, key))
			continue;
		reading->ahead = piece.number + 1;
		switch (hf_cache_acquire(fs->cache, key, NULL, &block, &err)) {
		case HF_CACHE_MAKE:
			hf_view_submit(view, piece.number, block, HF_LATER);
			break;
		case HF_CACHE_HIT:
			hf_cache_unpin(fs->cache, block);
			break;
		default:
			break;
		}
	}
	pthread_mutex_unlock(&reading->lock);
	hf_open_put(open);
}

/* Asks for all pieces of the round. True if the answers will come later. */
static bool start_round(struct hf_request *rq, struct hf_reading *forward)
{
	struct hf_block *make[HF_READ_PIECES] = {0};
	bool pending;

	pthread_mutex_lock(&rq->lock);
	rq->left = 1;
	if (rq->cancelled)
		rq->err = HF_ERR_CANCELLED;
	for (size_t i = 0; i < rq->count && !rq->err; i++) {
		struct hf_cache_key key = {rq->view.owner, rq->wait[i].piece.number};
		struct wait *wait = &rq->wait[i];
		struct hf_block *block;

		wait->waiter = (struct hf_cache_waiter){.ready = ready, .ctx = wait};
		switch (hf_cache_acquire(rq->fs->cache, key, &wait->waiter, &block, &rq->err)) {
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
			hf_view_submit(&rq->view, rq->wait[i].piece.number, make[i], HF_URGENT);
	/* Before the round can end: the file may be closed as soon as it does. */
	if (forward)
		make_ahead(&rq->view, forward, rq->end);
	pthread_mutex_lock(&rq->lock);
	pending = --rq->left > 0;
	pthread_mutex_unlock(&rq->lock);
	return pending;
}

static int outcome(struct hf_request *rq)
{
	int err;

	pthread_mutex_lock(&rq->lock);
	err = rq->cancelled ? HF_ERR_CANCELLED : rq->err;
	pthread_mutex_unlock(&rq->lock);
	return err;
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
		if (!rq->bytes) {
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

void hf_fs_read_cancel(struct hf_fs *fs, struct hf_read *read)
{
	struct hf_request *rq = __atomic_load_n(&read->state, __ATOMIC_ACQUIRE);
	size_t taken = 0;
	bool last;

	if (!rq)
		return;
	pthread_mutex_lock(&rq->lock);
	rq->cancelled = true;
	for (size_t i = 0; i < rq->count; i++)
		if (rq->wait[i].outstanding && hf_cache_cancel(fs->cache, &rq->wait[i].waiter)) {
			rq->wait[i].outstanding = false;
			rq->left--;
			taken++;
		}
	last = taken && !rq->left;
	pthread_mutex_unlock(&rq->lock);
	if (last)
		advance(rq);
}

/* How near to where the last read ended a read must be to count as going on: the kernel's own readahead comes out of
 * order. */
#define NEAR (UINT64_C(1) << 20)

/* Notes a read; whether the reader goes forward. *ret_near: at least it stays where it is. */
static bool note_reading(struct hf_reading *reading, uint64_t offset, uint64_t end)
{
	bool forward;

	pthread_mutex_lock(&reading->lock);
	if (offset + NEAR >= reading->expected && offset <= reading->expected + NEAR / 8) {
		reading->streak++;
		if (end > reading->expected)
			reading->expected = end;
	} else {
		reading->streak = 0;
		reading->expected = end;
		reading->ahead = reading->planned = 0;
	}
	forward = reading->streak >= 2;
	pthread_mutex_unlock(&reading->lock);
	return forward;
}

/* A small read from somewhere in a stream: decodes no more of the container than it must. */
struct once_job {
	struct hf_job job;
	struct hf_request *rq;
};

static int read_all(struct hf_src *src, uint64_t offset, uint8_t *buf, size_t size)
{
	size_t n;
	int err;

	for (size_t have = 0; have < size; have += n) {
		err = hf_block_source_read_once(src, offset + have, buf + have, size - have, &n, NULL);
		if (err || !n)
			return err ? err : HF_ERR_MISMATCH;
	}
	return 0;
}

static int run_once(struct hf_job *job, struct hf_worker *worker)
{
	struct hf_request *rq = ((struct once_job *)job)->rq;
	size_t size = (size_t)(rq->end - rq->pos);
	struct hf_open *open;
	struct stat st;
	int err;

	(void)worker;
	err = hf_fs_stopping(rq->fs) ? HF_ERR_CANCELLED : hf_capture_check(rq->view.capture, &st);
	if (!err)
		err = hf_view_open(&rq->view, 0, &open);
	if (!err) {
		err = read_all(open->source, rq->pos, rq->bytes, size);
		hf_open_blame(open, err);
		hf_open_put(open);
	}
	/* Bytes of a file that changes while it is read are nobody's. */
	if (!err || hf_err_class(err) == HF_CLASS_corrupt)
		if (hf_capture_check(rq->view.capture, &st) || rq->view.capture->version != rq->view.version)
			err = HF_ERR_CHANGED;
	return err;
}

static void end_once(struct hf_job *job, int err)
{
	struct hf_request *rq = ((struct once_job *)job)->rq;

	free(job);
	rq->read->pieces = 1;
	rq->read->piece[0].bytes = rq->bytes;
	rq->read->piece[0].size = (size_t)(rq->end - rq->pos);
	finish(rq, err);
}

static bool submit_once(struct hf_request *rq)
{
	struct once_job *once = malloc(sizeof *once);

	if (!once)
		return false;
	*once = (struct once_job){.job = {.fn = run_once, .done = end_once, .work = HF_WORK_DECODE}, .rq = rq};
	hf_job_submit(rq->fs->exec, &once->job);
	return true;
}

/* Pieces are larger than a request, and damage in one of them may lie outside of what is wanted. */
static bool read_around(struct hf_request *rq)
{
	rq->pos = rq->read->offset;
	if (rq->view.view >= 0)
		return false;
	unpin_all(rq);
	if (!rq->bytes)
		rq->bytes = malloc((size_t)(rq->end - rq->pos));
	return rq->bytes && submit_once(rq);
}

enum { ONCE_MAX = 64 << 10 };

/* Whether a read is of the kind that run_once is for. The second one in a row from one place is not. */
static bool goes_once(const struct hf_view *view, struct hf_reading *reading, uint64_t offset, size_t size)
{
	uint64_t number = offset / HF_SOURCE_PIECE;
	bool again;

	if (view->view >= 0 || size > ONCE_MAX ||
	    hf_cache_has(view->capture->fs->cache, (struct hf_cache_key){view->owner, number}))
		return false;
	pthread_mutex_lock(&reading->lock);
	again = reading->once == number + 1 || !offset;
	reading->once = number + 1;
	pthread_mutex_unlock(&reading->lock);
	return !again;
}

static int read_once(struct hf_fs *fs, struct hf_read *read, const struct hf_view *view, size_t size)
{
	uint8_t *bytes = malloc(size);
	struct hf_request *rq;

	if (!bytes || hf_request_new(fs, read, 0, bytes, &rq)) {
		free(bytes);
		return HF_ERR_NOMEM;
	}
	rq->view = *view;
	rq->pos = read->offset;
	rq->end = read->offset + size;
	/* The caller ends the read; what it holds is released with it. */
	return submit_once(rq) ? 0 : HF_ERR_NOMEM;
}

/* The request with its first round planned. */
static int make_request(struct hf_fs *fs, struct hf_read *read, const struct hf_view *view, size_t size,
			struct hf_request **ret_rq)
{
	const uint64_t pos = read->offset + view->base;
	struct hf_piece piece[HF_READ_PIECES];
	uint8_t *bytes = NULL;
	size_t count = 0;
	int err = plan(view, HF_REPAIR_MS, pos, pos + size, piece, HF_READ_PIECES, &count);

	if (err)
		return err;
	if (piece[count - 1].offset + piece[count - 1].size < pos + size) {
		bytes = malloc(size);
		if (!bytes)
			return HF_ERR_NOMEM;
	}
	err = hf_request_new(fs, read, count, bytes, ret_rq);
	if (err) {
		free(bytes);
		return err;
	}
	(*ret_rq)->view = *view;
	(*ret_rq)->pos = pos;
	(*ret_rq)->end = pos + size;
	set_plan(*ret_rq, piece, count);
	return 0;
}

void hf_view_read(struct hf_fs *fs, struct hf_read *read)
{
	struct hf_file *file = read->file;
	const struct hf_view *view = &file->view;
	struct hf_request *rq;
	size_t size = read->size;
	bool forward;
	int err = 0;

	if (view->capture->version != view->version)
		err = HF_ERR_CHANGED;
	if (read->offset >= view->size)
		size = 0;
	else if (size > view->size - read->offset)
		size = (size_t)(view->size - read->offset);
	if (err || !size) {
		read->err = err;
		read->done(read);
		return;
	}
	forward = note_reading(&file->reading, read->offset, read->offset + size);
	if (!forward && goes_once(view, &file->reading, read->offset, size)) {
		err = read_once(fs, read, view, size);
	} else {
		err = make_request(fs, read, view, size, &rq);
		if (!err && !start_round(rq, forward ? &file->reading : NULL))
			advance(rq);
	}
	if (err) {
		read->err = err;
		read->done(read);
	}
}
