/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executions for the tests of the RISC-V packet codecs: from the reference flow's CSV
 * (VALID,ADDRESS,INSN,PRIVILEGE,EXCEPTION,ECAUSE,TVAL,INTERRUPT) to the events that a decoder would give.
 */
#ifndef HF_TEST_RVTRACE_H
#define HF_TEST_RVTRACE_H

#include "codecs/codec.h"

struct hf_rvtrace {
	struct hf_event *events; /* owned */
	size_t count, room;
	size_t retired;
	unsigned isa;            /* xlen and HF_RISCV_*, by which instructions are classified */
	struct hf_stream stream; /* as encoders want it */
};

enum hf_rvtrace_flags {
	HF_RVTRACE_ECALL_RETIRES = 1, /* ecall and ebreak retire and trap then */
	HF_RVTRACE_TVAL8 = 2,         /* tval is cut to its low byte */
	HF_RVTRACE_ECAUSE8 = 4,
};

/* Reads all of a file; of one that is compressed with xz, the first most bytes. NULL if it does not exist. Free it. */
char *hf_rvtrace_read_file(const char *path, size_t most, size_t *ret_size);

/* text is the CSV, with its head line. */
void hf_rvtrace_parse(struct hf_rvtrace *trace, const char *text, unsigned xlen, unsigned flags);
/* One event more; the retired instructions count. */
struct hf_event *hf_rvtrace_add(struct hf_rvtrace *trace, struct hf_event ev);
/* The same, as it is. */
void hf_rvtrace_append(struct hf_rvtrace *trace, const struct hf_event *ev);
/* A retired instruction, classified; its target is found when the next one is added. */
void hf_rvtrace_insn(struct hf_rvtrace *trace, uint64_t pc, uint32_t opcode, unsigned mode);
/* isa: xlen, or with HF_RISCV_ZCMP and HF_RISCV_ZCMT. */
void hf_rvtrace_init(struct hf_rvtrace *trace, unsigned isa);
void hf_rvtrace_fini(struct hf_rvtrace *trace);

#endif
