/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/base/nearest.h"

#include <stdio.h>
#include <string.h>

/* Longer words are nobody's keys. */
enum { WORD_MAX = 48 };

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Letters to leave out, add, change, or swap with their neighbour to make b of a. */
static unsigned distance(const char *a, size_t m, const char *b, size_t n)
{
	unsigned rows[3][WORD_MAX + 1] = {{0}};
	unsigned *before = rows[0], *last = rows[1], *now = rows[2];

	for (unsigned k = 0; k <= n; k++)
		last[k] = k;
	for (size_t i = 1; i <= m; i++) {
		unsigned *spare = before;

		now[0] = (unsigned)i;
		for (size_t k = 1; k <= n; k++) {
			now[k] = least(last[k - 1] + (a[i - 1] != b[k - 1]), least(last[k], now[k - 1]) + 1);
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
				now[k] = least(now[k], before[k - 2] + 1);
		}
		before = last;
		last = now;
		now = spare;
	}
	return last[n];
}

const char *hf_nearest_hint(const char *word, size_t n, const char *const *words, char buf[HF_NEAREST_SIZE])
{
	unsigned best = (unsigned)n / 3 + 1;
	const char *nearest = NULL;

	for (size_t i = 0; words[i] && n && n <= WORD_MAX; i++) {
		const size_t size = strlen(words[i]);
		unsigned d = size && size <= WORD_MAX ? distance(word, n, words[i], size) : best;

		if (d < best) {
			best = d;
			nearest = words[i];
		}
	}
	buf[0] = '\0';
	if (nearest)
		snprintf(buf, HF_NEAREST_SIZE, " (did you mean '%s'?)", nearest);
	return buf;
}
