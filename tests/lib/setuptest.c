#include "tests/lib/setuptest.h"

#include "tests/lib/toy_codec.h"

static const char *const parameters[] = {"step", "width", NULL};

void hf_setup_test_codecs(void)
{
	static struct hf_codec toy, rv, ete;
	static const struct hf_codec *const list[] = {&toy, &rv, &ete, NULL};

	toy = (struct hf_codec){.name = "toy", .dec = hf_codec_toy.dec, .parameters = parameters};
	rv = (struct hf_codec){.name = "rv", .dec = hf_codec_toy.dec, .program_arch = HF_ARCH_RISCV};
	ete = (struct hf_codec){.name = "ete", .dec = hf_codec_toy.dec, .program_arch = HF_ARCH_ARM};
	hf_codecs = list;
}
