/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arbitrary bytes as an ELF, of which some ran somewhere: whatever place is found is proven by the bytes that ran, and
 * another look at that place says the same.
 */
#include "codecs/base/bytes.h"
#include "codecs/image/bias.h"
#include "tests/lib/fuzz.h"

#define BIAS UINT64_C(0x4000000000)

/* The words of the input run, some of them changed, at the place where their offset and the bias bring them. */
static struct hf_image *make_image(const uint8_t *data, size_t size)
{
	struct hf_image *image;

	MUST(hf_image_new(&image) == 0);
	for (size_t i = 0; i + 4 <= size && i < 65536; i += 4) {
		const uint32_t word = hf_get32(data + i) ^ (i % 1028 == 1024);
		const struct hf_event ev = {.kind = HF_EVENT_INSN,
					    .insn = {.pc = BIAS + i, .opcode = word, .size = 4, .isa = HF_ISA_RV64}};

		MUST(hf_image_put(image, &ev, 1) == 0);
	}
	return image;
}

static void check(struct hf_bias_search *search, struct hf_src *src)
{
	struct hf_bias found, again;
	bool other;

	for (unsigned i = 0; i < 8; i++) {
		if (hf_bias_find(search, src, &found, NULL) || found.verdict != HF_BIAS_FOUND)
			return;
		MUST(found.bytes && found.differs <= found.bytes / HF_BIAS_SHARE);
		MUST(hf_bias_check(search, src, found.bias, &again, NULL) == 0);
		MUST(again.verdict == HF_BIAS_FOUND && again.bytes == found.bytes && again.differs == found.differs);
		MUST(hf_bias_claim(search, src, found.bias, &other) == 0 && !other);
		MUST(hf_bias_unclaimed(search) <= hf_bias_bytes(search));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hf_bias_search *search;
	struct hf_image *image;
	struct hf_src *src;

	if (hf_src_memory_new(data, size, &src))
		return 0;
	image = make_image(data, size);
	MUST(hf_bias_search_new(image, &search) == 0);
	check(search, src);
	hf_bias_search_free(search);
	hf_image_free(image);
	hf_src_free(src);
	return 0;
}
