/* SPDX-License-Identifier: Apache-2.0 */
/* What packs.c, which finds files, and packs_flush.c, which writes packs, have in common. Internal to the two. */
#ifndef HF_INDEX_PACKS_INTERNAL_H
#define HF_INDEX_PACKS_INTERNAL_H

#include "index/store/dir.h"
#include "index/store/pack.h"

#include <time.h>

struct hf_packs {
	int dirfd;
	struct hf_sharing sharing;
	pthread_mutex_t flush_lock; /* held while packs are written or go; taken before the other */
	pthread_mutex_t lock;	    /* from here on; nothing is read from a disk with it */
	struct hf_pack **packs;	    /* the newest first; a reference each */
	size_t count;
	uint64_t turns;
	pthread_cond_t was_listed;
	bool listing;		/* somebody lists the directory */
	struct timespec listed; /* its time when that was done last */
	int64_t listed_ns;	/* when; 0: never */
};

/* Of a pack of the directory that is not known yet, without the lock. */
int hf_packs_open_pack(const struct hf_packs *packs, const char *name, struct hf_pack **ret_pack);
/* With the lock: takes the pack, and returns the one of that name that is known now; NULL: out of memory. */
struct hf_pack *hf_packs_add(struct hf_packs *packs, struct hf_pack *pack);

#endif
