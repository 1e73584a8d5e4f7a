/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What open directories hold in memory and can be made again: lists of names. All of them together keep a bounded
 * number of bytes; what was used longest ago is dropped, and made again when it is read.
 */
#ifndef HF_FS_LIST_CACHE_H
#define HF_FS_LIST_CACHE_H

#include "fs/base/list.h"
#include "index/base/lock.h"

#include <stdbool.h>
#include <stddef.h>

#define HF_LIST_CACHE_BYTES ((size_t)8 << 20)

/* Embedded by the owner. A zeroed one with drop set holds nothing. */
struct hf_cached_list {
	/* Frees what it holds. Called with the lock of all held. */
	void (*drop)(struct hf_cached_list *list);
	/* the lock's */
	size_t bytes; /* 0: it holds nothing */
	unsigned pins;
	struct hf_link link; /* of those that are not pinned */
};

/* lock is a leaf. */
struct hf_list_cache {
	pthread_mutex_t lock;
	struct hf_link unpinned;
	size_t bytes; /* of all */
	size_t max_bytes;
};

void hf_list_cache_init(struct hf_list_cache *cache);
void hf_list_cache_fini(struct hf_list_cache *cache);

/* True: it holds what it held, until hf_list_cache_unpin. False: the caller, who is the only one, is to make it and
 * then to call hf_list_cache_made. */
bool hf_list_cache_pin(struct hf_list_cache *cache, struct hf_cached_list *list);
/* It holds so many bytes now (counted as at least 1), and is pinned. */
void hf_list_cache_made(struct hf_list_cache *cache, struct hf_cached_list *list, size_t bytes);
void hf_list_cache_unpin(struct hf_list_cache *cache, struct hf_cached_list *list);
/* Drops it. It must not be pinned. */
void hf_list_cache_end(struct hf_list_cache *cache, struct hf_cached_list *list);

#endif
