/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that the architectures give to numbers: control and status registers, trap causes, instruction sets. For
 * views that people read.
 */
#ifndef HF_ISA_NAMES_H
#define HF_ISA_NAMES_H

#include "codecs/event.h"

/* len 0: the number has no name. */
struct hf_csr {
	uint8_t len;
	char name[15]; /* not terminated */
};

extern const struct hf_csr hf_csrs[4096];

/* "illegal instruction", or NULL. arm: the numbers are those of Arm and not of RISC-V. All are below HF_TRAP_M_END. */
const char *hf_cause_name(bool arm, bool interrupt, uint64_t cause);

/* "RV64", "T32"; "?" if it is none. */
const char *hf_isa_name(unsigned isa);

#endif
