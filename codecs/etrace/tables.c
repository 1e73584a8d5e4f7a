/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/etrace/tables.h"

#include <stdlib.h>
#include <string.h>

#define WEAKLY_NOT_TAKEN 1 /* 01: predicted not taken, last taken */

/* log2 of the entries of the return stack, by whichever the unit has. */
static unsigned stack_bits(const struct hf_etrace_params *params)
{
	return params->return_stack_size ? params->return_stack_size : params->call_counter_size;
}

int hf_etrace_tables_init(struct hf_etrace_tables *t, const struct hf_etrace_params *params)
{
	const unsigned bits = stack_bits(params);
	const size_t predictors = (size_t)1 << params->bpred_size, targets = (size_t)1 << params->cache_size;

	hf_etrace_tables_fini(t);
	t->stack_size = bits ? 1u << bits : 0;
	t->stack = malloc((t->stack_size ? t->stack_size : 1) * sizeof *t->stack);
	t->repeat = malloc((t->stack_size ? t->stack_size : 1) * sizeof *t->repeat);
	t->predictor = malloc(predictors);
	t->predictor_mask = (uint32_t)predictors - 1;
	t->cache = malloc(targets * sizeof *t->cache);
	t->cache_mask = (uint32_t)targets - 1;
	t->lsb = params->iaddress_lsb;
	if (!t->stack || !t->repeat || !t->predictor || !t->cache) {
		hf_etrace_tables_fini(t);
		return HF_ERR_NOMEM;
	}
	t->predicted = true;
	t->cache_used = 1;
	hf_etrace_tables_reset(t);
	return 0;
}

void hf_etrace_tables_fini(struct hf_etrace_tables *t)
{
	free(t->stack);
	free(t->repeat);
	free(t->predictor);
	free(t->cache);
	*t = (struct hf_etrace_tables){0};
}

void hf_etrace_tables_reset(struct hf_etrace_tables *t)
{
	t->depth = t->top = 0;
	if (t->predicted)
		memset(t->predictor, WEAKLY_NOT_TAKEN, t->predictor_mask + 1u);
	if (t->cache_used)
		for (uint32_t i = 0; i <= t->cache_mask; i++)
			t->cache[i] = HF_ETRACE_CACHE_EMPTY;
	t->predicted = false;
	t->cache_used = 0;
}

void hf_etrace_tables_copy(struct hf_etrace_tables *to, const struct hf_etrace_tables *from)
{
	for (uint32_t i = from->top - from->depth; i != from->top; i++) {
		to->stack[i & (from->stack_size - 1)] = from->stack[i & (from->stack_size - 1)];
		to->repeat[i & (from->stack_size - 1)] = from->repeat[i & (from->stack_size - 1)];
	}
	if (from->predicted || to->predicted)
		memcpy(to->predictor, from->predictor, from->predictor_mask + 1u);
	if (from->cache_used || to->cache_used)
		memcpy(to->cache, from->cache, (from->cache_mask + (size_t)1) * sizeof *to->cache);
	to->depth = from->depth;
	to->top = from->top;
	to->predicted = from->predicted;
	to->cache_used = from->cache_used;
}

/* ---- return stack ---- */

void hf_etrace_push(struct hf_etrace_tables *t, uint64_t address, uint32_t repeat_max)
{
	const uint32_t mask = t->stack_size - 1, top = (t->top - 1) & mask;

	if (!t->stack_size)
		return;
	if (t->depth && t->stack[top] == address && t->repeat[top] < repeat_max) {
		t->repeat[top]++;
		return;
	}
	t->repeat[t->top & mask] = 0;
	t->stack[t->top++ & mask] = address;
	t->depth += t->depth < t->stack_size;
}

void hf_etrace_pop(struct hf_etrace_tables *t)
{
	const uint32_t top = (t->top - 1) & (t->stack_size - 1);

	if (t->repeat[top]) {
		t->repeat[top]--;
		return;
	}
	t->depth--;
	t->top--;
}

/* ---- states: the tables as far as they are not as behind a synchronisation ---- */

static void visit_predictor(struct hf_fields *f, struct hf_etrace_tables *t)
{
	for (uint32_t i = 0; i <= t->predictor_mask && !f->err; i += 4) {
		uint8_t four = 0;

		for (uint32_t j = i; j <= t->predictor_mask && j < i + 4; j++)
			four |= (uint8_t)(t->predictor[j] << 2 * (j - i));
		hf_field_bytes(f, &four, 1);
		for (uint32_t j = i; f->loading && j <= t->predictor_mask && j < i + 4; j++)
			t->predictor[j] = four >> 2 * (j - i) & 3;
	}
}

/* Addresses differ little from each other: each is stored as its distance from the one before. */
static void visit_stack(struct hf_fields *f, struct hf_etrace_tables *t, uint64_t *last)
{
	HF_FIELD(f, t->depth, t->stack_size);
	if (f->loading)
		t->top = t->depth;
	for (uint32_t i = 0; i < t->depth && !f->err; i++) {
		const uint32_t slot = (t->top - t->depth + i) & (t->stack_size - 1);

		*last = HF_FIELD_NEAR(f, t->stack[slot], *last);
		HF_FIELD(f, t->repeat[slot], UINT16_MAX);
	}
}

static void save_cache(struct hf_fields *f, struct hf_etrace_tables *t, uint64_t last)
{
	uint32_t index = 0;

	for (uint32_t i = 0; t->cache_used && i <= t->cache_mask; i++) {
		if (t->cache[i] == HF_ETRACE_CACHE_EMPTY)
			continue;
		hf_field(f, i - index, UINT32_MAX);
		index = i;
		last = hf_field_near(f, t->cache[i], last);
	}
}

static void load_cache(struct hf_fields *f, struct hf_etrace_tables *t, uint64_t last)
{
	uint64_t index = 0;

	for (uint32_t i = 0; i < t->cache_used && !f->err; i++) {
		const uint64_t step = hf_field(f, 0, t->cache_mask - index);

		hf_fields_require(f, !i || step);
		index += step;
		t->cache[index] = last = hf_field_near(f, 0, last);
	}
}

void hf_etrace_tables_visit(struct hf_etrace_tables *t, struct hf_fields *f)
{
	bool fresh = t->depth == 0 && !t->predicted && t->cache_used == 0;
	uint64_t last = 0;

	if (HF_FIELD(f, fresh, 1))
		return;
	if (HF_FIELD(f, t->predicted, 1))
		visit_predictor(f, t);
	visit_stack(f, t, &last);
	HF_FIELD(f, t->cache_used, t->cache_mask + UINT64_C(1));
	if (f->loading)
		load_cache(f, t, last);
	else
		save_cache(f, t, last);
}
