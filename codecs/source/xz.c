/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .xz files: streams of blocks, read forward without the index at their end. Points are at block starts; a block
 * larger than HF_UNPACK_WHOLE is handed out in pieces that continue it. The index is compared with the blocks by
 * its sums, so that its size is no matter of memory.
 *
 * At the end LZMA-alone (.lzma), the format before .xz and ASTF's default: one stream without blocks or checksums,
 * which can only be decoded from its beginning.
 */
#include "codecs/base/bytes.h"
#include "codecs/source/errors.h"
#include "codecs/source/unpack.h"

#include <lzma.h>
#include <string.h>

/* hf_point.bits: the check of the stream (0..15) and this for a block or index, 0 for what stands between streams. */
#define IN_STREAM 0x10u

/* The xz file format specification, 2 and 4; all multiples of four bytes. */
enum { HEADER_SIZE = 12, FOOTER_SIZE = 12 };

static const uint8_t magic[6] = {0xfd, '7', 'z', 'X', 'Z', 0};

struct unxz {
	struct hf_unpack u;
	lzma_stream z;
	lzma_block block;
	uint64_t memory; /* of the decoder of this block, or the last */
	enum { BETWEEN, BLOCK_START, BLOCK, INDEX } state;
	lzma_check check;
	bool whole;			/* this stream was decoded from its header on */
	uint64_t blocks, unpadded, out; /* sums over this stream, for its index */
	uint64_t block_at;		/* file offset of this block */
	uint64_t index_at;
	uint32_t crc; /* of the index so far */
};

static int xz_start(struct hf_unpack *u, const struct hf_point *at, const uint8_t *window, struct hf_diag *diag)
{
	struct unxz *x = (struct unxz *)u;

	(void)window;
	x->z = (lzma_stream)LZMA_STREAM_INIT;
	if (!at->bits)
		return 0;
	if (at->bits < IN_STREAM || at->bits > (IN_STREAM | LZMA_CHECK_ID_MAX))
		return hf_diag_set(diag, HF_ERR_STATE, HF_SPACE_FILE, at->in_offset, 0);
	x->check = (lzma_check)(at->bits & ~IN_STREAM);
	x->state = BLOCK_START;
	return 0;
}

static int xz_error(lzma_ret ret, uint64_t at, struct hf_diag *diag)
{
	int code = ret == LZMA_MEM_ERROR       ? HF_ERR_NOMEM
		   : ret == LZMA_OPTIONS_ERROR ? HF_ERR_UNSUPPORTED
					       : HF_ERR_BOX_DAMAGED;

	return hf_diag_set(diag, code, HF_SPACE_FILE, at, 0);
}

/* The stream padding, then a stream header or the end. */
static int next_stream(struct unxz *x, struct hf_diag *diag)
{
	const uint64_t at = x->u.pos;
	const bool first = at == x->u.box->prefix;
	lzma_stream_flags flags;
	const uint8_t *p;
	size_t have;
	lzma_ret ret;
	int err = hf_unpack_need(&x->u, HEADER_SIZE, &p, &have, diag);

	if (err < 0)
		return err;
	if (!have && !first)
		return HF_NOTE_END;
	if (!first && have >= 4 && !hf_get32(p)) {
		x->u.pos += 4;
		return 0;
	}
	if (memcmp(p, magic, have < sizeof magic ? have : sizeof magic) != 0)
		return hf_diag_set(diag, first ? HF_ERR_BOX_DAMAGED : HF_ERR_BOX_GARBAGE, HF_SPACE_FILE, at, 0);
	if (have < HEADER_SIZE)
		return hf_unpack_cut(&x->u, diag);
	ret = lzma_stream_header_decode(&flags, p);
	if (ret != LZMA_OK)
		return xz_error(ret, at, diag);
	x->u.pos += HEADER_SIZE;
	x->check = flags.check;
	x->state = BLOCK_START;
	x->whole = true;
	x->blocks = x->unpadded = x->out = 0;
	return 0;
}

/* Decodes the block header at p[block.header_size] and starts the decoder, whose memory the header decides about. */
static int open_block(struct unxz *x, const uint8_t *p, struct hf_diag *diag)
{
	lzma_filter filters[LZMA_FILTERS_MAX + 1];
	uint64_t memory;
	lzma_ret ret;
	int err = 0;

	x->block.version = 1;
	x->block.check = x->check;
	x->block.filters = filters;
	ret = lzma_block_header_decode(&x->block, NULL, p);
	if (ret != LZMA_OK)
		return xz_error(ret, x->block_at, diag);
	memory = lzma_raw_decoder_memusage(filters);
	if (memory == UINT64_MAX)
		ret = LZMA_OPTIONS_ERROR;
	else
		err = hf_unpack_afford(&x->u, memory, x->block_at, diag);
	if (ret == LZMA_OK && !err) {
		ret = lzma_block_decoder(&x->z, &x->block);
		x->memory = memory;
	}
	lzma_filters_free(filters, NULL);
	x->block.filters = NULL;
	return ret == LZMA_OK ? err : xz_error(ret, x->block_at, diag);
}

static int next_block(struct unxz *x, struct hf_diag *diag)
{
	const uint8_t *p;
	size_t have;
	int err = hf_unpack_need(&x->u, 1, &p, &have, diag);

	if (err < 0)
		return err;
	if (!have)
		return hf_unpack_cut(&x->u, diag);
	if (*p == 0) {
		x->state = INDEX;
		return 0;
	}
	x->block = (lzma_block){.header_size = lzma_block_header_size_decode(*p)};
	x->block_at = x->u.pos;
	err = hf_unpack_take(&x->u, x->block.header_size, &p, diag);
	if (err < 0)
		return err;
	err = open_block(x, p, diag);
	if (err < 0)
		return err;
	x->state = BLOCK;
	return 0;
}

static void end_block(struct unxz *x)
{
	x->blocks++;
	x->unpadded += lzma_block_unpadded_size(&x->block);
	x->out += x->block.uncompressed_size;
	x->state = BLOCK_START;
}

/* A step of the library; *ret_ended: what it decodes ends here. */
static int lzma_step(struct hf_unpack *u, lzma_stream *z, uint8_t *out, size_t cap, size_t *ret_n,
		     enum hf_mark *ret_mark, bool *ret_ended, struct hf_diag *diag)
{
	const uint8_t *p;
	size_t have;
	lzma_ret ret;
	int err = hf_unpack_need(u, 1, &p, &have, diag);

	if (err < 0)
		return err;
	z->next_in = p;
	z->avail_in = have;
	z->next_out = out;
	z->avail_out = cap;
	ret = lzma_code(z, LZMA_RUN);
	u->pos += have - z->avail_in;
	*ret_n = cap - z->avail_out;
	*ret_ended = ret == LZMA_STREAM_END;
	switch (ret) {
	case LZMA_STREAM_END:
		return 0;
	case LZMA_OK:
	case LZMA_BUF_ERROR:
		return !have && !*ret_n ? hf_unpack_cut(u, diag) : 0;
	case LZMA_MEM_ERROR:
		return xz_error(ret, HF_NOWHERE, diag);
	case LZMA_MEMLIMIT_ERROR: /* only .lzma has a limit: a block's memory was looked at before */
		return hf_unpack_afford(u, lzma_memusage(z), 0, diag);
	default:
		return hf_unpack_doubt(HF_ERR_BOX_DAMAGED, u->pos, ret_mark, diag);
	}
}

static int block_step(struct unxz *x, uint8_t *out, size_t cap, size_t *ret_n, enum hf_mark *ret_mark,
		      struct hf_diag *diag)
{
	bool ended = false;
	int err = lzma_step(&x->u, &x->z, out, cap, ret_n, ret_mark, &ended, diag);

	if (!err && ended) {
		end_block(x);
		*ret_mark = HF_MARK_FREE;
	}
	return err;
}

static int index_byte(struct unxz *x, uint8_t *ret_byte, struct hf_diag *diag)
{
	const uint8_t *p;
	int err = hf_unpack_take(&x->u, 1, &p, diag);

	if (err < 0)
		return err;
	*ret_byte = *p;
	x->crc = lzma_crc32(p, 1, x->crc);
	return 0;
}

/* A number of the index: seven bits a byte, nine bytes at most. */
static int index_number(struct unxz *x, uint64_t *ret_v, struct hf_diag *diag)
{
	const uint64_t at = x->u.pos;
	uint8_t byte = 0x80;
	uint64_t v = 0;

	for (unsigned shift = 0; byte & 0x80; shift += 7) {
		int err = shift < 63 ? index_byte(x, &byte, diag)
				     : hf_diag_set(diag, HF_ERR_BOX_DAMAGED, HF_SPACE_FILE, at, 0);

		if (err < 0)
			return err;
		v |= (uint64_t)(byte & 0x7f) << shift;
	}
	*ret_v = v;
	return 0;
}

static int compare_sums(const struct unxz *x, uint64_t records, uint64_t unpadded, uint64_t out, struct hf_diag *diag)
{
	if (!x->whole || (records == x->blocks && unpadded == x->unpadded && out == x->out))
		return 0;
	return hf_diag_set(diag, HF_ERR_BOX_DAMAGED, HF_SPACE_FILE, x->index_at, 0);
}

/* The records: a number of them, each an unpadded and an uncompressed size. */
static int index_records(struct unxz *x, struct hf_diag *diag)
{
	uint64_t records, unpadded = 0, out = 0;
	int err = index_number(x, &records, diag);

	if (!err && x->whole && records != x->blocks)
		return hf_diag_set(diag, HF_ERR_BOX_DAMAGED, HF_SPACE_FILE, x->index_at, 0);
	for (uint64_t i = 0; !err && i < records; i++) {
		uint64_t a = 0, b = 0;

		err = index_number(x, &a, diag);
		if (!err)
			err = index_number(x, &b, diag);
		unpadded += a;
		out += b;
	}
	return err ? err : compare_sums(x, records, unpadded, out, diag);
}

/* The footer at p says where the index began and repeats the header's flags. */
static bool footer_fits(const struct unxz *x, const uint8_t *p, uint64_t index_size)
{
	lzma_stream_flags flags;

	return lzma_stream_footer_decode(&flags, p) == LZMA_OK && flags.backward_size == index_size &&
	       flags.check == x->check;
}

/* Reads the index and the footer behind it. Nothing here gives bytes; all of it confirms those that were given. */
static int read_index(struct unxz *x, struct hf_diag *diag)
{
	const uint8_t *p;
	uint8_t byte = 0;
	uint32_t crc;
	int err;

	x->index_at = x->u.pos;
	x->crc = 0;
	err = index_byte(x, &byte, diag);
	if (!err)
		err = index_records(x, diag);
	while (!err && (x->u.pos - x->index_at) % 4) {
		err = index_byte(x, &byte, diag);
		if (!err && byte)
			err = hf_diag_set(diag, HF_ERR_BOX_DAMAGED, HF_SPACE_FILE, x->u.pos - 1, 0);
	}
	crc = x->crc;
	if (!err)
		err = hf_unpack_take(&x->u, 4, &p, diag);
	if (!err && hf_get32(p) != crc)
		err = hf_diag_set(diag, HF_ERR_CHECKSUM, HF_SPACE_FILE, x->u.pos - 4, 0);
	if (!err)
		err = hf_unpack_take(&x->u, FOOTER_SIZE, &p, diag);
	if (!err && !footer_fits(x, p, x->u.pos - FOOTER_SIZE - x->index_at))
		err = hf_diag_set(diag, HF_ERR_BOX_DAMAGED, HF_SPACE_FILE, x->u.pos - FOOTER_SIZE, 0);
	return err;
}

static int end_stream(struct unxz *x, enum hf_mark *ret_mark, struct hf_diag *diag)
{
	int err = read_index(x, diag);

	if (err < 0)
		return err;
	x->state = BETWEEN;
	*ret_mark = HF_MARK_FREE;
	return 0;
}

static int xz_step(struct hf_unpack *u, uint8_t *out, size_t cap, size_t *ret_n, enum hf_mark *ret_mark,
		   struct hf_diag *diag)
{
	struct unxz *x = (struct unxz *)u;

	switch (x->state) {
	case BETWEEN:
		return next_stream(x, diag);
	case BLOCK_START:
		return next_block(x, diag);
	case BLOCK:
		return block_step(x, out, cap, ret_n, ret_mark, diag);
	case INDEX:
	default:
		return end_stream(x, ret_mark, diag);
	}
}

static void xz_point(const struct hf_unpack *u, struct hf_point *ret_point)
{
	const struct unxz *x = (const struct unxz *)u;

	ret_point->bits = x->state == BETWEEN ? 0 : IN_STREAM | (uint32_t)x->check;
}

static void xz_stop(struct hf_unpack *u)
{
	lzma_end(&((struct unxz *)u)->z);
}

static uint64_t xz_memory(const struct hf_unpack *u)
{
	return ((const struct unxz *)u)->memory;
}

const struct hf_unpack_ops hf_unpack_xz = {
	.size = sizeof(struct unxz),
	.aim_free = 1,
	.whole = HF_UNPACK_WHOLE,
	.start = xz_start,
	.step = xz_step,
	.point = xz_point,
	.stop = xz_stop,
	.memory = xz_memory,
};

static int xz_probe(const uint8_t *head, size_t n, uint64_t file_size)
{
	(void)file_size;
	return n >= sizeof magic && !memcmp(head, magic, sizeof magic) ? 100 : 0;
}

static const char *const suffixes[] = {".xz", NULL};

const struct hf_box hf_box_xz = {
	HF_UNPACK_BOX_ENTERABLE,
	.name = "xz",
	.suffixes = suffixes,
	.slow = true,
	.probe = xz_probe,
	.unpack = &hf_unpack_xz,
};

enum { ALONE_HEADER = 13 };

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

	if (l->ended)
		return end_of_stream(l, diag);
	return lzma_step(u, &l->z, out, cap, ret_n, ret_mark, &l->ended, diag);
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

	if (n < ALONE_HEADER + 1 || file_size < ALONE_HEADER + 5 || head[0] >= 225 || head[ALONE_HEADER] != 0)
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

static const char *const alone_suffixes[] = {".lzma", NULL};

const struct hf_box hf_box_lzma = {
	HF_UNPACK_BOX, .name = "lzma", .suffixes = alone_suffixes, .probe = alone_probe, .unpack = &hf_unpack_lzma};
