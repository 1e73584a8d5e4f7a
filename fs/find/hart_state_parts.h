/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a hart as it is put together, from the last chunk that tells something to the first. Internal to
 * fs/find/. */
#ifndef HF_FIND_HART_STATE_PARTS_H
#define HF_FIND_HART_STATE_PARTS_H

#include "fs/facts/opened.h"
#include "index/answer/stack.h"
#include "index/read/cursor.h"

/* So many of the last accesses. */
#define HF_HART_STATE_ACCESSES 16
/* So many registers. */
#define HF_HART_STATE_REGISTERS 8192
/* With a summary so many chunks are decoded at most. */
#define HF_HART_STATE_CHUNKS 256

/* A register or an access, as its event and the data behind it. */
struct hf_state_part {
	struct hf_event *ev; /* owned; NULL: nothing */
	size_t n;
	uint64_t ordinal; /* of the instruction that it was told of */
	uint64_t chunk;
};

struct hf_hart_state {
	uint32_t hart;
	uint64_t ordinal;
	struct hf_event insn;
	struct hf_event context; /* CONTEXT, with all that is known */
	struct hf_stack stack;
	/* Registers by class and number, also such as do not count; accesses, the newest first. */
	struct hf_state_part *reg;
	size_t reg_count;
	uint16_t recent[256]; /* numbers of registers that were found last, by what they are called */
	bool too_many;	      /* HF_HART_STATE_REGISTERS: some are left out */
	struct hf_state_part access[HF_HART_STATE_ACCESSES];
	size_t access_count;
	bool lost; /* trace was, last behind that instruction */
	uint64_t lost_behind;
	uint64_t doubt; /* hf_index_doubt */
	bool written; /* an instruction was told to write a register, the last one that */
	uint64_t last_written;
	/* Chunks before this ordinal were not looked at, though some of them may tell more; 0: none. */
	uint64_t from;
	bool more_registers, more_accesses; /* of what */
	bool no_accesses;		    /* traces of this kind tell of none */
};

/* ---- hart_state_scan.c ---- */

/* Goes through a chunk up to that instruction, and takes what it tells: chunks come from the last one to
 * the first. */
int hf_hart_state_scan(struct hf_hart_state *state, struct hf_cursor *cursor, uint64_t number);
void hf_state_part_fini(struct hf_state_part *part);

/* ---- hart_state_needs.c ---- */

/* Which chunks before the ones at hand can still tell something. */
struct hf_needs;
/* summary NULL: any. */
int hf_needs_new(const struct hf_hart_state *state, const struct hf_open *open, struct hf_summary *summary,
		 struct hf_needs **ret_needs);
void hf_needs_free(struct hf_needs *needs);
/* The last such chunk before that one, which begins at an ordinal. HF_NOTE_END: there is none. */
int hf_needs_next(struct hf_needs *needs, const struct hf_hart_state *state, const struct hf_chunk *before,
		  uint64_t *ret_chunk);
/* Nothing more is looked at before that chunk: notes what that leaves open. */
int hf_needs_give_up(struct hf_needs *needs, struct hf_hart_state *state, const struct hf_chunk *before);

#endif
