/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One zstd frame after another, internal to this folder: what .zst files and .zstf containers have in common. What
 * stands between two frames is the container's own business.
 */
#ifndef HF_SOURCE_FRAMES_H
#define HF_SOURCE_FRAMES_H

#include "codecs/source/unpack.h"

#include <zstd.h>

struct hf_frames {
	struct hf_unpack u;
	ZSTD_DCtx *zstd;
	bool checked;	   /* this frame's window is no larger than allowed */
	bool in_frame;	   /* set by the container when u.pos is at a frame's magic; cleared at the frame's end */
	uint64_t frame_at; /* file offset of this frame */
};

int hf_frames_start(struct hf_frames *f, struct hf_diag *diag);
void hf_frames_stop(struct hf_unpack *u);

uint64_t hf_frames_memory(const struct hf_unpack *u);

/* Whether a zstd frame's magic number is at p. */
bool hf_frames_magic(const uint8_t *p, size_t n);

/* A step (struct hf_unpack_ops) inside a frame; its end is HF_MARK_FREE. */
int hf_frames_step(struct hf_frames *f, uint8_t *out, size_t cap, size_t *ret_n, enum hf_mark *ret_mark,
		   struct hf_diag *diag);

/*
 * Decodes a block that is whole frames right into its place, without a window beside it: twice as fast as by steps. False:
 * it is not so simple, or damaged, which steps tell.
 */
bool hf_frames_read_whole(struct hf_src *base, const struct hf_point *point, void *buf, size_t n);

/*
 * The same of bytes [skip, skip + n) of one that is a single frame: as if it ended with its block (in the sense of RFC 8878)
 * where these do. What lies before them needs no fresh memory.
 */
bool hf_frames_read_part(struct hf_src *base, const struct hf_point *point, uint64_t skip, void *buf, size_t n);

#endif
