/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The N-Trace encoder: the retired instructions and traps of one hart to ntrace/trace.bin, with a capture.ini beside
 * it. A message is written one instruction late, when the address that it may have to carry is known. encoder.c
 * follows the flow, emit.c makes the messages, config.c reads the view's parameters.
 */
#ifndef HF_NTRACE_ENCODER_H
#define HF_NTRACE_ENCODER_H

#include "codecs/codec.h"
#include "codecs/ntrace/decoder.h"

/* Every so many instructions the view synchronises unless it is told otherwise. */
#define HF_NTRACE_SYNC_DEFAULT 16384

/* When the view has Ownership messages, by which readers learn mode and ids; not every one reads them. */
enum hf_ntrace_ownership {
	HF_NTRACE_OWNERSHIP_NEVER,
	HF_NTRACE_OWNERSHIP_ALWAYS, /* where mode or an id changes */
	HF_NTRACE_OWNERSHIP_IDS,    /* the same, from the first change of an id on */
};

/* Parameters of the view. */
struct hf_ntrace_config {
	struct hf_ntrace_params wire; /* what a decoder must be told */
	bool history;                 /* HTM; else BTM */
	bool seed;                    /* the specification's simple encoder, message for message (10.2) */
	bool repeat_branch;
	bool repeat_history;
	bool timestamps;
	uint8_t ownership;            /* enum hf_ntrace_ownership */
	bool one_trap_type;           /* B-TYPE 1 for exceptions and interrupts */
	uint8_t call_stack;           /* 0: returns are reported */
	uint8_t hist_branches;        /* bits of HIST under the stop bit */
	uint32_t icnt_max;
	uint64_t sync;                /* instructions, or halfwords of them; 0: never again after the start */
	bool sync_halfwords;
	uint16_t src;
	const struct hf_program *tables; /* borrowed: where the jump table is that readers know; NULL: none */
};

/* stream (NULL: any) and hart: of the events; SRC says the hart. Wrong values are HF_ERR_SETUP_VALUE; why[size] says
 * which, may be NULL. */
int hf_ntrace_config_read(const char *params, const struct hf_stream *stream, uint32_t hart,
			  struct hf_ntrace_config *ret_config, char *why, size_t size);
int hf_ntrace_check_params(const char *params, char *why, size_t size);
/* ntrace/capture.ini */
void hf_ntrace_write_ini(const struct hf_side *side, struct hf_sink *sink);

/* What the next instruction's address must be told for. */
enum hf_ntrace_pending {
	HF_NTRACE_PENDING_START,    /* nothing was traced yet, or the trace was stopped */
	HF_NTRACE_PENDING_NONE,     /* it can be inferred: next */
	HF_NTRACE_PENDING_TAKEN,    /* BTM: a branch was taken, to next */
	HF_NTRACE_PENDING_INDIRECT, /* it was jumped to; returned, if there is one, need not be told */
	HF_NTRACE_PENDING_TRAP,     /* it is a trap handler's */
	HF_NTRACE_PENDINGS,
};

struct hf_ntrace_enc_state {
	uint8_t pending;        /* enum hf_ntrace_pending */
	uint8_t known;          /* next is known, as far as the events say */
	uint8_t has_returned;
	uint8_t btype;          /* of the trap that leads to the next instruction; 0: none does */
	uint8_t start;          /* SYNC of the next start */
	uint8_t plain;          /* the last instruction was no branch or jump: it may have jumped all the same (10.1) */
	uint8_t mode;           /* enum hf_mode of the instructions */
	uint8_t said_mode;      /* the one that a reader knows */
	uint8_t ids;            /* HF_CONTEXT_PID, HF_CONTEXT_VMID: known */
	uint8_t owner_due;      /* an Ownership message is due, */
	uint8_t owning;         /*   if there are any */
	uint32_t pid, vmid;
	uint64_t next;
	uint64_t returned;
	uint64_t ref;           /* address sent last */
	uint64_t since;         /* instructions or halfwords since the last synchronisation */
	uint64_t upper_pc;      /* the instruction before: it may set the register of a sequential jump */
	uint32_t upper_opcode;  /* 0: it is not of the message to come */
	uint32_t icnt;
	uint32_t hist;          /* with its stop bit */
	uint32_t pattern;       /* history that is held back, with its stop bit; 0: none */
	uint32_t pattern_count; /* so often */
	uint64_t time;          /* now, and as the messages said it last */
	uint64_t said_time;
	/* the branch message that RepeatBranch can repeat; tcode 0: none */
	uint8_t last_tcode, last_btype;
	uint32_t last_icnt, last_hist;
	uint32_t repeats;       /* so often more, not said yet */
};

struct hf_ntrace_enc {
	struct hf_enc enc; /* first */
	struct hf_ntrace_config c;
	struct hf_ntrace_enc_state s;
	struct hf_walk_rules rules;
	struct hf_return_stack calls;
	uint64_t calls_room[HF_NTRACE_STACK];
};

/* ---- emit.c ---- */

/* A message that is no branch message: what is held back goes before it. */
void hf_ntrace_emit(struct hf_ntrace_enc *e, struct hf_sink *sink, struct hf_ntrace_message *msg);
/* The flow goes on at pc for that reason, after what I-CNT and HIST hold; sync: for readers to start at. */
void hf_ntrace_emit_flow(struct hf_ntrace_enc *e, struct hf_sink *sink, uint8_t btype, uint64_t pc, bool sync);
/* It does, by a taken branch that ends I-CNT. */
void hf_ntrace_emit_taken(struct hf_ntrace_enc *e, struct hf_sink *sink, uint64_t pc, bool sync);
/* It does by itself: for readers to start at. */
void hf_ntrace_emit_sync(struct hf_ntrace_enc *e, struct hf_sink *sink, uint64_t pc);
void hf_ntrace_emit_start(struct hf_ntrace_enc *e, struct hf_sink *sink, uint64_t pc);
void hf_ntrace_emit_stop(struct hf_ntrace_enc *e, struct hf_sink *sink);
void hf_ntrace_emit_error(struct hf_ntrace_enc *e, struct hf_sink *sink);
void hf_ntrace_emit_ownership(struct hf_ntrace_enc *e, struct hf_sink *sink);
/* n halfwords more. */
void hf_ntrace_emit_count(struct hf_ntrace_enc *e, struct hf_sink *sink, uint32_t n);
/* The outcome of a branch more. */
void hf_ntrace_emit_history(struct hf_ntrace_enc *e, struct hf_sink *sink, bool taken);

#endif
