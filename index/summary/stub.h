/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stubs of a procedure linkage table: a few instructions that jump to the address in a slot. A call of a stub is a call
 * of its target. A stub is recognised only by that jump and its distance from the target of the call, so a chunk that
 * begins in the middle of one makes no difference. Internal to index/ and fs/find/.
 *
 * RISC-V psABI, "Procedure linkage table": jalr t1, t3, and jr t3 of the first entry; lld: jalr t1, t2 behind an lpad.
 * AAELF64, "PLT sequences": br x17. AAELF32: ldr pc, [ip, #...]!, and ldr pc, [lr, #8]! of the first entry.
 */
#ifndef HF_INDEX_SUMMARY_STUB_H
#define HF_INDEX_SUMMARY_STUB_H

#include "codecs/event.h"

/* Most stubs in a row: a call that goes through more counts as one of the last of these. */
#define HF_STUB_LINKS 4u
/* Most instructions from the call to such a jump. */
#define HF_STUB_INSNS 64u

/* The offsets, in bytes from the beginning of a stub, at which that instruction is its jump, as bits; 0: none. */
static inline uint64_t hf_stub_places(const struct hf_ev_insn *insn)
{
	const uint64_t one = 1;

	switch (insn->isa) {
	case HF_ISA_RV32:
	case HF_ISA_RV64:
		return insn->opcode == 0x000e0367   ? one << 8 | one << 12
		       : insn->opcode == 0x00038367 ? one << 12
		       : insn->opcode == 0x000e0067 ? one << 28 | one << 32
						    : 0;
	case HF_ISA_A64:
		return insn->opcode == 0xd61f0220 ? one << 12 | one << 16 | one << 20 : 0;
	case HF_ISA_A32:
		return (insn->opcode & 0xfffff000) == 0xe5bcf000 ? one << 8 | one << 12
		       : insn->opcode == 0xe5bef008	       ? one << 12
							       : 0;
	default:
		return 0;
	}
}

/* Whether a dynamic linker's resolver jumps like this to a function that it has found: br x16 or x17; jr t1. Other
 * functions may also end so, with a tail call. */
static inline bool hf_is_linker_jump(const struct hf_ev_insn *insn)
{
	return insn->isa == HF_ISA_A64 ? (insn->opcode & ~0x20u) == 0xd61f0200
				       : insn->isa <= HF_ISA_RV64 &&
						 (insn->opcode == 0x00030067 || insn->opcode == 0x8302);
}

/* The same for a jump in a function that begins at from, at an offset that resolvers have. */
static inline bool hf_is_found_jump(uint64_t from, const struct hf_ev_insn *insn)
{
	return hf_is_linker_jump(insn) && insn->pc - from >= 0x40 && insn->pc - from < 0x200;
}

/* Whether that instruction, a taken jump, is the jump of a stub that begins at from. */
static inline bool hf_is_stub_jump(uint64_t from, const struct hf_ev_insn *insn)
{
	const uint64_t at = insn->pc - from;

	return at < 64 && hf_stub_places(insn) >> at & 1;
}

/* The target of the last call of a hart, and through how many stubs it went, as long as no other transfer came. */
struct hf_stub {
	bool called;
	uint8_t links;
	uint64_t from;
};

/* Whether the instruction, a jump, continues the call. */
static inline bool hf_stub_reaches(const struct hf_stub *stub, const struct hf_ev_insn *insn)
{
	return stub->called && stub->links < HF_STUB_LINKS && hf_is_stub_jump(stub->from, insn);
}

/* A call, or (more) a jump that continues it, goes to that pc. */
static inline void hf_stub_called(struct hf_stub *stub, uint64_t pc, bool more)
{
	*stub = (struct hf_stub){.called = true, .links = more ? (uint8_t)(stub->links + 1) : 0, .from = pc};
}

#endif
