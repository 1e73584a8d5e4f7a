/* SPDX-License-Identifier: Apache-2.0 */
/* Arbitrary bytes as the files of a CoreSight snapshot. */
#include "tests/lib/fuzz.h"
#include "tests/lib/setuptest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	hf_setup_fuzz(hf_setup_read_snapshot, "snapshot.ini", data, size);
	return 0;
}
