/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/source/frames.h"

#include "codecs/base/bytes.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <zstd_errors.h>

/* RFC 8878 3.1.1.1: the longest frame header, and the largest block; a decoder has room for some more of these. */
enum { HEADER_MAX = 18, BLOCK = 128 * 1024, BESIDES = 3 * BLOCK };

/*
 * The free list: decompressors that nobody uses, with the memory of their last frame. A new one would touch all its
 * pages for the first time, which takes as long as decoding half a frame of one MiB: too long for a few bytes.
 */
#define FREE_MAX 4
#define FREE_BYTES ((size_t)4 << 20)

static _Atomic(ZSTD_DCtx *) free_list[FREE_MAX];

static ZSTD_DCtx *take_free(void)
{
	ZSTD_DCtx *zstd = NULL;

	for (unsigned i = 0; i < FREE_MAX && !zstd; i++)
		zstd = atomic_exchange(&free_list[i], NULL);
	return zstd ? zstd : ZSTD_createDCtx();
}

static void put_free(ZSTD_DCtx *zstd)
{
	const bool keep = zstd && ZSTD_sizeof_DCtx(zstd) <= FREE_BYTES;

	if (keep)
		ZSTD_DCtx_reset(zstd, ZSTD_reset_session_and_parameters);
	for (unsigned i = 0; keep && i < FREE_MAX; i++) {
		ZSTD_DCtx *none = NULL;

		if (atomic_compare_exchange_strong(&free_list[i], &none, zstd))
			return;
	}
	ZSTD_freeDCtx(zstd);
}

int hf_frames_start(struct hf_frames *f, struct hf_diag *diag)
{
	/* The limit that counts is ours. */
	const ZSTD_bounds bounds = ZSTD_dParam_getBounds(ZSTD_d_windowLogMax);

	f->zstd = take_free();
	if (!f->zstd || ZSTD_isError(bounds.error) ||
	    ZSTD_isError(ZSTD_DCtx_setParameter(f->zstd, ZSTD_d_windowLogMax, bounds.upperBound)))
		return hf_diag_set(diag, HF_ERR_NOMEM, HF_SPACE_FILE, HF_NOWHERE, 0);
	return 0;
}

void hf_frames_stop(struct hf_unpack *u)
{
	put_free(((struct hf_frames *)u)->zstd);
}

uint64_t hf_frames_memory(const struct hf_unpack *u)
{
	return ZSTD_sizeof_DCtx(((const struct hf_frames *)u)->zstd);
}

bool hf_frames_magic(const uint8_t *p, size_t n)
{
	return n >= 4 && hf_get32(p) == ZSTD_MAGICNUMBER;
}

static int frame_error(const struct hf_frames *f, size_t ret, enum hf_mark *ret_mark, struct hf_diag *diag)
{
	switch (ZSTD_getErrorCode(ret)) {
	case ZSTD_error_memory_allocation:
		return hf_diag_set(diag, HF_ERR_NOMEM, HF_SPACE_FILE, HF_NOWHERE, 0);
	case ZSTD_error_frameParameter_windowTooLarge:
	case ZSTD_error_frameParameter_unsupported:
	case ZSTD_error_dictionary_wrong:
		return hf_diag_set(diag, HF_ERR_UNSUPPORTED, HF_SPACE_FILE, f->frame_at, 0);
	case ZSTD_error_checksum_wrong:
		return hf_unpack_doubt(HF_ERR_CHECKSUM, f->frame_at, ret_mark, diag);
	default:
		/* The library does not say where it stopped: it is in the input window that begins here. */
		return hf_unpack_doubt(HF_ERR_BOX_DAMAGED, f->u.pos, ret_mark, diag);
	}
}

/* The window that the frame header p[n] asks for; 0 if the header is not complete (RFC 8878 3.1.1.1). */
static uint64_t window_of(const uint8_t *p, size_t n)
{
	static const uint8_t id_sizes[4] = {0, 1, 2, 4};
	uint64_t size;
	size_t at;

	if (n < HEADER_MAX)
		return 0;
	if (!(p[4] & 0x20)) {
		size = UINT64_C(1) << (10 + (p[5] >> 3));
		return size + size / 8 * (p[5] & 7);
	}
	at = 5u + id_sizes[p[4] & 3];
	switch (p[4] >> 6) {
	case 0:
		return p[at];
	case 1:
		return hf_get16(p + at) + UINT64_C(256);
	case 2:
		return hf_get32(p + at);
	default:
		return hf_get64(p + at);
	}
}

/* Before the first byte of a frame is given to the library. A shorter frame has no window to speak of. */
static int check_window(struct hf_frames *f, struct hf_diag *diag)
{
	const uint8_t *p;
	uint64_t window;
	size_t have;
	int err = hf_unpack_need(&f->u, HEADER_MAX, &p, &have, diag);

	/* What damage there is will be met where it lies. */
	if (err < 0 && hf_err_class(err) != HF_CLASS_corrupt)
		return err;
	window = window_of(p, have);
	err = hf_unpack_afford(&f->u, window < UINT64_MAX - BESIDES ? window + BESIDES : window, f->frame_at, diag);
	f->checked = !err;
	return err;
}

int hf_frames_step(struct hf_frames *f, uint8_t *out, size_t cap, size_t *ret_n, enum hf_mark *ret_mark,
		   struct hf_diag *diag)
{
	const uint8_t *p;
	size_t have, ret;
	ZSTD_inBuffer in;
	ZSTD_outBuffer to = {.dst = out, .size = cap};
	int err = f->checked ? 0 : check_window(f, diag);

	if (!err)
		err = hf_unpack_need(&f->u, 1, &p, &have, diag);
	if (err)
		return err;
	in = (ZSTD_inBuffer){.src = p, .size = have};
	ret = ZSTD_decompressStream(f->zstd, &to, &in);
	*ret_n = to.pos;
	f->u.pos += in.pos;
	if (ZSTD_isError(ret))
		return frame_error(f, ret, ret_mark, diag);
	if (ret == 0) {
		f->in_frame = f->checked = false;
		*ret_mark = HF_MARK_FREE;
	} else if (!have && !to.pos) {
		return hf_unpack_cut(&f->u, diag);
	}
	return 0;
}

/* Of a block that is read at once, compressed. */
#define WHOLE_MAX (UINT64_C(4) << 20)

/* Whether these frames make n bytes, the last of which is in buf. */
static bool decode_whole(const uint8_t *in, size_t size, void *buf, size_t n)
{
	const unsigned long long content = ZSTD_getFrameContentSize(in, size);
	ZSTD_DCtx *zstd;
	size_t got;

	if (!hf_frames_magic(in, size) || content == ZSTD_CONTENTSIZE_ERROR ||
	    (content != ZSTD_CONTENTSIZE_UNKNOWN && content > n))
		return false;
	zstd = take_free();
	if (!zstd)
		return false;
	got = ZSTD_decompressDCtx(zstd, buf, n, in, size);
	put_free(zstd);
	return got == n;
}

bool hf_frames_read_whole(struct hf_src *base, const struct hf_point *point, void *buf, size_t n)
{
	const bool whole = n && n == point->out_size && point->in_size && point->in_size <= WHOLE_MAX &&
			   !(point->bits & (HF_POINT_CONTINUES | HF_POINT_DAMAGED));
	uint8_t *in = whole ? malloc((size_t)point->in_size) : NULL;
	bool done = false;
	size_t have;

	if (in && !hf_src_read_all(base, point->in_offset, in, (size_t)point->in_size, &have, NULL))
		done = have == point->in_size && decode_whole(in, have, buf, n);
	free(in);
	return done;
}
