/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What made chunks of open captures, or of slices of them, and waits for the next one. A decoder and an encoder for
 * each would cost large blocks that are mapped, faulted in and unmapped, and a second look at all code that it executes.
 */
#ifndef HF_FS_MAKERS_H
#define HF_FS_MAKERS_H

#include "index/base/lock.h"
#include "fs/stream/reach.h"
#include "index/index.h"

struct hf_open;

/* So many wait at the most: a thread that makes chunk after chunk finds its own. */
#define HF_MAKERS_MAX 4
/* What a decoder learned of the program may grow up to megabytes; it goes after so many chunks. */
#define HF_MAKER_CHUNKS 64

/* In use it is in no list. */
struct hf_lent_maker {
	struct hf_maker maker;
	struct hf_reach *reach; /* through which it reads the stream; whoever has it may set how far, until it is put back */
	const struct hf_open *open;
	size_t view;
	uint32_t hart;
	unsigned chunks; /* that it has made */
};

struct hf_makers {
	pthread_mutex_t lock;
	unsigned count;
	struct hf_lent_maker waiting[HF_MAKERS_MAX]; /* oldest first */
};

void hf_makers_init(struct hf_makers *makers);
/* After all captures are closed. */
void hf_makers_fini(struct hf_makers *makers);

/* One for that view of an open capture, a new one if none waits. env as for hf_maker_init. */
int hf_maker_take(struct hf_open *open, uint32_t hart, size_t view, const struct hf_enc_env *env,
		  struct hf_lent_maker *ret_maker);
/* It has made a chunk, or some, or failed. */
void hf_maker_put(struct hf_lent_maker *maker, int err);
/* The capture is about to be closed. */
void hf_makers_drop(const struct hf_open *open);

#endif
