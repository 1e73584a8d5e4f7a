/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What made chunks of open captures, or of slices of them, and waits for the next one. A decoder and an encoder for
 * each would cost large blocks that are mapped, faulted in and unmapped, and a second look at all code that it executes.
 */
#ifndef HF_FS_DECODER_POOL_H
#define HF_FS_DECODER_POOL_H

#include "fs/stream/read_limit.h"
#include "index/base/lock.h"
#include "index/index.h"

struct hf_open;

/* So many wait at the most: a thread that makes chunk after chunk finds its own. */
#define HF_DECODER_POOL_MAX 4
/* What a decoder learned of the program may grow up to megabytes; it goes after so many chunks. */
#define HF_DECODER_POOL_CHUNKS 64

/* In use it is in no list. */
struct hf_lent_maker {
	struct hf_maker maker;
	struct hf_read_limit
		*limit; /* through which it reads the stream; whoever has it may set how far, until it is put back */
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
/* It has made a chunk, or some, or failed. */
void hf_decoder_pool_put(struct hf_lent_maker *maker, int err);
/* The capture is about to be closed. */
void hf_decoder_pool_drop(const struct hf_open *open);

#endif
