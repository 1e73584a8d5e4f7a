/* SPDX-License-Identifier: Apache-2.0 */
/* What both sides learn from the trace: return addresses, branch outcomes, jump targets. */
#include "codecs/etrace/decoder.h"

#include <stdlib.h>

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
	if (!t->stack || !t->repeat || !t->predictor || !t->cache) {
		hf_etrace_tables_fini(t);
		return HF_ERR_NOMEM;
	}
	t->predicted = true;
	t->cache_used = 1;
	hf_etrace_tables_reset(t);
	return 0;
}

int hf_etrace_make_tables(struct hf_etrace_dec *d)
{
	int err = hf_etrace_tables_init(&d->tables, &d->params);

	return err ? err : hf_etrace_tables_init(&d->spare, &d->params);
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
