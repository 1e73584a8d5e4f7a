/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/record_file.h"
#include "codecs/base/array.h"
#include "codecs/stf/header.h"

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
	int errnum;
	uint64_t chunk_insns;
	ZSTD_CCtx *zstd;
	uint64_t at;	/* of the file: what is written */
	uint64_t whole; /* of the file: where the last whole chunk ends */
	bool open;	/* a chunk that is not whole yet is the last one of the list */
	uint64_t insns; /* of the last one */
	struct chunk *chunk;
	size_t count;
	struct hf_stf_layout layout;
	uint8_t *bytes; /* of the stream that are not written yet; owned */
	size_t size, room;
	uint64_t pc, target; /* of the instruction to come; where the one after it lies, if that is known */
	bool has_target;
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
static int write_head(struct hf_record_file *f, uint64_t table_at)
{
	uint8_t head[HEAD] = "ZSTF";

	hf_put64(head + HEAD_INSNS, f->chunk_insns);
	hf_put64(head + HEAD_TABLE, table_at);
	if (!table_at)
		return write_all(f, head, HEAD);
	return pwrite(f->fd, head + HEAD_TABLE, 8, HEAD_TABLE) == 8 ? 0 : errno;
}

struct hf_record_file *hf_record_file_new(int dirfd, const char *name, uint64_t insns)
{
	char *copy = strdup(name);
	const int fd = copy ? openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
	struct hf_record_file *f = fd < 0 ? NULL : hf_record_file_at(fd, insns);

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

struct hf_record_file *hf_record_file_at(int fd, uint64_t insns)
{
	struct hf_record_file *f = calloc(1, sizeof *f);

	if (!f)
		return NULL;
	*f = (struct hf_record_file){.fd = fd, .chunk_insns = insns, .zstd = ZSTD_createCCtx()};
	if (!f->zstd) {
		free(f);
		return NULL;
	}
	ZSTD_CCtx_setParameter(f->zstd, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(f->zstd, ZSTD_c_windowLog, WINDOW_LOG);
	f->errnum = write_head(f, 0);
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

static void write_chunk(struct hf_record_file *f, const uint8_t *bytes, size_t size)
{
	f->chunk[f->count - 1].bytes += size;
	compress(f, bytes, size, ZSTD_e_continue);
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

static int begin_chunk(struct hf_record_file *f)
{
	if (hf_array_room(&f->chunk, f->count, sizeof *f->chunk))
		return f->errnum = ENOMEM;
	/* Readers take the first pc from the header of the stream. */
	f->chunk[f->count] = (struct chunk){.at = f->at, .pc = f->count ? f->pc : 0};
	f->count++;
	f->insns = 0;
	f->open = true;
	return 0;
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
static bool note_record(struct hf_record_file *f, const uint8_t *p)
{
	struct hf_stf_record rec;

	hf_stf_record_parse(&f->layout, p, &rec);
	switch (*p) {
	case HF_STF_FORCE_PC:
		f->pc = rec.address;
		return false;
	case HF_STF_INST_PC_TARGET:
	case HF_STF_EVENT_PC_TARGET:
		f->target = rec.address;
		f->has_target = true;
		return false;
	case HF_STF_INST_OPCODE16:
	case HF_STF_INST_OPCODE32:
		f->pc = f->has_target ? f->target : f->pc + (*p == HF_STF_INST_OPCODE16 ? 2 : 4);
		f->has_target = false;
		return true;
	default:
		note_layout(&f->layout, &rec);
		return false;
	}
}

/* Writes the whole records of p[n], in chunks; *ret_done: their bytes. */
static int write_records(struct hf_record_file *f, const uint8_t *p, size_t n, size_t *ret_done)
{
	size_t at = 0, begun = 0;
	int err = 0;

	while (!err && !f->errnum && at < n) {
		uint64_t size;
		bool insn;

		err = hf_stf_record_size(&f->layout, p + at, n - at, &size);
		if (err || size > n - at || (!f->open && begin_chunk(f)))
			break;
		insn = note_record(f, p + at);
		at += (size_t)size;
		if (!insn || ++f->insns < f->chunk_insns)
			continue;
		write_chunk(f, p + begun, at - begun);
		begun = at;
		end_chunk(f);
	}
	*ret_done = at;
	if (at > begun && !f->errnum)
		write_chunk(f, p + begun, at - begun);
	return f->errnum ? f->errnum : err < 0 ? EILSEQ : 0;
}

int hf_record_file_write(struct hf_record_file *f, const void *bytes, size_t size)
{
	size_t done;
	int err;

	if (f->errnum || !size)
		return f->errnum;
	if (f->size + size > f->room) {
		uint8_t *more = realloc(f->bytes, f->size + size);

		if (!more)
			return f->errnum = ENOMEM;
		f->bytes = more;
		f->room = f->size + size;
	}
	memcpy(f->bytes + f->size, bytes, size);
	f->size += size;
	err = write_records(f, f->bytes, f->size, &done);
	memmove(f->bytes, f->bytes + done, f->size - done);
	f->size -= done;
	return err;
}

uint64_t hf_record_file_pc(const struct hf_record_file *f)
{
	return f->has_target ? f->target : f->pc;
}

size_t hf_record_file_left(const struct hf_record_file *f)
{
	return f->size;
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
	return err ? err : write_head(f, table_at);
}

/* Takes what is no whole chunk away, and chunks too if the table has no room otherwise. */
static void cut(struct hf_record_file *f)
{
	f->count -= f->open;
	if (f->open)
		f->insns = f->chunk_insns;
	for (;; f->whole = f->chunk[--f->count].at, f->insns = f->chunk_insns) {
		int err = ftruncate(f->fd, (off_t)f->whole) < 0 ? errno : 0;

		f->at = f->whole;
		if (!err && f->count)
			err = write_table(f);
		if (!err || !f->count)
			break;
		f->errnum = err;
	}
	if (!f->count && f->name)
		unlinkat(f->dirfd, f->name, 0);
}

int hf_record_file_close(struct hf_record_file *f, uint64_t *ret_insns)
{
	int err;

	end_chunk(f);
	cut(f);
	*ret_insns = f->count ? (f->count - 1) * f->chunk_insns + f->insns : 0;
	err = f->errnum ? f->errnum : f->size ? EILSEQ : 0;
	if (f->name && close(f->fd) < 0 && !err)
		err = errno;
	ZSTD_freeCCtx(f->zstd);
	free(f->chunk);
	free(f->bytes);
	free(f->name);
	free(f);
	return err;
}
