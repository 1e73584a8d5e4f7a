/* SPDX-License-Identifier: Apache-2.0 */
/* Which chunks tell something of the state of a hart: the lists of the summary name them. */
#include "codecs/base/array.h"
#include "fs/facts/facts.h"
#include "fs/facts/opened.h"
#include "fs/find/hart_state_parts.h"
#include "index/summary/rare.h"
#include "index/summary/registers.h"
#include "index/summary/words.h"

#include <stdlib.h>

enum { LOSSES = 3 };

struct need {
	uint8_t class;
	uint16_t number;
	struct hf_chunk_set set; /* chunks that tell a value of it */
};

struct hf_needs {
	const struct hf_open *open;
	struct hf_summary *summary; /* NULL: nobody knows, so every chunk is one */
	uint32_t hart;
	struct need *reg;
	size_t reg_count;
	struct hf_chunk_set written;  /* chunks that tell of any register that was written */
	struct hf_chunk_set accesses; /* without bits: not asked for yet, as most chunks have enough of them */
	struct hf_rare *loss[LOSSES];
};

void hf_needs_free(struct hf_needs *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->reg_count; i++)
		hf_chunk_set_free(&n->reg[i].set);
	free(n->reg);
	hf_chunk_set_free(&n->written);
	hf_chunk_set_free(&n->accesses);
	for (size_t i = 0; i < LOSSES; i++)
		hf_rare_free(n->loss[i]);
	free(n);
}

/* ---- what the summary knows ---- */

static int add_need(struct hf_needs *n, uint8_t class, uint16_t number, struct need **ret_need)
{
	size_t i = 0;
	int err;

	while (i < n->reg_count && (n->reg[i].class != class || n->reg[i].number != number))
		i++;
	*ret_need = NULL;
	if (i == HF_HART_STATE_REGISTERS)
		return 0;
	if (i == n->reg_count) {
		if (hf_array_room(&n->reg, i, sizeof *n->reg))
			return HF_ERR_NOMEM;
		n->reg[i] = (struct need){.class = class, .number = number};
		err = hf_chunk_set_init(&n->reg[i].set, n->written.chunks);
		if (err)
			return err;
		n->reg_count++;
	}
	*ret_need = &n->reg[i];
	return 0;
}

static int add_register(void *ctx, enum hf_registers_what what, uint8_t class, uint16_t number,
			const struct hf_chunk_set *set)
{
	struct hf_needs *n = ctx;
	struct need *need;
	int err = add_need(n, class, number, &need);

	/* There are too many: what is found of them is too. */
	if (err || !need)
		return err;
	hf_chunk_set_join(&need->set, set);
	if (what == HF_REGISTERS_WRITTEN)
		hf_chunk_set_join(&n->written, set);
	return 0;
}

static int add_accesses(struct hf_needs *n, enum hf_words_what what)
{
	const struct hf_words_place anywhere = {.last = UINT64_MAX, .high = UINT64_MAX, .anywhere = true};
	struct hf_chunk_set chunks;
	int err = hf_words_find_in(n->summary, n->hart, what, &anywhere, &chunks, NULL);

	if (err)
		return err == HF_ERR_UNSUPPORTED ? 0 : err;
	hf_chunk_set_join(&n->accesses, &chunks);
	hf_chunk_set_free(&chunks);
	return 0;
}

static int ask_summary(struct hf_needs *n, uint64_t chunks)
{
	static const enum hf_rare_kind kinds[LOSSES] = {HF_RARE_GAP, HF_RARE_DOUBT, HF_RARE_DISCONTINUITY};
	int err = hf_chunk_set_init(&n->written, chunks);

	n->accesses.chunks = chunks;
	if (!err)
		err = hf_registers_each(n->summary, n->hart, add_register, n);
	err = err == HF_ERR_UNSUPPORTED ? 0 : err;
	for (size_t i = 0; i < LOSSES && !err; i++) {
		const struct hf_rare_question question = {.kind = kinds[i], .any_detail = true, .any_value = true};

		err = hf_rare_find(n->summary, n->hart, &question, &n->loss[i]);
	}
	return err;
}

int hf_needs_new(const struct hf_hart_state *state, const struct hf_open *open, struct hf_summary *summary,
		 struct hf_needs **ret_needs)
{
	struct hf_needs *n = calloc(1, sizeof *n);
	int err = 0;

	*ret_needs = n;
	if (!n)
		return HF_ERR_NOMEM;
	n->open = open;
	n->summary = summary;
	n->hart = state->hart;
	if (summary)
		err = ask_summary(n, hf_facts_hart(open->facts, state->hart)->info.chunks);
	if (err) {
		hf_needs_free(n);
		*ret_needs = NULL;
	}
	return err;
}

/* ---- which chunk is next ---- */

/* The last chunk of all that are found. */
struct latest {
	uint64_t before; /* only such before that one */
	uint64_t chunk;
	bool any;
};

static void offer(struct latest *l, uint64_t chunk)
{
	if (chunk >= l->before || (l->any && l->chunk >= chunk))
		return;
	l->any = true;
	l->chunk = chunk;
}

static void offer_set(struct latest *l, const struct hf_chunk_set *set)
{
	uint64_t chunk;

	if (l->before && hf_chunk_set_previous(set, l->before - 1, &chunk))
		offer(l, chunk);
}

static bool is_found(const struct hf_hart_state *state, const struct need *need)
{
	for (size_t i = 0; i < state->reg_count; i++) {
		const struct hf_ev_reg *reg = &state->reg[i].ev->reg;

		if (reg->class == need->class && reg->number == need->number)
			return true;
	}
	return false;
}

static void offer_registers(const struct hf_needs *n, const struct hf_hart_state *state, struct latest *l)
{
	if (state->lost)
		return;
	for (size_t i = 0; i < n->reg_count; i++)
		if (!is_found(state, &n->reg[i]))
			offer_set(l, &n->reg[i].set);
	if (!state->written)
		offer_set(l, &n->written);
}

static int offer_accesses(struct hf_needs *n, const struct hf_hart_state *state, struct latest *l)
{
	int err = 0;

	if (state->access_count == HF_HART_STATE_ACCESSES)
		return 0;
	if (!n->accesses.bits) {
		err = hf_chunk_set_init(&n->accesses, n->accesses.chunks);
		if (!err)
			err = add_accesses(n, HF_WORDS_WRITES);
		if (!err)
			err = add_accesses(n, HF_WORDS_READS);
	}
	if (!err)
		offer_set(l, &n->accesses);
	return err;
}

/* Where trace may be lost before that ordinal: *ret_ordinal, HF_NOWHERE if nowhere. */
static int find_loss(const struct hf_needs *n, uint64_t before, uint64_t *ret_ordinal)
{
	struct hf_rare_hit hit;
	int err = 0;

	*ret_ordinal = HF_NOWHERE;
	for (size_t i = 0; i < LOSSES && before && !err; i++) {
		uint64_t at;

		err = hf_rare_previous(n->loss[i], before - 1, &hit);
		if (err)
			err = err == HF_NOTE_END ? 0 : err;
		else if ((at = hit.last < before ? hit.last : before - 1) > *ret_ordinal || *ret_ordinal == HF_NOWHERE)
			*ret_ordinal = at;
	}
	return err;
}

static int offer_loss(const struct hf_needs *n, const struct hf_hart_state *state, const struct hf_chunk *before,
		      struct latest *l)
{
	struct hf_chunk chunk;
	uint64_t ordinal;
	int err = 0;

	if (state->lost)
		return 0;
	err = find_loss(n, before->ordinal, &ordinal);
	if (err || ordinal == HF_NOWHERE)
		return err;
	if (hf_index_chunk_of(n->open->index, n->hart, ordinal, &chunk))
		return HF_ERR_STATE;
	offer(l, chunk.number);
	return 0;
}

int hf_needs_next(struct hf_needs *n, const struct hf_hart_state *state, const struct hf_chunk *before,
		  uint64_t *ret_chunk)
{
	struct latest l = {.before = before->number};
	int err = 0;

	if (!n->summary) {
		if (before->number && (!state->lost || state->access_count < HF_HART_STATE_ACCESSES))
			offer(&l, before->number - 1);
	} else {
		offer_registers(n, state, &l);
		err = offer_accesses(n, state, &l);
		if (!err)
			err = offer_loss(n, state, before, &l);
	}
	*ret_chunk = l.chunk;
	return err ? err : l.any ? 0 : (int)HF_NOTE_END;
}

int hf_needs_give_up(struct hf_needs *n, struct hf_hart_state *state, const struct hf_chunk *before)
{
	struct latest registers = {.before = before->number}, accesses = registers;
	uint64_t ordinal;
	int err = offer_accesses(n, state, &accesses);

	if (err)
		return err;
	offer_registers(n, state, &registers);
	state->from = before->ordinal;
	state->more_registers = registers.any;
	state->more_accesses = accesses.any;
	if (state->lost)
		return 0;
	/* It may be lost there, and nobody looks: what was told before counts no more. */
	err = find_loss(n, before->ordinal, &ordinal);
	state->lost = !err && ordinal != HF_NOWHERE;
	state->lost_behind = state->lost ? ordinal : 0;
	return err;
}
