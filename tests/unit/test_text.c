/* SPDX-License-Identifier: Apache-2.0 */
/* Hex digits as the emitters write them: every width of numbers that differ in each digit, beside printf's. */
#include "codecs/base/text.h"

#include "tests/lib/check.h"

#include <inttypes.h>
#include <stdio.h>

static void check_value(uint64_t v)
{
	uint8_t text[64];
	char want[32];
	uint8_t *end;

	snprintf(want, sizeof want, "%016" PRIx64, v);
	for (unsigned digits = 1; digits <= 16; digits++) {
		end = hf_text_put_hex_width(text, v, digits);
		*end = 0;
		CHECK_STR((char *)text, want + 16 - digits);
	}
	*hf_text_put_hex16(text, v) = 0;
	CHECK_STR((char *)text, want);
	snprintf(want, sizeof want, "%" PRIx64, v);
	*hf_text_put_hex(text, v) = 0;
	CHECK_STR((char *)text, want);
}

/* Nothing is written further behind the end than the header says. */
static void check_scribble(void)
{
	uint8_t text[64];

	for (unsigned digits = 1; digits <= 16; digits++) {
		memset(text, '#', sizeof text);
		hf_text_put_hex_width(text, UINT64_MAX, digits);
		for (size_t i = digits + 16; i < sizeof text; i++)
			CHECK_EQ(text[i], '#');
	}
}

int main(void)
{
	uint64_t mixed = 1;

	check_value(0);
	check_value(UINT64_C(0x0123456789abcdef));
	check_value(UINT64_C(0xfedcba9876543210));
	check_value(UINT64_MAX);
	for (unsigned bit = 0; bit < 64; bit++)
		check_value(UINT64_C(1) << bit);
	for (unsigned i = 0; i < 10000; i++) {
		mixed = mixed * UINT64_C(6364136223846793005) + 1442695040888963407;
		check_value(mixed >> mixed % 61);
	}
	check_scribble();
	return 0;
}
