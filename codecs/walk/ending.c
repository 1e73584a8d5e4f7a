/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/walk/ending.h"

#include "codecs/isa/arm.h"
#include "codecs/isa/riscv.h"

uint8_t hf_walk_links(const struct hf_walk_rules *rules, uint32_t opcode, uint8_t flow)
{
	static const uint8_t by_flow[HF_FLOW_COUNT] = {
		[HF_FLOW_CALL] = HF_WALK_CALL,
		[HF_FLOW_INDIRECT_CALL] = HF_WALK_CALL,
		[HF_FLOW_RETURN] = HF_WALK_RETURN,
		[HF_FLOW_SWAP] = HF_WALK_CALL | HF_WALK_RETURN,
	};
	struct hf_riscv_jump jump;

	/* Zcmp and Zcmt have no registers to ask for. */
	if (rules->x1_alone && hf_riscv_jump(opcode, rules->xlen, &jump))
		return jump.rd == 1				      ? HF_WALK_CALL :
		       jump.indirect && jump.rd == 0 && jump.rs1 == 1 ? HF_WALK_RETURN : 0;
	return flow == HF_FLOW_SWAP && !rules->swaps ? 0 : by_flow[flow];
}

bool hf_walk_pair(unsigned xlen, uint64_t last_pc, uint32_t last_opcode, uint32_t opcode, uint64_t *ret_target)
{
	struct hf_riscv_jump jump;
	uint64_t value, target;
	unsigned rd;

	if (!hf_riscv_jump(opcode, xlen, &jump) || !jump.indirect)
		return false;
	if (!hf_riscv_upper(last_opcode, xlen, last_pc, &rd, &value) || rd != jump.rs1)
		return false;
	target = (value + (uint64_t)(int64_t)jump.offset) & ~UINT64_C(1);
	*ret_target = (xlen & HF_RISCV_XLEN) == 32 ? target & UINT32_MAX : target;
	return true;
}

/* Whether the program tells where a jump through a register or a table goes after all. */
static bool is_inferred(const struct hf_walk_rules *rules, const struct hf_program *program,
			const struct hf_ev_insn *insn, uint64_t last_pc, uint32_t last_opcode,
			struct hf_walk_ending *e)
{
	unsigned index;

	/* It has a link register, and no table. */
	if (insn->flow == HF_FLOW_RETURN && !rules->pairs)
		return false;
	if (rules->absolute && hf_riscv_target(insn->opcode, rules->xlen, insn->pc, &e->target))
		return true;
	if (rules->pairs && hf_walk_pair(rules->xlen, last_pc, last_opcode, insn->opcode, &e->target)) {
		e->flags |= HF_WALK_PAIRED;
		return true;
	}
	return hf_riscv_table_jump(insn->opcode, rules->xlen, &index) &&
	       hf_code_size_target(&rules->code_size, program, rules->xlen, index, &e->target);
}

static struct hf_walk_ending riscv(const struct hf_walk_rules *rules, const struct hf_program *program,
				   const struct hf_ev_insn *insn, uint64_t last_pc, uint32_t last_opcode)
{
	struct hf_walk_ending e = {.target = insn->target};

	switch (insn->flow) {
	case HF_FLOW_BRANCH:
		e.end = HF_WALK_BRANCH;
		hf_riscv_target(insn->opcode, rules->xlen, insn->pc, &e.target);
		return e;
	case HF_FLOW_JUMP:
	case HF_FLOW_CALL:
		e.end = HF_WALK_JUMP;
		hf_riscv_target(insn->opcode, rules->xlen, insn->pc, &e.target);
		break;
	case HF_FLOW_INDIRECT_JUMP:
	case HF_FLOW_INDIRECT_CALL:
	case HF_FLOW_RETURN:
	case HF_FLOW_SWAP:
		e.end = is_inferred(rules, program, insn, last_pc, last_opcode, &e) ? HF_WALK_JUMP :
										     HF_WALK_INDIRECT;
		break;
	case HF_FLOW_TRAP_CALL: e.end = HF_WALK_TRAP_CALL; return e;
	case HF_FLOW_TRAP_RETURN: e.end = HF_WALK_TRAP_RETURN; return e;
	default: return e;
	}
	e.flags |= hf_walk_links(rules, insn->opcode, insn->flow);
	if (e.end == HF_WALK_JUMP)
		e.flags &= (uint8_t)~HF_WALK_RETURN;
	return e;
}

static struct hf_walk_ending arm(const struct hf_walk_rules *rules, const struct hf_ev_insn *insn)
{
	const struct hf_arm_class class = hf_arm_classify(insn->opcode, insn->size, insn->isa);
	const bool conditional = class.flags & HF_ARM_CONDITIONAL;
	struct hf_walk_ending e = {.end = HF_WALK_ON};
	unsigned isa = insn->isa;

	if (!(class.flags & HF_ARM_P0) && !(class.flags & HF_ARM_WFX && rules->wfx))
		return e;
	if (hf_arm_target(insn->opcode, insn->size, insn->isa, insn->pc, &e.target, &isa))
		e.end = conditional ? HF_WALK_BRANCH : HF_WALK_JUMP;
	else
		e.end = class.flags & HF_ARM_INDIRECT ? HF_WALK_INDIRECT : HF_WALK_STAY;
	e.flags = (uint8_t)((class.flags & HF_ARM_LINK ? HF_WALK_CALL : 0) | (conditional ? HF_WALK_CONDITIONAL : 0) |
			    (isa == HF_ISA_T32 ? HF_WALK_TO_T32 : 0));
	return e;
}

struct hf_walk_ending hf_walk_ending(const struct hf_walk_rules *rules, const struct hf_program *program,
				     const struct hf_ev_insn *insn, uint64_t last_pc, uint32_t last_opcode)
{
	return rules->xlen ? riscv(rules, program, insn, last_pc, last_opcode) : arm(rules, insn);
}
