/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/etrace/tables.h"

#include <stdlib.h>
#include <string.h>

#define WEAKLY_NOT_TAKEN 1 /* 01: predicted not taken, last taken */

static uint32_t size_if(bool on, unsigned bits)
{
	return on ? 1u << bits : 1;
}

uint32_t hf_etrace_stack_size(const struct hf_etrace_params *p)
{
	const unsigned bits = p->return_stack_size ? p->return_stack_size : p->call_counter_size;

	return bits ? 1u << bits : 0;
}

void hf_etrace_tables_place(struct hf_etrace_tables *t, const struct hf_etrace_params *p, uint32_t modes,
			    const struct hf_etrace_room *room)
{
	const uint32_t stack = modes & HF_ETRACE_IMPLICIT_RETURN ? hf_etrace_stack_size(p) : 0;

	t->room = *room;
	hf_return_stack_init(&t->stack, room->stack, stack ? stack : 1, stack);
	t->stack.repeat = room->repeat;
	t->predictor_mask = size_if(modes & HF_ETRACE_BRANCH_PREDICTION, p->bpred_size) - 1;
	t->cache_mask = size_if(modes & HF_ETRACE_JUMP_TARGET_CACHE, p->cache_size) - 1;
	t->lsb = p->iaddress_lsb;
	t->predicted = true;
	t->cache_used = 1;
	hf_etrace_tables_reset(t);
}

int hf_etrace_tables_make(struct hf_etrace_tables *t, const struct hf_etrace_params *p)
{
	const size_t stack = hf_etrace_stack_size(p) ? hf_etrace_stack_size(p) : 1;
	const struct hf_etrace_room room = {
		.stack = malloc(stack * sizeof *room.stack),
		.repeat = malloc(stack * sizeof *room.repeat),
		.predictor = malloc((size_t)1 << p->bpred_size),
		.cache = malloc(sizeof *room.cache << p->cache_size),
	};

	hf_etrace_tables_free(t);
	t->room = room;
	if (!room.stack || !room.repeat || !room.predictor || !room.cache)
		return HF_ERR_NOMEM;
	hf_etrace_tables_place(t, p, UINT32_MAX, &room);
	return 0;
}

void hf_etrace_tables_free(struct hf_etrace_tables *t)
{
	free(t->room.stack);
	free(t->room.repeat);
	free(t->room.predictor);
	free(t->room.cache);
	*t = (struct hf_etrace_tables){0};
}

void hf_etrace_tables_reset(struct hf_etrace_tables *t)
{
	hf_return_stack_clear(&t->stack);
	if (t->predicted)
		memset(t->room.predictor, WEAKLY_NOT_TAKEN, t->predictor_mask + 1u);
	for (uint32_t i = 0; t->cache_used && i <= t->cache_mask; i++)
		t->room.cache[i] = HF_ETRACE_CACHE_EMPTY;
	t->predicted = false;
	t->cache_used = 0;
}

void hf_etrace_tables_copy(struct hf_etrace_tables *to, const struct hf_etrace_tables *from)
{
	hf_return_stack_copy(&to->stack, &from->stack);
	if (from->predicted || to->predicted)
		memcpy(to->room.predictor, from->room.predictor, from->predictor_mask + 1u);
	if (from->cache_used || to->cache_used)
		memcpy(to->room.cache, from->room.cache, (from->cache_mask + (size_t)1) * sizeof *to->room.cache);
	to->predicted = from->predicted;
	to->cache_used = from->cache_used;
}

/* ---- states: the tables as far as they are not as behind a synchronisation ---- */

static void visit_predictor(struct hf_fields *f, struct hf_etrace_tables *t)
{
	uint8_t *entry = t->room.predictor;

	for (uint32_t i = 0; i <= t->predictor_mask && !f->err; i += 4) {
		uint8_t four = 0;

		for (uint32_t j = i; j <= t->predictor_mask && j < i + 4; j++)
			four |= (uint8_t)(entry[j] << 2 * (j - i));
		hf_field_bytes(f, &four, 1);
		for (uint32_t j = i; f->loading && j <= t->predictor_mask && j < i + 4; j++)
			entry[j] = four >> 2 * (j - i) & 3;
	}
}

/* Which of the eight entries from i on have a target. */
static uint8_t filled_at(const struct hf_etrace_tables *t, uint32_t i)
{
	uint8_t filled = 0;

	for (uint32_t j = i; j <= t->cache_mask && j < i + 8; j++)
		filled |= (uint8_t)((t->room.cache[j] != HF_ETRACE_CACHE_EMPTY) << (j - i));
	return filled;
}

/* By eights: how many of them are empty before the next, which of that have a target, and these. */
static void visit_cache(struct hf_fields *f, struct hf_etrace_tables *t, uint64_t last)
{
	uint32_t left = 0;

	for (uint32_t i = 0; t->cache_used && i <= t->cache_mask; i += 8)
		left += (uint32_t)__builtin_popcount(filled_at(t, i));
	t->cache_used = HF_FIELD(f, left, t->cache_mask + UINT64_C(1));
	for (uint32_t i = 0; left && !f->err; i += 8) {
		uint32_t empty = 0;
		uint8_t filled = 0;

		hf_fields_require(f, i <= t->cache_mask);
		while (!f->loading && !(filled = filled_at(t, i + 8 * empty)))
			empty++;
		i += 8 * HF_FIELD(f, empty, f->err ? 0 : (t->cache_mask - i) / 8);
		hf_field_bytes(f, &filled, 1);
		for (uint32_t j = i; filled && !f->err; filled >>= 1, j++)
			if (filled & 1) {
				hf_fields_require(f, left && j <= t->cache_mask);
				if (f->err)
					break;
				last = HF_FIELD_NEAR(f, t->room.cache[j], last);
				left--;
			}
	}
}

void hf_etrace_tables_visit(struct hf_etrace_tables *t, struct hf_fields *f)
{
	bool fresh = t->stack.depth == 0 && !t->predicted && t->cache_used == 0;
	uint64_t last;

	if (HF_FIELD(f, fresh, 1))
		return;
	if (HF_FIELD(f, t->predicted, 1))
		visit_predictor(f, t);
	last = hf_return_stack_visit(&t->stack, f);
	visit_cache(f, t, last);
}
