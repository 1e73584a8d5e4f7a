/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers about a capture (answer.h) that are made by a thread of the executor while somebody waits, once for all who ask
 * at a time, and kept as long as they are used. What was used longest ago is dropped first, and what is used last stays.
 */
#ifndef HF_BYTES_MADE_H
#define HF_BYTES_MADE_H

#include "fs/bytes/bytes.h"

struct hf_mades;

/* Embedded first in each of them. */
struct hf_made {
	/* set in a key, and equal in those that are the same */
	struct hf_capture *capture;
	uint64_t version;
	uint32_t hart;
	/* its own */
	struct hf_mades *mades;
	size_t bytes; /* in memory: make sets it */
	/* the lock's */
	struct hf_link used;
	unsigned refs;
	bool done;
	int err; /* why it could not be made, or is not to be used any more */
};

/* All of a kind. lock is a leaf. */
struct hf_mades {
	struct hf_common *common;
	const struct hf_made_kind {
		size_t size;		 /* of one */
		size_t most, most_bytes; /* so much is kept of those that nobody uses */
		bool (*is_same)(const struct hf_made *a, const struct hf_made *b); /* of one hart */
		int (*make)(void *ctx, struct hf_open *open, struct hf_worker *worker); /* ctx: a copy of the key */
		void (*free)(struct hf_made *made);	/* what make gave it, also after an error */
	} *kind;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct hf_link used; /* the one used last first */
	size_t count, bytes;
};

void hf_mades_init(struct hf_mades *mades, const struct hf_made_kind *kind, struct hf_common *common);
/* Nobody uses any. */
void hf_mades_fini(struct hf_mades *mades);

/* The one that is the same as the key, with a reference. What could not be made is made again for the next who asks. */
int hf_made_get(struct hf_mades *mades, const struct hf_made *key, struct hf_made **ret_made);
void hf_made_ref(struct hf_made *made);
void hf_made_put(struct hf_made *made);
/* It is wrong: whoever asks for it gets another one. */
void hf_made_refute(struct hf_made *made);

#endif
