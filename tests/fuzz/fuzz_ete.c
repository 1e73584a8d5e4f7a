/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as an ETE: the decoder ends, gives the same events whatever it is asked for at a time and wherever it is
 * entered, and no more of them than the bytes can stand for; records.txt likewise. Input: flags, place, trace.
 */
#include "codecs/ete/flow.h"
#include "tests/lib/etefuzz.h"

#define KEPT 20000

static struct hf_event first[KEPT], second[KEPT];

/* At most KEPT events; with place, saved and entered again there. */
static size_t run(const struct ete_fuzz *f, uint32_t hart, size_t batch, size_t place, struct hf_event *ev)
{
	uint8_t blob[HF_STATE_MAX];
	uint64_t discard;
	struct hf_dec *dec;
	size_t n = 0, got = 1;

	MUST(hf_dec_new(f->stream, f->src, hart, &dec) == 0);
	while (n < KEPT && got) {
		int err;

		if (place && n >= place) {
			const size_t used = hf_dec_save(dec, blob, &discard);

			place = 0;
			MUST(used <= sizeof blob);
			hf_dec_free(dec);
			MUST(hf_dec_new(f->stream, f->src, hart, &dec) == 0);
			MUST(hf_dec_load(dec, blob, used, discard) == 0);
		}
		err = hf_dec_next(dec, ev + n, KEPT - n < batch ? KEPT - n : batch, &got);
		MUST(err == 0 || (err == HF_NOTE_END && got == 0));
		n += got;
	}
	hf_dec_free(dec);
	return n;
}

static void check(const struct ete_fuzz *f, uint32_t hart, size_t place)
{
	const size_t n = run(f, hart, 997, 0, first);

	MUST(run(f, hart, 1, 0, second) == n);
	MUST(memcmp(first, second, n * sizeof *first) == 0);
	MUST(run(f, hart, 3, 1 + place, second) == n);
	MUST(memcmp(first, second, n * sizeof *first) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ete_fuzz f;

	if (size < 2 || size > 4096)
		return 0;
	ete_fuzz_open(&f, data[0], data + 2, size - 2);
	check(&f, 1, data[1]);
	check(&f, HF_HART_RECORDS, data[1]);
	ete_fuzz_close(&f);
	return 0;
}
