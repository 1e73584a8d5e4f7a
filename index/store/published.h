/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a published decode index and a published view table have in common: a file with one connection, and a table of
 * chunks in which a place is looked for. Internal to index/.
 */
#ifndef HF_INDEX_PUBLISHED_H
#define HF_INDEX_PUBLISHED_H

#include "index/store/store.h"

#include <pthread.h>
#include <stdatomic.h>

/*
 * One connection for all threads: a look-up takes a few microseconds, what is done with its result a thousand times as
 * long.
 */
struct hf_published {
	const struct hf_store_dir *dir;
	char name[HF_FILE_NAME_SIZE];
	atomic_bool damaged;
	pthread_mutex_t lock;
	struct hf_store *store; /* with it */
};

/* Into a zeroed one with its name, to be closed in any case. HF_ERR_NOT_FOUND if there is none, HF_ERR_STATE if it is
 * not of that kind. */
int hf_published_open(struct hf_published *file, const struct hf_store_dir *dir, enum hf_db_kind kind);
void hf_published_close(struct hf_published *file);
/* Removes its file, if that still stands under its name. */
void hf_published_remove(const struct hf_published *file);
uint64_t hf_published_memory(struct hf_published *file);
/* Returns the result of a look-up, of which damage is noted. */
int hf_published_noted(struct hf_published *file, int err);

/*
 * With the lock, or before others know the file. The columns behind the key begin with what counts up from chunk to
 * chunk, ordinals or offsets, to total in the end.
 */

/* Chunk number of the count that the hart in that slot has; *ret_end is where it ends. */
int hf_published_chunk(struct hf_published *file, const struct hf_table *table, uint64_t slot, uint64_t number,
		       uint64_t count, uint64_t total, void *ret_chunk, uint64_t *ret_end);
/* The number of the chunk that holds target: HF_ERR_NOT_FOUND if that is not below total. */
int hf_published_search(struct hf_published *file, const struct hf_table *table, uint64_t slot, uint64_t count,
			uint64_t total, uint64_t target, uint64_t *ret_number);

#endif
