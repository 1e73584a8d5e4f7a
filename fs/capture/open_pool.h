/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captures stay open after use, up to a number of captures, of bytes and of descriptors. The one used longest ago is
 * closed first, never one in use, and opened again when it is needed. What must outlive that, such as sizes, is in the
 * facts.
 */
#ifndef HF_FS_OPEN_POOL_H
#define HF_FS_OPEN_POOL_H

#include "fs/facts/opened.h"

/* Bytes of captures that stay open without being used; a quarter of the cache, which lends it, comes on top. */
#define HF_OPEN_CAPTURES_BYTES (UINT64_C(24) << 20)

struct hf_open_pool {
	pthread_mutex_t lock;
	pthread_cond_t opened;	/* one is open, or was put by its last user */
	struct hf_cache *cache; /* is told the bytes */
	struct hf_link used;
	size_t count;
	uint64_t bytes, max_bytes; /* of all in the list */
	size_t files, max_files;   /* of all that are open, or just being opened */
};

void hf_open_pool_init(struct hf_open_pool *pool);
/* Sets how much may stay open. cache is borrowed. */
void hf_open_pool_limit(struct hf_open_pool *pool, struct hf_cache *cache, size_t max_files);
/* The one used last, or NULL: for tests. */
static inline struct hf_open *hf_open_pool_newest(const struct hf_open_pool *pool)
{
	return hf_link_none(&pool->used) ? NULL : HF_OWNER(pool->used.next, struct hf_open, used);
}
/* Closes all; none may be referenced. */
void hf_open_pool_fini(struct hf_open_pool *pool);

/* Threads that wait for descriptors check whether the fs is closing. */
void hf_open_pool_wake(struct hf_open_pool *pool);
/* Closes all that nobody is using. Returns how many those were. */
size_t hf_open_pool_shed(struct hf_open_pool *pool);

/*
 * That version of the capture, opened if it is not, with a reference; opening makes the capture READY. HF_ERR_CHANGED:
 * the version is gone. HF_ERR_NOT_FOUND: there is no index, or no table of a view whose size is not known; a missing
 * table of a view of known size is made again meanwhile. HF_ERR_MISMATCH: sizes are not those that are known.
 */
int hf_open_get(struct hf_capture *capture, uint64_t version, struct hf_open **ret_open);
/* The same, but HF_ERR_BUSY if another thread opens it and takes more than wait_ms. */
int hf_open_get_within(struct hf_capture *capture, uint64_t version, unsigned wait_ms, struct hf_open **ret_open);
void hf_open_put(struct hf_open *open);
/* Closes the open one as soon as nobody has a reference. */
void hf_open_drop(struct hf_capture *capture);
/* The same, unless another one is open by now. */
void hf_open_drop_if(struct hf_open *open);
/* If that version is open: removes its index files, or hides them if why is HF_ERR_INDEX_DIR, and drops it. */
void hf_open_discard(struct hf_capture *capture, uint64_t version, int why);

#endif
