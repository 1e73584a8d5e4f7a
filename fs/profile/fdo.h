/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of fdo/ are made of: the code of one ELF that a hart executed, by the addresses that it has in the file,
 * wherever it was loaded and however often. Internal to fs/profile/.
 */
#ifndef HF_FS_PROFILE_FDO_H
#define HF_FS_PROFILE_FDO_H

#include "fs/profile/transfers.h"
#include "fs/program/symbol_files.h"

/* [start, end) has that symbol. */
struct hf_fdo_function {
	uint64_t start, end;
	const struct hf_elf_symbol *symbol;
	uint32_t number; /* of a local one among those of its name, from 1, by address; else 0 */
};

struct hf_fdo {
	const struct hf_profiled *of;
	const char *name; /* of the ELF */
	const struct hf_placed_elf *elf;
	const struct hf_object **object; /* places of its code */
	size_t object_count;
	struct hf_elf_symbol_list list;
	struct hf_fdo_function *function; /* by start */
	size_t function_count;
};

/* A text of the ELF that of->about names: of several files of that name the first. What write returns, HF_ERR_NOT_FOUND if
 * there is no such ELF, or the sink's error. */
int hf_fdo_write(const struct hf_profiled *of, struct hf_sink *sink,
		 int (*write)(const struct hf_fdo *fdo, struct hf_sink *sink));
/* Whether that is a place of the ELF which files of this name are about. */
bool hf_fdo_has(const struct hf_profiled *of, const struct hf_object *object);

/* The address that the ELF has for a pc; false: the pc is in none, or in another one. */
bool hf_fdo_address(const struct hf_fdo *fdo, uint64_t pc, uint64_t *ret_address);
/* The function in which an address of the ELF lies, or NULL. */
const struct hf_fdo_function *hf_fdo_function_at(const struct hf_fdo *fdo, uint64_t address);
/* A name as the linker has it, but for control characters, which become "_". escaped: as BOLT reads blanks and backslashes. */
void hf_fdo_put_name(const char *name, size_t size, bool escaped, struct hf_sink *sink);
/* Of a stub of the procedure linkage table the size of the name of what it reaches; of any other function 0. */
size_t hf_fdo_stub(const struct hf_fdo_function *function);

/* Adds a transfer of the hart by the addresses of the ELF, if it begins or ends there; another end becomes
 * HF_PROFILE_ELSEWHERE. named: only what lies in functions counts as in the ELF. */
int hf_fdo_add(const struct hf_fdo *fdo, bool named, const struct hf_transfer *transfer, struct hf_transfers *to);

/* An executed instruction of the ELF. */
struct hf_fdo_insn {
	uint64_t at, count;
	uint8_t size;
	bool begins; /* a basic block (bbv_blocks.h) */
};
struct hf_fdo_code {
	struct hf_fdo_insn *insn; /* by address */
	size_t count;
};
/* To be freed by free() after success. HF_ERR_NOT_FOUND: nothing was executed. */
int hf_fdo_code_find(const struct hf_fdo *fdo, struct hf_fdo_code *ret_code);

/* How many instructions from number first on lie one behind the other within a block, in at most so many bytes. even: all of
 * them were executed equally often. */
size_t hf_fdo_piece(const struct hf_fdo_code *code, size_t first, uint64_t bytes, bool even);

#endif
