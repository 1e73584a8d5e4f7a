/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/views.h"
#include "tests/lib/eteloop.h"

#include "codecs/ete/encoder.h"
#include "codecs/setup/read.h"
#include "tests/lib/check.h"

extern const struct hf_codec hf_codec_ete;

static const struct hf_stream arm = {.info = {.arch = HF_ARCH_ARM, .xlen = 64, .isa = HF_ISA_A64,
					      .flags = HF_STREAM_HARTS}};

static struct hf_enc *make(const struct hf_enc_env *env)
{
	struct hf_enc *enc;

	CHECK_EQ(hf_enc_new(&hf_view_ete, &arm, 0, env, &enc), 0);
	return enc;
}

void ete_loop_encode(const struct hf_event *all, size_t n, const char *params, size_t step, struct hf_sink *ret_bytes)
{
	const struct hf_enc_env env = {.params = params};
	struct hf_enc *enc = make(&env);
	uint8_t state[HF_STATE_MAX];

	CHECK_EQ(hf_sink_init_memory(ret_bytes, 1 << 16), 0);
	for (size_t i = 0; i < n;) {
		const size_t count = step && step < n - i ? step : n - i;
		size_t used;

		hf_enc_put(enc, all + i, count, ret_bytes);
		i += count;
		used = hf_enc_save(enc, state);
		CHECK(used <= HF_STATE_MAX);
		hf_enc_free(enc);
		enc = make(&env);
		CHECK_EQ(hf_enc_load(enc, state, used), 0);
	}
	hf_enc_end(enc, ret_bytes);
	hf_enc_free(enc);
	CHECK_EQ(ret_bytes->err, 0);
}

/* "snapshot.ini" of "ete/snapshot.ini". */
static int open_file(void *ctx, const char *name, struct hf_src **ret_src, struct hf_diag *diag)
{
	struct ete_loop *l = ctx;
	const struct hf_sink *s = &l->files[0];

	(void)diag;
	if (strcmp(name, "program.elf") == 0)
		return hf_src_memory_new(l->code, l->code_size, ret_src);
	for (unsigned i = 0; strcmp(name, "trace.bin") != 0 && hf_ete_enc_side[i].name; i++)
		if (strcmp(name, hf_ete_enc_side[i].name + 4) == 0)
			s = &l->files[i + 1];
	if (s == &l->files[0] && strcmp(name, "trace.bin") != 0)
		return HF_ERR_NOT_FOUND;
	return hf_src_memory_new(s->start, (size_t)(s->p - s->start), ret_src);
}

void ete_loop_open(struct ete_loop *l, const struct hf_event *all, size_t n, const char *params, uint64_t base,
		   const uint8_t *code, size_t code_size)
{
	const struct hf_elf_segment segment = {.address = base, .size = code_size, .memory_size = code_size};
	const struct hf_enc_env env = {.params = params};
	const struct hf_side side = {
		.stream = &arm, .hart = 1, .env = &env, .segments = &segment, .segment_count = 1, .entry = base};
	const struct hf_setup_opener opener = {.ctx = l, .open = open_file, .codecs = hf_codecs};
	struct hf_setup_error error = {.line = 0};

	memset(l, 0, sizeof *l);
	l->code = code;
	l->code_size = code_size;
	ete_loop_encode(all, n, params, 0, &l->files[0]);
	for (unsigned i = 0; hf_ete_enc_side[i].name; i++) {
		CHECK_EQ(hf_sink_init_memory(&l->files[i + 1], 1 << 13), 0);
		hf_ete_enc_side[i].write(&side, &l->files[i + 1]);
	}
	if (hf_setup_read_snapshot(&opener, "snapshot.ini", &l->capture.setup, &error) ||
	    hf_setup_load(l->capture.setup, &opener, &l->capture.src, &error)) {
		fprintf(stderr, "%s:%u: %s\n", error.file, error.line, error.text);
		exit(1);
	}
	CHECK_EQ(hf_stream_open(&hf_codec_ete, l->capture.src, l->capture.setup, &l->capture.stream, NULL), 0);
}

void ete_loop_close(struct ete_loop *l)
{
	ete_close(&l->capture);
	for (unsigned i = 0; i < 6; i++)
		if (l->files[i].start)
			hf_sink_fini_memory(&l->files[i]);
}
