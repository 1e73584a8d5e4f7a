/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of descriptions and view parameters. */
#include "codecs/base/number.h"

#include "tests/lib/check.h"

static void check_number(const char *text, uint64_t want, const char *rest)
{
	const char *end;
	uint64_t v;

	CHECK(hf_number_parse(text, &v, &end));
	CHECK_EQ(v, want);
	CHECK_STR(end, rest);
}

int main(void)
{
	static const char *const none[] = {"", " 1", "-1", "+1", "x", "0x", "0xg", "18446744073709551616",
					   "0x10000000000000000", "99999999999999999999999"};
	const char *end;
	uint64_t v;

	check_number("0", 0, "");
	check_number("10, 2", 10, ", 2");
	check_number("010", 10, "");
	check_number("0009", 9, "");
	check_number("0x1F", 31, "");
	check_number("0Xff;", 255, ";");
	check_number("12ab", 12, "ab");
	check_number("18446744073709551615", UINT64_MAX, "");
	check_number("0x0ffffffffffffffff", UINT64_MAX, "");
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		CHECK(!hf_number_parse(none[i], &v, &end));
	return 0;
}
