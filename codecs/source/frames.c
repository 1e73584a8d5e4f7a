/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/source/frames.h"

#include "codecs/base/bytes.h"
#include "codecs/source/errors.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
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

/* ---- blocks without a scan ---- */

/* Of a block that is read at once, compressed. */
#define WHOLE_MAX (UINT64_C(4) << 20)

/* The point's bytes of the file, for free; NULL if they cannot be had at once. */
static uint8_t *read_packed(struct hf_src *base, const struct hf_point *point)
{
	const bool fits = point->in_size && point->in_size <= WHOLE_MAX &&
			  !(point->bits & (HF_POINT_CONTINUES | HF_POINT_DAMAGED));
	uint8_t *in = fits ? malloc((size_t)point->in_size) : NULL;
	size_t have;

	if (in && (hf_src_read_all(base, point->in_offset, in, (size_t)point->in_size, &have, NULL) ||
		   have != point->in_size)) {
		free(in);
		return NULL;
	}
	return in;
}

/* Bytes that come out of frames, at most n; 0 if they do not. */
static size_t decode_frames(const uint8_t *in, size_t size, void *buf, size_t n)
{
	ZSTD_DCtx *zstd = take_free();
	size_t got;

	if (!zstd)
		return 0;
	got = ZSTD_decompressDCtx(zstd, buf, n, in, size);
	put_free(zstd);
	return ZSTD_isError(got) ? 0 : got;
}

/* Whether these frames make n bytes, the last of which is in buf. */
static bool decode_whole(const uint8_t *in, size_t size, void *buf, size_t n)
{
	const unsigned long long content = ZSTD_getFrameContentSize(in, size);

	if (!hf_frames_magic(in, size) || content == ZSTD_CONTENTSIZE_ERROR ||
	    (content != ZSTD_CONTENTSIZE_UNKNOWN && content > n))
		return false;
	return decode_frames(in, size, buf, n) == n;
}

bool hf_frames_read_whole(struct hf_src *base, const struct hf_point *point, void *buf, size_t n)
{
	uint8_t *in = n && n == point->out_size ? read_packed(base, point) : NULL;
	const bool done = in && decode_whole(in, (size_t)point->in_size, buf, n);

	free(in);
	return done;
}

/* ---- the beginning of a frame ---- */

/* RFC 8878 3.1.1: our head has no more than the window, as the shortest of all do; 3.1.1.2: a block's. */
enum { OUR_HEAD = 6, BLOCK_HEAD = 3 };

/* Of the frame in[size] where the blocks begin; 0 if that is not clear, as with a dictionary or an unknown flag. */
static size_t head_size(const uint8_t *in, size_t size)
{
	static const uint8_t content_sizes[4] = {0, 2, 4, 8};
	const bool single = size >= HEADER_MAX && in[4] & 0x20;

	if (size < HEADER_MAX || !hf_frames_magic(in, size) || in[4] & 0xb)
		return 0;
	return 5u + !single + (in[4] >> 6 || !single ? content_sizes[in[4] >> 6] : 1);
}

/* The exponent of a window that is no smaller, and room for a block in it. */
static unsigned window_log(uint64_t window)
{
	unsigned log = 17;

	while (log < 31 && UINT64_C(1) << log < window)
		log++;
	return log;
}

/* A frame that ends early. */
struct cut {
	uint8_t *in;
	size_t size;
	size_t out_max; /* bytes that it makes, at most */
};

/* A block of a frame. */
struct block {
	bool last;
	size_t size;	/* with its head */
	size_t out_max; /* bytes that it makes, at most */
};

static bool read_block_head(const uint8_t *in, size_t size, size_t most, struct block *ret_block)
{
	uint32_t head, n;

	if (size < BLOCK_HEAD)
		return false;
	head = hf_get16(in) | (uint32_t)in[2] << 16;
	n = head >> 3;
	switch (head >> 1 & 3) {
	case 0: /* as it is */
		*ret_block = (struct block){head & 1, BLOCK_HEAD + n, n};
		break;
	case 1: /* one byte, over and over */
		*ret_block = (struct block){head & 1, BLOCK_HEAD + 1, n};
		break;
	case 2:
		*ret_block = (struct block){head & 1, BLOCK_HEAD + n, most};
		break;
	default:
		return false;
	}
	return n <= BLOCK && ret_block->size <= size;
}

/*
 * Makes of the frame in[size] one that ends with a block of it: the first that may reach up to want bytes, if all before
 * it are as long as they may be. False: the frame has no such block.
 */
static bool cut_frame(uint8_t *in, size_t size, size_t want, struct cut *ret_cut)
{
	const uint64_t window = window_of(in, size);
	const size_t head = head_size(in, size), most = window < BLOCK ? (size_t)window : BLOCK;
	struct block block = {.last = !head};
	size_t at = head, start = head, out = 0;

	for (; out < want; at += block.size) {
		if (block.last || !read_block_head(in + at, size - at, most, &block))
			return false;
		out += block.out_max;
		start = at;
	}
	in[start] |= 1;
	*ret_cut = (struct cut){in + head - OUR_HEAD, at - head + OUR_HEAD, out};
	hf_put32(ret_cut->in, ZSTD_MAGICNUMBER);
	ret_cut->in[4] = 0;
	ret_cut->in[5] = (uint8_t)((window_log(window) - 10) << 3);
	return true;
}

/* Memory for what comes before the bytes that are wanted, kept as decompressors are, and for the same reason. */
struct room {
	size_t size;
	uint8_t bytes[];
};

#define ROOM_KEPT ((size_t)2 << 20)

static _Atomic(struct room *) free_rooms[FREE_MAX];

static struct room *take_room(size_t size)
{
	struct room *room = NULL;

	for (unsigned i = 0; i < FREE_MAX && !room; i++)
		room = atomic_exchange(&free_rooms[i], NULL);
	if (room && room->size >= size)
		return room;
	free(room);
	size = size < ROOM_KEPT / 2 ? ROOM_KEPT / 2 : size <= ROOM_KEPT ? ROOM_KEPT : size;
	room = malloc(sizeof *room + size);
	if (room)
		room->size = size;
	return room;
}

static void put_room(struct room *room)
{
	for (unsigned i = 0; room->size <= ROOM_KEPT && i < FREE_MAX; i++) {
		struct room *none = NULL;

		if (atomic_compare_exchange_strong(&free_rooms[i], &none, room))
			return;
	}
	free(room);
}

static bool decode_cut(const struct cut *cut, uint64_t skip, void *buf, size_t n)
{
	struct room *room = take_room(cut->out_max);
	bool done;

	if (!room)
		return false;
	done = decode_frames(cut->in, cut->size, room->bytes, cut->out_max) >= skip + n;
	if (done)
		memcpy(buf, room->bytes + skip, n);
	put_room(room);
	return done;
}

bool hf_frames_read_part(struct hf_src *base, const struct hf_point *point, uint64_t skip, void *buf, size_t n)
{
	const bool fits = n && skip + n <= point->out_size && skip + n <= WHOLE_MAX;
	uint8_t *in = fits ? read_packed(base, point) : NULL;
	struct cut cut;
	bool done = false;

	if (in && cut_frame(in, (size_t)point->in_size, (size_t)skip + n, &cut))
		done = decode_cut(&cut, skip, buf, n);
	free(in);
	return done;
}
