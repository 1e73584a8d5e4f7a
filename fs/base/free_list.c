/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/base/free_list.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_BYTES_MAX ((size_t)32 << 20)

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

void hf_free_list_init(struct hf_free_list *list, uint64_t cache_bytes)
{
	tame_malloc();
	*list = (struct hf_free_list){.max_bytes = cache_bytes / 4 < KEPT_BYTES_MAX ? (size_t)cache_bytes / 4
										    : KEPT_BYTES_MAX};
	pthread_mutex_init(&list->lock, NULL);
}

void hf_free_list_fini(struct hf_free_list *list)
{
	for (unsigned i = 0; i < list->count; i++)
		free(list->piece[i].bytes);
	pthread_mutex_destroy(&list->lock);
}

static void remove_piece(struct hf_free_list *list, unsigned at)
{
	list->bytes -= list->piece[at].room;
	list->count--;
	memmove(&list->piece[at], &list->piece[at + 1], (list->count - at) * sizeof list->piece[0]);
}

void hf_free_list_put(struct hf_free_list *list, uint8_t *bytes, size_t room)
{
	if (room < MAP_BYTES || room > list->max_bytes) {
		free(bytes);
		return;
	}
	pthread_mutex_lock(&list->lock);
	while (list->count == HF_FREE_LIST_MAX || list->bytes + room > list->max_bytes) {
		free(list->piece[0].bytes);
		remove_piece(list, 0);
	}
	list->piece[list->count].bytes = bytes;
	list->piece[list->count++].room = room;
	list->bytes += room;
	pthread_mutex_unlock(&list->lock);
}

/* A spare piece that is not much larger than size, the one used last: its pages are warmest. */
static uint8_t *take_piece(struct hf_free_list *list, size_t size)
{
	uint8_t *bytes = NULL;

	pthread_mutex_lock(&list->lock);
	for (unsigned i = list->count; i-- > 0 && !bytes;) {
		if (list->piece[i].room >= size && list->piece[i].room <= size + size / 4) {
			bytes = list->piece[i].bytes;
			remove_piece(list, i);
		}
	}
	pthread_mutex_unlock(&list->lock);
	return bytes;
}

uint8_t *hf_free_list_alloc(struct hf_free_list *list, size_t size)
{
	size_t room = size ? size : 1;

	if (size >= MAP_BYTES) {
		uint8_t *spare = take_piece(list, size);
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
uint8_t *hf_free_list_fit(uint8_t *bytes, size_t size, size_t *ret_room)
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
