/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cache of made bytes: chunks of views and decompressed blocks of containers, bounded in bytes, each made once at
 * a time (single flight) and pinned while someone sends or reads it.
 */
#ifndef HF_FS_CHUNK_CACHE_H
#define HF_FS_CHUNK_CACHE_H

#include "codecs/base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct hf_cache;

/* Owners are numbers from hf_cache_owner, never used twice: a changed capture gets new ones. */
struct hf_cache_key {
	uint64_t owner;
	uint64_t number;
};

/* Made bytes, or a place for them. Everything but bytes and size is the cache's own. */
struct hf_cache_block {
	const uint8_t *bytes;
	size_t size;
};

/* Someone who waits for a block. ready is called once, from any thread, without locks held: block is pinned and
 * becomes the waiter's, or NULL with err. */
struct hf_cache_waiter {
	void (*ready)(struct hf_cache_waiter *waiter, struct hf_cache_block *block, int err);
	void *ctx;
	struct hf_cache_waiter *next; /* the cache's own, as is the rest */
	struct hf_cache_block *block;
};

enum hf_cache_answer {
	HF_CACHE_HIT,	  /* *ret_block is pinned; the waiter is not used */
	HF_CACHE_MAKE,	  /* the caller must see that *ret_block is filled or failed; the waiter will be told */
	HF_CACHE_PENDING, /* someone else makes it; the waiter will be told */
	HF_CACHE_ERROR,	  /* nothing happened; *ret_err is HF_ERR_NOMEM. It is 0 with every other answer */
};

/* max_bytes counts the blocks and what managing them takes; only pinned blocks may exceed it. Blocks being made are
 * not counted before they are filled. Sets process-wide limits of malloc, so that freed blocks leave the process. */
int hf_cache_new(uint64_t max_bytes, struct hf_cache **ret_cache);
/* No block may be pinned or being made. */
void hf_cache_free(struct hf_cache *cache);
uint64_t hf_cache_owner(struct hf_cache *cache);

/* waiter may be NULL: then HF_CACHE_MAKE obliges the caller likewise (making ahead), PENDING means nothing to do. */
enum hf_cache_answer hf_cache_acquire(struct hf_cache *cache, struct hf_cache_key key, struct hf_cache_waiter *waiter,
				      struct hf_cache_block **ret_block, int *ret_err);
/* malloc, but reuses what evicted blocks leave, which is ten times faster for large blocks. For makers that know the
 * size; what does not get into the cache after all is given to free. NULL without memory. */
uint8_t *hf_cache_alloc(struct hf_cache *cache, size_t size);
/* Ends a HF_CACHE_MAKE: bytes (malloc'ed, NULL only if size is 0) become the cache's, the maker has them no more
 * (they may move). */
void hf_cache_fill(struct hf_cache *cache, struct hf_cache_block *block, uint8_t *bytes, size_t size);
/* The same with the bytes of another block, which is the caller's pinned one and is not any more: they are there once, and
 * count once, for both. It stays as long as this one does. */
void hf_cache_fill_lent(struct hf_cache *cache, struct hf_cache_block *block, struct hf_cache_block *lent);
/* Ends a HF_CACHE_MAKE without bytes: waiters get err, the next acquire makes it anew. */
void hf_cache_fail(struct hf_cache *cache, struct hf_cache_block *block, int err);
/* The same, if nobody waits for it: false, and it is still to be filled or failed, if somebody does. */
bool hf_cache_abandon(struct hf_cache *cache, struct hf_cache_block *block);
/* Takes the waiter back: true if ready was not and will not be called. Only for a waiter that went through
 * hf_cache_acquire or is zeroed. The making goes on. */
bool hf_cache_cancel(struct hf_cache *cache, struct hf_cache_waiter *waiter);
void hf_cache_unpin(struct hf_cache *cache, struct hf_cache_block *block);
/* The same, by a reader that goes forward and has read it to its end: it is among the first to go, so that the next
 * blocks are made in its memory, which is warm. */
void hf_cache_unpin_passed(struct hf_cache *cache, struct hf_cache_block *block);
/* Acquire and wait, making it with make() on this thread if nobody else does. Pinned. A job may wait so only for
 * blocks whose makers are running, and leaves its seat meanwhile. HF_ERR_CANCELLED: it is a spare one, and too many
 * wait (hf_job_gives_up). */
typedef int (*hf_make_fn)(void *ctx, uint8_t **ret_bytes, size_t *ret_size);
int hf_cache_get(struct hf_cache *cache, struct hf_cache_key key, hf_make_fn make, void *ctx,
		 struct hf_cache_block **ret_block);
/* Whether it is there or being made: for making ahead. */
bool hf_cache_has(struct hf_cache *cache, struct hf_cache_key key);
/* Drops what an owner has, pinned blocks as soon as they are unpinned. */
void hf_cache_drop(struct hf_cache *cache, uint64_t owner);

/*
 * Bytes outside the cache that are kept for later reads all the same. HF_LEND_FREE of them, of all together, are free;
 * the cache holds as much less as they exceed that by, but at least a quarter of what it may.
 */
enum hf_lender {
	HF_LEND_SCANS,	       /* parked_scan.h */
	HF_LEND_OPEN_CAPTURES, /* open_capture.h */
	HF_LEND_PROGRAMS,      /* executable.h */
	HF_LEND_SLICES,	       /* slice.h */
	HF_LEND_INDEXES,       /* index_dir.h: what cannot be written */
	HF_LENDERS
};
#define HF_LEND_FREE (UINT64_C(80) << 20)
/* What that one has now. */
void hf_cache_lend(struct hf_cache *cache, enum hf_lender lender, uint64_t bytes);
/* What the others have. */
uint64_t hf_cache_lent_to_others(struct hf_cache *cache, enum hf_lender lender);
uint64_t hf_cache_size(const struct hf_cache *cache);

struct hf_cache_stats {
	uint64_t bytes, hits, misses, waits, evicted;
};
void hf_cache_get_stats(struct hf_cache *cache, struct hf_cache_stats *ret_stats);

#endif
