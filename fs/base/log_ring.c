/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/base/log_ring.h"
#include "index/base/lock.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct hf_log_ring {
	pthread_mutex_t lock;
	size_t size, start, used; /* the lines are bytes[start, start + used), modulo size */
	char bytes[];
};

int hf_log_ring_new(size_t size, struct hf_log_ring **ret_ring)
{
	/* Pages that no line was written to yet cost nothing. */
	*ret_ring = calloc(1, sizeof **ret_ring + size);
	if (!*ret_ring)
		return HF_ERR_NOMEM;
	(*ret_ring)->size = size;
	pthread_mutex_init(&(*ret_ring)->lock, NULL);
	return 0;
}

void hf_log_ring_free(struct hf_log_ring *ring)
{
	if (!ring)
		return;
	pthread_mutex_destroy(&ring->lock);
	free(ring);
}

static void drop_oldest(struct hf_log_ring *ring)
{
	bool ended = false;

	while (ring->used && !ended) {
		ended = ring->bytes[ring->start] == '\n';
		ring->start = (ring->start + 1) % ring->size;
		ring->used--;
	}
}

void hf_log_ring_add(struct hf_log_ring *ring, const char *line, size_t n)
{
	size_t at, first;

	if (n > ring->size)
		return;
	HF_LOCKED(&ring->lock);
	while (ring->size - ring->used < n)
		drop_oldest(ring);
	at = (ring->start + ring->used) % ring->size;
	first = ring->size - at < n ? ring->size - at : n;
	memcpy(ring->bytes + at, line, first);
	memcpy(ring->bytes, line + first, n - first);
	ring->used += n;
}

void hf_log_ring_write(struct hf_log_ring *ring, struct hf_sink *sink)
{
	size_t first;

	HF_LOCKED(&ring->lock);
	first = ring->size - ring->start < ring->used ? ring->size - ring->start : ring->used;
	hf_sink_write(sink, ring->bytes + ring->start, first);
	hf_sink_write(sink, ring->bytes, ring->used - first);
}
