/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/packed_file.h"
#include "codecs/stf/header.h"
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

/* The stream on its way into chunks: a record may lie in two pieces of it. */
struct cutting {
	struct hf_record_file *file;
	struct hf_stf_layout layout;
	uint8_t *bytes; /* that are not written yet; owned */
	size_t size, room;
	uint64_t pc, target; /* of the instruction to come; where the next one goes, if it is known */
	bool has_target, full;
	uint64_t insns; /* of the chunk at hand */
};

struct hf_packed_file {
	int fd, errnum;
	const struct packer *packer;
	ZSTD_CCtx *zstd;
	lzma_stream xz;
	z_stream gz;
	bool has_xz, has_gz;
	struct cutting cut;
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
	f->cut.file = hf_record_file_at(f->fd, true, CHUNK_INSNS);
	f->cut.full = true;
	return f->cut.file ? 0 : ENOMEM;
}

static void note_layout(struct hf_stf_layout *layout, const struct hf_stf_record *rec)
{
	if (rec->descriptor == HF_STF_TRACE_INFO_FEATURE)
		layout->event64 = rec->value & HF_STF_FEATURE_EVENT64;
	else if (rec->descriptor == HF_STF_VLEN_CONFIG)
		layout->vector_words = rec->code / 64 + (rec->code % 64 != 0);
	else if (rec->descriptor == HF_STF_PROTOCOL_ID)
		layout->protocol = (uint8_t)rec->code;
}

/* Whether the record is an instruction. */
static bool note_record(struct cutting *c, const uint8_t *p)
{
	struct hf_stf_record rec;

	hf_stf_record_parse(&c->layout, p, &rec);
	switch (*p) {
	case HF_STF_FORCE_PC:
		c->pc = rec.address;
		return false;
	case HF_STF_INST_PC_TARGET:
	case HF_STF_EVENT_PC_TARGET:
		c->target = rec.address;
		c->has_target = true;
		return false;
	case HF_STF_INST_OPCODE16:
	case HF_STF_INST_OPCODE32:
		c->pc = c->has_target ? c->target : c->pc + (*p == HF_STF_INST_OPCODE16 ? 2 : 4);
		c->has_target = false;
		return true;
	default:
		note_layout(&c->layout, &rec);
		return false;
	}
}

/* The whole records of p[n]; *ret_done: their bytes. */
static int cut_records(struct cutting *c, const uint8_t *p, size_t n, size_t *ret_done)
{
	size_t at = 0, begun = 0;
	int err = 0;

	while (!err && at < n) {
		uint64_t size;
		int more = hf_stf_record_size(&c->layout, p + at, n - at, &size);

		if (more < 0)
			return EILSEQ;
		if (more || size > n - at)
			break;
		if (c->full) {
			err = at > begun ? hf_record_file_write(c->file, p + begun, at - begun) : 0;
			begun = at;
			if (!err)
				err = hf_record_file_chunk(c->file, c->pc);
			c->full = false;
			c->insns = 0;
		}
		c->full = note_record(c, p + at) && ++c->insns == CHUNK_INSNS;
		at += (size_t)size;
	}
	*ret_done = at;
	return err || at == begun ? err : hf_record_file_write(c->file, p + begun, at - begun);
}

static int put_zstf(struct hf_packed_file *f, const uint8_t *bytes, size_t size, bool last)
{
	struct cutting *c = &f->cut;
	size_t done;
	int err;

	if (c->size + size > c->room) {
		uint8_t *more = realloc(c->bytes, c->size + size);

		if (!more)
			return ENOMEM;
		c->bytes = more;
		c->room = c->size + size;
	}
	if (size)
		memcpy(c->bytes + c->size, bytes, size);
	c->size += size;
	if (!c->size)
		return 0;
	err = cut_records(c, c->bytes, c->size, &done);
	if (err)
		return err;
	memmove(c->bytes, c->bytes + done, c->size - done);
	c->size -= done;
	return last && c->size ? EILSEQ : 0;
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
	uint64_t chunks;
	int err;

	if (!f)
		return ENOMEM;
	if (!f->errnum)
		f->errnum = f->packer->put(f, NULL, 0, true);
	err = f->cut.file ? hf_record_file_close(f->cut.file, &chunks) : 0;
	err = f->errnum ? f->errnum : err;
	free(f->cut.bytes);
	ZSTD_freeCCtx(f->zstd);
	if (f->has_xz)
		lzma_end(&f->xz);
	if (f->has_gz)
		deflateEnd(&f->gz);
	free(f);
	return err;
}
