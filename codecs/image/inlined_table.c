/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/image/inlined_table.h"

#include "codecs/base/search.h"
#include "codecs/image/elf_read.h"
#include "codecs/image/grow.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int hf_inlined_new_table(struct hf_inlined **ret_inlined)
{
	struct hf_inlined *inlined = calloc(1, sizeof *inlined);
	uint32_t offset;
	int err = inlined ? hf_names_add(&inlined->names, "", 0, &offset) : HF_ERR_NOMEM;

	if (!err)
		err = hf_names_add(&inlined->names, "?", 1, &offset);
	if (err)
		hf_inlined_free(inlined);
	else
		*ret_inlined = inlined;
	return err;
}

int hf_inlined_add_range(struct hf_inlined_ranges *ranges, uint64_t start, uint64_t end, uint32_t call)
{
	const int err = hf_grow(&ranges->row, ranges->count, &ranges->cap, HF_INLINED_RANGES_MAX, sizeof *ranges->row);

	if (err)
		return err;
	ranges->row[ranges->count] = (struct hf_inlined_range){start, end, call, (uint32_t)ranges->count};
	ranges->count++;
	return 0;
}

int hf_inlined_add_call(struct hf_inlined *inlined, struct hf_inlined_node node, uint32_t *ret_call)
{
	const int err = hf_grow(&inlined->call, inlined->call_count, &inlined->call_cap, HF_INLINED_CALLS_MAX, sizeof node);

	if (err)
		return err;
	inlined->call[inlined->call_count++] = node;
	*ret_call = (uint32_t)inlined->call_count;
	return 0;
}

/* ---- of ranges upon each other the last ---- */

static int by_start(const void *a, const void *b)
{
	const struct hf_inlined_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* A heap of ranges that have begun; the first one is the last in order. */
struct heap {
	const struct hf_inlined_range **at;
	size_t count;
};

static void push(struct heap *heap, const struct hf_inlined_range *range)
{
	size_t i = heap->count++;

	for (; i && heap->at[(i - 1) / 2]->order < range->order; i = (i - 1) / 2)
		heap->at[i] = heap->at[(i - 1) / 2];
	heap->at[i] = range;
}

static void pop(struct heap *heap)
{
	const struct hf_inlined_range *last = heap->at[--heap->count];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < heap->count) {
		if (child + 1 < heap->count && heap->at[child + 1]->order > heap->at[child]->order)
			child++;
		if (heap->at[child]->order < last->order)
			break;
		heap->at[i] = heap->at[child];
		i = child;
	}
	heap->at[i] = last;
}

/* From that address on it is this call. */
static int add_row(struct hf_inlined *inlined, uint64_t start, uint32_t call)
{
	struct hf_inlined_row *last = inlined->count ? &inlined->row[inlined->count - 1] : NULL;
	int err;

	if ((last ? last->call : 0) == call)
		return 0;
	/* Nothing was of the one before. */
	if (last && last->start == start)
		inlined->count--;
	err = hf_grow(&inlined->row, inlined->count, &inlined->cap, 2 * (size_t)HF_INLINED_RANGES_MAX,
		      sizeof *inlined->row);
	if (!err)
		inlined->row[inlined->count++] = (struct hf_inlined_row){start, call};
	return err;
}

/* The rows up to the address before. */
static int advance(struct hf_inlined *inlined, struct heap *heap, uint64_t at, uint64_t before)
{
	int err = 0;

	while (heap->count && !err) {
		const struct hf_inlined_range *top = heap->at[0];

		if (top->end <= at) {
			pop(heap);
			continue;
		}
		err = add_row(inlined, at, top->call);
		if (err || top->end > before)
			return err;
		at = top->end;
		pop(heap);
	}
	return err ? err : at < before ? add_row(inlined, at, 0) : 0;
}

int hf_inlined_resolve(struct hf_inlined *inlined, struct hf_inlined_ranges *ranges)
{
	struct heap heap = {.at = calloc(ranges->count + 1, sizeof(struct hf_inlined_range *))};
	int err = heap.at ? 0 : HF_ERR_NOMEM;

	if (ranges->count)
		qsort(ranges->row, ranges->count, sizeof *ranges->row, by_start);
	for (size_t i = 0; i < ranges->count && !err; i++) {
		const struct hf_inlined_range *range = &ranges->row[i];
		const bool last = i + 1 == ranges->count;

		push(&heap, range);
		err = advance(inlined, &heap, range->start, last ? UINT64_MAX : range[1].start);
	}
	free(heap.at);
	hf_shrink(&inlined->row, inlined->count, &inlined->cap, sizeof *inlined->row);
	hf_shrink(&inlined->call, inlined->call_count, &inlined->call_cap, sizeof *inlined->call);
	return err;
}

/* ---- all of it unknown ---- */

static int add_segments(const struct hf_elf_file *file, uint64_t bias, struct hf_inlined *inlined)
{
	struct hf_inlined_ranges ranges = {.row = NULL};
	uint32_t call;
	int err = hf_inlined_add_call(inlined, (struct hf_inlined_node){.name = HF_INLINED_NO_NAME}, &call);

	for (size_t i = 0; i < file->segment_count && !err; i++) {
		const struct hf_elf_segment *segment = &file->segments[i];
		const uint64_t start = segment->address + bias, end = start + segment->size;

		if (segment->flags & HF_ELF_X && start < end)
			err = hf_inlined_add_range(&ranges, start, end, call);
	}
	if (!err)
		err = hf_inlined_resolve(inlined, &ranges);
	free(ranges.row);
	return err;
}

int hf_inlined_new_unknown(struct hf_src *elf, uint64_t bias, struct hf_inlined **ret_inlined)
{
	struct hf_elf_file file;
	int err = hf_elf_file_open(elf, &file, NULL);

	if (err)
		return err;
	err = hf_inlined_new_table(ret_inlined);
	if (!err) {
		err = add_segments(&file, bias, *ret_inlined);
		if (err)
			hf_inlined_free(*ret_inlined);
	}
	hf_elf_file_close(&file);
	return err;
}

/* ---- what is asked ---- */

void hf_inlined_free(struct hf_inlined *inlined)
{
	if (!inlined)
		return;
	free(inlined->row);
	free(inlined->call);
	free(inlined->names.at);
	free(inlined);
}

size_t hf_inlined_count(const struct hf_inlined *inlined)
{
	return inlined->count;
}

size_t hf_inlined_memory(const struct hf_inlined *inlined)
{
	return sizeof *inlined + inlined->cap * sizeof *inlined->row + inlined->call_cap * sizeof *inlined->call +
	       inlined->names.cap;
}

void hf_inlined_at(const struct hf_inlined *inlined, uint64_t pc, struct hf_inlined_place *ret_place)
{
	const size_t low = HF_COUNT_UP_TO(inlined->row, inlined->count, start, pc);

	*ret_place = (struct hf_inlined_place){.end = UINT64_MAX};
	if (low) {
		assert(inlined->row);
		ret_place->start = inlined->row[low - 1].start;
		ret_place->call = inlined->row[low - 1].call;
	}
	if (low < inlined->count)
		ret_place->end = inlined->row[low].start;
}

void hf_inlined_get(const struct hf_inlined *inlined, uint32_t call, struct hf_inlined_call *ret_call)
{
	const struct hf_inlined_node *node = &inlined->call[call - 1];

	*ret_call = (struct hf_inlined_call){.name = inlined->names.at + node->name, .file = inlined->names.at + node->file};
	ret_call->name_size = (uint32_t)strlen(ret_call->name);
	ret_call->file_size = (uint32_t)strlen(ret_call->file);
	ret_call->line = node->line;
	ret_call->outer = node->outer;
}
