/* SPDX-License-Identifier: Apache-2.0 */
/* What encoder and decoder both remember between two sync packets, and what that says of the next address. */
#include "codecs/etrace/encoder.h"
#include "codecs/isa/riscv.h"

#include <string.h>

/* Two bits an entry: the high one is the prediction, the low one the last outcome; 1 is taken (E-Trace 3.2.6). */
#define PREDICTOR_START 1

static void forget(struct hf_etrace_enc *e)
{
	hf_etrace_enc_forget_outcomes(e);
	hf_etrace_data_sync(&e->s.data.history);
}

void hf_etrace_enc_resync(struct hf_etrace_enc *e)
{
	if ((e->s.flags & HF_ETRACE_ENC_TRACING) && (e->c.params.modes & HF_ETRACE_RESYNC_DISABLED))
		forget(e);
	else
		hf_etrace_enc_reset(e);
}

bool hf_etrace_enc_has_irets(const struct hf_etrace_enc *e)
{
	const uint32_t both = HF_ETRACE_IRET_EXT | HF_ETRACE_IMPLICIT_RETURN;

	return (e->c.params.modes & both) == both;
}

void hf_etrace_enc_reset(struct hf_etrace_enc *e)
{
	const struct hf_etrace_params *p = &e->c.params;

	forget(e);
	e->s.stack_count = 0;
	if (p->modes & HF_ETRACE_BRANCH_PREDICTION)
		memset(e->predictor, PREDICTOR_START, (size_t)1 << p->bpred_size);
	if (p->modes & HF_ETRACE_JUMP_TARGET_CACHE)
		memset(e->cached, 0, (size_t)1 << p->cache_size);
}

uint32_t hf_etrace_enc_stack_limit(const struct hf_etrace_enc *e)
{
	const struct hf_etrace_params *p = &e->c.params;

	return 1u << (p->return_stack_size ? p->return_stack_size : p->call_counter_size);
}

/* The C encoder only counts; it cannot notice that a return goes elsewhere. */
static bool counts_only(const struct hf_etrace_enc *e)
{
	return e->c.profile == HF_ETRACE_C111;
}

void hf_etrace_enc_push(struct hf_etrace_enc *e, uint64_t address)
{
	const uint32_t limit = hf_etrace_enc_stack_limit(e), most = hf_etrace_repeat_max(&e->c.params, e->c.params.modes);

	if (counts_only(e)) {
		e->s.stack_count += e->s.stack_count < limit;
		return;
	}
	if (e->s.stack_count && e->stack[e->s.stack_count - 1] == address && e->repeat[e->s.stack_count - 1] < most) {
		e->repeat[e->s.stack_count - 1]++;
		return;
	}
	if (e->s.stack_count == limit) {
		e->s.stack_count--;
		memmove(e->stack, e->stack + 1, e->s.stack_count * sizeof *e->stack);
		memmove(e->repeat, e->repeat + 1, e->s.stack_count * sizeof *e->repeat);
	}
	e->repeat[e->s.stack_count] = 0;
	e->stack[e->s.stack_count++] = address;
}

void hf_etrace_enc_pop(struct hf_etrace_enc *e)
{
	if (!counts_only(e) && e->repeat[e->s.stack_count - 1])
		e->repeat[e->s.stack_count - 1]--;
	else
		e->s.stack_count--;
}

bool hf_etrace_enc_predict(struct hf_etrace_enc *e, uint64_t pc, bool taken)
{
	uint8_t *entry = &e->predictor[pc >> e->c.params.iaddress_lsb & ((1u << e->c.params.bpred_size) - 1)];
	const bool predicted = *entry >> 1;

	*entry = (uint8_t)(((*entry >> 1) == (*entry & 1) ? predicted : taken) << 1 | taken);
	return predicted == taken;
}

bool hf_etrace_enc_lookup(struct hf_etrace_enc *e, uint64_t target, uint32_t *ret_index)
{
	const uint32_t index = (uint32_t)(target >> e->c.params.iaddress_lsb) & ((1u << e->c.params.cache_size) - 1);

	*ret_index = index;
	if (e->cached[index] && e->cache[index] == target)
		return true;
	e->cached[index] = 1;
	e->cache[index] = target;
	return false;
}

bool hf_etrace_enc_pair(const struct hf_etrace_enc *e, uint32_t before, uint64_t before_pc,
			const struct hf_ev_insn *insn, uint64_t *ret_target)
{
	struct hf_riscv_jump jump;
	uint64_t value;
	unsigned rd;

	if (!(e->c.params.modes & HF_ETRACE_SIJUMP) || before == 0 ||
	    !hf_riscv_jump(insn->opcode, e->xlen, &jump) || !jump.indirect || jump.rs1 == 0 ||
	    !hf_riscv_upper(before, e->xlen, before_pc, &rd, &value) || rd != jump.rs1)
		return false;
	*ret_target = (value + (uint64_t)(int64_t)jump.offset) & ~UINT64_C(1) & hf_etrace_address_mask(&e->c.params);
	return true;
}

/*
 * E-Trace 4.1.1: by the table with x1 and x5, or as the decoder's pseudo-code has it, with x1 alone. A co-routine swap
 * touches no stack. jump is NULL of cm.popret, which is a return through x1, and of cm.jt and cm.jalt.
 */
static void classify(const struct hf_etrace_enc *e, const struct hf_ev_insn *insn, const struct hf_riscv_jump *jump,
		     struct hf_etrace_step *step)
{
	const uint8_t flow = insn->flow;

	if (e->c.params.link_x5 || !jump) {
		step->call = flow == HF_FLOW_CALL || flow == HF_FLOW_INDIRECT_CALL;
		step->pops = flow == HF_FLOW_RETURN;
	} else {
		step->call = jump->rd == 1;
		step->pops = jump->indirect && jump->rd == 0 && jump->rs1 == 1;
	}
}

/* A jump, by its opcode. */
static void step_jump(const struct hf_etrace_enc *e, const struct hf_ev_insn *insn, struct hf_etrace_step *step)
{
	struct hf_riscv_jump jump;

	step->jumps = true;
	step->known = false;
	if (hf_riscv_jump(insn->opcode, e->xlen, &jump))
		classify(e, insn, &jump, step);
	else if (hf_riscv_is_code_size(insn->opcode))
		classify(e, insn, NULL, step);
	else
		return;
	if (hf_riscv_target(insn->opcode, e->xlen, insn->pc, &step->target)) {
		step->known = true;
	} else if (hf_etrace_enc_pair(e, e->s.before, e->s.before_pc, insn, &step->target)) {
		step->way = HF_ETRACE_WAY_SIJUMP;
		step->known = true;
	} else if (step->pops && (e->c.params.modes & HF_ETRACE_IMPLICIT_RETURN) && e->s.stack_count) {
		step->way = HF_ETRACE_WAY_RETURN;
		step->known = !counts_only(e);
		if (step->known)
			step->target = e->stack[e->s.stack_count - 1];
	} else {
		step->way = HF_ETRACE_WAY_JUMP;
		step->empty = step->pops;
	}
	if (step->way != HF_ETRACE_WAY_RETURN)
		step->pops = false;
}

struct hf_etrace_step hf_etrace_enc_step(const struct hf_etrace_enc *e, const struct hf_ev_insn *insn, bool taken)
{
	struct hf_etrace_step step = {
		.known = true,
		.target = (insn->pc + insn->size) & hf_etrace_address_mask(&e->c.params),
	};

	switch (insn->flow) {
	case HF_FLOW_BRANCH:
		if (taken)
			step.known = hf_riscv_target(insn->opcode, e->xlen, insn->pc, &step.target);
		step.jumps = true;
		break;
	case HF_FLOW_JUMP:
	case HF_FLOW_CALL:
	case HF_FLOW_INDIRECT_JUMP:
	case HF_FLOW_INDIRECT_CALL:
	case HF_FLOW_RETURN:
	case HF_FLOW_SWAP:
		step_jump(e, insn, &step);
		break;
	case HF_FLOW_TRAP_RETURN:
		step.known = false;
		step.jumps = true;
		step.way = HF_ETRACE_WAY_TRAP_RETURN;
		break;
	case HF_FLOW_TRAP_CALL:
		step.way = HF_ETRACE_WAY_ECALL;
		break;
	default:
		break;
	}
	return step;
}
