/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as an ITM stream: the decoder ends, gives the same events whatever it is asked for at a time and wherever it is
 * entered, and no more of them than bytes can stand for. Input: flags (1: frames), a place, the stream.
 */
#include "codecs/codec.h"
#include "codecs/itm/decoder.h"
#include "tests/lib/fuzz.h"

#include <string.h>

#define KEPT 20000

extern const struct hf_codec hf_codec_itm;
static struct hf_event first[KEPT], second[KEPT];

/* At most KEPT events; with place, saved and entered again there. */
static size_t run(const struct hf_stream *stream, struct hf_src *src, uint32_t hart, size_t batch, size_t place,
		  struct hf_event *ev)
{
	uint8_t blob[HF_STATE_MAX];
	uint64_t discard;
	struct hf_dec *dec;
	size_t n = 0, got = 1;

	MUST(hf_dec_new(stream, src, hart, &dec) == 0);
	while (n < KEPT && got) {
		int err;

		if (place && n >= place) {
			const size_t used = hf_dec_save(dec, blob, &discard);

			place = 0;
			hf_dec_free(dec);
			MUST(hf_dec_new(stream, src, hart, &dec) == 0);
			MUST(hf_dec_load(dec, blob, used, discard) == 0);
		}
		err = hf_dec_next(dec, ev + n, KEPT - n < batch ? KEPT - n : batch, &got);
		MUST(err == 0 || (err == HF_NOTE_END && got == 0));
		n += got;
	}
	hf_dec_free(dec);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct hf_setup_part part = {.hart = HF_SETUP_ANY, .name = "fuzz", .framing = ""};
	struct hf_setup setup = {.format = "itm", .parts = &part, .part_count = 1};
	struct hf_stream *stream;
	struct hf_src *src;
	size_t count, again;

	if (n < 2 || n > 4096)
		return 0;
	part.framing = bytes[0] & 1 ? "coresight" : "";
	part.size = n - 2;
	MUST(hf_src_memory_new(bytes + 2, n - 2, &src) == 0);
	if (hf_stream_open(&hf_codec_itm, src, &setup, &stream, NULL) == 0) {
		const uint32_t hart = stream->info.first_hart;

		count = run(stream, src, hart, 64, 0, first);
		MUST(count <= HF_ITM_EVENTS * n);
		again = run(stream, src, hart, 1, bytes[1] ? bytes[1] : 0, second);
		MUST(count == again && memcmp(first, second, count * sizeof *first) == 0);
		hf_stream_close(stream);
	}
	hf_src_free(src);
	return 0;
}
