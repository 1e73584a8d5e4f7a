/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/base/spares.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define SPARE_BYTES_MAX ((size_t)32 << 20)

/*
 * glibc's malloc would keep what threads free: its heaps are one a thread and shrink only at their ends, and it takes
 * blocks of up to 32 MiB from them once one such block was freed. With these limits blocks of MAP_BYTES and more are
 * mapped and unmapped each by itself, and the small ones share a few heaps.
 */
#define MAP_BYTES ((size_t)128 * 1024)
#define MAPS_MAX 32768 /* half of what Linux lets a process have */
#define HEAPS_MAX 2

static void tame_malloc(void)
{
#ifdef M_ARENA_MAX
	mallopt(M_MMAP_THRESHOLD, (int)MAP_BYTES);
	mallopt(M_MMAP_MAX, MAPS_MAX);
	mallopt(M_TRIM_THRESHOLD, 1024 * 1024);
	mallopt(M_ARENA_MAX, HEAPS_MAX);
#endif
}

void hf_spares_init(struct hf_spares *spares, uint64_t cache_bytes)
{
	tame_malloc();
	*spares = (struct hf_spares){
		.max_bytes = cache_bytes / 4 < SPARE_BYTES_MAX ? (size_t)cache_bytes / 4 : SPARE_BYTES_MAX};
	pthread_mutex_init(&spares->lock, NULL);
}

void hf_spares_fini(struct hf_spares *spares)
{
	for (unsigned i = 0; i < spares->count; i++)
		free(spares->piece[i].bytes);
	pthread_mutex_destroy(&spares->lock);
}

static void remove_spare(struct hf_spares *spares, unsigned at)
{
	spares->bytes -= spares->piece[at].room;
	spares->count--;
	memmove(&spares->piece[at], &spares->piece[at + 1], (spares->count - at) * sizeof spares->piece[0]);
}

void hf_spares_keep(struct hf_spares *spares, uint8_t *bytes, size_t room)
{
	if (room < MAP_BYTES || room > spares->max_bytes) {
		free(bytes);
		return;
	}
	pthread_mutex_lock(&spares->lock);
	while (spares->count == HF_SPARES || spares->bytes + room > spares->max_bytes) {
		free(spares->piece[0].bytes);
		remove_spare(spares, 0);
	}
	spares->piece[spares->count].bytes = bytes;
	spares->piece[spares->count++].room = room;
	spares->bytes += room;
	pthread_mutex_unlock(&spares->lock);
}

/* A spare piece that is not much larger than size, the one used last: its pages are warmest. */
static uint8_t *take_spare(struct hf_spares *spares, size_t size)
{
	uint8_t *bytes = NULL;

	pthread_mutex_lock(&spares->lock);
	for (unsigned i = spares->count; i-- > 0 && !bytes;) {
		if (spares->piece[i].room >= size && spares->piece[i].room <= size + size / 4) {
			bytes = spares->piece[i].bytes;
			remove_spare(spares, i);
		}
	}
	pthread_mutex_unlock(&spares->lock);
	return bytes;
}

uint8_t *hf_spares_alloc(struct hf_spares *spares, size_t size)
{
	size_t room = size ? size : 1;

	if (size >= MAP_BYTES) {
		uint8_t *spare = take_spare(spares, size);
		size_t step = (size_t)1 << (60 - __builtin_clzll(size));

		if (spare)
			return spare;
		room = (size + step - 1) & ~(step - 1); /* eight sizes to each power of two, so that many fit */
		if (room < size)
			return NULL;
	}
	return malloc(room);
}

/* A buffer that grew by doubling may be half empty. Shrinking it copies nothing. */
uint8_t *hf_spares_fit(uint8_t *bytes, size_t size, size_t *ret_room)
{
	size_t room = malloc_usable_size(bytes);

	if (size && room - size > size / 4 + 64) {
		uint8_t *fitting = realloc(bytes, size);

		if (fitting)
			bytes = fitting;
		room = malloc_usable_size(bytes);
	}
	*ret_room = room;
	return bytes;
}
