/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LLVM's C API behind a table: its library is large, and is loaded by those who disassemble, when they first do: as
 * hartfs_llvm.so, which has only what is needed, and where that is missing as LLVM's own library. With
 * HARTFS_LLVM=shared or static it is a part of the program instead, and loading cannot fail.
 */
#ifndef HF_ISA_LLVM_H
#define HF_ISA_LLVM_H

#include <llvm-c/Core.h>
#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>
#include <llvm/Config/llvm-config.h>

struct hf_llvm {
#define HF_LLVM(function) __typeof__(function) *function;
#include "codecs/isa/llvm.def"
};

/*
 * The table, filled and LLVM's registries with it, which are global and not guarded: the first call is made while there
 * is one thread. It never changes then. NULL if the library cannot be loaded.
 */
const struct hf_llvm *hf_llvm_load(void);

/* Before that: nobody will need it. hf_llvm_load then returns NULL, and there is no error. */
void hf_llvm_leave(void);

/* Why hf_llvm_load returned NULL, else NULL. For good. */
const char *hf_llvm_error(void);

/* "LLVM 19.1.7": of the library, or before it is loaded of the headers. */
const char *hf_llvm_version(void);

#endif
