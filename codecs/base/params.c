/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/base/params.h"

#include "codecs/base/errors.h"
#include "codecs/base/nearest.h"
#include "codecs/base/number.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_word(const char *text, size_t size, const char *word)
{
	return strlen(word) == size && memcmp(text, word, size) == 0;
}

static bool read_value(const struct hf_param *param, const char *text, size_t size, uint64_t *ret_value)
{
	const char *end;

	if (param->read)
		return param->read(text, size, ret_value);
	if (!param->words)
		return hf_number_parse(text, ret_value, &end) && end == text + size && *ret_value <= param->max;
	for (*ret_value = 0; param->words[*ret_value]; ++*ret_value)
		if (is_word(text, size, param->words[*ret_value]))
			return true;
	return false;
}

static void say_unknown(const struct hf_param *table, const char *view, const char *key, size_t n, char *why, size_t size)
{
	const char *known[HF_PARAMS_MOST + 1] = {NULL};
	char hint[HF_NEAREST_SIZE];

	for (size_t i = 0; table[i].key && i < HF_PARAMS_MOST; i++)
		known[i] = table[i].key;
	snprintf(why, size, "%s has no parameter '%.*s'%s", view, n < 40 ? (int)n : 40, key,
		 hf_nearest_hint(key, n, known, hint));
}

static void say_value(const struct hf_param *param, char *why, size_t size)
{
	size_t used;

	if (param->read) {
		snprintf(why, size, "%s must be %s", param->key, param->what);
		return;
	}
	if (!param->words) {
		snprintf(why, size, "%s must be a number from 0 to %" PRIu64, param->key, param->max);
		return;
	}
	used = (size_t)snprintf(why, size, "%s must be %s", param->key, param->words[0]);
	for (size_t i = 1; param->words[i] && used < size; i++)
		used += (size_t)snprintf(why + used, size - used, "%s%s", param->words[i + 1] ? ", " : " or ",
					 param->words[i]);
}

int hf_params_parse(const char *params, const struct hf_param *table, const char *view, uint64_t *value, char *why,
		   size_t size)
{
	for (const char *p = params; p && *p; p += *p == ',') {
		const size_t n = strcspn(p, ","), key = strcspn(p, "=,");
		uint64_t number = 0;
		size_t i = 0;

		while (table[i].key && !is_word(p, key, table[i].key))
			i++;
		if (!table[i].key || key == n || !read_value(&table[i], p + key + 1, n - key - 1, &number)) {
			if (why && !table[i].key)
				say_unknown(table, view, p, key, why, size);
			else if (why)
				say_value(&table[i], why, size);
			return HF_ERR_SETUP_VALUE;
		}
		value[i] = number;
		p += n;
	}
	return 0;
}

const char *hf_params_get(const char *params, const char *key, size_t *ret_size)
{
	const size_t n = strlen(key);

	for (const char *p = params; p && *p; p = *(p + strcspn(p, ",")) ? p + strcspn(p, ",") + 1 : NULL)
		if (strncmp(p, key, n) == 0 && p[n] == '=') {
			*ret_size = strcspn(p + n + 1, ",");
			return p + n + 1;
		}
	*ret_size = 0;
	return NULL;
}
