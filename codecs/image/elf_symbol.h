/* SPDX-License-Identifier: Apache-2.0 */
/* A symbol as the reader and the writer of ELF files pass it. */
#ifndef HF_IMAGE_ELF_SYMBOL_H
#define HF_IMAGE_ELF_SYMBOL_H

#include <stdbool.h>
#include <stdint.h>

struct hf_elf_symbol {
	uint64_t address;
	uint64_t size;    /* 0 if the file does not say */
	const char *name; /* not empty */
	uint64_t end;     /* of the section it lies in, 0 if it lies in none; not used for writing */
	bool function;    /* else untyped */
	bool indirect;    /* the address is that of code which chooses the function when the program is loaded */
	uint64_t chooser; /* of a stub of such a one: that address; else 0. Neither is used for writing */
	bool local, weak;
	bool old; /* of a version that is there for old programs alone (name@VERSION); not used for writing */
};

#endif
