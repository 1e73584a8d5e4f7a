/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/inverse.h"

#include <stdlib.h>
#include <string.h>

const struct hf_inverse_room hf_inverse_room_default = {
	.keys = 1u << 16, .lists = 4u << 20, .credit = 64u << 10, .coarse = 1u << 24};

static uint32_t slots_for(uint32_t keys)
{
	uint32_t n = 16;

	while (n < 2 * keys)
		n *= 2;
	return n;
}

int hf_inverse_new(const struct hf_inverse_room *room, struct hf_inverse **ret_inverse)
{
	struct hf_inverse *inv = calloc(1, sizeof *inv);

	*ret_inverse = inv;
	if (!inv)
		return HF_ERR_NOMEM;
	inv->room = *room;
	inv->slot_mask = slots_for(room->keys) - 1;
	inv->entries = malloc(room->keys * sizeof *inv->entries);
	inv->slots = calloc((size_t)inv->slot_mask + 1, sizeof *inv->slots);
	if (!hf_growing_init(&inv->lists, room->lists) && inv->entries && inv->slots)
		return 0;
	hf_inverse_free(inv);
	*ret_inverse = NULL;
	return HF_ERR_NOMEM;
}

void hf_inverse_free(struct hf_inverse *inv)
{
	if (!inv)
		return;
	free(inv->entries);
	free(inv->slots);
	hf_growing_fini(&inv->lists);
	free(inv);
}

void hf_inverse_clear(struct hf_inverse *inv)
{
	if (inv->count)
		memset(inv->slots, 0, ((size_t)inv->slot_mask + 1) * sizeof *inv->slots);
	inv->count = 0;
	hf_growing_clear(&inv->lists);
}

unsigned hf_inverse_level(const struct hf_inverse_key *key)
{
	return key->level;
}

/* ---- adding ---- */

/* The slot of the key, or the one where it is to be. */
static uint32_t find(const struct hf_inverse *inv, const struct hf_inverse_key *key)
{
	uint64_t hash = (key->a ^ key->b << 40 ^ key->b >> 24) * UINT64_C(0xa0761d6478bd642f);
	uint32_t at;

	hash ^= hash >> 32;
	for (at = (uint32_t)hash & inv->slot_mask; inv->slots[at]; at = (at + 1) & inv->slot_mask) {
		const struct hf_inverse_key *known = &inv->entries[inv->slots[at] - 1].key;

		if (known->a == key->a && known->b == key->b && known->level == key->level)
			break;
	}
	return at;
}

int hf_inverse_put(struct hf_inverse *inv, const struct hf_inverse_key *key, uint64_t base, uint64_t place,
		   uint64_t count, uint64_t *ret_added)
{
	const uint32_t slot = find(inv, key);
	struct hf_inverse_entry *entry;
	bool again;

	*ret_added = 0;
	again = inv->slots[slot] && inv->entries[inv->slots[slot] - 1].list.place == place;
	if (again && !count)
		return 0;
	if (!again && !hf_growing_has_room(&inv->lists))
		return HF_ERR_LIMIT;
	if (!inv->slots[slot]) {
		if (inv->count == inv->room.keys)
			return HF_ERR_LIMIT;
		inv->entries[inv->count].key = *key;
		hf_growing_begin(&inv->entries[inv->count].list, base);
		inv->slots[slot] = ++inv->count;
	}
	entry = &inv->entries[inv->slots[slot] - 1];
	*ret_added = count ? count : 1;
	hf_growing_add(&inv->lists, &entry->list, place, *ret_added);
	return 0;
}

/* ---- to a file and back ---- */

static void keep_key(struct hf_inverse *inv, uint32_t i, const struct hf_inverse_kept *kept, struct hf_keep *k)
{
	struct hf_inverse_key *key = &inv->entries[i].key;
	uint32_t slot;

	if (k->load)
		*key = (struct hf_inverse_key){0};
	HF_KEEP(k, key->a, UINT64_MAX);
	HF_KEEP(k, key->b, UINT64_MAX);
	HF_KEEP(k, key->level, UINT8_MAX);
	hf_keep_check(k, kept->is_key(key));
	if (!k->load || k->err)
		return;
	slot = find(inv, key);
	hf_keep_check(k, !inv->slots[slot]);
	inv->slots[slot] = i + 1;
}

void hf_inverse_keep(struct hf_inverse *inv, const struct hf_inverse_kept *kept, struct hf_keep *k, uint64_t *ret_total)
{
	struct hf_growing_kept lists;
	uint32_t count = inv->count;

	*ret_total = 0;
	HF_KEEP(k, count, inv->room.keys);
	/* hf_inverse_map may have made more of them than there is room for. */
	hf_growing_keep_begin(&inv->lists, 2 * inv->room.lists, &lists, k);
	for (uint32_t i = 0; i < count && !k->err; i++) {
		const struct hf_inverse_key *key = &inv->entries[i].key;
		unsigned shift;

		keep_key(inv, i, kept, k);
		if (k->err)
			break;
		shift = kept->shift(key);
		hf_growing_keep(&inv->lists, &inv->entries[i].list, kept->base >> shift, kept->last >> shift, k);
		inv->count = i + 1 > inv->count ? i + 1 : inv->count;
		*ret_total += hf_growing_total(&inv->entries[i].list);
	}
	hf_growing_keep_end(&inv->lists, &lists, k);
}

int hf_inverse_sort(const struct hf_inverse *inv, uint32_t **ret_order)
{
	return hf_inverse_order(&inv->entries->key, sizeof *inv->entries, inv->count, ret_order);
}

/* ---- coarser ---- */

struct mapped {
	struct hf_inverse_key key;
	const struct hf_inverse_entry *entry;
};

static int compare_postings(const void *a, const void *b)
{
	const struct hf_posting *x = a, *y = b;

	return (x->chunk > y->chunk) - (x->chunk < y->chunk);
}

/* All postings of one entry, behind those that are there. */
static size_t take_postings(const struct hf_inverse *inv, const struct hf_inverse_mapping *mapping,
			    const struct mapped *from, struct hf_posting *to)
{
	const unsigned before = mapping->shift(&from->entry->key), by = mapping->shift(&from->key) - before;
	const uint64_t n = hf_growing_postings(&from->entry->list);
	struct hf_growing_reader reader;

	hf_growing_read(&inv->lists, &from->entry->list, mapping->base >> before, &reader);
	for (uint64_t i = 0; i < n; i++) {
		hf_growing_next(&reader, &to[i]);
		to[i].chunk >>= by;
	}
	return (size_t)n;
}

/* The n entries that become one, by their numbers. */
static int put_mapped(const struct hf_inverse *inv, const struct hf_inverse_mapping *mapping,
		      const struct mapped *mapped, const uint32_t *order, size_t n, struct hf_inverse *to,
		      uint64_t *total)
{
	const struct hf_inverse_key *key = &mapped[*order].key;
	const uint64_t base = mapping->base >> mapping->shift(key);
	struct hf_posting *postings;
	uint64_t added, count = 0;
	int err = 0;

	for (size_t i = 0; i < n; i++)
		count += hf_growing_postings(&mapped[order[i]].entry->list);
	postings = calloc((size_t)count, sizeof *postings);
	if (!postings)
		return HF_ERR_NOMEM;
	count = 0;
	for (size_t i = 0; i < n; i++)
		count += take_postings(inv, mapping, &mapped[order[i]], postings + count);
	if (n > 1)
		qsort(postings, (size_t)count, sizeof *postings, compare_postings);
	for (uint64_t i = 0; i < count && !err; i++) {
		err = hf_inverse_put(to, key, base, postings[i].chunk, mapping->counted ? postings[i].count : 0,
				     &added);
		*total += added;
	}
	free(postings);
	return err;
}

static int map_all(const struct hf_inverse *inv, const struct hf_inverse_mapping *mapping, struct mapped *mapped,
		   struct hf_inverse *to, uint64_t *total)
{
	uint32_t *order;
	int err;

	for (uint32_t i = 0; i < inv->count; i++) {
		mapped[i] = (struct mapped){.key = inv->entries[i].key, .entry = &inv->entries[i]};
		mapping->fn(mapping->ctx, &mapped[i].key);
	}
	err = hf_inverse_order(&mapped->key, sizeof *mapped, inv->count, &order);
	for (uint32_t i = 0, n; i < inv->count && !err; i += n) {
		for (n = 1;
		     i + n < inv->count && !hf_inverse_compare(&mapped[order[i]].key, &mapped[order[i + n]].key);)
			n++;
		err = put_mapped(inv, mapping, mapped, order + i, n, to, total);
	}
	free(order);
	return err;
}

int hf_inverse_map(struct hf_inverse *inv, const struct hf_inverse_mapping *mapping, uint64_t *ret_total)
{
	struct mapped *mapped = malloc(((size_t)inv->count + 1) * sizeof *mapped);
	struct hf_inverse_room room = inv->room;
	struct hf_inverse *to = NULL, swap;
	int err = mapped ? 0 : HF_ERR_NOMEM;

	/* A list that begins anew may take a little more, for counts grow; it takes no more keys. */
	room.lists *= 2;
	*ret_total = 0;
	if (!err)
		err = hf_inverse_new(&room, &to);
	if (!err)
		err = map_all(inv, mapping, mapped, to, ret_total);
	if (!err) {
		swap = *inv;
		*inv = *to;
		*to = swap;
		inv->room.lists = to->room.lists;
		inv->lists.room = to->room.lists > inv->lists.size ? to->room.lists : inv->lists.size;
	}
	free(mapped);
	hf_inverse_free(to);
	return err == HF_ERR_LIMIT ? HF_ERR_BUG : err;
}
