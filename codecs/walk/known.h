/* SPDX-License-Identifier: Apache-2.0 */
/* How stretches (codecs/stretch.h) end, worked out once by the rules of an encoder. */
#ifndef HF_WALK_KNOWN_H
#define HF_WALK_KNOWN_H

#include "codecs/isa/riscv.h"
#include "codecs/stretch.h"
#include "codecs/walk/ending.h"

/* Zeroed it knows none. */
struct hf_walk_known {
	struct {
		uint64_t serial;
		struct hf_walk_ending ending;
	} place[HF_STRETCH_PLACES];
};

/*
 * As hf_walk_ending of the last instruction of the stretch, of which ev is the first event, right behind the one before
 * it. NULL: nothing is known, what the stretch begins with may matter, or it is of another width.
 */
static inline const struct hf_walk_ending *hf_walk_known_ending(struct hf_walk_known *known,
								const struct hf_walk_rules *rules,
								const struct hf_program *program,
								const struct hf_event *ev,
								const struct hf_stretch *stretch)
{
	const struct hf_ev_insn *before = &ev[stretch->before].insn;

	if (!known || stretch->insns < 2 || (before->isa == HF_ISA_RV32) != ((rules->xlen & HF_RISCV_XLEN) == 32))
		return NULL;
	if (known->place[stretch->place].serial != stretch->serial) {
		known->place[stretch->place].serial = stretch->serial;
		known->place[stretch->place].ending =
			hf_walk_ending(rules, program, &ev[stretch->last].insn, before->pc, before->opcode);
	}
	return &known->place[stretch->place].ending;
}

#endif
