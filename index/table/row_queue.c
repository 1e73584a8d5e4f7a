/* SPDX-License-Identifier: Apache-2.0 */
#include "index/table/row_queue.h"

#include "codecs/base/err.h"
#include "index/base/lock.h"

#include <stdlib.h>
#include <string.h>

/* A dozen rows of a few dozen bytes; larger ones get a block of their own. */
#define BLOCK ((size_t)4096)
#define ROW_MAX ((size_t)1 << 20)

struct hf_row_block {
	struct hf_row_block *next;
	size_t used, given, cap; /* bytes */
	uint64_t data[];
};

static int add_block(struct hf_row_queue *queue, size_t need)
{
	const size_t cap = need < BLOCK ? BLOCK : need;
	struct hf_row_block *block = malloc(sizeof *block + cap);

	if (!block)
		return HF_ERR_NOMEM;
	*block = (struct hf_row_block){.cap = cap};
	if (queue->last)
		queue->last->next = block;
	else
		queue->first = block;
	queue->last = block;
	return 0;
}

static int push(struct hf_row_queue *queue, const struct hf_row *row, const void *a, size_t an, const void *b, size_t bn)
{
	const size_t need = sizeof *row + ((row->size + (size_t)7) & ~(size_t)7);
	uint8_t *to;
	int err;

	if (!queue->last || queue->last->cap - queue->last->used < need) {
		err = add_block(queue, need);
		if (err)
			return err;
	}
	to = (uint8_t *)queue->last->data + queue->last->used;
	memcpy(to, row, sizeof *row);
	if (an)
		memcpy(to + sizeof *row, a, an);
	if (bn)
		memcpy(to + sizeof *row + an, b, bn);
	queue->last->used += need;
	queue->bytes += need;
	return 0;
}

int hf_row_queue_push(struct hf_row_queue *queue, uint32_t kind, const void *a, size_t an, const void *b, size_t bn)
{
	const struct hf_row row = {.kind = kind, .size = (uint32_t)(an + bn)};

	if (an > ROW_MAX || bn > ROW_MAX)
		return HF_ERR_LIMIT;
	HF_LOCKED(&queue->lock);
	return push(queue, &row, a, an, b, bn);
}

size_t hf_row_queue_size(struct hf_row_queue *queue)
{
	HF_LOCKED(&queue->lock);
	return queue->bytes;
}

const struct hf_row *hf_row_queue_pop(struct hf_row_queue *queue)
{
	struct hf_row_block *block = queue->first;
	const struct hf_row *row;
	size_t size;

	if (block && block->given == block->used) {
		queue->first = block->next;
		if (!queue->first)
			queue->last = NULL;
		free(block);
		block = queue->first;
	}
	/* A block is made for a row, so that this one has one. */
	if (!block)
		return NULL;
	row = (const struct hf_row *)((const uint8_t *)block->data + block->given);
	size = sizeof *row + ((row->size + (size_t)7) & ~(size_t)7);
	block->given += size;
	queue->bytes -= size;
	return row;
}

void hf_row_queue_take(struct hf_row_queue *queue, struct hf_row_queue *from)
{
	HF_LOCKED(&from->lock);
	queue->first = from->first;
	queue->last = from->last;
	queue->bytes = from->bytes;
	from->first = from->last = NULL;
	from->bytes = 0;
}

void hf_row_queue_init(struct hf_row_queue *queue)
{
	*queue = (struct hf_row_queue){0};
	pthread_mutex_init(&queue->lock, NULL);
}

void hf_row_queue_fini(struct hf_row_queue *queue)
{
	while (queue->first) {
		struct hf_row_block *block = queue->first;

		queue->first = block->next;
		free(block);
	}
	pthread_mutex_destroy(&queue->lock);
}
