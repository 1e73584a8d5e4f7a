/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events to packets and back: random walks through random programs, in every mode and version, with a sync packet every
 * 1, 2, 3, 7, 100 instructions and none at all, come back as they were.
 */
#include "codecs/isa/riscv.h"
#include "codecs/base/errors.h"
#include "codecs/etrace/encoder.h"
#include "codecs/views.h"
#include "tests/lib/check.h"
#include "tests/lib/etraceloop.h"

/* What comes back of version 2.0 on, and of 1.1.1. */
#define EVERYTHING (HF_ETL_INSNS | HF_ETL_TRAPS | HF_ETL_EPCS)
#define OLD (HF_ETL_INSNS | HF_ETL_TRAPS | HF_ETL_OLD_TRAPS)

static void loop(const struct hf_etl_code *code, const struct hf_rvtrace *trace, const char *params, unsigned what)
{
	struct hf_rvtrace got;
	struct hf_etl l;

	hf_rvtrace_init(&got, trace->isa);
	hf_etl_make(&l, trace, params, 0, code);
	hf_etl_decode(&l, 0, &got, NULL);
	hf_etl_check_same(&l, trace, &got, what, params);
	hf_etl_free(&l);
	hf_rvtrace_fini(&got);
}

/* ---- what is tried ---- */

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

static void test_walk(uint64_t seed, const char *version, unsigned xlen, unsigned flags, unsigned what)
{
	static struct hf_rvwalk walk;
	struct hf_rvtrace trace;
	struct hf_etl_code code;

	hf_rvwalk_program(&walk, 0x80000000, xlen, seed);
	code = hf_etl_code_of(&walk);
	hf_rvtrace_init(&trace, xlen);
	hf_rvwalk_run(&walk, &trace, 2500, flags);
	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
		for (size_t k = 0; k < sizeof syncs / sizeof syncs[0]; k++) {
			char params[256];

			snprintf(params, sizeof params, "version=%s,options=%s,sync_instructions=%u%s", version, options[i],
				 syncs[k], more[(seed + i + k) % 4]);
			loop(&code, &trace, params, what);
		}
	hf_rvtrace_fini(&trace);
}

static void test_refused(void)
{
	static const char *const bad[] = {
		"bpred_size=12,return_stack_size=8", "options=implicit_return+sijump", "version=3", "speed=1", "data",
		"filter_address=100", "filter_privilege=X", "options=implicit_exception", "return_stack_size=9",
		"call_counter_size=3,return_stack_size=3", "profile=c111,sync_instructions=5", "trap_reporting=figure",
		"options=jump_target_cache+branch_prediction,f0s_width=0", "framing=usb", "bpred_size=x", "zcmp=2", "jvt=64",
	};
	char why[200];

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		why[0] = 0;
		CHECK_EQ(hf_view_etrace.check_params(bad[i], why, sizeof why), HF_ERR_SETUP_VALUE);
		CHECK(strlen(why) > 8);
	}
	CHECK_EQ(hf_view_etrace.check_params("", why, sizeof why), 0);
	CHECK_EQ(hf_view_etrace.check_params(NULL, why, sizeof why), 0);
}

/* Other parameters, over a few walks with everything in them. */
static void test_params(const char *params, unsigned flags, unsigned what)
{
	static struct hf_rvwalk walk;

	for (uint64_t seed = 5000; seed < 5008; seed++) {
		struct hf_rvtrace trace;
		struct hf_etl_code code;

		hf_rvwalk_program(&walk, 0x80000000, seed & 1 ? 64 : 32, seed);
		code = hf_etl_code_of(&walk);
		hf_rvtrace_init(&trace, walk.xlen);
		hf_rvwalk_run(&walk, &trace, 2500, flags);
		for (size_t k = 0; k < sizeof syncs / sizeof syncs[0]; k++) {
			char text[256];

			snprintf(text, sizeof text, "%s,sync_instructions=%u", params, syncs[k]);
			loop(&code, &trace, text, what);
		}
		hf_rvtrace_fini(&trace);
	}
}

/* With a filter that lets everything through each instruction is looked at in full: the short ways write the same. */
static void test_short_ways(void)
{
	static struct hf_rvwalk walk;

	for (uint64_t seed = 9000; seed < 9012; seed++) {
		struct hf_etl fast, slow;
		struct hf_rvtrace trace;

		hf_rvwalk_program(&walk, 0x80000000, seed & 1 ? 64 : 32, seed);
		hf_rvtrace_init(&trace, walk.xlen);
		hf_rvwalk_run(&walk, &trace, 2500, seed & 2 ? HF_RVWALK_TRAPS | HF_RVWALK_HOLES | HF_RVWALK_MODES : 0);
		for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
			char params[256];

			snprintf(params, sizeof params, "options=%s,sync_instructions=%u", options[i], syncs[(seed + i) % 6]);
			hf_etl_make_walk(&fast, &trace, params, &walk);
			snprintf(params + strlen(params), sizeof params - strlen(params), ",filter_address=0-ffffffffffffffff");
			hf_etl_make_walk(&slow, &trace, params, &walk);
			CHECK_EQ(slow.size, fast.size);
			CHECK(memcmp(fast.trace, slow.trace, fast.size) == 0);
			hf_etl_free(&fast);
			hf_etl_free(&slow);
		}
		hf_rvtrace_fini(&trace);
	}
}

/* What a filter lets through. */
static void test_filter(const char *params, unsigned modes, uint64_t low, uint64_t high)
{
	static struct hf_rvwalk walk;
	struct hf_rvtrace trace, part, got;
	struct hf_etl l;

	hf_rvwalk_program(&walk, 0x80000000, 64, 77);
	hf_rvtrace_init(&trace, 64);
	hf_rvtrace_init(&part, 64);
	hf_rvtrace_init(&got, 64);
	hf_rvwalk_run(&walk, &trace, 5000, HF_RVWALK_TRAPS | HF_RVWALK_DOUBLE | HF_RVWALK_HOLES | HF_RVWALK_MODES);
	for (size_t i = 0; i < trace.count; i++)
		if (trace.events[i].kind == HF_EVENT_INSN && (modes >> trace.events[i].insn.mode & 1) &&
		    trace.events[i].insn.pc >= low && trace.events[i].insn.pc <= high)
			hf_rvtrace_append(&part, &trace.events[i]);
	CHECK(part.retired > 500 && part.retired < trace.retired);
	hf_etl_make_walk(&l, &trace, params, &walk);
	hf_etl_decode(&l, 0, &got, NULL);
	hf_etl_check_same(&l, &part, &got, HF_ETL_INSNS, params);
	hf_etl_free(&l);
	hf_rvtrace_fini(&got);
	hf_rvtrace_fini(&part);
	hf_rvtrace_fini(&trace);
}

/* ---- Zcmp and Zcmt ---- */

#define BOTH (HF_RISCV_ZCMP | HF_RISCV_ZCMT)

/* The same as a source has it that takes all of them for c.fsdsp, as STF does. */
static void forget_code_size(struct hf_rvtrace *trace)
{
	for (size_t i = 0; i < trace->count; i++) {
		struct hf_event *ev = &trace->events[i];

		if (hf_event_is_instruction(ev))
			ev->insn.flow = hf_riscv_flow(ev->insn.opcode, trace->stream.info.xlen);
	}
}

static size_t encoded_size(const struct hf_rvtrace *trace, const struct hf_etl_code *code, const char *params,
			   bool told)
{
	struct hf_etl l;

	hf_etl_make(&l, trace, params, 0, code);
	CHECK_EQ(strstr(l.ini, "zcmp = 1\nzcmt = 1\n") != NULL, told);
	hf_etl_free(&l);
	return l.size;
}

static void test_code_size_walk(uint64_t seed, const char *version, unsigned xlen, unsigned flags, unsigned what)
{
	static struct hf_rvwalk walk;
	struct hf_setup_image image = {.hart = HF_SETUP_ANY, .spaces = HF_MEMORY_ANY, .context = HF_SETUP_NO_CONTEXT,
					 .program.extensions = BOTH};
	const struct hf_setup setup = {.format = "etrace", .images = &image, .image_count = 1};
	struct hf_rvtrace trace;
	struct hf_etl_code code;

	hf_rvwalk_program(&walk, 0x80000000, xlen | BOTH, seed);
	code = hf_etl_code_of(&walk);
	hf_rvtrace_init(&trace, walk.isa);
	hf_rvwalk_run(&walk, &trace, 2500, flags);
	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
		for (size_t k = 0; k < sizeof syncs / sizeof syncs[0]; k++)
			for (unsigned way = 0; way < 4; way++) {
				char params[256];

				snprintf(params, sizeof params, "version=%s,options=%s,sync_instructions=%u%s%s", version,
					 options[i], syncs[k], more[(seed + i + k) % 4], way < 2 ? ",zcmp=1,zcmt=1" : "");
				/* by parameter, with the source's agreement or without; without parameter; by the source */
				if (way == 1)
					forget_code_size(&trace);
				trace.stream.setup = way == 3 ? &setup : NULL;
				loop(&code, &trace, params, what);
			}
	trace.stream.setup = NULL;
	/* what is told of it is worth it: otherwise each of its jumps is a stop and a start */
	CHECK(encoded_size(&trace, &code, "zcmp=1,zcmt=1", true) < encoded_size(&trace, &code, "", false) * 9 / 10);
	trace.stream.setup = &setup;
	encoded_size(&trace, &code, "", true);
	encoded_size(&trace, &code, "zcmp=0,zcmt=0", false);
	hf_rvtrace_fini(&trace);
}

/*
 * An interrupt in the middle of a cm.popret, and a fault of one: it begins again behind the handler, and the return that
 * retires at last is implicit, one instruction of two bytes.
 */
static void test_interrupted(const char *version)
{
	static const struct {
		uint32_t pc, opcode;
	} run[] = {
		{0x80000000, 0x00c000ef}, /* jal ra, 0x8000000c */
		{0x8000000c, 0xb842},     /* cm.push {ra}, -16 */
		{0, 0},                   /* interrupted and faulted at 0x8000000e */
		{0x8000000e, 0xbe42},     /* cm.popret {ra}, 16 */
		{0x80000004, 0x0001},
	};
	static uint8_t bytes[0x14] = {
		0xef, 0x00, 0xc0, 0x00, 0x01, 0x00, 0x01, 0x00, 0x73, 0x00, 0x20, 0x30, 0x42, 0xb8, 0x42, 0xbe};
	const struct hf_etl_code code = {.base = {0x80000000}, .size = {sizeof bytes}, .bytes = {bytes}};
	struct hf_event attempt = {.kind = HF_EVENT_ATTEMPT, .insn = {
		.pc = 0x8000000e, .opcode = 0xbe42, .size = 2, .isa = HF_ISA_RV64, .flow = HF_FLOW_RETURN, .mode = HF_MODE_M}};
	struct hf_event trap = {.kind = HF_EVENT_TRAP, .flags = HF_EVF_CAUSE, .trap = {.cause = 5}};
	struct hf_rvtrace trace;
	char params[128];

	hf_rvtrace_init(&trace, 64 | BOTH);
	for (size_t i = 0; i < sizeof run / sizeof *run; i++) {
		if (run[i].pc) {
			hf_rvtrace_insn(&trace, run[i].pc, run[i].opcode, HF_MODE_M);
			continue;
		}
		for (unsigned k = 0; k < 2; k++) {
			if (k)
				hf_rvtrace_add(&trace, attempt);
			trap.flags = HF_EVF_CAUSE | (k ? 0 : HF_EVF_ASYNC);
			hf_rvtrace_add(&trace, trap);
			hf_rvtrace_insn(&trace, 0x80000004, 0x0001, HF_MODE_M);
			hf_rvtrace_insn(&trace, 0x80000006, 0x0001, HF_MODE_M);
			hf_rvtrace_insn(&trace, 0x80000008, 0x30200073, HF_MODE_M);
		}
	}
	for (unsigned sync = 0; sync < 4; sync++) {
		snprintf(params, sizeof params, "version=%s,zcmp=1,sync_instructions=%u", version, sync);
		loop(&code, &trace, params, strcmp(version, "1.1.1") ? EVERYTHING : OLD);
	}
	hf_rvtrace_fini(&trace);
}

static void test_code_size(void)
{
	const unsigned all = HF_RVWALK_TRAPS | HF_RVWALK_DOUBLE | HF_RVWALK_HOLES | HF_RVWALK_MODES;

	for (uint64_t seed = 1; seed <= 2; seed++) {
		test_code_size_walk(seed, "2.0", seed & 1 ? 64 : 32, 0, EVERYTHING);
		test_code_size_walk(seed + 10, "1.1.1", 32, all & ~HF_RVWALK_DOUBLE, OLD);
		test_code_size_walk(seed + 20, "2.0", seed & 1 ? 32 : 64, all, EVERYTHING);
		test_code_size_walk(seed + 30, "2.1", 64, all, EVERYTHING);
	}
	test_interrupted("1.1.1");
	test_interrupted("2.0");
	test_interrupted("2.1");
}

/* cm.push and cm.pop with the accesses of all registers of their lists. */
static void test_code_size_data(void)
{
	static struct hf_rvwalk walk;

	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct hf_rvtrace trace;
		struct hf_etl_code code;

		hf_rvwalk_program(&walk, 0x80000000, (seed & 1 ? 64 : 32) | BOTH, seed);
		code = hf_etl_code_of(&walk);
		hf_rvtrace_init(&trace, walk.isa);
		hf_rvwalk_run(&walk, &trace, 2500, HF_RVWALK_MEM | HF_RVWALK_TRAPS | HF_RVWALK_HOLES);
		loop(&code, &trace, "data=1,zcmp=1,zcmt=1", EVERYTHING | HF_ETL_MEM);
		loop(&code, &trace, "data=1,zcmp=1,zcmt=1,sync_instructions=7,version=2.1", EVERYTHING | HF_ETL_MEM);
		hf_rvtrace_fini(&trace);
	}
}

static void test_more(void)
{
	const unsigned all = HF_RVWALK_TRAPS | HF_RVWALK_DOUBLE | HF_RVWALK_HOLES | HF_RVWALK_MODES;

	test_refused();
	test_params("data=1", HF_RVWALK_MEM, EVERYTHING | HF_ETL_MEM);
	test_params("data=1", HF_RVWALK_MEM | all, EVERYTHING | HF_ETL_MEM);
	test_params("data=1,options=none,version=1.1.1", HF_RVWALK_MEM | (all & ~HF_RVWALK_DOUBLE), OLD | HF_ETL_MEM);
	test_params("data=1,version=2.1", HF_RVWALK_MEM | all, EVERYTHING | HF_ETL_MEM);
	test_params("options=implicit_exception+implicit_return,mtvec=0x80000000,stvec=0x80000001", all, EVERYTHING);
	test_params("options=implicit_exception,mtvec=0x80000000,version=1.1.1", all, HF_ETL_INSNS);
	test_params("context=pid,time_width=9", all | HF_RVWALK_CONTEXTS, EVERYTHING);
	test_params("context=asid,context_change=imprecise", all | HF_RVWALK_CONTEXTS, EVERYTHING);
	test_params("compression=none", all, EVERYTHING);
	test_params("compression=address,iaddress_lsb=0", all, EVERYTHING);
	test_params("call_counter_size=4", all, EVERYTHING);
	test_params("bpred_size=10,return_stack_size=8", all, EVERYTHING);
	test_params("ecall_retires=1,version=2.1,time_width=32", all, EVERYTHING);
	test_filter("filter_privilege=U+S", 1u << HF_MODE_U | 1u << HF_MODE_S, 0, UINT64_MAX);
	test_filter("filter_privilege=M,sync_instructions=3", 1u << HF_MODE_M, 0, UINT64_MAX);
	test_filter("filter_address=80000100-800003ff", UINT32_MAX, 0x80000100, 0x800003ff);
	test_filter("filter_address=80000100-800005ff,filter_privilege=M+U,version=1.1.1", 1u << HF_MODE_U | 1u << HF_MODE_M,
		    0x80000100, 0x800005ff);
}

/* ---- straight lines that are passed again and again ---- */

#define CALLS 40

static void put_code(uint8_t *code, size_t at, uint32_t opcode)
{
	memcpy(code + at, &opcode, sizeof opcode);
}

/* A leaf without a branch is called from CALLS places in a row: its passes are counted, no report is needed between. */
static void test_leaf_calls(void)
{
	static uint8_t bytes[4 * CALLS + 8]; /* the calls, a nop, the leaf, which is one ret */
	const struct hf_etl_code code = {.base = {0x80000000}, .size = {sizeof bytes}, .bytes = {bytes}};
	const char *params = "options=implicit_return,sync_instructions=0";
	struct hf_rvtrace trace;
	size_t packets = 0;
	struct hf_etl l;

	hf_rvtrace_init(&trace, 64);
	put_code(bytes, 4 * CALLS, 0x00000013);
	put_code(bytes, 4 * CALLS + 4, 0x00008067);
	for (uint32_t i = 0; i < CALLS; i++) {
		const uint32_t call = 0x000000ef | (4 * (CALLS + 1 - i)) << 20;

		put_code(bytes, 4 * i, call);
		hf_rvtrace_insn(&trace, 0x80000000 + 4 * i, call, HF_MODE_M);
		hf_rvtrace_insn(&trace, 0x80000000 + 4 * (CALLS + 1), 0x00008067, HF_MODE_M);
	}
	hf_rvtrace_insn(&trace, 0x80000000 + 4 * CALLS, 0x00000013, HF_MODE_M);
	loop(&code, &trace, params, EVERYTHING);
	hf_etl_make(&l, &trace, params, 0, &code);
	for (size_t at = 0; at < l.size; at += 1 + (l.trace[at] & 31))
		packets++;
	CHECK_EQ(packets, 4); /* support, start, the last instruction, support */
	hf_etl_free(&l);
	hf_rvtrace_fini(&trace);
}

/* A jump to itself comes back as often as it ran. */
static void test_endless_loop(void)
{
	uint8_t bytes[4] = {0x6f};
	const struct hf_etl_code code = {.base = {0x80000000}, .size = {sizeof bytes}, .bytes = {bytes}};
	struct hf_rvtrace trace;

	hf_rvtrace_init(&trace, 64);
	for (unsigned i = 0; i < 1000; i++)
		hf_rvtrace_insn(&trace, 0x80000000, 0x6f, HF_MODE_M);
	loop(&code, &trace, "sync_instructions=0", EVERYTHING);
	loop(&code, &trace, "options=none,sync_instructions=333,version=1.1.1", EVERYTHING);
	hf_rvtrace_fini(&trace);
}

/* ---- real programs ---- */

/* The instructions that ran, each at its place. */
static void collect(const struct hf_etl_code *code, uint8_t *const bytes[2], const struct hf_rvtrace *trace)
{
	for (size_t i = 0; i < trace->count; i++) {
		const struct hf_event *ev = &trace->events[i];
		const unsigned k = ev->insn.pc >= code->base[1];

		if (!hf_event_is_instruction(ev) || (ev->kind == HF_EVENT_ATTEMPT && ev->insn.opcode == 0))
			continue;
		CHECK(ev->insn.pc - code->base[k] + 4 <= code->size[k]);
		memcpy(bytes[k] + (ev->insn.pc - code->base[k]), &ev->insn.opcode, ev->insn.size);
	}
}

static void test_program(const char *corpus, const char *program, unsigned xlen)
{
	struct hf_etl_code code = {.base = {0x1000, xlen == 32 ? 0x20000000 : 0x80000000}, .size = {0x100, 8 << 20}};
	struct hf_rvtrace trace;
	uint8_t *bytes[2];
	char path[1024], *csv;
	size_t n;

	snprintf(path, sizeof path, "%s/etrace/%s/trace.csv.xz", corpus, program);
	csv = hf_rvtrace_read_file(path, SIZE_MAX, &n);
	CHECK(csv);
	hf_rvtrace_parse(&trace, csv, xlen, 0);
	free(csv);
	for (unsigned k = 0; k < 2; k++)
		CHECK(code.bytes[k] = bytes[k] = calloc(1, code.size[k]));
	collect(&code, bytes, &trace);
	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
		snprintf(path, sizeof path, "options=%s,sync_instructions=%u", options[i], i % 2 ? 0 : 1000);
		loop(&code, &trace, path, EVERYTHING);
	}
	free(bytes[0]);
	free(bytes[1]);
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
		test_walk(seed, "2.0", seed & 1 ? 64 : 32, 0, EVERYTHING);
		test_walk(seed + 1000, "1.1.1", 64, HF_RVWALK_TRAPS | HF_RVWALK_HOLES | HF_RVWALK_MODES,
			  OLD);
		test_walk(seed + 2000, "2.0", seed & 1 ? 64 : 32, all, EVERYTHING);
		test_walk(seed + 3000, "2.1", 64, all, EVERYTHING);
	}
	test_more();
	test_short_ways();
	test_leaf_calls();
	test_endless_loop();
	test_code_size();
	test_code_size_data();
	test_programs();
	return 0;
}
