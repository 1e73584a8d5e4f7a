/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/live.h"
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

struct hf_live {
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

static struct piece *take(struct hf_live *live)
{
	struct piece *piece = live->first;

	if (piece) {
		live->first = piece->next;
		if (!live->first)
			live->last = &live->first;
		live->bytes -= piece->size;
	}
	return piece;
}

static void *run(void *arg)
{
	struct hf_live *live = arg;
	struct piece *piece;
	int err = 0;

	pthread_mutex_lock(&live->lock);
	for (;;) {
		while (!(piece = take(live)) && !live->finished)
			pthread_cond_wait(&live->more, &live->lock);
		if (!piece)
			break;
		pthread_mutex_unlock(&live->lock);
		if (!err)
			err = write_all(piece->bytes, piece->size);
		free(piece);
		pthread_mutex_lock(&live->lock);
		live->err = err;
	}
	pthread_mutex_unlock(&live->lock);
	return NULL;
}

struct hf_live *hf_live_new(uint64_t offset, uint64_t length)
{
	struct hf_live *live = calloc(1, sizeof *live);

	if (!live)
		return NULL;
	live->offset = offset;
	live->length = length;
	live->last = &live->first;
	pthread_mutex_init(&live->lock, NULL);
	pthread_cond_init(&live->more, NULL);
	if (!pthread_create(&live->writer, NULL, run, live))
		return live;
	free(live);
	return NULL;
}

/* With the lock held: bytes at live->have, of which what is wanted is to be written. */
static void queue(struct hf_live *live, const uint8_t *bytes, size_t n)
{
	const uint64_t before = live->have < live->offset ? live->offset - live->have : 0;
	const uint64_t done = live->have > live->offset ? live->have - live->offset : 0;
	struct piece *piece;

	if (before >= n || done >= live->length) {
		live->have += n;
		return;
	}
	bytes += before;
	n -= (size_t)before;
	if (n > live->length - done)
		n = (size_t)(live->length - done);
	piece = live->bytes + n <= ROOM ? malloc(sizeof *piece + n) : NULL;
	live->closed = !piece;
	if (!piece)
		return;
	*piece = (struct piece){.size = n};
	memcpy(piece->bytes, bytes, n);
	*live->last = piece;
	live->last = &piece->next;
	live->bytes += n;
	live->have += before + n;
	pthread_cond_signal(&live->more);
}

void hf_live_put(void *ctx, uint64_t offset, const uint8_t *bytes, size_t n)
{
	struct hf_live *live = ctx;

	HF_LOCKED(&live->lock);
	if (!bytes)
		live->closed = live->stale = live->have > live->offset;
	else if (!live->closed && !live->err && offset <= live->have && n > live->have - offset) {
		const size_t old = (size_t)(live->have - offset);

		queue(live, bytes + old, n - old);
	}
}

bool hf_live_failed(struct hf_live *live)
{
	HF_LOCKED(&live->lock);
	return live->err;
}

uint64_t hf_live_finish(struct hf_live *live, bool *ret_stale, int *ret_errno)
{
	uint64_t have;

	*ret_errno = 0;
	*ret_stale = false;
	if (!live)
		return 0;
	pthread_mutex_lock(&live->lock);
	live->finished = true;
	pthread_cond_signal(&live->more);
	pthread_mutex_unlock(&live->lock);
	pthread_join(live->writer, NULL);
	*ret_errno = live->err;
	*ret_stale = live->stale;
	have = live->have;
	pthread_mutex_destroy(&live->lock);
	pthread_cond_destroy(&live->more);
	free(live);
	return have;
}
