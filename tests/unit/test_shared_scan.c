/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One scan for several readers: whoever goes ahead, stays behind or comes late, and on whichever thread, each gets the
 * blocks, windows, notes and the end that a scan of its own gives.
 */
#include "index/pass/shared_scan.h"
#include "tests/lib/check.h"
#include "tests/lib/pack.h"

#include <pthread.h>

#define SIZE (HF_SHARED_BYTES + HF_SHARED_BYTES / 2)
#define READERS 3u

struct reader {
	const struct hf_walk *want;
	const struct hf_box *box;
	struct hf_scan *scan;
	size_t at; /* blocks that it has had */
	bool ended;
};

static struct reader join(struct hf_shared_scan *shared, const struct hf_walk *want)
{
	struct reader r = {.want = want, .box = hf_shared_scan_box(shared)};

	CHECK_EQ(hf_shared_scan_join(shared, &r.scan, NULL), 0);
	return r;
}

/* One more block, which is the one that the walk had. */
static void read_block(struct reader *r)
{
	const struct hf_walk *w = r->want;
	struct hf_diag diag = {.offset = HF_NOWHERE};
	const uint8_t *bytes, *window;
	struct hf_point point;
	int err = r->box->scan_next(r->scan, &point, &bytes, &window, &diag);

	CHECK(!err == (r->at < w->count));
	if (err) {
		CHECK_EQ(err, w->err);
		CHECK(err > 0 || diag.offset == w->diag.offset);
		r->ended = true;
		return;
	}
	CHECK(!memcmp(&point, &w->points[r->at], sizeof point));
	CHECK(!bytes == ((point.bits & HF_POINT_DAMAGED) != 0));
	CHECK(!bytes || !memcmp(bytes, w->out.p + point.out_offset, (size_t)point.out_size));
	CHECK(!point.window_size || !memcmp(window, w->windows[r->at], point.window_size));
	r->at++;
}

static void read_rest(struct reader *r)
{
	struct hf_diag note;
	size_t notes = 0;

	while (!r->ended)
		read_block(r);
	read_block(r);
	while (r->box->scan_note && !r->box->scan_note(r->scan, notes, &note))
		CHECK_EQ(note.code, r->want->notes[notes++].code);
	CHECK(!r->box->scan_note || notes == r->want->note_count);
	r->box->scan_free(r->scan);
}

static void *read_all(void *ctx)
{
	read_rest(ctx);
	return NULL;
}

static void test_paces(struct hf_shared_scan *shared, const struct hf_walk *w)
{
	struct reader a = join(shared, w), b = join(shared, w), late, never;
	uint64_t end;

	read_block(&a);
	late = join(shared, w);
	/* In step, then far ahead, and the end. */
	for (size_t i = 0; i < w->count / 3; i++) {
		read_block(&a);
		read_block(&b);
	}
	while (!a.ended)
		read_block(&a);
	never = join(shared, w);
	end = w->points[w->count - 1].out_offset + w->points[w->count - 1].out_size;
	CHECK(!never.scan == (end > HF_SHARED_BYTES));
	if (never.scan)
		read_rest(&never);
	read_rest(&late);
	read_rest(&a);
	read_rest(&b);
}

static void test_alone(struct hf_shared_scan *shared, const struct hf_walk *w)
{
	struct reader a = join(shared, w), b = join(shared, w);

	read_block(&b);
	b.box->scan_free(b.scan);
	read_rest(&a);
}

static void test_threads(struct hf_shared_scan *shared, const struct hf_walk *w)
{
	struct reader reader[READERS];
	pthread_t thread[READERS];

	for (unsigned i = 0; i < READERS; i++)
		reader[i] = join(shared, w);
	for (unsigned i = 0; i < READERS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, read_all, &reader[i]), 0);
	for (unsigned i = 0; i < READERS; i++)
		pthread_join(thread[i], NULL);
}

static void test_box(const struct hf_box *box, const struct hf_walk_bytes *packed)
{
	static void (*const tests[])(struct hf_shared_scan *, const struct hf_walk *) = {test_paces, test_alone, test_threads};
	struct hf_walk w;

	hf_walk_memory(&w, box, packed->p, packed->n);
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		struct hf_shared_scan *shared;
		struct hf_src *src;

		CHECK_EQ(hf_src_memory_new(packed->p, packed->n, &src), 0);
		CHECK_EQ(hf_shared_scan_new(box, src, &shared, NULL), 0);
		tests[i](shared, &w);
		hf_shared_scan_release(shared);
		hf_src_free(src);
	}
	hf_walk_free(&w);
}

/* As it is, cut, and with a wrong byte in the middle. */
static void test_packed(const struct hf_box *box, struct hf_walk_bytes packed)
{
	struct hf_walk_bytes cut = packed;

	test_box(box, &packed);
	cut.n = packed.n / 3 * 2;
	test_box(box, &cut);
	packed.p[packed.n / 2] ^= 0x55;
	test_box(box, &packed);
	hf_bytes_free(&packed);
}

int main(void)
{
	struct hf_walk_bytes data = hf_pack_trace(SIZE), gzip = {0}, xz = {0}, lzma = {0}, zstd = {0}, zstf = {0};

	hf_pack_gzip(&gzip, data.p, data.n, 1, 0);
	hf_pack_xz(&xz, data.p, data.n, 4, (size_t)1 << 19);
	hf_pack_lzma(&lzma, data.p, data.n);
	hf_pack_zstd(&zstd, data.p, data.n, HF_PACK_CHECKSUM, 0);
	hf_pack_zstf(&zstf, data.p, data.n, 100000);
	test_packed(&hf_box_gzip, gzip);
	test_packed(&hf_box_xz, xz);
	test_packed(&hf_box_lzma, lzma);
	test_packed(&hf_box_zstd, zstd);
	test_packed(&hf_box_zstf, zstf);
	hf_bytes_free(&data);
	return 0;
}
