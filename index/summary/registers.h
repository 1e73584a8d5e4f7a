/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which chunks write a register, if the source tells registers: needed to find its last definition. As in words.h the
 * chunk is that of the instruction. Writes of attempts are not in it.
 */
#ifndef HF_INDEX_SUMMARY_REGISTERS_H
#define HF_INDEX_SUMMARY_REGISTERS_H

#include "index/summary/chunk_set.h"

/* How the source tells a value. */
enum hf_registers_what {
	HF_REGISTERS_WRITTEN, /* a retired instruction wrote it */
	HF_REGISTERS_STATED,  /* its value after the instruction, whatever wrote it */
};

/* In files: class << this | number. */
#define HF_REGISTERS_NUMBER_BITS 16

/* Called for each register with such values, with the chunks that have them, valid for the call. Any result but 0 ends
 * it. */
typedef int (*hf_registers_fn)(void *ctx, enum hf_registers_what what, uint8_t class, uint16_t number,
			       const struct hf_chunk_set *set);
/* HF_ERR_UNSUPPORTED: the source does not tell registers. Other errors as of hf_words_find. */
int hf_registers_each(struct hf_summary *summary, uint32_t hart, hf_registers_fn fn, void *ctx);
/* The chunks in which the register (class: enum hf_reg_class) has such a value. *ret_set is to be freed. */
int hf_registers_find(struct hf_summary *summary, uint32_t hart, enum hf_registers_what what, uint8_t class,
		      uint16_t number, struct hf_chunk_set *ret_set);

#endif
