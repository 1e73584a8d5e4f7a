/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run is: instructions that a hart executed one behind the other without any transfer between them, all in one chunk.
 * Two are the same if they have the same key (context, mode, instruction set, first and last pc, how it was entered and how
 * it ended) and the same opcodes: code that changes makes other runs. The cutter makes runs of the events of a hart; the
 * run table (run_table.h) gives each a number, which is valid in one pass over one hart, and the summary is a table of
 * them and what each chunk executed. Internal to index/.
 */
#ifndef HF_INDEX_SUMMARY_RUN_H
#define HF_INDEX_SUMMARY_RUN_H

#include "codecs/stretch.h"
#include "index/summary/keep.h"
#include "index/summary/stub.h"

/* No run has more instructions. */
#define HF_RUN_INSNS 4096u
/* Nor more bytes of code. */
#define HF_RUN_BYTES (4 * HF_RUN_INSNS)
/* So many contexts have numbers; all further ones share the number behind them. */
#define HF_RUN_CONTEXTS 4096u
#define HF_RUN_OTHERS HF_RUN_CONTEXTS

/* What sent the flow to the first instruction. */
enum hf_entered {
	HF_ENTERED_SEQUENCE, /* nothing: the run before was cut */
	HF_ENTERED_JUMP,     /* also a branch */
	HF_ENTERED_CALL,     /* also a swap of co-routines, and a stub that was called (stub.h) */
	HF_ENTERED_RETURN,
	HF_ENTERED_TRAP,
	HF_ENTERED_OTHER, /* a trap return, or nobody knows */
	HF_ENTERED_COUNT
};

/* What is behind the last instruction. */
enum hf_ended {
	HF_ENDED_TAKEN,
	HF_ENDED_TRAP,
	HF_ENDED_LIMIT,	 /* the run or the chunk is full: one entered by sequence continues it, if it goes on */
	HF_ENDED_LOSS,	 /* a gap, a doubt, a discontinuity; a branch of which nobody knows whether it was taken */
	HF_ENDED_CHANGE, /* another context, mode or instruction set */
	HF_ENDED_COUNT
};

/* The address space and the program, as far as the source tells. */
struct hf_run_context {
	uint32_t fields; /* enum hf_context_field: those that are known */
	uint32_t hw, pid, tid, asid, vmid;
	uint32_t state; /* HF_STATE_SECURE or 0 */
};

/* What a CONTEXT event changes of it. */
void hf_run_context_put(struct hf_run_context *context, const struct hf_event *ev);

struct hf_run_key {
	uint64_t first, last; /* pcs */
	uint32_t context;     /* its number, in the order in which they were first executed */
	uint8_t mode, isa;
	uint8_t entered, ended;
};

struct hf_run {
	struct hf_run_key key;
	uint32_t insns, bytes;
	uint64_t hash;	     /* of the code */
	const uint8_t *code; /* opcodes as they lie in memory */
};

/* The instruction whose opcode is code[at] of the run: its size in bytes, and the opcode as events have it. 0: there is
 * none, or it is cut short. */
unsigned hf_run_opcode(const struct hf_run *run, uint32_t at, uint32_t *ret_opcode);

/* Whether an instruction of the run begins at pc: its opcode. */
bool hf_run_has(const struct hf_run *run, uint64_t pc, uint32_t *ret_opcode);

/* A run's key, to a file and back. */
void hf_run_key_keep(struct hf_run_key *key, struct hf_keep *keep);

/* Takes a run, whose code is valid for the call. An error ends the cutting. */
typedef int (*hf_run_fn)(void *ctx, const struct hf_run *run);

/* Hears of what calls are made of, as the cutter meets it. Ordinals: so many instructions were retired before. */
struct hf_run_watch {
	void *ctx;
	/* An instruction that was taken and calls, returns, traps or returns from a trap, or may be the jump of a stub or of
	 * a dynamic linker (HF_FLOW_INDIRECT_JUMP), which the ordinal counts; and each TRAP, TRAP_RETURN, CYCLES, GAP, DOUBT and
	 * DISCONTINUITY. */
	int (*flow)(void *ctx, const struct hf_event *ev, uint64_t ordinal);
	/* The first instruction behind any of these, in a chunk, or in a context. */
	int (*begin)(void *ctx, const struct hf_ev_insn *insn, uint32_t context, uint64_t ordinal);
};

/* What a stretch adds to a run. */
struct hf_run_known {
	uint64_t serial;      /* not 0 of one that is known */
	uint64_t how;	      /* as below; NO_HOW: each of its instructions needs a look of its own */
	uint64_t hash, power; /* of its code alone, and what that of the code before it is multiplied with */
	uint32_t bytes;
	uint8_t code[4 * HF_STRETCH_EVENTS];
};

struct hf_run_cutter {
	hf_run_fn put;
	void *ctx;
	const struct hf_run_watch *watch; /* NULL: nobody */
	bool told;			  /* the next instruction that begins a run is to be told */
	uint64_t insns;			  /* of the runs that are complete */
	struct hf_run run; /* at hand; no instruction: there is none */
	uint64_t next;	   /* pc behind it */
	uint64_t how;	   /* HOW of the instructions that can go on; NO_HOW: none is, without a closer look */
	uint8_t entered;   /* the next run, unless it is its sequence */
	bool linked;	   /* the same of a run that a stub jumps to */
	struct hf_stub stub;
	bool odd;	   /* its opcode does not tell its size: it has but one */
	struct hf_run_context context, *contexts;
	size_t context_count;
	uint32_t number;		/* of context */
	bool context_changed;		/* number has to be found again */
	struct hf_run_known *known; /* HF_STRETCH_PLACES */
	/* A stretch is written as if it was as long as can be, an opcode as if it had 4 bytes. */
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
/* The next events of the hart. */
int hf_run_cutter_put(struct hf_run_cutter *cutter, const struct hf_event *ev, size_t n);
/* The same; stretch[count] are those among them, in their order. */
int hf_run_cutter_put_known(struct hf_run_cutter *cutter, const struct hf_event *ev, size_t n,
			    const struct hf_stretch *stretch, size_t count);
/* A chunk, or the hart, ends here. */
int hf_run_cutter_cut(struct hf_run_cutter *cutter);

#endif
