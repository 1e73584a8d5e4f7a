/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs of a decoder and an encoder that made chunks of open captures, or of slices, and wait to make the next one. A
 * new pair for each chunk would map, fault in and unmap large blocks, and decode all its code a second time.
 */
#ifndef HF_FS_DECODER_POOL_H
#define HF_FS_DECODER_POOL_H

#include "fs/stream/read_limit.h"
#include "index/base/lock.h"
#include "index/index.h"

struct hf_open;

/* So many wait at most: enough for a thread that makes chunk after chunk to find its own. */
#define HF_DECODER_POOL_MAX 4
/* What a decoder remembers of the program may take megabytes, so it is freed after so many chunks. */
#define HF_DECODER_POOL_CHUNKS 64

/* One that is in use is not in the pool. */
struct hf_lent_maker {
	struct hf_maker maker;
	struct hf_read_limit *limit; /* its source of the stream; the user of the maker may set how far it reads */
	const struct hf_open *open;
	size_t view;
	uint32_t hart;
	unsigned chunks; /* that it has made */
};

struct hf_decoder_pool {
	pthread_mutex_t lock;
	unsigned count;
	struct hf_lent_maker waiting[HF_DECODER_POOL_MAX]; /* oldest first */
};

void hf_decoder_pool_init(struct hf_decoder_pool *pool);
/* After all captures are closed. */
void hf_decoder_pool_fini(struct hf_decoder_pool *pool);

/* One for that view of an open capture, a new one if none waits. env as for hf_maker_init. */
int hf_decoder_pool_take(struct hf_open *open, uint32_t hart, size_t view, const struct hf_enc_env *env,
			 struct hf_lent_maker *ret_maker);
/* Gives it back after use. err: of that use; after one it is freed. */
void hf_decoder_pool_put(struct hf_lent_maker *maker, int err);
/* Frees those of a capture that is about to be closed. */
void hf_decoder_pool_drop(const struct hf_open *open);

#endif
