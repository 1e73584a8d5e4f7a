/* SPDX-License-Identifier: Apache-2.0 */
/* Every text of errors.def is whole wherever one is shown: with the longest place and number it fits HF_DIAG_SIZE. */
#include "codecs/base/err.h"
#include "tests/lib/check.h"

int main(void)
{
	for (int row = 1; row <= HF_ERRI_COUNT; row++) {
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
