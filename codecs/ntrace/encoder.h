/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The N-Trace encoder. It turns the retired instructions and traps of one hart into ntrace/trace.bin, with a
 * capture.ini beside it. A message may have to carry the address of the next instruction, so the encoder writes the
 * message when that instruction comes. encoder.c follows the flow, emit.c writes the messages, and config.c reads the
 * parameters of the view.
 */
#ifndef HF_NTRACE_ENCODER_H
#define HF_NTRACE_ENCODER_H

#include "codecs/codec.h"
#include "codecs/ntrace/decoder.h"

/* The default of sync_instructions: a synchronising message after so many instructions. */
#define HF_NTRACE_SYNC_DEFAULT 16384

/* When the view has Ownership messages. They tell a reader the mode and the ids, but not every reader knows them. */
enum hf_ntrace_ownership {
	HF_NTRACE_OWNERSHIP_NEVER,
	HF_NTRACE_OWNERSHIP_ALWAYS, /* where mode or an id changes */
	HF_NTRACE_OWNERSHIP_IDS,    /* the same, from the first change of an id on */
};

/* Parameters of the view. */
struct hf_ntrace_config {
	struct hf_ntrace_params wire; /* what a decoder must know, from capture.ini */
	bool history;                 /* HTM; else BTM */
	bool seed;                    /* write the same messages as the specification's simple encoder (10.2) */
	bool repeat_branch;
	bool repeat_history;
	bool times;                   /* messages have TSTAMP */
	uint8_t ownership;            /* enum hf_ntrace_ownership */
	bool one_trap_type;           /* B-TYPE 1 for exceptions and interrupts */
	uint16_t call_stack;          /* 0: returns are reported */
	uint8_t hist_branches;        /* bits of HIST under the stop bit */
	uint32_t icnt_max;
	uint64_t sync;                /* in instructions or halfwords; 0: only starts synchronise */
	bool sync_halfwords;
	uint16_t src;
	const struct hf_program *tables; /* borrowed: the program with the jump table that readers know; NULL: none */
};

/* stream and hart are those of the events; SRC is the number of the hart. stream may be NULL. If a value is wrong, the
 * result is HF_ERR_SETUP_VALUE, and why[size] names the value; why may be NULL. */
int hf_ntrace_config_read(const char *params, const struct hf_stream *stream, uint32_t hart,
			  struct hf_ntrace_config *ret_config, char *why, size_t size);
int hf_ntrace_check_params(const char *params, char *why, size_t size);
/* ntrace/capture.ini */
void hf_ntrace_write_ini(const struct hf_side *side, struct hf_sink *sink);

/* Why a message may have to carry the address of the next instruction. */
enum hf_ntrace_pending {
	HF_NTRACE_PENDING_START,    /* nothing was traced yet, or the trace was stopped */
	HF_NTRACE_PENDING_NONE,     /* no reason: a reader infers the address, which is next */
	HF_NTRACE_PENDING_TAKEN,    /* BTM: a branch was taken, to next */
	HF_NTRACE_PENDING_INDIRECT, /* an indirect jump leads to it; if has_returned, a reader expects returned */
	HF_NTRACE_PENDING_TRAP,     /* it begins a trap handler */
	HF_NTRACE_PENDINGS,
};

struct hf_ntrace_enc_state {
	uint8_t pending;        /* enum hf_ntrace_pending */
	uint8_t known;          /* the events so far say what next is */
	uint8_t has_returned;
	uint8_t btype;          /* of the trap that leads to the next instruction; 0: none does */
	uint8_t start;          /* SYNC of the next start */
	uint8_t plain;          /* the last instruction is no known jump; if pc is not next, it jumped (10.1) */
	uint8_t mode;           /* enum hf_mode of the instructions */
	uint8_t said_mode;      /* the mode that a reader knows from Ownership; a synchronisation makes it unknown */
	uint8_t ids;            /* HF_CONTEXT_PID, HF_CONTEXT_VMID: known */
	uint8_t has_value;      /* the trap that leads to the next instruction has a value that readers are told */
	uint8_t owner_due;      /* an Ownership message is due, if owning */
	uint8_t owning;         /* the view has Ownership messages from here on */
	uint32_t pid, vmid;
	uint64_t value;
	uint64_t next;
	uint64_t returned;
	uint64_t ref;           /* address sent last */
	uint64_t since;         /* instructions or halfwords since the last synchronisation */
	uint64_t upper_pc;      /* the last instruction; it may set the register of a sequential jump (9.1) */
	uint32_t upper_opcode;  /* its opcode; 0: the next message does not count it */
	uint32_t icnt;
	uint32_t hist;          /* with its stop bit */
	uint32_t pattern;       /* history that is held back, with its stop bit; 0: none */
	uint32_t pattern_count; /* how many times it occurred */
	uint64_t time;          /* now */
	uint64_t said_time;     /* the time in the last message that had one */
	/* the branch message that RepeatBranch can repeat; tcode 0: none */
	uint8_t last_tcode, last_btype;
	uint32_t last_icnt, last_hist;
	uint32_t repeats;       /* how many times it occurred again, not written yet */
	uint8_t saying;         /* DATA is text of the channel */
	uint32_t channel;
};

struct hf_ntrace_enc {
	struct hf_enc enc; /* first */
	struct hf_ntrace_config c;
	struct hf_ntrace_enc_state s;
	struct hf_walk_rules rules;
	struct hf_return_stack calls;
	uint64_t calls_room[HF_NTRACE_STACK_MAX];
};

/* ---- emit.c ---- */

/* Writes a message that is no branch message. What is held back is written before it. */
void hf_ntrace_emit(struct hf_ntrace_enc *e, struct hf_sink *sink, struct hf_ntrace_message *msg);
/* Writes that after the instructions in I-CNT and HIST the flow goes on at pc, for the reason btype. sync: the message
 * synchronises. */
void hf_ntrace_emit_flow(struct hf_ntrace_enc *e, struct hf_sink *sink, uint8_t btype, uint64_t pc, bool sync);
/* The same for a taken branch, which is the last instruction that I-CNT counts. */
void hf_ntrace_emit_taken(struct hf_ntrace_enc *e, struct hf_sink *sink, uint64_t pc, bool sync);
/* Writes a message that only synchronises: a reader infers that the flow comes to pc. */
void hf_ntrace_emit_sync(struct hf_ntrace_enc *e, struct hf_sink *sink, uint64_t pc);
void hf_ntrace_emit_start(struct hf_ntrace_enc *e, struct hf_sink *sink, uint64_t pc);
void hf_ntrace_emit_stop(struct hf_ntrace_enc *e, struct hf_sink *sink);
void hf_ntrace_emit_error(struct hf_ntrace_enc *e, struct hf_sink *sink);
void hf_ntrace_emit_ownership(struct hf_ntrace_enc *e, struct hf_sink *sink);
/* Writes text of a channel, and what else a MARKER says that a message can. What was executed before it is told. */
void hf_ntrace_emit_text(struct hf_ntrace_enc *e, struct hf_sink *sink, const uint8_t *bytes, unsigned n);
void hf_ntrace_emit_marker(struct hf_ntrace_enc *e, struct hf_sink *sink, const struct hf_event *ev);
/* The value of the trap before, if there is one to tell. */
void hf_ntrace_emit_value(struct hf_ntrace_enc *e, struct hf_sink *sink);
/* I-CNT has no room for one more instruction: a ResourceFull carries it. */
void hf_ntrace_emit_full_count(struct hf_ntrace_enc *e, struct hf_sink *sink);
/* Adds the outcome of a branch to HIST. */
void hf_ntrace_emit_history(struct hf_ntrace_enc *e, struct hf_sink *sink, bool taken);

#endif
