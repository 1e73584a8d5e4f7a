/* SPDX-License-Identifier: Apache-2.0 */
/* By one digit after the other, from the last one on. Digits that all keys have in common, which are most, cost
 * nothing. */
#include "index/summary/inverse_order.h"

#include "codecs/base/err.h"

#include <stdlib.h>

enum { DIGIT = 11, DIGITS = 1 << DIGIT };

enum part { LEVEL, B, A, PARTS /* the last one that is compared first */ };

struct item {
	uint64_t part[PARTS];
	uint32_t number;
};

int hf_inverse_compare(const struct hf_inverse_key *x, const struct hf_inverse_key *y)
{
	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	if (x->b != y->b)
		return x->b < y->b ? -1 : 1;
	return (x->level > y->level) - (x->level < y->level);
}

static unsigned digit(const struct item *item, enum part part, unsigned shift)
{
	return (unsigned)(item->part[part] >> shift) & (DIGITS - 1);
}

/* Items with the same digit stay in their order. */
static void sort_by_digit(const struct item *from, struct item *to, uint32_t n, enum part part, unsigned shift)
{
	uint32_t at[DIGITS] = {0}, before = 0;

	for (uint32_t i = 0; i < n; i++)
		at[digit(&from[i], part, shift)]++;
	for (unsigned i = 0; i < DIGITS; i++) {
		const uint32_t count = at[i];

		at[i] = before;
		before += count;
	}
	for (uint32_t i = 0; i < n; i++)
		to[at[digit(&from[i], part, shift)]++] = from[i];
}

static void sort_by_part(struct item **from, struct item **to, uint32_t n, enum part part)
{
	uint64_t bits = 0;

	for (uint32_t i = 0; i < n; i++)
		bits |= (*from)[i].part[part] ^ (*from)->part[part];
	for (unsigned shift = 0; shift < 64; shift += DIGIT) {
		struct item *const sorted = *to;

		if (!(bits >> shift & (DIGITS - 1)))
			continue;
		sort_by_digit(*from, sorted, n, part, shift);
		*to = *from;
		*from = sorted;
	}
}

int hf_inverse_order(const struct hf_inverse_key *keys, size_t stride, uint32_t n, uint32_t **ret_order)
{
	struct item *items = calloc(2 * ((size_t)n + 1), sizeof *items), *from = items, *to = items ? items + n : NULL;
	uint32_t *order = calloc((size_t)n + 1, sizeof *order);

	*ret_order = order;
	if (!items || !order) {
		free(items);
		free(order);
		*ret_order = NULL;
		return HF_ERR_NOMEM;
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct hf_inverse_key *key = (const struct hf_inverse_key *)((const uint8_t *)keys + i * stride);

		items[i] = (struct item){.part = {[LEVEL] = key->level, [B] = key->b, [A] = key->a}, .number = i};
	}
	for (enum part part = 0; part < PARTS; part++)
		sort_by_part(&from, &to, n, part);
	for (uint32_t i = 0; i < n; i++)
		order[i] = from[i].number;
	free(items);
	return 0;
}
