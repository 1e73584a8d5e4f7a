/* SPDX-License-Identifier: Apache-2.0 */
#include "index/row_queue.h"

#include "codecs/base/err.h"

#include <stdlib.h>
#include <string.h>

/* A dozen rows of a few dozen bytes; larger records get a block of their own. */
#define BLOCK ((size_t)4096)
#define RECORD_MAX ((size_t)1 << 20)

struct hf_tape_block {
	struct hf_tape_block *next;
	size_t used, given, cap; /* bytes */
	uint64_t data[];
};

static int add_block(struct hf_tape *tape, size_t need)
{
	const size_t cap = need < BLOCK ? BLOCK : need;
	struct hf_tape_block *block = malloc(sizeof *block + cap);

	if (!block)
		return HF_ERR_NOMEM;
	*block = (struct hf_tape_block){.cap = cap};
	if (tape->last)
		tape->last->next = block;
	else
		tape->first = block;
	tape->last = block;
	return 0;
}

int hf_tape_push(struct hf_tape *tape, uint32_t kind, const void *a, size_t an, const void *b, size_t bn)
{
	const size_t need = sizeof(struct hf_tape_record) + ((an + bn + 7) & ~(size_t)7);
	const struct hf_tape_record record = {.kind = kind, .size = (uint32_t)(an + bn)};
	uint8_t *to;
	int err;

	if (an > RECORD_MAX || bn > RECORD_MAX)
		return HF_ERR_LIMIT;
	if (!tape->last || tape->last->cap - tape->last->used < need) {
		err = add_block(tape, need);
		if (err)
			return err;
	}
	to = (uint8_t *)tape->last->data + tape->last->used;
	memcpy(to, &record, sizeof record);
	if (an)
		memcpy(to + sizeof record, a, an);
	if (bn)
		memcpy(to + sizeof record + an, b, bn);
	tape->last->used += need;
	tape->bytes += need;
	return 0;
}

const struct hf_tape_record *hf_tape_pop(struct hf_tape *tape)
{
	struct hf_tape_block *block = tape->first;
	const struct hf_tape_record *record;
	size_t size;

	if (block && block->given == block->used) {
		tape->first = block->next;
		if (!tape->first)
			tape->last = NULL;
		free(block);
		block = tape->first;
	}
	/* A block is made for a record, so that this one has one. */
	if (!block)
		return NULL;
	record = (const struct hf_tape_record *)((const uint8_t *)block->data + block->given);
	size = sizeof *record + ((record->size + (size_t)7) & ~(size_t)7);
	block->given += size;
	tape->bytes -= size;
	return record;
}

void hf_tape_take(struct hf_tape *tape, struct hf_tape *from)
{
	*tape = *from;
	*from = (struct hf_tape){0};
}

void hf_tape_free(struct hf_tape *tape)
{
	while (tape->first) {
		struct hf_tape_block *block = tape->first;

		tape->first = block->next;
		free(block);
	}
	*tape = (struct hf_tape){0};
}
