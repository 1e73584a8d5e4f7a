/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ns an instruction (user CPU time) of decoding ASTF, of encoding trace.astf and trace.stf from its events, and of
 * records.txt: bench_astf FILE.astf [ROUNDS]. The file is decompressed first; the rest is in memory.
 */
#include "codecs/views.h"
#include "tests/lib/astftest.h"

#include <sys/resource.h>

#define BATCH 4096

static double user_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec * 1e-6;
}

/* One pass over the stream; *ret_n: instructions, of the records' hart events. */
static double pass(const struct hf_stft *t, uint32_t hart, const struct hf_enc_ops *ops, uint64_t *ret_n)
{
	static struct hf_event ev[BATCH];
	static uint8_t buf[1 << 20];
	struct hf_enc *enc = NULL;
	struct hf_sink sink;
	struct hf_dec *dec;
	double start;
	size_t n;

	*ret_n = 0;
	hf_sink_init_count(&sink, buf, sizeof buf);
	CHECK_EQ(hf_dec_new(t->stream, t->src, hart, &dec), 0);
	if (ops)
		CHECK_EQ(hf_enc_new(ops, t->stream, hart, NULL, &enc), 0);
	start = user_seconds();
	while (hf_dec_next(dec, ev, BATCH, &n) == 0) {
		if (enc)
			hf_enc_put(enc, ev, n, &sink);
		else
			for (size_t i = 0; i < n; i++)
				*ret_n += hf_event_is_instruction(&ev[i]);
	}
	start = user_seconds() - start;
	if (enc)
		hf_enc_free(enc);
	hf_dec_free(dec);
	return start;
}

int main(int argc, char **argv)
{
	const unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 5;
	double best[4] = {1e9, 1e9, 1e9, 1e9};
	struct hf_walk_bytes file;
	const struct hf_box *box;
	struct hf_stft t;
	struct hf_walk w;
	uint64_t insns = 0, unused;

	if (argc < 2) {
		fprintf(stderr, "usage: bench_astf FILE.astf [ROUNDS]\n");
		return 2;
	}
	file = hf_bytes_load("", argv[1]);
	box = hf_box_probe(file.p, file.n < HF_PROBE_SIZE ? file.n : HF_PROBE_SIZE, file.n);
	if (box) {
		hf_walk_memory(&w, box, file.p, file.n);
		file.n = 0;
		hf_bytes_add(&file, w.out.p, w.out.n);
		hf_walk_free(&w);
	}
	hf_astft_open(&t, &file);
	for (unsigned i = 0; i < rounds; i++) {
		const double times[4] = {
			pass(&t, 0, NULL, &insns),
			pass(&t, 0, &hf_view_astf, &unused),
			pass(&t, 0, &hf_view_stf, &unused),
			pass(&t, HF_HART_RECORDS, NULL, &unused),
		};

		for (unsigned k = 0; k < 4; k++)
			best[k] = times[k] < best[k] ? times[k] : best[k];
	}
	printf("%llu instructions: decoding %.1f ns, with trace.astf %.1f, with trace.stf %.1f; records.txt %.1f ns\n",
	       (unsigned long long)insns, best[0] * 1e9 / (double)insns, best[1] * 1e9 / (double)insns,
	       best[2] * 1e9 / (double)insns, best[3] * 1e9 / (double)insns);
	hf_stft_close(&t);
	hf_bytes_free(&file);
	return 0;
}
