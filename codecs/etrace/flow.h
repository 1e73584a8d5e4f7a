/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program as a decoder walks it: basic blocks, decoded once, that know their successors. A block ends with the
 * first instruction that does anything to the flow.
 */
#ifndef HF_ETRACE_FLOW_H
#define HF_ETRACE_FLOW_H

#include "codecs/etrace/params.h"

/* How the last instruction of a block goes on. */
enum hf_etrace_end {
	HF_ETRACE_END_PLAIN,      /* behind it: the block was only cut there */
	HF_ETRACE_END_BRANCH,
	HF_ETRACE_END_JUMP,       /* to a target that the program tells, a sequentially inferable one included */
	HF_ETRACE_END_INDIRECT,   /* an uninferable jump */
	HF_ETRACE_END_TRAP_RETURN,
	HF_ETRACE_END_TRAP_CALL,  /* ecall, ebreak: behind it, should it retire without a trap */
};

enum hf_etrace_block_flags {
	HF_ETRACE_BLOCK_CALL = 1,   /* pushes a return address */
	HF_ETRACE_BLOCK_RETURN = 2, /* an implicit return if there is a stack */
	HF_ETRACE_BLOCK_KNOWN = 4,  /* INDIRECT: only target can be where it goes, though packets tell it */
};

/* Instructions of a block at most. */
#define HF_ETRACE_BLOCK_MAX 48

struct hf_etrace_block {
	uint64_t pc;      /* of the first instruction, as packets say it */
	uint64_t last;    /* of the last one */
	uint64_t behind;  /* where it ends */
	uint64_t target;  /* BRANCH, JUMP, and with KNOWN */
	struct hf_etrace_block *chain;      /* in its hash slot */
	struct hf_etrace_block *next;       /* at behind, or NULL if not looked up yet */
	struct hf_etrace_block *taken;      /* at target, or (END_INDIRECT) the last target: a guess */
	const struct hf_program *program;
	uint16_t count;
	uint8_t end;      /* enum hf_etrace_end */
	uint8_t flags;
	struct hf_event insn[]; /* INSN events, their mode left at 0 */
};

struct hf_etrace_flow {
	const struct hf_etrace_params *params; /* borrowed */
	const struct hf_program *program;      /* borrowed; may be NULL: no code anywhere */
	bool sijump;
	uint8_t isa;
	unsigned xlen;   /* with the extensions, as codecs/isa/riscv.h wants it */
	uint64_t mask;   /* of addresses in packets */
	uint64_t high;   /* what a negative address has above the mask in the program */
	struct hf_etrace_block **slots; /* 2^slot_bits */
	unsigned slot_bits;
	uint8_t **slabs;
	size_t slab_count, slab_used, used; /* bytes used of the last slab */
};

/* program_size: bytes of all programs (hf_setup_code_size). */
int hf_etrace_flow_init(struct hf_etrace_flow *flow, const struct hf_etrace_params *params, unsigned xlen,
			uint64_t program_size);
void hf_etrace_flow_fini(struct hf_etrace_flow *flow);

/* The program changes, or what blocks depend on. Blocks of other programs are kept; with another sijump, or another
 * width of addresses, all must have been forgotten. */
void hf_etrace_flow_set(struct hf_etrace_flow *flow, const struct hf_program *program, bool sijump);

/* The full form of an address, as the program and events have it. */
static inline uint64_t hf_etrace_full(const struct hf_etrace_flow *flow, uint64_t address)
{
	return flow->high && (address & (flow->mask ^ flow->mask >> 1)) ? address | flow->high : address;
}

/*
 * The block that begins at pc; NULL if there is no code, or, with *ret_full set, no room: then forget all blocks, when
 * nobody uses one any more, and ask again.
 */
struct hf_etrace_block *hf_etrace_flow_block(struct hf_etrace_flow *flow, uint64_t pc, bool *ret_full);
void hf_etrace_flow_forget(struct hf_etrace_flow *flow);

/* The instruction at pc as an event, kind INSN; false if there is none. */
bool hf_etrace_flow_insn(const struct hf_etrace_flow *flow, uint64_t pc, struct hf_event *ret_ev);

#endif
