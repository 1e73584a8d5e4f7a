/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/pack.h"

#include "codecs/base/bytes.h"
#include "tests/lib/check.h"

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

static uint8_t *room(struct hf_walk_bytes *to, size_t n)
{
	if (to->n + n > to->cap) {
		to->cap = to->n + n;
		to->p = realloc(to->p, to->cap);
		CHECK(to->p);
	}
	return to->p + to->n;
}

static void gzip_head(struct hf_walk_bytes *to, unsigned flags)
{
	const uint8_t fixed[10] = {0x1f, 0x8b, 8, (uint8_t)flags, 1, 2, 3, 4, 0, 3};
	const size_t start = to->n;
	uint8_t crc[2];

	hf_bytes_add(to, fixed, sizeof fixed);
	if (flags & 4)
		hf_bytes_add(to, "\5\0extra", 7);
	if (flags & 8)
		hf_bytes_add(to, "a name", 7);
	if (flags & 16)
		hf_bytes_add(to, "a comment", 10);
	if (flags & 2) {
		hf_put16(crc, (uint16_t)crc32(0, to->p + start, (uInt)(to->n - start)));
		hf_bytes_add(to, crc, sizeof crc);
	}
}

void hf_pack_gzip(struct hf_walk_bytes *to, const void *data, size_t n, int level, unsigned flags)
{
	z_stream z = {0};
	uint8_t tail[8];

	gzip_head(to, flags);
	CHECK_EQ(deflateInit2(&z, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.avail_out = (uInt)deflateBound(&z, n) + 100;
	z.next_out = room(to, z.avail_out);
	z.next_in = (Bytef *)(uintptr_t)data;
	z.avail_in = (uInt)n;
	CHECK_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
	to->n += z.total_out;
	deflateEnd(&z);
	hf_put32(tail, (uint32_t)crc32_z(0, data, n));
	hf_put32(tail + 4, (uint32_t)n);
	hf_bytes_add(to, tail, sizeof tail);
}

/* Feeds data[n] and then action to an encoder; returns when it is done. */
static void encode(lzma_stream *z, struct hf_walk_bytes *to, const uint8_t *data, size_t n, lzma_action action)
{
	lzma_ret ret;

	z->next_in = data;
	z->avail_in = n;
	do {
		z->next_out = room(to, 65536);
		z->avail_out = 65536;
		ret = lzma_code(z, action);
		to->n += 65536 - z->avail_out;
	} while (ret == LZMA_OK && !(action == LZMA_RUN && !z->avail_in));
	CHECK(ret == LZMA_OK || ret == LZMA_STREAM_END);
}

void hf_pack_xz(struct hf_walk_bytes *to, const void *data, size_t n, int check, size_t block_size)
{
	lzma_stream z = LZMA_STREAM_INIT;

	CHECK_EQ(lzma_easy_encoder(&z, 0, (lzma_check)check), LZMA_OK);
	for (size_t at = 0; block_size && at < n; at += block_size)
		encode(&z, to, (const uint8_t *)data + at, n - at < block_size ? n - at : block_size, LZMA_FULL_FLUSH);
	encode(&z, to, data, block_size ? 0 : n, LZMA_FINISH);
	lzma_end(&z);
}

void hf_pack_lzma(struct hf_walk_bytes *to, const void *data, size_t n)
{
	lzma_stream z = LZMA_STREAM_INIT;
	lzma_options_lzma options;

	CHECK(!lzma_lzma_preset(&options, 0));
	CHECK_EQ(lzma_alone_encoder(&z, &options), LZMA_OK);
	encode(&z, to, data, n, LZMA_FINISH);
	lzma_end(&z);
}

void hf_pack_zstd(struct hf_walk_bytes *to, const void *data, size_t n, unsigned flags, int window_log)
{
	ZSTD_CCtx *z = ZSTD_createCCtx();
	ZSTD_inBuffer in = {.src = data, .size = n};
	ZSTD_outBuffer out = {.size = ZSTD_compressBound(n) + 100};

	CHECK(z);
	ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, 1);
	ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, (flags & HF_PACK_CHECKSUM) != 0);
	ZSTD_CCtx_setParameter(z, ZSTD_c_windowLog, window_log);
	if (flags & HF_PACK_SIZE)
		ZSTD_CCtx_setPledgedSrcSize(z, n);
	out.dst = room(to, out.size);
	/* The size is unknown to the library if the frame is not ended with its first call. */
	CHECK(!ZSTD_isError(ZSTD_compressStream2(z, &out, &in, ZSTD_e_continue)));
	CHECK_EQ(ZSTD_compressStream2(z, &out, &in, ZSTD_e_end), 0);
	to->n += out.pos;
	ZSTD_freeCCtx(z);
}

void hf_pack_skippable(struct hf_walk_bytes *to, size_t n)
{
	struct hf_walk_bytes noise = hf_pack_noise(n);
	uint8_t head[8];

	hf_put32(head, ZSTD_MAGIC_SKIPPABLE_START + 5);
	hf_put32(head + 4, (uint32_t)n);
	hf_bytes_add(to, head, sizeof head);
	hf_bytes_add(to, noise.p, n);
	hf_bytes_free(&noise);
}

void hf_pack_zstf_chunks(struct hf_walk_bytes *to, uint64_t insns, const struct hf_pack_chunk *chunks, size_t count)
{
	uint8_t head[20] = "ZSTF", entry[24];
	struct hf_walk_bytes table = {0};
	const size_t start = to->n;

	hf_put64(head + 4, insns);
	hf_bytes_add(to, head, sizeof head);
	hf_put64(entry, count);
	hf_bytes_add(&table, entry, 8);
	for (size_t i = 0; i < count; i++) {
		hf_put64(entry, to->n - start);
		hf_put64(entry + 8, i ? chunks[i].pc : 0);
		hf_put64(entry + 16, chunks[i].n);
		hf_bytes_add(&table, entry, sizeof entry);
		hf_pack_zstd(to, chunks[i].data, chunks[i].n, 0, 0);
	}
	hf_put64(to->p + start + 12, to->n - start);
	hf_bytes_add(to, table.p, table.n);
	hf_bytes_free(&table);
}

void hf_pack_zstf(struct hf_walk_bytes *to, const void *data, size_t n, size_t chunk_size)
{
	const size_t count = (n + chunk_size - 1) / chunk_size;
	struct hf_pack_chunk *chunks = calloc(count + 1, sizeof *chunks);

	CHECK(chunks);
	for (size_t i = 0; i < count; i++) {
		const size_t at = i * chunk_size;

		chunks[i] = (struct hf_pack_chunk){.data = (const uint8_t *)data + at,
						   .n = n - at < chunk_size ? n - at : chunk_size,
						   .pc = 0x80000000 + at};
	}
	hf_pack_zstf_chunks(to, 1000, chunks, count);
	free(chunks);
}

struct hf_walk_bytes hf_pack_noise(size_t n)
{
	struct hf_walk_bytes b = {.p = malloc(n + 4), .n = n, .cap = n + 4};
	uint64_t seed = n;

	CHECK(b.p);
	for (size_t i = 0; i < n; i += 4)
		hf_put32(b.p + i, hf_rand_next(&seed));
	return b;
}

struct hf_walk_bytes hf_pack_trace(size_t n)
{
	struct hf_walk_bytes b = {.p = malloc(n + 32), .n = n, .cap = n + 32};
	uint64_t seed = n, pc = 0x80000000;
	size_t at = 0;

	CHECK(b.p);
	while (at < n) {
		uint32_t r = hf_rand_next(&seed);

		if (r % 5 == 0) {
			pc += (r >> 8) % 4096 * 2;
			b.p[at] = 31;
			hf_put64(b.p + at + 1, pc);
			at += 9;
		}
		b.p[at] = 240;
		hf_put32(b.p + at + 1, (r >> 27) * 0x9e3779b1u);
		at += 5;
	}
	return b;
}
