/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/base/list_cache.h"

void hf_list_cache_init(struct hf_list_cache *cache)
{
	*cache = (struct hf_list_cache){.max_bytes = HF_LIST_CACHE_BYTES};
	hf_link_init(&cache->unpinned);
	pthread_mutex_init(&cache->lock, NULL);
}

void hf_list_cache_fini(struct hf_list_cache *cache)
{
	pthread_mutex_destroy(&cache->lock);
}

/* With the lock held, of one that is in no list. */
static void drop(struct hf_list_cache *cache, struct hf_cached_list *list)
{
	cache->bytes -= list->bytes;
	list->bytes = 0;
	list->drop(list);
}

bool hf_list_cache_pin(struct hf_list_cache *cache, struct hf_cached_list *list)
{
	bool there;

	HF_LOCKED(&cache->lock);
	there = list->bytes;
	if (there && !list->pins++)
		hf_link_remove(&list->link);
	return there;
}

void hf_list_cache_made(struct hf_list_cache *cache, struct hf_cached_list *list, size_t bytes)
{
	HF_LOCKED(&cache->lock);
	list->bytes = bytes ? bytes : 1;
	list->pins = 1;
	cache->bytes += list->bytes;
}

void hf_list_cache_unpin(struct hf_list_cache *cache, struct hf_cached_list *list)
{
	HF_LOCKED(&cache->lock);
	if (!--list->pins)
		hf_link_add(&cache->unpinned, &list->link);
	/* The one used last stays, however large it is: it is about to be used again. */
	while (cache->bytes > cache->max_bytes && cache->unpinned.prev != cache->unpinned.next) {
		struct hf_cached_list *oldest = HF_OWNER(cache->unpinned.prev, struct hf_cached_list, link);

		hf_link_remove(&oldest->link);
		drop(cache, oldest);
	}
}

void hf_list_cache_end(struct hf_list_cache *cache, struct hf_cached_list *list)
{
	HF_LOCKED(&cache->lock);
	if (list->bytes) {
		hf_link_remove(&list->link);
		drop(cache, list);
	}
}
