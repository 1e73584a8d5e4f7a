/* SPDX-License-Identifier: Apache-2.0 */
/*
 * N-Trace in figures: bench_ntrace ELF TRACE PARAMETERS [VIEW-PARAMETERS]. Decodes the trace to events, again and
 * again, and encodes those events; CPU time of this thread, and bits an instruction. PARAMETERS are a decoder's:
 * "srcbits=0,xlen=64,...".
 */
#include "codecs/views.h"
#include "tests/lib/ntracetest.h"

#include <time.h>

/* Long enough to be measured. */
#define SECONDS 1.0

static double cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Decodes all of it, without keeping anything. */
static size_t decode(const struct hf_stream *stream, struct hf_src *src)
{
	static struct hf_event ev[1024];
	struct hf_dec *dec;
	size_t insns = 0, n;

	CHECK_EQ(hf_dec_new(stream, src, stream->info.first_hart, &dec), 0);
	while (hf_dec_next(dec, ev, 1024, &n) == 0)
		for (size_t i = 0; i < n; i++)
			insns += ev[i].kind == HF_EVENT_INSN;
	hf_dec_free(dec);
	return insns;
}

static void time_decoder(const struct hf_ntt *t, const struct hf_walk_bytes *bytes)
{
	struct hf_stream *stream;
	struct hf_diag diag;
	struct hf_src *src;
	const double start = cpu();
	double took = 0;
	size_t insns = 0;

	CHECK_EQ(hf_src_memory_new(bytes->p, bytes->n, &src), 0);
	CHECK_EQ(hf_stream_open(hf_codec_by_name("ntrace"), src, &t->setup, &stream, &diag), 0);
	for (; took < SECONDS; took = cpu() - start)
		insns += decode(stream, src);
	printf("decoding: %.2f ns an instruction, %.1f M/s\n", took * 1e9 / (double)insns, (double)insns / took * 1e-6);
	hf_stream_close(stream);
	hf_src_free(src);
}

static void time_encoder(const struct hf_ntt_events *events, uint8_t xlen, const char *params)
{
	const struct hf_stream stream = {.info = {.arch = HF_ARCH_RISCV, .xlen = xlen, .flags = HF_STREAM_HARTS}};
	const struct hf_enc_env env = {.params = params};
	uint8_t *buf = malloc(1 << 16);
	const double start = cpu();
	double took = 0;
	size_t rounds = 0;
	uint64_t size = 0;

	CHECK(buf);
	for (; took < SECONDS; took = cpu() - start, rounds++) {
		struct hf_sink sink;
		struct hf_enc *enc;

		hf_sink_init_count(&sink, buf, 1 << 16);
		CHECK_EQ(hf_enc_new(&hf_view_ntrace, &stream, 0, &env, &enc), 0);
		for (size_t i = 0; i < events->n; i += 1024)
			hf_enc_put(enc, events->ev + i, events->n - i < 1024 ? events->n - i : 1024, &sink);
		hf_enc_end(enc, &sink);
		size = hf_sink_total(&sink);
		hf_enc_free(enc);
	}
	printf("encoding: %.2f ns an instruction, %.1f M/s; %" PRIu64 " bytes, %.5f bits an instruction\n",
	       took * 1e9 / (double)(rounds * events->insns), (double)(rounds * events->insns) / took * 1e-6, size,
	       8.0 * (double)size / (double)events->insns);
	free(buf);
}

int main(int argc, char **argv)
{
	struct hf_walk_bytes elf, bytes;
	struct hf_ntt_events events;
	struct hf_ntt t;

	if (argc < 4) {
		fprintf(stderr, "usage: bench_ntrace ELF TRACE PARAMETERS [VIEW-PARAMETERS]\n");
		return 2;
	}
	elf = hf_bytes_load("", argv[1]);
	bytes = hf_bytes_load("", argv[2]);
	hf_ntt_init(&t, argv[3]);
	hf_ntt_add_elf(&t, &elf);
	events = hf_ntt_decode(&t, bytes.p, bytes.n, 0, 0);
	printf("%zu instructions, %zu bytes, %.5f bits an instruction\n", events.insns, bytes.n,
	       8.0 * (double)bytes.n / (double)events.insns);
	if (events.insns) {
		time_decoder(&t, &bytes);
		time_encoder(&events, t.image.program.xlen, argc > 4 ? argv[4] : "");
	}
	hf_ntt_events_free(&events);
	hf_bytes_free(&bytes);
	hf_bytes_free(&elf);
	hf_ntt_fini(&t);
	return 0;
}
