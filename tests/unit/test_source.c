/* SPDX-License-Identifier: Apache-2.0 */
/* Plain sources, probing, and what all containers have in common: cuts, flips and reading that fails below them. */
#include "codecs/source/errors.h"
#include "codecs/source/reader.h"
#include "tests/lib/check.h"
#include "tests/lib/pack.h"
#include "tests/lib/sliver.h"

#include <fcntl.h>
#include <unistd.h>

static void test_memory(void)
{
	struct hf_src *src;
	uint8_t buf[10];
	size_t got;

	CHECK_EQ(hf_src_memory_new("abcdef", 6, &src), 0);
	CHECK_EQ(src->size, 6);
	CHECK_EQ(hf_src_read_at(src, 4, buf, 10, &got, NULL), 0);
	CHECK_EQ(got, 2);
	CHECK(!memcmp(buf, "ef", 2));
	CHECK_EQ(hf_src_read_at(src, 6, buf, 10, &got, NULL), 0);
	CHECK_EQ(got, 0);
	CHECK_EQ(hf_src_read_at(src, UINT64_MAX, buf, 10, &got, NULL), 0);
	CHECK_EQ(got, 0);
	hf_src_free(src);
	hf_src_free(NULL);
}

static void test_file(void)
{
	struct hf_diag diag;
	struct hf_src *src;
	uint8_t buf[100];
	size_t got;
	FILE *f = tmpfile();
	int pipes[2];

	CHECK(f);
	for (int i = 0; i < 100; i++)
		fputc(i, f);
	fflush(f);
	CHECK_EQ(hf_src_file_new(dup(fileno(f)), &src, &diag), 0);
	CHECK_EQ(src->size, 100);
	CHECK_EQ(hf_src_read_at(src, 90, buf, 100, &got, &diag), 0);
	CHECK_EQ(got, 10);
	CHECK_EQ(buf[9], 99);
	CHECK_EQ(hf_src_read_at(src, 100, buf, 100, &got, &diag), 0);
	CHECK_EQ(got, 0);

	/* What was there is given, then the change is reported; what was added is not seen. */
	CHECK_EQ(ftruncate(fileno(f), 50), 0);
	CHECK_EQ(hf_src_read_at(src, 40, buf, 100, &got, &diag), 0);
	CHECK_EQ(got, 10);
	CHECK_EQ(hf_src_read_at(src, 50, buf, 10, &got, &diag), HF_ERR_CHANGED);
	CHECK_EQ(got, 0);
	CHECK_EQ(diag.offset, 50);
	CHECK_EQ(ftruncate(fileno(f), 200), 0);
	CHECK_EQ(hf_src_read_at(src, 95, buf, 100, &got, &diag), 0);
	CHECK_EQ(got, 5);
	hf_src_free(src);
	fclose(f);

	CHECK_EQ(hf_src_file_new(open("/", O_RDONLY), &src, &diag), HF_ERR_UNSUPPORTED);
	CHECK(!src);
	CHECK_EQ(pipe(pipes), 0);
	CHECK_EQ(hf_src_file_new(pipes[0], &src, NULL), HF_ERR_UNSUPPORTED);
	close(pipes[1]);
	CHECK_EQ(hf_src_file_new(-1, &src, &diag), HF_ERR_IO);
	CHECK_EQ(diag.code, HF_ERR_IO);
}

/* Who says where reading will end is not read ahead of, and is given what is needed all the same. */
static void test_reader_until(void)
{
	struct hf_walk_bytes data = hf_pack_noise(10000);
	struct hf_src *src;
	struct hf_reader r;

	CHECK_EQ(hf_src_memory_new(data.p, data.n, &src), 0);
	CHECK_EQ(hf_reader_init(&r, src, 1000), 0);
	src->until = 700;
	CHECK_EQ(hf_reader_need(&r, 100, 50, 4000), 0);
	CHECK_EQ(r.len, 600);
	CHECK_EQ(hf_reader_need(&r, 650, 100, 4000), 0);
	CHECK_EQ(r.len, 100);
	CHECK_EQ(hf_reader_need(&r, 690, 1500, 4000), 0);
	CHECK(r.len >= 1500 && !memcmp(r.buf, data.p + 690, r.len));
	CHECK_EQ(hf_reader_need(&r, 5000, 10, 4000), 0);
	CHECK_EQ(r.len, r.cap);
	src->until = 20000;
	CHECK_EQ(hf_reader_need(&r, 9990, 11, 4000), HF_NOTE_END);
	CHECK_EQ(r.len, 10);
	/* Seeking fills the window. */
	src->until = 10;
	CHECK_EQ(hf_reader_seek(&r, 0), 0);
	CHECK_EQ(r.len, r.cap);
	hf_reader_fini(&r);
	hf_src_free(src);
	hf_bytes_free(&data);
}

static void test_reader(void)
{
	struct hf_walk_bytes data = hf_pack_noise(10000);
	struct hf_src *src, *bad;
	struct hf_reader r;

	CHECK_EQ(hf_src_memory_new(data.p, data.n, &src), 0);
	CHECK_EQ(hf_sliver_new_failing(src, 9000, HF_ERR_BOX_CUT, &bad), 0);
	CHECK_EQ(hf_reader_init(&r, bad, 1000), 0);
	for (uint64_t at = 0; at < 9000; at += 300) {
		CHECK_EQ(hf_reader_seek(&r, at), 0);
		CHECK_EQ(r.start, at);
		CHECK_EQ(r.len, at + 1000 < 9000 ? 1000 : 9000 - at);
		CHECK(!memcmp(r.buf, data.p + at, r.len));
		CHECK_EQ(r.ended, at + 1000 > 9000);
	}
	CHECK_EQ(r.err, HF_ERR_BOX_CUT);
	CHECK_EQ(hf_reader_seek(&r, 10), 0);
	CHECK(!r.ended && !r.err);
	CHECK_EQ(hf_reader_grow(&r, 3000), 0);
	CHECK_EQ(r.len, 2000);
	CHECK_EQ(hf_reader_grow(&r, 2000), HF_ERR_LIMIT);
	hf_reader_fini(&r);
	hf_src_free(bad);
	hf_src_free(src);
	hf_bytes_free(&data);
}

/* A small container of each kind that has everything in it. */
static struct hf_walk_bytes small_box(const char *name, const struct hf_walk_bytes *data)
{
	struct hf_walk_bytes b = {0};
	const size_t half = data->n / 2;

	if (!strcmp(name, "gzip")) {
		hf_pack_gzip(&b, data->p, half, 6, 0x1e);
		hf_pack_gzip(&b, NULL, 0, 6, 0);
		hf_pack_gzip(&b, data->p + half, data->n - half, 0, 0);
	} else if (!strcmp(name, "xz")) {
		hf_pack_xz(&b, data->p, half, 4, 1000);
		hf_bytes_add(&b, "\0\0\0\0", 4);
		hf_pack_xz(&b, data->p + half, data->n - half, 1, 0);
	} else if (!strcmp(name, "lzma")) {
		hf_pack_lzma(&b, data->p, data->n);
	} else if (!strcmp(name, "zstd")) {
		hf_pack_zstd(&b, data->p, half, HF_PACK_CHECKSUM, 0);
		hf_pack_skippable(&b, 20);
		hf_pack_zstd(&b, NULL, 0, 0, 0);
		hf_pack_zstd(&b, data->p + half, data->n - half, HF_PACK_SIZE, 0);
	} else {
		hf_pack_zstf(&b, data->p, data->n, 1000);
	}
	return b;
}

/* Those of one format with a header of its own, which stand last, have a test of their own. */
static bool is_general(const struct hf_box *box)
{
	return box && strncmp(box->name, "astf-", 5) != 0 && strncmp(box->name, "hex", 3) != 0;
}

static void test_probe(const struct hf_walk_bytes *data)
{
	static const uint8_t zeros[64];

	CHECK(!hf_box_probe(zeros, sizeof zeros, 1000));
	CHECK(!hf_box_probe((const uint8_t *)"\1STF\2\1\0\0\0", 9, 1000));
	CHECK(!hf_box_probe((const uint8_t *)"\177ELF\2\1\1\0\0\0\0\0\0\0\0\0", 16, 1000));
	CHECK(!hf_box_probe(data->p, data->n, data->n));
	CHECK(!hf_box_by_name("zip"));
	for (size_t i = 0; is_general(hf_boxes[i]); i++) {
		struct hf_walk_bytes box = small_box(hf_boxes[i]->name, data);

		CHECK(hf_box_by_name(hf_boxes[i]->name) == hf_boxes[i]);
		CHECK(hf_box_probe(box.p, box.n < 64 ? box.n : 64, box.n) == hf_boxes[i]);
		for (size_t n = 0; n < 64 && n < box.n; n++) {
			const struct hf_box *found = hf_box_probe(box.p, n, box.n);

			CHECK(!found || found == hf_boxes[i]);
		}
		CHECK(hf_boxes[i]->suffixes[0]);
		CHECK(hf_boxes[i]->enterable == (hf_boxes[i]->read_block != NULL));
		hf_bytes_free(&box);
	}
}

static void test_cuts(const struct hf_box *box, const struct hf_walk_bytes *packed, const struct hf_walk *all)
{
	unsigned unseen = 0;

	for (size_t n = 0; n < packed->n; n++) {
		uint8_t *cut = malloc(n ? n : 1); /* so that a read past the end is seen */
		struct hf_walk w;

		CHECK(cut);
		memcpy(cut, packed->p, n);
		hf_walk_memory(&w, box, cut, n);
		CHECK(w.out.n <= all->out.n);
		CHECK(!w.out.n || !memcmp(w.out.p, all->out.p, w.out.n));
		unseen += w.err == HF_NOTE_END && !w.note_count && w.out.n < all->out.n;
		hf_walk_free(&w);
		free(cut);
	}
	/* Between two members, streams or frames (and in the padding) such a file is whole. */
	CHECK(unseen <= 4);
}

/* One bit wrong anywhere: no crash; where everything has a checksum, no wrong byte either. */
static void test_flips(const struct hf_box *box, const struct hf_walk_bytes *packed, const struct hf_walk *all)
{
	uint8_t *flipped = malloc(packed->n);

	CHECK(flipped);
	for (size_t bit = 0; bit < packed->n * 8; bit += 3) {
		struct hf_walk w;

		memcpy(flipped, packed->p, packed->n);
		flipped[bit / 8] ^= (uint8_t)(1 << bit % 8);
		hf_walk_memory(&w, box, flipped, packed->n);
		if (box == &hf_box_xz) {
			CHECK(w.err < 0);
			/* A wrong length may look as if the file had been cut inside a block: nothing is known then. */
			if (w.err != HF_ERR_BOX_CUT && w.out.n)
				CHECK(w.out.n <= all->out.n && !memcmp(w.out.p, all->out.p, w.out.n));
		}
		hf_walk_free(&w);
	}
	free(flipped);
}

/* A disk that fails at some place: its error, and the bytes before. */
static void test_bad_disk(const struct hf_box *box, const struct hf_walk_bytes *packed, const struct hf_walk *all)
{
	struct hf_src *src, *bad;

	CHECK_EQ(hf_src_memory_new(packed->p, packed->n, &src), 0);
	for (size_t at = 0; at < packed->n; at += 17) {
		struct hf_scan *scan;
		struct hf_walk w;
		int err;

		CHECK_EQ(hf_sliver_new_failing(src, at, HF_ERR_IO, &bad), 0);
		err = box->scan_new(box, bad, NULL, NULL, &scan, NULL);
		if (err) {
			CHECK_EQ(err, HF_ERR_IO);
			CHECK(!scan);
		} else {
			box->scan_free(scan);
			hf_walk_run(&w, box, bad, NULL, NULL);
			CHECK(w.err == HF_ERR_IO || w.out.n == all->out.n);
			CHECK(w.err != HF_ERR_IO || w.diag.offset >= at);
			CHECK(!w.out.n || !memcmp(w.out.p, all->out.p, w.out.n));
			hf_walk_free(&w);
		}
		hf_src_free(bad);
	}
	hf_src_free(src);
}

/* Points as a stored index might give them: refused or followed, but never a crash. */
static void test_wild_points(const struct hf_box *box, const struct hf_walk_bytes *packed)
{
	static uint8_t window[HF_WINDOW_MAX], buf[5000];
	struct hf_src *src;
	uint64_t seed = 3;

	CHECK_EQ(hf_src_memory_new(packed->p, packed->n, &src), 0);
	for (unsigned i = 0; i < 3000; i++) {
		struct hf_point p = {
			.in_offset = hf_rand_next(&seed) % (packed->n + 10),
			.in_size = hf_rand_next(&seed) % 3000,
			.out_offset = hf_rand_next(&seed),
			.out_size = hf_rand_next(&seed) % 5000,
			.bits = hf_rand_next(&seed) >> hf_rand_next(&seed) % 32,
			.window_size = hf_rand_next(&seed) % (HF_WINDOW_MAX + 2000),
		};
		uint64_t skip = hf_rand_next(&seed) % 5000;
		size_t n = hf_rand_next(&seed) % sizeof buf;
		struct hf_scan *scan;

		if (i % 50 == 0)
			p.in_offset = UINT64_MAX - i;
		if (box->read_block)
			box->read_block(box, src, &p, i & 1 ? window : NULL, skip, buf, n, NULL);
		if (box->scan_new(box, src, &p, i & 1 ? window : NULL, &scan, NULL) == 0) {
			const uint8_t *bytes, *win;

			while (box->scan_next(scan, &p, &bytes, &win, NULL) == 0)
				;
			box->scan_free(scan);
		}
	}
	hf_src_free(src);
}

static void test_box(const struct hf_box *box, const struct hf_walk_bytes *data)
{
	struct hf_walk_bytes packed = small_box(box->name, data);
	struct hf_walk all;

	hf_walk_memory(&all, box, packed.p, packed.n);
	CHECK_EQ(all.err, HF_NOTE_END);
	CHECK_EQ(all.note_count, 0);
	CHECK_EQ(all.out.n, data->n);
	CHECK(!memcmp(all.out.p, data->p, data->n));
	hf_walk_check_all(&all, packed.p, packed.n);
	test_cuts(box, &packed, &all);
	test_flips(box, &packed, &all);
	test_bad_disk(box, &packed, &all);
	test_wild_points(box, &packed);
	hf_walk_free(&all);
	hf_bytes_free(&packed);
}

static int refuse_point(void *ctx, const struct hf_point *point, const uint8_t *window)
{
	(void)window;
	return point->out_offset >= *(const uint64_t *)ctx ? HF_ERR_CANCELLED : 0;
}

static void test_growing_cancelled(const struct hf_walk_bytes *data)
{
	struct hf_walk_bytes packed = small_box("zstf", data);
	uint64_t from = 2000;
	struct hf_src *src, *growing;
	struct hf_scan *scan;
	struct hf_diag diag;
	uint8_t buf[3000];
	size_t got;

	CHECK_EQ(hf_src_memory_new(packed.p, packed.n, &src), 0);
	CHECK_EQ(hf_box_zstf.scan_new(&hf_box_zstf, src, NULL, NULL, &scan, NULL), 0);
	CHECK_EQ(hf_growing_new(&hf_box_zstf, scan, refuse_point, &from, &growing), 0);
	CHECK_EQ(hf_src_read_at(growing, 0, buf, sizeof buf, &got, &diag), 0);
	CHECK_EQ(got, 2000);
	CHECK(!memcmp(buf, data->p, 2000));
	CHECK_EQ(hf_src_read_at(growing, 2000, buf, sizeof buf, &got, &diag), HF_ERR_CANCELLED);
	CHECK_EQ(diag.code, HF_ERR_CANCELLED);
	CHECK_EQ(got, 0);
	hf_src_free(growing);
	hf_src_free(src);
	hf_bytes_free(&packed);
}

int main(void)
{
	struct hf_walk_bytes data = hf_pack_trace(4000);

	test_memory();
	test_file();
	test_reader();
	test_reader_until();
	test_probe(&data);
	for (size_t i = 0; is_general(hf_boxes[i]); i++)
		test_box(hf_boxes[i], &data);
	test_growing_cancelled(&data);
	hf_bytes_free(&data);
	return 0;
}
