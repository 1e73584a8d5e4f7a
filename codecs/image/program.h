/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program that a packet decoder walks through: bytes by address, from ELF files and raw dumps, all of one address
 * space. Where two overlap, the one that was added last has the bytes, and whether they differ is told.
 */
#ifndef HF_IMAGE_PROGRAM_H
#define HF_IMAGE_PROGRAM_H

#include "codecs/source/source.h"

/* The most bytes that one program keeps in memory. */
#define HF_PROGRAM_BYTES_MAX (UINT64_C(256) << 20)

struct hf_program_piece {
	uint64_t address;
	uint64_t size; /* not 0; address + size - 1 does not wrap */
	uint32_t flags; /* enum hf_elf_segment_flags; raw dumps have all */
	uint32_t origin; /* hf_program.origin when it was added */
	const uint8_t *bytes; /* in a block of this program or of another one that outlives it */
};

struct hf_program {
	struct hf_program_piece *pieces; /* sorted by address */
	size_t count;
	uint64_t bytes;   /* in all pieces */
	uint16_t machine; /* e_machine of the first ELF, 0 if none */
	uint8_t xlen;     /* of it, 0 if none */
	uint64_t entry;   /* of it, with its bias */
	/* RISC-V: what one of its ELF files says (elf_riscv.h), the table with its bias */
	uint32_t extensions;
	bool has_jvt;
	uint64_t jvt;
	/* Section .comment of the first ELF that has one, owned; NULL: none has. */
	char *comment;
	size_t comment_size;
	uint8_t **block; /* owned: bytes of pieces */
	size_t block_count;
	uint32_t origin; /* where the next pieces come from, as its user numbers it */
	/* The first place where bytes that were added differ from those that were there, and where those came from. */
	bool differs;
	uint64_t differs_at;
	uint32_t differs_from;
	/* Where else the bytes of an address are looked for, in that order, if this has none there. Neither they nor the array
	 * are owned. */
	const struct hf_program *const *below;
	size_t below_count;
};

static inline void hf_program_init(struct hf_program *program)
{
	*program = (struct hf_program){0};
}

void hf_program_fini(struct hf_program *program);

/*
 * Adds the PT_LOAD segments of an ELF file, moved by bias (modulo 2^64; 2^32 for a 32-bit file), or a dump of memory.
 * Zeros that a file only stands for (.bss) are not in the program. On an error (MISMATCH: segments overlap each other, or
 * it is of another machine; LIMIT) the program is as before. The bytes are read now; src is not needed any more.
 */
int hf_program_add_elf(struct hf_program *program, struct hf_src *src, uint64_t bias, struct hf_diag *diag);
int hf_program_add_raw(struct hf_program *program, struct hf_src *src, uint64_t address, struct hf_diag *diag);

/* Adds the pieces of another program, which outlives this one, moved by bias; errors as above. */
int hf_program_add_program(struct hf_program *program, const struct hf_program *other, uint64_t bias, struct hf_diag *diag);

/* Takes pieces of bytes that outlive it, malloc'ed, sorted and apart, instead of what it had; machine: their e_machine. */
void hf_program_set(struct hf_program *program, struct hf_program_piece *pieces, size_t count, uint16_t machine);

/* The bytes from address on, as many as are there without a gap of one piece: *ret_n; NULL and 0 if there are none. */
const uint8_t *hf_program_at(const struct hf_program *program, uint64_t address, uint64_t *ret_n);

#endif
