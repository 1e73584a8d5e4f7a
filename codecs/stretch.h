/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stretches: straight pieces of code that a hart executed before, with what is attached to their instructions. Whoever
 * takes events may remember what a stretch amounts to, and need not look at its instructions when it comes again.
 *
 * Two stretches with the same serial have the same events but for what is free: of a MEM its address and data, of a REG
 * its value. A stretch is a hint: the events are there all the same, and without stretches the result is the same.
 */
#ifndef HF_STRETCH_H
#define HF_STRETCH_H

#include "codecs/event.h"

/* The most events of one. */
#define HF_STRETCH_EVENTS 24u
/* Places in which those that are known lie. */
#define HF_STRETCH_PLACES 8192u
/* So many do for a short trace: what is strewn over more costs a page of memory each. */
#define HF_STRETCH_FEW 128u

/*
 * Instructions without a gap, in one mode and instruction set, each with its MEM and REG events, which have no DATA and
 * tell of registers. But for the last one they do not change the flow.
 */
struct hf_stretch {
	uint64_t serial; /* of what it is; not 0 */
	uint32_t others; /* bit of each of its events that is no instruction */
	uint16_t at;	 /* its first event, an instruction */
	uint16_t place;	 /* of what it is: at most one serial at a time has it */
	uint8_t events, insns;
	uint8_t last;	/* which event is the last instruction, */
	uint8_t before; /*   and which the one before it, if there are two */
	uint8_t halves; /* halfwords of code but for the last instruction */
	bool riscv;	/* opcodes of RISC-V, as long as they say, none of them of Zcmp or Zcmt */
};

/* Knows the stretches of a hart. It has so much memory, and forgets. */
struct hf_stretch_finder;
/* few: no more than HF_STRETCH_FEW, of a short trace. HF_ERR_NOMEM. */
int hf_stretch_finder_new(bool few, struct hf_stretch_finder **ret_finder);
void hf_stretch_finder_free(struct hf_stretch_finder *finder);
/* The stretches of at least two events among ev[n], n < 65536, in their order: at most n / 2; returns how many. Those
 * that are met for the first time are among them, but for one that ev ends in. */
size_t hf_stretch_find(struct hf_stretch_finder *finder, const struct hf_event *ev, size_t n,
		       struct hf_stretch *ret_stretch);

#endif
