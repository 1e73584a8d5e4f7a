/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/base/number.h"

/* 16 and more: no digit. */
static unsigned digit(char c)
{
	const char lower = (char)(c | 0x20);

	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	return lower >= 'a' && lower <= 'f' ? (unsigned)(lower - 'a') + 10 : 16;
}

bool hf_number_parse(const char *text, uint64_t *ret_number, const char **ret_end)
{
	const unsigned base = text[0] == '0' && (text[1] | 0x20) == 'x' ? 16 : 10;
	const char *p = base == 16 ? text + 2 : text;
	bool good = digit(*p) < base;
	uint64_t v = 0;

	for (; digit(*p) < base; p++)
		good &= !__builtin_mul_overflow(v, base, &v) && !__builtin_add_overflow(v, digit(*p), &v);
	*ret_number = v;
	*ret_end = p;
	return good;
}
