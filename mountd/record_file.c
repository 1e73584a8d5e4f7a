/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/record_file.h"
#include "codecs/base/array.h"
#include "codecs/base/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

/* The container of STF, as codecs/source/zstf.c reads it. */
enum { HEAD = 20, HEAD_INSNS = 4, HEAD_TABLE = 12, COUNT = 8, ENTRY = 24, ENTRY_PC = 8, ENTRY_BYTES = 16 };

/* So large that little is gained beyond, so small that a thousand files at a time are no matter. */
enum { LEVEL = 3, WINDOW_LOG = 18, OUT = 64 * 1024 };

struct chunk {
	uint64_t at, pc, bytes;
};

struct hf_record_file {
	int fd, dirfd;
	char *name; /* NULL: the file is the caller's */
	bool zstf;
	int errnum;
	ZSTD_CCtx *zstd;
	uint64_t at;	     /* of the file: what is written */
	uint64_t whole;	     /* of the file: where the last whole chunk ends */
	bool open;	     /* a chunk that is not whole yet is the last one of the list */
	struct chunk *chunk; /* kept for the table of a .zstf */
	size_t count;
	uint8_t out[OUT];
};

static int write_all(struct hf_record_file *f, const uint8_t *bytes, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = pwrite(f->fd, bytes + done, size - done, (off_t)(f->at + done));

		if (n < 0 && errno != EINTR)
			return errno;
		done += n > 0 ? (size_t)n : 0;
	}
	f->at += size;
	return 0;
}

/* table_at: 0 while there is none. */
static int write_head(struct hf_record_file *f, uint64_t insns, uint64_t table_at)
{
	uint8_t head[HEAD] = "ZSTF";

	hf_put64(head + HEAD_INSNS, insns);
	hf_put64(head + HEAD_TABLE, table_at);
	return table_at ? (pwrite(f->fd, head + HEAD_TABLE, 8, HEAD_TABLE) == 8 ? 0 : errno) : write_all(f, head, HEAD);
}

struct hf_record_file *hf_record_file_new(int dirfd, const char *name, bool zstf, uint64_t insns)
{
	char *copy = strdup(name);
	const int fd = copy ? openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
	struct hf_record_file *f = fd < 0 ? NULL : hf_record_file_at(fd, zstf, insns);

	if (f) {
		f->dirfd = dirfd;
		f->name = copy;
		return f;
	}
	if (fd >= 0) {
		close(fd);
		unlinkat(dirfd, name, 0);
		errno = ENOMEM;
	}
	free(copy);
	return NULL;
}

struct hf_record_file *hf_record_file_at(int fd, bool zstf, uint64_t insns)
{
	struct hf_record_file *f = calloc(1, sizeof *f);

	if (!f)
		return NULL;
	*f = (struct hf_record_file){.fd = fd, .zstf = zstf, .zstd = ZSTD_createCCtx()};
	if (!f->zstd) {
		free(f);
		return NULL;
	}
	ZSTD_CCtx_setParameter(f->zstd, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(f->zstd, ZSTD_c_windowLog, WINDOW_LOG);
	if (zstf)
		f->errnum = write_head(f, insns, 0);
	f->whole = f->at;
	return f;
}

static int compress(struct hf_record_file *f, const void *bytes, size_t size, ZSTD_EndDirective how)
{
	ZSTD_inBuffer in = {bytes, size, 0};
	size_t left = 1;

	while (!f->errnum && (in.pos < in.size || (how == ZSTD_e_end && left))) {
		ZSTD_outBuffer out = {f->out, OUT, 0};

		left = ZSTD_compressStream2(f->zstd, &out, &in, how);
		f->errnum = ZSTD_isError(left) ? ENOMEM : write_all(f, f->out, out.pos);
	}
	return f->errnum;
}

static int end_chunk(struct hf_record_file *f)
{
	if (f->errnum || !f->open)
		return f->errnum;
	if (!compress(f, NULL, 0, ZSTD_e_end)) {
		f->open = false;
		f->whole = f->at;
	}
	return f->errnum;
}

int hf_record_file_chunk(struct hf_record_file *f, uint64_t pc)
{
	if (end_chunk(f))
		return f->errnum;
	if (hf_array_room(&f->chunk, f->count, sizeof *f->chunk))
		return f->errnum = ENOMEM;
	/* Readers take the first pc from the header of the stream. */
	f->chunk[f->count] = (struct chunk){.at = f->at, .pc = f->count ? pc : 0};
	f->count++;
	f->open = true;
	return 0;
}

int hf_record_file_write(struct hf_record_file *f, const void *bytes, size_t size)
{
	if (f->errnum)
		return f->errnum;
	if (!f->open)
		return f->errnum = EINVAL;
	f->chunk[f->count - 1].bytes += size;
	return compress(f, bytes, size, ZSTD_e_continue);
}

static int write_table(struct hf_record_file *f)
{
	const uint64_t table_at = f->at;
	uint8_t piece[ENTRY];
	int err;

	hf_put64(piece, f->count);
	err = write_all(f, piece, COUNT);
	for (size_t i = 0; i < f->count && !err; i++) {
		hf_put64(piece, f->chunk[i].at);
		hf_put64(piece + ENTRY_PC, f->chunk[i].pc);
		hf_put64(piece + ENTRY_BYTES, f->chunk[i].bytes);
		err = write_all(f, piece, ENTRY);
	}
	return err ? err : write_head(f, 0, table_at);
}

/* Takes what is no whole chunk away, and chunks too if the table has no room otherwise. */
static void cut(struct hf_record_file *f)
{
	f->count -= f->open;
	for (;; f->whole = f->chunk[--f->count].at) {
		int err = ftruncate(f->fd, (off_t)f->whole) < 0 ? errno : 0;

		f->at = f->whole;
		if (!err && f->count && f->zstf)
			err = write_table(f);
		if (!err || !f->count)
			break;
		f->errnum = err;
	}
	if (!f->count && f->name)
		unlinkat(f->dirfd, f->name, 0);
}

int hf_record_file_close(struct hf_record_file *f, uint64_t *ret_chunks)
{
	int err;

	end_chunk(f);
	cut(f);
	*ret_chunks = f->count;
	err = f->name && close(f->fd) < 0 && !f->errnum ? errno : f->errnum;
	ZSTD_freeCCtx(f->zstd);
	free(f->chunk);
	free(f->name);
	free(f);
	return err;
}
