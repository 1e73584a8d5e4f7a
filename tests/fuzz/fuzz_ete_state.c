/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as state of the ETE decoder and of its records: refused, or events come out and end. Input: flags; how many
 * bytes the blob has; the blob; the trace.
 */
#include "tests/lib/etefuzz.h"

static void run(const struct ete_fuzz *f, uint32_t hart, const uint8_t *blob, size_t n)
{
	uint8_t again[HF_STATE_MAX];
	struct hf_event ev[64];
	struct hf_dec *dec;
	uint64_t discard;
	size_t got, events = 0;

	MUST(hf_dec_new(f->stream, f->src, hart, &dec) == 0);
	if (hf_dec_load(dec, blob, n, 0) == 0) {
		const size_t used = hf_dec_save(dec, again, &discard);

		MUST(used <= sizeof again);
		while (events < 100000 && hf_dec_next(dec, ev, 64, &got) == 0)
			events += got;
		MUST(dec->err == 0 || dec->err == HF_NOTE_END);
	} else {
		MUST(dec->err == HF_ERR_STATE);
	}
	hf_dec_free(dec);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ete_fuzz f;
	size_t n;

	if (size < 2 || size > 4096)
		return 0;
	n = data[1] < size - 2 ? data[1] : size - 2;
	ete_fuzz_open(&f, data[0], data + 2 + n, size - 2 - n);
	run(&f, 1, data + 2, n);
	run(&f, HF_HART_RECORDS, data + 2, n);
	ete_fuzz_close(&f);
	return 0;
}
