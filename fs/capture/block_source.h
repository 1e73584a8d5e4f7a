/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decompressed stream of a capture as a source for any number of readers: blocks of its container are decoded
 * once and kept in the chunk cache. Streams that cannot be entered in the middle are read by parked scans.
 */
#ifndef HF_FS_BLOCK_SOURCE_H
#define HF_FS_BLOCK_SOURCE_H

#include "fs/base/chunk_cache.h"
#include "index/index.h"
#include "index/store/spool.h"

#include <stdatomic.h>

/* All arguments are borrowed and must outlive the source. Plain bytes (hf_index_box NULL) go straight to file. */
int hf_block_source_new(struct hf_src *file, struct hf_index *index, struct hf_cache *cache, struct hf_src **ret_src);

/* How the stream comes by a spool, if it is one that needs it. */
struct hf_spooling {
	int dirfd; /* of the indexes */
	struct hf_identity identity;
	/* So much of the stream was decoded over and over that a spool would pay. Called once, from any thread, and
	 * again after hf_block_source_spooled. */
	void (*wanted)(void *ctx);
	void *ctx;
	_Atomic uint64_t *reads, *damaged; /* counters: of reads from spools, of spools that were no good */
};

/* Before the first read; borrowed as long as the source lives. A spool that is there is used. */
void hf_block_source_spool(struct hf_src *src, const struct hf_spooling *spooling);
/* The spool that was wanted is there, or could not be made; then it is wanted again only if again: true. */
void hf_block_source_spooled(struct hf_src *src, bool again);

/* Reads without filling the cache when only a few bytes of a block are wanted and the reader is not sequential:
 * a cold random read decodes no more than it must. Same result as hf_src_read_at. */
int hf_block_source_read_once(struct hf_src *src, uint64_t offset, void *buf, size_t n, size_t *ret_n,
			      struct hf_diag *diag);
/*
 * The block that is just these bytes of the stream, pinned in the cache, made if it is not there. HF_NOTE_END: the stream
 * has no such block. An error: reading the bytes tells more of it.
 */
int hf_block_source_lend(struct hf_src *src, uint64_t offset, uint64_t size, struct hf_cache_block **ret_block);
/*
 * Reads for a reader who will go on up to the offset until, and perhaps no further: of a block that nobody wanted before,
 * no more is decoded than he needs, and that is kept. Same result as hf_src_read_at.
 */
int hf_block_source_read_until(struct hf_src *src, uint64_t offset, void *buf, size_t n, uint64_t until, size_t *ret_n,
			       struct hf_diag *diag);
/* The same for one who looks at many places once each: blocks are kept for a short while, and their memory is used again
 * while it is warm. until: 0 if he does not know. */
int hf_block_source_read_through(struct hf_src *src, uint64_t offset, void *buf, size_t n, uint64_t until, size_t *ret_n,
				 struct hf_diag *diag);

#endif
