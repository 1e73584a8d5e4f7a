/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/packed_file.h"
#include "mountd/record_file.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { OUT = 256 << 10 };
/* As many instructions a chunk as the STF library writes. */
enum { CHUNK_INSNS = 100000 };

struct hf_packed_file {
	int fd, errnum;
	const struct packer *packer;
	ZSTD_CCtx *zstd;
	lzma_stream xz;
	z_stream gz;
	bool has_xz, has_gz;
	struct hf_record_file *chunks;
	uint8_t out[OUT];
};

/* Each takes bytes on; last: there are no more. Returns 0 or an errno. */
struct packer {
	const char *name, *suffix;
	int (*begin)(struct hf_packed_file *f, unsigned threads);
	int (*put)(struct hf_packed_file *f, const uint8_t *bytes, size_t size, bool last);
};

static int write_all(struct hf_packed_file *f, const uint8_t *bytes, size_t size)
{
	while (size) {
		ssize_t n = write(f->fd, bytes, size);

		if (n < 0 && errno != EINTR)
			return errno;
		bytes += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* ---- as they are, and compressed ---- */

static int begin_plain(struct hf_packed_file *f, unsigned threads)
{
	(void)f, (void)threads;
	return 0;
}

static int put_plain(struct hf_packed_file *f, const uint8_t *bytes, size_t size, bool last)
{
	(void)last;
	return write_all(f, bytes, size);
}

static int begin_zstd(struct hf_packed_file *f, unsigned threads)
{
	f->zstd = ZSTD_createCCtx();
	if (!f->zstd)
		return ENOMEM;
	ZSTD_CCtx_setParameter(f->zstd, ZSTD_c_checksumFlag, 1);
	/* A library without threads refuses, and does it alone. */
	ZSTD_CCtx_setParameter(f->zstd, ZSTD_c_nbWorkers, (int)threads);
	return 0;
}

static int put_zstd(struct hf_packed_file *f, const uint8_t *bytes, size_t size, bool last)
{
	ZSTD_inBuffer in = {bytes, size, 0};
	size_t left = 1;
	int err = 0;

	while (!err && (in.pos < in.size || (last && left))) {
		ZSTD_outBuffer out = {f->out, OUT, 0};

		left = ZSTD_compressStream2(f->zstd, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
		err = ZSTD_isError(left) ? ENOMEM : write_all(f, f->out, out.pos);
	}
	return err;
}

static int begin_xz(struct hf_packed_file *f, unsigned threads)
{
	const lzma_mt mt = {.threads = threads, .preset = LZMA_PRESET_DEFAULT, .check = LZMA_CHECK_CRC64};

	f->xz = (lzma_stream)LZMA_STREAM_INIT;
	f->has_xz = true;
	return lzma_stream_encoder_mt(&f->xz, &mt) == LZMA_OK ? 0 : ENOMEM;
}

static int put_xz(struct hf_packed_file *f, const uint8_t *bytes, size_t size, bool last)
{
	lzma_ret ret = LZMA_OK;
	int err = 0;

	f->xz.next_in = bytes;
	f->xz.avail_in = size;
	while (!err && ret == LZMA_OK && (f->xz.avail_in || last)) {
		f->xz.next_out = f->out;
		f->xz.avail_out = OUT;
		ret = lzma_code(&f->xz, last ? LZMA_FINISH : LZMA_RUN);
		err = ret == LZMA_OK || ret == LZMA_STREAM_END ? write_all(f, f->out, OUT - f->xz.avail_out) : ENOMEM;
	}
	return err;
}

/* 31: the largest window, and a header of gzip. */
static int begin_gz(struct hf_packed_file *f, unsigned threads)
{
	(void)threads;
	f->has_gz = deflateInit2(&f->gz, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) == Z_OK;
	return f->has_gz ? 0 : ENOMEM;
}

/* size fits: pieces of views do. */
static int put_gz(struct hf_packed_file *f, const uint8_t *bytes, size_t size, bool last)
{
	int ret = Z_OK, err = 0;

	f->gz.next_in = (Bytef *)(uintptr_t)bytes;
	f->gz.avail_in = (uInt)size;
	while (!err && ret == Z_OK && (f->gz.avail_in || last)) {
		f->gz.next_out = f->out;
		f->gz.avail_out = OUT;
		ret = deflate(&f->gz, last ? Z_FINISH : Z_NO_FLUSH);
		err = ret == Z_OK || ret == Z_STREAM_END ? write_all(f, f->out, OUT - f->gz.avail_out) : ENOMEM;
	}
	return err;
}

/* ---- chunks of STF ---- */

static int begin_zstf(struct hf_packed_file *f, unsigned threads)
{
	(void)threads;
	f->chunks = hf_record_file_at(f->fd, CHUNK_INSNS);
	return f->chunks ? 0 : ENOMEM;
}

static int put_zstf(struct hf_packed_file *f, const uint8_t *bytes, size_t size, bool last)
{
	(void)last;
	return hf_record_file_write(f->chunks, bytes, size);
}

/* ---- all of them ---- */

static const struct packer packers[HF_PACKINGS] = {
	[HF_PACKING_NONE] = {"", "", begin_plain, put_plain},
	[HF_PACKING_ZSTD] = {"zstd", ".zst", begin_zstd, put_zstd},
	[HF_PACKING_XZ] = {"xz", ".xz", begin_xz, put_xz},
	[HF_PACKING_GZ] = {"gz", ".gz", begin_gz, put_gz},
	[HF_PACKING_ZSTF] = {"", "", begin_zstf, put_zstf},
};

const char *hf_packing_suffix(enum hf_packing packing)
{
	return packers[packing].suffix;
}

bool hf_packing_find(const char *name, enum hf_packing *ret_packing)
{
	for (size_t i = 0; i < HF_PACKINGS; i++)
		if (*packers[i].name && strcmp(packers[i].name, name) == 0) {
			*ret_packing = (enum hf_packing)i;
			return true;
		}
	return false;
}

struct hf_packed_file *hf_packed_file_new(int fd, enum hf_packing packing, unsigned threads)
{
	struct hf_packed_file *f = calloc(1, sizeof *f);

	if (!f)
		return NULL;
	f->fd = fd;
	f->packer = &packers[packing];
	f->errnum = f->packer->begin(f, threads);
	return f;
}

int hf_packed_file_write(struct hf_packed_file *f, const uint8_t *bytes, size_t size)
{
	if (!f->errnum)
		f->errnum = f->packer->put(f, bytes, size, false);
	return f->errnum;
}

int hf_packed_file_close(struct hf_packed_file *f)
{
	uint64_t insns;
	int err;

	if (!f)
		return ENOMEM;
	if (!f->errnum)
		f->errnum = f->packer->put(f, NULL, 0, true);
	err = f->chunks ? hf_record_file_close(f->chunks, &insns) : 0;
	err = f->errnum ? f->errnum : err;
	ZSTD_freeCCtx(f->zstd);
	if (f->has_xz)
		lzma_end(&f->xz);
	if (f->has_gz)
		deflateEnd(&f->gz);
	free(f);
	return err;
}
