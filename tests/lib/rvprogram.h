/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A random RV64 program that never ends, as a workload for long captures: functions with nests of loops that call others
 * below them, streams of loads and stores with strides and at pseudo-random addresses, branches that depend on data,
 * system calls, loads that fault, and a trap handler. tests/lib/rvmachine.h runs it.
 */
#ifndef HF_TEST_RVPROGRAM_H
#define HF_TEST_RVPROGRAM_H

#include <stddef.h>
#include <stdint.h>

#define HF_RVPROGRAM_CODE_MAX (256 * 1024)
/* Of the functions that the endless loop calls, through a table. */
#define HF_RVPROGRAM_ROOTS 64
#define HF_RVPROGRAM_DATA 0x90000000u
#define HF_RVPROGRAM_DATA_SIZE (1u << 20)
/* Register s4 points behind the table and what the handler counts in, which are at these distances from it. */
#define HF_RVPROGRAM_S4 (HF_RVPROGRAM_DATA + 1024)
#define HF_RVPROGRAM_TABLE (-1024)
#define HF_RVPROGRAM_COUNTER (-8)

/* Registers with a meaning of their own. */
enum hf_rv_reg {
	HF_RV_RA = 1, HF_RV_SP = 2, HF_RV_T0 = 5, HF_RV_T1 = 6, HF_RV_T2 = 7, HF_RV_S0 = 8, HF_RV_S1 = 9, HF_RV_A0 = 10,
	HF_RV_STREAM = 18,  /* s2: where a function's stream is */
	HF_RV_RANDOM = 19,  /* s3: the state of the program's pseudo-random numbers, never 0 */
	HF_RV_DATA = 20,    /* s4 */
	HF_RV_MASK = 21,    /* s5: to be and-ed with a random number, an offset into the lower half of the data */
	HF_RV_TRAP0 = 26, HF_RV_TRAP1 = 27, /* s10, s11: the handler's */
};

enum hf_rv_csr {
	HF_RV_MEPC = 0x341,
	HF_RV_MCAUSE = 0x342,
};

struct hf_rvprogram {
	uint64_t base;
	uint64_t entry, handler; /* from handler to the end of the code the mode is M, before it U */
	size_t size;             /* bytes of code */
	uint64_t roots[HF_RVPROGRAM_ROOTS];
	uint8_t code[HF_RVPROGRAM_CODE_MAX];
};

/* The same seed gives the same program. */
void hf_rvprogram_make(struct hf_rvprogram *program, uint64_t seed);
/* An ELF file of it, for the caller to free. */
uint8_t *hf_rvprogram_elf(const struct hf_rvprogram *program, size_t *ret_size);

#endif
