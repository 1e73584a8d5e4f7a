/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/ntrace/walk.h"

#include "codecs/base/bytes.h"
#include "codecs/isa/riscv.h"

#include <stdlib.h>

/* Address space for the largest programs; only what is used is ever touched. */
#define BLOCKS_MAX (1u << 15)
/* For each block. */
#define EVENTS 4
#define SLOTS 2

static size_t events_max(const struct hf_blocks *b)
{
	const size_t events = (size_t)b->room * EVENTS, needed = (size_t)b->most * HF_BLOCK_INSNS;

	return events > needed ? events : needed;
}

int hf_blocks_init(struct hf_blocks *b, unsigned xlen, const struct hf_code_size *code_size, bool sequential,
		   uint64_t program_size, uint32_t most)
{
	*b = (struct hf_blocks){.isa = xlen | code_size->extensions, .code_size = *code_size, .sequential = sequential,
				.room = 1, .most = most};
	/* A block may begin at every half word, in more than one mode. */
	while (b->room < BLOCKS_MAX && (b->room < most || b->room < 2 * program_size))
		b->room *= 2;
	b->blocks = malloc(b->room * sizeof *b->blocks);
	b->slots = calloc((size_t)b->room * SLOTS, sizeof *b->slots);
	b->events = malloc(events_max(b) * sizeof *b->events);
	if (b->blocks && b->slots && b->events)
		return 0;
	hf_blocks_fini(b);
	return HF_ERR_NOMEM;
}

void hf_blocks_fini(struct hf_blocks *b)
{
	free(b->blocks);
	free(b->slots);
	free(b->events);
	*b = (struct hf_blocks){0};
}

bool hf_blocks_have_room(const struct hf_blocks *b)
{
	return b->most <= b->room - b->block_count && b->most * HF_BLOCK_INSNS <= events_max(b) - b->event_count;
}

void hf_blocks_reset(struct hf_blocks *b)
{
	b->block_count = 0;
	b->event_count = 0;
	memset(b->slots, 0, (size_t)b->room * SLOTS * sizeof *b->slots);
}

/* Two bytes at pc. */
static bool read_half(const struct hf_program *program, uint64_t pc, uint32_t *ret_half)
{
	uint64_t n;
	const uint8_t *p = hf_program_at(program, pc, &n);

	if (n < 2)
		return false;
	*ret_half = hf_get16(p);
	return true;
}

bool hf_walk_insn(const struct hf_program *program, unsigned isa, uint64_t pc, struct hf_event *ret_insn)
{
	uint32_t opcode, high;
	unsigned size;

	if (!program || !read_half(program, pc, &opcode))
		return false;
	size = hf_riscv_size(opcode);
	if (size == 0)
		return false;
	if (size == 4) {
		if (!read_half(program, pc + 2, &high))
			return false;
		opcode |= high << 16;
	}
	*ret_insn = (struct hf_event){
		.kind = HF_EVENT_INSN,
		.insn = {
			.pc = pc,
			.opcode = opcode,
			.size = (uint8_t)size,
			.isa = (isa & HF_RISCV_XLEN) == 32 ? HF_ISA_RV32 : HF_ISA_RV64,
			.flow = hf_riscv_flow(opcode, isa),
		},
	};
	return true;
}

bool hf_walk_sequential(unsigned isa, uint64_t last_pc, uint32_t last_opcode, uint32_t opcode, uint64_t *ret_target)
{
	struct hf_riscv_jump jump;
	uint64_t value, target;
	unsigned rd;

	if (!hf_riscv_jump(opcode, isa, &jump) || !jump.indirect)
		return false;
	if (!hf_riscv_upper(last_opcode, isa, last_pc, &rd, &value) || rd != jump.rs1)
		return false;
	target = (value + (uint64_t)(int64_t)jump.offset) & ~UINT64_C(1);
	*ret_target = (isa & HF_RISCV_XLEN) == 32 ? target & UINT32_MAX : target;
	return true;
}

static uint8_t end_of_flow(uint8_t flow)
{
	switch (flow) {
	case HF_FLOW_BRANCH: return HF_BLOCK_BRANCH;
	case HF_FLOW_JUMP: return HF_BLOCK_JUMP;
	case HF_FLOW_CALL: return HF_BLOCK_CALL;
	case HF_FLOW_INDIRECT_JUMP: return HF_BLOCK_INDIRECT;
	case HF_FLOW_INDIRECT_CALL: return HF_BLOCK_INDIRECT_CALL;
	case HF_FLOW_RETURN: return HF_BLOCK_RETURN;
	case HF_FLOW_SWAP: return HF_BLOCK_SWAP;
	case HF_FLOW_TRAP_CALL: return HF_BLOCK_TRAP_CALL;
	case HF_FLOW_TRAP_RETURN: return HF_BLOCK_TRAP_RETURN;
	default: return HF_BLOCK_ON;
	}
}

/* cm.jt and cm.jalt are direct jumps where the table is known (2, table of itype). */
static uint8_t end_of_table_jump(const struct hf_blocks *b, const struct hf_program *program, uint32_t opcode,
				 uint8_t end, uint64_t *ret_target)
{
	unsigned index;

	if (!hf_riscv_table_jump(opcode, b->isa, &index) ||
	    !hf_code_size_target(&b->code_size, program, b->isa, index, ret_target))
		return end;
	return end == HF_BLOCK_INDIRECT_CALL ? HF_BLOCK_CALL : HF_BLOCK_JUMP;
}

/* What the block ends with, from its last event; that one gets its target if there is only one. */
static void end_block(const struct hf_blocks *b, const struct hf_program *program, struct hf_block *block,
		      struct hf_event *last)
{
	struct hf_ev_insn *insn = &last->insn;

	block->end = end_of_flow(insn->flow);
	if (block->end == HF_BLOCK_BRANCH || block->end == HF_BLOCK_JUMP || block->end == HF_BLOCK_CALL)
		hf_riscv_target(insn->opcode, b->isa, insn->pc, &block->target);
	if (b->sequential && block->count > 1 && block->end >= HF_BLOCK_INDIRECT && block->end <= HF_BLOCK_SWAP &&
	    hf_walk_sequential(b->isa, last[-1].insn.pc, last[-1].insn.opcode, insn->opcode, &block->target))
		block->end = block->end == HF_BLOCK_INDIRECT_CALL || block->end == HF_BLOCK_SWAP ? HF_BLOCK_SET_CALL :
												   HF_BLOCK_SET_JUMP;
	block->end = end_of_table_jump(b, program, insn->opcode, block->end, &block->target);
	if (block->end >= HF_BLOCK_JUMP && block->end <= HF_BLOCK_SET_CALL) {
		last->flags = HF_EVF_TAKEN;
		insn->target = block->target;
	}
}

/* A pair that makes a sequential jump must not be parted by the limit. */
static bool is_full(const struct hf_blocks *b, const struct hf_block *block, const struct hf_event *last)
{
	unsigned rd;
	uint64_t value;

	if (block->count < HF_BLOCK_INSNS - 1)
		return false;
	return block->count == HF_BLOCK_INSNS || !b->sequential ||
	       hf_riscv_upper(last->insn.opcode, b->isa, last->insn.pc, &rd, &value);
}

static void build(struct hf_blocks *b, const struct hf_program *program, struct hf_block *block)
{
	const uint64_t mask = (b->isa & HF_RISCV_XLEN) == 32 ? UINT32_MAX : UINT64_MAX;
	struct hf_event *ev = &b->events[block->first];

	block->end = HF_BLOCK_NO_CODE;
	block->next = block->pc;
	while (hf_walk_insn(program, b->isa, block->next, &ev[block->count])) {
		struct hf_event *last = &ev[block->count++];

		last->insn.mode = (uint8_t)block->tag;
		block->halfwords += last->insn.size / 2;
		block->next = (block->next + last->insn.size) & mask;
		if (end_of_flow(last->insn.flow) != HF_BLOCK_ON) {
			end_block(b, program, block, last);
			break;
		}
		if (is_full(b, block, last)) {
			block->end = HF_BLOCK_ON;
			break;
		}
	}
}

static uint32_t hash(uint32_t tag, uint64_t pc)
{
	return (uint32_t)(((pc >> 1) ^ (uint64_t)tag << 40) * UINT64_C(0x9e3779b97f4a7c15) >> 48);
}

struct hf_block *hf_blocks_find(struct hf_blocks *b, const struct hf_program *program, uint32_t tag, uint64_t pc)
{
	const uint32_t mask = b->room * SLOTS - 1;
	uint32_t slot = hash(tag, pc) & mask;
	struct hf_block *block;

	for (; b->slots[slot]; slot = (slot + 1) & mask) {
		block = &b->blocks[b->slots[slot] - 1];
		if (block->pc == pc && block->tag == tag)
			return block;
	}
	block = &b->blocks[b->block_count++];
	*block = (struct hf_block){.pc = pc, .tag = tag, .first = b->event_count};
	build(b, program, block);
	b->event_count += block->count;
	b->slots[slot] = b->block_count;
	return block;
}
