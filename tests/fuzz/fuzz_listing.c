/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arbitrary events, in any order: every line of the listing must be an instruction's or begin with '#', there must
 * be as many of the former as INSN events, an encoder that takes over at any boundary must go on the same, and counting them
 * must come to their length.
 */
#include "codecs/codec.h"
#include "codecs/isa/disasm.h"
#include "codecs/listing/listing.h"
#include "codecs/views.h"
#include "tests/lib/counted.h"
#include "tests/lib/fuzz.h"

#include <ctype.h>

extern const struct hf_codec hf_codec_stf;

static struct hf_disasm *disasm;

static const uint8_t *pass(const uint8_t *p, const uint8_t *end, int (*is)(int), unsigned least, unsigned most)
{
	const uint8_t *start = p;

	while (p < end && is(*p))
		p++;
	MUST(p - start >= least && p - start <= most);
	return p;
}

static const uint8_t *blank(const uint8_t *p, const uint8_t *end)
{
	MUST(p < end && *p == ' ');
	return p + 1;
}

static void check_insn(const uint8_t *p, const uint8_t *end)
{
	const uint8_t *opcode;

	p = blank(pass(p, end, isdigit, 1, 20), end);
	p = blank(pass(p, end, isgraph, 1, 4), end);
	p = blank(pass(p, end, isxdigit, 16, 16), end);
	opcode = p;
	p = pass(p, end, isxdigit, 4, 8);
	MUST(p - opcode == 4 || p - opcode == 8);
	MUST(p == end || *p == ' ');
}

static uint64_t check_lines(const uint8_t *p, const uint8_t *end)
{
	uint64_t insns = 0;

	while (p < end) {
		const uint8_t *stop = memchr(p, '\n', (size_t)(end - p));

		MUST(stop);
		for (const uint8_t *s = p; s < stop; s++)
			MUST(*s >= ' ' && *s <= '~');
		if (*p != '#') {
			check_insn(p, stop);
			insns++;
		}
		p = stop + 1;
	}
	return insns;
}

static struct hf_enc *new_encoder(const struct hf_stream *stream, const struct hf_enc_env *env)
{
	struct hf_enc *enc;

	if (hf_enc_new(&hf_view_listing, stream, 0, env, &enc))
		abort();
	return enc;
}

/* Encodes n events with a change of encoders before event cut. */
static void encode(const struct hf_stream *stream, const struct hf_enc_env *env, const struct hf_event *ev, size_t n,
		   size_t cut, struct hf_sink *sink)
{
	struct hf_enc *enc = new_encoder(stream, env), *second = new_encoder(stream, env);
	uint8_t blob[HF_STATE_MAX];
	size_t size;

	if (hf_sink_init_memory(sink, 0))
		abort();
	hf_enc_put(enc, ev, cut, sink);
	size = hf_enc_save(enc, blob);
	MUST(size < 24);
	MUST(hf_enc_load(second, blob, size) == 0);
	hf_enc_put(second, ev + cut, n - cut, sink);
	hf_enc_end(second, sink);
	hf_enc_free(enc);
	hf_enc_free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hf_stream stream = {.codec = &hf_codec_stf};
	struct hf_enc_env env = {0};
	struct hf_sink whole, parts;
	struct hf_event *ev;
	uint64_t insns = 0;
	size_t n, cut;

	if (!disasm && hf_disasm_new(&disasm))
		abort();
	if (size < 2)
		return 0;
	env.disasm = data[0] & 1 ? disasm : NULL;
	stream.info.arch = data[0] & 2 ? HF_ARCH_ARM : HF_ARCH_RISCV;
	n = (size - 2) / sizeof *ev;
	cut = n ? data[1] % (n + 1) : 0;
	ev = malloc(n ? n * sizeof *ev : 1);
	if (!ev)
		return 0;
	memcpy(ev, data + 2, n * sizeof *ev);
	for (size_t i = 0; i < n; i++) {
		ev[i].kind &= 0x1f; /* most kinds exist */
		insns += ev[i].kind == HF_EVENT_INSN;
	}
	encode(&stream, &env, ev, n, 0, &whole);
	MUST(check_lines(whole.start, whole.p) == insns);
	encode(&stream, &env, ev, n, cut, &parts);
	MUST(whole.p - whole.start == parts.p - parts.start);
	MUST(memcmp(whole.start, parts.start, (size_t)(whole.p - whole.start)) == 0);
	hf_sink_fini_memory(&whole);
	hf_sink_fini_memory(&parts);
	MUST(counted_is_written(&(struct counted){.ops = &hf_view_listing, .stream = &stream, .env = env, .ev = ev, .n = n,
						  .step = 1 + data[1] % 8}));
	free(ev);
	return 0;
}
