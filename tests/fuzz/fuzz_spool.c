/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A spool with changes: whatever is wrong with it, it is not taken, or reading gives the bytes of the stream or says that
 * it is damaged. Input: a byte, which stream (bits 0-2) and whether the hashes of the table (bit 3) and the head (bit 4)
 * are put right behind the changes, so that what lies behind them is reached; then changes: three bytes where in the
 * file, in what follows the frames if the highest bit is set, one how many bytes, these. None: the file is cut there.
 */
#include "codecs/base/bytes.h"
#include "index/store/spool.h"
#include "index/store/spool_format.h"
#include "tests/lib/check.h"
#include "tests/lib/fuzz.h"
#include "tests/lib/indextest.h"
#include "tests/registry/toy.h"

#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#define ZSTD_LEVEL 1
enum { FILE_MAX = 65536, SPOOLS = 8 };
enum { SEAL_TABLE = 8, SEAL_HEAD = 16 };

static const uint64_t sizes[SPOOLS] = {0, 16, 5000, HF_SPOOL_FRAME, HF_SPOOL_FRAME + 1, 800000, 5 * HF_SPOOL_FRAME, 100};

static struct hf_ixtest t;
static char name[HF_FILE_NAME_SIZE];

/* A file that is whole. */
static struct {
	uint8_t bytes[FILE_MAX];
	size_t n, tail; /* where its head begins, behind the frames */
} valid[SPOOLS], now;

static void clean_up(void)
{
	hf_ixtest_fini(&t);
}

/* Of every stream. */
static uint8_t byte_at(uint64_t offset)
{
	return (uint8_t)(offset % 127 + 31 * (offset / HF_SPOOL_FRAME));
}

static size_t pack(uint64_t offset, size_t n, uint8_t *to, size_t room)
{
	uint8_t *from = malloc(n);
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	size_t size;

	CHECK(from && zstd);
	for (size_t i = 0; i < n; i++)
		from[i] = byte_at(offset + i);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
	size = ZSTD_compress2(zstd, to, room, from, n);
	CHECK(!ZSTD_isError(size));
	ZSTD_freeCCtx(zstd);
	free(from);
	return size;
}

static void make_valid(unsigned which)
{
	const uint64_t size = sizes[which], frames = hf_spool_frames(size);
	const size_t table_size = 8 + ((size_t)frames + 1) * HF_SPOOL_ENTRY_SIZE + HF_SPOOL_FOOTER_SIZE;
	uint8_t *bytes = valid[which].bytes, table[256], *p = table + 8;
	size_t n = 0;

	CHECK(table_size <= sizeof table);
	hf_put32(table, 0x184d2a5e);
	hf_put32(table + 4, (uint32_t)table_size - 8);
	for (uint64_t i = 0; i < frames; i++, p += HF_SPOOL_ENTRY_SIZE) {
		const uint64_t left = size - i * HF_SPOOL_FRAME;
		const size_t piece = left < HF_SPOOL_FRAME ? (size_t)left : HF_SPOOL_FRAME;
		const size_t packed = pack(i * HF_SPOOL_FRAME, piece, bytes + n, FILE_MAX - n - 1024);

		hf_put32(p, (uint32_t)packed);
		hf_put32(p + 4, (uint32_t)piece);
		n += packed;
	}
	hf_put32(p, HF_SPOOL_HEAD_SIZE);
	hf_put32(p + 4, 0);
	hf_put32(p + 8, (uint32_t)frames + 1);
	p[12] = 0;
	hf_put32(p + 13, 0x8f92eab1);
	valid[which].tail = n;
	hf_spool_head_put(&t.identity, size, XXH3_64bits(table, table_size), bytes + n);
	memcpy(bytes + n + HF_SPOOL_HEAD_SIZE, table, table_size);
	valid[which].n = n + HF_SPOOL_HEAD_SIZE + table_size;
}

/* Where the table begins that a reader looks for, 0 if the file is too short. */
static size_t table_of(uint64_t stream_size)
{
	const uint64_t size = 8 + (hf_spool_frames(stream_size) + 1) * HF_SPOOL_ENTRY_SIZE + HF_SPOOL_FOOTER_SIZE;

	return size + HF_SPOOL_HEAD_SIZE <= now.n ? now.n - (size_t)size : 0;
}

static void change(const uint8_t *p, const uint8_t *end, uint64_t stream_size, unsigned mode)
{
	size_t table;

	while (end - p >= 4) {
		const uint32_t place = hf_get32(p) & 0xffffff, count = p[3];
		const size_t from = place >> 23 ? now.tail : 0, room = now.n - from;
		const size_t at = from + (room ? (place & 0x7fffff) % room : 0);

		p += 4;
		if (!count)
			now.n = at;
		for (size_t i = 0; i < count && p < end && at + i < now.n; i++)
			now.bytes[at + i] = *p++;
		if (now.tail > now.n)
			now.tail = now.n;
	}
	table = table_of(stream_size);
	if (table && mode & SEAL_TABLE)
		hf_put64(now.bytes + table - HF_SPOOL_HEAD_SIZE + 56, XXH3_64bits(now.bytes + table, now.n - table));
	if (table && mode & SEAL_HEAD)
		hf_put64(now.bytes + table - 8, XXH3_64bits(now.bytes + table - HF_SPOOL_HEAD_SIZE, 64));
}

/* The same file is used again as long as nobody removes it. */
static void store(void)
{
	const int fd = openat(t.dirfd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	CHECK(fd >= 0 && pwrite(fd, now.bytes, now.n, 0) == (ssize_t)now.n && ftruncate(fd, (off_t)now.n) == 0);
	close(fd);
}

/* forged: someone who can put hashes right can put other bytes there. */
static void look(uint64_t stream_size, bool changed, bool forged)
{
	static const uint64_t places[] = {0, 1, 4900, HF_SPOOL_FRAME - 50, HF_SPOOL_FRAME, 3 * HF_SPOOL_FRAME + 5};
	struct hf_spool *spool;
	uint8_t buf[100];
	int err = hf_spool_open(&t.at, &t.identity, stream_size, &spool);

	MUST(err == 0 || (err == HF_ERR_NOT_FOUND && changed));
	for (size_t i = 0; !err && i < sizeof places / sizeof *places; i++) {
		const int got = hf_spool_read(spool, places[i], buf, sizeof buf);

		if (places[i] + sizeof buf > stream_size) {
			MUST(got == HF_ERR_STATE);
			continue;
		}
		MUST(got == 0 || (got == HF_ERR_STATE && changed));
		for (size_t k = 0; !got && !forged && k < sizeof buf; k++)
			MUST(buf[k] == byte_at(places[i] + k));
	}
	if (!err)
		hf_spool_unref(spool);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	unsigned which;
	bool changed;

	if (!*t.dir) {
		hf_ixtest_init(&t);
		atexit(clean_up);
		hf_index_file_name_spool(&t.identity, name);
		for (unsigned i = 0; i < SPOOLS; i++)
			make_valid(i);
	}
	if (!n || n > 2048)
		return 0;
	which = bytes[0] & (SPOOLS - 1);
	now.n = valid[which].n;
	now.tail = valid[which].tail;
	memcpy(now.bytes, valid[which].bytes, now.n);
	change(bytes + 1, bytes + n, sizes[which], bytes[0]);
	changed = now.n != valid[which].n || memcmp(now.bytes, valid[which].bytes, now.n) != 0;
	store();
	look(sizes[which], changed, changed && (bytes[0] & (SEAL_TABLE | SEAL_HEAD)) == (SEAL_TABLE | SEAL_HEAD));
	return 0;
}
