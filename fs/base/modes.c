/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/base/modes.h"

#include <string.h>

static_assert(HF_MODE_COUNT <= 64, "a set of modes has a bit for each");

enum hf_verdict hf_mode_is(unsigned wanted, unsigned mode)
{
	const char *want = hf_mode_name(wanted), *is = hf_mode_name(mode);

	if (strcmp(want, is) == 0)
		return HF_YES;
	if (strcmp(is, "?") == 0)
		return HF_PERHAPS;
	if (strncmp(want, "EL", 2) != 0 || strncmp(is, want, 3) != 0)
		return HF_NO;
	return want[3] == 0 ? HF_YES : is[3] == 0 ? HF_PERHAPS : HF_NO;
}

struct hf_modes hf_modes_of(uint64_t named)
{
	struct hf_modes modes = {.named = named};

	for (uint64_t left = named; left; left &= left - 1)
		for (unsigned mode = 0; mode < HF_MODE_COUNT; mode++) {
			const enum hf_verdict is = hf_mode_is((unsigned)__builtin_ctzll(left), mode);

			modes.sure |= (uint64_t)(is == HF_YES) << mode;
			modes.perhaps |= (uint64_t)(is == HF_PERHAPS) << mode;
		}
	modes.perhaps &= ~modes.sure;
	return modes;
}

bool hf_modes_read(const char *text, size_t n, uint64_t *ret_named)
{
	const char *end = text + n, *p = text;

	*ret_named = 0;
	do {
		const char *plus = memchr(p, '+', (size_t)(end - p));
		const size_t word = (size_t)((plus ? plus : end) - p);
		unsigned mode = 0;

		while (mode < HF_MODE_COUNT &&
		       (strlen(hf_mode_name(mode)) != word || memcmp(hf_mode_name(mode), p, word) != 0))
			mode++;
		if (mode == HF_MODE_COUNT)
			return false;
		*ret_named |= UINT64_C(1) << mode;
		p = plus ? plus + 1 : NULL;
	} while (p);
	return true;
}
