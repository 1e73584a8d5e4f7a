/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/profile/transfers.h"
#include "codecs/base/errors.h"
#include "codecs/base/search.h"
#include "fs/profile/bbv_blocks.h"
#include "fs/profile/sources.h"

#include <stdlib.h>

/* ---- the table ---- */

static struct hf_transfer *find(const struct hf_transfers *transfers, uint64_t from, uint64_t to)
{
	const uint32_t hash = hf_hash_of(from, to);

	HF_HASH_EACH(&transfers->map, hash, i)
	if (transfers->at[i].from == from && transfers->at[i].to == to)
		return &transfers->at[i];
	return NULL;
}

int hf_transfers_add(struct hf_transfers *transfers, uint64_t from, uint64_t to, uint64_t count)
{
	struct hf_transfer *known = find(transfers, from, to);
	int err;

	if (known) {
		known->count += count;
		return 0;
	}
	err = transfers->count < HF_TRANSFERS_MAX
		      ? hf_hash_map_add_row(&transfers->map, hf_hash_of(from, to), &transfers->at, sizeof *transfers->at)
		      : HF_ERR_TRANSFERS_LIMIT;
	if (!err)
		transfers->at[transfers->count++] = (struct hf_transfer){from, to, count};
	return err;
}

static int compare(const void *a, const void *b)
{
	const struct hf_transfer *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

/* Those that were taken away again are dropped. */
void hf_transfers_end(struct hf_transfers *transfers)
{
	size_t kept = 0;

	hf_hash_map_free(&transfers->map);
	for (size_t i = 0; i < transfers->count; i++)
		if (transfers->at[i].count)
			transfers->at[kept++] = transfers->at[i];
	transfers->count = kept;
	if (kept)
		qsort(transfers->at, kept, sizeof *transfers->at, compare);
}

void hf_transfers_free(struct hf_transfers *transfers)
{
	free(transfers->at);
	hf_hash_map_free(&transfers->map);
	*transfers = (struct hf_transfers){0};
}

uint64_t hf_transfers_from(const struct hf_transfers *transfers, uint64_t from)
{
	size_t i = HF_COUNT_UP_TO(transfers->at, transfers->count, from, from);
	uint64_t n = 0;

	while (i && transfers->at[i - 1].from == from)
		n += transfers->at[--i].count;
	return n;
}

/* ---- of a hart ---- */

struct finding {
	const struct hf_profiled *of;
	struct hf_transfers *transfers, *lost;
	const struct hf_run *run;
	bool ordered;  /* runs come as they were executed */
	bool pending;  /* the run before ended with a transfer, at: */
	uint64_t last;
};

/* Whether it was a transfer. */
static bool is_taken(const struct hf_profiled *of, const struct hf_count *row)
{
	const unsigned transfers = 1u << HF_FLOW_BRANCH | 1u << HF_FLOW_JUMP | 1u << HF_FLOW_CALL |
				   1u << HF_FLOW_INDIRECT_JUMP | 1u << HF_FLOW_INDIRECT_CALL | 1u << HF_FLOW_RETURN |
				   1u << HF_FLOW_SWAP;

	return row->taken && 1u << hf_profile_flow(row, of->extensions) & transfers;
}

/* Nothing came of it in these instructions: a trap was taken first, or they end. */
static int add_interrupted(struct finding *f)
{
	const struct hf_counts *counts = f->of->counts;
	uint64_t target = HF_PROFILE_ELSEWHERE;
	size_t i = hf_profile_row_at(f->of, f->last);

	while (i < counts->n && counts->row[i].pc == f->last && !is_taken(f->of, &counts->row[i]))
		i++;
	if (i == counts->n || counts->row[i].pc != f->last)
		return 0;
	hf_profile_target(&counts->row[i], &target);
	return hf_transfers_add(f->transfers, f->last, target, 1);
}

static int take_run(void *ctx, const struct hf_run *run)
{
	((struct finding *)ctx)->run = run;
	return 0;
}

static int add_run(void *ctx, uint64_t number, uint64_t count)
{
	struct finding *f = ctx;
	const struct hf_run_key *key = &f->run->key;
	const bool entered = key->entered == HF_ENTERED_JUMP || key->entered == HF_ENTERED_CALL ||
			     key->entered == HF_ENTERED_RETURN;
	int err = 0;

	(void)number;
	if (f->pending && !entered)
		err = add_interrupted(f);
	if (entered && !err)
		err = hf_transfers_add(f->transfers, f->pending ? f->last : HF_PROFILE_ELSEWHERE,
				       hf_bbv_pc_of(f->run, 0), count);
	if (!err && f->lost && key->ended == HF_ENDED_LOSS)
		err = hf_transfers_add(f->lost, key->last, HF_PROFILE_ELSEWHERE, count);
	f->pending = f->ordered && key->ended == HF_ENDED_TAKEN;
	f->last = key->last;
	return err;
}

/* Where no order is known: what came to a place from instructions that say so came from nowhere else. */
static int add_rows(const struct finding *f)
{
	const struct hf_counts *counts = f->of->counts;
	int err = 0;

	for (size_t i = 0; i < counts->n && !err; i++) {
		const struct hf_count *row = &counts->row[i];
		uint64_t target = HF_PROFILE_ELSEWHERE;
		struct hf_transfer *came;

		if (!is_taken(f->of, row))
			continue;
		if (hf_profile_target(row, &target) && (came = find(f->transfers, HF_PROFILE_ELSEWHERE, target)))
			came->count -= row->taken < came->count ? row->taken : came->count;
		err = hf_transfers_add(f->transfers, row->pc, target, row->taken);
	}
	return err;
}

int hf_transfers_find(const struct hf_profiled *of, struct hf_transfers *ret_transfers, struct hf_transfers *lost)
{
	const uint64_t at[] = {of->source->first, of->source->end};
	struct hf_profile_source source = *of->source;
	struct finding f = {.of = of, .transfers = ret_transfers, .lost = lost, .ordered = source.decodes};
	const struct hf_intervals all = {
		.at = at, .count = 1, .entered = true, .run = take_run, .put = add_run, .ctx = &f};
	int err;

	*ret_transfers = (struct hf_transfers){0};
	if (lost)
		*lost = (struct hf_transfers){0};
	if (f.ordered)
		source.summary = NULL;
	err = hf_bbv_each(&source, &all);
	if (!err && f.pending)
		err = add_interrupted(&f);
	if (!err && !f.ordered)
		err = add_rows(&f);
	if (err)
		hf_transfers_free(ret_transfers);
	else
		hf_transfers_end(ret_transfers);
	if (lost)
		hf_transfers_end(lost);
	return err;
}
