/* SPDX-License-Identifier: Apache-2.0 */
/* What an instruction accesses, by its opcode: how accesses of the data trace and instructions find each other. */
#ifndef HF_ETRACE_EXPECTATION_H
#define HF_ETRACE_EXPECTATION_H

#include "codecs/etrace/data.h"

struct hf_etrace_expectation {
	bool expects;   /* it accesses something that has packets */
	bool many;      /* vectors: as many accesses as there are, of any size; Zcmp */
	uint8_t limit;  /* of many: no more than so many, of that size; 0: any */
	bool optional;  /* it may well do without: a store-conditional, an atomic where these have no packets */
	uint8_t kind;   /* enum hf_etrace_access_kind */
	uint8_t size;   /* log2 of bytes */
	uint8_t subtype; /* enum hf_etrace_atomic, HF_ETRACE_ATOMICS if no packet has it; of a CSR access */
	uint8_t source; /* register with the operand of an atomic or CSR access */
	bool immediate; /* no register: source itself is the operand */
	uint16_t csr;
};

/* expects is false, too, where these parameters have no packet for it. */
struct hf_etrace_expectation hf_etrace_expect(const struct hf_etrace_params *params, const struct hf_ev_insn *insn);

/* Whether this access can be the next of such an instruction. */
bool hf_etrace_expect_takes(const struct hf_etrace_expectation *x, const struct hf_etrace_access *access);
/*
 * An atomic may be told as a load and a store. Where a trace leaves atomics out, a load is the next instruction's: so both
 * are its own only if the store is right behind the load and of the same address and size.
 */
bool hf_etrace_expect_takes_two(const struct hf_etrace_expectation *x, const struct hf_etrace_access *load,
			      const struct hf_etrace_access *store);
/* Whether there is a store with which it takes that load. */
bool hf_etrace_expect_may_take_two(const struct hf_etrace_expectation *x, const struct hf_etrace_access *load);

/* What an atomic of size (log2 of bytes) leaves in memory; false if its opcode does not say. */
bool hf_etrace_atomic_result(uint32_t opcode, unsigned size, uint64_t old, uint64_t operand, uint64_t *ret_new);
/* The operand of an atomic that made new of old, if there is only one. */
bool hf_etrace_atomic_operand(uint32_t opcode, uint64_t old, uint64_t new, uint64_t *ret_operand);

#endif
