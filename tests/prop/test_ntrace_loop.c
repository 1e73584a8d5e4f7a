/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random runs through random programs, to N-Trace and back: in every mode, with any distance of synchronising messages,
 * cut and entered at any event.
 */
#include "codecs/base/bytes.h"
#include "codecs/isa/riscv.h"
#include "codecs/ntrace/errors.h"
#include "codecs/ntrace/message.h"
#include "codecs/views.h"
#include "tests/lib/rvelf.h"
#include "tests/lib/rvrun.h"

static const char *const modes[] = {
	"mode=btm,call_stack=0",
	"mode=btm,call_stack=8,repeat_branch=1",
	"mode=btm,call_stack=32,sequential_jump=1,all_jumps=1",
	"mode=btm,icnt_max=20,times=1",
	"mode=btm,call_stack=8,sync_halfwords=30",
	"mode=htm,call_stack=0,ownership=0",
	"mode=htm",
	"mode=htm,call_stack=3,sequential_jump=1",
	"mode=htm,repeat_branch=1,repeat_history=1",
	"mode=htm,repeat_branch=1,repeat_history=1,hist_branches=3,times=1",
	"mode=htm,repeat_history=1,all_jumps=1,addr_msb_ext=1,srcbits=5",
	"mode=htm,call_stack=0,hist_branches=1,icnt_max=10,srcbits=12",
	"mode=htm,call_stack=1,addr_msb_ext=1,sequential_jump=1,all_jumps=1,repeat_history=1",
	"mode=htm,dialect=sifive,times=1,address_width=49,call_stack=2048,ownership=1",
	"mode=btm,dialect=tt-dfd,times=1,addr_msb_ext=1,ownership=1",
};
#define MODES (sizeof modes / sizeof *modes)

static const unsigned syncs[] = {0, 1, 2, 7, 100, 16384};

/* What a decoder must be told of a stream in that mode. */
static void describe(const char *mode, uint8_t xlen, char *text, size_t size)
{
	static const char *const keys[] = {"srcbits", "addr_msb_ext", "sequential_jump", "all_jumps", "dialect",
					   "address_width"};
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
	char text[256];

	describe(mode, run->xlen, text, sizeof text);
	hf_ntt_init(t, text);
	hf_ntt_add_code(t, run->base, run->code, run->code_size);
}

static void check_mode(const struct hf_run *run, const char *mode, unsigned sync)
{
	char params[256];
	struct hf_ntt_events again;
	struct hf_walk_bytes bytes;
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

/* ---- Zcmp and Zcmt ---- */

#define ANY_LOSSES SIZE_MAX

/* What decodes to something else than was encoded, or to more losses, is an error. Frees bytes. */
static void check_same(const struct hf_run *run, const struct hf_ntt *t, struct hf_walk_bytes *bytes, uint32_t hart,
		       size_t losses, const char *what)
{
	struct hf_ntt_events again = hf_ntt_decode(t, bytes->p, bytes->n, hart, 0);

	CHECK_EQ(again.err, HF_NOTE_END);
	hf_ntt_events_check_same_insns(&run->events, &again, what);
	hf_ntt_events_check_same_traps(&run->events, &again, what);
	CHECK(losses == ANY_LOSSES || again.losses == losses);
	hf_ntt_events_free(&again);
	hf_bytes_free(bytes);
}

/* The capture that a run was read from: with the table or without. */
static void describe_source(struct hf_ntt *t, const struct hf_run *run, bool table)
{
	char text[64];

	snprintf(text, sizeof text, "zcmp=1,zcmt=1,jvt=0x%" PRIx64, run->base + HF_RUN_TABLE);
	hf_ntt_init(t, table ? text : "zcmp=1,zcmt=1");
	hf_ntt_add_code(t, run->base, run->code, run->code_size);
	if (table)
		hf_ntt_add_code(t, run->base + HF_RUN_TABLE, run->table, run->table_size);
}

/* A reader whose program lacks the table: not a word but a gap that names the first jump through it. */
static void check_without_table(const struct hf_run *run, const struct hf_walk_bytes *bytes, const char *ini, uint32_t hart)
{
	struct hf_ntt_events again;
	struct hf_ntt t;
	unsigned index;
	size_t i = 0;

	hf_ntt_init(&t, ini);
	hf_ntt_add_code(&t, run->base, run->code, run->code_size);
	again = hf_ntt_decode(&t, bytes->p, bytes->n, hart, 0);
	while (i < again.n && again.ev[i].kind != HF_EVENT_GAP)
		i++;
	CHECK(i < again.n);
	CHECK_EQ(again.ev[i].code, -HF_ERR_NTRACE_TABLE);
	for (size_t k = 0; k < run->code_size; k += 2)
		if (run->base + k == again.ev[i].loss.detail)
			CHECK(hf_riscv_table_jump(hf_get16(run->code + k), run->isa, &index));
	CHECK(again.ev[i].loss.detail - run->base < run->code_size);
	hf_ntt_events_free(&again);
	hf_ntt_fini(&t);
}

static void check_code_size_mode(const struct hf_run *run, const char *mode, unsigned sync, size_t gaps)
{
	const uint32_t hart = strstr(mode, "srcbits") ? 17 : 0;
	char params[256], ini[512];
	size_t size[2] = {0};

	for (unsigned table = 0; table < 2; table++) {
		struct hf_ntt source, t;
		struct hf_walk_bytes bytes;

		describe_source(&source, run, table);
		snprintf(params, sizeof params, "%s,sync_instructions=%u", mode, sync);
		bytes = hf_ntt_encode_described(&source.setup, &run->events, run->xlen, hart, params, ini, sizeof ini);
		CHECK((strstr(ini, ",zcmp=1,zcmt=1,jvt=0x") != NULL) == table);
		CHECK(strstr(ini, ",zcmp=1,zcmt=1"));
		size[table] = bytes.n;
		if (table && sync == 0)
			check_without_table(run, &bytes, ini, hart);
		hf_ntt_init(&t, ini);
		hf_ntt_add_code(&t, run->base, run->code, run->code_size);
		hf_ntt_add_code(&t, run->base + HF_RUN_TABLE, run->table, run->table_size);
		check_same(run, &t, &bytes, hart, gaps, params);
		hf_ntt_fini(&t);
		hf_ntt_fini(&source);
	}
	CHECK(sync == 1 || size[1] < size[0]);
}

/* Of a source that takes all of them for c.fsdsp, as STF does, the view's parameters say what they are. */
static void check_code_size_told(const struct hf_run *run, const char *mode, size_t gaps)
{
	const uint32_t hart = strstr(mode, "srcbits") ? 17 : 0;
	char params[256], ini[512];
	struct hf_walk_bytes bytes;
	struct hf_ntt t;

	snprintf(params, sizeof params, "%s,zcmp=1,zcmt=1", mode);
	bytes = hf_ntt_encode_described(NULL, &run->events, run->xlen, hart, params, ini, sizeof ini);
	hf_ntt_init(&t, ini);
	hf_ntt_add_code(&t, run->base, run->code, run->code_size);
	check_same(run, &t, &bytes, hart, gaps, params);
	hf_ntt_fini(&t);
}

static void check_code_size_run(uint64_t base, uint8_t xlen, unsigned flags, uint64_t seed)
{
	struct hf_run run;
	size_t gaps = 0;

	hf_run_make(&run, base, xlen, flags | HF_RUN_CODE_SIZE, 3000, seed);
	for (size_t i = 0; i < run.events.n; i++)
		gaps += run.events.ev[i].kind == HF_EVENT_GAP;
	for (size_t i = 0; i < MODES; i++)
		for (size_t k = 0; k < sizeof syncs / sizeof *syncs; k++)
			check_code_size_mode(&run, modes[i], syncs[k], gaps);
	for (size_t i = 0; i < run.events.n; i++)
		if (hf_event_is_instruction(&run.events.ev[i]))
			run.events.ev[i].insn.flow = hf_riscv_flow(run.events.ev[i].insn.opcode, xlen);
	for (size_t i = 0; i < MODES; i++)
		check_code_size_told(&run, modes[i], gaps);
	hf_run_free(&run);
}

/* What the ELF says is enough. A parameter outweighs it: then each jump of what should be none is doubted. */
static void check_code_size_elf(uint64_t base, uint8_t xlen)
{
	static uint8_t code[HF_RUN_TABLE + HF_RUN_TABLE_MAX];
	const struct hf_rvelf elf = {.xlen = xlen, .base = base, .code = code, .arch = "rv32i2p1_zca1p0_zcmp1p0_zcmt1p0",
				     .jvt = base + HF_RUN_TABLE, .code_size = sizeof code};
	struct hf_walk_bytes file = {0}, bytes;
	char ini[512];

	for (unsigned off = 0; off < 2; off++) {
		struct hf_run run;
		struct hf_ntt t;

		hf_run_make(&run, base, xlen, HF_RUN_CODE_SIZE | HF_RUN_TRAPS, 3000, 11);
		memcpy(code, run.code, run.code_size);
		memcpy(code + HF_RUN_TABLE, run.table, run.table_size);
		file.p = hf_rvelf_make(&elf, &file.n);
		hf_ntt_init(&t, off ? "implicit_return=1,zcmp=0,zcmt=0" : "implicit_return=1");
		hf_ntt_add_elf(&t, &file);
		bytes = hf_ntt_encode_described(&t.setup, &run.events, xlen, 0, "", ini, sizeof ini);
		CHECK((strstr(ini, "zcmp=1,zcmt=1,jvt=0x") != NULL) == !off);
		check_same(&run, &t, &bytes, 0, off ? ANY_LOSSES : 0, ini);
		hf_ntt_fini(&t);
		hf_run_free(&run);
		free(file.p);
	}
}

/* Entered at any event, with the table. */
static void check_code_size_cuts(void)
{
	struct hf_run run;
	char ini[512];

	hf_run_make(&run, 0x10000, 32, HF_RUN_ALL | HF_RUN_CODE_SIZE, 300, 7);
	for (size_t i = 0; i < MODES; i += 3) {
		struct hf_ntt source;
		struct hf_walk_bytes bytes;

		describe_source(&source, &run, true);
		bytes = hf_ntt_encode_described(&source.setup, &run.events, run.xlen, 0, modes[i], ini, sizeof ini);
		hf_ntt_fini(&source);
		hf_ntt_init(&source, ini);
		hf_ntt_add_code(&source, run.base, run.code, run.code_size);
		hf_ntt_add_code(&source, run.base + HF_RUN_TABLE, run.table, run.table_size);
		hf_ntt_check_cuts(&source, bytes.p, bytes.n, 0);
		hf_ntt_fini(&source);
		hf_bytes_free(&bytes);
	}
	hf_run_free(&run);
}

/* ---- entering ---- */

/* The encoder of the events, saved and loaded into a fresh one before each of them. */
static void check_encoder_cuts(const struct hf_run *run, const char *params, const struct hf_walk_bytes *bytes,
			       uint32_t hart)
{
	const struct hf_stream stream = {.info = {.arch = HF_ARCH_RISCV, .xlen = run->xlen, .flags = HF_STREAM_HARTS}};
	const struct hf_enc_env env = {.params = params};
	const struct hf_enc_ops *ops = &hf_view_ntrace;
	uint8_t blob[HF_STATE_MAX];
	struct hf_sink sink;
	struct hf_enc *enc, *fresh;

	CHECK_EQ(hf_enc_new(ops, &stream, hart, &env, &enc), 0);
	CHECK_EQ(hf_sink_init_memory(&sink, 1 << 16), 0);
	for (size_t i = 0; i < run->events.n; i++) {
		const size_t size = hf_enc_save(enc, blob);

		CHECK_EQ(hf_enc_new(ops, &stream, hart, &env, &fresh), 0);
		CHECK_EQ(hf_enc_load(fresh, blob, size), 0);
		hf_enc_free(enc);
		enc = fresh;
		hf_enc_put(enc, &run->events.ev[i], 1, &sink);
	}
	hf_enc_end(enc, &sink);
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
		struct hf_walk_bytes bytes;
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
	struct hf_walk_bytes out;
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
	struct hf_walk_bytes ours = hf_ntt_encode(events, xlen, 0, params);

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
	struct hf_walk_bytes plain, extended;
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
	for (uint64_t seed = 1; seed <= (HF_TEST_SANITIZED ? 1 : 4); seed++) {
		check_seed(0x10000, 64, true, seed);
		check_seed(UINT64_C(0xffffffff80000000), 64, false, seed);
		check_seed(0x80000000, 32, true, seed);
	}
	for (uint64_t seed = 1; seed <= (HF_TEST_SANITIZED ? 2 : 6); seed++) {
		check_run(0x10000, 64, HF_RUN_ALL, seed);
		check_run(UINT64_C(0xffffffff80000000), 64, HF_RUN_ALL, seed + 100);
		check_run(0x10000, 32, HF_RUN_ALL, seed + 200);
		check_run(0x80000000, 32, HF_RUN_TRAPS, seed + 300);
	}
	check_cuts();
	for (uint64_t seed = 1; seed <= 2; seed++) {
		check_code_size_run(0x10000, 64, HF_RUN_ALL, seed);
		check_code_size_run(UINT64_C(0xffffffff80000000), 64, HF_RUN_TRAPS, seed + 100);
		check_code_size_run(0x80000000, 32, HF_RUN_ALL, seed + 200);
	}
	check_code_size_elf(0x10000, 64);
	check_code_size_elf(0x80000000, 32);
	check_code_size_cuts();
	return 0;
}
