/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/etrace/flow.h"

#include "codecs/base/bytes.h"
#include "codecs/isa/riscv.h"

#include <stdlib.h>

enum { SLOT_BITS_MIN = 6, SLOT_BITS_MAX = 14 };
#define SLAB (64u << 10)
#define SLABS_MAX 192 /* 12 MiB: some 300,000 instructions */

int hf_etrace_flow_init(struct hf_etrace_flow *flow, const struct hf_etrace_params *params, unsigned xlen,
			uint64_t program_size)
{
	unsigned bits = SLOT_BITS_MIN;

	while (bits < SLOT_BITS_MAX && (uint64_t)1 << bits < program_size / 4)
		bits++;
	*flow = (struct hf_etrace_flow){
		.params = params,
		.sijump = params->modes & HF_ETRACE_SIJUMP,
		.isa = xlen == 32 ? HF_ISA_RV32 : HF_ISA_RV64,
		.xlen = hf_etrace_isa(params, xlen),
		.mask = hf_etrace_address_mask(params),
		.slots = calloc((size_t)1 << bits, sizeof *flow->slots),
		.slot_bits = bits,
		.slabs = calloc(SLABS_MAX, sizeof *flow->slabs),
	};
	if (flow->slabs && flow->slots && (flow->slabs[0] = malloc(SLAB))) {
		flow->slab_count = flow->slab_used = 1;
		return 0;
	}
	hf_etrace_flow_fini(flow);
	return HF_ERR_NOMEM;
}

void hf_etrace_flow_fini(struct hf_etrace_flow *flow)
{
	for (size_t i = 0; i < flow->slab_count; i++)
		free(flow->slabs[i]);
	free(flow->slabs);
	free(flow->slots);
	*flow = (struct hf_etrace_flow){0};
}

void hf_etrace_flow_forget(struct hf_etrace_flow *flow)
{
	memset(flow->slots, 0, sizeof *flow->slots << flow->slot_bits);
	flow->slab_used = 1;
	flow->used = 0;
}

/* Narrow addresses are extended with their sign, unless that is where the program has no code and with zeros it has. */
static uint64_t high_bits(const struct hf_program *program, uint64_t mask)
{
	bool positive = false;

	for (size_t i = 0; program && i < program->count; i++) {
		const struct hf_program_piece *piece = &program->pieces[i];

		if (piece->address >= ~(mask >> 1))
			return ~mask;
		positive |= piece->address <= mask && piece->address + (piece->size - 1) > mask >> 1;
	}
	return positive ? 0 : ~mask;
}

void hf_etrace_flow_set(struct hf_etrace_flow *flow, const struct hf_program *program, bool sijump)
{
	flow->program = program;
	flow->sijump = sijump;
	flow->high = flow->xlen > flow->params->iaddress_width ? high_bits(program, flow->mask) : 0;
}

/* ---- one instruction ---- */

/* The instruction's bytes; it may lie across two pieces. 0 bytes: no code, or none that has a length. */
static unsigned fetch(const struct hf_etrace_flow *flow, uint64_t pc, uint32_t *ret_opcode)
{
	uint64_t n = 0;
	const uint8_t *p = flow->program ? hf_program_at(flow->program, pc, &n) : NULL;
	unsigned size;

	if (!p || n < 2)
		return 0;
	*ret_opcode = hf_get16(p);
	size = hf_riscv_size(*ret_opcode);
	if (size < 4)
		return size;
	if (n < 4) {
		p = hf_program_at(flow->program, pc + 2, &n);
		if (!p || n < 2)
			return 0;
		*ret_opcode |= (uint32_t)hf_get16(p) << 16;
	} else {
		*ret_opcode = hf_get32(p);
	}
	return size;
}

bool hf_etrace_flow_insn(const struct hf_etrace_flow *flow, uint64_t pc, struct hf_event *ret_ev)
{
	const uint64_t full = hf_etrace_full(flow, pc);
	uint32_t opcode;
	const unsigned size = fetch(flow, full, &opcode);

	if (!size)
		return false;
	*ret_ev = (struct hf_event){.kind = HF_EVENT_INSN, .insn = {
		.pc = full,
		.opcode = opcode,
		.size = (uint8_t)size,
		.isa = flow->isa,
		.flow = hf_riscv_flow(opcode, flow->xlen),
	}};
	return true;
}

/* ---- blocks ---- */

/* Whether a jump pushes or pops, by the calling convention that encoder and decoder agreed on (4.1.1). */
static uint8_t convention(const struct hf_etrace_flow *flow, const struct hf_riscv_jump *jump)
{
	const bool link = jump->rd == 1 || (flow->params->link_x5 && jump->rd == 5);

	if (!flow->params->link_x5)
		return link ? HF_ETRACE_BLOCK_CALL :
		       jump->indirect && jump->rd == 0 && jump->rs1 == 1 ? HF_ETRACE_BLOCK_RETURN : 0;
	if (!jump->indirect || (jump->rs1 != 1 && jump->rs1 != 5))
		return link ? HF_ETRACE_BLOCK_CALL : 0;
	if (!link)
		return HF_ETRACE_BLOCK_RETURN;
	return jump->rs1 == jump->rd ? HF_ETRACE_BLOCK_CALL : 0; /* else a co-routine swap */
}

/* Zcmp and Zcmt have no registers to ask for. */
static void end_indirect(const struct hf_etrace_flow *flow, struct hf_etrace_block *b, const struct hf_event *insn,
			 const struct hf_event *before)
{
	struct hf_riscv_jump jump;
	uint64_t value;
	unsigned rd;

	b->end = HF_ETRACE_END_INDIRECT;
	if (!hf_riscv_jump(insn->insn.opcode, flow->xlen, &jump)) {
		b->flags = insn->insn.flow == HF_FLOW_RETURN ? HF_ETRACE_BLOCK_RETURN :
			   insn->insn.flow == HF_FLOW_INDIRECT_CALL ? HF_ETRACE_BLOCK_CALL : 0;
		return;
	}
	b->flags = convention(flow, &jump);
	if (jump.rs1 == 0) {
		b->end = HF_ETRACE_END_JUMP;
		b->target = (uint64_t)(int64_t)jump.offset & ~UINT64_C(1) & flow->mask;
	} else if (before && before->insn.pc + before->insn.size == insn->insn.pc &&
		   hf_riscv_upper(before->insn.opcode, flow->xlen, before->insn.pc, &rd, &value) && rd == jump.rs1) {
		b->end = flow->sijump ? HF_ETRACE_END_JUMP : HF_ETRACE_END_INDIRECT;
		b->target = (value + (uint64_t)(int64_t)jump.offset) & ~UINT64_C(1) & flow->mask;
		b->flags |= HF_ETRACE_BLOCK_KNOWN;
	}
	if (b->end == HF_ETRACE_END_JUMP)
		b->flags &= HF_ETRACE_BLOCK_CALL;
}

/* Whether insn, behind before (NULL: at the start), ends the block, and how. */
static bool ends(const struct hf_etrace_flow *flow, struct hf_etrace_block *b, const struct hf_event *insn,
		 const struct hf_event *before)
{
	struct hf_riscv_jump jump;

	switch (insn->insn.flow) {
	case HF_FLOW_BRANCH:
		b->end = HF_ETRACE_END_BRANCH;
		break;
	case HF_FLOW_JUMP:
	case HF_FLOW_CALL:
		b->end = HF_ETRACE_END_JUMP;
		if (hf_riscv_jump(insn->insn.opcode, flow->xlen, &jump))
			b->flags = convention(flow, &jump);
		break;
	case HF_FLOW_INDIRECT_JUMP:
	case HF_FLOW_INDIRECT_CALL:
	case HF_FLOW_RETURN:
	case HF_FLOW_SWAP:
		end_indirect(flow, b, insn, before);
		return true;
	case HF_FLOW_TRAP_CALL:
		b->end = HF_ETRACE_END_TRAP_CALL;
		return true;
	case HF_FLOW_TRAP_RETURN:
		b->end = HF_ETRACE_END_TRAP_RETURN;
		return true;
	default:
		return false;
	}
	if (hf_riscv_target(insn->insn.opcode, flow->xlen, insn->insn.pc, &b->target))
		b->target &= flow->mask;
	return true;
}

/* Room for the longest block, or NULL. */
static struct hf_etrace_block *room(struct hf_etrace_flow *flow)
{
	const size_t size = sizeof(struct hf_etrace_block) + HF_ETRACE_BLOCK_MAX * sizeof(struct hf_event);

	if (flow->used + size > SLAB) {
		if (flow->slab_used == flow->slab_count && flow->slab_count < SLABS_MAX &&
		    (flow->slabs[flow->slab_count] = malloc(SLAB)))
			flow->slab_count++;
		if (flow->slab_used == flow->slab_count)
			return NULL;
		flow->slab_used++;
		flow->used = 0;
	}
	return (struct hf_etrace_block *)(void *)(flow->slabs[flow->slab_used - 1] + flow->used);
}

static unsigned slot_of(const struct hf_etrace_flow *flow, uint64_t pc)
{
	const uint64_t key = (pc >> 1) + ((uintptr_t)flow->program >> 4);

	return (unsigned)(key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - flow->slot_bits));
}

static bool is_upper(const struct hf_etrace_flow *flow, const struct hf_event *insn)
{
	unsigned rd;
	uint64_t value;

	return hf_riscv_upper(insn->insn.opcode, flow->xlen, insn->insn.pc, &rd, &value);
}

static struct hf_etrace_block *build(struct hf_etrace_flow *flow, uint64_t pc, bool *ret_full)
{
	struct hf_etrace_block *b = room(flow);
	uint64_t at = pc;
	bool ended = false;

	*ret_full = !b;
	if (!b)
		return NULL;
	*b = (struct hf_etrace_block){.pc = pc, .program = flow->program};
	while (!ended && b->count < HF_ETRACE_BLOCK_MAX && hf_etrace_flow_insn(flow, at, &b->insn[b->count])) {
		const struct hf_event *insn = &b->insn[b->count];

		ended = ends(flow, b, insn, b->count ? insn - 1 : NULL);
		at = (at + insn->insn.size) & flow->mask;
		b->count++;
	}
	/* A lui must not be parted from the jump behind it. */
	if (b->count == HF_ETRACE_BLOCK_MAX && !ended && is_upper(flow, &b->insn[b->count - 1])) {
		b->count--;
		at = (at - b->insn[b->count].insn.size) & flow->mask;
	}
	if (!b->count)
		return NULL;
	b->behind = at;
	b->last = (at - b->insn[b->count - 1].insn.size) & flow->mask;
	flow->used += sizeof *b + b->count * sizeof *b->insn;
	return b;
}

struct hf_etrace_block *hf_etrace_flow_block(struct hf_etrace_flow *flow, uint64_t pc, bool *ret_full)
{
	struct hf_etrace_block **slot = &flow->slots[slot_of(flow, pc)], *b;

	*ret_full = false;
	for (b = *slot; b; b = b->chain)
		if (b->pc == pc && b->program == flow->program)
			return b;
	b = build(flow, pc, ret_full);
	if (!b)
		return NULL;
	b->chain = *slot;
	*slot = b;
	return b;
}
