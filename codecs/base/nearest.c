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

void hf_nearest_offer(struct hf_nearest *nearest, const char *name, size_t size)
{
	const unsigned limit = nearest->name ? nearest->distance : (unsigned)nearest->n / 3 + 1;
	unsigned d;

	if (!nearest->n || nearest->n > WORD_MAX || !size || size > WORD_MAX)
		return;
	if (nearest->n + limit <= size || size + limit <= nearest->n)
		return;
	d = distance(nearest->word, nearest->n, name, size);
	if (d >= limit)
		return;
	nearest->distance = d;
	nearest->name = name;
	nearest->size = size;
}

const char *hf_nearest_text(const struct hf_nearest *nearest, char buf[HF_NEAREST_SIZE])
{
	buf[0] = '\0';
	if (nearest->name)
		snprintf(buf, HF_NEAREST_SIZE, " (did you mean '%.*s'?)", (int)nearest->size, nearest->name);
	return buf;
}

const char *hf_nearest_hint(const char *word, size_t n, const char *const *words, char buf[HF_NEAREST_SIZE])
{
	struct hf_nearest nearest = {.word = word, .n = n};

	for (size_t i = 0; words[i]; i++)
		hf_nearest_offer(&nearest, words[i], strlen(words[i]));
	return hf_nearest_text(&nearest, buf);
}
