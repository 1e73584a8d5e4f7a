/* SPDX-License-Identifier: Apache-2.0 */
/* The rare events of a summary: behind which instructions a trap or a gap came. */
#include "fs/find/plan.h"

#include "index/index.h"
#include "index/summary/rare.h"

/* So many kinds of rare events can be answers to one term. */
enum { KINDS_MOST = 4 };

static uint32_t serves(const struct hf_terms *terms)
{
	return terms->behind;
}

/* What a term may be about, of which all answers and perhaps others are; returns how many. */
static size_t kinds_of(const struct hf_find_term *term, struct hf_rare_question kinds[KINDS_MOST])
{
	size_t n = 0;

	if (term->kind == HF_ASK_GAP) {
		kinds[n++] = (struct hf_rare_question){.kind = HF_RARE_GAP, .any_detail = true, .any_value = true};
		return n;
	}
	if (term->trap != HF_TRAP_CAUSE) {
		kinds[n++] = (struct hf_rare_question){.kind = HF_RARE_TRAP, .any_detail = true, .any_value = true};
		return n;
	}
	for (unsigned detail = 0; detail < HF_RARE_TRAPS; detail++)
		kinds[n++] = (struct hf_rare_question){.kind = HF_RARE_TRAP,
						       .detail = (uint8_t)detail,
						       .any_value = detail >= HF_RARE_UNKNOWN_CAUSE,
						       .value = term->cause};
	return n;
}

/* Whether every event of these kinds is an answer. */
static bool is_all(const struct hf_find_term *term)
{
	return term->kind == HF_ASK_GAP || term->trap == HF_TRAP_ANY;
}

/* A walk over the instructions with such an event, in the chunks that are asked for. */
struct walk {
	const struct hf_find_ask *ask;
	uint64_t *counts;
	struct hf_chunk chunk; /* of the last one */
	bool exact;
};

static int find_chunk(struct walk *w, uint64_t ordinal)
{
	if (ordinal >= w->chunk.ordinal && ordinal - w->chunk.ordinal < w->chunk.insns)
		return 0;
	return hf_index_chunk_of(w->ask->index, w->ask->hart, ordinal, &w->chunk) ? HF_ERR_STATE : 0;
}

/* One instruction, or as many as there may be in a block of them. HF_NOTE_END: it is behind the last chunk. */
static int add_hit(struct walk *w, const struct hf_rare_hit *hit)
{
	const bool alone = hit->first == hit->last;
	uint64_t at = hit->first;
	int err = 0;

	w->exact &= alone && !hit->maybe;
	while (!err && at <= hit->last) {
		err = find_chunk(w, at);
		if (!err && w->chunk.number >= w->ask->high)
			return HF_NOTE_END;
		if (!err)
			w->counts[w->chunk.number - w->ask->low] += alone ? 1 : w->chunk.insns;
		at = w->chunk.ordinal + w->chunk.insns;
	}
	return err;
}

static int add_kind(struct walk *w, const struct hf_rare_question *kind, uint64_t first, uint64_t insns)
{
	struct hf_rare_hit hit;
	struct hf_rare *rare;
	int err = hf_rare_find(w->ask->summary, w->ask->hart, kind, &rare);

	if (err)
		return err;
	for (uint64_t at = first; !err && at < insns; at = hit.last + 1) {
		err = hf_rare_next(rare, at, &hit);
		if (!err && hit.last >= insns)
			hit.last = insns - 1;
		if (!err && hit.first < first)
			hit.first = first;
		if (!err)
			err = hit.first > hit.last ? HF_ERR_STATE : add_hit(w, &hit);
	}
	hf_rare_free(rare);
	return err == HF_NOTE_END ? 0 : err;
}

/* Where the chunks that are asked for begin and end, in instructions. */
static int find_bounds(const struct hf_find_ask *ask, uint64_t *ret_first, uint64_t *ret_end)
{
	struct hf_chunk chunk;
	int err = hf_index_chunk(ask->index, ask->hart, ask->low, &chunk);

	*ret_first = ask->low ? chunk.ordinal : 0;
	if (!err)
		err = hf_index_chunk(ask->index, ask->hart, ask->high - 1, &chunk);
	*ret_end = chunk.ordinal + chunk.insns;
	return err;
}

static int add_term(struct walk *w, const struct hf_find_term *term)
{
	struct hf_rare_question kinds[KINDS_MOST];
	const size_t n = kinds_of(term, kinds);
	uint64_t first, end;
	int err = find_bounds(w->ask, &first, &end);

	w->exact &= is_all(term);
	for (size_t i = 0; i < n && !err; i++)
		err = add_kind(w, &kinds[i], first, end);
	return err;
}

/* Of several terms one is enough to say where answers may be. */
static int count(const struct hf_find_ask *ask, uint64_t *counts, bool *exact)
{
	const uint32_t terms = serves(ask->terms);
	struct walk w = {.ask = ask, .counts = counts, .exact = !(terms & (terms - 1))};
	int err = ask->low < ask->high ? add_term(&w, &ask->terms->question->term[__builtin_ctz(terms)]) : 0;

	*exact &= w.exact;
	return err;
}

const struct hf_find_list hf_find_list_rare = {.name = "rare events", .serves = serves, .count = count};
