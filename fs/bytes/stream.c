/* SPDX-License-Identifier: Apache-2.0 */
/* The decompressed stream of a capture, cut evenly. */
#include "fs/bytes/bytes.h"
#include "fs/capture/block_source.h"

static int fill(const struct hf_bytes *bytes, struct hf_open *open, const struct hf_piece *piece,
		struct hf_worker *worker, uint8_t *to)
{
	int err = 0;

	(void)bytes;
	(void)worker;
	for (size_t have = 0, n; have < piece->size && !err; have += n) {
		err = hf_src_read_at(open->source, piece->offset + have, to + have, (size_t)piece->size - have, &n,
				     NULL);
		/* The index says that these bytes are there and good. */
		if (!err && !n)
			err = HF_ERR_MISMATCH;
	}
	/* A damaged chunk is what the index says too. */
	return hf_err_class(err) == HF_CLASS_corrupt && err != HF_ERR_ZSTF_CHUNK ? HF_ERR_MISMATCH : err;
}

/* Decodes no more of the container than it must. */
static int read_once(struct hf_open *open, uint64_t offset, uint8_t *buf, size_t size)
{
	size_t n;

	for (size_t have = 0; have < size; have += n) {
		int err = hf_block_source_read_once(open->source, offset + have, buf + have, size - have, &n, NULL);

		if (err || !n)
			return err ? err : HF_ERR_MISMATCH;
	}
	return 0;
}

const struct hf_bytes_ops hf_bytes_stream = {
	.piece_at = hf_bytes_even_at, .piece = hf_bytes_even, .fill = fill, .read_once = read_once};
