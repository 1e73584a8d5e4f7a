/* SPDX-License-Identifier: Apache-2.0 */
/* Making a spool: the stream from its beginning through the container's scan, compressed again frame by frame. */
#include "index/store/spool_format.h"

#include "codecs/base/bytes.h"
#include "index/base/fault.h"
#include "index/store/file.h"
#include "index/store/spool.h"
#include "index/store/spool_room.h"
#include "index/table/row.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

/* Fast to make; what is read often should not be large either. */
#define LEVEL 1
/* Room is made for so much at a time. */
#define STEP (UINT64_C(1) << 20)

struct making {
	const struct hf_spool_build *build;
	struct hf_part part;
	ZSTD_CCtx *zstd;
	uint8_t *frame; /* [HF_SPOOL_FRAME], have bytes of it */
	size_t have;
	uint8_t *packed;
	size_t packed_cap;
	uint8_t *table; /* entries */
	uint64_t count, frames;
	uint64_t out;     /* bytes of the stream so far */
	uint64_t written; /* of the file */
	uint64_t room;    /* the file may grow up to here */
};

static int write_all(struct making *m, const void *bytes, size_t n)
{
	const uint8_t *from = bytes;

	if (m->written + n > m->room) {
		uint64_t need = n > STEP ? n : STEP;
		int err;

		/* A small limit is no reason not to try. */
		if (m->written + need > m->build->limit && m->written + n <= m->build->limit)
			need = m->build->limit - m->written;
		err = hf_spool_make_room(m->build->dir->fd, m->part.part, m->written, need, m->build->limit);
		if (err)
			return err;
		m->room = m->written + need;
	}
	while (n) {
		ssize_t done = write(m->part.fd, from, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return errno == ENOSPC || errno == EDQUOT || errno == EFBIG
				       ? HF_ERR_LIMIT
				       : hf_fault_set("writing", m->part.part, errno);
		from += done;
		n -= (size_t)done;
		m->written += (size_t)done;
	}
	return 0;
}

static void put_entry(struct making *m, uint32_t packed, uint32_t size)
{
	uint8_t *entry = m->table + 8 + m->count++ * HF_SPOOL_ENTRY_SIZE;

	hf_put32(entry, packed);
	hf_put32(entry + 4, size);
}

static int end_frame(struct making *m)
{
	size_t size;

	if (m->count == m->frames)
		return HF_ERR_MISMATCH;
	size = ZSTD_compress2(m->zstd, m->packed, m->packed_cap, m->frame, m->have);
	if (ZSTD_isError(size))
		return HF_ERR_NOMEM;
	put_entry(m, (uint32_t)size, (uint32_t)m->have);
	m->have = 0;
	return write_all(m, m->packed, size);
}

static int add(struct making *m, const uint8_t *bytes, uint64_t n)
{
	int err = 0;

	m->out += n;
	while (n && !err) {
		const size_t room = HF_SPOOL_FRAME - m->have, piece = n < room ? (size_t)n : room;

		memcpy(m->frame + m->have, bytes, piece);
		m->have += piece;
		bytes += piece;
		n -= piece;
		if (m->have == HF_SPOOL_FRAME)
			err = end_frame(m);
	}
	return err;
}

/* All good bytes of the stream: as many as it had when it was indexed, damage behind them or not. */
static int copy_stream(struct making *m)
{
	const struct hf_spool_build *build = m->build;
	const uint8_t *bytes, *window;
	struct hf_point point;
	struct hf_scan *scan;
	int err = build->box->scan_new(build->box, build->file, NULL, NULL, &scan, NULL);

	if (err)
		return err;
	while (!err && m->out < build->stream_size) {
		if (build->cancelled && build->cancelled(build->ctx))
			err = HF_ERR_CANCELLED;
		else
			err = build->box->scan_next(scan, &point, &bytes, &window, NULL);
		if (!err && (!bytes || point.out_size > build->stream_size - m->out))
			err = HF_ERR_MISMATCH;
		if (!err)
			err = add(m, bytes, point.out_size);
	}
	build->box->scan_free(scan);
	if (err > 0 || hf_err_class(err) == HF_CLASS_corrupt)
		return HF_ERR_MISMATCH;
	return !err && m->have ? end_frame(m) : err;
}

static int write_end(struct making *m)
{
	uint8_t head[HF_SPOOL_HEAD_SIZE], *footer;
	size_t size = (size_t)(8 + (m->frames + 1) * HF_SPOOL_ENTRY_SIZE + HF_SPOOL_FOOTER_SIZE);
	int err;

	put_entry(m, HF_SPOOL_HEAD_SIZE, 0);
	hf_put32(m->table, 0x184d2a5e);
	hf_put32(m->table + 4, (uint32_t)size - 8);
	footer = m->table + size - HF_SPOOL_FOOTER_SIZE;
	hf_put32(footer, (uint32_t)m->count);
	footer[4] = 0;
	hf_put32(footer + 5, 0x8f92eab1);
	hf_spool_head_put(m->build->identity, m->build->stream_size, XXH3_64bits(m->table, size), head);
	err = write_all(m, head, sizeof head);
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): hf_spool_build frees what m has */
	return err ? err : write_all(m, m->table, size);
}

static int prepare(struct making *m)
{
	m->frames = hf_spool_frames(m->build->stream_size);
	m->packed_cap = ZSTD_compressBound(HF_SPOOL_FRAME);
	if (m->frames >= HF_SPOOL_FRAMES_MAX)
		return HF_ERR_LIMIT;
	m->zstd = ZSTD_createCCtx();
	m->frame = malloc(HF_SPOOL_FRAME);
	m->packed = malloc(m->packed_cap);
	m->table = calloc((size_t)m->frames + 4, HF_SPOOL_ENTRY_SIZE);
	if (!m->zstd || !m->frame || !m->packed || !m->table ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(m->zstd, ZSTD_c_compressionLevel, LEVEL)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(m->zstd, ZSTD_c_checksumFlag, 1)))
		return HF_ERR_NOMEM;
	return ftruncate(m->part.fd, 0) < 0 ? hf_fault_set("writing", m->part.part, errno) : 0;
}

/* Bytes that changed while they were read would be a spool of neither version. */
static int check_identity(const struct hf_spool_build *build)
{
	struct hf_identity now;
	int err = hf_identity_of(build->file, build->identity->mtime_ns, &now, NULL);

	if (err)
		return err;
	return hf_identity_equal(&now, build->identity) ? 0 : HF_ERR_CHANGED;
}

int hf_spool_build(const struct hf_spool_build *build)
{
	struct making m = {.build = build};
	char name[HF_FILE_NAME_SIZE];
	int err;

	hf_index_file_name_spool(build->identity, name);
	err = hf_part_open(build->dir, name, &m.part);
	if (err)
		return err;
	err = prepare(&m);
	if (!err)
		err = copy_stream(&m);
	if (!err)
		err = write_end(&m);
	if (!err)
		err = check_identity(build);
	if (!err)
		err = hf_part_publish(&m.part);
	if (err)
		hf_part_remove(&m.part);
	hf_part_close(&m.part);
	ZSTD_freeCCtx(m.zstd);
	free(m.frame);
	free(m.packed);
	free(m.table);
	return err;
}
