/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/ete/walk.h"

#include "codecs/base/bytes.h"

#include <stdlib.h>

int hf_ete_walk_init(struct hf_ete_walk *walk, bool wfx, uint64_t program_size)
{
	walk->wfx = wfx;
	for (walk->count = 64; walk->count < HF_ETE_BLOCKS && walk->count < program_size / 2;)
		walk->count *= 2;
	walk->blocks = calloc(walk->count, sizeof *walk->blocks);
	walk->details = malloc(walk->count * sizeof *walk->details);
	return walk->blocks && walk->details ? 0 : HF_ERR_NOMEM;
}

void hf_ete_walk_fini(struct hf_ete_walk *walk)
{
	free(walk->blocks);
	free(walk->details);
	walk->blocks = NULL;
	walk->details = NULL;
}

/* Two bytes at address, which two pieces may share. */
static bool fetch_half(const struct hf_program *program, uint64_t address, uint32_t *ret_half)
{
	uint8_t bytes[2];

	for (unsigned i = 0; i < 2; i++) {
		uint64_t n;
		const uint8_t *p = hf_program_at(program, address + i, &n);

		if (!n)
			return false;
		bytes[i] = *p;
		if (i == 0 && n >= 2) {
			*ret_half = hf_get16(p);
			return true;
		}
	}
	*ret_half = hf_get16(bytes);
	return true;
}

/* The instruction at pc as struct hf_ev_insn has it; returns its size, 0 if it is not in the program. */
static unsigned fetch(const struct hf_program *program, uint64_t pc, unsigned isa, uint32_t *ret_opcode)
{
	uint32_t first, second;

	if (!fetch_half(program, pc, &first))
		return 0;
	if (isa == HF_ISA_T32 && hf_t32_size(first) == 2) {
		*ret_opcode = first;
		return 2;
	}
	if (!fetch_half(program, pc + 2, &second))
		return 0;
	*ret_opcode = isa == HF_ISA_T32 ? first << 16 | second : second << 16 | first;
	return 4;
}

static void make(const struct hf_ete_walk *walk, struct hf_ete_block *b)
{
	struct hf_ete_block_detail *detail = &walk->details[b - walk->blocks];
	uint64_t pc = b->pc, whole;

	b->count = b->ends = b->direct = 0;
	b->bytes = hf_program_at(b->program, pc, &whole);
	b->plain = b->isa == HF_ISA_A64;
	while (!b->ends && b->count < HF_ETE_BLOCK_MAX) {
		const unsigned i = b->count;
		const unsigned size = fetch(b->program, pc, b->isa, &b->opcode);
		struct hf_arm_class class;
		unsigned target_isa = b->isa;

		if (size == 0)
			break;
		class = hf_arm_classify(b->opcode, size, b->isa);
		detail->opcodes[i] = b->opcode;
		detail->sizes[i] = b->size = (uint8_t)size;
		detail->flows[i] = b->flow = class.flow;
		b->count++;
		b->flags = class.flags;
		b->ends = class.flags & HF_ARM_P0 || (class.flags & HF_ARM_WFX && walk->wfx);
		if (b->ends)
			b->direct = hf_arm_target(b->opcode, size, b->isa, pc, &b->target, &target_isa);
		else
			b->plain &= class.flow == HF_FLOW_PLAIN;
		b->target_isa = (uint8_t)target_isa;
		pc += size;
		if (b->isa != HF_ISA_A64)
			pc &= UINT32_MAX;
	}
	b->plain &= whole >= 4u * b->count; /* in one piece */
}

const struct hf_ete_block *hf_ete_walk_find(struct hf_ete_walk *walk, const struct hf_program *program, uint64_t pc,
					    unsigned isa)
{
	const uint64_t hash = (pc >> 1) * UINT64_C(0x9e3779b97f4a7c15);
	struct hf_ete_block *b = &walk->blocks[hash >> 40 & (walk->count - 1)];

	if (b->pc != pc || b->program != program || b->isa != isa) {
		if (!program)
			return NULL;
		b->pc = pc;
		b->program = program;
		b->isa = (uint8_t)isa;
		make(walk, b);
	}
	if (b->count == 0) {
		b->program = NULL;
		return NULL;
	}
	return b;
}
