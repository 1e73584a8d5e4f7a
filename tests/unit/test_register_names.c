/* SPDX-License-Identifier: Apache-2.0 */
/* Which words are names of registers in listings: all that a listing writes are, in the traces that have the register.
 */
#include "codecs/listing/listing.h"

#include "tests/lib/check.h"
#include "tests/lib/walk.h"

#include <string.h>

static void check_written(unsigned class, unsigned number, uint32_t rest)
{
	const bool everywhere = class <= HF_REG_CSR || class == HF_REG_UNKNOWN;
	const struct hf_event ev = {
		.kind = HF_EVENT_REG, .size = rest, .reg = {.class = (uint8_t) class, .number = (uint16_t)number}};
	char name[64];

	*hf_listing_put_register_name((uint8_t *)name, &ev) = 0;
	CHECK(hf_listing_is_register(name, true));
	if (everywhere)
		CHECK(hf_listing_is_register(name, false));
}

static void check_all_written(void)
{
	uint64_t rand = 1;

	for (unsigned class = HF_REG_INTEGER; class < HF_REG_CLASS_COUNT; class ++) {
		if (class == HF_REG_ZA_INDEX)
			continue;
		for (unsigned number = 0; number < 70; number++)
			for (uint32_t rest = 0; rest <= 24; rest += 8)
				check_written(class, number, rest);
		for (int i = 0; i < 100; i++)
			check_written(class, (unsigned)(hf_rand_next(&rand) & 0xffff), 0);
	}
	for (unsigned number = 0; number < 4100; number++)
		check_written(HF_REG_CSR, number, 0);
}

static void check_word(const char *name, bool riscv, bool arm)
{
	CHECK_EQ(hf_listing_is_register(name, false), riscv);
	CHECK_EQ(hf_listing_is_register(name, true), arm);
}

/* a: what is typed; want: what listings have; NULL: it is no register. */
static void check_called(const char *a, bool arm, const char *want)
{
	char buf[HF_REGISTER_NAME];
	const char *got = hf_listing_register(a, arm, buf);

	CHECK(want ? got && strcmp(got, want) == 0 : !got);
}

static void check_conventions(void)
{
	check_called("a0", false, "x10");
	check_called("zero", false, "x0");
	check_called("fp", false, "x8");
	check_called("t6", false, "x31");
	check_called("ft11", false, "f31");
	check_called("x10", false, "x10");
	check_called("lr", false, NULL);
	check_called("fp", true, "x29");
	check_called("lr", true, "x30");
	check_called("sp", true, "sp");
	check_called("a0", true, NULL);
}

int main(void)
{
	static const char *const none[] = {
		"",
		"x",
		"x01",
		"X1",
		"x-1",
		"x+1",
		"x1 ",
		" x1",
		"x1=",
		"a0",
		"ra",
		"x65536",
		"x4294967297",
		"x99999999999999999999999",
		"csr_",
		"csr_300",
		"csr_0x7c0",
		"csr_7C0",
		"csr_g",
		"?",
		"mstatusx",
		"mstatu",
		"r13_xyz",
		"s3_0_c1_c0",
		"s3_0_c1_c0_8",
		"s4_0_c1_c0_2",
		"s3_0_c16_c0_2",
		"s3_8_c1_c0_2",
		"p13_0_c1_c0_2",
		"s3_0_c1_c0_2_1",
		"s03_0_c1_c0_2",
		"1",
		"\xff",
		"%s",
		"i",
		"i{5}",
	};

	check_all_written();
	check_conventions();
	check_word("x10", true, true);
	check_word("f31", true, true);
	check_word("mstatus", true, true);
	check_word("csr_7c0", true, true);
	check_word("?7", true, true);
	check_word("pc", true, true);
	check_word("sp", false, true);
	check_word("z31", false, true);
	check_word("d31", false, true);
	check_word("s31", false, true);
	check_word("r13_svc", false, true);
	check_word("cpsr", false, true);
	check_word("s3_0_c1_c0_2", false, true);
	check_word("p15_0_c1_c0_2", false, true);
	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
		check_word(none[i], false, false);
	return 0;
}
