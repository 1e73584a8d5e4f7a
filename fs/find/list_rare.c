/* SPDX-License-Identifier: Apache-2.0 */
/* The rare events of a summary: behind which instructions a trap or a gap came. */
#include "fs/find/list.h"

#include "codecs/isa/names.h"
#include "index/index.h"
#include "index/summary/rare.h"

#include <string.h>

/* So many kinds of rare events are asked for at a time, at most. */
enum { KINDS_MOST = 8 };

/* A kind of which all events are answers, or may be. */
struct kind {
	struct hf_rare_question question;
	bool sure;
};

struct kinds {
	struct kind kind[KINDS_MOST];
	size_t count; /* more than there is room for: they are too many */
};

static uint32_t serves(const struct hf_predicates *predicates)
{
	return predicates->behind;
}

static void add_question(struct kinds *kinds, const struct hf_rare_question *question, bool sure)
{
	if (kinds->count < KINDS_MOST)
		kinds->kind[kinds->count] = (struct kind){*question, sure};
	kinds->count++;
}

/* Traps of that detail, whatever their cause is. */
static void add_detail(struct kinds *kinds, unsigned detail, bool sure)
{
	add_question(kinds,
		     &(struct hf_rare_question){.kind = HF_RARE_TRAP, .detail = (uint8_t)detail, .any_value = true}, sure);
}

static void add_cause(struct kinds *kinds, bool interrupt, uint64_t cause)
{
	add_question(kinds,
		     &(struct hf_rare_question){.kind = HF_RARE_TRAP,
						.detail = interrupt ? HF_RARE_INTERRUPT : HF_RARE_EXCEPTION,
						.value = cause},
		     true);
}

static void add_all(struct kinds *kinds, enum hf_rare_kind kind, bool sure)
{
	const struct hf_rare_question question = {
		.kind = kind, .any_detail = kind != HF_RARE_CONTEXT, .detail = HF_RARE_CONTEXT_ALL, .any_value = true};

	add_question(kinds, &question, sure);
}

static void add_name(struct kinds *kinds, bool arm, const char *wanted)
{
	for (unsigned i = 0; i < 2 * HF_FIND_NAMED_CAUSES; i++) {
		const char *name = hf_cause_name(arm, i & 1, i >> 1);

		if (name && strcmp(name, wanted) == 0)
			add_cause(kinds, i & 1, i >> 1);
	}
}

static void add_trap(struct kinds *kinds, bool arm, const struct hf_find_term *term)
{
	const unsigned detail = term->trap == HF_TRAP_INTERRUPT ? HF_RARE_INTERRUPT : HF_RARE_EXCEPTION;

	if (term->trap == HF_TRAP_EXCEPTION || term->trap == HF_TRAP_INTERRUPT) {
		add_detail(kinds, detail, true);
		add_detail(kinds, detail + HF_RARE_UNKNOWN_CAUSE, true);
		return;
	}
	if (term->trap == HF_TRAP_NAME) {
		add_name(kinds, arm, term->text);
	} else {
		add_cause(kinds, false, term->cause);
		add_cause(kinds, true, term->cause);
	}
	add_detail(kinds, HF_RARE_EXCEPTION + HF_RARE_UNKNOWN_CAUSE, false);
	add_detail(kinds, HF_RARE_INTERRUPT + HF_RARE_UNKNOWN_CAUSE, false);
}

/* An unknown number is 0 in the lists. */
static void add_marker(struct kinds *kinds, const struct hf_find_term *term)
{
	const struct hf_rare_question question = {.kind = HF_RARE_MARKER,
						  .any_detail = term->what == HF_MARKERS,
						  .detail = term->what < HF_MARKERS ? term->what : 0,
						  .any_value = !term->numbered,
						  .value = term->number};

	add_question(kinds, &question, !term->numbered || term->number);
}

/* What a term is about, or may be: with all of these there is no other answer. */
static void find_kinds(const struct hf_predicates *predicates, const struct hf_find_term *term, struct kinds *kinds)
{
	*kinds = (struct kinds){0};
	for (uint32_t bits = term->rare; bits; bits &= bits - 1)
		add_all(kinds, (enum hf_rare_kind)__builtin_ctz(bits), false);
	if (term->kind == HF_ASK_RARE)
		return;
	if (term->kind == HF_ASK_GAP)
		add_all(kinds, HF_RARE_GAP, true);
	else if (term->kind == HF_ASK_MARKER)
		add_marker(kinds, term);
	else if (term->trap == HF_TRAP_ANY)
		add_all(kinds, HF_RARE_TRAP, true);
	else
		add_trap(kinds, predicates->arm, term);
	if (kinds->count <= KINDS_MOST)
		return;
	kinds->count = 0;
	add_all(kinds, HF_RARE_TRAP, false);
}

/* ---- where they are ---- */

/* A walk over the instructions with such an event, in the chunks that are asked for. */
struct walk {
	const struct hf_find_ask *ask;
	uint64_t *counts;
	uint64_t end;	       /* behind the last instruction of them */
	struct hf_chunk chunk; /* of the last one */
	uint64_t counted;      /* the ordinal behind that one */
	bool exact;
};

/* The hits of one kind, of which one is at hand. */
struct hits {
	struct hf_rare *rare;
	struct hf_rare_hit hit;
	bool sure, over;
};

static int find_chunk(struct walk *w, uint64_t ordinal)
{
	if (ordinal >= w->chunk.ordinal && ordinal - w->chunk.ordinal < w->chunk.insns)
		return 0;
	return hf_index_chunk_of(w->ask->index, w->ask->hart, ordinal, &w->chunk) ? HF_ERR_STATE : 0;
}

/* One instruction, which counts once, or as many as there may be in a block of them. HF_NOTE_END: it is behind the last
 * chunk. */
static int add_hit(struct walk *w, const struct hf_rare_hit *hit, bool sure)
{
	const bool alone = hit->first == hit->last;
	uint64_t at = hit->first;
	int err = 0;

	w->exact &= alone && sure && !hit->maybe;
	if (alone && hit->last < w->counted)
		return 0;
	w->counted = hit->last + 1;
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

/* The next one, at that ordinal or behind it. */
static int advance(const struct walk *w, struct hits *hits, uint64_t at)
{
	int err = at < w->end ? hf_rare_next(hits->rare, at, &hits->hit) : HF_NOTE_END;

	hits->over = err == HF_NOTE_END || (!err && hits->hit.first >= w->end);
	if (err || hits->over)
		return err < 0 ? err : 0;
	if (hits->hit.last >= w->end)
		hits->hit.last = w->end - 1;
	if (hits->hit.first < at)
		hits->hit.first = at;
	return hits->hit.first > hits->hit.last ? HF_ERR_STATE : 0;
}

/* The kind whose next hit comes first; NULL: there are no more. */
static struct hits *first_of(struct hits *hits, size_t n)
{
	struct hits *found = NULL;

	for (size_t i = 0; i < n; i++)
		if (!hits[i].over && (!found || hits[i].hit.first < found->hit.first))
			found = &hits[i];
	return found;
}

/* All kinds together, in the order of ordinals. */
static int add_kinds(struct walk *w, const struct kinds *kinds, uint64_t first)
{
	struct hits hits[KINDS_MOST] = {0}, *next;
	int err = 0;

	for (size_t i = 0; i < kinds->count && !err; i++) {
		hits[i].sure = kinds->kind[i].sure;
		err = hf_rare_find(w->ask->summary, w->ask->hart, &kinds->kind[i].question, &hits[i].rare);
		if (!err)
			err = advance(w, &hits[i], first);
	}
	while (!err && (next = first_of(hits, kinds->count))) {
		err = add_hit(w, &next->hit, next->sure);
		if (!err)
			err = advance(w, next, next->hit.last + 1);
	}
	for (size_t i = 0; i < kinds->count; i++)
		if (hits[i].rare)
			hf_rare_free(hits[i].rare);
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
	struct kinds kinds;
	uint64_t first;
	int err = find_bounds(w->ask, &first, &w->end);

	find_kinds(w->ask->predicates, term, &kinds);
	return err ? err : add_kinds(w, &kinds, first);
}

/* Of several terms one is enough to say where answers may be. */
static int count(const struct hf_find_ask *ask, uint64_t *counts, bool *exact)
{
	const uint32_t terms = serves(ask->predicates);
	struct walk w = {.ask = ask, .counts = counts, .exact = !(terms & (terms - 1))};
	int err = ask->low < ask->high ? add_term(&w, &ask->predicates->question->term[__builtin_ctz(terms)]) : 0;

	*exact &= w.exact;
	return err;
}

const struct hf_find_list hf_find_list_rare = {.name = "rare events", .serves = serves, .count = count};
