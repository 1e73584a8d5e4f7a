/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the dump of an MTB: the decoder ends, gives the same events whatever it is asked for at a time and wherever
 * it is entered, and no more of them than the code that a pair can lead over. Input: flags, place, dump.
 */
#include "codecs/mtb/mtb.h"
#include "tests/lib/fuzz.h"

#include <string.h>

#define KEPT 20000
#define CODE_SIZE 512u

extern const struct hf_codec hf_codec_mtb;
static struct hf_event first[KEPT], second[KEPT];

/* At most KEPT events; with place, saved and entered again there. */
static size_t run(const struct hf_stream *stream, struct hf_src *src, size_t batch, size_t place, struct hf_event *ev)
{
	uint8_t blob[HF_STATE_MAX];
	uint64_t discard;
	struct hf_dec *dec;
	size_t n = 0, got = 1;

	MUST(hf_dec_new(stream, src, 0, &dec) == 0);
	while (n < KEPT && got) {
		int err;

		if (place && n >= place) {
			const size_t used = hf_dec_save(dec, blob, &discard);

			place = 0;
			hf_dec_free(dec);
			MUST(hf_dec_new(stream, src, 0, &dec) == 0);
			MUST(hf_dec_load(dec, blob, used, discard) == 0);
		}
		err = hf_dec_next(dec, ev + n, KEPT - n < batch ? KEPT - n : batch, &got);
		MUST(err == 0 || (err == HF_NOTE_END && got == 0));
		n += got;
	}
	hf_dec_free(dec);
	return n;
}

/* bx lr, it, b, beq, cbz, bl, ldm, svc and add among nops, from 1000 on. */
static void add_code(struct hf_program *program)
{
	static const uint16_t branches[] = {0x4770, 0xbf08, 0xe7f0, 0xd0f0, 0xb110, 0xf000, 0xf802, 0xe8b0, 0x0006, 0xdf00, 0x4487};
	static uint8_t code[CODE_SIZE];
	struct hf_src *src;

	for (unsigned i = 0; i < CODE_SIZE; i += 2) {
		const uint16_t half = i % 10 == 0 && i / 10 < 11 ? branches[i / 10] : i % 12 == 0 ? branches[i / 12 % 11] : 0xbf00;

		memcpy(code + i, &half, 2);
	}
	MUST(hf_src_memory_new(code, sizeof code, &src) == 0);
	MUST(hf_program_add_raw(program, src, 0x1000, NULL) == 0);
	hf_src_free(src);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hf_setup_value value = {.hart = HF_SETUP_ANY, .key = "position", .file = "", .line = 1};
	struct hf_setup_image image = {.hart = HF_SETUP_ANY, .spaces = HF_MEMORY_ANY, .context = HF_SETUP_NO_CONTEXT};
	struct hf_setup setup = {.format = "mtb", .values = &value, .images = &image, .image_count = 1};
	struct hf_stream *stream;
	struct hf_src *src;
	size_t n;

	if (size < 2 || size > 4096)
		return 0;
	value.value = data[0] & 1 ? "0x2c" : "0x20000018";
	setup.value_count = data[0] & 2 ? 1 : 0;
	add_code(&image.program);
	MUST(hf_src_memory_new(data + 2, size - 2, &src) == 0);
	if (hf_stream_open(&hf_codec_mtb, src, &setup, &stream, NULL)) { /* not all of a ring */
		hf_src_free(src);
		hf_program_fini(&image.program);
		return 0;
	}
	n = run(stream, src, 997, 0, first);
	MUST(run(stream, src, 1, 0, second) == n);
	MUST(memcmp(first, second, n * sizeof *first) == 0);
	MUST(run(stream, src, 3, 1 + data[1], second) == n);
	MUST(memcmp(first, second, n * sizeof *first) == 0);
	hf_stream_close(stream);
	hf_src_free(src);
	hf_program_fini(&image.program);
	return 0;
}
