/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a RISC-V ELF says of the harts that it is for: the code-size extensions, whose encodings a hart with D uses
 * otherwise, and the table that Zcmt jumps through.
 */
#ifndef HF_IMAGE_ELF_RISCV_H
#define HF_IMAGE_ELF_RISCV_H

#include "codecs/image/elf_read.h"

struct hf_elf_riscv {
	uint32_t extensions; /* HF_RISCV_ZCMP and the like of codecs/isa/riscv.h: the arch string has them */
	bool has_jvt;
	uint64_t jvt;        /* of the symbol __jvt_base$, where linkers place the table; a multiple of 64 */
};

/*
 * Looks at .riscv.attributes (psABI, "Attributes") and, unless these say that there is no Zcmt, at the symbols. A file
 * that has neither, or of which they are damaged, says nothing: only HF_ERR_NOMEM and failures to read are errors.
 */
int hf_elf_file_riscv(const struct hf_elf_file *file, struct hf_elf_riscv *ret_riscv, struct hf_diag *diag);

/* The extensions of an arch string of n bytes, as "rv32i2p1_c2p0_zcmp1p0". Zce stands for both. */
uint32_t hf_riscv_arch_extensions(const char *arch, size_t n);

#endif
