/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows on their way into the tables: stages put them in, on whatever thread they run; the thread that called hf_build_run
 * takes them out and writes them. First in, first out, of any length. Thread-safe, but for what is said otherwise.
 * Internal to index/.
 */
#ifndef HF_INDEX_ROW_QUEUE_H
#define HF_INDEX_ROW_QUEUE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct hf_row_block;

struct hf_row_queue {
	pthread_mutex_t lock;
	struct hf_row_block *first, *last;
	size_t bytes; /* of the rows */
};

/* 8-byte aligned, as are the size bytes that follow it. */
struct hf_row {
	uint32_t kind; /* the user's */
	uint32_t size;
};

static inline const void *hf_row_bytes(const struct hf_row *row)
{
	return row + 1;
}

void hf_row_queue_init(struct hf_row_queue *queue);
/* With the rows that are left. Not while anybody uses it. */
void hf_row_queue_fini(struct hf_row_queue *queue);

/* Copies a[an] and b[bn], end to end, into a row: HF_ERR_NOMEM, HF_ERR_LIMIT. */
int hf_row_queue_push(struct hf_row_queue *queue, uint32_t kind, const void *a, size_t an, const void *b, size_t bn);
/* Bytes of the rows that wait. */
size_t hf_row_queue_size(struct hf_row_queue *queue);
/* Moves all rows of from to the end of an empty queue, of which this thread is the only user. */
void hf_row_queue_take(struct hf_row_queue *queue, struct hf_row_queue *from);
/* The next row of a queue of which this thread is the only user, valid until the call after; NULL if there is none. */
const struct hf_row *hf_row_queue_pop(struct hf_row_queue *queue);

#endif
