/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding of E-Trace captures to events: ns of user CPU time an instruction. bench_etrace CAPTURE.INI... */
#include "tests/lib/etracetest.h"

#include <sys/resource.h>

#define BATCH 1024
#define ENOUGH 20000000 /* instructions */

static double user_time(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)u.ru_utime.tv_sec + (double)u.ru_utime.tv_usec / 1e6;
}

/* Instructions of one pass; the decoder is made anew, so its caches are empty. */
static uint64_t pass(const struct hf_etracet *t)
{
	static struct hf_event ev[BATCH];
	struct hf_dec *dec;
	uint64_t insns = 0;
	size_t n;

	CHECK_EQ(hf_dec_new(t->stream, t->src, t->stream->info.first_hart, &dec), 0);
	while (hf_dec_next(dec, ev, BATCH, &n) == 0)
		for (size_t i = 0; i < n; i++)
			insns += ev[i].kind == HF_EVENT_INSN;
	hf_dec_free(dec);
	return insns;
}

static void measure(const char *ini)
{
	struct hf_etracet t;
	uint64_t insns = 0;
	double start;

	if (!hf_etracet_open(&t, ini))
		return;
	pass(&t);
	start = user_time();
	for (unsigned i = 0; i < 10000 && insns < ENOUGH; i++) {
		uint64_t n = pass(&t);

		if (!n)
			break;
		insns += n;
	}
	start = user_time() - start;
	printf("%-100s %6.2f ns an instruction, %6.1f M instructions/s\n", ini, start / (double)insns * 1e9,
	       (double)insns / start / 1e6);
	hf_etracet_close(&t);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		measure(argv[i]);
	return 0;
}
