/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/output_queue.h"
#include "index/base/lock.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What waits to be written. */
enum { ROOM = 64 << 20 };

struct piece {
	struct piece *next;
	size_t size;
	uint8_t bytes[];
};

struct hf_output_queue {
	uint64_t offset, length; /* of what is wanted */
	pthread_t writer;
	pthread_mutex_t lock;    /* of all below */
	pthread_cond_t more;
	struct piece *first, **last;
	uint64_t have;           /* of the view, from its beginning: written, or waiting */
	size_t bytes;            /* waiting */
	bool closed;             /* nothing is taken any more, */
	bool stale;              /*   for what came was not the view */
	bool finished;           /* nothing will come */
	int err;                 /* of writing */
};

static int write_all(const uint8_t *bytes, size_t size)
{
	for (size_t at = 0; at < size;) {
		ssize_t n = write(STDOUT_FILENO, bytes + at, size - at);

		if (n < 0 && errno != EINTR)
			return errno;
		at += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static struct piece *take(struct hf_output_queue *queue)
{
	struct piece *piece = queue->first;

	if (piece) {
		queue->first = piece->next;
		if (!queue->first)
			queue->last = &queue->first;
		queue->bytes -= piece->size;
	}
	return piece;
}

static void *run(void *arg)
{
	struct hf_output_queue *queue = arg;
	struct piece *piece;
	int err = 0;

	pthread_mutex_lock(&queue->lock);
	for (;;) {
		while (!(piece = take(queue)) && !queue->finished)
			pthread_cond_wait(&queue->more, &queue->lock);
		if (!piece)
			break;
		pthread_mutex_unlock(&queue->lock);
		if (!err)
			err = write_all(piece->bytes, piece->size);
		free(piece);
		pthread_mutex_lock(&queue->lock);
		queue->err = err;
	}
	pthread_mutex_unlock(&queue->lock);
	return NULL;
}

struct hf_output_queue *hf_output_queue_new(uint64_t offset, uint64_t length)
{
	struct hf_output_queue *queue = calloc(1, sizeof *queue);

	if (!queue)
		return NULL;
	queue->offset = offset;
	queue->length = length;
	queue->last = &queue->first;
	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->more, NULL);
	if (!pthread_create(&queue->writer, NULL, run, queue))
		return queue;
	free(queue);
	return NULL;
}

/* With the lock held: bytes at queue->have, of which what is wanted is to be written. */
static void append(struct hf_output_queue *queue, const uint8_t *bytes, size_t n)
{
	const uint64_t before = queue->have < queue->offset ? queue->offset - queue->have : 0;
	const uint64_t done = queue->have > queue->offset ? queue->have - queue->offset : 0;
	struct piece *piece;

	if (before >= n || done >= queue->length) {
		queue->have += n;
		return;
	}
	bytes += before;
	n -= (size_t)before;
	if (n > queue->length - done)
		n = (size_t)(queue->length - done);
	piece = queue->bytes + n <= ROOM ? malloc(sizeof *piece + n) : NULL;
	queue->closed = !piece;
	if (!piece)
		return;
	*piece = (struct piece){.size = n};
	memcpy(piece->bytes, bytes, n);
	*queue->last = piece;
	queue->last = &piece->next;
	queue->bytes += n;
	queue->have += before + n;
	pthread_cond_signal(&queue->more);
}

void hf_output_queue_put(void *ctx, uint64_t offset, const uint8_t *bytes, size_t n)
{
	struct hf_output_queue *queue = ctx;

	HF_LOCKED(&queue->lock);
	if (!bytes)
		queue->closed = queue->stale = queue->have > queue->offset;
	else if (!queue->closed && !queue->err && offset <= queue->have && n > queue->have - offset) {
		const size_t old = (size_t)(queue->have - offset);

		append(queue, bytes + old, n - old);
	}
}

bool hf_output_queue_failed(struct hf_output_queue *queue)
{
	HF_LOCKED(&queue->lock);
	return queue->err;
}

uint64_t hf_output_queue_finish(struct hf_output_queue *queue, bool *ret_stale, int *ret_errno)
{
	uint64_t have;

	*ret_errno = 0;
	*ret_stale = false;
	if (!queue)
		return 0;
	pthread_mutex_lock(&queue->lock);
	queue->finished = true;
	pthread_cond_signal(&queue->more);
	pthread_mutex_unlock(&queue->lock);
	pthread_join(queue->writer, NULL);
	*ret_errno = queue->err;
	*ret_stale = queue->stale;
	have = queue->have;
	pthread_mutex_destroy(&queue->lock);
	pthread_cond_destroy(&queue->more);
	free(queue);
	return have;
}
