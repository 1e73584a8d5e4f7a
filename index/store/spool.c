/* SPDX-License-Identifier: Apache-2.0 */
#include "index/store/spool_format.h"

#include "codecs/base/bytes.h"
#include "index/base/fault.h"
#include "index/store/file.h"
#include "index/store/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

struct hf_spool {
	atomic_uint refs;
	atomic_bool damaged;
	int dirfd, fd;
	char name[HF_FILE_NAME_SIZE];
	uint64_t stream_size, file_size;
	uint64_t *at; /* [frames + 1]: where frame i begins; the last is where they end */
	_Atomic(ZSTD_DCtx *) idle; /* a decompressor that nobody uses, whose memory is warm; or NULL */
};

/* The offsets of the frames from the table's entries, which were found to be what was written. */
static bool take_entries(struct hf_spool *s, const uint8_t *entry, uint64_t frames, uint64_t end)
{
	uint64_t left = s->stream_size;

	for (uint64_t i = 0; i < frames; i++, entry += HF_SPOOL_ENTRY_SIZE) {
		const uint64_t size = left < HF_SPOOL_FRAME ? left : HF_SPOOL_FRAME;

		if (hf_get32(entry + 4) != size || hf_get32(entry) > ZSTD_COMPRESSBOUND(HF_SPOOL_FRAME))
			return false;
		s->at[i + 1] = s->at[i] + hf_get32(entry);
		left -= size;
	}
	return s->at[frames] == end;
}

static int load_table(struct hf_spool *s, const struct hf_identity *identity)
{
	const uint64_t frames = hf_spool_frames(s->stream_size);
	/* the head is among the entries */
	const uint64_t size = 8 + (frames + 1) * HF_SPOOL_ENTRY_SIZE + HF_SPOOL_FOOTER_SIZE;
	uint8_t head[HF_SPOOL_HEAD_SIZE], want[HF_SPOOL_HEAD_SIZE], *table;
	int err;

	if (frames >= HF_SPOOL_FRAMES_MAX || s->file_size < size + sizeof head)
		return HF_ERR_STATE;
	table = malloc((size_t)size);
	s->at = calloc((size_t)frames + 1, sizeof *s->at);
	if (!table || !s->at) {
		err = HF_ERR_NOMEM;
	} else if (!(err = hf_spool_read_at(s->fd, s->file_size - size - sizeof head, head, sizeof head)) &&
		   !(err = hf_spool_read_at(s->fd, s->file_size - size, table, (size_t)size))) {
		hf_spool_head_put(identity, s->stream_size, XXH3_64bits(table, (size_t)size), want);
		if (memcmp(head, want, sizeof head) != 0 ||
		    !take_entries(s, table + 8, frames, s->file_size - size - sizeof head))
			err = HF_ERR_STATE;
	}
	free(table);
	return err;
}

static void discard(struct hf_spool *s)
{
	struct stat st, named;

	/* Not one that has taken its place, nor what only has its name. */
	if (fstat(s->fd, &st) == 0 && fstatat(s->dirfd, s->name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	    st.st_dev == named.st_dev && st.st_ino == named.st_ino && hf_spool_is_ours(s->fd, s->file_size))
		unlinkat(s->dirfd, s->name, 0);
}

/*
 * The time of last use: who was used longest ago goes first. Cutting a file to the size that it has sets the time, and
 * unlike utimensat(2) it can be left to a confined process: that could set the times of files it may only read.
 */
static bool touch(const struct hf_spool *s)
{
	int fd = openat(s->dirfd, s->name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct stat st, named;
	bool done;

	if (fd < 0)
		return false;
	done = fstat(s->fd, &st) == 0 && fstat(fd, &named) == 0 && st.st_dev == named.st_dev &&
	       st.st_ino == named.st_ino && ftruncate(fd, st.st_size) == 0;
	close(fd);
	return done;
}

int hf_spool_open(const struct hf_store_dir *dir, const struct hf_identity *identity, uint64_t stream_size,
		  struct hf_spool **ret_spool)
{
	struct hf_spool *s = calloc(1, sizeof *s);
	struct stat st;
	int err;

	*ret_spool = NULL;
	if (!s)
		return HF_ERR_NOMEM;
	atomic_init(&s->refs, 1);
	s->dirfd = dir->fd;
	s->stream_size = stream_size;
	hf_index_file_name_spool(identity, s->name);
	err = hf_index_file_open(dir, s->name, &s->fd);
	if (!err && fstat(s->fd, &st) < 0)
		err = hf_fault_set("opening", s->name, errno);
	if (!err) {
		s->file_size = (uint64_t)st.st_size;
		err = load_table(s, identity);
	}
	if (err == HF_ERR_STATE) {
		discard(s);
		err = HF_ERR_NOT_FOUND;
	}
	if (err) {
		hf_spool_unref(s);
		return err;
	}
	(void)touch(s); /* else it goes a little too soon */
	*ret_spool = s;
	return 0;
}

struct hf_spool *hf_spool_ref(struct hf_spool *spool)
{
	atomic_fetch_add(&spool->refs, 1);
	return spool;
}

void hf_spool_unref(struct hf_spool *spool)
{
	if (!spool || atomic_fetch_sub(&spool->refs, 1) != 1)
		return;
	if (spool->fd >= 0)
		close(spool->fd);
	ZSTD_freeDCtx(spool->idle);
	free(spool->at);
	free(spool);
}

static size_t frame_size(const struct hf_spool *s, uint64_t i)
{
	const uint64_t left = s->stream_size - i * HF_SPOOL_FRAME;

	return left < HF_SPOOL_FRAME ? (size_t)left : HF_SPOOL_FRAME;
}

/* Frame i into out[frame_size]; packed has room for any. zstd compares the checksum. */
static int read_frame(const struct hf_spool *s, uint64_t i, ZSTD_DCtx *zstd, uint8_t *packed, uint8_t *out)
{
	const size_t size = (size_t)(s->at[i + 1] - s->at[i]), whole = frame_size(s, i);
	const int err = hf_spool_read_at(s->fd, s->at[i], packed, size);

	if (err)
		return err;
	return ZSTD_decompressDCtx(zstd, out, whole, packed, size) == whole ? 0 : HF_ERR_STATE;
}

/* Bytes of one frame: all of them right into their place, some by way of out, which is made when it is needed. */
static int read_some(const struct hf_spool *s, ZSTD_DCtx *zstd, uint8_t *packed, uint8_t **out, uint64_t offset, void *buf,
		     size_t n)
{
	const uint64_t i = offset / HF_SPOOL_FRAME;
	int err;

	if (n == frame_size(s, i))
		return read_frame(s, i, zstd, packed, buf);
	if (!*out)
		*out = malloc(HF_SPOOL_FRAME);
	err = *out ? read_frame(s, i, zstd, packed, *out) : HF_ERR_NOMEM;
	if (!err)
		memcpy(buf, *out + offset % HF_SPOOL_FRAME, n);
	return err;
}

static ZSTD_DCtx *take_idle(struct hf_spool *spool)
{
	ZSTD_DCtx *zstd = atomic_exchange(&spool->idle, NULL);

	return zstd ? zstd : ZSTD_createDCtx();
}

static void put_idle(struct hf_spool *spool, ZSTD_DCtx *zstd)
{
	ZSTD_freeDCtx(atomic_exchange(&spool->idle, zstd));
}

int hf_spool_read(struct hf_spool *spool, uint64_t offset, void *buf, size_t n)
{
	uint8_t *packed, *out = NULL, *to = buf;
	ZSTD_DCtx *zstd;
	int err = 0;

	if (spool->damaged || offset > spool->stream_size || n > spool->stream_size - offset)
		return HF_ERR_STATE;
	packed = malloc(ZSTD_COMPRESSBOUND(HF_SPOOL_FRAME));
	zstd = take_idle(spool);
	if (!packed || !zstd)
		err = HF_ERR_NOMEM;
	while (n && !err) {
		const size_t skip = (size_t)(offset % HF_SPOOL_FRAME), room = HF_SPOOL_FRAME - skip;
		const size_t piece = n < room ? n : room;

		err = read_some(spool, zstd, packed, &out, offset, to, piece);
		to += piece;
		offset += piece;
		n -= piece;
	}
	put_idle(spool, zstd);
	free(packed);
	free(out);
	if (err == HF_ERR_STATE && !atomic_exchange(&spool->damaged, true))
		discard(spool);
	return err;
}
