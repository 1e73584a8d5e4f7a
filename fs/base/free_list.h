/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of blocks: pieces that evicted blocks leave are kept for the next ones. Fresh memory costs a page fault for
 * every 4 KiB, which together is a third of what zstd takes to fill it; leaving that to malloc would be as fast but
 * fragments: a cache of 128 MiB then takes 170 to 290. Sizes are in bytes; a piece is malloc's, and free() may always
 * take it. Thread-safe.
 */
#ifndef HF_FS_FREE_LIST_H
#define HF_FS_FREE_LIST_H

#include "index/base/lock.h"

#include <stddef.h>
#include <stdint.h>

#define HF_FREE_LIST_MAX 32

/* A ring: the oldest piece is freed when there are too many or too much. */
struct hf_free_list {
	pthread_mutex_t lock;
	struct {
		uint8_t *bytes;
		size_t room;
	} piece[HF_FREE_LIST_MAX]; /* oldest first */
	unsigned count;
	size_t bytes, max_bytes;
};

/* For a cache of that size: a quarter of it, at most 32 MiB, is kept. Sets process-wide limits of malloc. */
void hf_free_list_init(struct hf_free_list *list, uint64_t cache_bytes);
void hf_free_list_fini(struct hf_free_list *list);

/* For the caller. NULL without memory. */
uint8_t *hf_free_list_alloc(struct hf_free_list *list, size_t size);
/* Takes bytes with that much room. */
void hf_free_list_put(struct hf_free_list *list, uint8_t *bytes, size_t room);
/* A piece that holds size bytes, made smaller (it may move) if it has much more room; *ret_room: what it has then. */
uint8_t *hf_free_list_fit(uint8_t *bytes, size_t size, size_t *ret_room);

#endif
