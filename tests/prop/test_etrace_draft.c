/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Version 2.1: implicit returns that are counted (irets), stack entries with repeat counters, tables that outlive sync
 * packets. Over every mode, size and sync distance the stream gives the same instructions and traps, also entered at any
 * packet unless nothing is synchronised; and packets say what the draft wants them to.
 */
#include "codecs/base/bytes.h"
#include "codecs/base/errors.h"
#include "codecs/etrace/encoder.h"
#include "codecs/views.h"
#include "tests/lib/check.h"
#include "tests/lib/etraceloop.h"

#define ALL (HF_RVWALK_TRAPS | HF_RVWALK_DOUBLE | HF_RVWALK_HOLES | HF_RVWALK_MODES)

static struct hf_rvwalk walk;

/* ---- walks ---- */

static void enter_everywhere(const struct hf_etl *l, const struct hf_rvtrace *whole, const char *params)
{
	size_t packets = 0;

	for (size_t at = 0; at < l->size; at += 1 + (l->trace[at] & 31)) {
		struct hf_rvtrace got;

		if (packets++ % 9)
			continue;
		hf_rvtrace_init(&got, walk.xlen);
		hf_etl_decode(l, at, &got, NULL);
		if (hf_etl_same_tail(whole, &got) != got.retired)
			fprintf(stderr, "%s: entered at %zu\n", params, at);
		CHECK_EQ(hf_etl_same_tail(whole, &got), got.retired);
		hf_rvtrace_fini(&got);
	}
}

static void test_walk(uint64_t seed, const char *params, unsigned flags, bool enter)
{
	struct hf_rvtrace trace, got;
	struct hf_etl l;

	hf_rvwalk_program(&walk, 0x80000000, seed & 1 ? 64 : 32, seed);
	hf_rvtrace_init(&trace, walk.xlen);
	hf_rvwalk_run(&walk, &trace, 1500, flags);
	hf_rvtrace_init(&got, walk.xlen);
	hf_etl_make_walk(&l, &trace, params, &walk);
	hf_etl_decode(&l, 0, &got, NULL);
	hf_etl_check_same(&l, &trace, &got, HF_ETL_INSNS | HF_ETL_TRAPS | HF_ETL_EPCS, params);
	CHECK(hf_etl_count(&got, HF_EVENT_GAP) <= hf_etl_count(&trace, HF_EVENT_GAP));
	if (enter)
		enter_everywhere(&l, &got, params);
	hf_etl_free(&l);
	hf_rvtrace_fini(&got);
	hf_rvtrace_fini(&trace);
}

static void test_walks(void)
{
	static const char *const options[] = {
		"implicit_return", "implicit_return+branch_prediction", "implicit_return+jump_target_cache",
		"full_address+implicit_return+branch_prediction+jump_target_cache", "none", "branch_prediction",
	};
	static const char *const sizes[] = {
		"", ",return_stack_size=2,call_counter_size=3", ",return_stack_size=1,call_counter_size=1,link_registers=x1+x5",
		",call_counter_size=2", ",irets=0",
	};
	static const unsigned syncs[] = {1, 3, 40, 0};

	for (size_t o = 0; o < 6; o++)
		for (size_t z = 0; z < (o < 4 ? 5 : 1); z++)
			for (size_t s = 0; s < 4; s++)
				for (uint64_t seed = 1; seed <= 4; seed++) {
					char params[256];

					snprintf(params, sizeof params, "version=2.1,options=%s,sync_instructions=%u%s",
						 options[o], syncs[s], sizes[z]);
					test_walk(seed + 10 * o + 100 * z, params, seed & 2 ? ALL : HF_RVWALK_HOLES,
						  syncs[s] == 3 && seed == 1);
				}
}

/* ---- programs of a few instructions ---- */

struct step {
	uint64_t pc;
	uint32_t opcode;
};

/* Packets of a raw stream with irreport, as "irets" in order; -1 ends the list. */
static void find_irets(const struct hf_etl *l, uint32_t modes, int *ret_irets, size_t max)
{
	struct hf_etrace_params p;
	struct hf_etrace_packet pkt;
	size_t n = 0;

	hf_etrace_params_default(&p, 64);
	p.version = HF_ETRACE_2_1;
	p.support = HF_ETRACE_SUPPORT_STANDARD;
	p.context_width = 0;
	p.ecause_width = 7;
	p.return_stack_size = 7;
	for (size_t at = 0; at < l->size; at += 1 + (l->trace[at] & 31)) {
		CHECK_EQ(hf_etrace_packet_read(&p, modes, l->trace + at + 1, l->trace[at] & 31, &pkt), 0);
		if (pkt.format != 3 && pkt.irreport && n + 1 < max)
			ret_irets[n++] = (int)pkt.irdepth;
	}
	ret_irets[n] = -1;
}

static void run(const struct step *steps, size_t n, bool trap, int *ret_irets)
{
	static uint8_t bytes[256];
	const struct hf_etl_code code = {.base = {0x80000000}, .size = {sizeof bytes}, .bytes = {bytes}};
	struct hf_rvtrace trace, got;
	struct hf_etl l;

	memset(bytes, 0, sizeof bytes);
	hf_rvtrace_init(&trace, 64);
	for (size_t i = 0; i < n; i++) {
		hf_put32(bytes + (steps[i].pc - 0x80000000), steps[i].opcode);
		hf_rvtrace_insn(&trace, steps[i].pc, steps[i].opcode, HF_MODE_M);
	}
	if (trap)
		hf_rvtrace_add(&trace, (struct hf_event){.kind = HF_EVENT_TRAP, .flags = HF_EVF_CAUSE | HF_EVF_ASYNC,
							 .trap.cause = 7});
	hf_put32(bytes + 0xf0, 0x13);
	hf_rvtrace_insn(&trace, 0x800000f0, 0x13, HF_MODE_M);
	hf_etl_make(&l, &trace, "version=2.1,options=implicit_return,sync_instructions=100", 0, &code);
	hf_rvtrace_init(&got, 64);
	hf_etl_decode(&l, 0, &got, NULL);
	hf_etl_check_same(&l, &trace, &got, HF_ETL_INSNS | HF_ETL_TRAPS, "program");
	find_irets(&l, HF_ETRACE_IMPLICIT_RETURN | HF_ETRACE_IRET_EXT, ret_irets, 8);
	hf_etl_free(&l);
	hf_rvtrace_fini(&got);
	hf_rvtrace_fini(&trace);
}

#define NOP 0x13u
#define RET 0x8067u
#define JAL(from, to) (0xefu | (uint32_t)((to) - (from)) << 20)

/* Two leaf functions one after the other, then a trap: the example that irdepth cannot tell. */
static void test_leaves(void)
{
	static const struct step steps[] = {
		{0x80000000, JAL(0, 0x40)}, {0x80000040, NOP}, {0x80000044, RET},
		{0x80000004, JAL(4, 0x60)}, {0x80000060, NOP}, {0x80000064, RET},
		{0x80000008, NOP}, {0x8000000c, NOP},
	};
	int irets[8];

	run(steps, 8, true, irets); /* two returns before it */
	CHECK_EQ(irets[0], 2);
	CHECK_EQ(irets[1], -1);
	run(steps, 6, true, irets); /* the return itself is the second */
	CHECK_EQ(irets[0], 2);
	run(steps, 5, true, irets);
	CHECK_EQ(irets[0], 1);
	run(steps, 2, true, irets);
	CHECK_EQ(irets[0], -1);
}

/* What a return led to is reported with the returns before it; one that goes elsewhere, too. */
static void test_targets(void)
{
	static const struct step back[] = {
		{0x80000000, JAL(0, 0x40)}, {0x80000040, RET}, {0x80000004, JAL(4, 0x60)}, {0x80000060, RET},
		{0x80000008, NOP},
	};
	static const struct step elsewhere[] = {
		{0x80000000, JAL(0, 0x40)}, {0x80000040, RET}, {0x80000004, JAL(4, 0x60)}, {0x80000060, RET},
		{0x80000020, NOP},
	};
	int irets[8];

	run(back, 5, true, irets);
	CHECK_EQ(irets[0], 1);
	CHECK_EQ(irets[1], -1);
	run(elsewhere, 5, true, irets);
	CHECK_EQ(irets[0], 1);
	CHECK_EQ(irets[1], -1);
}

static void test_refused(void)
{
	static const struct {
		const char *params, *named;
	} bad[] = {
		{"irets=1", "irets"},
		{"version=1.1.1,irets=1", "irets"},
		{"version=2.1,options=none,irets=1", "irets"},
		{"version=2.1,support_options=reference,irets=1", "irets"},
		{"version=2.1,resync_disabled=1", "resync_disabled"},
		{"resync_disabled=1,sync_instructions=0", "resync_disabled"},
		{"return_stack_size=3,call_counter_size=3", "irets"},
		{"version=2.1,irets=0,return_stack_size=3,call_counter_size=3", "irets"},
	};
	char why[200];

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		why[0] = 0;
		CHECK_EQ(hf_view_etrace.check_params(bad[i].params, why, sizeof why), HF_ERR_SETUP_VALUE);
		CHECK(strstr(why, bad[i].named));
	}
}

int main(void)
{
	test_refused();
	test_leaves();
	test_targets();
	test_walks();
	return 0;
}
