/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/run_table.h"

#include "codecs/base/bytes.h"
#include "index/summary/order.h"

#include <stdbool.h>
#include <stdlib.h>

const struct hf_run_table_room hf_run_table_room_default = {
	.runs = 1u << 16, .code = 4u << 20, .sets = 1024, .attempts = 128, .rare = 128, .keys = 1u << 12};

/* ---- making ---- */

static uint32_t slots_for(uint32_t runs)
{
	uint32_t n = 16;

	while (n < 2 * runs)
		n *= 2;
	return n;
}

int hf_run_table_new(const struct hf_run_table_room *room, struct hf_group_writer *writer,
		     struct hf_run_table **ret_table)
{
	struct hf_run_table *t = calloc(1, sizeof *t);

	*ret_table = t;
	if (!t)
		return HF_ERR_NOMEM;
	t->room = *room;
	t->writer = writer;
	t->slot_mask = slots_for(room->runs) - 1;
	t->runs = malloc(room->runs * sizeof *t->runs);
	t->slots = calloc((size_t)t->slot_mask + 1, sizeof *t->slots);
	t->code = malloc(room->code);
	t->executed = malloc(room->runs * sizeof *t->executed);
	if (t->runs && t->slots && t->code && t->executed)
		return 0;
	hf_run_table_free(t);
	*ret_table = NULL;
	return HF_ERR_NOMEM;
}

void hf_run_table_free(struct hf_run_table *t)
{
	if (!t)
		return;
	free(t->runs);
	free(t->slots);
	free(t->code);
	free(t->executed);
	free(t->postings);
	free(t->spare);
	free(t->numbers.p);
	free(t->bits.p);
	free(t->counts.p);
	free(t);
}

void hf_run_table_reset(struct hf_run_table *t)
{
	memset(t->slots, 0, ((size_t)t->slot_mask + 1) * sizeof *t->slots);
	t->first_number += t->run_count;
	t->run_count = t->code_size = 0;
	t->insns = 0;
	t->first_chunk = t->chunk;
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

/* The slot of the run, or the empty one for it. */
static uint32_t find(const struct hf_run_table *t, const struct hf_run *run, uint64_t hash)
{
	uint32_t at = (uint32_t)hash & t->slot_mask;

	for (; t->slots[at]; at = (at + 1) & t->slot_mask) {
		const struct hf_run_table_run *known = &t->runs[t->slots[at] - 1];

		if (known->hash == hash && known->bytes == run->bytes && known->insns == run->insns &&
		    same_key(&known->key, &run->key) && memcmp(t->code + known->code, run->code, run->bytes) == 0)
			break;
	}
	return at;
}

static void add_run(struct hf_run_table *t, const struct hf_run *run, uint64_t hash, uint32_t slot)
{
	t->runs[t->run_count] = (struct hf_run_table_run){.key = run->key,
							  .insns = run->insns,
							  .bytes = run->bytes,
							  .hash = hash,
							  .code = t->code_size,
							  .first = t->chunk / HF_GROUP_CHUNKS};
	memcpy(t->code + t->code_size, run->code, run->bytes);
	t->code_size += run->bytes;
	t->slots[slot] = ++t->run_count;
}

int hf_run_table_put(struct hf_run_table *t, const struct hf_run *run)
{
	const uint64_t hash = hash_of(run);
	const uint32_t slot = find(t, run, hash);
	struct hf_run_table_run *known;

	if (!t->slots[slot]) {
		if (t->run_count == t->room.runs || t->room.code - t->code_size < run->bytes)
			return HF_ERR_LIMIT;
		add_run(t, run, hash, slot);
	}
	known = &t->runs[t->slots[slot] - 1];
	if (!known->count++)
		t->executed[t->executed_count++] = t->slots[slot] - 1;
	t->insns += run->insns;
	return 0;
}

/* ---- chunks and groups ---- */

static int make_room(struct hf_run_table *t, size_t n)
{
	const size_t room = 2 * t->posting_room + n;
	struct hf_run_table_posting *bigger;

	if (t->posting_room - t->posting_count >= n)
		return 0;
	bigger = realloc(t->postings, room * sizeof *bigger);
	if (!bigger)
		return HF_ERR_NOMEM;
	t->postings = bigger;
	free(t->spare);
	t->spare = malloc(room * sizeof *t->spare);
	t->posting_room = t->spare ? room : 0;
	return t->spare ? 0 : HF_ERR_NOMEM;
}

int hf_run_table_settle(struct hf_run_table *t)
{
	int err = make_room(t, t->executed_count);

	for (uint32_t i = 0; i < t->executed_count && !err; i++) {
		struct hf_run_table_run *run = &t->runs[t->executed[i]];

		t->postings[t->posting_count++] =
			(struct hf_run_table_posting){.run = t->first_number + t->executed[i],
						      .chunk = (uint32_t)(t->chunk % HF_GROUP_CHUNKS),
						      .count = run->count};
		run->total += run->count;
		run->chunks++;
		run->last = t->chunk / HF_GROUP_CHUNKS;
		run->count = 0;
	}
	t->executed_count = 0;
	return err;
}

/* Codes the run whose postings begin at at; returns where the next run's begin. */
static size_t code_run(struct hf_run_table *t, size_t at, uint64_t last, struct hf_raw *totals)
{
	const uint64_t run = t->postings[at].run;
	uint64_t bits = 0, total = 0;
	uint8_t bytes[8];

	for (; at < t->posting_count && t->postings[at].run == run; at++) {
		bits |= UINT64_C(1) << t->postings[at].chunk;
		total += t->postings[at].count;
		hf_raw_number(&t->counts, t->postings[at].count);
	}
	hf_raw_number(&t->numbers, run - last);
	hf_raw_number(totals, total);
	hf_put64(bytes, bits);
	hf_raw_bytes(&t->bits, bytes, sizeof bytes);
	return at;
}

static int end_group(struct hf_run_table *t, uint64_t group)
{
	struct hf_raw head = {0}, totals = {0};
	uint64_t runs = 0, last = 0;
	int err;

	hf_order(t->postings, t->spare, t->posting_count, sizeof *t->postings);
	for (size_t at = 0; at < t->posting_count; runs++) {
		const uint64_t run = t->postings[at].run;

		at = code_run(t, at, last, &totals);
		last = run;
	}
	hf_raw_number(&head, runs);
	hf_raw_bytes(&head, t->numbers.p, t->numbers.n);
	hf_raw_bytes(&head, totals.p, totals.n);
	hf_raw_bytes(&t->bits, t->counts.p, t->counts.n);
	err = t->numbers.err ? t->numbers.err : totals.err ? totals.err : t->counts.err;
	if (!err)
		err = hf_group_write(t->writer, group, HF_SECTION_RUNS, &head);
	if (!err)
		err = hf_group_write(t->writer, group, HF_SECTION_COUNTS, &t->bits);
	free(head.p);
	free(totals.p);
	t->numbers.n = t->counts.n = t->posting_count = 0;
	return err;
}

int hf_run_table_cut(struct hf_run_table *t)
{
	int err = hf_run_table_settle(t);

	t->chunk++;
	return err || t->chunk % HF_GROUP_CHUNKS ? err : end_group(t, t->chunk / HF_GROUP_CHUNKS - 1);
}

int hf_run_table_end(struct hf_run_table *t)
{
	return t->chunk % HF_GROUP_CHUNKS ? end_group(t, t->chunk / HF_GROUP_CHUNKS) : 0;
}

/* ---- sorting ---- */

static int compare(const void *a, const void *b, void *ctx)
{
	const struct hf_run_table_run *x = *(const struct hf_run_table_run *const *)a;
	const struct hf_run_table_run *y = *(const struct hf_run_table_run *const *)b;
	const struct hf_run_table *t = ctx;

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

int hf_run_table_sort(struct hf_run_table *t, const struct hf_run_table_run ***ret_order)
{
	const struct hf_run_table_run **order = malloc(((size_t)t->run_count + 1) * sizeof *order);

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
static void take_slot(struct hf_run_table *t, uint32_t number)
{
	uint32_t at = (uint32_t)t->runs[number - 1].hash & t->slot_mask;

	while (t->slots[at])
		at = (at + 1) & t->slot_mask;
	t->slots[at] = number;
}

static void keep_run(struct hf_run_table *t, uint32_t i, struct hf_keep *k)
{
	struct hf_run_table_run *run = &t->runs[i];

	if (k->load)
		*run = (struct hf_run_table_run){.code = t->code_size};
	hf_run_key_keep(&run->key, k);
	HF_KEEP(k, run->insns, HF_RUN_INSNS);
	HF_KEEP(k, run->bytes, HF_RUN_BYTES);
	hf_keep_bytes(k, &run->hash, sizeof run->hash);
	hf_keep_check(k, run->insns && run->bytes <= t->room.code - run->code);
	if (!k->err)
		hf_keep_bytes(k, t->code + run->code, run->bytes);
	HF_KEEP(k, run->count, UINT32_MAX);
	HF_KEEP(k, run->total, HF_COUNT_MAX);
	HF_KEEP(k, run->chunks, run->total);
	HF_KEEP(k, run->first, t->chunk / HF_GROUP_CHUNKS);
	HF_KEEP(k, run->last, t->chunk / HF_GROUP_CHUNKS);
	if (!k->load || k->err)
		return;
	t->code_size += run->bytes;
	t->run_count = i + 1;
	take_slot(t, i + 1);
	if (run->count)
		t->executed[t->executed_count++] = i;
}

static void keep_posting(struct hf_run_table *t, size_t i, struct hf_keep *k)
{
	struct hf_run_table_posting *p = &t->postings[i];

	HF_KEEP(k, p->run, t->first_number + t->run_count - 1);
	HF_KEEP(k, p->chunk, HF_GROUP_CHUNKS - 1);
	HF_KEEP(k, p->count, UINT32_MAX);
	hf_keep_check(k, p->count != 0);
}

void hf_run_table_keep(struct hf_run_table *t, struct hf_keep *k)
{
	uint64_t postings = t->posting_count;
	uint32_t count = t->run_count;

	HF_KEEP(k, t->chunk, INT64_MAX);
	HF_KEEP(k, t->first_chunk, t->chunk);
	HF_KEEP(k, t->insns, INT64_MAX);
	HF_KEEP(k, t->first_number, HF_NUMBER_MAX);
	HF_KEEP(k, count, t->room.runs);
	for (uint32_t i = 0; i < count && !k->err; i++)
		keep_run(t, i, k);
	HF_KEEP(k, postings, HF_GROUP_CHUNKS << 20);
	for (size_t i = 0; i < postings && !k->err; i++) {
		if (k->load)
			hf_keep_fail(k, make_room(t, 1));
		if (k->err)
			break;
		keep_posting(t, i, k);
		t->posting_count = i + 1;
	}
}
