/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decompressed stream of a capture as a source for any number of readers: blocks of its container are decoded
 * once and kept in the chunk cache. Streams that cannot be entered in the middle are read by parked scans or a spool.
 */
#ifndef HF_FS_BLOCK_SOURCE_H
#define HF_FS_BLOCK_SOURCE_H

#include "fs/base/chunk_cache.h"
#include "index/index.h"
#include "index/store/spool.h"

#include <stdatomic.h>

/* All arguments are borrowed and must outlive the source. Plain bytes (hf_index_box NULL) go straight to file. */
int hf_block_source_new(struct hf_src *file, struct hf_index *index, struct hf_cache *cache, struct hf_src **ret_src);

/* The spool of the stream, if it cannot be entered in the middle. */
struct hf_spooling {
	int dirfd; /* the index directory */
	struct hf_identity identity;
	/* A spool would pay by now. Called once, from any thread, and once more after each
	 * hf_block_source_spooled. */
	void (*wanted)(void *ctx);
	void *ctx;
	_Atomic uint64_t *reads, *damaged; /* counters: reads from spools, damaged spools */
};

/* Before the first read; borrowed as long as the source lives. An existing spool is used. */
void hf_block_source_spool(struct hf_src *src, const struct hf_spooling *spooling);
/* After wanted: the spool is made, or could not be. again: wanted may be called once more. */
void hf_block_source_spooled(struct hf_src *src, bool again);

/* Reads without filling the cache when only a few bytes of a block are wanted and the reader is not sequential:
 * a cold random read decodes no more than it must. Same result as hf_src_read_at. */
int hf_block_source_read_once(struct hf_src *src, uint64_t offset, void *buf, size_t n, size_t *ret_n,
			      struct hf_diag *diag);
/*
 * The block that is just these bytes of the stream, pinned in the cache, made if it is not there. HF_NOTE_END: no block
 * is just that. After an error a read of the bytes has its diag.
 */
int hf_block_source_lend(struct hf_src *src, uint64_t offset, uint64_t size, struct hf_cache_block **ret_block);
/*
 * For a reader who goes on up to the offset until, and perhaps no further: of a block that is read for the first time
 * no more than that is decoded, and kept. Same result as hf_src_read_at.
 */
int hf_block_source_read_until(struct hf_src *src, uint64_t offset, void *buf, size_t n, uint64_t until, size_t *ret_n,
			       struct hf_diag *diag);
/* The same for a reader of many places, each once: blocks leave the cache soon, so that their memory is reused while it
 * is warm. until: 0 if unknown. */
int hf_block_source_read_through(struct hf_src *src, uint64_t offset, void *buf, size_t n, uint64_t until, size_t *ret_n,
				 struct hf_diag *diag);

#endif
