/* SPDX-License-Identifier: Apache-2.0 */
/* Small RISC-V ELF files, as a linker makes them: code, .riscv.attributes and perhaps the symbol of a jump table. */
#ifndef HF_TEST_RVELF_H
#define HF_TEST_RVELF_H

#include <stddef.h>
#include <stdint.h>

struct hf_rvelf {
	uint8_t xlen;
	uint64_t base;
	const uint8_t *code; /* of one segment at base */
	size_t code_size;
	const char *arch;    /* NULL: there are no attributes */
	uint64_t jvt;        /* of __jvt_base$; 0: there is no such symbol */
};

/* The file, for the caller to free. */
uint8_t *hf_rvelf_make(const struct hf_rvelf *elf, size_t *ret_size);

#endif
