/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program as a packet decoder walks it: blocks, decoded once, which are stretches of instructions up to the next
 * one that may change the flow. A cache: what it holds never changes what comes out.
 */
#ifndef HF_WALK_BLOCK_H
#define HF_WALK_BLOCK_H

#include "codecs/image/program.h"
#include "codecs/walk/ending.h"

/* The most instructions of a block; longer stretches are several blocks. */
#define HF_WALK_BLOCK_MAX 64

struct hf_walk_block {
	uint64_t pc;     /* of the first instruction */
	uint64_t last;   /* of the last one */
	uint64_t next;   /* behind the last one */
	uint64_t target; /* of BRANCH, JUMP; of INDIRECT it is the walker's own to use */
	struct hf_walk_block *chain;   /* in its slot of the hash table */
	struct hf_walk_block *link[2]; /* the blocks at next and at target; NULL: not looked up yet */
	const struct hf_program *program;
	uint8_t isa, mode;             /* as in the events */
	uint8_t end;                   /* enum hf_walk_end */
	uint8_t flags;                 /* enum hf_walk_flags */
	uint8_t halfwords;             /* of all its instructions */
	uint8_t count;                 /* instructions; 0 only of NO_CODE */
	uint8_t it, next_it;           /* T32: ITSTATE at pc and at next, as far as it is known */
	struct hf_event insn[];        /* INSN; one that always goes to target has TAKEN and the target */
};

struct hf_walk_blocks {
	struct hf_walk_rules rules; /* may change behind a reset */
	/* Where and what is looked up. Blocks of other programs, isas and modes are kept. */
	const struct hf_program *program; /* borrowed; NULL: no code anywhere */
	uint64_t mask;     /* of addresses in packets, which walks use */
	uint64_t high;     /* what an address whose highest bit in mask is set has above mask in the program */
	uint8_t isa, mode; /* of the events */
	uint8_t it;        /* T32: ITSTATE where a block begins; 0: in no IT block, or that is not known */
	/* own */
	struct hf_walk_block **slots; /* hash table of 2^slot_bits */
	uint8_t *arena;               /* the blocks, one behind the other */
	size_t used, size;
	unsigned slot_bits;
};

/*
 * program_size: bytes of all programs (hf_setup_code_size). at_a_time: the most blocks that are made between two
 * questions for room. The walker sets program, mask, high, isa, mode and it. HF_ERR_NOMEM; fini in any case.
 */
int hf_walk_blocks_init(struct hf_walk_blocks *w, const struct hf_walk_rules *rules, uint64_t program_size,
			unsigned at_a_time);
void hf_walk_blocks_fini(struct hf_walk_blocks *w);

/* Whether that many blocks more can be made before the cache must be emptied, which invalidates all of them. */
bool hf_walk_blocks_have_room(const struct hf_walk_blocks *w, unsigned count);
void hf_walk_blocks_reset(struct hf_walk_blocks *w);

/* The full form of an address, as the program and events have it. */
static inline uint64_t hf_walk_full(const struct hf_walk_blocks *w, uint64_t address)
{
	return w->high && (address & (w->mask ^ w->mask >> 1)) ? address | w->high : address;
}

/* The block that begins at pc, without instructions if there is no code. There must be room for one. */
struct hf_walk_block *hf_walk_find(struct hf_walk_blocks *w, uint64_t pc);

/* The block behind the last instruction of from (way 0) or at its target (way 1), where what is looked up has not
 * changed since from was found. */
static inline struct hf_walk_block *hf_walk_follow(struct hf_walk_blocks *w, struct hf_walk_block *from, unsigned way)
{
	if (!from->link[way])
		from->link[way] = hf_walk_find(w, way ? from->target : from->next);
	return from->link[way];
}

/* The instruction at pc as an event; false if there is none. */
bool hf_walk_insn(const struct hf_walk_blocks *w, uint64_t pc, struct hf_event *ret_insn);

#endif
