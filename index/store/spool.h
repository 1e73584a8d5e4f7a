/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spools: decompressed streams that cannot be entered in the middle (one-block .xz, .lzma, one-frame .zst), compressed
 * again so that they can. A spool is a file of the index directory, made once, published whole, and worth nothing to
 * anyone but us: it can go at any time. Its format is described in hartfs-index(5).
 */
#ifndef HF_INDEX_SPOOL_H
#define HF_INDEX_SPOOL_H

#include "codecs/source/source.h"
#include "index/store/dir.h"
#include "index/store/spool_format.h"

struct hf_spool;

/* The spool of a capture's stream of that size: HF_ERR_NOT_FOUND if there is none that is whole and ours, after removing
 * one that was ours and is not whole. One reference. */
int hf_spool_open(const struct hf_store_dir *dir, const struct hf_identity *identity, uint64_t stream_size,
		  struct hf_spool **ret_spool);
struct hf_spool *hf_spool_ref(struct hf_spool *spool);
void hf_spool_unref(struct hf_spool *spool);

/*
 * Bytes [offset, offset + n) of the stream, which it has; checked. Thread-safe. HF_ERR_STATE: the file is damaged. Its
 * name is removed then, and it gives nothing any more. HF_ERR_INDEX_DIR or a shortage: it could not be read just now.
 */
int hf_spool_read(struct hf_spool *spool, uint64_t offset, void *buf, size_t n);

struct hf_spool_build {
	const struct hf_store_dir *dir;
	const struct hf_identity *identity;
	const struct hf_box *box;
	struct hf_src *file;       /* the container; borrowed */
	uint64_t stream_size;
	uint64_t limit;            /* bytes that all spools of the directory may take */
	bool (*cancelled)(void *ctx); /* asked many times a second; may be NULL */
	void *ctx;
};

/*
 * Makes a spool, for which the spools used longest ago may have to go. HF_ERR_LIMIT: it is too large, or the disk too
 * full. HF_ERR_INDEX_DIR: the directory fails otherwise. HF_ERR_BUSY: another process is at it. HF_ERR_MISMATCH: the stream is not what it was.
 */
int hf_spool_build(const struct hf_spool_build *build);

#endif
