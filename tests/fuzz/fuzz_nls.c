/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Format strings of messages that a program sends as numbers: 4 bytes of arguments, then a section .comment. Every format of
 * it is printed, within its limits, and where the C library knows the format it says the same.
 */
#include "codecs/base/bytes.h"
#include "codecs/ntrace/nls.h"
#include "tests/lib/fuzz.h"

#include <stdio.h>
#include <string.h>

/* One conversion and no length in it, which is what printf can judge. */
static void compare(const char *format, size_t size, uint32_t word, const uint8_t *text, size_t n)
{
	char copy[64], want[512];
	int got;

	if (size >= sizeof copy || memchr(format, 0, size))
		return;
	memcpy(copy, format, size);
	copy[size] = 0;
	if (copy[strspn(copy, "abcdeghijklmnopqrstuvwxyz =:")] != '%' || strcspn(copy, "hljztc") < size ||
	    strchr(strchr(copy, '%') + 1, '%') || strchr(copy, 'i'))
		return;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	got = snprintf(want, sizeof want, copy, word); /* what nls.c accepted has one number */
#pragma GCC diagnostic pop
	MUST(got >= 0 && (size_t)got + 1 == n && memcmp(want, text, n - 1) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	uint8_t text[HF_NTRACE_NLS_MAX];
	uint32_t word;

	if (n < 4)
		return 0;
	word = hf_get32(bytes);
	for (unsigned number = 0; number < 32; number++) {
		size_t size = 0, got;
		const char *format = hf_ntrace_nls_find((const char *)bytes + 4, n - 4, number, &size);

		if (!format)
			continue;
		MUST((const uint8_t *)format >= bytes + 4 && (const uint8_t *)format + size <= bytes + n);
		got = hf_ntrace_nls_print(format, size, word, text);
		MUST(got <= sizeof text && (!got || text[got - 1] == '\n'));
		if (got)
			compare(format, size, word, text, got);
	}
	return 0;
}
