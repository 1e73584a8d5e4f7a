/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/growing.h"

#include "codecs/base/bytes.h"

#include <stdlib.h>

/*
 * A list grows in blocks, each of which begins with the place of the next one, 4 bytes, and its own size, 4 bytes. A
 * posting is the gap to the one before and its count, LEB128, and may cross blocks.
 */
enum { BLOCK_HEAD = 8, BLOCK_LEAST = 24, BLOCK_MOST = 1024 };

/* The most that one posting adds: two numbers, and blocks for them. */
enum { POSTING_MOST = 2 * (HF_VARINT_MAX + BLOCK_MOST) };

int hf_growing_init(struct hf_growing_lists *lists, uint32_t room)
{
	*lists = (struct hf_growing_lists){.bytes = malloc(room), .room = room};
	hf_growing_clear(lists);
	return lists->bytes ? 0 : HF_ERR_NOMEM;
}

void hf_growing_fini(struct hf_growing_lists *lists)
{
	free(lists->bytes);
	lists->bytes = NULL;
}

void hf_growing_clear(struct hf_growing_lists *lists)
{
	lists->size = BLOCK_HEAD; /* block 0 is none */
}

bool hf_growing_has_room(const struct hf_growing_lists *lists)
{
	return lists->room - lists->size >= POSTING_MOST;
}

/* ---- making ---- */

static void add_block(struct hf_growing_lists *lists, struct hf_growing *list)
{
	uint32_t size = BLOCK_LEAST;

	if (list->last) {
		size = 2 * hf_get32(lists->bytes + list->last + 4);
		size = size < BLOCK_MOST ? size : BLOCK_MOST;
		hf_put32(lists->bytes + list->last, lists->size);
	} else {
		list->first = lists->size;
	}
	list->last = lists->size;
	list->at = list->last + BLOCK_HEAD;
	hf_put32(lists->bytes + list->last, 0);
	hf_put32(lists->bytes + list->last + 4, size);
	lists->size += size;
}

static void add_bytes(struct hf_growing_lists *lists, struct hf_growing *list, const uint8_t *from, const uint8_t *to)
{
	for (; from < to; from++) {
		if (!list->last || list->at == list->last + hf_get32(lists->bytes + list->last + 4))
			add_block(lists, list);
		lists->bytes[list->at++] = *from;
	}
}

/* The last place is one of those before. */
static void add_posting(struct hf_growing_lists *lists, struct hf_growing *list)
{
	uint8_t bytes[2 * HF_VARINT_MAX], *end = bytes;

	end = hf_put_varint(end, list->place - list->listed);
	end = hf_put_varint(end, list->pending);
	add_bytes(lists, list, bytes, end);
	list->listed = list->place + 1;
	list->count += list->pending;
	list->pending = 0;
	list->postings++;
}

void hf_growing_add(struct hf_growing_lists *lists, struct hf_growing *list, uint64_t place, uint64_t count)
{
	if (list->place != place && list->pending)
		add_posting(lists, list);
	list->place = place;
	list->pending += count;
}

/* ---- reading ---- */

void hf_growing_read(const struct hf_growing_lists *lists, const struct hf_growing *list, uint64_t base,
		     struct hf_growing_reader *ret_reader)
{
	*ret_reader = (struct hf_growing_reader){.bytes = lists->bytes,
						 .list = list,
						 .block = list->first,
						 .at = list->first + BLOCK_HEAD,
						 .left = list->postings,
						 .place = base};
}

static uint64_t get_number(struct hf_growing_reader *r)
{
	uint64_t value = 0;

	for (unsigned shift = 0;; shift += 7) {
		uint8_t byte;

		if (r->at == r->block + hf_get32(r->bytes + r->block + 4)) {
			r->block = hf_get32(r->bytes + r->block);
			r->at = r->block + BLOCK_HEAD;
		}
		byte = r->bytes[r->at++];
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
}

void hf_growing_next(struct hf_growing_reader *r, struct hf_posting *ret_posting)
{
	if (!r->left) {
		*ret_posting = (struct hf_posting){.chunk = r->list->place, .count = r->list->pending};
		return;
	}
	ret_posting->chunk = r->place + get_number(r);
	ret_posting->count = get_number(r);
	r->place = ret_posting->chunk + 1;
	r->left--;
}

int hf_growing_code(const struct hf_growing_lists *lists, const struct hf_growing *list,
		    const struct hf_list_facts *facts, struct hf_list_writer *writer)
{
	struct hf_growing_reader reader;
	int err = 0;

	hf_list_begin(writer, facts, list->place);
	hf_growing_read(lists, list, facts->first, &reader);
	for (uint64_t i = 0; i < facts->postings && !err; i++) {
		struct hf_posting posting;

		hf_growing_next(&reader, &posting);
		err = hf_list_add(writer, &posting);
	}
	return err ? err : hf_list_end(writer);
}

/* ---- to a file and back ---- */

/* While they are read, their blocks come in another order: the last one of a list may want room that it does not use. */
void hf_growing_keep_begin(struct hf_growing_lists *lists, uint32_t most, struct hf_growing_kept *kept, struct hf_keep *k)
{
	kept->size = lists->size;
	kept->room = lists->room;
	HF_KEEP(k, kept->room, most);
	HF_KEEP(k, kept->size, kept->room);
	if (!k->load)
		return;
	hf_growing_fini(lists);
	if (hf_growing_init(lists, most + POSTING_MOST))
		hf_keep_fail(k, HF_ERR_NOMEM);
}

static void save(const struct hf_growing_lists *lists, const struct hf_growing *list, uint64_t base, struct hf_keep *k)
{
	struct hf_growing_reader reader;
	uint64_t n = hf_growing_postings(list), next = base;

	hf_growing_read(lists, list, base, &reader);
	hf_keep_number(k, &n, UINT64_MAX);
	for (uint64_t i = 0; i < n && !k->err; i++) {
		struct hf_posting posting;
		uint64_t gap;

		hf_growing_next(&reader, &posting);
		gap = posting.chunk - next;
		hf_keep_number(k, &gap, UINT64_MAX);
		hf_keep_number(k, &posting.count, UINT64_MAX);
		next = posting.chunk + 1;
	}
}

static void load(struct hf_growing_lists *lists, struct hf_growing *list, uint64_t base, uint64_t last, struct hf_keep *k)
{
	uint64_t n = 0, place = base;

	hf_growing_begin(list, base);
	hf_keep_number(k, &n, UINT64_MAX);
	hf_keep_check(k, n && last < UINT64_MAX);
	for (uint64_t i = 0; i < n && !k->err; i++) {
		struct hf_posting posting = {0};

		hf_keep_number(k, &posting.chunk, UINT64_MAX);
		hf_keep_number(k, &posting.count, INT64_MAX);
		hf_keep_check(k, posting.count && place <= last && posting.chunk <= last - place);
		hf_keep_check(k, posting.count <= INT64_MAX - hf_growing_total(list) && hf_growing_has_room(lists));
		if (k->err)
			return;
		hf_growing_add(lists, list, place + posting.chunk, posting.count);
		place += posting.chunk + 1;
	}
}

void hf_growing_keep(struct hf_growing_lists *lists, struct hf_growing *list, uint64_t base, uint64_t last,
		     struct hf_keep *k)
{
	if (k->load)
		load(lists, list, base, last, k);
	else
		save(lists, list, base, k);
}

void hf_growing_keep_end(struct hf_growing_lists *lists, const struct hf_growing_kept *kept, struct hf_keep *k)
{
	hf_keep_check(k, !k->load || lists->size == kept->size);
	if (k->load && !k->err)
		lists->room = (uint32_t)kept->room;
}
