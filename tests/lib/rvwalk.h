/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random RISC-V programs and random walks through them: code with every kind of jump, and an execution in which
 * branches, indirect jumps, returns, traps and losses go anywhere. No simulator: registers have no values.
 */
#ifndef HF_TEST_RVWALK_H
#define HF_TEST_RVWALK_H

#include "tests/lib/rvtrace.h"

#define HF_RVWALK_INSNS 600

struct hf_rvwalk {
	uint64_t base;
	unsigned xlen, isa; /* isa: with HF_RISCV_* */
	unsigned count;
	uint32_t at[HF_RVWALK_INSNS + 1]; /* offset of each instruction */
	uint8_t code[4 * HF_RVWALK_INSNS];
	uint64_t random;
};

enum hf_rvwalk_flags {
	HF_RVWALK_TRAPS = 1,
	HF_RVWALK_DOUBLE = 2, /* handlers whose first instruction traps */
	HF_RVWALK_HOLES = 4,  /* gaps and discontinuities */
	HF_RVWALK_MEM = 8,    /* accesses of loads and stores */
	HF_RVWALK_MODES = 16,
	HF_RVWALK_CONTEXTS = 32, /* processes come and go, and time passes */
};

uint32_t hf_rvwalk_random(struct hf_rvwalk *walk, uint32_t below);
/* isa: xlen, or with HF_RISCV_ZCMP and HF_RISCV_ZCMT, whose instructions are then among the others. */
void hf_rvwalk_program(struct hf_rvwalk *walk, uint64_t base, unsigned isa, uint64_t seed);
/* trace is initialised; n retired instructions. */
void hf_rvwalk_run(struct hf_rvwalk *walk, struct hf_rvtrace *trace, size_t n, unsigned flags);

#endif
