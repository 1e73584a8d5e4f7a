/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opcodes as text, by LLVM's disassembler behind a memo: a trace repeats few opcodes many times, so that formatting
 * one is two small copies. The text does not depend on where the instruction lies: pc-relative operands are printed
 * as the distance ("bne a4, a5, 44").
 *
 * A text is the two listing fields "opcode disassembly": 4 or 8 hex digits, blanks up to column 9, mnemonic, one
 * blank, operands. What LLVM does not know is "unknown". RISC-V is disassembled with D and without Zcmp and Zcmt,
 * so their common encodings are c.fsdsp, unless HF_DISASM_CODE_SIZE is given with the instruction set; T32 without the
 * condition that an IT instruction before may add, unless hf_disasm_size has it.
 */
#ifndef HF_ISA_DISASM_H
#define HF_ISA_DISASM_H

#include "codecs/base/bytes.h"
#include "codecs/isa/listed_lines.h"
#include "codecs/isa/riscv.h"

/* Bytes written by hf_disasm_put at most, and the width to which texts are filled with blanks. */
#define HF_DISASM_ROOM 256
#define HF_DISASM_WIDTH 32

/* The memo is a hash table with linear probing; it is emptied when it has this many texts. */
#define HF_DISASM_SLOT_BITS 15
#define HF_DISASM_SLOTS (1u << HF_DISASM_SLOT_BITS)
#define HF_DISASM_LIMIT (HF_DISASM_SLOTS / 4 * 3)

#define HF_DISASM_HEAD 56
#define HF_DISASM_TAIL 200 /* A32 can name 32 registers in one instruction */

/*
 * To be OR-ed to HF_ISA_RV32 or HF_ISA_RV64 for what hf_riscv_is_code_size says is one of those, on a hart that has
 * them. No effect with LLVM before 19.
 */
#define HF_DISASM_CODE_SIZE 0x40u
/* The same for all opcodes, on a hart with Zfinx or its kin. */
#define HF_DISASM_ZFINX 0x20u
/* To be OR-ed to HF_ISA_T32 on an M core; without it what no other profile has is tried as its as well. */
#define HF_DISASM_M 0x10u

/* isa with what is to be OR-ed to it of an opcode, on a hart that has these extensions: HF_RISCV_ZCMP and so on. */
static inline unsigned hf_disasm_isa(unsigned isa, uint32_t opcode, uint32_t extensions)
{
	if (extensions & (HF_RISCV_ZCMP | HF_RISCV_ZCMT) && hf_riscv_is_code_size(opcode))
		return isa | HF_DISASM_CODE_SIZE;
	return isa | (extensions & HF_RISCV_ZFINX ? HF_DISASM_ZFINX : 0);
}

/* size with what is to be OR-ed to it of a T32 instruction in an IT block (ITSTATE it): its condition. */
static inline unsigned hf_disasm_size(unsigned size, unsigned it)
{
	return it && it >> 4 < 14 ? size | (1 + (it >> 4)) << 3 : size;
}

/* One cache line. The rest of a text longer than HF_DISASM_HEAD, which RISC-V does not have, is in tails. */
struct hf_disasm_slot {
	uint64_t key;                 /* opcode, isa, size; length of the text in the top 16 bits; 0: empty */
	uint8_t text[HF_DISASM_HEAD]; /* blanks follow up to HF_DISASM_WIDTH */
};

static_assert(sizeof(struct hf_disasm_slot) == 64, "one text, one cache line");

/* For one thread. */
struct hf_disasm {
	const struct hf_llvm *llvm;
	struct hf_disasm_slot *slots;      /* aligned, in memory */
	struct hf_listed_lines *lines;            /* the same: whole lines, for the encoder that uses the disassembler */
	void *memory;                      /* owned */
	uint8_t (*tails)[HF_DISASM_TAIL];  /* owned */
	/* owned; LLVM's, made when first needed; the last ones with HF_DISASM_CODE_SIZE, HF_DISASM_ZFINX */
	void *context[HF_ISA_COUNT], *code_size[2], *zfinx[2], *m;
	uint32_t used;
};

/*
 * Loads LLVM, once for good; NULL, or why that is not possible. To be called while there is one thread, and before the
 * process confines itself.
 */
const char *hf_disasm_load(void);
/* Before that, in a process that makes no text: hf_disasm_load then does nothing, and hf_disasm_new fails. */
void hf_disasm_leave(void);

/* Loads LLVM if nobody has; HF_ERR_DISASM if that is not possible. */
int hf_disasm_new(struct hf_disasm **ret_disasm);
/* The same, if *disasm is NULL, and remains so on HF_ERR_NOMEM. */
int hf_disasm_need(struct hf_disasm **disasm);
void hf_disasm_free(struct hf_disasm *disasm);

/*
 * "LLVM 19.1.7": texts may differ with it, so it is part of the key of everything that holds them. Before hf_disasm_load
 * it is what the program was built with.
 */
const char *hf_disasm_version(void);

/* Disassembles and remembers; key is hf_disasm_key's. */
const struct hf_disasm_slot *hf_disasm_miss(struct hf_disasm *disasm, uint64_t key);

/*
 * opcode as struct hf_ev_insn has it: of T32 with 4 bytes the first halfword is in the upper half, as the
 * architecture manual writes it; isa may have HF_DISASM_CODE_SIZE, size what hf_disasm_size gives. size other than 2 and isa without disassembler give 8 digits and "unknown".
 */
static inline uint64_t hf_disasm_key(uint32_t opcode, unsigned size, unsigned isa)
{
	return ((size & 7) == 2 ? opcode & 0xffff : opcode) | (uint64_t)(isa & 0x7f) << 32 | (uint64_t)(size & 0xff) << 40 |
	       (uint64_t)1 << 39;
}

static inline uint32_t hf_disasm_hash(uint64_t key)
{
	return (uint32_t)((key & 0x7fffffffff) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - HF_DISASM_SLOT_BITS));
}

static inline const struct hf_disasm_slot *hf_disasm_find(struct hf_disasm *disasm, uint32_t opcode, unsigned size,
							  unsigned isa)
{
	uint64_t key = hf_disasm_key(opcode, size, isa);

	for (uint32_t i = hf_disasm_hash(key);; i = (i + 1) & (HF_DISASM_SLOTS - 1)) {
		const struct hf_disasm_slot *slot = &disasm->slots[i];

		if ((slot->key & 0xffffffffffff) == key)
			return slot;
		if (!slot->key)
			return hf_disasm_miss(disasm, key);
	}
}

/*
 * Writes the text to p[HF_DISASM_ROOM], with blanks behind it up to HF_DISASM_WIDTH, and returns its end (without
 * the blanks).
 */
static inline uint8_t *hf_disasm_put(struct hf_disasm *disasm, uint8_t *p, uint32_t opcode, unsigned size,
				     unsigned isa)
{
	const struct hf_disasm_slot *slot = hf_disasm_find(disasm, opcode, size, isa);
	unsigned len = (unsigned)(slot->key >> 48);

	memcpy(p, slot->text, 32);
	if (len > 32)
		memcpy(p + 32, slot->text + 32, HF_DISASM_HEAD - 32);
	if (len > HF_DISASM_HEAD)
		memcpy(p + HF_DISASM_HEAD, disasm->tails[slot - disasm->slots], HF_DISASM_TAIL);
	return p + len;
}

#endif
