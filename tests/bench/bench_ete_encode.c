/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Size and speed of the view ete/: bench_ete_encode TRACE.astf [PARAMS...]. For each set of parameters (default: with and
 * without return stack) bytes, bits an instruction, and CPU time an instruction; events that are not instructions, such
 * as accesses, are left out first, as they are of no matter to an ETE.
 */
#include "codecs/ete/encoder.h"
#include "codecs/views.h"
#include "tests/lib/check.h"

#include <fcntl.h>
#include <time.h>

#define BATCH 4096

static const char *const usual[] = {
	"return_stack=0,sync_instructions=0", "return_stack=1,sync_instructions=0", "return_stack=0", "return_stack=1",
	"return_stack=1,sync_instructions=100",
};

static struct hf_event *events;
static size_t count, insns;

static double cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void keep(const struct hf_event *ev)
{
	static size_t room;

	if (ev->kind == HF_EVENT_MEM || ev->kind == HF_EVENT_DATA || ev->kind == HF_EVENT_REG)
		return;
	if (count == room) {
		room = 2 * room + BATCH;
		events = realloc(events, room * sizeof *events);
		CHECK(events);
	}
	events[count++] = *ev;
	insns += ev->kind == HF_EVENT_INSN;
}

static int pass(void *ctx, const struct hf_point *point, const uint8_t *window)
{
	(void)ctx;
	(void)point;
	(void)window;
	return 0;
}

/* All events of the first hart. A file below a container is left open, the program ends soon. */
static struct hf_stream *read_trace(const char *path, struct hf_src **ret_src)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct hf_event ev[64];
	struct hf_stream *stream;
	const struct hf_box *box;
	struct hf_scan *scan;
	uint8_t head[HF_PROBE_SIZE];
	struct hf_diag diag;
	struct hf_dec *dec;
	size_t n;

	CHECK(fd >= 0);
	CHECK_EQ(hf_src_file_new(fd, ret_src, &diag), 0);
	CHECK_EQ(hf_src_read_at(*ret_src, 0, head, sizeof head, &n, NULL), 0);
	box = hf_box_probe(head, n, (*ret_src)->size);
	if (box) {
		CHECK_EQ(box->scan_new(box, *ret_src, NULL, NULL, &scan, &diag), 0);
		CHECK_EQ(hf_growing_new(box, scan, pass, NULL, ret_src), 0);
		CHECK_EQ(hf_src_read_at(*ret_src, 0, head, sizeof head, &n, NULL), 0);
	}
	CHECK_EQ(hf_stream_open(hf_codec_probe(head, n), *ret_src, NULL, &stream, &diag), 0);
	CHECK_EQ(hf_dec_new(stream, *ret_src, stream->info.first_hart, &dec), 0);
	while (hf_dec_next(dec, ev, 64, &n) == 0)
		for (size_t i = 0; i < n; i++)
			keep(&ev[i]);
	hf_dec_free(dec);
	CHECK(insns);
	return stream;
}

static void measure(const struct hf_stream *stream, const char *params)
{
	const unsigned rounds = (unsigned)(60000000 / insns) + 1;
	const struct hf_enc_env env = {.params = params};
	static uint8_t room[1 << 16];
	struct hf_sink sink;
	struct hf_enc *enc;
	double best = 1e9;
	uint64_t bytes = 0;

	for (unsigned part = 0; part < 4; part++) {
		const double start = cpu();

		for (unsigned round = 0; round <= rounds / 4; round++) {
			hf_sink_init_count(&sink, room, sizeof room);
			CHECK_EQ(hf_enc_new(&hf_view_ete, stream, 0, &env, &enc), 0);
			for (size_t i = 0; i < count; i += BATCH)
				hf_enc_put(enc, events + i, count - i < BATCH ? count - i : BATCH, &sink);
			hf_enc_end(enc, &sink);
			hf_enc_free(enc);
			bytes = hf_sink_total(&sink);
		}
		best = cpu() - start < best ? cpu() - start : best;
	}
	best /= (double)insns * (rounds / 4 + 1);
	printf("%9" PRIu64 " bytes, %.4f bits, %.2f ns an instruction, %6.1f M/s  %s\n", bytes,
	       8 * (double)bytes / (double)insns, best * 1e9, 1e-6 / best, params);
}

int main(int argc, char **argv)
{
	struct hf_stream *stream;
	struct hf_src *src;

	if (argc < 2) {
		fprintf(stderr, "usage: bench_ete_encode TRACE.astf [PARAMS...]\n");
		return 2;
	}
	stream = read_trace(argv[1], &src);
	printf("%zu instructions, %zu events\n", insns, count);
	for (int i = 2; i < argc; i++)
		measure(stream, argv[i]);
	for (size_t i = 0; argc == 2 && i < sizeof usual / sizeof usual[0]; i++)
		measure(stream, usual[i]);
	hf_stream_close(stream);
	hf_src_free(src);
	free(events);
	return 0;
}
