/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LZMA-alone (.lzma), the format before .xz and ASTF's default: one stream without blocks or checksums, which can
 * only be decoded from its beginning.
 */
#include "codecs/base/bytes.h"
#include "codecs/source/unpack.h"

#include <lzma.h>

enum { HEADER_SIZE = 13 };

struct unlzma {
	struct hf_unpack u;
	lzma_stream z;
	bool ended;
};

static int alone_start(struct hf_unpack *u, const struct hf_point *at, const uint8_t *window, struct hf_diag *diag)
{
	struct unlzma *l = (struct unlzma *)u;

	(void)at;
	(void)window;
	l->z = (lzma_stream)LZMA_STREAM_INIT;
	if (lzma_alone_decoder(&l->z, hf_unpack_limit(u)) != LZMA_OK)
		return hf_diag_set(diag, HF_ERR_NOMEM, HF_SPACE_FILE, HF_NOWHERE, 0);
	return 0;
}

static int end_of_stream(struct unlzma *l, struct hf_diag *diag)
{
	const uint8_t *p;
	size_t have;
	int err = hf_unpack_need(&l->u, 1, &p, &have, diag);

	if (err < 0 && hf_err_class(err) != HF_CLASS_corrupt)
		return err;
	if (have)
		hf_unpack_note(&l->u, HF_ERR_BOX_GARBAGE, l->u.pos, 0);
	return HF_NOTE_END;
}

static int alone_step(struct hf_unpack *u, uint8_t *out, size_t cap, size_t *ret_n, enum hf_mark *ret_mark,
		      struct hf_diag *diag)
{
	struct unlzma *l = (struct unlzma *)u;
	const uint8_t *p;
	size_t have;
	lzma_ret ret;
	int err;

	*ret_n = 0;
	*ret_mark = HF_MARK_NONE;
	if (l->ended)
		return end_of_stream(l, diag);
	err = hf_unpack_need(u, 1, &p, &have, diag);
	if (err < 0)
		return err;
	l->z.next_in = p;
	l->z.avail_in = have;
	l->z.next_out = out;
	l->z.avail_out = cap;
	ret = lzma_code(&l->z, LZMA_RUN);
	u->pos += have - l->z.avail_in;
	*ret_n = cap - l->z.avail_out;
	switch (ret) {
	case LZMA_STREAM_END:
		l->ended = true;
		return 0;
	case LZMA_OK:
	case LZMA_BUF_ERROR:
		return !have && !*ret_n ? hf_unpack_cut(u, diag) : 0;
	case LZMA_MEM_ERROR:
		return hf_diag_set(diag, HF_ERR_NOMEM, HF_SPACE_FILE, HF_NOWHERE, 0);
	case LZMA_MEMLIMIT_ERROR:
		return hf_unpack_afford(u, lzma_memusage(&l->z), 0, diag);
	default:
		return hf_unpack_doubt(HF_ERR_BOX_DAMAGED, u->pos, ret_mark, diag);
	}
}

/* There are no marks to ask about but the beginning. */
static void alone_point(const struct hf_unpack *u, struct hf_point *ret_point)
{
	ret_point->in_offset = u->pos;
	ret_point->bits = 0;
	ret_point->window_size = 0;
}

static void alone_stop(struct hf_unpack *u)
{
	lzma_end(&((struct unlzma *)u)->z);
}

static uint64_t alone_memory(const struct hf_unpack *u)
{
	/* A copy of the handle: the library wants it writable, and only reads. */
	lzma_stream z = ((const struct unlzma *)u)->z;

	return lzma_memusage(&z);
}

const struct hf_unpack_ops hf_unpack_lzma = {
	.size = sizeof(struct unlzma),
	.aim_free = HF_BLOCK_AIM,
	.whole = HF_BLOCK_AIM,
	.start = alone_start,
	.step = alone_step,
	.point = alone_point,
	.stop = alone_stop,
	.memory = alone_memory,
};

/*
 * The format has no magic number, but few headers are sensible: properties lc + lp <= 4, a dictionary of 2^n or
 * 2^n + 2^(n-1) bytes, a size that is unknown or below 256 GiB, and a first byte of the range coder that is 0.
 */
static int alone_probe(const uint8_t *head, size_t n, uint64_t file_size)
{
	uint32_t dict, low;
	uint64_t size;
	unsigned lc, lp;

	if (n < HEADER_SIZE + 1 || file_size < HEADER_SIZE + 5 || head[0] >= 225 || head[HEADER_SIZE] != 0)
		return 0;
	lc = head[0] % 9;
	lp = head[0] / 9 % 5;
	dict = hf_get32(head + 1);
	size = hf_get64(head + 5);
	if (lc + lp > 4 || (size != UINT64_MAX && size >= UINT64_C(1) << 38))
		return 0;
	low = dict & -dict;
	if (dict < 4096 || (dict != UINT32_MAX && dict != low && dict != low * 3))
		return 0;
	return head[0] == 0x5d ? 80 : 40;
}

static const char *const suffixes[] = {".lzma", NULL};

const struct hf_box hf_box_lzma = {
	HF_UNPACK_BOX, .name = "lzma", .suffixes = suffixes, .probe = alone_probe, .unpack = &hf_unpack_lzma};
