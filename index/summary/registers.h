/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which chunks write a register, where the source tells of registers: what is needed to find its last definition. A
 * chunk is that of the instruction, as in words.h. What an attempt wrote did not retire, and is not here.
 */
#ifndef HF_INDEX_SUMMARY_REGISTERS_H
#define HF_INDEX_SUMMARY_REGISTERS_H

#include "index/summary/chunk_set.h"

/* How the source tells a value. */
enum hf_registers_what {
	HF_REGISTERS_WRITTEN, /* an instruction that retired wrote it */
	HF_REGISTERS_STATED,  /* it is as it is after the instruction, whoever wrote it */
};

/* Of what a register is called in a file: class << this | number. */
#define HF_REGISTERS_NUMBER_BITS 16

/* Hears of every register that the hart has such values of, and of the chunks in which it has, valid for the call. A
 * positive number ends it, a negative error too. */
typedef int (*hf_registers_fn)(void *ctx, enum hf_registers_what what, uint8_t class, uint16_t number,
			       const struct hf_chunk_set *set);
/* HF_ERR_UNSUPPORTED: the source does not tell of registers. Other errors as of hf_words_find. */
int hf_registers_each(struct hf_summary *summary, uint32_t hart, hf_registers_fn fn, void *ctx);

#endif
