/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/etefuzz.h"

#include "codecs/base/bytes.h"

#include <stdio.h>

extern const struct hf_codec hf_codec_ete;

#define CODE_SIZE 4096u

/* bl, b.eq, ret, blr, isb, tstart, svc, cbz and eret among nops; the upper half are A32 and T32 branches. */
static void make_code(uint8_t *code)
{
	static const uint32_t a64[] = {0x94000020, 0x54000100, 0xd65f03c0, 0xd63f0020, 0xd5033fdf, 0xd5233060,
				       0xd4000001, 0xb4ffff60, 0xd69f03e0, 0x17ffffe0, 0x54ffff01, 0xd503207f};
	static const uint32_t a32[] = {0xeb000010, 0x0a000008, 0xe12fff1e, 0xfa000010, 0xe8bd8000, 0xeafffff0,
				       0x4770d0f0, 0xbd00e7f0, 0xf7fff800, 0xb1104687};

	for (unsigned i = 0; i < CODE_SIZE; i += 4)
		hf_put32(code + i, i < CODE_SIZE / 2 ? 0xd503201f : 0xe320f000);
	for (unsigned i = 0; i < sizeof a64 / sizeof *a64; i++)
		hf_put32(code + 32 * i + 12, a64[i]);
	for (unsigned i = 0; i < sizeof a32 / sizeof *a32; i++)
		hf_put32(code + CODE_SIZE / 2 + 32 * i + 12, a32[i]);
}

static void add_value(struct ete_fuzz *f, const char *key, unsigned value)
{
	const size_t i = f->setup.value_count++;

	snprintf(f->texts[i], sizeof f->texts[i], "0x%x", value);
	f->values[i] = (struct hf_setup_value){.hart = 1, .key = key, .value = f->texts[i], .file = "", .line = 1};
}

void ete_fuzz_open(struct ete_fuzz *f, unsigned flags, const uint8_t *bytes, size_t n)
{
	static uint8_t code[CODE_SIZE];
	struct hf_src *src;

	memset(f, 0, sizeof *f);
	make_code(code);
	add_value(f, "TRCCONFIGR", flags & 1 ? 0x1001 : 1);
	add_value(f, "TRCIDR0", (flags & 2 ? 0x20000000u : 0) | (flags & 4 ? 0x40000000u : 0) | 0x800000u);
	add_value(f, "TRCIDR2", flags & 8 ? 0xd0001088 : 0x80000488);
	add_value(f, "TRCIDR8", flags & 16 ? 6 : 0);
	add_value(f, "TRCDEVARCH", flags & 32 ? 0x47724a13 : 0x47705a13);
	if (flags & 4 && flags & 32) {
		add_value(f, "profile", 0);
		f->values[f->setup.value_count - 1].value = "M";
	}
	f->image = (struct hf_setup_image){
		.hart = HF_SETUP_ANY, .spaces = HF_MEMORY_ANY, .context = HF_SETUP_NO_CONTEXT};
	MUST(hf_src_memory_new(code, sizeof code, &src) == 0);
	MUST(hf_program_add_raw(&f->image.program, src, 0x1000, NULL) == 0);
	hf_src_free(src);
	for (unsigned i = 0; i < 2; i++)
		f->parts[i] = (struct hf_setup_part){
			.hart = flags & 64 ? HF_SETUP_ANY : 1,
			.name = "part",
			.framing = flags & 64 ? "coresight_sync" : "",
			.size = n,
		};
	f->setup.format = "ete";
	f->setup.values = f->values;
	f->setup.images = &f->image;
	f->setup.image_count = 1;
	f->setup.parts = f->parts;
	f->setup.part_count = 1;
	if (flags & 128) {
		f->setup.part_count = 2;
		f->parts[0].size = n / 2;
		f->parts[1].offset = n / 2;
		f->parts[1].size = n - n / 2;
	}
	MUST(hf_src_memory_new(bytes, n, &f->src) == 0);
	MUST(hf_stream_open(&hf_codec_ete, f->src, &f->setup, &f->stream, NULL) == 0);
}

void ete_fuzz_close(struct ete_fuzz *f)
{
	hf_stream_close(f->stream);
	hf_src_free(f->src);
	hf_program_fini(&f->image.program);
}
