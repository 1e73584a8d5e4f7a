/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ASTF files as containers: a header in clear and the records compressed behind it, in every way that liblzma and zlib
 * can write; what is cut, damaged or of another kind than the header says.
 */
#include "codecs/source/errors.h"
#include "tests/lib/check.h"
#include "tests/lib/pack.h"

#include <zlib.h>

#define PREFIX 32

/* As ASTF 4.2 has it; format is the low byte of format_cfg. */
static void put_header(struct hf_walk_bytes *to, uint8_t format)
{
	uint8_t head[PREFIX] = "ASTF\0\13";

	head[8] = format;
	head[16] = 0x40;
	hf_bytes_add(to, head, sizeof head);
}

static void put_zlib(struct hf_walk_bytes *to, const void *data, size_t n)
{
	uLongf size = compressBound(n);
	uint8_t *out = malloc(size);

	CHECK(out && compress2(out, &size, data, n, 6) == Z_OK);
	hf_bytes_add(to, out, size);
	free(out);
}

/* What comes out: the header of a RAW file, and the records. */
static void check(const struct hf_box *box, const struct hf_walk_bytes *file, const struct hf_walk_bytes *data, size_t n, int err)
{
	struct hf_walk_bytes want = {0};
	struct hf_walk w;

	CHECK(hf_box_probe(file->p, file->n < 64 ? file->n : 64, file->n) == box);
	put_header(&want, 0);
	hf_bytes_add(&want, data->p, n);
	hf_walk_memory(&w, box, file->p, file->n);
	CHECK_EQ(w.err, err);
	CHECK_EQ(w.out.n, want.n);
	CHECK(!memcmp(w.out.p, want.p, want.n));
	hf_walk_check_all(&w, file->p, file->n);
	hf_walk_free(&w);
	hf_bytes_free(&want);
}

static void test_storage(const struct hf_walk_bytes *data)
{
	struct hf_walk_bytes b = {0};

	put_header(&b, 1);
	hf_pack_xz(&b, data->p, data->n, 4, 0);
	check(&hf_box_astf_xz, &b, data, data->n, HF_NOTE_END);
	b.n = PREFIX;
	hf_pack_xz(&b, data->p, data->n, 1, 100000);
	check(&hf_box_astf_xz, &b, data, data->n, HF_NOTE_END);
	b.n = PREFIX;
	hf_pack_lzma(&b, data->p, data->n);
	check(&hf_box_astf_lzma, &b, data, data->n, HF_NOTE_END);
	b.n = PREFIX;
	hf_pack_gzip(&b, data->p, data->n, 6, 0);
	check(&hf_box_astf_zlib, &b, data, data->n, HF_NOTE_END);
	b.n = 0;
	put_header(&b, 3);
	put_zlib(&b, data->p, data->n);
	check(&hf_box_astf_zlib, &b, data, data->n, HF_NOTE_END);
	hf_bytes_free(&b);
}

/* Two .xz streams with padding between and behind them; the flag says zlib. */
static void test_streams(const struct hf_walk_bytes *data)
{
	const uint8_t padding[8] = {0};
	struct hf_walk_bytes b = {0};

	put_header(&b, 3);
	hf_pack_xz(&b, data->p, data->n / 2, 4, 0);
	hf_bytes_add(&b, padding, 8);
	hf_pack_xz(&b, data->p + data->n / 2, data->n - data->n / 2, 10, 50000);
	hf_bytes_add(&b, padding, 4);
	check(&hf_box_astf_xz, &b, data, data->n, HF_NOTE_END);
	hf_bytes_free(&b);
}

static void test_defects(const struct hf_walk_bytes *data)
{
	struct hf_walk_bytes b = {0};
	struct hf_walk w;

	put_header(&b, 3);
	put_zlib(&b, data->p, data->n);
	b.p[b.n - 1] ^= 1; /* the Adler-32 */
	check(&hf_box_astf_zlib, &b, data, data->n, HF_ERR_BOX_CHECKSUM);
	b.p[b.n - 1] ^= 1;
	b.n -= 2;
	check(&hf_box_astf_zlib, &b, data, data->n, HF_ERR_BOX_CUT);
	b.n = PREFIX; /* compressed nothing */
	check(&hf_box_astf_zlib, &b, data, 0, HF_ERR_BOX_CUT);
	hf_bytes_add(&b, "no zlib", 8);
	check(&hf_box_astf_zlib, &b, data, 0, HF_ERR_BOX_DAMAGED);
	b.n = PREFIX;
	b.p[8] = 1;
	check(&hf_box_astf_lzma, &b, data, 0, HF_ERR_BOX_CUT);
	hf_bytes_add(&b, "\377 no container at all", 22);
	check(&hf_box_astf_lzma, &b, data, 0, HF_ERR_BOX_DAMAGED);
	/* zlib behind the last byte of one stream is nobody's */
	b.n = 0;
	put_header(&b, 3);
	put_zlib(&b, data->p, 100);
	put_zlib(&b, data->p, 100);
	hf_walk_memory(&w, &hf_box_astf_zlib, b.p, b.n);
	CHECK_EQ(w.err, HF_NOTE_END);
	CHECK_EQ(w.out.n, PREFIX + 100);
	CHECK_EQ(w.note_count, 1);
	CHECK_EQ(w.notes[0].code, HF_ERR_BOX_GARBAGE);
	hf_walk_free(&w);
	hf_bytes_free(&b);
}

int main(void)
{
	struct hf_walk_bytes large = hf_pack_trace(3u << 20), small = hf_pack_trace(5000), plain = {0};

	test_storage(&large);
	test_storage(&small);
	test_streams(&small);
	test_defects(&small);
	put_header(&plain, 0);
	CHECK(!hf_box_probe(plain.p, plain.n, plain.n));
	hf_bytes_free(&plain);
	hf_bytes_free(&large);
	hf_bytes_free(&small);
	return 0;
}
