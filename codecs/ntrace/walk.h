/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program as a packet decoder walks it: decoded stretches of instructions ("blocks") up to the next one that
 * does anything to the flow, with the events they will become. A cache: what it holds never changes what comes out.
 */
#ifndef HF_NTRACE_WALK_H
#define HF_NTRACE_WALK_H

#include "codecs/event.h"
#include "codecs/setup/code_size.h"

/* What the last instruction of a block does. */
enum hf_block_end {
	HF_BLOCK_ON,          /* nothing: the block was long enough; go on at next */
	HF_BLOCK_BRANCH,      /* conditional, to target or on at next */
	HF_BLOCK_JUMP,        /* direct or through a table that is known, to target */
	HF_BLOCK_CALL,        /* the same, and next is where it returns to */
	HF_BLOCK_SET_JUMP,    /* through a register that the instruction before it set, to target */
	HF_BLOCK_SET_CALL,
	HF_BLOCK_INDIRECT,
	HF_BLOCK_INDIRECT_CALL,
	HF_BLOCK_RETURN,
	HF_BLOCK_SWAP,        /* return and call */
	HF_BLOCK_TRAP_CALL,   /* ecall, ebreak: does not retire, unless the trace says otherwise */
	HF_BLOCK_TRAP_RETURN,
	HF_BLOCK_NO_CODE,     /* behind the last instruction, at next, there is none that could execute */
};

/* The most instructions of a block. */
#define HF_BLOCK_INSNS 64

struct hf_block {
	uint64_t pc;
	uint64_t next;         /* behind the last instruction */
	uint64_t target;
	uint32_t first;        /* event of its first instruction */
	uint32_t successor[2]; /* 1 + index of the block at next, at target; 0 if not known yet */
	uint32_t tag;
	uint16_t halfwords;    /* of all its instructions */
	uint8_t count;         /* instructions; 0 only of NO_CODE */
	uint8_t end;           /* enum hf_block_end */
};

struct hf_blocks {
	unsigned isa;          /* xlen and HF_RISCV_* */
	struct hf_code_size code_size;
	bool sequential;       /* SET_JUMP, SET_CALL are told apart from indirect ones */
	struct hf_block *blocks;
	uint32_t *slots;       /* hash table: 1 + index of a block */
	struct hf_event *events;
	uint32_t room;         /* blocks, a power of two */
	uint32_t most;         /* of these that are asked for at a time */
	uint32_t block_count, event_count;
};

/* program_size: bytes of all programs (hf_setup_code_size); most: blocks that are asked for at a time, at
 * most 2^15. HF_ERR_NOMEM. */
int hf_blocks_init(struct hf_blocks *b, unsigned xlen, const struct hf_code_size *code_size, bool sequential,
		   uint64_t program_size, uint32_t most);
void hf_blocks_fini(struct hf_blocks *b);

/* Whether the most blocks can be asked for before the cache must be emptied, which invalidates all of them. */
bool hf_blocks_have_room(const struct hf_blocks *b);
void hf_blocks_reset(struct hf_blocks *b);

/*
 * The block of program that begins at pc. Tags tell programs and modes apart: their low byte is the mode of the
 * events, the same tag must mean the same program. program may be NULL.
 */
struct hf_block *hf_blocks_find(struct hf_blocks *b, const struct hf_program *program, uint32_t tag, uint64_t pc);

/* The block at from's next (way 0) or target (way 1). */
static inline struct hf_block *hf_blocks_follow(struct hf_blocks *b, const struct hf_program *program,
						struct hf_block *from, unsigned way)
{
	struct hf_block *to;

	if (from->successor[way])
		return &b->blocks[from->successor[way] - 1];
	to = hf_blocks_find(b, program, from->tag, way ? from->target : from->next);
	from->successor[way] = (uint32_t)(to - b->blocks) + 1;
	return to;
}

static inline const struct hf_event *hf_blocks_events(const struct hf_blocks *b, const struct hf_block *block)
{
	return &b->events[block->first];
}

/* The instruction at pc as an event, without what it does to the flow: false if there is none. */
bool hf_walk_insn(const struct hf_program *program, unsigned isa, uint64_t pc, struct hf_event *ret_insn);

/* Where insn goes if the instruction right before it, at last_pc, set its register to a constant (9.1). */
bool hf_walk_sequential(unsigned isa, uint64_t last_pc, uint32_t last_opcode, uint32_t opcode, uint64_t *ret_target);

#endif
