/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The format. All numbers are little-endian:
 *   frames      zstd frames with a checksum each, of HF_SPOOL_FRAME bytes of the stream, the last of fewer
 *   head        a skippable frame (0x184d2a50) of HF_SPOOL_HEAD_SIZE bytes: what it belongs to, see hf_spool_head_put
 *   seek table  of zstd's seekable format, without checksums: a skippable frame (0x184d2a5e) with the compressed and
 *               decompressed size of each frame (u32 each), the head with 0 bytes among them, the number of frames
 *               (u32), 0 (u8), 0x8f92eab1 (u32)
 * so that the zstd tool gives the stream.
 */
#include "index/store/spool_format.h"

#include "codecs/base/bytes.h"
#include "index/base/fault.h"

#include <errno.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

uint64_t hf_spool_frames(uint64_t stream_size)
{
	return stream_size / HF_SPOOL_FRAME + (stream_size % HF_SPOOL_FRAME != 0);
}

void hf_spool_head_put(const struct hf_identity *identity, uint64_t stream_size, uint64_t table_hash, uint8_t *head)
{
	hf_put32(head, 0x184d2a50);
	hf_put32(head + 4, HF_SPOOL_HEAD_SIZE - 8);
	memcpy(head + 8, "hartfs\1\0", 8);
	hf_put64(head + 16, identity->size);
	hf_put64(head + 24, (uint64_t)identity->mtime_ns);
	hf_put64(head + 32, identity->print[0]);
	hf_put64(head + 40, identity->print[1]);
	hf_put64(head + 48, stream_size);
	hf_put64(head + 56, table_hash);
	hf_put64(head + 64, XXH3_64bits(head, 64));
}

int hf_spool_read_at(int fd, uint64_t offset, void *buf, size_t n)
{
	uint8_t *to = buf;

	while (n) {
		ssize_t got = pread(fd, to, n, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? hf_fault_set_fd("reading", fd, errno) : HF_ERR_STATE;
		to += got;
		offset += (size_t)got;
		n -= (size_t)got;
	}
	return 0;
}

bool hf_spool_is_ours(int fd, uint64_t size)
{
	uint8_t word[4];

	if (size == 0 || (!hf_spool_read_at(fd, 0, word, sizeof word) && hf_get32(word) == ZSTD_MAGICNUMBER))
		return true;
	return size > sizeof word && !hf_spool_read_at(fd, size - sizeof word, word, sizeof word) && hf_get32(word) == 0x8f92eab1;
}
