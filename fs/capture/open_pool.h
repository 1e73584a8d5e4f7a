/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captures in use stay open, as many as fit a number of captures, of bytes and of descriptors; the one used longest ago is
 * closed first and opened again when it is needed, but never one that is in use. What must outlive that, sizes above all,
 * are the facts.
 */
#ifndef HF_FS_OPEN_POOL_H
#define HF_FS_OPEN_POOL_H

#include "fs/capture/opened.h"

/* Bytes of all captures that stay open without being used; and a quarter of the cache, which lends them that. */
#define HF_OPEN_CAPTURES_BYTES (UINT64_C(24) << 20)

struct hf_open_pool {
	pthread_mutex_t lock;
	pthread_cond_t opened;	/* one is open, or was put by its last user */
	struct hf_cache *cache; /* is told of the bytes */
	struct hf_link used;
	size_t count;
	uint64_t bytes, max_bytes; /* of all in the list */
	size_t files, max_files;   /* of all that are open, or just being opened */
};

void hf_open_pool_init(struct hf_open_pool *pool);
/* How much may stay open. cache is borrowed. */
void hf_open_pool_limit(struct hf_open_pool *pool, struct hf_cache *cache, size_t max_files);
/* The one used last, or NULL: for tests. */
static inline struct hf_open *hf_open_pool_newest(const struct hf_open_pool *pool)
{
	return hf_link_none(&pool->used) ? NULL : HF_OWNER(pool->used.next, struct hf_open, used);
}
/* Closes all; none may be referenced. */
void hf_open_pool_fini(struct hf_open_pool *pool);

/* Those that wait for descriptors look whether all is to end. */
void hf_open_pool_wake(struct hf_open_pool *pool);
/* Closes all that nobody is using. Returns how many those were. */
size_t hf_open_pool_shed(struct hf_open_pool *pool);

/*
 * That version of the capture, opened if it is not, with a reference. HF_ERR_CHANGED if it is another by now,
 * HF_ERR_NOT_FOUND if its index does not exist, or a view table whose size nobody knows; a table of known size may be
 * missing, and is made again then. HF_ERR_MISMATCH: it is not of the sizes that are known. Opening makes it READY.
 */
int hf_open_get(struct hf_capture *capture, uint64_t version, struct hf_open **ret_open);
/* The same, but HF_ERR_BUSY if somebody else opens it and is not done in wait_ms: a read of the archive may take long.
 */
int hf_open_get_within(struct hf_capture *capture, uint64_t version, unsigned wait_ms, struct hf_open **ret_open);
void hf_open_put(struct hf_open *open);
/* Closes it as soon as nobody has a reference. */
void hf_open_drop(struct hf_capture *capture);
/* The same, if it is the one that the next would get. */
void hf_open_drop_if(struct hf_open *open);
/* Removes its files from the index directory, or (why is HF_ERR_INDEX_DIR) hides them, and drops it, if it is open in
 * that version. */
void hf_open_discard(struct hf_capture *capture, uint64_t version, int why);

#endif
