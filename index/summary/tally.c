/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/tally.h"

#include "codecs/base/bytes.h"

#include <stdbool.h>
#include <stdlib.h>

const struct hf_tally_room hf_tally_room_default = {.runs = 1u << 16, .code = 4u << 20, .lists = 12u << 20};

/* ---- making ---- */

static uint32_t slots_for(uint32_t runs)
{
	uint32_t n = 16;

	while (n < 2 * runs)
		n *= 2;
	return n;
}

int hf_tally_new(const struct hf_tally_room *room, struct hf_tally **ret_tally)
{
	struct hf_tally *t = calloc(1, sizeof *t);

	*ret_tally = t;
	if (!t)
		return HF_ERR_NOMEM;
	t->room = *room;
	t->slot_mask = slots_for(room->runs) - 1;
	t->runs = malloc(room->runs * sizeof *t->runs);
	t->slots = calloc((size_t)t->slot_mask + 1, sizeof *t->slots);
	t->code = malloc(room->code);
	if (!hf_growing_init(&t->lists, room->lists) && t->runs && t->slots && t->code)
		return 0;
	hf_tally_free(t);
	*ret_tally = NULL;
	return HF_ERR_NOMEM;
}

void hf_tally_free(struct hf_tally *t)
{
	if (!t)
		return;
	free(t->runs);
	free(t->slots);
	free(t->code);
	hf_growing_fini(&t->lists);
	free(t);
}

void hf_tally_reset(struct hf_tally *t)
{
	memset(t->slots, 0, ((size_t)t->slot_mask + 1) * sizeof *t->slots);
	t->run_count = t->code_size = 0;
	hf_growing_clear(&t->lists);
	t->insns = 0;
	t->first_chunk = t->chunk;
}

void hf_tally_facts(const struct hf_tally *tally, const struct hf_tally_run *run, struct hf_list_facts *ret_facts)
{
	*ret_facts = (struct hf_list_facts){.postings = hf_growing_postings(&run->list),
					    .total = hf_growing_total(&run->list),
					    .first = tally->first_chunk,
					    .end = tally->chunk + 1};
}

/* ---- runs ---- */

static bool same_key(const struct hf_run_key *a, const struct hf_run_key *b)
{
	return a->first == b->first && a->last == b->last && a->context == b->context && a->mode == b->mode &&
	       a->isa == b->isa && a->entered == b->entered && a->ended == b->ended;
}

static uint64_t hash_of(const struct hf_run *run)
{
	const struct hf_run_key *k = &run->key;
	const uint64_t how = (uint64_t)k->context << 32 | (uint32_t)k->mode << 24 | (uint32_t)k->isa << 16 |
			     (uint32_t)k->entered << 8 | k->ended;
	uint64_t h = (run->hash ^ run->hash >> 32 ^ k->first) * UINT64_C(0xa0761d6478bd642f);

	h = (h ^ h >> 32 ^ k->last ^ how << 7) * UINT64_C(0xe7037ed1a0b428db);
	return h ^ h >> 32;
}

/* The slot of the run, or the one where it is to be. */
static uint32_t find(const struct hf_tally *t, const struct hf_run *run, uint64_t hash)
{
	uint32_t at = (uint32_t)hash & t->slot_mask;

	for (; t->slots[at]; at = (at + 1) & t->slot_mask) {
		const struct hf_tally_run *known = &t->runs[t->slots[at] - 1];

		if (known->hash == hash && known->bytes == run->bytes && known->insns == run->insns &&
		    same_key(&known->key, &run->key) && memcmp(t->code + known->code, run->code, run->bytes) == 0)
			break;
	}
	return at;
}

static void add_run(struct hf_tally *t, const struct hf_run *run, uint64_t hash, uint32_t slot)
{
	t->runs[t->run_count] = (struct hf_tally_run){
		.key = run->key, .insns = run->insns, .bytes = run->bytes, .hash = hash, .code = t->code_size};
	hf_growing_begin(&t->runs[t->run_count].list, t->first_chunk);
	memcpy(t->code + t->code_size, run->code, run->bytes);
	t->code_size += run->bytes;
	t->slots[slot] = ++t->run_count;
}

static bool has_room(const struct hf_tally *t, const struct hf_run *run)
{
	return t->run_count < t->room.runs && t->room.code - t->code_size >= run->bytes &&
	       hf_growing_has_room(&t->lists);
}

int hf_tally_put(struct hf_tally *t, const struct hf_run *run)
{
	const uint64_t hash = hash_of(run);
	const uint32_t slot = find(t, run, hash);

	if (!t->slots[slot] || t->runs[t->slots[slot] - 1].list.place != t->chunk) {
		if (!has_room(t, run))
			return HF_ERR_LIMIT;
		if (!t->slots[slot])
			add_run(t, run, hash, slot);
	}
	hf_growing_add(&t->lists, &t->runs[t->slots[slot] - 1].list, t->chunk, 1);
	t->insns += run->insns;
	return 0;
}

static int compare(const void *a, const void *b, void *ctx)
{
	const struct hf_tally_run *x = *(const struct hf_tally_run *const *)a;
	const struct hf_tally_run *y = *(const struct hf_tally_run *const *)b;
	const struct hf_tally *t = ctx;

#define HF_ORDER(member)            \
	if (x->member != y->member) \
		return x->member < y->member ? -1 : 1;
	HF_ORDER(key.first)
	HF_ORDER(key.last)
	HF_ORDER(key.context)
	HF_ORDER(key.mode)
	HF_ORDER(key.isa)
	HF_ORDER(key.entered)
	HF_ORDER(key.ended)
	HF_ORDER(insns)
	HF_ORDER(bytes)
#undef HF_ORDER
	return memcmp(t->code + x->code, t->code + y->code, x->bytes);
}

int hf_tally_sort(struct hf_tally *t, const struct hf_tally_run ***ret_order)
{
	const struct hf_tally_run **order = malloc(((size_t)t->run_count + 1) * sizeof *order);

	*ret_order = order;
	if (!order)
		return HF_ERR_NOMEM;
	for (uint32_t i = 0; i < t->run_count; i++)
		order[i] = &t->runs[i];
	qsort_r(order, t->run_count, sizeof *order, compare, t);
	return 0;
}

/* ---- to a file and back ---- */

/* Two that are the same would be one run in two places, which nobody minds. */
static void take_slot(struct hf_tally *t, uint32_t number)
{
	uint32_t at = (uint32_t)t->runs[number - 1].hash & t->slot_mask;

	while (t->slots[at])
		at = (at + 1) & t->slot_mask;
	t->slots[at] = number;
}

static void keep_run(struct hf_tally *t, uint32_t i, struct hf_keep *k)
{
	struct hf_tally_run *run = &t->runs[i];

	if (k->load)
		*run = (struct hf_tally_run){.code = t->code_size};
	hf_run_key_keep(&run->key, k);
	HF_KEEP(k, run->insns, HF_RUN_INSNS);
	HF_KEEP(k, run->bytes, HF_RUN_BYTES);
	hf_keep_bytes(k, &run->hash, sizeof run->hash);
	hf_keep_check(k, run->insns && run->bytes <= t->room.code - run->code);
	if (!k->err)
		hf_keep_bytes(k, t->code + run->code, run->bytes);
	hf_growing_keep(&t->lists, &run->list, t->first_chunk, t->chunk, k);
	if (!k->load || k->err)
		return;
	t->code_size += run->bytes;
	t->run_count = i + 1;
	take_slot(t, i + 1);
}

void hf_tally_keep(struct hf_tally *t, struct hf_keep *k)
{
	struct hf_growing_kept lists;
	uint32_t count = t->run_count;

	HF_KEEP(k, t->chunk, INT64_MAX);
	HF_KEEP(k, t->first_chunk, t->chunk);
	HF_KEEP(k, t->insns, INT64_MAX);
	HF_KEEP(k, count, t->room.runs);
	hf_growing_keep_begin(&t->lists, t->room.lists, &lists, k);
	for (uint32_t i = 0; i < count && !k->err; i++)
		keep_run(t, i, k);
	hf_growing_keep_end(&t->lists, &lists, k);
}
