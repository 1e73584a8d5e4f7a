/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of an inverted index come in the order that comparing them two by two gives, the same ones as they stand. */
#include "index/summary/inverse_order.h"
#include "tests/lib/check.h"

#include <stdlib.h>

enum { MOST = 3000 };

static uint64_t random_state = 1;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* A key of so many bits, at that place among 64. */
static struct hf_inverse_key some_key(unsigned bits, unsigned shift)
{
	const uint64_t mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;

	return (struct hf_inverse_key){.a = (next_random() & mask) << shift,
				       .b = next_random() & mask >> 1,
				       .level = (uint8_t)(next_random() % 3)};
}

static void check_order(const struct hf_inverse_key *keys, uint32_t n)
{
	uint8_t seen[MOST] = {0};
	uint32_t *order;

	CHECK_EQ(hf_inverse_order(keys, sizeof *keys, n, &order), 0);
	for (uint32_t i = 0; i < n; i++) {
		CHECK(order[i] < n && !seen[order[i]]);
		seen[order[i]] = 1;
		if (!i)
			continue;
		CHECK(hf_inverse_compare(&keys[order[i - 1]], &keys[order[i]]) <= 0);
		if (!hf_inverse_compare(&keys[order[i - 1]], &keys[order[i]]))
			CHECK(order[i - 1] < order[i]);
	}
	free(order);
}

static void random_keys(void)
{
	static struct hf_inverse_key keys[MOST];

	for (unsigned bits = 1; bits <= 64; bits += 7)
		for (unsigned shift = 0; shift + bits <= 64; shift += 9) {
			for (uint32_t i = 0; i < MOST; i++)
				keys[i] = some_key(bits, shift);
			check_order(keys, MOST);
		}
}

static void few_keys(void)
{
	const struct hf_inverse_key keys[] = {{.a = UINT64_MAX, .b = UINT64_MAX, .level = 64},
					      {.a = 0},
					      {.a = UINT64_MAX, .b = 1},
					      {.a = 0, .level = 3},
					      {.a = UINT64_C(1) << 63, .b = UINT64_C(1) << 63}};

	for (uint32_t n = 0; n <= sizeof keys / sizeof *keys; n++)
		check_order(keys, n);
}

int main(void)
{
	random_keys();
	few_keys();
	return 0;
}
