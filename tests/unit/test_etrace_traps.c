/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the view etrace/ says of traps, and what it says where there is nothing to say it with: traps that follow each
 * other directly, causes that nobody knows, doubts of the source.
 */
#include "codecs/etrace/encoder.h"
#include "codecs/ntrace/errors.h"
#include "tests/lib/check.h"
#include "tests/lib/etraceloop.h"

#define TRAPS (HF_RVWALK_TRAPS | HF_RVWALK_DOUBLE | HF_RVWALK_MODES | HF_RVWALK_HOLES)

static struct hf_rvwalk walk;

static void make(struct hf_rvtrace *trace, uint64_t seed, unsigned flags)
{
	hf_rvwalk_program(&walk, 0x80000000, seed & 1 ? 64 : 32, seed);
	hf_rvtrace_init(trace, walk.xlen);
	hf_rvwalk_run(&walk, trace, 4000, flags);
}

static void check(const struct hf_rvtrace *trace, const char *params, unsigned what, struct hf_rvtrace *got)
{
	struct hf_etl l;

	hf_rvtrace_init(got, walk.xlen);
	hf_etl_make_walk(&l, trace, params, &walk);
	hf_etl_decode(&l, 0, got, NULL);
	hf_etl_check_same(&l, trace, got, what, params);
	hf_etl_free(&l);
}

/* Where each exception came is known, also of those whose handler did not retire anything at the target of a jump. */
static void test_chains(void)
{
	static const char *const params[] = {
		"", "options=none", "version=2.1", "options=implicit_return,sync_instructions=3", "sync_instructions=1",
		"options=full_address", "options=jump_target_cache",
		"options=implicit_exception,mtvec=0x80000000,stvec=0x80000000",
	};

	for (uint64_t seed = 1; seed <= 12; seed++)
		for (size_t i = 0; i < sizeof params / sizeof params[0]; i++) {
			struct hf_rvtrace trace, got;

			make(&trace, seed, TRAPS);
			check(&trace, params[i], HF_ETL_INSNS | HF_ETL_TRAPS | HF_ETL_EPCS, &got);
			hf_rvtrace_fini(&got);
			hf_rvtrace_fini(&trace);
		}
}

/* Every third trap loses its cause, every fifth gets one that the field is too narrow for; others are the platform's. */
static void change_causes(struct hf_rvtrace *trace, uint64_t unknown)
{
	size_t n = 0;

	for (size_t i = 0; i < trace->count; i++) {
		struct hf_event *ev = &trace->events[i];

		if (ev->kind != HF_EVENT_TRAP)
			continue;
		n++;
		if (n % 3 == 0)
			ev->flags &= (uint8_t)~HF_EVF_CAUSE;
		else if (n % 5 == 0)
			ev->trap.cause = 1000 + n;
		else if (n % 7 == 0)
			ev->trap.cause = unknown > 24 ? 24 : 1;
		else if (n % 11 == 0)
			ev->trap.cause = unknown;
	}
}

/* What must come back: nothing but the causes that are known and can be told. */
static void forget_causes(struct hf_rvtrace *trace, uint64_t unknown)
{
	for (size_t i = 0; i < trace->count; i++) {
		struct hf_event *ev = &trace->events[i];

		if (ev->kind == HF_EVENT_TRAP && (ev->trap.cause >= 1000 || ev->trap.cause >= unknown))
			ev->flags &= (uint8_t)~HF_EVF_CAUSE;
	}
}

static void test_causes(const char *params, uint64_t unknown)
{
	for (uint64_t seed = 21; seed <= 24; seed++) {
		struct hf_rvtrace trace, got;
		struct hf_etl l;

		make(&trace, seed, TRAPS & ~(unsigned)HF_RVWALK_DOUBLE);
		change_causes(&trace, unknown);
		hf_rvtrace_init(&got, walk.xlen);
		hf_etl_make_walk(&l, &trace, params, &walk);
		CHECK(strstr(l.ini, "\nunknown_cause = "));
		hf_etl_decode(&l, 0, &got, NULL);
		forget_causes(&trace, unknown);
		hf_etl_check_same(&l, &trace, &got, HF_ETL_INSNS | HF_ETL_TRAPS, params);
		CHECK(hf_etl_count(&got, HF_EVENT_TRAP) > 20);
		hf_etl_free(&l);
		hf_rvtrace_fini(&got);
		hf_rvtrace_fini(&trace);
	}
}

/* A doubt is told as a loss: behind it tracing starts anew, and all instructions are there. */
static void test_doubt(const char *params)
{
	struct hf_rvtrace trace, got, doubtful;
	size_t n = 0;

	make(&trace, 31, 0);
	hf_rvtrace_init(&doubtful, walk.xlen);
	for (size_t i = 0; i < trace.count; i++) {
		if (i % 500 == 250 && trace.events[i].kind == HF_EVENT_INSN) {
			const struct hf_event ev = {.kind = HF_EVENT_DOUBT, .code = (uint32_t)-HF_ERR_NTRACE_ODD};

			hf_rvtrace_append(&doubtful, &ev);
			n++;
		}
		hf_rvtrace_append(&doubtful, &trace.events[i]);
	}
	CHECK(n > 3);
	check(&doubtful, params, HF_ETL_INSNS, &got);
	CHECK_EQ(hf_etl_count(&got, HF_EVENT_GAP), n);
	hf_rvtrace_fini(&got);
	hf_rvtrace_fini(&doubtful);
	hf_rvtrace_fini(&trace);
}

int main(void)
{
	test_chains();
	test_causes("", 127);
	test_causes("ecause_width=5", 31);
	test_causes("version=2.1,ecause_width=4", 14);
	test_causes("unknown_cause=50,ecause_width=6", 50);
	test_causes("ecause_width=9", 511);
	test_doubt("");
	test_doubt("version=1.1.1,options=none");
	test_doubt("version=2.1,framing=encap");
	return 0;
}
