/*
 * Events to packets and back: random walks through random programs, in every mode and version, with a sync packet every
 * 1, 2, 3, 7, 100 instructions and none at all, come back as they were.
 */
#include "codecs/etrace/encoder.h"
#include "tests/lib/check.h"
#include "tests/lib/rvwalk.h"

extern const struct hf_codec hf_codec_etrace;

/* ---- a capture in memory ---- */

struct capture {
	struct hf_sink bytes, ini;
	struct hf_setup setup;
	struct hf_setup_value values[64];
	struct hf_setup_image image;
	struct hf_setup_part part;
	char text[4096];
	struct hf_src *code;
};

/* What a reader of capture.ini makes of the parameters. */
static void read_ini(struct capture *c)
{
	size_t n = (size_t)(c->ini.p - c->ini.start);
	char *line;

	CHECK(n < sizeof c->text);
	memcpy(c->text, c->ini.start, n);
	c->text[n] = 0;
	CHECK(strstr(c->text, "format = etrace\ntrace = trace.bin\nframing = te_inst_raw\n"));
	line = strstr(c->text, "[parameters]\n");
	CHECK(line);
	for (line = strchr(line, '\n') + 1; *line;) {
		char *end = strchr(line, '\n'), *equal = strstr(line, " = ");

		CHECK(end && equal && equal < end);
		*end = *equal = 0;
		CHECK(c->setup.value_count < 64);
		c->values[c->setup.value_count++] = (struct hf_setup_value){
			.hart = HF_SETUP_ANY, .key = line, .value = equal + 3, .line = 1};
		line = end + 1;
	}
}

/* Code of a program, in two places at most; the second may have no bytes. */
struct code {
	uint64_t base[2];
	size_t size[2];
	uint8_t *bytes[2];
};

static void open_capture(struct capture *c, const struct code *code)
{
	c->setup = (struct hf_setup){.format = "etrace", .values = c->values, .images = &c->image, .image_count = 1,
				     .parts = &c->part, .part_count = 1};
	read_ini(c);
	c->part = (struct hf_setup_part){.size = (uint64_t)(c->bytes.p - c->bytes.start), .hart = HF_SETUP_ANY,
					 .name = "trace.bin", .framing = "te_inst_raw"};
	c->image = (struct hf_setup_image){.hart = HF_SETUP_ANY, .spaces = HF_MEMORY_ANY,
					   .context = HF_SETUP_NO_CONTEXT};
	hf_program_init(&c->image.program);
	for (unsigned i = 0; i < 2 && code->size[i]; i++) {
		CHECK_EQ(hf_src_memory_new(code->bytes[i], code->size[i], &c->code), 0);
		CHECK_EQ(hf_program_add_raw(&c->image.program, c->code, code->base[i], NULL), 0);
		hf_src_free(c->code);
	}
}

static void encode(struct capture *c, const struct hf_rvtrace *trace, const char *params)
{
	struct hf_enc_env env = {.params = params};
	struct hf_side side = {.stream = &trace->stream, .env = &env};
	struct hf_enc *enc;

	char why[200] = "";

	if (hf_etrace_enc_ops.check_params(params, why, sizeof why))
		fprintf(stderr, "%s: %s\n", params, why);
	CHECK_EQ(hf_sink_init_memory(&c->bytes, 1 << 16), 0);
	CHECK_EQ(hf_sink_init_memory(&c->ini, 1 << 13), 0);
	CHECK_EQ(hf_enc_new(&hf_etrace_enc_ops, &trace->stream, 0, &env, &enc), 0);
	enc->ops->put(enc, trace->events, trace->count, &c->bytes);
	enc->ops->end(enc, &c->bytes);
	hf_enc_free(enc);
	hf_etrace_enc_ops.side[0].write(&side, &c->ini);
	CHECK_EQ(c->bytes.err, 0);
	CHECK_EQ(c->ini.err, 0);
}

static void close_capture(struct capture *c)
{
	hf_program_fini(&c->image.program);
	hf_sink_fini_memory(&c->bytes);
	hf_sink_fini_memory(&c->ini);
}

/* ---- comparing ---- */

enum tolerance {
	/*
	 * Version 1.1.1 cannot tell a trap whose handler did not retire anything, nor where one happened behind an
	 * uninferable jump, nor the value of an illegal instruction.
	 */
	OLD_TRAPS = 1,
	MEM = 2,
	INSNS = 4, /* compare nothing but instructions */
};

/* The next event that both sides must agree on; ATTEMPTs only as the place of the TRAP behind them. */
static const struct hf_event *next_event(const struct hf_event *ev, const struct hf_event *end, unsigned tolerance,
					 uint64_t *ret_epc)
{
	*ret_epc = 0;
	for (; ev < end; ev++) {
		if (ev->kind == HF_EVENT_ATTEMPT)
			*ret_epc = ev->insn.pc;
		if (ev->kind == HF_EVENT_INSN || (ev->kind == HF_EVENT_MEM && (tolerance & MEM)))
			return ev;
		if (ev->kind == HF_EVENT_TRAP && !(tolerance & INSNS)) {
			/* followed by another trap before anything retires */
			const struct hf_event *next = ev + 1;

			while (next < end && next->kind != HF_EVENT_INSN && next->kind != HF_EVENT_TRAP &&
			       next->kind != HF_EVENT_GAP && next->kind != HF_EVENT_DISCONTINUITY)
				next++;
			if (!(tolerance & OLD_TRAPS) || (next < end && next->kind == HF_EVENT_INSN))
				return ev;
		}
	}
	return NULL;
}

static void show(const char *what, const struct hf_event *ev)
{
	if (!ev)
		fprintf(stderr, "%s: the end\n", what);
	else if (ev->kind == HF_EVENT_TRAP)
		fprintf(stderr, "%s: trap %u %" PRIu64 " value %" PRIx64 "\n", what, ev->flags & HF_EVF_ASYNC, ev->trap.cause,
			ev->trap.value);
	else if (ev->kind == HF_EVENT_MEM)
		fprintf(stderr, "%s: %u access of %u at %" PRIx64 " data %" PRIx64 "\n", what, ev->flags, ev->mem.size,
			ev->mem.address, ev->mem.data);
	else
		fprintf(stderr, "%s: kind %u pc %" PRIx64 " opcode %x mode %u\n", what, ev->kind, ev->insn.pc,
			ev->insn.opcode, ev->insn.mode);
}

/*
 * chained: a directly follows another trap. If that one had to be reported at once, with its own EPC, no packet says
 * where the second one happened.
 */
static bool same_epc(uint64_t epc_a, uint64_t epc_b, bool chained, unsigned tolerance)
{
	return epc_a == epc_b || (tolerance & OLD_TRAPS) || (chained && epc_b == 0);
}

static bool same(const struct hf_event *a, const struct hf_event *b, uint64_t epc_a, uint64_t epc_b, bool chained,
		 unsigned tolerance)
{
	if (!a || !b || a->kind != b->kind)
		return a == b;
	if (a->kind == HF_EVENT_MEM)
		return a->mem.address == b->mem.address && a->mem.size == b->mem.size && a->mem.data == b->mem.data &&
		       ((a->flags ^ b->flags) & (HF_EVF_READ | HF_EVF_WRITE)) == 0;
	if (a->kind == HF_EVENT_TRAP)
		return a->trap.cause == b->trap.cause && ((a->flags ^ b->flags) & HF_EVF_ASYNC) == 0 &&
		       ((a->flags & HF_EVF_ASYNC) ||
			(same_epc(epc_a, epc_b, chained, tolerance) &&
			 (a->trap.value == b->trap.value || ((tolerance & OLD_TRAPS) && a->trap.cause == 2))));
	return a->insn.pc == b->insn.pc && a->insn.opcode == b->insn.opcode && a->insn.mode == b->insn.mode;
}

static bool compare(const struct hf_rvtrace *want, const struct hf_rvtrace *got, const char *params, unsigned tolerance)
{
	const struct hf_event *a = want->events, *a_end = a + want->count, *b = got->events, *b_end = b + got->count;

	for (size_t i = 0;; i++) {
		const bool chained = i && (a - 1)->kind == HF_EVENT_TRAP;
		uint64_t epc_a, epc_b;

		a = next_event(a, a_end, tolerance, &epc_a);
		b = next_event(b, b_end, tolerance, &epc_b);
		if (!same(a, b, epc_a, epc_b, chained, tolerance)) {
			fprintf(stderr, "%s: event %zu differs, at %" PRIx64 " and %" PRIx64 "\n", params, i, epc_a, epc_b);
			show("put in ", a);
			show("came out", b);
			for (int k = -6; a && b && k <= 3; k++)
				if (b + k >= got->events && b + k < b_end)
					show(k ? "  " : " >", b + k);
			return false;
		}
		if (!a)
			return true;
		a++;
		b++;
	}
}

/* records.txt, for whoever has to find out why. */
static void show_packets(struct capture *c)
{
	struct hf_stream *stream;
	struct hf_src *src;
	struct hf_dec *dec;
	struct hf_event ev;
	size_t n;

	CHECK_EQ(hf_src_memory_new(c->bytes.start, (size_t)(c->bytes.p - c->bytes.start), &src), 0);
	CHECK_EQ(hf_stream_open(&hf_codec_etrace, src, &c->setup, &stream, NULL), 0);
	CHECK_EQ(hf_dec_new(stream, src, HF_HART_RECORDS, &dec), 0);
	while (hf_dec_next(dec, &ev, 1, &n) == 0)
		if (ev.kind == HF_EVENT_DATA)
			fwrite(ev.data.bytes, 1, ev.small, stderr);
}

static void decode(struct capture *c, struct hf_rvtrace *got)
{
	struct hf_stream *stream;
	struct hf_src *src;
	struct hf_dec *dec;
	struct hf_event ev[64];
	size_t n;
	int err;

	CHECK_EQ(hf_src_memory_new(c->bytes.start, (size_t)(c->bytes.p - c->bytes.start), &src), 0);
	CHECK_EQ(hf_stream_open(&hf_codec_etrace, src, &c->setup, &stream, NULL), 0);
	CHECK_EQ(hf_dec_new(stream, src, stream->info.first_hart, &dec), 0);
	while ((err = hf_dec_next(dec, ev, 64, &n)) == 0)
		for (size_t i = 0; i < n; i++)
			hf_rvtrace_append(got, &ev[i]);
	CHECK_EQ(err, HF_NOTE_END);
	hf_dec_free(dec);
	hf_stream_close(stream);
	hf_src_free(src);
}

static void loop(const struct code *code, const struct hf_rvtrace *trace, const char *params, unsigned tolerance)
{
	static struct capture c;
	struct hf_rvtrace got;

	memset(&c, 0, sizeof c);
	encode(&c, trace, params);
	open_capture(&c, code);
	hf_rvtrace_init(&got, trace->stream.info.xlen);
	decode(&c, &got);
	if (!compare(trace, &got, params, tolerance)) {
		if (getenv("SHOW_PACKETS"))
			show_packets(&c);
		exit(1);
	}
	hf_rvtrace_fini(&got);
	close_capture(&c);
}

/* ---- what is tried ---- */

static struct code code_of(struct hf_rvwalk *walk)
{
	return (struct code){.base = {walk->base}, .size = {walk->at[walk->count]}, .bytes = {walk->code}};
}

static const char *const options[] = {
	"none", "full_address", "implicit_return", "branch_prediction", "jump_target_cache",
	"implicit_return+branch_prediction", "implicit_return+jump_target_cache",
	"branch_prediction+jump_target_cache", "implicit_return+branch_prediction+jump_target_cache",
	"full_address+implicit_return+branch_prediction+jump_target_cache",
};

static const char *const more[] = {
	"", ",link_registers=x1+x5", ",sijump=0", ",return_stack_size=1,bpred_size=1,cache_size=1",
};

static const unsigned syncs[] = {1, 2, 3, 7, 100, 0};

static void test_walk(uint64_t seed, const char *version, unsigned xlen, unsigned flags, unsigned tolerance)
{
	static struct hf_rvwalk walk;
	struct hf_rvtrace trace;
	struct code code;

	hf_rvwalk_program(&walk, 0x80000000, xlen, seed);
	code = code_of(&walk);
	hf_rvtrace_init(&trace, xlen);
	hf_rvwalk_run(&walk, &trace, 2500, flags);
	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
		for (size_t k = 0; k < sizeof syncs / sizeof syncs[0]; k++) {
			char params[256];

			snprintf(params, sizeof params, "version=%s,options=%s,sync_instructions=%u%s", version, options[i],
				 syncs[k], more[(seed + i + k) % 4]);
			loop(&code, &trace, params, tolerance);
		}
	hf_rvtrace_fini(&trace);
}

static void test_refused(void)
{
	static const char *const bad[] = {
		"bpred_size=12,return_stack_size=8", "options=implicit_return+sijump", "version=3", "speed=1", "data",
		"filter_address=100", "filter_privilege=X", "options=implicit_exception", "return_stack_size=9",
		"call_counter_size=3,return_stack_size=3", "profile=c111,sync_instructions=5", "trap_reporting=figure",
		"options=jump_target_cache+branch_prediction,f0s_width=0", "framing=encap", "bpred_size=x",
	};
	char why[200];

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		why[0] = 0;
		CHECK_EQ(hf_etrace_enc_ops.check_params(bad[i], why, sizeof why), HF_ERR_SETUP_VALUE);
		CHECK(strlen(why) > 8);
	}
	CHECK_EQ(hf_etrace_enc_ops.check_params("", why, sizeof why), 0);
	CHECK_EQ(hf_etrace_enc_ops.check_params(NULL, why, sizeof why), 0);
}

/* Other parameters, over a few walks with everything in them. */
static void test_params(const char *params, unsigned flags, unsigned tolerance)
{
	static struct hf_rvwalk walk;

	for (uint64_t seed = 5000; seed < 5008; seed++) {
		struct hf_rvtrace trace;
		struct code code;

		hf_rvwalk_program(&walk, 0x80000000, seed & 1 ? 64 : 32, seed);
		code = code_of(&walk);
		hf_rvtrace_init(&trace, walk.xlen);
		hf_rvwalk_run(&walk, &trace, 2500, flags);
		for (size_t k = 0; k < sizeof syncs / sizeof syncs[0]; k++) {
			char text[256];

			snprintf(text, sizeof text, "%s,sync_instructions=%u", params, syncs[k]);
			loop(&code, &trace, text, tolerance);
		}
		hf_rvtrace_fini(&trace);
	}
}

/* What a filter lets through. */
static void test_filter(const char *params, unsigned modes, uint64_t low, uint64_t high)
{
	static struct hf_rvwalk walk;
	struct hf_rvtrace trace, part;
	static struct capture c;
	struct hf_rvtrace got;
	struct code code;

	hf_rvwalk_program(&walk, 0x80000000, 64, 77);
	code = code_of(&walk);
	hf_rvtrace_init(&trace, 64);
	hf_rvtrace_init(&part, 64);
	hf_rvtrace_init(&got, 64);
	hf_rvwalk_run(&walk, &trace, 5000, HF_RVWALK_TRAPS | HF_RVWALK_DOUBLE | HF_RVWALK_HOLES | HF_RVWALK_MODES);
	for (size_t i = 0; i < trace.count; i++)
		if (trace.events[i].kind == HF_EVENT_INSN && (modes >> trace.events[i].insn.mode & 1) &&
		    trace.events[i].insn.pc >= low && trace.events[i].insn.pc <= high)
			hf_rvtrace_append(&part, &trace.events[i]);
	CHECK(part.retired > 500 && part.retired < trace.retired);
	memset(&c, 0, sizeof c);
	encode(&c, &trace, params);
	open_capture(&c, &code);
	decode(&c, &got);
	CHECK(compare(&part, &got, params, INSNS));
	close_capture(&c);
	hf_rvtrace_fini(&got);
	hf_rvtrace_fini(&part);
	hf_rvtrace_fini(&trace);
}

static void test_more(void)
{
	const unsigned all = HF_RVWALK_TRAPS | HF_RVWALK_DOUBLE | HF_RVWALK_HOLES | HF_RVWALK_MODES;

	test_refused();
	test_params("data=1", HF_RVWALK_MEM, MEM);
	test_params("data=1", HF_RVWALK_MEM | all, MEM);
	test_params("data=1,options=none,version=1.1.1", HF_RVWALK_MEM | (all & ~HF_RVWALK_DOUBLE), MEM | OLD_TRAPS);
	test_params("data=1,version=2.1", HF_RVWALK_MEM | all, MEM);
	test_params("options=implicit_exception+implicit_return,mtvec=0x80000000,stvec=0x80000001", all, 0);
	test_params("options=implicit_exception,mtvec=0x80000000,version=1.1.1", all, INSNS);
	test_params("context=pid,time_width=9", all | HF_RVWALK_CONTEXTS, 0);
	test_params("context=asid,context_change=imprecise", all | HF_RVWALK_CONTEXTS, 0);
	test_params("compression=none", all, 0);
	test_params("compression=address,iaddress_lsb=0", all, 0);
	test_params("call_counter_size=4", all, 0);
	test_params("bpred_size=10,return_stack_size=8", all, 0);
	test_params("ecall_retires=1,version=2.1,time_width=32", all, 0);
	test_filter("filter_privilege=U+S", 1u << HF_MODE_U | 1u << HF_MODE_S, 0, UINT64_MAX);
	test_filter("filter_privilege=M,sync_instructions=3", 1u << HF_MODE_M, 0, UINT64_MAX);
	test_filter("filter_address=80000100-800003ff", UINT32_MAX, 0x80000100, 0x800003ff);
	test_filter("filter_address=80000100-800005ff,filter_privilege=M+U,version=1.1.1", 1u << HF_MODE_U | 1u << HF_MODE_M,
		    0x80000100, 0x800005ff);
}

/* ---- real programs ---- */

static void collect(struct code *code, const struct hf_rvtrace *trace)
{
	for (size_t i = 0; i < trace->count; i++) {
		const struct hf_event *ev = &trace->events[i];
		const unsigned k = ev->insn.pc >= code->base[1];

		if (!hf_event_is_instruction(ev) || (ev->kind == HF_EVENT_ATTEMPT && ev->insn.opcode == 0))
			continue;
		CHECK(ev->insn.pc - code->base[k] + 4 <= code->size[k]);
		memcpy(code->bytes[k] + (ev->insn.pc - code->base[k]), &ev->insn.opcode, ev->insn.size);
	}
}

static void test_program(const char *corpus, const char *program, unsigned xlen)
{
	struct code code = {.base = {0x1000, xlen == 32 ? 0x20000000 : 0x80000000}, .size = {0x100, 8 << 20}};
	struct hf_rvtrace trace;
	char path[1024], *csv;
	size_t n;

	snprintf(path, sizeof path, "%s/etrace/%s/trace.csv.xz", corpus, program);
	csv = hf_rvtrace_read_file(path, &n);
	CHECK(csv);
	hf_rvtrace_parse(&trace, csv, xlen, 0);
	free(csv);
	for (unsigned k = 0; k < 2; k++)
		CHECK(code.bytes[k] = calloc(1, code.size[k]));
	collect(&code, &trace);
	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
		snprintf(path, sizeof path, "options=%s,sync_instructions=%u", options[i], i % 2 ? 0 : 1000);
		loop(&code, &trace, path, 0);
	}
	free(code.bytes[0]);
	free(code.bytes[1]);
	hf_rvtrace_fini(&trace);
}

static void test_programs(void)
{
	const char *corpus = getenv("HARTFS_CORPUS");

	if (!corpus)
		return;
	test_program(corpus, "br_j_asm", 64);
	test_program(corpus, "corner", 64);
	test_program(corpus, "dhrystone", 64);
	test_program(corpus, "towers", 64);
	test_program(corpus, "embench-sglib-combined", 32);
}

int main(void)
{
	const unsigned all = HF_RVWALK_TRAPS | HF_RVWALK_DOUBLE | HF_RVWALK_HOLES | HF_RVWALK_MODES;

	const char *more_seeds = getenv("HARTFS_SEEDS");
	const uint64_t seeds = more_seeds ? strtoull(more_seeds, NULL, 10) : 6;

	for (uint64_t seed = 1; seed <= seeds; seed++) {
		test_walk(seed, "2.0", seed & 1 ? 64 : 32, 0, 0);
		test_walk(seed + 1000, "1.1.1", 64, HF_RVWALK_TRAPS | HF_RVWALK_HOLES | HF_RVWALK_MODES,
			  OLD_TRAPS);
		test_walk(seed + 2000, "2.0", seed & 1 ? 64 : 32, all, 0);
		test_walk(seed + 3000, "2.1", 64, all, 0);
	}
	test_more();
	test_programs();
	return 0;
}
