/* SPDX-License-Identifier: Apache-2.0 */
/* Each container's own cases: what its tools write, what is odd but right, what is wrong, and what is too large. */
#include "codecs/base/bytes.h"
#include "codecs/source/errors.h"
#include "codecs/source/frames.h"
#include "tests/lib/check.h"
#include "tests/lib/pack.h"
#include "tests/lib/walk.h"

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

/* Walks packed, which must hold data[n] and end well without notes, and checks everything about it. */
static struct hf_walk check_good(const struct hf_box *box, const struct hf_walk_bytes *packed, const void *data, size_t n)
{
	struct hf_walk w;

	hf_walk_memory(&w, box, packed->p, packed->n);
	CHECK_EQ(w.err, HF_NOTE_END);
	CHECK_EQ(w.note_count, 0);
	CHECK_EQ(w.out.n, n);
	CHECK(!n || !memcmp(w.out.p, data, n));
	hf_walk_check_all(&w, packed->p, packed->n);
	return w;
}

/* The same, when only that matters; frees packed. */
static void good(const struct hf_box *box, struct hf_walk_bytes *packed, const void *data, size_t n)
{
	struct hf_walk w = check_good(box, packed, data, n);

	hf_walk_free(&w);
	hf_bytes_free(packed);
}

/* Walks packed, which must give the first n bytes of data, end with err at file offset at, and have no note but that those
 * from sure on are doubtful, if there are any. */
static void bad_from(const struct hf_box *box, struct hf_walk_bytes *packed, const void *data, size_t n, int err, uint64_t at,
		     size_t sure)
{
	struct hf_walk w;

	hf_walk_memory(&w, box, packed->p, packed->n);
	CHECK_EQ(w.err, err);
	CHECK_EQ(w.diag.space, HF_SPACE_FILE);
	CHECK_EQ(w.diag.offset, at);
	CHECK_EQ(w.out.n, n);
	CHECK(!n || !memcmp(w.out.p, data, n));
	CHECK_EQ(w.note_count, sure < n);
	if (sure < n) {
		CHECK_EQ(w.notes[0].code, HF_ERR_BOX_DOUBT);
		CHECK_EQ(w.notes[0].space, HF_SPACE_STREAM);
		CHECK_EQ(w.notes[0].offset, sure);
		CHECK_EQ(w.notes[0].detail, n - sure);
	}
	hf_walk_check_all(&w, packed->p, packed->n);
	hf_walk_free(&w);
	hf_bytes_free(packed);
}

static void bad(const struct hf_box *box, struct hf_walk_bytes *packed, const void *data, size_t n, int err, uint64_t at)
{
	bad_from(box, packed, data, n, err, at, n);
}

/* Walks packed, which must give data[n], end well and have one note; frees packed. */
static void noted(const struct hf_box *box, struct hf_walk_bytes *packed, const void *data, size_t n, int note, uint64_t at)
{
	struct hf_walk w;

	hf_walk_memory(&w, box, packed->p, packed->n);
	CHECK_EQ(w.err, HF_NOTE_END);
	CHECK_EQ(w.out.n, n);
	CHECK(!n || !memcmp(w.out.p, data, n));
	CHECK_EQ(w.note_count, 1);
	CHECK_EQ(w.notes[0].code, note);
	CHECK_EQ(w.notes[0].offset, at);
	hf_walk_check_all(&w, packed->p, packed->n);
	hf_walk_free(&w);
	hf_bytes_free(packed);
}

static size_t count_entries(const struct hf_walk *w)
{
	size_t entries = 0;

	for (size_t i = 0; i < w->count; i++)
		entries += !(w->points[i].bits & HF_POINT_CONTINUES);
	return entries;
}

/* The windows of w without what the blocks do not need: they are enough for all of w, and smaller by the factor. */
static void check_thin(struct hf_walk *w, const struct hf_walk_bytes *packed, size_t factor)
{
	struct hf_src *src;
	size_t whole = 0, thin = 0;

	CHECK_EQ(hf_src_memory_new(packed->p, packed->n, &src), 0);
	for (size_t i = 0; i < w->count; i++) {
		if (!w->points[i].window_size)
			continue;
		whole += w->points[i].window_size;
		CHECK_EQ(w->box->thin_window(w->box, src, &w->points[i], w->windows[i]), 0);
		for (size_t k = 0; k < w->points[i].window_size; k++)
			thin += w->windows[i][k] != 0;
		CHECK(!w->points[i].window_size || w->windows[i][0] || w->points[i].window_size < HF_WINDOW_MAX);
	}
	CHECK(thin * factor <= whole);
	hf_walk_check_blocks(w, src, 20);
	hf_src_free(src);
}

static void test_gzip_thin(const struct hf_walk_bytes *trace, const struct hf_walk_bytes *noise)
{
	struct hf_walk_bytes b = {0}, far = {0};
	struct hf_walk w;

	for (int level = 1; level <= 9; level += 4) {
		hf_pack_gzip(&b, trace->p, trace->n, level, 0);
		hf_walk_memory(&w, &hf_box_gzip, b.p, b.n);
		check_thin(&w, &b, 2);
		hf_walk_free(&w);
		hf_bytes_free(&b);
	}
	/* Nothing of it comes again: no block needs a window. */
	hf_pack_gzip(&b, noise->p, noise->n, 6, 0);
	hf_walk_memory(&w, &hf_box_gzip, b.p, b.n);
	check_thin(&w, &b, 1000);
	hf_walk_free(&w);
	hf_bytes_free(&b);
	/*
	 * Nearly all of it comes again, at nearly the greatest distance: a block needs its whole window. One byte in 50
	 * does not, so that deflate blocks are not too long to be entered.
	 */
	for (size_t at = 0; at < 3 * MIB; at += 32000)
		hf_bytes_add(&far, noise->p, 32000);
	for (size_t at = 0; at < far.n; at += 50)
		far.p[at] = noise->p[3 * MIB + at / 50];
	hf_pack_gzip(&b, far.p, far.n, 9, 0);
	hf_walk_memory(&w, &hf_box_gzip, b.p, b.n);
	CHECK(w.points[1].window_size == HF_WINDOW_MAX);
	check_thin(&w, &b, 1);
	CHECK(w.points[1].window_size >= 31900);
	hf_walk_free(&w);
	hf_bytes_free(&b);
	hf_bytes_free(&far);
}

/* A file that does not hold what the point says leaves the window alone. */
static void test_gzip_thin_refused(const struct hf_walk_bytes *trace)
{
	uint8_t window[HF_WINDOW_MAX];
	struct hf_walk_bytes b = {0};
	struct hf_point point;
	struct hf_src *src;
	struct hf_walk w;

	hf_pack_gzip(&b, trace->p, trace->n, 6, 0);
	hf_walk_memory(&w, &hf_box_gzip, b.p, b.n);
	point = w.points[1];
	memcpy(window, w.windows[1], sizeof window);
	CHECK_EQ(hf_src_memory_new(b.p, (size_t)point.in_offset + 100, &src), 0);
	CHECK(w.box->thin_window(w.box, src, &point, window) != 0);
	CHECK(!memcmp(&point, &w.points[1], sizeof point));
	CHECK(!memcmp(window, w.windows[1], sizeof window));
	hf_src_free(src);
	hf_walk_free(&w);
	hf_bytes_free(&b);
}

static void test_gzip_large(const struct hf_walk_bytes *trace, const struct hf_walk_bytes *noise)
{
	struct hf_walk_bytes b = {0};
	struct hf_walk w;

	hf_pack_gzip(&b, trace->p, trace->n, 6, 8);
	w = check_good(&hf_box_gzip, &b, trace->p, trace->n);
	CHECK(w.count >= 4 && count_entries(&w) == w.count);
	CHECK_EQ(w.points[1].window_size, HF_WINDOW_MAX);
	CHECK(!memcmp(w.windows[1], trace->p + w.points[1].out_offset - HF_WINDOW_MAX, HF_WINDOW_MAX));
	hf_walk_free(&w);
	hf_bytes_free(&b);

	/* level 0 is stored blocks; noise makes deflate choose them by itself */
	hf_pack_gzip(&b, trace->p, trace->n, 0, 0);
	good(&hf_box_gzip, &b, trace->p, trace->n);
	hf_pack_gzip(&b, noise->p, noise->n, 6, 0);
	good(&hf_box_gzip, &b, noise->p, noise->n);

	/* as bgzip writes it: 64 KiB members, so that no point needs a window */
	for (size_t at = 0; at < trace->n; at += 65536)
		hf_pack_gzip(&b, trace->p + at, trace->n - at < 65536 ? trace->n - at : 65536, 1, 4);
	w = check_good(&hf_box_gzip, &b, trace->p, trace->n);
	CHECK(w.count > 5);
	for (size_t i = 0; i < w.count; i++)
		CHECK_EQ(w.points[i].window_size, 0);
	hf_walk_free(&w);
	hf_bytes_free(&b);
}

/* A thousand to one: single deflate blocks of more than 4 MiB come in pieces. */
static void test_gzip_bomb(void)
{
	struct hf_walk_bytes zeros = {.p = calloc(1, 40 * MIB), .n = 40 * MIB}, b = {0};
	struct hf_walk w;

	CHECK(zeros.p);
	hf_pack_gzip(&b, zeros.p, zeros.n, 9, 0);
	CHECK(b.n < 50000);
	hf_walk_memory(&w, &hf_box_gzip, b.p, b.n);
	CHECK_EQ(w.err, HF_NOTE_END);
	CHECK_EQ(w.out.n, zeros.n);
	CHECK(!memcmp(w.out.p, zeros.p, zeros.n));
	CHECK(count_entries(&w) < w.count && count_entries(&w) > 5);
	for (size_t i = 0; i < w.count; i++)
		CHECK(w.points[i].out_size <= 4 * MIB);
	hf_walk_free(&w);
	hf_bytes_free(&b);
	hf_bytes_free(&zeros);
}

static void test_gzip_members(const struct hf_walk_bytes *data)
{
	struct hf_walk_bytes b = {0};
	size_t at;

	hf_pack_gzip(&b, NULL, 0, 6, 0);
	good(&hf_box_gzip, &b, NULL, 0);
	for (unsigned flags = 0; flags < 32; flags++)
		hf_pack_gzip(&b, flags & 1 ? NULL : data->p, flags & 1 ? 0 : 1000, 6, flags & 0x1e);
	{
		struct hf_walk_bytes want = {0};

		for (unsigned i = 0; i < 16; i++)
			hf_bytes_add(&want, data->p, 1000);
		good(&hf_box_gzip, &b, want.p, want.n);
		hf_bytes_free(&want);
	}

	/* zero padding is as good as nothing, anything else is worth a note */
	hf_pack_gzip(&b, data->p, 5000, 6, 0);
	for (unsigned i = 0; i < 1000; i++)
		hf_bytes_add(&b, "", 1);
	good(&hf_box_gzip, &b, data->p, 5000);
	hf_pack_gzip(&b, data->p, 5000, 6, 0);
	hf_bytes_add(&b, "\0\0", 2);
	at = b.n;
	hf_bytes_add(&b, "garbage", 7);
	noted(&hf_box_gzip, &b, data->p, 5000, HF_ERR_BOX_GARBAGE, at);
	hf_pack_gzip(&b, data->p, 5000, 6, 0);
	at = b.n;
	hf_bytes_add(&b, "\x1f", 1);
	noted(&hf_box_gzip, &b, data->p, 5000, HF_ERR_BOX_GARBAGE, at);
}

static void test_gzip_damage(const struct hf_walk_bytes *data)
{
	struct hf_walk_bytes b = {0};
	size_t at, size;

	hf_pack_gzip(&b, data->p, 5000, 6, 0);
	b.p[b.n - 8] ^= 1;
	bad_from(&hf_box_gzip, &b, data->p, 5000, HF_ERR_BOX_CHECKSUM, b.n - 8, 0);
	hf_pack_gzip(&b, data->p, 5000, 6, 0);
	b.p[b.n - 1] ^= 1;
	bad_from(&hf_box_gzip, &b, data->p, 5000, HF_ERR_BOX_CHECKSUM, b.n - 4, 0);
	/* that of the second member says nothing against the first */
	hf_pack_gzip(&b, data->p, 3000, 6, 0);
	hf_pack_gzip(&b, data->p + 3000, 2000, 6, 0);
	b.p[b.n - 8] ^= 1;
	bad_from(&hf_box_gzip, &b, data->p, 5000, HF_ERR_BOX_CHECKSUM, b.n - 8, 3000);
	hf_pack_gzip(&b, data->p, 5000, 6, 2 | 8);
	b.p[11] ^= 1;
	bad(&hf_box_gzip, &b, NULL, 0, HF_ERR_CHECKSUM, 17);
	hf_pack_gzip(&b, data->p, 5000, 6, 0x20);
	bad(&hf_box_gzip, &b, NULL, 0, HF_ERR_BOX_DAMAGED, 0);

	/* the second of three members: the third is not looked for */
	hf_pack_gzip(&b, data->p, 5000, 6, 0);
	at = b.n;
	hf_pack_gzip(&b, data->p, 5000, 6, 0);
	b.p[at + 2] = 9;
	hf_pack_gzip(&b, data->p, 5000, 6, 0);
	bad(&hf_box_gzip, &b, data->p, 5000, HF_ERR_BOX_DAMAGED, at);

	/* a reserved block type right after the header */
	hf_pack_gzip(&b, data->p, 5000, 6, 0);
	b.p[10] |= 6;
	bad(&hf_box_gzip, &b, NULL, 0, HF_ERR_BOX_DAMAGED, 11);

	/* the same in the second of some stored blocks: the first is served, by a scan as by read_block */
	hf_pack_gzip(&b, data->p, 200000, 0, 0);
	size = hf_get16(b.p + 11);
	CHECK(size > 1000);
	b.p[10 + 5 + size] |= 6;
	bad_from(&hf_box_gzip, &b, data->p, size, HF_ERR_BOX_DAMAGED, 10 + 5 + size + 1, 0);

	hf_bytes_add(&b, "not gzip", 8);
	bad(&hf_box_gzip, &b, NULL, 0, HF_ERR_BOX_DAMAGED, 0);
	bad(&hf_box_gzip, &b, NULL, 0, HF_ERR_BOX_CUT, 0);
}

static void test_xz_large(const struct hf_walk_bytes *trace, const struct hf_walk_bytes *noise)
{
	struct hf_walk_bytes b = {0};
	struct hf_walk w;

	/* one block of 9 MiB: 4 MiB that can be entered, then pieces */
	hf_pack_xz(&b, trace->p, trace->n, 4, 0);
	w = check_good(&hf_box_xz, &b, trace->p, trace->n);
	CHECK_EQ(count_entries(&w), 1);
	CHECK_EQ(w.points[0].out_size, 4 * MIB);
	CHECK_EQ(w.points[1].out_size, MIB);
	hf_walk_free(&w);
	hf_bytes_free(&b);

	hf_pack_xz(&b, noise->p, 2 * MIB, 1, MIB);
	w = check_good(&hf_box_xz, &b, noise->p, 2 * MIB);
	CHECK_EQ(w.count, 2);
	hf_walk_free(&w);
	hf_bytes_free(&b);

	/* blocks of 5 MiB: entry, piece, entry, piece */
	hf_pack_xz(&b, trace->p, trace->n, 10, 5 * MIB);
	w = check_good(&hf_box_xz, &b, trace->p, trace->n);
	CHECK_EQ(count_entries(&w), 2);
	CHECK(w.points[1].bits & HF_POINT_CONTINUES);
	CHECK(!(w.points[2].bits & HF_POINT_CONTINUES));
	CHECK_EQ(w.points[2].out_offset, 5 * MIB);
	hf_walk_free(&w);
	hf_bytes_free(&b);
}

static void test_xz_streams(const struct hf_walk_bytes *data)
{
	static const int checks[] = {0, 1, 4, 10};
	struct hf_walk_bytes b = {0}, want = {0};
	size_t at;

	hf_pack_xz(&b, NULL, 0, 4, 0);
	good(&hf_box_xz, &b, NULL, 0);
	for (size_t i = 0; i < 4; i++) {
		hf_pack_xz(&b, data->p, 3000, checks[i], i & 1 ? 1000 : 0);
		hf_pack_xz(&b, NULL, 0, checks[i], 0);
		for (size_t k = 0; k < i; k++)
			hf_bytes_add(&b, "\0\0\0\0", 4);
		hf_bytes_add(&want, data->p, 3000);
	}
	good(&hf_box_xz, &b, want.p, want.n);
	hf_bytes_free(&want);

	hf_pack_xz(&b, data->p, 3000, 4, 0);
	hf_bytes_add(&b, "\0\0\0\0", 4);
	at = b.n;
	hf_bytes_add(&b, "garbage", 7);
	bad(&hf_box_xz, &b, data->p, 3000, HF_ERR_BOX_GARBAGE, at);
	hf_pack_xz(&b, data->p, 3000, 4, 0);
	at = b.n;
	hf_bytes_add(&b, "\0\0", 2);
	bad(&hf_box_xz, &b, data->p, 3000, HF_ERR_BOX_GARBAGE, at);
	hf_bytes_add(&b, "not an xz file", 14);
	bad(&hf_box_xz, &b, NULL, 0, HF_ERR_BOX_DAMAGED, 0);
	bad(&hf_box_xz, &b, NULL, 0, HF_ERR_BOX_CUT, 0);
}

static void test_xz_damage(const struct hf_walk_bytes *data)
{
	struct hf_walk_bytes b = {0};
	struct hf_walk w;

	/* the index does not fit, but everything that it speaks of has been verified */
	hf_pack_xz(&b, data->p, 3000, 4, 1000);
	for (size_t at = b.n - 12 - 16; at < b.n; at++) {
		b.p[at] ^= 0x10;
		hf_walk_memory(&w, &hf_box_xz, b.p, b.n);
		CHECK(w.err < 0);
		CHECK_EQ(w.out.n, 3000);
		hf_walk_free(&w);
		b.p[at] ^= 0x10;
	}
	hf_bytes_free(&b);

	/* the second of three blocks (its last byte but the check's eight): nothing of it is served */
	hf_pack_xz(&b, data->p, 3000, 4, 1000);
	hf_walk_memory(&w, &hf_box_xz, b.p, b.n);
	CHECK_EQ(w.count, 3);
	b.p[w.points[2].in_offset - 1] ^= 1;
	hf_walk_free(&w);
	hf_walk_memory(&w, &hf_box_xz, b.p, b.n);
	CHECK_EQ(w.err, HF_ERR_BOX_DAMAGED);
	CHECK_EQ(w.out.n, 1000);
	hf_walk_free(&w);
	hf_bytes_free(&b);
}

static void test_lzma(const struct hf_walk_bytes *trace)
{
	struct hf_walk_bytes b = {0};
	struct hf_walk w;
	size_t at;

	hf_pack_lzma(&b, trace->p, 3 * MIB);
	w = check_good(&hf_box_lzma, &b, trace->p, 3 * MIB);
	CHECK_EQ(w.count, 3);
	CHECK_EQ(count_entries(&w), 1);
	hf_walk_free(&w);
	at = b.n;
	hf_bytes_add(&b, "more", 4);
	noted(&hf_box_lzma, &b, trace->p, 3 * MIB, HF_ERR_BOX_GARBAGE, at);

	hf_pack_lzma(&b, NULL, 0);
	good(&hf_box_lzma, &b, NULL, 0);

	/* with the size in the header the end marker is not needed: cut it off (6 bytes at least) and say 100 */
	hf_pack_lzma(&b, trace->p, 100000);
	hf_put64(b.p + 5, 100000);
	good(&hf_box_lzma, &b, trace->p, 100000);

	/* a dictionary of 3 GiB */
	hf_pack_lzma(&b, trace->p, 1000);
	hf_put32(b.p + 1, 0xc0000000);
	bad(&hf_box_lzma, &b, NULL, 0, HF_ERR_STREAM_MEMORY, 0);
}

static void test_zstd_large(const struct hf_walk_bytes *trace, const struct hf_walk_bytes *noise)
{
	struct hf_walk_bytes b = {0};
	struct hf_walk w;

	for (unsigned flags = 0; flags < 4; flags++) {
		hf_pack_zstd(&b, trace->p, trace->n, flags, 0);
		w = check_good(&hf_box_zstd, &b, trace->p, trace->n);
		CHECK_EQ(count_entries(&w), 1);
		hf_walk_free(&w);
		hf_bytes_free(&b);
	}
	hf_pack_zstd(&b, noise->p, noise->n, HF_PACK_CHECKSUM, 0);
	good(&hf_box_zstd, &b, noise->p, noise->n);

	/* exactly as large as a block can be, then one byte more */
	hf_pack_zstd(&b, trace->p, 4 * MIB, 0, 0);
	hf_pack_zstd(&b, trace->p + 4 * MIB, 4 * MIB + 1, 0, 0);
	w = check_good(&hf_box_zstd, &b, trace->p, 8 * MIB + 1);
	CHECK_EQ(w.count, 3);
	CHECK_EQ(count_entries(&w), 2);
	hf_walk_free(&w);
	hf_bytes_free(&b);

	/* frames of 256 KiB are blocks, those of 1 KiB are put together */
	for (size_t at = 0; at < 2 * MIB; at += 256 * 1024)
		hf_pack_zstd(&b, trace->p + at, 256 * 1024, HF_PACK_SIZE, 0);
	for (size_t at = 2 * MIB; at < 3 * MIB; at += 1024)
		hf_pack_zstd(&b, trace->p + at, 1024, HF_PACK_SIZE, 0);
	w = check_good(&hf_box_zstd, &b, trace->p, 3 * MIB);
	CHECK_EQ(w.count, 8 + 8);
	hf_walk_free(&w);
	hf_bytes_free(&b);
}

static void test_zstd_frames(const struct hf_walk_bytes *data)
{
	struct hf_walk_bytes b = {0};
	size_t at;

	hf_pack_zstd(&b, NULL, 0, 0, 0);
	good(&hf_box_zstd, &b, NULL, 0);
	hf_pack_skippable(&b, 100);
	good(&hf_box_zstd, &b, NULL, 0);

	hf_pack_skippable(&b, 0);
	hf_pack_zstd(&b, data->p, 1000, 0, 0);
	hf_pack_zstd(&b, NULL, 0, HF_PACK_CHECKSUM, 0);
	hf_pack_skippable(&b, 100000);
	hf_pack_zstd(&b, data->p + 1000, 1000, HF_PACK_CHECKSUM, 0);
	hf_pack_skippable(&b, 10);
	good(&hf_box_zstd, &b, data->p, 2000);

	hf_pack_zstd(&b, data->p, 1000, 0, 0);
	hf_pack_skippable(&b, 100);
	b.n--;
	bad(&hf_box_zstd, &b, data->p, 1000, HF_ERR_BOX_CUT, b.n);
	hf_pack_zstd(&b, data->p, 1000, 0, 0);
	at = b.n;
	hf_bytes_add(&b, "garbage", 7);
	bad(&hf_box_zstd, &b, data->p, 1000, HF_ERR_BOX_GARBAGE, at);
	bad(&hf_box_zstd, &b, NULL, 0, HF_ERR_BOX_CUT, 0);

	/* the checksum of the second frame: all of that frame is withheld */
	hf_pack_zstd(&b, data->p, 1000, HF_PACK_CHECKSUM, 0);
	at = b.n;
	hf_pack_zstd(&b, data->p + 1000, 1000, HF_PACK_CHECKSUM, 0);
	b.p[b.n - 1] ^= 1;
	bad(&hf_box_zstd, &b, data->p, 1000, HF_ERR_CHECKSUM, at);

	/* a window of 256 MiB */
	hf_pack_zstd(&b, data->p, 1000, 0, 0);
	at = b.n;
	hf_pack_zstd(&b, data->p, 1000, 0, 28);
	bad(&hf_box_zstd, &b, data->p, 1000, HF_ERR_STREAM_MEMORY, at);
}

/* What decompressing takes is known from the header: more than the source allows is refused, and how much is said. */
static void check_memory(const struct hf_box *box, struct hf_walk_bytes *b, uint64_t need, uint64_t at)
{
	const uint8_t *bytes, *window;
	struct hf_point point;
	struct hf_diag diag;
	struct hf_src *src;

	CHECK_EQ(hf_src_memory_new(b->p, b->n, &src), 0);
	for (int enough = 0; enough < 2; enough++) {
		struct hf_scan *scan;

		src->memory = enough ? need : need / 2;
		CHECK_EQ(box->scan_new(box, src, NULL, NULL, &scan, &diag), 0);
		CHECK_EQ(box->scan_next(scan, &point, &bytes, &window, &diag), enough ? 0 : HF_ERR_STREAM_MEMORY);
		if (enough) {
			CHECK(box->scan_memory(scan) > point.out_size && box->scan_memory(scan) < need + 8 * MIB);
		} else {
			CHECK_EQ(diag.space, HF_SPACE_FILE);
			CHECK_EQ(diag.offset, at);
			CHECK(diag.detail * MIB > need / 2 && (diag.detail - 1) * MIB < need);
		}
		box->scan_free(scan);
	}
	hf_src_free(src);
	hf_bytes_free(b);
}

static void test_memory(const struct hf_walk_bytes *trace)
{
	struct hf_walk_bytes b = {0};

	/* dictionaries of 256 KiB (the fastest level), windows of 16 MiB */
	hf_pack_xz(&b, trace->p, 3 * MIB, 4, 0);
	check_memory(&hf_box_xz, &b, MIB / 2, 12);
	hf_pack_lzma(&b, trace->p, 3 * MIB);
	check_memory(&hf_box_lzma, &b, MIB / 2, 0);
	hf_pack_zstd(&b, trace->p, 3 * MIB, 0, 24);
	check_memory(&hf_box_zstd, &b, 17 * MIB, 0);
}

static void test_zstf(const struct hf_walk_bytes *trace)
{
	struct hf_walk_bytes b = {0};
	struct hf_walk w;

	/* chunks of 5 MiB are still blocks */
	hf_pack_zstf(&b, trace->p, trace->n, 5 * MIB);
	w = check_good(&hf_box_zstf, &b, trace->p, trace->n);
	CHECK_EQ(w.count, 2);
	hf_walk_free(&w);
	hf_bytes_add(&b, "ignored", 7);
	good(&hf_box_zstf, &b, trace->p, trace->n);

	hf_pack_zstf(&b, trace->p, 100000, 1000);
	w = check_good(&hf_box_zstf, &b, trace->p, 100000);
	CHECK_EQ(w.count, 100);
	hf_walk_free(&w);
	hf_bytes_free(&b);
}

static void test_zstf_bomb(void)
{
	struct hf_walk_bytes zeros = {.p = calloc(1, 70 * MIB), .n = 70 * MIB}, b = {0};
	struct hf_walk w;

	CHECK(zeros.p);
	hf_pack_zstf(&b, zeros.p, zeros.n, zeros.n);
	hf_walk_memory(&w, &hf_box_zstf, b.p, b.n);
	CHECK_EQ(w.err, HF_NOTE_END);
	CHECK_EQ(w.note_count, 0);
	CHECK_EQ(w.out.n, zeros.n);
	CHECK_EQ(w.count, 7);
	CHECK_EQ(count_entries(&w), 1);
	hf_walk_free(&w);
	hf_bytes_free(&b);
	hf_bytes_free(&zeros);
}

/* What a writer leaves that was killed at some moment: it puts each chunk over the table of those before it. */
static void test_zstf_killed(const struct hf_walk_bytes *data)
{
	struct hf_walk_bytes b = {0}, two = {0};
	uint64_t table;
	size_t at;

	/* the first chunk is written, its table is not named yet, or not there */
	hf_pack_zstf(&b, data->p, 3000, 1000);
	hf_put64(b.p + 12, 0);
	noted(&hf_box_zstf, &b, data->p, 3000, HF_ERR_ZSTF_TABLE, 12);
	hf_pack_zstf(&b, data->p, 3000, 1000);
	b.n = (size_t)hf_get64(b.p + 12);
	hf_put64(b.p + 12, 0);
	noted(&hf_box_zstf, &b, data->p, 3000, HF_ERR_ZSTF_TABLE, 12);
	hf_pack_zstf(&b, data->p, 3000, 1000);
	b.n = (size_t)hf_get64(b.p + 12) + 5;
	hf_put64(b.p + 12, 0);
	noted(&hf_box_zstf, &b, data->p, 3000, HF_ERR_ZSTF_TABLE, 12);

	/* the third chunk lies over the table that is still named, with a new table behind it or without */
	hf_pack_zstf(&two, data->p, 2000, 1000);
	table = hf_get64(two.p + 12);
	hf_bytes_free(&two);
	hf_pack_zstf(&b, data->p, 3000, 1000);
	at = (size_t)hf_get64(b.p + 12);
	hf_put64(b.p + 12, table);
	noted(&hf_box_zstf, &b, data->p, 3000, HF_ERR_ZSTF_TABLE, 12);
	hf_pack_zstf(&b, data->p, 3000, 1000);
	b.n = at;
	hf_put64(b.p + 12, table);
	noted(&hf_box_zstf, &b, data->p, 3000, HF_ERR_ZSTF_TABLE, 12);

	/* and E in the middle of a chunk */
	hf_pack_zstf(&b, data->p, 3000, 1000);
	hf_put64(b.p + 12, table + 5);
	noted(&hf_box_zstf, &b, data->p, 3000, HF_ERR_ZSTF_TABLE, 12);

	/* a byte before the file's end, so that not even the count is there */
	hf_pack_zstf(&b, data->p, 3000, 1000);
	b.n = (size_t)hf_get64(b.p + 12) + 1;
	noted(&hf_box_zstf, &b, data->p, 3000, HF_ERR_ZSTF_TABLE, b.n - 1);
}

static void test_zstf_damage(const struct hf_walk_bytes *data)
{
	struct hf_walk_bytes b = {0};
	struct hf_walk w;
	uint64_t table;

	/* a table that says one chunk less */
	hf_pack_zstf(&b, data->p, 3000, 1000);
	table = hf_get64(b.p + 12);
	hf_put64(b.p + table, 2);
	noted(&hf_box_zstf, &b, data->p, 3000, HF_ERR_ZSTF_TABLE, table);

	/* every entry wrong in both ways: a note each, and never more than a thousand or so */
	hf_pack_zstf(&b, data->p, 3000, 3);
	table = hf_get64(b.p + 12);
	for (size_t i = 0; i < 1000; i++) {
		b.p[table + 8 + 24 * i + 7] ^= 0x7f;
		b.p[table + 8 + 24 * i + 16] ^= 0x7f;
	}
	hf_walk_memory(&w, &hf_box_zstf, b.p, b.n);
	CHECK_EQ(w.err, HF_NOTE_END);
	CHECK_EQ(w.out.n, 3000);
	CHECK_EQ(w.note_count, 1024);
	CHECK_EQ(w.notes[3].offset, table + 8 + 24 + 16);
	hf_walk_free(&w);
	hf_bytes_free(&b);

	/* "ZSTF" and no more; another name */
	hf_bytes_add(&b, "ZSTF", 4);
	bad(&hf_box_zstf, &b, NULL, 0, HF_ERR_BOX_CUT, 4);
	hf_bytes_add(&b, "STFZ0123456789abcdef", 20);
	bad(&hf_box_zstf, &b, NULL, 0, HF_ERR_BOX_DAMAGED, 0);
}

/* A frame is the block that a point says. */
static void check_parts(const struct hf_walk_bytes *data, unsigned flags, int window_log, bool always)
{
	struct hf_walk_bytes b = {0};
	struct hf_point point = {.out_size = data->n};
	uint64_t random = 7;
	uint8_t *buf = malloc(data->n);
	struct hf_src *src;
	unsigned done = 0;

	hf_pack_zstd(&b, data->p, data->n, flags, window_log);
	point.in_size = b.n;
	CHECK(buf);
	CHECK_EQ(hf_src_memory_new(b.p, b.n, &src), 0);
	for (unsigned i = 0; i < 200; i++) {
		const uint64_t skip = i ? hf_rand_next(&random) % data->n : 0;
		const size_t n = i == 1 ? data->n - (size_t)skip : hf_rand_next(&random) % (data->n - (size_t)skip) + 1;

		if (hf_frames_read_part(src, &point, skip, buf, n)) {
			CHECK(!memcmp(buf, data->p + skip, n));
			done++;
		}
	}
	CHECK_EQ(done, always ? 200 : done);
	hf_src_free(src);
	/* Whatever the file has, it has no other effect than wrong bytes or none. */
	for (unsigned i = 0; i < 200; i++) {
		const size_t at = hf_rand_next(&random) % (i % 2 ? b.n : b.n < 40 ? b.n : 40);

		b.p[at] ^= (uint8_t)(1u << i % 8);
		CHECK_EQ(hf_src_memory_new(b.p, b.n, &src), 0);
		(void)hf_frames_read_part(src, &point, data->n / 2, buf, data->n / 4 + 1);
		hf_src_free(src);
		b.p[at] ^= (uint8_t)(1u << i % 8);
	}
	free(buf);
	hf_bytes_free(&b);
}

static void test_zstd_parts(const struct hf_walk_bytes *trace)
{
	struct hf_walk_bytes noise = hf_pack_noise(MIB), zeros = {.p = calloc(1, MIB), .n = MIB}, both = {0};

	CHECK(zeros.p);
	hf_bytes_add(&both, trace->p, 300 * KIB);
	hf_bytes_add(&both, noise.p, 200 * KIB);
	hf_bytes_add(&both, zeros.p, 500 * KIB);
	hf_bytes_add(&both, trace->p, 100 * KIB);
	for (unsigned flags = 0; flags < 4; flags++) {
		const unsigned use = (flags & 1 ? HF_PACK_SIZE : 0) | (flags & 2 ? HF_PACK_CHECKSUM : 0);

		check_parts(&both, use, 0, true);
		check_parts(&both, use, 10, true);
		check_parts(&noise, use, 0, true);
		check_parts(&zeros, use, 20, true);
		/* Hardly longer than its head. */
		check_parts(&(struct hf_walk_bytes){.p = noise.p, .n = 10}, use, 0, false);
	}
	hf_bytes_free(&noise);
	hf_bytes_free(&zeros);
	hf_bytes_free(&both);
}

int main(void)
{
	struct hf_walk_bytes trace = hf_pack_trace(9 * MIB), noise = hf_pack_noise(6 * MIB);

	test_gzip_members(&trace);
	test_gzip_damage(&trace);
	test_gzip_large(&trace, &noise);
	test_gzip_thin(&trace, &noise);
	test_gzip_thin_refused(&trace);
	test_gzip_bomb();
	test_xz_streams(&trace);
	test_xz_damage(&trace);
	test_xz_large(&trace, &noise);
	test_lzma(&trace);
	test_zstd_frames(&trace);
	test_zstd_large(&trace, &noise);
	test_zstd_parts(&trace);
	test_zstf(&trace);
	test_memory(&trace);
	test_zstf_killed(&trace);
	test_zstf_damage(&trace);
	test_zstf_bomb();
	hf_bytes_free(&trace);
	hf_bytes_free(&noise);
	return 0;
}
