/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A random RISC-V program and a random run through it, as events: every kind of instruction that does something to the
 * flow, traps, and what a trace may say besides. For round trips through packet formats.
 */
#ifndef HF_TEST_RVRUN_H
#define HF_TEST_RVRUN_H

#include "tests/lib/ntracetest.h"

enum hf_run_flags {
	HF_RUN_TRAPS = 1,      /* exceptions, interrupts, returns from them */
	HF_RUN_STOPS = 2,      /* discontinuities and gaps */
	HF_RUN_CONTEXTS = 4,   /* modes, contexts, times */
	HF_RUN_ODD = 8,        /* ecall that retires, custom instructions that jump */
	HF_RUN_ALL = 15,
	HF_RUN_CODE_SIZE = 16, /* Zcmp and Zcmt */
};

/* The jump table of HF_RUN_CODE_SIZE lies behind the code. Some of its entries are zero: jumps through them go anywhere. */
#define HF_RUN_TABLE 0x800
#define HF_RUN_TABLE_MAX (256 * 8)

/* The most bytes of a program. */
#define HF_RUN_CODE_MAX 2000

struct hf_run {
	uint64_t base;  /* of the code; a multiple of 4 KiB that lui can make */
	uint8_t xlen;
	uint8_t code[HF_RUN_CODE_MAX];
	size_t code_size;
	unsigned isa;   /* xlen with HF_RISCV_* */
	uint8_t table[HF_RUN_TABLE_MAX];
	size_t table_size; /* 0: there is none */
	struct hf_ntt_events events;
};

/* insns instructions of a program at base. The same seed gives the same run. */
void hf_run_make(struct hf_run *run, uint64_t base, uint8_t xlen, unsigned flags, size_t insns, uint64_t seed);
void hf_run_free(struct hf_run *run);

#endif
