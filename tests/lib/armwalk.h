/* SPDX-License-Identifier: Apache-2.0 */
/* Random A64, A32 and T32 programs and walks through them, as events that a decoder would give. */
#ifndef HF_TEST_ARMWALK_H
#define HF_TEST_ARMWALK_H

#include "codecs/codec.h"

#define HF_ARMWALK_SLOTS 400
#define HF_ARMWALK_BASE UINT64_C(0x400000)
#define HF_ARMWALK_BYTES (4 * HF_ARMWALK_SLOTS)
#define HF_ARMWALK_EVENTS 16384

enum hf_armwalk_flags {
	HF_ARMWALK_TRAPS = 1,  /* calls, faults and interrupts, one behind the other at times */
	HF_ARMWALK_HOLES = 2,  /* gaps and jumps that nothing explains */
	HF_ARMWALK_IDS = 4,    /* another process now and then */
	HF_ARMWALK_TIMES = 8,
	HF_ARMWALK_DEEP = 16,  /* calls nest deeper than any return stack */
	HF_ARMWALK_PLAIN_RETURNS = 32, /* an ERET is not told as a return from a trap, nor whence */
};

struct hf_armwalk {
	uint64_t base, seed;
	unsigned count; /* instructions of the program */
	uint64_t pc[HF_ARMWALK_SLOTS];
	uint32_t opcode[HF_ARMWALK_SLOTS];
	uint8_t size[HF_ARMWALK_SLOTS], isa[HF_ARMWALK_SLOTS];
	uint8_t code[HF_ARMWALK_BYTES];
	struct hf_event events[HF_ARMWALK_EVENTS];
	size_t event_count;
	/* the walk's own */
	uint32_t stack[64]; /* slots behind calls */
	unsigned depth, mode, flags;
};

/* A program at base: A64 alone, or A32 in its first half and T32 in the second. */
void hf_armwalk_program(struct hf_armwalk *walk, uint64_t base, bool a64, uint64_t seed);
/* So many instructions of it. */
void hf_armwalk_run(struct hf_armwalk *walk, unsigned insns, unsigned flags);

#endif
