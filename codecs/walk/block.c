/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/walk/block.h"

#include "codecs/base/bytes.h"
#include "codecs/isa/arm.h"
#include "codecs/isa/riscv.h"

#include <stdlib.h>

enum { SLOT_BITS_MIN = 6, SLOT_BITS_MAX = 13 };
/* The blocks of a program take some 15 times its bytes; where the flow enters in the middle of one, another begins. */
enum { ARENA_FACTOR = 32, ARENA_MIN = 64 << 10, ARENA_MAX = 12 << 20 };
/* Of the longest block. */
#define BLOCK_SIZE (sizeof(struct hf_walk_block) + HF_WALK_BLOCK_MAX * sizeof(struct hf_event))

int hf_walk_blocks_init(struct hf_walk_blocks *w, const struct hf_walk_rules *rules, uint64_t program_size,
			unsigned at_a_time)
{
	const uint64_t most = ARENA_MAX / ARENA_FACTOR, bytes = program_size < most ? program_size : most;

	*w = (struct hf_walk_blocks){.rules = *rules, .mask = UINT64_MAX, .slot_bits = SLOT_BITS_MIN};
	w->size = at_a_time * BLOCK_SIZE + ARENA_MIN + (size_t)bytes * ARENA_FACTOR;
	while (w->slot_bits < SLOT_BITS_MAX && (uint64_t)1 << w->slot_bits < program_size / 8)
		w->slot_bits++;
	w->arena = malloc(w->size);
	w->slots = calloc((size_t)1 << w->slot_bits, sizeof(struct hf_walk_block *));
	return w->arena && w->slots ? 0 : HF_ERR_NOMEM;
}

void hf_walk_blocks_fini(struct hf_walk_blocks *w)
{
	free(w->arena);
	free(w->slots);
	*w = (struct hf_walk_blocks){0};
}

bool hf_walk_blocks_have_room(const struct hf_walk_blocks *w, unsigned count)
{
	return count * BLOCK_SIZE <= w->size - w->used;
}

void hf_walk_blocks_reset(struct hf_walk_blocks *w)
{
	memset(w->slots, 0, sizeof(struct hf_walk_block *) << w->slot_bits);
	w->used = 0;
}

/* ---- one instruction ---- */

/* Two bytes at address, which two pieces of the program may share. */
static bool read_half(const struct hf_program *program, uint64_t address, uint32_t *ret_half)
{
	uint64_t n, rest;
	const uint8_t *low = hf_program_at(program, address, &n), *high;

	if (n >= 2) {
		*ret_half = hf_get16(low);
		return true;
	}
	high = n ? hf_program_at(program, address + 1, &rest) : NULL;
	if (!high)
		return false;
	*ret_half = (uint32_t)*high << 8 | *low;
	return true;
}

/* The opcode at address as struct hf_ev_insn has it. Returns its bytes; 0: there is none, or one without a length. */
static unsigned fetch(const struct hf_walk_blocks *w, uint64_t address, uint32_t *ret_opcode)
{
	uint32_t first, second;
	unsigned size;

	if (!w->program || !read_half(w->program, address, &first))
		return 0;
	size = w->rules.xlen ? hf_riscv_size(first) : w->isa == HF_ISA_T32 ? hf_t32_size(first) : 4;
	*ret_opcode = first;
	if (size < 4)
		return size;
	if (!read_half(w->program, address + 2, &second))
		return 0;
	*ret_opcode = w->isa == HF_ISA_T32 ? first << 16 | second : second << 16 | first;
	return size;
}

bool hf_walk_insn(const struct hf_walk_blocks *w, uint64_t pc, struct hf_event *ret_insn)
{
	const uint64_t full = hf_walk_full(w, pc);
	uint32_t opcode;
	const unsigned size = fetch(w, full, &opcode);

	if (!size)
		return false;
	*ret_insn = (struct hf_event){
		.kind = HF_EVENT_INSN,
		.insn = {
			.pc = full,
			.opcode = opcode,
			.size = (uint8_t)size,
			.isa = w->isa,
			.flow = w->rules.xlen ? hf_riscv_flow(opcode, w->rules.xlen) :
						hf_arm_classify(opcode, size, w->isa).flow,
			.mode = w->mode,
		},
	};
	return true;
}

/* ---- blocks ---- */

/* The last instruction of b may be the first one of a pair that makes a jump: then it goes into the next block. */
static void leave_pair(const struct hf_walk_blocks *w, struct hf_walk_block *b)
{
	const struct hf_ev_insn *last = &b->insn[b->count - 1].insn;
	uint64_t value;
	unsigned rd;

	if (!w->rules.pairs || !hf_riscv_upper(last->opcode, w->rules.xlen, last->pc, &rd, &value))
		return;
	b->count--;
	b->halfwords -= last->size / 2;
	b->next = b->last;
	b->last = b->insn[b->count - 1].insn.pc & w->mask;
}

static void end_block(const struct hf_walk_blocks *w, struct hf_walk_block *b, const struct hf_walk_ending *e)
{
	struct hf_event *last = &b->insn[b->count - 1];

	b->end = e->end;
	b->flags = e->flags;
	b->target = e->target & w->mask;
	if (w->rules.xlen && e->end == HF_WALK_JUMP) {
		last->flags = HF_EVF_TAKEN;
		last->insn.target = hf_walk_full(w, b->target);
	}
}

static void build(const struct hf_walk_blocks *w, struct hf_walk_block *b)
{
	struct hf_walk_ending e = {.end = HF_WALK_ON};
	uint32_t opcode = 0;

	while (e.end == HF_WALK_ON && b->count < HF_WALK_BLOCK_MAX && hf_walk_insn(w, b->next, &b->insn[b->count])) {
		const struct hf_ev_insn *insn = &b->insn[b->count].insn;

		if (insn->isa == HF_ISA_T32) {
			b->insn[b->count].it = b->next_it;
			b->next_it = hf_t32_next_it(b->next_it, insn->opcode, insn->size);
		}
		e = hf_walk_ending(&w->rules, w->program, insn, b->last, opcode);
		if (e.end == HF_WALK_INDIRECT && w->rules.xlen &&
		    hf_walk_pair(w->rules.xlen, b->last, opcode, insn->opcode, &e.target))
			e.flags |= HF_WALK_KNOWN;
		opcode = insn->opcode;
		b->last = b->next;
		b->next = (b->next + insn->size) & w->mask;
		b->halfwords += insn->size / 2;
		b->count++;
	}
	if (e.end != HF_WALK_ON)
		end_block(w, b, &e);
	else if (b->count == HF_WALK_BLOCK_MAX)
		leave_pair(w, b);
	else
		b->end = HF_WALK_NO_CODE;
}

static bool is_at(const struct hf_walk_blocks *w, const struct hf_walk_block *b, uint64_t pc)
{
	return b->pc == pc && b->program == w->program && b->isa == w->isa && b->mode == w->mode &&
	       b->it == w->it;
}

struct hf_walk_block *hf_walk_find(struct hf_walk_blocks *w, uint64_t pc)
{
	const uint64_t key = (pc >> 1) + ((uintptr_t)w->program >> 4) + w->mode;
	struct hf_walk_block **slot = &w->slots[key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - w->slot_bits)];
	struct hf_walk_block *b = *slot;

	while (b && !is_at(w, b, pc))
		b = b->chain;
	if (b)
		return b;
	b = (struct hf_walk_block *)(void *)(w->arena + w->used);
	*b = (struct hf_walk_block){
		.pc = pc, .last = pc, .next = pc, .chain = *slot, .program = w->program, .isa = w->isa, .mode = w->mode,
		.it = w->it, .next_it = w->it};
	build(w, b);
	w->used += sizeof *b + b->count * sizeof *b->insn;
	*slot = b;
	return b;
}
