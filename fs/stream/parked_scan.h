/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks that can only be decoded after the block before (HF_POINT_CONTINUES). A scan that has given such a block is
 * parked there, so that reading on decodes nothing twice. Internal to fs: block_source.c uses it.
 */
#ifndef HF_FS_PARKED_SCAN_H
#define HF_FS_PARKED_SCAN_H

#include "fs/base/chunk_cache.h"
#include "index/index.h"

#include <stdatomic.h>

/* What is scanned. All is borrowed; the struct's address is its identity. */
struct hf_parked_stream {
	struct hf_src *file;
	struct hf_index *index;
	const struct hf_box *box;
	struct hf_cache *cache;
	uint64_t owner; /* of its blocks in the cache, whose number is the block's out_offset */
	_Atomic uint64_t *decoded; /* counts the bytes that its scans gave; may be NULL */
};

/*
 * Decodes the block of point: *ret_bytes[point->out_size], from hf_cache_alloc, are the caller's. Blocks passed over
 * shortly before go into the cache. Thread-safe; waits while another thread's scan is on its way to this block.
 */
int hf_parked_read(const struct hf_parked_stream *stream, const struct hf_point *point, uint8_t **ret_bytes,
		   struct hf_diag *diag);
/* Forgets the scans of a stream that nobody reads any more. */
void hf_parked_drop(const struct hf_parked_stream *stream);

#endif
