/*
 * The decompressed stream of a capture as a source for any number of readers: blocks of its container are decoded
 * once and kept in the chunk cache. Streams that cannot be entered in the middle are read by parked scans.
 */
#ifndef HF_FS_BLOCK_SOURCE_H
#define HF_FS_BLOCK_SOURCE_H

#include "fs/chunk_cache.h"
#include "index/index.h"

/* All arguments are borrowed and must outlive the source. Plain bytes (hf_index_box NULL) go straight to file. */
int hf_block_source_new(struct hf_src *file, struct hf_index *index, struct hf_cache *cache, struct hf_src **ret_src);

/* Reads without filling the cache when only a few bytes of a block are wanted and the reader is not sequential:
 * a cold random read decodes no more than it must. Same result as hf_src_read_at. */
int hf_block_source_read_once(struct hf_src *src, uint64_t offset, void *buf, size_t n, size_t *ret_n,
			      struct hf_diag *diag);

#endif
