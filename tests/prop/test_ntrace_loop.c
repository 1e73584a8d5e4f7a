/*
 * Random runs through random programs, to N-Trace and back: in every mode, with any distance of synchronising messages,
 * cut and entered at any event.
 */
#include "tests/lib/rvrun.h"

static const char *const modes[] = {
	"mode=btm,call_stack=0",
	"mode=btm,call_stack=8,repeat_branch=1",
	"mode=btm,call_stack=32,sequential_jump=1,all_jumps=1",
	"mode=btm,icnt_max=20,timestamps=1",
	"mode=htm,call_stack=0,ownership=0",
	"mode=htm",
	"mode=htm,call_stack=3,sequential_jump=1",
	"mode=htm,repeat_branch=1,repeat_history=1",
	"mode=htm,repeat_branch=1,repeat_history=1,hist_branches=3,timestamps=1",
	"mode=htm,repeat_history=1,all_jumps=1,addr_msb_ext=1,srcbits=5",
	"mode=htm,call_stack=0,hist_branches=1,icnt_max=10,srcbits=12",
	"mode=htm,call_stack=1,addr_msb_ext=1,sequential_jump=1,all_jumps=1,repeat_history=1",
};
#define MODES (sizeof modes / sizeof *modes)

static const unsigned syncs[] = {0, 1, 2, 7, 100, 16384};

/* What a decoder must be told of a stream in that mode. */
static void describe(const char *mode, uint8_t xlen, char *text, size_t size)
{
	static const char *const keys[] = {"srcbits", "addr_msb_ext", "sequential_jump", "all_jumps"};
	int n = snprintf(text, size, "xlen=%u,implicit_return=%d", xlen, !strstr(mode, "call_stack=0"));

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		size_t length;
		const char *value = hf_params_get(mode, keys[i], &length);

		if (value)
			n += snprintf(text + n, size - (size_t)n, ",%s=%.*s", keys[i], (int)length, value);
	}
}

static void init(struct hf_ntt *t, const struct hf_run *run, const char *mode)
{
	char text[128];

	describe(mode, run->xlen, text, sizeof text);
	hf_ntt_init(t, text);
	hf_ntt_add_code(t, run->base, run->code, run->code_size + 2);
}

static void check_mode(const struct hf_run *run, const char *mode, unsigned sync)
{
	char params[256];
	struct hf_events again;
	struct hf_bytes bytes;
	struct hf_ntt t;
	const uint32_t hart = strstr(mode, "srcbits") ? 17 : 0;
	size_t gaps = 0;

	for (size_t i = 0; i < run->events.n; i++)
		gaps += run->events.ev[i].kind == HF_EVENT_GAP;
	snprintf(params, sizeof params, "%s,sync_instructions=%u", mode, sync);
	init(&t, run, mode);
	bytes = hf_ntt_encode(&run->events, run->xlen, hart, params);
	again = hf_ntt_decode(&t, bytes.p, bytes.n, hart, 0);
	CHECK_EQ(again.err, HF_NOTE_END);
	hf_events_check_same_insns(&run->events, &again, params);
	hf_events_check_same_traps(&run->events, &again, params);
	if (again.losses != gaps)
		fprintf(stderr, "%s\n", params);
	CHECK_EQ(again.losses, gaps);
	hf_events_free(&again);
	hf_bytes_free(&bytes);
	hf_ntt_fini(&t);
}

static void check_run(uint64_t base, uint8_t xlen, unsigned flags, uint64_t seed)
{
	struct hf_run run;

	hf_run_make(&run, base, xlen, flags, 3000, seed);
	for (size_t i = 0; i < MODES; i++)
		for (size_t k = 0; k < sizeof syncs / sizeof *syncs; k++)
			check_mode(&run, modes[i], syncs[k]);
	hf_run_free(&run);
}

/* ---- entering ---- */

struct cut {
	uint8_t blob[HF_STATE_MAX];
	size_t size;
	uint64_t discard;
};

/* A decoder entered before event `at` gives the same events from there on (a good many of them). */
static void check_enter(const struct hf_stream *stream, struct hf_src *src, uint32_t hart, const struct hf_events *all,
			size_t at, const struct cut *cut)
{
	struct hf_event ev[64];
	struct hf_dec *dec;
	size_t n;

	CHECK_EQ(hf_dec_new(stream, src, hart, &dec), 0);
	CHECK_EQ(hf_dec_load(dec, cut->blob, cut->size, cut->discard), 0);
	for (size_t to = at; to < all->n && to < at + 400; to += n) {
		CHECK_EQ(hf_dec_next(dec, ev, 1 + at % 64, &n), 0);
		CHECK(memcmp(ev, all->ev + to, n * sizeof *ev) == 0);
	}
	hf_dec_free(dec);
}

static void check_decoder_cuts(const struct hf_run *run, const char *mode, const struct hf_bytes *bytes, uint32_t hart)
{
	struct hf_events all;
	struct hf_stream *stream;
	struct hf_diag diag;
	struct hf_event ev;
	struct hf_src *src;
	struct hf_dec *dec;
	struct hf_ntt t;
	struct cut cut;
	size_t n;

	init(&t, run, mode);
	all = hf_ntt_decode(&t, bytes->p, bytes->n, hart, 0);
	CHECK_EQ(hf_src_memory_new(bytes->p, bytes->n, &src), 0);
	CHECK_EQ(hf_stream_open(hf_codec_by_name("ntrace"), src, &t.setup, &stream, &diag), 0);
	CHECK_EQ(hf_dec_new(stream, src, hart, &dec), 0);
	for (size_t i = 0; i < all.n; i++) {
		cut.size = dec->ops->save(dec, cut.blob, &cut.discard);
		CHECK(cut.size <= HF_STATE_MAX);
		check_enter(stream, src, hart, &all, i, &cut);
		CHECK_EQ(hf_dec_next(dec, &ev, 1, &n), 0);
		CHECK(memcmp(&ev, &all.ev[i], sizeof ev) == 0);
	}
	hf_dec_free(dec);
	hf_stream_close(stream);
	hf_src_free(src);
	hf_events_free(&all);
	hf_ntt_fini(&t);
}

/* The encoder of the events, saved and loaded into a fresh one before each of them. */
static void check_encoder_cuts(const struct hf_run *run, const char *params, const struct hf_bytes *bytes, uint32_t hart)
{
	const struct hf_stream stream = {.info = {.arch = HF_ARCH_RISCV, .xlen = run->xlen, .flags = HF_STREAM_HARTS}};
	const struct hf_enc_env env = {.params = params};
	const struct hf_enc_ops *ops = hf_codec_by_name("ntrace")->enc;
	uint8_t blob[HF_STATE_MAX];
	struct hf_sink sink;
	struct hf_enc *enc, *fresh;

	CHECK_EQ(hf_enc_new(ops, &stream, hart, &env, &enc), 0);
	CHECK_EQ(hf_sink_init_memory(&sink, 1 << 16), 0);
	for (size_t i = 0; i < run->events.n; i++) {
		const size_t size = ops->save(enc, blob);

		CHECK_EQ(hf_enc_new(ops, &stream, hart, &env, &fresh), 0);
		CHECK_EQ(ops->load(fresh, blob, size), 0);
		hf_enc_free(enc);
		enc = fresh;
		ops->put(enc, &run->events.ev[i], 1, &sink);
	}
	ops->end(enc, &sink);
	CHECK_EQ(sink.p - sink.start, bytes->n);
	CHECK(memcmp(sink.start, bytes->p, bytes->n) == 0);
	hf_enc_free(enc);
	hf_sink_fini_memory(&sink);
}

static void check_cuts(void)
{
	struct hf_run run;

	hf_run_make(&run, 0x10000, 64, HF_RUN_ALL, 300, 77);
	for (size_t i = 0; i < MODES; i++) {
		char params[256];
		struct hf_bytes bytes;
		const uint32_t hart = strstr(modes[i], "srcbits") ? 17 : 0;

		snprintf(params, sizeof params, "%s,sync_instructions=50", modes[i]);
		bytes = hf_ntt_encode(&run.events, run.xlen, hart, params);
		check_decoder_cuts(&run, modes[i], &bytes, hart);
		check_encoder_cuts(&run, params, &bytes, hart);
		hf_bytes_free(&bytes);
	}
	hf_run_free(&run);
}

int main(void)
{
	for (uint64_t seed = 1; seed <= 6; seed++) {
		check_run(0x10000, 64, HF_RUN_ALL, seed);
		check_run(UINT64_C(0xffffffff80000000), 64, HF_RUN_ALL, seed + 100);
		check_run(0x10000, 32, HF_RUN_ALL, seed + 200);
		check_run(0x80000000, 32, HF_RUN_TRAPS, seed + 300);
	}
	check_cuts();
	return 0;
}
