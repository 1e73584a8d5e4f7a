/*
 * Random runs through random programs, to N-Trace and back: in every mode, with any distance of synchronising messages,
 * cut and entered at any event.
 */
#include "codecs/ntrace/message.h"
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
	hf_ntt_add_code(t, run->base, run->code, run->code_size);
}

static void check_mode(const struct hf_run *run, const char *mode, unsigned sync)
{
	char params[256];
	struct hf_ntt_events again;
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
	hf_ntt_events_check_same_insns(&run->events, &again, params);
	hf_ntt_events_check_same_traps(&run->events, &again, params);
	if (again.losses != gaps)
		fprintf(stderr, "%s\n", params);
	CHECK_EQ(again.losses, gaps);
	hf_ntt_events_free(&again);
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

/* The encoder of the events, saved and loaded into a fresh one before each of them. */
static void check_encoder_cuts(const struct hf_run *run, const char *params, const struct hf_bytes *bytes,
			       uint32_t hart)
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
		struct hf_ntt t;
		const uint32_t hart = strstr(modes[i], "srcbits") ? 17 : 0;

		snprintf(params, sizeof params, "%s,sync_instructions=50", modes[i]);
		bytes = hf_ntt_encode(&run.events, run.xlen, hart, params);
		init(&t, &run, modes[i]);
		hf_ntt_check_cuts(&t, bytes.p, bytes.n, hart);
		hf_ntt_fini(&t);
		check_encoder_cuts(&run, params, &bytes, hart);
		hf_bytes_free(&bytes);
	}
	hf_run_free(&run);
}

/* ---- the specification's simple encoder (10.2), written again from its description ---- */

struct simple {
	struct hf_ntrace_params params;
	struct hf_bytes out;
	bool history;
	uint8_t due; /* TCODE to emit at the next instruction; 0: none */
	uint32_t icnt, hist;
	uint64_t address;
};

static void simple_emit(struct simple *e, struct hf_ntrace_message msg)
{
	uint8_t bytes[HF_NTRACE_WRITE_MAX];

	hf_bytes_add(&e->out, bytes, hf_ntrace_message_write(&e->params, &msg, bytes));
}

/* What the instruction before made necessary, now that the address is known. */
static void simple_resolve(struct simple *e, uint64_t pc)
{
	struct hf_ntrace_message msg = {.tcode = e->due, .icnt = e->icnt};

	if (!e->due)
		return;
	if (e->due == HF_NTRACE_SYNC) {
		msg.sync = 1;
		msg.address = pc;
	} else if (e->due != HF_NTRACE_DIRECT_BRANCH) {
		msg.address = e->address ^ pc;
		msg.hist = e->due == HF_NTRACE_INDIRECT_BRANCH_HIST ? e->hist : 0;
	}
	simple_emit(e, msg);
	if (e->due != HF_NTRACE_DIRECT_BRANCH)
		e->address = pc;
	e->due = 0;
	e->icnt = 0;
	e->hist = 1;
}

static void simple_put(struct simple *e, const struct hf_event *ev)
{
	const uint32_t n = ev->insn.size / 2u, before = e->icnt;
	const bool taken = ev->flags & HF_EVF_TAKEN, branch = ev->insn.flow == HF_FLOW_BRANCH;
	const bool indirect = ev->insn.flow >= HF_FLOW_INDIRECT_JUMP && ev->insn.flow <= HF_FLOW_TRAP_RETURN;

	simple_resolve(e, ev->insn.pc);
	e->icnt += n;
	if (branch && e->history)
		e->hist = e->hist << 1 | taken;
	else if (branch && taken)
		e->due = HF_NTRACE_DIRECT_BRANCH;
	else if (!branch && indirect)
		e->due = e->history ? HF_NTRACE_INDIRECT_BRANCH_HIST : HF_NTRACE_INDIRECT_BRANCH;
	if (e->icnt > 0x10000) {
		simple_emit(e, (struct hf_ntrace_message){.tcode = HF_NTRACE_RESOURCE_FULL, .icnt = before});
		e->icnt = n;
	}
	if (e->hist & 0x40000000) {
		simple_emit(e, (struct hf_ntrace_message){.tcode = HF_NTRACE_RESOURCE_FULL, .rcode = 1, .hist = e->hist >> 1});
		e->hist = 2 | (e->hist & 1);
	}
}

static void check_same_as_simple(const struct hf_ntt_events *events, uint8_t xlen, bool history)
{
	const char *params = history ? "profile=seed" : "mode=btm,profile=seed";
	struct simple e = {.params = {.xlen = xlen}, .history = history, .due = HF_NTRACE_SYNC, .hist = 1};
	struct hf_bytes ours = hf_ntt_encode(events, xlen, 0, params);

	for (size_t i = 0; i < events->n; i++)
		if (events->ev[i].kind == HF_EVENT_INSN)
			simple_put(&e, &events->ev[i]);
	CHECK_EQ(ours.n, e.out.n);
	CHECK(memcmp(ours.p, e.out.p, ours.n) == 0);
	CHECK(ours.n > 50);
	hf_bytes_free(&ours);
	hf_bytes_free(&e.out);
}

/* Straight code that fills I-CNT and HIST several times, with a jump at its end. */
static void check_seed_full(bool history)
{
	enum { INSNS = 100000 };
	struct hf_ntt_events events = {.ev = calloc(INSNS, sizeof *events.ev), .n = INSNS};

	CHECK(events.ev);
	for (size_t i = 0; i < INSNS; i++) {
		events.ev[i].kind = HF_EVENT_INSN;
		events.ev[i].insn = (struct hf_ev_insn){
			.pc = 0x10000 + 4 * i, .opcode = 0x13, .size = 4, .isa = HF_ISA_RV64, .flow = HF_FLOW_PLAIN,
		};
		if (i % 7 == 0 && i < 2000) {
			events.ev[i].insn.opcode = 0x00000263; /* beq x0, x0, . + 4 */
			events.ev[i].insn.flow = HF_FLOW_BRANCH;
			events.ev[i].flags = i % 3 ? HF_EVF_TAKEN : 0;
			events.ev[i].insn.target = 0x10004 + 4 * i;
		}
	}
	events.ev[INSNS - 2].insn.opcode = 0x00008067;
	events.ev[INSNS - 2].insn.flow = HF_FLOW_RETURN;
	check_same_as_simple(&events, 64, history);
	hf_ntt_events_free(&events);
}

static void check_seed(uint64_t base, uint8_t xlen, bool history, uint64_t number)
{
	struct hf_run run;

	hf_run_make(&run, base, xlen, 0, 20000, number);
	check_same_as_simple(&run.events, xlen, history);
	hf_run_free(&run);
}

/* Addresses of RV32 that the source extended with their sign: the same messages as without. */
static void check_sign_extended(void)
{
	const uint64_t high = UINT64_C(0xffffffff00000000);
	struct hf_bytes plain, extended;
	struct hf_run run;

	hf_run_make(&run, 0x80000000, 32, HF_RUN_ALL, 1000, 5);
	plain = hf_ntt_encode(&run.events, 32, 0, "mode=htm");
	for (size_t i = 0; i < run.events.n; i++) {
		struct hf_event *ev = &run.events.ev[i];

		if (ev->kind == HF_EVENT_INSN || ev->kind == HF_EVENT_ATTEMPT) {
			ev->insn.pc |= high;
			ev->insn.target |= high;
		} else if (ev->kind == HF_EVENT_TRAP) {
			ev->trap.handler |= high;
		}
	}
	extended = hf_ntt_encode(&run.events, 32, 0, "mode=htm");
	CHECK_EQ(extended.n, plain.n);
	CHECK(memcmp(extended.p, plain.p, plain.n) == 0);
	hf_bytes_free(&plain);
	hf_bytes_free(&extended);
	hf_run_free(&run);
}

int main(void)
{
	check_sign_extended();
	check_seed_full(true);
	check_seed_full(false);
	for (uint64_t seed = 1; seed <= 4; seed++) {
		check_seed(0x10000, 64, true, seed);
		check_seed(UINT64_C(0xffffffff80000000), 64, false, seed);
		check_seed(0x80000000, 32, true, seed);
	}
	for (uint64_t seed = 1; seed <= 6; seed++) {
		check_run(0x10000, 64, HF_RUN_ALL, seed);
		check_run(UINT64_C(0xffffffff80000000), 64, HF_RUN_ALL, seed + 100);
		check_run(0x10000, 32, HF_RUN_ALL, seed + 200);
		check_run(0x80000000, 32, HF_RUN_TRAPS, seed + 300);
	}
	check_cuts();
	return 0;
}
