#include "codecs/source/frames.h"

#include "codecs/base/bytes.h"

#include <zstd_errors.h>

/* Frames with a larger window are refused: 2^27 = 128 MiB is also what the zstd tool takes without being asked. */
#define WINDOW_LOG_MAX 27

int hf_frames_start(struct hf_frames *f, struct hf_diag *diag)
{
	f->zstd = ZSTD_createDCtx();
	if (!f->zstd || ZSTD_isError(ZSTD_DCtx_setParameter(f->zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX)))
		return hf_diag_set(diag, HF_ERR_NOMEM, HF_SPACE_FILE, HF_NOWHERE, 0);
	return 0;
}

void hf_frames_stop(struct hf_unpack *u)
{
	ZSTD_freeDCtx(((struct hf_frames *)u)->zstd);
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
		return hf_diag_set(diag, HF_ERR_LIMIT, HF_SPACE_FILE, f->frame_at, 0);
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

int hf_frames_step(struct hf_frames *f, uint8_t *out, size_t cap, size_t *ret_n, enum hf_mark *ret_mark,
		   struct hf_diag *diag)
{
	const uint8_t *p;
	size_t have, ret;
	int err = hf_unpack_need(&f->u, 1, &p, &have, diag);
	ZSTD_inBuffer in;
	ZSTD_outBuffer to = {.dst = out, .size = cap};

	*ret_n = 0;
	*ret_mark = HF_MARK_NONE;
	if (err < 0)
		return err;
	in = (ZSTD_inBuffer){.src = p, .size = have};
	ret = ZSTD_decompressStream(f->zstd, &to, &in);
	*ret_n = to.pos;
	f->u.pos += in.pos;
	if (ZSTD_isError(ret))
		return frame_error(f, ret, ret_mark, diag);
	if (ret == 0) {
		f->in_frame = false;
		*ret_mark = HF_MARK_FREE;
	} else if (!have && !to.pos) {
		return hf_unpack_cut(&f->u, diag);
	}
	return 0;
}
