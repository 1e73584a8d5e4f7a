/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/walk.h"

#include "codecs/source/errors.h"
#include "codecs/source/reader.h"
#include "tests/lib/check.h"
#include "tests/lib/sliver.h"

void hf_bytes_add(struct hf_walk_bytes *b, const void *p, size_t n)
{
	if (b->n + n > b->cap) {
		b->cap = b->cap + n < 2 * b->cap ? 2 * b->cap : b->cap + n;
		b->p = realloc(b->p, b->cap);
		CHECK(b->p);
	}
	if (n)
		memcpy(b->p + b->n, p, n);
	b->n += n;
}

void hf_bytes_free(struct hf_walk_bytes *b)
{
	free(b->p);
	*b = (struct hf_walk_bytes){0};
}

struct hf_walk_bytes hf_bytes_load(const char *dir, const char *name)
{
	struct hf_walk_bytes b = {0};
	char path[4096], buf[65536];
	size_t got;
	FILE *f;

	snprintf(path, sizeof path, "%s%s%s", dir, *dir ? "/" : "", name);
	f = fopen(path, "rb");
	if (!f) {
		fprintf(stderr, "%s: cannot be opened\n", path);
		exit(1);
	}
	while ((got = fread(buf, 1, sizeof buf, f)) > 0)
		hf_bytes_add(&b, buf, got);
	CHECK(!ferror(f));
	fclose(f);
	return b;
}

uint32_t hf_rand_next(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*state >> 32);
}

static void add_point(struct hf_walk *w, const struct hf_point *point, const uint8_t *window)
{
	w->points = realloc(w->points, (w->count + 1) * sizeof *w->points);
	w->windows = realloc(w->windows, (w->count + 1) * sizeof *w->windows);
	CHECK(w->points && w->windows);
	w->points[w->count] = *point;
	w->windows[w->count] = malloc(point->window_size ? point->window_size : 1);
	CHECK(w->windows[w->count]);
	if (point->window_size)
		memcpy(w->windows[w->count], window, point->window_size);
	w->count++;
}

/* What stands for the bytes of a damaged block. */
static void add_hole(struct hf_walk_bytes *out, size_t n)
{
	static const uint8_t none[4096];

	for (; n > sizeof none; n -= sizeof none)
		hf_bytes_add(out, none, sizeof none);
	hf_bytes_add(out, none, n);
}

static void add_notes(struct hf_walk *w, struct hf_scan *scan)
{
	struct hf_diag note;

	while (w->box->scan_note && w->box->scan_note(scan, w->note_count, &note) == 0) {
		w->notes = realloc(w->notes, (w->note_count + 1) * sizeof *w->notes);
		CHECK(w->notes);
		w->notes[w->note_count++] = note;
	}
}

void hf_walk_run(struct hf_walk *w, const struct hf_box *box, struct hf_src *src, const struct hf_point *resume,
		 const uint8_t *window)
{
	uint64_t at = resume ? resume->out_offset : 0;
	struct hf_scan *scan;
	const uint8_t *bytes, *win;
	struct hf_point point;

	*w = (struct hf_walk){.box = box};
	CHECK_EQ(box->scan_new(box, src, resume, window, &scan, &w->diag), 0);
	while ((w->err = box->scan_next(scan, &point, &bytes, &win, &w->diag)) == 0) {
		CHECK_EQ(point.out_offset, at);
		CHECK(point.out_size > 0 && point.out_size <= HF_BLOCK_MAX);
		CHECK(point.window_size <= HF_WINDOW_MAX);
		at += point.out_size;
		CHECK(!bytes == !!(point.bits & HF_POINT_DAMAGED));
		if (bytes)
			hf_bytes_add(&w->out, bytes, (size_t)point.out_size);
		else
			add_hole(&w->out, (size_t)point.out_size);
		add_point(w, &point, win);
	}
	/* The end is the end. */
	CHECK_EQ(box->scan_next(scan, &point, &bytes, &win, &w->diag), w->err);
	if (w->err < 0)
		CHECK_EQ(w->diag.code, w->err);
	add_notes(w, scan);
	box->scan_free(scan);
}

void hf_walk_memory(struct hf_walk *w, const struct hf_box *box, const void *bytes, size_t n)
{
	struct hf_src *src;

	CHECK_EQ(hf_src_memory_new(bytes, n, &src), 0);
	hf_walk_run(w, box, src, NULL, NULL);
	hf_src_free(src);
}

void hf_walk_free(struct hf_walk *w)
{
	hf_bytes_free(&w->out);
	for (size_t i = 0; i < w->count; i++)
		free(w->windows[i]);
	free(w->windows);
	free(w->points);
	free(w->notes);
	*w = (struct hf_walk){0};
}

static void check_piece(const struct hf_walk *w, struct hf_src *src, size_t i, uint64_t skip, size_t n)
{
	const struct hf_point *point = &w->points[i];
	uint8_t *buf = malloc(n ? n : 1);

	CHECK(buf);
	CHECK_EQ(w->box->read_block(w->box, src, point, w->windows[i], skip, buf, n, NULL), 0);
	CHECK(!memcmp(buf, w->out.p + (point->out_offset - w->points[0].out_offset) + skip, n));
	free(buf);
}

/* A point with its size widened over the blocks that continue it. */
static void check_widened(const struct hf_walk *w, struct hf_src *src, size_t i)
{
	struct hf_point wide = w->points[i];
	size_t k = i + 1;
	uint8_t buf[100];

	while (k < w->count && (w->points[k].bits & HF_POINT_CONTINUES))
		wide.out_size += w->points[k++].out_size;
	if (k == i + 1)
		return;
	CHECK_EQ(w->box->read_block(w->box, src, &wide, w->windows[i], wide.out_size - sizeof buf, buf, sizeof buf,
				    NULL), 0);
	CHECK(!memcmp(buf, w->out.p + wide.out_offset + wide.out_size - sizeof buf, sizeof buf));
}

void hf_walk_check_blocks(const struct hf_walk *w, struct hf_src *src, unsigned rounds)
{
	uint64_t seed = 1;
	uint8_t byte;

	for (size_t i = 0; w->box->read_block && i < w->count; i++) {
		const struct hf_point *point = &w->points[i];

		if (point->bits & HF_POINT_DAMAGED) {
			CHECK_EQ(w->box->read_block(w->box, src, point, NULL, 0, &byte, 1, NULL), HF_ERR_ZSTF_CHUNK);
			continue;
		}
		CHECK_EQ(w->box->read_block(w->box, src, point, w->windows[i], point->out_size, &byte, 1, NULL),
			 HF_ERR_STATE);
		if (point->bits & HF_POINT_CONTINUES) {
			CHECK_EQ(w->box->read_block(w->box, src, point, w->windows[i], 0, &byte, 1, NULL),
				 HF_ERR_STATE);
			continue;
		}
		check_piece(w, src, i, 0, (size_t)point->out_size);
		check_piece(w, src, i, point->out_size - 1, 1);
		check_piece(w, src, i, point->out_size, 0);
		check_widened(w, src, i);
		for (unsigned k = 0; k < rounds; k++) {
			uint64_t skip = hf_rand_next(&seed) % point->out_size;
			uint64_t room = point->out_size - skip;

			check_piece(w, src, i, skip, (size_t)(room < 4096 ? room : 4096));
		}
	}
}

/* That the walk b, which began at point i of a, gave the rest of a. */
static void check_rest(const struct hf_walk *a, const struct hf_walk *b, size_t i)
{
	const uint64_t skip = a->points[i].out_offset;

	CHECK_EQ(b->out.n, a->out.n - skip);
	CHECK(!b->out.n || !memcmp(b->out.p, a->out.p + skip, b->out.n));
	CHECK_EQ(b->count, a->count - i);
	for (size_t k = 0; k < b->count; k++)
		CHECK(!memcmp(&b->points[k], &a->points[i + k], sizeof *b->points));
}

void hf_walk_check_resume(const struct hf_walk *w, struct hf_src *src)
{
	/* Where there are hundreds of points, about fifty of them will do. */
	const size_t step = w->count / 50 + 1;

	for (size_t i = 0; i < w->count; i += step) {
		struct hf_walk rest;
		struct hf_scan *scan;

		if (w->points[i].bits & (HF_POINT_CONTINUES | HF_POINT_DAMAGED)) {
			CHECK_EQ(w->box->scan_new(w->box, src, &w->points[i], w->windows[i], &scan, NULL),
				 HF_ERR_STATE);
			CHECK(!scan);
			continue;
		}
		hf_walk_run(&rest, w->box, src, &w->points[i], w->windows[i]);
		check_rest(w, &rest, i);
		/* Checksums over more than the rest cannot be verified. */
		if (w->err != HF_ERR_CHECKSUM && w->err != HF_ERR_BOX_CHECKSUM && w->err != rest.err)
			CHECK_EQ(rest.err, w->err);
		hf_walk_free(&rest);
	}
}

void hf_walk_check_same(const struct hf_walk *a, const struct hf_walk *b)
{
	CHECK_EQ(a->out.n, b->out.n);
	CHECK(!a->out.n || !memcmp(a->out.p, b->out.p, a->out.n));
	CHECK_EQ(a->count, b->count);
	CHECK(!a->count || !memcmp(a->points, b->points, a->count * sizeof *a->points));
	CHECK_EQ(a->err, b->err);
	CHECK_EQ(a->note_count, b->note_count);
	for (size_t i = 0; i < a->note_count; i++) {
		CHECK_EQ(a->notes[i].code, b->notes[i].code);
		CHECK_EQ(a->notes[i].offset, b->notes[i].offset);
	}
}

static int count_point(void *ctx, const struct hf_point *point, const uint8_t *window)
{
	(void)point;
	(void)window;
	++*(size_t *)ctx;
	return 0;
}

static bool has_hole(const struct hf_walk *w, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < w->count; i++)
		if ((w->points[i].bits & HF_POINT_DAMAGED) && w->points[i].out_offset < end &&
		    w->points[i].out_offset + w->points[i].out_size > start)
			return true;
	return false;
}

/* How many bytes can be read at offset at, and what is said if there are none. */
static uint64_t readable(const struct hf_walk *w, uint64_t at, int *ret_err)
{
	*ret_err = w->err < 0 ? w->err : 0;
	for (size_t i = 0; i < w->count; i++) {
		const struct hf_point *point = &w->points[i];

		if (!(point->bits & HF_POINT_DAMAGED) || at >= point->out_offset + point->out_size)
			continue;
		*ret_err = HF_ERR_ZSTF_CHUNK;
		return at < point->out_offset ? point->out_offset - at : 0;
	}
	return at < w->out.n ? w->out.n - at : 0;
}

static void check_read(const struct hf_walk *w, struct hf_src *growing, uint64_t at, size_t n)
{
	static uint8_t buf[100000];
	int err;
	uint64_t left = readable(w, at, &err);
	size_t got;

	CHECK(n <= sizeof buf);
	CHECK_EQ(hf_src_read_at(growing, at, buf, n, &got, NULL), left ? 0 : err);
	CHECK_EQ(got, left < n ? left : n);
	CHECK(!got || !memcmp(buf, w->out.p + at, got));
}

void hf_walk_check_growing(const struct hf_walk *w, struct hf_src *src)
{
	struct hf_src *growing;
	struct hf_scan *scan;
	size_t points = 0, got;
	uint64_t seed = 7, at = 0;
	uint8_t byte;

	CHECK_EQ(w->box->scan_new(w->box, src, NULL, NULL, &scan, NULL), 0);
	CHECK_EQ(hf_growing_new(w->box, scan, count_point, &points, &growing), 0);
	CHECK_EQ(growing->size, HF_NOWHERE);
	while (at < w->out.n) {
		uint64_t back = hf_rand_next(&seed) % HF_BLOCK_AIM;
		size_t n = 1 + hf_rand_next(&seed) % 100000;

		check_read(w, growing, at, n);
		at += n;
		/* Nobody goes back over a hole. */
		if (back < at && !has_hole(w, at - back, at + n))
			check_read(w, growing, at - back, 100);
	}
	check_read(w, growing, w->out.n, 1);
	check_read(w, growing, w->out.n + 1000, 10);
	CHECK_EQ(points, w->count);
	CHECK_EQ(growing->size, w->err == HF_NOTE_END ? w->out.n : HF_NOWHERE);
	if (w->out.n > 2 * HF_BLOCK_AIM + HF_BLOCK_MAX)
		CHECK_EQ(hf_src_read_at(growing, 0, &byte, 1, &got, NULL), HF_ERR_STATE);
	hf_src_free(growing);
}

/* What a window over it shows, which is partly lent and partly copied. */
static void check_window(const struct hf_walk *w, struct hf_src *src)
{
	const size_t max = 16384;
	struct hf_src *growing;
	struct hf_scan *scan;
	struct hf_reader r;
	size_t points = 0, at = 0;
	uint64_t seed = 11;

	CHECK_EQ(w->box->scan_new(w->box, src, NULL, NULL, &scan, NULL), 0);
	CHECK_EQ(hf_growing_new(w->box, scan, count_point, &points, &growing), 0);
	CHECK_EQ(hf_reader_init(&r, growing, max / 4), 0);
	while (at < w->out.n) {
		const size_t n = 1 + hf_rand_next(&seed) % max, back = hf_rand_next(&seed) % 3000;
		size_t left, have;

		at -= n % 4 == 0 && back < at ? back : 0;
		left = w->out.n - at;
		CHECK_EQ(hf_reader_fetch(&r, at, n, max), n <= left ? 0 : HF_NOTE_END);
		have = hf_reader_there(&r, at);
		CHECK(have >= (n < left ? n : left) && have <= left);
		have = have < 5 * max ? have : 5 * max;
		CHECK(!memcmp(hf_reader_at(&r, at), w->out.p + at, have));
		at += n % 2 ? n : have;
	}
	CHECK_EQ(hf_reader_fetch(&r, w->out.n, 1, max), HF_NOTE_END);
	hf_reader_fini(&r);
	hf_src_free(growing);
}

void hf_walk_check_all(const struct hf_walk *w, const void *bytes, size_t n)
{
	static const size_t most[] = {1, 7, 2047};
	struct hf_src *src, *sliver;
	struct hf_walk other;

	CHECK_EQ(hf_src_memory_new(bytes, n, &src), 0);
	hf_walk_check_blocks(w, src, w->out.n < HF_BLOCK_AIM ? 20 : 3);
	hf_walk_check_resume(w, src);
	hf_walk_check_growing(w, src);
	if (w->err == HF_NOTE_END && !has_hole(w, 0, w->out.n))
		check_window(w, src);
	for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
		if (n / most[i] > 200000)
			continue;
		CHECK_EQ(hf_sliver_new(src, most[i], &sliver), 0);
		hf_walk_run(&other, w->box, sliver, NULL, NULL);
		hf_walk_check_same(w, &other);
		hf_walk_free(&other);
		if (w->out.n < HF_BLOCK_AIM)
			hf_walk_check_blocks(w, sliver, 1);
		hf_src_free(sliver);
	}
	hf_src_free(src);
}
