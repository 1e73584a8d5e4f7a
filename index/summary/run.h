/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run: consecutive instructions that a hart executed without any transfer between them, all in one chunk. Two runs
 * are the same if they have the same key (context, mode, instruction set, first and last pc, how it was entered and
 * ended) and the same opcodes: code that changes makes other runs. The cutter makes runs of the events of a hart. The
 * run table (run_table.h) gives each a number, which is valid in one pass over one hart; the summary has that table,
 * and what each chunk executed. Internal to index/.
 */
#ifndef HF_INDEX_SUMMARY_RUN_H
#define HF_INDEX_SUMMARY_RUN_H

#include "codecs/stretch.h"
#include "index/summary/keep.h"
#include "index/summary/stub.h"

/* Most instructions of a run, */
#define HF_RUN_INSNS 4096u
/* and most bytes of its code. */
#define HF_RUN_BYTES (4 * HF_RUN_INSNS)
/* So many contexts have numbers; all others share this as number. */
#define HF_RUN_CONTEXTS 4096u
#define HF_RUN_OTHERS HF_RUN_CONTEXTS

/* How the flow came to the first instruction. */
enum hf_entered {
	HF_ENTERED_SEQUENCE, /* in sequence: the run before was cut */
	HF_ENTERED_JUMP,     /* also a branch */
	HF_ENTERED_CALL,     /* also a swap of co-routines, and a stub that was called (stub.h) */
	HF_ENTERED_RETURN,
	HF_ENTERED_TRAP,
	HF_ENTERED_OTHER, /* a trap return, or unknown */
	HF_ENTERED_COUNT
};

/* How the run ended. */
enum hf_ended {
	HF_ENDED_TAKEN,
	HF_ENDED_TRAP,
	HF_ENDED_LIMIT,	 /* the run or the chunk is full: if the flow goes on, a run entered in sequence follows */
	HF_ENDED_LOSS,	 /* a gap, doubt or discontinuity; a branch that may or may not have been taken */
	HF_ENDED_CHANGE, /* another context, mode or instruction set */
	HF_ENDED_COUNT
};

/* The address space and program, as far as the source tells them. */
struct hf_run_context {
	uint32_t fields; /* enum hf_context_field: those that are known */
	uint32_t hw, pid, tid, asid, vmid;
	uint32_t state; /* HF_STATE_SECURE or 0 */
};

/* Applies a CONTEXT event. */
void hf_run_context_put(struct hf_run_context *context, const struct hf_event *ev);

struct hf_run_key {
	uint64_t first, last; /* pcs */
	uint32_t context;     /* its number, in the order of first execution */
	uint8_t mode, isa;
	uint8_t entered, ended;
};

struct hf_run {
	struct hf_run_key key;
	uint32_t insns, bytes;
	uint64_t hash;	     /* of the code */
	const uint8_t *code; /* opcodes as they lie in memory */
};

/* The instruction whose opcode is at code[at] of the run: its size in bytes, and the opcode as events have it. 0: the
 * code ends before or within it. */
unsigned hf_run_opcode(const struct hf_run *run, uint32_t at, uint32_t *ret_opcode);

/* Whether an instruction of the run begins at pc; *ret_opcode: its opcode. */
bool hf_run_has(const struct hf_run *run, uint64_t pc, uint32_t *ret_opcode);

/* A run's key, to a file and back. */
void hf_run_key_keep(struct hf_run_key *key, struct hf_keep *keep);

/* Gets a run, whose code is valid for the call. An error ends the cutting. */
typedef int (*hf_run_fn)(void *ctx, const struct hf_run *run);

/* Gets the events from which calls follow. Ordinals: so many instructions retired before. */
struct hf_run_watch {
	void *ctx;
	/* A taken instruction that calls, returns, traps or returns from a trap, or may be the jump of a stub or a
	 * dynamic linker (HF_FLOW_INDIRECT_JUMP); the ordinal counts it. And each TRAP, TRAP_RETURN, CYCLES, GAP, DOUBT
	 * and DISCONTINUITY. */
	int (*flow)(void *ctx, const struct hf_event *ev, uint64_t ordinal);
	/* The first instruction behind one of these, of a chunk, or of a context. */
	int (*begin)(void *ctx, const struct hf_ev_insn *insn, uint32_t context, uint64_t ordinal);
};

/* What a known stretch adds to a run. */
struct hf_run_known {
	uint64_t serial;      /* 0: nothing is known */
	uint64_t how;	      /* as below; NO_HOW: its instructions are put one by one */
	uint64_t hash, power; /* of its own code; the factor for the hash of the code before it */
	uint32_t bytes;
	uint8_t code[4 * HF_STRETCH_EVENTS];
};

struct hf_run_cutter {
	hf_run_fn put;
	void *ctx;
	const struct hf_run_watch *watch; /* NULL: nobody */
	bool told;			  /* the next instruction that begins a run goes to begin */
	uint64_t insns;			  /* of finished runs */
	struct hf_run run; /* the present one; without instructions: none */
	uint64_t next;	   /* pc behind it */
	uint64_t how;	   /* HOW of instructions that continue the run; NO_HOW: each must be checked */
	uint8_t entered;   /* how the next run is entered, unless in sequence */
	bool linked;	   /* the next run is the target of a stub's jump */
	struct hf_stub stub;
	bool odd;	   /* one instruction, whose opcode does not tell its size */
	struct hf_run_context context, *contexts;
	size_t context_count;
	uint32_t number;		/* of context */
	bool context_changed;		/* number must be found again */
	struct hf_run_known *known; /* HF_STRETCH_PLACES */
	/* Stretches are written at their full length, opcodes as 4 bytes: so there is some room at the end. */
	uint8_t code[HF_RUN_BYTES + 4 * HF_STRETCH_EVENTS];
};

int hf_run_cutter_new(hf_run_fn put, void *ctx, struct hf_run_cutter **ret_cutter);
void hf_run_cutter_free(struct hf_run_cutter *cutter);
/* Before the first event. The watch is borrowed; an error of it ends the cutting. */
static inline void hf_run_cutter_watch(struct hf_run_cutter *cutter, const struct hf_run_watch *watch)
{
	cutter->watch = watch;
	cutter->told = true;
}
/* Before the first event: goes on at that ordinal, in a context, of which n are known. HF_ERR_NOMEM. */
int hf_run_cutter_resume(struct hf_run_cutter *cutter, uint64_t ordinal, const struct hf_run_context *context,
			 const struct hf_run_context *known, size_t n);
/* To a file and back, into one that is as it was made. */
void hf_run_cutter_keep(struct hf_run_cutter *cutter, struct hf_keep *keep);
/* Puts the next events of the hart. */
int hf_run_cutter_put(struct hf_run_cutter *cutter, const struct hf_event *ev, size_t n);
/* The same; stretch[count]: the stretches among them, in order. */
int hf_run_cutter_put_known(struct hf_run_cutter *cutter, const struct hf_event *ev, size_t n,
			    const struct hf_stretch *stretch, size_t count);
/* A chunk, or the hart, ends here. */
int hf_run_cutter_cut(struct hf_run_cutter *cutter);

#endif
