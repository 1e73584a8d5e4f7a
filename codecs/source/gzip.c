/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gzip (RFC 1952) over raw deflate: any number of members, one after another. Behind the header of an ASTF file also
 * zlib (RFC 1950), which is another header and trailer around one deflate stream. Blocks begin between two deflate
 * blocks, with the 32 KiB before them as window, or where a member begins, with none.
 */
#include "codecs/base/bytes.h"
#include "codecs/source/errors.h"
#include "codecs/source/unpack.h"

#include <libdeflate.h>
#include <limits.h>
#include <zlib.h>

/* hf_point.bits: the number of unused bits, 0..7, or this: a member (or what follows the last one) begins here. */
#define AT_MEMBER 0x100u
/* Added to it: the stream is zlib. */
#define IS_ZLIB 0x200u

/* RFC 1950 2.2: a dictionary is needed, bit 5 of the second byte. */
#define FDICT 0x20

/* FLG of a member's header, RFC 1952 2.3.1 */
enum { FLG_HCRC = 2, FLG_EXTRA = 4, FLG_NAME = 8, FLG_COMMENT = 16, FLG_RESERVED = 0xe0 };

struct gunzip {
	struct hf_unpack u;
	z_stream z;
	bool z_ready;
	bool zlib; /* not gzip: a header of two bytes, a trailer of four, crc is an Adler-32 */
	enum { BETWEEN, DEFLATE, TRAILER } state;
	bool whole; /* this member was decoded from its header on, so that its trailer can be checked */
	uint32_t crc;
	uint64_t out;	   /* bytes of this member up to here, as far as known: at least the window's */
	uint32_t head_crc; /* of the header being read */
};

static int gz_start(struct hf_unpack *u, const struct hf_point *at, const uint8_t *window, struct hf_diag *diag)
{
	struct gunzip *g = (struct gunzip *)u;
	const uint32_t bits = u->box->prefix ? at->bits & ~IS_ZLIB : at->bits;
	const uint8_t *p;
	size_t have;
	int err;

	if (inflateInit2(&g->z, -MAX_WBITS) != Z_OK)
		return hf_diag_set(diag, HF_ERR_NOMEM, HF_SPACE_FILE, HF_NOWHERE, 0);
	g->z_ready = true;
	g->zlib = at->bits & IS_ZLIB && u->box->prefix;
	if (!at->in_offset || bits == AT_MEMBER)
		return 0;
	if (bits > 7)
		return hf_diag_set(diag, HF_ERR_STATE, HF_SPACE_FILE, at->in_offset, 0);
	g->state = DEFLATE;
	if (bits) {
		u->pos--;
		err = hf_unpack_need(u, 1, &p, &have, diag);
		if (err < 0)
			return err;
		if (!have)
			return hf_unpack_cut(u, diag);
		inflatePrime(&g->z, (int)bits, *p >> (8 - bits));
		u->pos++;
	}
	if (at->window_size)
		inflateSetDictionary(&g->z, window, at->window_size);
	g->out = at->window_size;
	return 0;
}

/* The next n bytes of the header, which enter its checksum. */
static int take_head(struct gunzip *g, size_t n, const uint8_t **ret_p, struct hf_diag *diag)
{
	int err = hf_unpack_take(&g->u, n, ret_p, diag);

	if (!err)
		g->head_crc = (uint32_t)crc32(g->head_crc, *ret_p, (uInt)n);
	return err;
}

/* A name or comment: bytes up to a zero byte, of any length. */
static int skip_string(struct gunzip *g, struct hf_diag *diag)
{
	const uint8_t *p;
	int err;

	do
		err = take_head(g, 1, &p, diag);
	while (!err && *p);
	return err;
}

static int skip_extra(struct gunzip *g, struct hf_diag *diag)
{
	const uint8_t *p;
	int err = take_head(g, 2, &p, diag);

	if (err < 0)
		return err;
	return take_head(g, hf_get16(p), &p, diag);
}

/* After the ten fixed bytes. */
static int skip_options(struct gunzip *g, uint8_t flags, struct hf_diag *diag)
{
	const uint8_t *p;
	int err = 0;

	if (flags & FLG_EXTRA)
		err = skip_extra(g, diag);
	if (!err && (flags & FLG_NAME))
		err = skip_string(g, diag);
	if (!err && (flags & FLG_COMMENT))
		err = skip_string(g, diag);
	if (!err && (flags & FLG_HCRC)) {
		uint16_t want = (uint16_t)g->head_crc;

		err = hf_unpack_take(&g->u, 2, &p, diag);
		if (!err && hf_get16(p) != want)
			err = hf_diag_set(diag, HF_ERR_CHECKSUM, HF_SPACE_FILE, g->u.pos - 2, 0);
	}
	return err;
}

/*
 * What follows the last member is not ours: zeros are padding (tapes, sectors), anything else is worth a note. As
 * far as one input window is looked at; gzip itself ignores it too.
 */
static int end_of_members(struct gunzip *g, struct hf_diag *diag)
{
	const uint8_t *p;
	size_t have;
	int err = hf_unpack_need(&g->u, HF_UNPACK_INPUT, &p, &have, diag);

	if (err < 0 && hf_err_class(err) != HF_CLASS_corrupt)
		return err;
	for (size_t i = 0; i < have; i++) {
		if (p[i]) {
			hf_unpack_note(&g->u, HF_ERR_BOX_GARBAGE, g->u.pos + i, 0);
			break;
		}
	}
	return HF_NOTE_END;
}

static void begin_member(struct gunzip *g, bool zlib)
{
	inflateReset(&g->z);
	g->state = DEFLATE;
	g->whole = true;
	g->zlib = zlib;
	g->crc = zlib ? 1 : 0;
	g->out = 0;
}

/* RFC 1950 2.2: deflate, a window of at most 32 KiB, and the two bytes as a number are a multiple of 31. */
static bool is_zlib(const uint8_t *p)
{
	return (p[0] & 0xf) == 8 && p[0] >> 4 <= 7 && (p[0] << 8 | p[1]) % 31 == 0;
}

static int begin_zlib(struct gunzip *g, const uint8_t *p, struct hf_diag *diag)
{
	if (p[1] & FDICT)
		return hf_diag_set(diag, HF_ERR_UNSUPPORTED, HF_SPACE_FILE, g->u.pos, 0);
	g->u.pos += 2;
	begin_member(g, true);
	return 0;
}

static int next_member(struct gunzip *g, struct hf_diag *diag)
{
	const uint64_t at = g->u.pos;
	const bool first = at == g->u.box->prefix;
	const uint8_t *p;
	uint8_t flags;
	size_t have;
	int err = hf_unpack_need(&g->u, 2, &p, &have, diag);

	if (err < 0)
		return err;
	if (first && at && have >= 2 && is_zlib(p))
		return begin_zlib(g, p, diag);
	if (have < 2 || p[0] != 0x1f || p[1] != 0x8b || g->zlib) {
		if (!first)
			return have ? end_of_members(g, diag) : HF_NOTE_END;
		if (have < 2)
			return hf_unpack_cut(&g->u, diag);
		return hf_diag_set(diag, HF_ERR_BOX_DAMAGED, HF_SPACE_FILE, at, 0);
	}
	g->head_crc = 0;
	err = take_head(g, 10, &p, diag);
	if (err < 0)
		return err;
	flags = p[3];
	if (p[2] != 8 || (flags & FLG_RESERVED))
		return hf_diag_set(diag, HF_ERR_BOX_DAMAGED, HF_SPACE_FILE, at, 0);
	err = skip_options(g, flags, diag);
	if (err < 0)
		return err;
	begin_member(g, false);
	return 0;
}

static int gz_inflate(struct gunzip *g, uint8_t *out, size_t cap, size_t *ret_n, enum hf_mark *ret_mark,
		      struct hf_diag *diag)
{
	z_stream *z = &g->z;
	const uint8_t *p;
	size_t have, used;
	int ret, err = hf_unpack_need(&g->u, 1, &p, &have, diag);

	if (err < 0)
		return err;
	z->next_in = (Bytef *)(uintptr_t)p;
	z->avail_in = (uInt)have;
	z->next_out = out;
	z->avail_out = cap < UINT_MAX ? (uInt)cap : UINT_MAX;
	/* Also when a block is read: damage right behind its last deflate block is then not met any more. */
	ret = inflate(z, Z_BLOCK);
	used = have - z->avail_in;
	*ret_n = (size_t)(z->next_out - out);
	g->u.pos += used;
	g->out += *ret_n;
	if (g->u.scanning && g->whole && *ret_n)
		g->crc = g->zlib ? libdeflate_adler32(g->crc, out, *ret_n) : libdeflate_crc32(g->crc, out, *ret_n);
	switch (ret) {
	case Z_STREAM_END:
		g->state = TRAILER;
		return 0;
	case Z_OK:
	case Z_BUF_ERROR:
		/* zlib.h, inflate: 128 is set directly behind a deflate block, 64 while in the last one. */
		if ((z->data_type & 128) && !(z->data_type & 64))
			*ret_mark = HF_MARK_WINDOW;
		if (!have && !used && !*ret_n && *ret_mark == HF_MARK_NONE)
			return hf_unpack_cut(&g->u, diag);
		return 0;
	case Z_MEM_ERROR:
		return hf_diag_set(diag, HF_ERR_NOMEM, HF_SPACE_FILE, HF_NOWHERE, 0);
	default:
		return hf_unpack_doubt(HF_ERR_BOX_DAMAGED, g->u.pos, ret_mark, diag);
	}
}

/*
 * A wrong checksum says only that some byte of the member is wrong, and most of them may be gone to the reader long
 * ago: nothing is withheld.
 */
static int check_trailer(struct gunzip *g, enum hf_mark *ret_mark, struct hf_diag *diag)
{
	const uint8_t *p;
	int err = hf_unpack_take(&g->u, g->zlib ? 4 : 8, &p, diag);

	if (err < 0)
		return err;
	if (g->u.scanning && g->whole && (g->zlib ? __builtin_bswap32(hf_get32(p)) : hf_get32(p)) != g->crc)
		return hf_diag_set(diag, HF_ERR_CHECKSUM, HF_SPACE_FILE, g->u.pos - (g->zlib ? 4 : 8), 0);
	if (!g->zlib && g->u.scanning && g->whole && hf_get32(p + 4) != (uint32_t)g->out)
		return hf_diag_set(diag, HF_ERR_CHECKSUM, HF_SPACE_FILE, g->u.pos - 4, 0);
	g->state = BETWEEN;
	*ret_mark = HF_MARK_FREE;
	return 0;
}

static int gz_step(struct hf_unpack *u, uint8_t *out, size_t cap, size_t *ret_n, enum hf_mark *ret_mark,
		   struct hf_diag *diag)
{
	struct gunzip *g = (struct gunzip *)u;

	switch (g->state) {
	case BETWEEN:
		return next_member(g, diag);
	case DEFLATE:
		return gz_inflate(g, out, cap, ret_n, ret_mark, diag);
	case TRAILER:
	default:
		return check_trailer(g, ret_mark, diag);
	}
}

static void gz_point(const struct hf_unpack *u, struct hf_point *ret_point)
{
	const struct gunzip *g = (const struct gunzip *)u;

	if (g->state == BETWEEN) {
		ret_point->bits = AT_MEMBER;
	} else {
		ret_point->bits = (uint32_t)g->z.data_type & 7;
		ret_point->window_size = g->out < HF_WINDOW_MAX ? (uint32_t)g->out : HF_WINDOW_MAX;
	}
	if (g->zlib)
		ret_point->bits |= IS_ZLIB;
}

static void gz_stop(struct hf_unpack *u)
{
	struct gunzip *g = (struct gunzip *)u;

	if (g->z_ready)
		inflateEnd(&g->z);
}

/* zlib does not say. Its window and what zconf.h gives as "a few kilobytes for small objects". */
static uint64_t gz_memory(const struct hf_unpack *u)
{
	(void)u;
	return HF_WINDOW_MAX + 16 * 1024;
}

/*
 * Member starts need no window, so they are taken earlier where there are many (bgzip, pigz -i). Deflate blocks are
 * long in traces, 300 KiB and more: with three quarters of a MiB aimed at, points are about a MiB apart.
 */
const struct hf_unpack_ops hf_unpack_gzip = {
	.size = sizeof(struct gunzip),
	.aim_free = HF_BLOCK_AIM / 2,
	.aim_window = HF_BLOCK_AIM * 3 / 4,
	.whole = HF_UNPACK_WHOLE,
	.window = HF_WINDOW_MAX,
	.start = gz_start,
	.step = gz_step,
	.point = gz_point,
	.stop = gz_stop,
	.memory = gz_memory,
};

static int gz_probe(const uint8_t *head, size_t n, uint64_t file_size)
{
	(void)file_size;
	return n >= 4 && head[0] == 0x1f && head[1] == 0x8b && head[2] == 8 && !(head[3] & FLG_RESERVED) ? 100 : 0;
}

static const char *const suffixes[] = {".gz", NULL};

const struct hf_box hf_box_gzip = {
	HF_UNPACK_BOX_ENTERABLE,
	.name = "gzip",
	.suffixes = suffixes,
	.probe = gz_probe,
	.thin_window = hf_unpack_thin_window,
	.unpack = &hf_unpack_gzip,
};
