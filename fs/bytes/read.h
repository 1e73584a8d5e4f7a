/* SPDX-License-Identifier: Apache-2.0 */
/* A read: what is asked, and what comes out. */
#ifndef HF_FS_READ_H
#define HF_FS_READ_H

#include <stddef.h>
#include <stdint.h>

struct hf_file;
struct hf_latency;

/*
 * One read. The caller fills file, offset, size, done and ctx and keeps the request alive until done was called, once,
 * from any thread (from hf_fs_read itself if the bytes are at hand). In done: err, or piece[0..pieces) in order: bytes
 * pinned in the cache, valid until hf_fs_read_release, which every request that was done needs, also a failed one; the
 * file may be closed before the release, the bytes are then not to be looked at. Fewer than size bytes only at the end
 * of the file, or if hf_file_is_direct.
 */
#define HF_READ_PIECES 64
struct hf_read {
	struct hf_file *file;
	uint64_t offset;
	size_t size;
	void (*done)(struct hf_read *read);
	void *ctx;
	int err;
	size_t pieces;
	struct {
		const uint8_t *bytes;
		size_t size;
	} piece[HF_READ_PIECES];
	/* the fs' own */
	void *state;
	struct hf_latency *latency;
	int64_t began_ns;
};
void hf_fs_read_release(struct hf_read *read);

#endif
