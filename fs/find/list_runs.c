/* SPDX-License-Identifier: Apache-2.0 */
/* The runs of a summary: how often code was executed, in which context, how it was entered and left. */
#include "fs/find/list.h"

#include "codecs/isa/arm.h"
#include "codecs/isa/riscv.h"

#include <stdlib.h>

static uint32_t serves(const struct hf_predicates *predicates)
{
	return predicates->code;
}

/* A look-up on its way. */
struct counting {
	const struct hf_find_ask *ask;
	uint64_t *counts;
	uint64_t *answers; /* of each run, each time that it is executed */
	uint8_t *wanted;   /* it has any */
	uint64_t total;    /* answers of all runs, if nobody asks in which chunks: */
	bool exact, any, whole;
};

/* What is known of the flow behind an instruction in the middle of a run, or at its end: an instruction that was taken ends
 * its run, and one of which that is not known too. */
static void tell_flow(const struct hf_run *run, bool last, uint32_t extensions, struct hf_find_code *code)
{
	const struct hf_ev_insn *insn = code->insn;
	const bool riscv = insn->isa == HF_ISA_RV32 || insn->isa == HF_ISA_RV64;
	unsigned flow = HF_FLOW_BRANCH;
	bool sure = true;

	if (riscv)
		flow = hf_riscv_flow(insn->opcode, (insn->isa == HF_ISA_RV32 ? 32 : 64) | extensions);
	else if (insn->isa == HF_ISA_A64)
		flow = hf_arm_classify(insn->opcode, insn->size, insn->isa).flow;
	else
		sure = false;
	code->taken = code->not_taken = HF_NO;
	if (last && run->key.ended == HF_ENDED_TAKEN)
		/* A trap return is an event of its own, perhaps of an instruction that says nothing. */
		code->taken = sure && flow >= HF_FLOW_BRANCH && flow <= HF_FLOW_SWAP ? HF_YES : HF_PERHAPS;
	else if (last && run->key.ended == HF_ENDED_LOSS)
		code->taken = code->not_taken = HF_PERHAPS;
	else if (flow == HF_FLOW_BRANCH)
		code->not_taken = sure ? HF_YES : HF_PERHAPS;
}

/* All terms about code, of one instruction of the run. */
static enum hf_verdict ask_insn(const struct hf_find_ask *ask, const struct hf_find_code *code)
{
	enum hf_verdict all = HF_YES;

	for (uint32_t bits = ask->predicates->code; bits; bits &= bits - 1) {
		const enum hf_verdict v =
			hf_predicates_of_code(ask->predicates, (unsigned)__builtin_ctz(bits), code, ask->disasm);

		if (!v)
			return HF_NO;
		all = v < all ? v : all;
	}
	return all;
}

/* How many instructions of a run are answers each time that it is executed. */
static uint64_t ask_run(struct counting *c, const struct hf_run *run, const struct hf_run_context *context)
{
	struct hf_ev_insn insn = {.pc = run->key.first, .isa = run->key.isa, .mode = run->key.mode};
	struct hf_find_code code = {.insn = &insn,
				    .called = run->key.entered == HF_ENTERED_CALL ? HF_YES : HF_NO,
				    .context = context};
	uint64_t n = 0;
	unsigned size;

	for (uint32_t at = 0; (size = hf_run_opcode(run, at, &insn.opcode)); at += size, insn.pc += size) {
		enum hf_verdict v;

		insn.size = (uint8_t)size;
		tell_flow(run, at + size >= run->bytes, c->ask->predicates->extensions, &code);
		v = ask_insn(c->ask, &code);
		n += v != HF_NO;
		c->exact &= v != HF_PERHAPS;
		code.called = HF_NO;
	}
	return n;
}

static int add_postings(void *ctx, uint64_t run, const struct hf_posting *posting, size_t n)
{
	const struct counting *c = ctx;

	for (size_t i = 0; i < n; i++) {
		uint64_t more, *to = &c->counts[posting[i].chunk - c->ask->low];

		if (__builtin_mul_overflow(posting[i].count, c->answers[run], &more) ||
		    __builtin_add_overflow(*to, more, to))
			return HF_ERR_STATE;
	}
	return 0;
}

static int add_run(void *ctx, const struct hf_summary_run *run)
{
	struct counting *c = ctx;
	struct hf_run_context context;
	uint64_t answers;
	bool known = false;
	int err = 0;

	if (c->ask->predicates->context) {
		err = hf_summary_context(c->ask->summary, c->ask->hart, run->run.key.context, &context);
		known = !err;
		err = err == HF_ERR_NOT_FOUND ? 0 : err;
	}
	if (err)
		return err;
	c->answers[run->number] = ask_run(c, &run->run, known ? &context : NULL);
	c->wanted[run->number] = c->answers[run->number] != 0;
	c->any |= c->wanted[run->number];
	if (c->whole && (__builtin_mul_overflow(c->answers[run->number], run->count, &answers) ||
			 __builtin_add_overflow(c->total, answers, &c->total)))
		return HF_ERR_STATE;
	return 0;
}

/* All answers, or those of each chunk. */
static int count_all(const struct hf_find_ask *ask, uint64_t *counts, bool *exact, uint64_t *ret_total)
{
	const struct hf_find_range span = hf_predicates_span(ask->predicates);
	const size_t runs = (size_t)hf_summary_run_count(ask->summary, ask->hart);
	struct counting c = {.ask = ask,
			     .counts = counts,
			     .answers = calloc(runs + 1, sizeof *c.answers),
			     .wanted = calloc(runs + 1, sizeof *c.wanted),
			     .exact = true,
			     .whole = !counts};
	int err = c.answers && c.wanted ? 0 : HF_ERR_NOMEM;

	if (!err && span.first <= span.last)
		err = hf_summary_runs(ask->summary, ask->hart, span.first,
				      span.last == UINT64_MAX ? UINT64_MAX : span.last + 1, add_run, &c);
	if (!err && c.any && counts)
		err = hf_summary_postings(ask->summary, ask->hart, ask->low, ask->high, c.wanted, add_postings, &c);
	free(c.answers);
	free(c.wanted);
	*exact &= c.exact;
	*ret_total = c.total;
	return err;
}

static int count(const struct hf_find_ask *ask, uint64_t *counts, bool *exact)
{
	uint64_t total;

	return count_all(ask, counts, exact, &total);
}

int hf_find_total(const struct hf_find_ask *ask, uint64_t *ret_total)
{
	bool exact = ask->summary && serves(ask->predicates) == ask->predicates->all;
	int err = exact ? count_all(ask, NULL, &exact, ret_total) : 0;

	return err ? err : exact ? 0 : HF_NOTE_END;
}

const struct hf_find_list hf_find_list_runs = {.name = "runs", .serves = serves, .count = count};
