/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Zstandard files (RFC 8878): frames and skippable frames in any order. The table of the seekable format lies in a
 * skippable frame and is skipped like any other: the frames themselves say where they end.
 */
#include "codecs/base/bytes.h"
#include "codecs/source/errors.h"
#include "codecs/source/frames.h"

static int zst_start(struct hf_unpack *u, const struct hf_point *at, const uint8_t *window, struct hf_diag *diag)
{
	(void)window;
	if (at->bits)
		return hf_diag_set(diag, HF_ERR_STATE, HF_SPACE_FILE, at->in_offset, 0);
	return hf_frames_start((struct hf_frames *)u, diag);
}

static bool skippable_magic(const uint8_t *p, size_t n)
{
	return n >= 4 && (hf_get32(p) & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
}

static int skip_frame(struct hf_frames *f, struct hf_diag *diag)
{
	const uint64_t size = f->u.in.src->size;
	const uint8_t *p;
	int err = hf_unpack_take(&f->u, 8, &p, diag);

	if (err < 0)
		return err;
	f->u.pos += hf_get32(p + 4);
	if (f->u.pos > size)
		return hf_diag_set(diag, HF_ERR_BOX_CUT, HF_SPACE_FILE, size, 0);
	return 0;
}

/* Unlike gzip's, files with something else behind the frames are refused by the zstd tool: it may be damage. */
static int next_frame(struct hf_frames *f, struct hf_diag *diag)
{
	const bool first = f->u.pos == 0;
	const uint8_t *p;
	size_t have;
	int err = hf_unpack_need(&f->u, 4, &p, &have, diag);

	if (err < 0)
		return err;
	if (!have && !first)
		return HF_NOTE_END;
	if (skippable_magic(p, have))
		return skip_frame(f, diag);
	if (hf_frames_magic(p, have)) {
		f->in_frame = true;
		f->frame_at = f->u.pos;
		return 0;
	}
	if (first && have < 4)
		return hf_unpack_cut(&f->u, diag);
	return hf_diag_set(diag, first ? HF_ERR_BOX_DAMAGED : HF_ERR_BOX_GARBAGE, HF_SPACE_FILE, f->u.pos, 0);
}

static int zst_step(struct hf_unpack *u, uint8_t *out, size_t cap, size_t *ret_n, enum hf_mark *ret_mark,
		    struct hf_diag *diag)
{
	struct hf_frames *f = (struct hf_frames *)u;

	if (f->in_frame)
		return hf_frames_step(f, out, cap, ret_n, ret_mark, diag);
	return next_frame(f, diag);
}

static const struct hf_unpack_ops ops = {
	.size = sizeof(struct hf_frames),
	/* Many small frames (pipes flushed line by line) make one block: a point takes more room than it saves. */
	.aim_free = HF_BLOCK_AIM / 8,
	.whole = HF_UNPACK_WHOLE,
	.start = zst_start,
	.step = zst_step,
	.stop = hf_frames_stop,
	.memory = hf_frames_memory,
};

static int zst_probe(const uint8_t *head, size_t n, uint64_t file_size)
{
	(void)file_size;
	/* Other formats (lz4) begin with skippable frames too. */
	return hf_frames_magic(head, n) ? 100 : skippable_magic(head, n) ? 50 : 0;
}

static int zst_read_block(const struct hf_box *box, struct hf_src *base, const struct hf_point *point,
			  const uint8_t *window, uint64_t skip, void *buf, size_t n, struct hf_diag *diag)
{
	if ((!skip && hf_frames_read_whole(base, point, buf, n)) || hf_frames_read_part(base, point, skip, buf, n))
		return 0;
	return hf_unpack_read_block(box, base, point, window, skip, buf, n, diag);
}

static const char *const suffixes[] = {".zst", NULL};

const struct hf_box hf_box_zstd = {
	HF_UNPACK_BOX,
	.name = "zstd",
	.suffixes = suffixes,
	.enterable = true,
	.probe = zst_probe,
	.read_block = zst_read_block,
	.unpack = &ops,
};
