/* SPDX-License-Identifier: Apache-2.0 */
/* What a RISC-V instruction accesses in memory, by its opcode: kind, size, how often. */
#ifndef HF_ISA_ACCESS_H
#define HF_ISA_ACCESS_H

#include "codecs/event.h"

enum hf_riscv_access_kind {
	HF_RISCV_NO_ACCESS,
	HF_RISCV_LOAD, /* also load-reserved */
	HF_RISCV_STORE,
	HF_RISCV_STORE_CONDITIONAL,
	HF_RISCV_ATOMIC,
};

struct hf_riscv_access {
	uint8_t kind;  /* enum hf_riscv_access_kind */
	uint8_t size;  /* log2 of bytes, 0 to 4; of many without a limit that of an element */
	bool many;     /* several accesses: vectors, of any size; with a limit all of that size (Zcmp) */
	uint8_t limit; /* of many: the most there may be, 0: any number */
};

/*
 * Of an instruction of size bytes under isa (RV32 or RV64). code_size: the hart has Zcmp, whose encodings are otherwise
 * those of c.fsdsp. Reserved and custom encodings have no access, and none that a register decides (cbo.zero).
 */
struct hf_riscv_access hf_riscv_access(uint32_t opcode, unsigned size, enum hf_isa isa, bool code_size);

/* The sizes in bytes that one access of the instruction can have, OR-ed; 0: the opcode does not say. */
unsigned hf_riscv_access_sizes(uint32_t opcode, unsigned size, enum hf_isa isa);

#endif
