/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a state of an E-Trace decoder: it is refused, or the decoder goes on to an end. */
#include "codecs/base/bytes.h"
#include "tests/lib/etracetest.h"
#include "tests/lib/fuzz.h"

#define MOST 20000

static void run(struct hf_etracet_made *m, uint32_t hart, const uint8_t *blob, size_t size)
{
	struct hf_event ev[64];
	struct hf_dec *dec;
	size_t n;

	CHECK_EQ(hf_dec_new(m->stream, m->src, hart, &dec), 0);
	if (hf_dec_load(dec, blob, size, 0) == 0)
		for (size_t count = 0; count < MOST && hf_dec_next(dec, ev, 64, &n) == 0; count += n)
			;
	hf_dec_free(dec);
}

/* The first two bytes are the length of the state, which comes next; the rest is a capture. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct hf_etracet_made m;
	size_t size;

	if (n < 2)
		return 0;
	size = hf_get16(bytes);
	if (size > n - 2 || !hf_etracet_make(&m, bytes + 2 + size, n - 2 - size))
		return 0;
	run(&m, m.stream->info.first_hart, bytes + 2, size);
	run(&m, HF_HART_RECORDS, bytes + 2, size);
	hf_etracet_unmake(&m);
	return 0;
}
