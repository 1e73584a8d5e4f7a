/* SPDX-License-Identifier: Apache-2.0 */
/* The runs of a summary: how often code was executed, in which context, how it was entered and left. */
#include "fs/find/list.h"

#include "codecs/isa/arm.h"
#include "codecs/isa/riscv.h"

#include <stdlib.h>

static uint32_t serves(const struct hf_terms *terms)
{
	return terms->code;
}

/* A look-up on its way. */
struct counting {
	const struct hf_find_ask *ask;
	uint64_t *counts;
	bool exact;
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

	for (uint32_t bits = ask->terms->code; bits; bits &= bits - 1) {
		const enum hf_verdict v = hf_terms_of_code(ask->terms, (unsigned)__builtin_ctz(bits), code, ask->disasm);

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
		tell_flow(run, at + size >= run->bytes, c->ask->terms->extensions, &code);
		v = ask_insn(c->ask, &code);
		n += v != HF_NO;
		c->exact &= v != HF_PERHAPS;
		code.called = HF_NO;
	}
	return n;
}

/* The chunks of a run, each with as many answers. */
static int add_postings(struct counting *c, const struct hf_summary_run *run, uint64_t answers)
{
	const struct hf_find_ask *ask = c->ask;
	struct hf_posting posting;
	struct hf_list list;
	uint8_t *bytes;
	int err = hf_summary_list(ask->summary, run, &list, &bytes);

	if (!err)
		err = hf_list_seek(&list, ask->low, &posting);
	while (!err && posting.chunk < ask->high) {
		uint64_t n, *to = &c->counts[posting.chunk - ask->low];

		if (posting.chunk < ask->low || __builtin_mul_overflow(posting.count, answers, &n) ||
		    __builtin_add_overflow(*to, n, to))
			err = HF_ERR_STATE;
		else
			err = hf_list_next(&list, &posting);
	}
	free(bytes);
	return err == HF_NOTE_END ? 0 : err;
}

static int add_run(void *ctx, const struct hf_summary_run *run)
{
	struct counting *c = ctx;
	struct hf_run_context context;
	bool known = false;
	uint64_t answers;
	int err = 0;

	if (c->ask->terms->context) {
		err = hf_summary_context(c->ask->summary, c->ask->hart, run->run.key.context, &context);
		known = !err;
		err = err == HF_ERR_NOT_FOUND ? 0 : err;
	}
	if (err)
		return err;
	answers = ask_run(c, &run->run, known ? &context : NULL);
	return answers ? add_postings(c, run, answers) : 0;
}

static int count(const struct hf_find_ask *ask, uint64_t *counts, bool *exact)
{
	const struct hf_find_range span = hf_terms_span(ask->terms);
	struct counting c = {.ask = ask, .counts = counts, .exact = true};
	int err = 0;

	if (span.first <= span.last)
		err = hf_summary_runs(ask->summary, ask->hart, span.first,
				      span.last == UINT64_MAX ? UINT64_MAX : span.last + 1, add_run, &c);
	*exact &= c.exact;
	return err;
}

const struct hf_find_list hf_find_list_runs = {.name = "runs", .serves = serves, .count = count};
