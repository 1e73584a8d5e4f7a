/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/base/free_list.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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
	HF_LOCKED(&list->lock);
	while (list->count == HF_FREE_LIST_MAX || list->bytes + room > list->max_bytes) {
		free(list->piece[0].bytes);
		remove_piece(list, 0);
	}
	list->piece[list->count].bytes = bytes;
	list->piece[list->count++].room = room;
	list->bytes += room;
}

/* The smallest spare piece that size fits in and is not much larger, or else those of one size would be used up for the
 * smaller ones of another; of these the one used last, whose pages are warmest. */
static uint8_t *take_piece(struct hf_free_list *list, size_t size)
{
	size_t best = 2 * size;
	unsigned at = HF_FREE_LIST_MAX;
	uint8_t *bytes;

	HF_LOCKED(&list->lock);
	for (unsigned i = list->count; i-- > 0;) {
		if (list->piece[i].room >= size && list->piece[i].room < best) {
			best = list->piece[i].room;
			at = i;
		}
	}
	if (at == HF_FREE_LIST_MAX)
		return NULL;
	bytes = list->piece[at].bytes;
	remove_piece(list, at);
	return bytes;
}

/* All of it will be written: given at once, its pages cost two thirds of what they do with a fault for each. */
static void touch(uint8_t *bytes, size_t size)
{
#ifdef MADV_POPULATE_WRITE
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	const uintptr_t from = ((uintptr_t)bytes + page - 1) & ~(page - 1), end = ((uintptr_t)bytes + size) & ~(page - 1);

	/* A kernel before 5.14 does not know it, and where memory is short the faults will tell. */
	if (bytes && from < end)
		(void)madvise((void *)from, end - from, MADV_POPULATE_WRITE);
#else
	(void)bytes, (void)size;
#endif
}

uint8_t *hf_free_list_alloc(struct hf_free_list *list, size_t size)
{
	size_t room = size ? size : 1;
	uint8_t *bytes;

	if (size >= MAP_BYTES) {
		uint8_t *spare = take_piece(list, size);
		size_t step = (size_t)1 << (62 - __builtin_clzll(size));

		if (spare)
			return spare;
		/* Two sizes to each power of two, so that many fit; nobody touches the rest. */
		room = (size + step - 1) & ~(step - 1);
		if (room < size)
			return NULL;
	}
	bytes = malloc(room);
	if (size >= MAP_BYTES)
		touch(bytes, size);
	return bytes;
}

/* A buffer that grew, or was another one's, may be mostly empty. Shrinking it copies nothing. */
uint8_t *hf_free_list_fit(uint8_t *bytes, size_t size, size_t *ret_room)
{
	size_t room = malloc_usable_size(bytes);

	if (size && room - size > size + 64) {
		uint8_t *fitting = realloc(bytes, size);

		if (fitting)
			bytes = fitting;
		room = malloc_usable_size(bytes);
	}
	*ret_room = room;
	return bytes;
}
