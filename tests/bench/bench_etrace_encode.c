/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Size and speed of the E-Trace encoder: bench_etrace_encode TRACE.csv[.xz] XLEN [PARAMS...]. For each set of view
 * parameters (default: the modes one by one) the payload bits an instruction, without framing, and the CPU time.
 */
#include "codecs/etrace/encoder.h"
#include "codecs/views.h"
#include "tests/lib/check.h"
#include "tests/lib/rvtrace.h"

#include <time.h>

#define TABLES "profile=c111,nocontext=1,ecause_width=5,privilege_width=2,resync_packets=4096,"

static const char *const usual[] = {
	TABLES "options=none",
	TABLES "options=full_address",
	TABLES "options=implicit_return,call_counter_size=9",
	TABLES "options=branch_prediction",
	TABLES "options=jump_target_cache",
	TABLES "options=implicit_return+branch_prediction,call_counter_size=9",
	TABLES "options=implicit_return+branch_prediction+jump_target_cache,call_counter_size=9",
	"sync_instructions=0,options=none", "sync_instructions=0,options=full_address",
	"sync_instructions=0,options=implicit_return", "sync_instructions=0,options=branch_prediction",
	"sync_instructions=0,options=jump_target_cache", "sync_instructions=0",
	"sync_instructions=0,options=implicit_return+branch_prediction+jump_target_cache", "",
};

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Payload bytes of the packets in the sink, whose flush this is. */
static uint64_t payload, packets;
static uint8_t room[1 << 20];

static int count_packets(struct hf_sink *sink)
{
	const uint8_t *p = sink->start;

	while (p < sink->p) {
		payload += *p & 31;
		packets++;
		p += 1 + (*p & 31);
	}
	sink->flushed += (uint64_t)(sink->p - sink->start);
	sink->p = sink->start;
	return 0;
}

static void measure(const struct hf_rvtrace *trace, const char *params)
{
	const unsigned rounds = (unsigned)(20000000 / trace->count) + 1;
	struct hf_enc_env env = {.params = params};
	struct hf_sink sink = {.start = room, .p = room, .end = room + sizeof room, .flush = count_packets};
	double start = cpu_seconds(), encoding;

	for (unsigned round = 0; round < rounds; round++) {
		struct hf_enc *enc;

		CHECK_EQ(hf_enc_new(&hf_view_etrace, &trace->stream, 0, &env, &enc), 0);
		for (size_t i = 0; i < trace->count; i += 4096)
			hf_enc_put(enc, trace->events + i, trace->count - i < 4096 ? trace->count - i : 4096, &sink);
		hf_enc_end(enc, &sink);
		hf_enc_free(enc);
	}
	encoding = cpu_seconds() - start;
	payload = packets = 0;
	count_packets(&sink);
	sink = (struct hf_sink){.start = room, .p = room, .end = room + sizeof room, .flush = count_packets};
	payload = packets = 0;
	{
		struct hf_enc *enc;

		CHECK_EQ(hf_enc_new(&hf_view_etrace, &trace->stream, 0, &env, &enc), 0);
		hf_enc_put(enc, trace->events, trace->count, &sink);
		hf_enc_end(enc, &sink);
		hf_enc_free(enc);
		count_packets(&sink);
	}
	printf("%.4f bits, with headers %.4f, %6.1f M instructions/s  %s\n",
	       8 * (double)payload / (double)trace->retired, 8 * (double)(payload + packets) / (double)trace->retired,
	       (double)trace->retired * rounds / encoding * 1e-6, params);
}

int main(int argc, char **argv)
{
	struct hf_rvtrace trace;
	size_t n;
	char *csv = argc > 2 ? hf_rvtrace_read_file(argv[1], SIZE_MAX, &n) : NULL;

	if (!csv) {
		fprintf(stderr, "bench_etrace_encode TRACE.csv[.xz] XLEN [PARAMS...]\n");
		return 2;
	}
	hf_rvtrace_parse(&trace, csv, (unsigned)atoi(argv[2]), 0);
	free(csv);
	printf("%zu instructions\n", trace.retired);
	if (argc > 3)
		for (int i = 3; i < argc; i++)
			measure(&trace, argv[i]);
	else
		for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
			measure(&trace, usual[i]);
	hf_rvtrace_fini(&trace);
	return 0;
}
