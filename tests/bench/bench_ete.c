/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast an ETE is decoded: bench_ete SNAPSHOT-DIRECTORY [REPEATS]. The first buffer is repeated in memory, so that
 * its recordings follow one another, and decoded for its hart; CPU time of this thread.
 */
#include "codecs/ete/stream.h"
#include "tests/lib/check.h"
#include "tests/lib/etetest.h"

#include <time.h>

static double cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	const size_t repeats = argc > 2 ? strtoul(argv[2], NULL, 10) : 2000;
	static struct hf_event ev[4096];
	struct ete_capture c;
	struct hf_setup_part *parts, *first, *kept;
	struct hf_src *src;
	struct hf_dec *dec;
	struct hf_ete_stream *s;
	uint64_t insns = 0, events = 0;
	size_t n, size, kept_count;
	uint8_t *bytes;
	double start, took;

	if (argc < 2) {
		fprintf(stderr, "usage: bench_ete SNAPSHOT-DIRECTORY [REPEATS]\n");
		return 2;
	}
	ete_open(&c, argv[1]);
	first = c.setup->parts;
	size = (size_t)first->size;
	bytes = malloc(size * repeats);
	parts = malloc(repeats * sizeof *parts);
	CHECK(bytes && parts && size);
	CHECK_EQ(hf_src_read_at(c.src, first->offset, bytes, size, &n, NULL), 0);
	CHECK_EQ(n, size);
	for (size_t i = 0; i < repeats; i++) {
		memcpy(bytes + i * size, bytes, size);
		parts[i] = *first;
		parts[i].offset = i * size;
	}
	CHECK_EQ(hf_src_memory_new(bytes, size * repeats, &src), 0);
	s = (struct hf_ete_stream *)c.stream;
	kept = c.setup->parts;
	kept_count = c.setup->part_count;
	s->parts = parts;
	s->part_count = repeats;
	start = cpu();
	CHECK_EQ(hf_dec_new(c.stream, src, first->hart == HF_SETUP_ANY ? s->harts[0].id : first->hart, &dec), 0);
	while (hf_dec_next(dec, ev, 4096, &n) == 0) {
		events += n;
		for (size_t i = 0; i < n; i++)
			insns += ev[i].kind == HF_EVENT_INSN;
	}
	took = cpu() - start;
	printf("%" PRIu64 " instructions, %" PRIu64 " events, %zu bytes: %.3f s, %.2f ns an instruction, %.1f M/s, "
	       "%.1f MB/s\n", insns, events, size * repeats, took, took * 1e9 / (double)insns, (double)insns / took * 1e-6,
	       (double)(size * repeats) / took * 1e-6);
	hf_dec_free(dec);
	hf_src_free(src);
	s->parts = kept;
	s->part_count = kept_count;
	ete_close(&c);
	free(parts);
	free(bytes);
	return 0;
}
