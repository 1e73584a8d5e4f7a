/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of privilege modes as users name them, and whether an instruction of each mode ran in one. */
#include "fs/base/modes.h"

#include "tests/lib/check.h"

#define BIT(name) (UINT64_C(1) << HF_MODE_##name)

static void check_set(const char *text, uint64_t named, uint64_t sure, uint64_t perhaps)
{
	struct hf_modes modes;
	uint64_t read;

	CHECK(hf_modes_read(text, strlen(text), &read));
	CHECK_EQ(read, named);
	modes = hf_modes_of(read);
	CHECK_EQ(modes.named, named);
	CHECK_EQ(modes.sure, sure);
	CHECK_EQ(modes.perhaps, perhaps);
}

int main(void)
{
	static const char *const none[] = {"", "u", "U+", "+U", "U++S", "U,S", "U S", "UU", "EL", "EL4", "EL1x", "U+X"};
	const uint64_t unknown = BIT(UNKNOWN);
	uint64_t named;

	check_set("U", BIT(U), BIT(U), unknown);
	check_set("U+U", BIT(U), BIT(U), unknown);
	check_set("M+S", BIT(M) | BIT(S), BIT(M) | BIT(S), unknown);
	check_set("?", unknown, unknown, 0);
	check_set("U+?", unknown | BIT(U), unknown | BIT(U), 0);
	check_set("EL1", BIT(EL1), BIT(EL1) | BIT(EL1t) | BIT(EL1h), unknown);
	check_set("EL1h", BIT(EL1h), BIT(EL1h), BIT(EL1) | unknown);
	check_set("EL1h+EL1", BIT(EL1h) | BIT(EL1), BIT(EL1) | BIT(EL1t) | BIT(EL1h), unknown);
	check_set("handler", BIT(HANDLER), BIT(HANDLER), unknown);
	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
		CHECK(!hf_modes_read(none[i], strlen(none[i]), &named));
	/* No more than the n bytes are its text. */
	CHECK(hf_modes_read("S+M", 1, &named));
	CHECK_EQ(named, BIT(S));
	CHECK_EQ(hf_mode_is(HF_MODE_EL1, HF_MODE_EL2h), HF_NO);
	CHECK_EQ(hf_mode_is(HF_MODE_EL0, HF_MODE_EL0t), HF_YES);
	return 0;
}
