/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What open directories hold in memory and can be made again: lists of names. All of them together keep a bounded
 * number of bytes; what was used longest ago is dropped, and made again when it is read.
 */
#ifndef HF_FS_KEPT_H
#define HF_FS_KEPT_H

#include "fs/base/list.h"
#include "index/base/lock.h"

#include <stdbool.h>
#include <stddef.h>

#define HF_KEPT_BYTES ((size_t)8 << 20)

/* Embedded by the owner. A zeroed one with drop set holds nothing. */
struct hf_kept {
	/* Frees what it holds. Called with the lock of all held. */
	void (*drop)(struct hf_kept *kept);
	/* the lock's */
	size_t bytes; /* 0: it holds nothing */
	unsigned pins;
	struct hf_link link; /* of those that are not pinned */
};

/* lock is a leaf. */
struct hf_kepts {
	pthread_mutex_t lock;
	struct hf_link unpinned;
	size_t bytes; /* of all */
	size_t max_bytes;
};

void hf_kepts_init(struct hf_kepts *kepts);
void hf_kepts_fini(struct hf_kepts *kepts);

/* True: it holds what it held, until hf_kept_unpin. False: the caller, who is the only one, is to make it and then to
 * call hf_kept_made. */
bool hf_kept_pin(struct hf_kepts *kepts, struct hf_kept *kept);
/* It holds so many bytes now (counted as at least 1), and is pinned. */
void hf_kept_made(struct hf_kepts *kepts, struct hf_kept *kept, size_t bytes);
void hf_kept_unpin(struct hf_kepts *kepts, struct hf_kept *kept);
/* Drops it. It must not be pinned. */
void hf_kept_end(struct hf_kepts *kepts, struct hf_kept *kept);

#endif
