/* SPDX-License-Identifier: Apache-2.0 */
/* How the flow leaves an instruction, as a decoder with the same program and tables would guess. */
#include "codecs/etrace/encoder.h"

static void forget(struct hf_etrace_enc *e)
{
	hf_etrace_enc_forget_outcomes(e);
	hf_etrace_data_sync(&e->s.data.history);
}

void hf_etrace_enc_reset(struct hf_etrace_enc *e)
{
	forget(e);
	hf_etrace_tables_reset(&e->tables);
}

void hf_etrace_enc_resync(struct hf_etrace_enc *e)
{
	if ((e->s.flags & HF_ETRACE_ENC_TRACING) && (e->c.params.modes & HF_ETRACE_RESYNC_DISABLED))
		forget(e);
	else
		hf_etrace_enc_reset(e);
}

bool hf_etrace_enc_pair(const struct hf_etrace_enc *e, const struct hf_ev_insn *before, const struct hf_ev_insn *insn)
{
	uint64_t target;

	return e->rules.pairs && hf_walk_pair(e->xlen, before->pc, before->opcode, insn->opcode, &target);
}

/* A jump that the program alone does not tell. The C encoder only counts; it cannot notice that a return goes
 * elsewhere. */
static void step_indirect(const struct hf_etrace_enc *e, uint8_t flags, struct hf_etrace_step *step)
{
	const struct hf_return_stack *stack = &e->tables.stack;

	step->known = false;
	if (!(flags & HF_WALK_RETURN) || !stack->depth) {
		step->way = HF_ETRACE_WAY_JUMP;
		step->empty = flags & HF_WALK_RETURN;
		return;
	}
	step->way = HF_ETRACE_WAY_RETURN;
	step->pops = true;
	step->known = stack->address;
	if (step->known)
		step->target = hf_return_stack_top(stack);
}

/* Most instructions do nothing to the flow. What is known of one that is paired counts where the pair is met as one. */
static struct hf_walk_ending ending_of(const struct hf_etrace_enc *e)
{
	const struct hf_ev_insn *insn = &e->held.insn;

	if (e->ending && (e->s.before || !(e->ending->flags & HF_WALK_PAIRED)))
		return *e->ending;
	if (insn->flow == HF_FLOW_PLAIN || insn->flow >= HF_FLOW_SYNC)
		return (struct hf_walk_ending){.end = HF_WALK_ON};
	return hf_walk_ending(&e->rules, NULL, insn, e->s.before_pc, e->s.before);
}

struct hf_etrace_step hf_etrace_enc_step(const struct hf_etrace_enc *e, bool taken)
{
	const struct hf_ev_insn *insn = &e->held.insn;
	const struct hf_walk_ending ending = ending_of(e);
	const bool leads = ending.end == HF_WALK_JUMP || (ending.end == HF_WALK_BRANCH && taken);
	const uint64_t target = leads ? ending.target : insn->pc + insn->size;
	struct hf_etrace_step step = {
		.known = true,
		.jumps = ending.end != HF_WALK_ON && ending.end != HF_WALK_TRAP_CALL,
		.call = ending.flags & HF_WALK_CALL,
		.target = target & hf_etrace_address_mask(&e->c.params),
	};

	switch (ending.end) {
	case HF_WALK_JUMP:
		if (ending.flags & HF_WALK_PAIRED)
			step.way = HF_ETRACE_WAY_SIJUMP;
		break;
	case HF_WALK_INDIRECT:
		step_indirect(e, ending.flags, &step);
		break;
	case HF_WALK_TRAP_RETURN:
		step.known = false;
		step.way = HF_ETRACE_WAY_TRAP_RETURN;
		break;
	case HF_WALK_TRAP_CALL:
		step.way = HF_ETRACE_WAY_ECALL;
		break;
	default:
		break;
	}
	return step;
}
