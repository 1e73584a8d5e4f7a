/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an instruction means to who walks over the program: whether it ends a block, where the flow goes on, and what
 * it does to the return stack, by the rules that a trace unit and its readers agreed on.
 */
#ifndef HF_WALK_ENDING_H
#define HF_WALK_ENDING_H

#include "codecs/event.h"
#include "codecs/setup/code_size.h"

/* What the last instruction of a block does. */
enum hf_walk_end {
	HF_WALK_ON,          /* nothing: the block was long enough; go on at next */
	HF_WALK_BRANCH,      /* conditional, to target or on at next */
	HF_WALK_JUMP,        /* to a target that the program tells */
	HF_WALK_INDIRECT,    /* nobody but the trace tells where */
	HF_WALK_TRAP_CALL,   /* RISC-V: ecall, ebreak; on at next, should it retire */
	HF_WALK_TRAP_RETURN, /* RISC-V */
	HF_WALK_STAY,        /* Arm: an atom tells that it was executed; on at next */
	HF_WALK_NO_CODE,     /* at next, behind the last instruction, there is none that could execute */
	HF_WALK_ENDS
};

enum hf_walk_flags {
	HF_WALK_CALL = 1,        /* keeps next as a return address */
	HF_WALK_RETURN = 2,      /* goes to where the newest call came from; with CALL: returns, then calls */
	HF_WALK_PAIRED = 4,      /* RISC-V: jumps through a register that the instruction right before it set */
	HF_WALK_CONDITIONAL = 8, /* Arm: may fail its condition */
	HF_WALK_TO_T32 = 16,     /* Arm: target is T32 code */
	HF_WALK_KNOWN = 32,      /* RISC-V, INDIRECT: only target can be where it goes, though the trace tells it */
};

struct hf_walk_rules {
	/* RISC-V */
	unsigned xlen;                 /* 32 or 64, with HF_RISCV_*; 0: Arm */
	struct hf_code_size code_size; /* where the table is that jumps through it use, if readers know it */
	bool pairs;                    /* a jump through a register that the instruction before it sets is inferred */
	bool absolute;                 /* so is one through x0 */
	bool x1_alone;                 /* x5 is no link register */
	bool swaps;                    /* a jump that returns and calls is both to the return stack; else neither */
	/* Arm */
	bool wfx;                      /* WFI and WFE have atoms */
};

/* Where the RISC-V jump with that opcode goes if the instruction right before it, at last_pc, set its register to a
 * constant. False if it did not. */
bool hf_walk_pair(unsigned xlen, uint64_t last_pc, uint32_t last_opcode, uint32_t opcode, uint64_t *ret_target);

struct hf_walk_ending {
	uint64_t target;
	uint8_t end;   /* ON: this instruction ends no block */
	uint8_t flags;
};

/*
 * insn as it ends a block, right behind last_opcode (0: that is not known) at last_pc. program has the jump table, if
 * one is known. insn's own target counts where its opcode tells none.
 */
struct hf_walk_ending hf_walk_ending(const struct hf_walk_rules *rules, const struct hf_program *program,
				     const struct hf_ev_insn *insn, uint64_t last_pc, uint32_t last_opcode);

/* HF_WALK_CALL and HF_WALK_RETURN of a RISC-V jump. */
uint8_t hf_walk_links(const struct hf_walk_rules *rules, uint32_t opcode, uint8_t flow);

#endif
