/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers of errors have no holes. Every text is whole wherever one is shown: with the longest place and number it
 * fits HF_DIAG_SIZE.
 */
#include "codecs/base/err.h"
#include "tests/lib/check.h"

int main(void)
{
	int count = 1;

	while (hf_err_is_code(-count))
		count++;
	printf("a new error has the number %d\n", count);
	for (int64_t beyond = count; beyond < 1 << 16; beyond++)
		CHECK(!hf_err_is_code(-beyond) && !hf_err_is_code(beyond - count + 1));
	CHECK(hf_err_is_code(0) && !hf_err_is_code(INT64_MIN) && !hf_err_is_code(-((int64_t)1 << 32) - 1));
	for (int row = 1; row < count; row++) {
		const struct hf_diag diag = {
			.code = -row, .space = HF_SPACE_FILE, .offset = HF_NOWHERE - 1, .detail = UINT64_MAX};
		char text[HF_DIAG_SIZE], whole[4096];
		int n = hf_diag_format(&diag, whole, sizeof whole);

		if (n >= HF_DIAG_SIZE)
			fprintf(stderr, "%s: %d characters\n", hf_err_name(-row), n);
		CHECK_EQ(hf_diag_format(&diag, text, sizeof text), n);
		CHECK_STR(text, whole);
	}
	return 0;
}
