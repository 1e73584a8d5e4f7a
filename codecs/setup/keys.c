/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/setup/keys.h"

#include "codecs/base/number.h"

#include <inttypes.h>
#include <stdio.h>

static size_t count_words(const char *const *words)
{
	size_t n = 0;

	while (words[n])
		n++;
	return n;
}

size_t hf_key_values(const struct hf_setup_key *key)
{
	switch (key->kind) {
	case HF_KEYS_NUMBER:
		return key->max - key->min + 1u;
	case HF_KEYS_WORD:
		return count_words(key->words);
	case HF_KEYS_SET:
		return (size_t)1 << count_words(key->words);
	default:
		return 0;
	}
}

static void write_set(const struct hf_setup_key *key, size_t bits, char *buf, size_t size)
{
	size_t n = 0;

	*buf = '\0';
	for (size_t i = 0; key->words[i] && n < size; i++)
		if (bits >> i & 1)
			n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? "," : "", key->words[i]);
}

void hf_key_value(const struct hf_setup_key *key, size_t i, const char *written, char *buf, size_t size)
{
	const uint64_t mask = ((UINT64_C(1) << key->bits) - 1) << key->shift;
	uint64_t whole = key->base;
	const char *end;

	if (key->kind == HF_KEYS_WORD) {
		snprintf(buf, size, "%s", key->words[i]);
	} else if (key->kind == HF_KEYS_SET) {
		write_set(key, i, buf, size);
	} else if (key->field) {
		if (written && !hf_number_parse(written, &whole, &end))
			whole = key->base;
		snprintf(buf, size, "0x%" PRIx64, (whole & ~mask) | (uint64_t)(key->min + i) << key->shift);
	} else {
		snprintf(buf, size, "%zu", key->min + i);
	}
}
