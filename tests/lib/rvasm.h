/* SPDX-License-Identifier: Apache-2.0 */
/* RISC-V jumps of a given distance in bytes, for programs made by tests; other registers are or-ed in. */
#ifndef HF_TEST_RVASM_H
#define HF_TEST_RVASM_H

#include <stdint.h>

/* beq x0, x0 */
static inline uint32_t hf_rv_beq(int64_t offset)
{
	const uint32_t v = (uint32_t)offset;

	return 0x63 | (v >> 12 & 1) << 31 | (v >> 5 & 63) << 25 | (v >> 1 & 15) << 8 | (v >> 11 & 1) << 7;
}

static inline uint32_t hf_rv_jal(unsigned rd, int64_t offset)
{
	const uint32_t v = (uint32_t)offset;

	return 0x6f | rd << 7 | (v >> 20 & 1) << 31 | (v >> 1 & 1023) << 21 | (v >> 11 & 1) << 20 | (v >> 12 & 255) << 12;
}

static inline uint32_t hf_rv_c_j(int64_t offset)
{
	const uint32_t v = (uint32_t)offset;

	return 0xa001 | (v >> 11 & 1) << 12 | (v >> 4 & 1) << 11 | (v >> 8 & 3) << 9 | (v >> 10 & 1) << 8 |
	       (v >> 6 & 1) << 7 | (v >> 7 & 1) << 6 | (v >> 1 & 7) << 3 | (v >> 5 & 1) << 2;
}

/* c.beqz x8 */
static inline uint32_t hf_rv_c_beqz(int64_t offset)
{
	const uint32_t v = (uint32_t)offset;

	return 0xc001 | (v >> 8 & 1) << 12 | (v >> 3 & 3) << 10 | (v >> 6 & 3) << 5 | (v >> 1 & 3) << 3 | (v >> 5 & 1) << 2;
}

#endif
