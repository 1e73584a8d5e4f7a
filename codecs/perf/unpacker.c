/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/perf/unpacker.h"

#include "codecs/base/bytes.h"
#include "codecs/perf/record_types.h"

#include <stdlib.h>
#include <zstd.h>

enum {
	OUT_SIZE = 4 * 65536, /* more than the longest record and what one step decompresses besides */
	RATIO_MAX = 1000,     /* bytes that a compressed one may stand for; perf's records come to about 10, */
	ROOM = 64 << 20,      /*   and so many more at any rate */
	WINDOW_LOG_MAX = 27,
};

struct hf_perf_unpacker {
	ZSTD_DCtx *zstd;
	uint8_t in[HF_PERF_RECORD_MAX + 1];
	size_t fed, used; /* of in */
	uint8_t *out;	  /* [OUT_SIZE] */
	size_t begin, end; /* of it, what is not taken yet */
	uint64_t total_in, total_out;
	bool full; /* the last step ended for want of room: there may be more without further input */
};

int hf_perf_unpacker_new(struct hf_perf_unpacker **ret_unpacker)
{
	struct hf_perf_unpacker *u = malloc(sizeof *u);

	if (!u)
		return HF_ERR_NOMEM;
	u->zstd = ZSTD_createDCtx();
	u->out = malloc(OUT_SIZE);
	u->fed = u->used = u->begin = u->end = 0;
	u->total_in = u->total_out = 0;
	u->full = false;
	if (!u->zstd || !u->out || ZSTD_isError(ZSTD_DCtx_setParameter(u->zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX))) {
		hf_perf_unpacker_free(u);
		return HF_ERR_NOMEM;
	}
	*ret_unpacker = u;
	return 0;
}

void hf_perf_unpacker_free(struct hf_perf_unpacker *unpacker)
{
	if (!unpacker)
		return;
	ZSTD_freeDCtx(unpacker->zstd);
	free(unpacker->out);
	free(unpacker);
}

int hf_perf_unpacker_feed(struct hf_perf_unpacker *u, const uint8_t *in, size_t n)
{
	if (n > sizeof u->in || u->used < u->fed)
		return HF_ERR_CORRUPT;
	memcpy(u->in, in, n);
	u->fed = n;
	u->used = 0;
	u->total_in += n;
	return 0;
}

/* Decompresses as much as there is room for. */
static int step(struct hf_perf_unpacker *u)
{
	ZSTD_inBuffer in = {.src = u->in, .size = u->fed, .pos = u->used};
	ZSTD_outBuffer out = {.dst = u->out, .size = OUT_SIZE};
	size_t ret;

	memmove(u->out, u->out + u->begin, u->end - u->begin);
	u->end -= u->begin;
	u->begin = 0;
	out.pos = u->end;
	ret = ZSTD_decompressStream(u->zstd, &out, &in);
	if (ZSTD_isError(ret))
		return HF_ERR_CORRUPT;
	u->total_out += out.pos - u->end;
	u->full = out.pos == OUT_SIZE;
	u->used = in.pos;
	u->end = out.pos;
	return u->total_out > ROOM + RATIO_MAX * u->total_in ? HF_ERR_CORRUPT : 0;
}

int hf_perf_unpacker_next(struct hf_perf_unpacker *u, const uint8_t **ret_bytes, uint32_t *ret_size)
{
	for (;;) {
		const size_t there = u->end - u->begin;
		const uint32_t size = there >= 8 ? hf_get16(u->out + u->begin + 6) : 0;
		int err;

		if (there >= 8 && size < 8)
			return HF_ERR_CORRUPT;
		if (there >= 8 && there >= size) {
			*ret_bytes = u->out + u->begin;
			*ret_size = size;
			u->begin += size;
			return 0;
		}
		if (u->used == u->fed && !u->full)
			return HF_NOTE_END;
		err = step(u);
		if (err)
			return err;
	}
}
