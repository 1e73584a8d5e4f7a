/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The N-Trace decoder. decoder.c reads messages from the stream. flow.c walks the program as the messages say, and
 * makes the events. stream.c reads what the description says.
 *
 * Events are made in batches. A batch is a plan: a list whose entries are runs of instructions or single events. A
 * message is executed in pieces of at most HF_NTRACE_PIECE blocks. Meanwhile the events of the piece are in the plan
 * only. If the piece does not fit the program, they are removed from the plan, and nobody sees them. The sync point
 * (codecs/README.md) is the beginning of the batch; the events to discard are those given since.
 */
#ifndef HF_NTRACE_DECODER_H
#define HF_NTRACE_DECODER_H

#include "codecs/codec.h"
#include "codecs/ntrace/input.h"
#include "codecs/walk/limits.h"
#include "codecs/walk/return_stack.h"

/* The most harts of a capture; further source ids are left out. */
#define HF_NTRACE_HARTS_MAX 256

enum hf_ntrace_phase {
	HF_NTRACE_PHASE_FETCH,   /* a message is to be read */
	HF_NTRACE_PHASE_HISTORY, /* a ResourceFull is executed, up to the last branch of its HIST */
	HF_NTRACE_PHASE_COUNT,   /* a message with I-CNT is executed: as many halfwords as it counts */
	HF_NTRACE_PHASE_END,     /* the stream has ended */
	HF_NTRACE_PHASES,
};

#define HF_NTRACE_SYNCED UINT64_MAX

/* The state of the decoder, as it is saved at the beginning of a batch. */
struct hf_ntrace_state {
	struct hf_ntrace_place place; /* where the next byte to read is */
	uint8_t phase;        /* enum hf_ntrace_phase */
	uint8_t hinted;       /* the notes about a wrong srcbits or word_bytes were given */
	uint8_t skip;         /* bytes are skipped, up to one that ends a message */
	uint8_t known;        /* synchronised: pc is known */
	uint8_t stopped;      /* tracing is off, so no trace is lost: it was stopped, or has not begun */
	uint8_t begun;        /* a message has synchronised, in this part or before */
	uint8_t history;      /* HTM: HIST was seen since the last start, so a branch without a bit is an error */
	uint8_t timed;        /* the last synchronising message had a time */
	uint8_t untimed;      /* the note that times are left out was given */
	uint8_t has_shown;    /* a time was shown, */
	uint8_t returned;     /* a return that was not reported was followed since the last synchronisation */
	uint8_t mode;         /* enum hf_mode */
	uint8_t ids;          /* HF_CONTEXT_PID: pid is scontext; HF_CONTEXT_VMID: vmid is hcontext */
	uint32_t pid, vmid;
	uint8_t owned;        /* an Ownership is yet to take effect: owner is its PROCESS, */
	uint64_t owner;
	uint64_t owner_left;  /*   and so many halfwords were executed before it */
	uint64_t pc;
	uint64_t ref;         /* address sent last, which U-ADDR is relative to (8.1) */
	uint64_t debt;        /* to add to the next I-CNT; negative (two's complement): halfwords executed already */
	uint64_t time;
	uint64_t shown;       /*   which was this */
	/* the message that is being executed */
	uint64_t message_at;
	uint32_t message_length;
	uint8_t tcode, btype, message_timed;
	uint8_t reset;        /* SYNC is a reset or power-up: the flow may go on at another address (8.4) */
	uint32_t pattern;     /* HIST as it was sent; 0: none */
	uint32_t hist;        /* what is left of HIST, with its stop bit */
	uint32_t repeats;     /* how often the message is executed again after this time */
	uint64_t left;        /* halfwords of I-CNT still to execute */
	uint64_t straight;    /* HISTORY: halfwords since the last branch */
	uint64_t since;       /* instructions since the last synchronisation */
	uint64_t unproven;    /* instructions since a message last agreed with where the flow was */
	uint64_t address;     /* where execution goes on after the message; absolute */
	/* the branch message that RepeatBranch would repeat; tcode 0: none */
	uint8_t last_tcode, last_btype;
	uint32_t last_icnt, last_hist;
	uint64_t last_address;
	/* trace is lost since lost_at, and lost_code says why (-enum hf_err; 0: no trace is lost) */
	uint32_t lost_code;
	uint64_t lost_at, lost_bytes, lost_detail;
	uint32_t lost_back;   /* hf_event.back */
	uint64_t reserved;    /* messages with a reserved TCODE */
	uint64_t beside;      /* messages of what is beside the flow */
	uint8_t placed;       /* In-Circuit Trace said where ref is */
	uint64_t unsynced;    /* messages about the flow before the first synchronising one; or HF_NTRACE_SYNCED */
};

/* Bytes of a saved state that return addresses may take: what a stack deeper than some 340 needs depends on them. */
#define HF_NTRACE_STACK_BYTES 3400

/* An entry of the plan: count events from ev on. If taken, the last one is an instruction that went to target. */
struct hf_ntrace_plan {
	const struct hf_event *ev;
	uint64_t target;
	uint32_t count;
	bool taken;
};

/* The most blocks of a piece. A piece that does not fit the program is removed from the plan as a whole. */
#define HF_NTRACE_PIECE 256
/* The most entries of a piece: its blocks and a few single events. */
#define HF_NTRACE_PIECE_PLANS (HF_NTRACE_PIECE + 16)
#define HF_NTRACE_PLANS 1024
/* The most entries of what a message says beside the flow. */
#define HF_NTRACE_BESIDE_PLANS 32
/* A batch ends with the piece that brings it to so many events. */
#define HF_NTRACE_BATCH 8192

struct hf_ntrace_stream {
	struct hf_stream base; /* first */
	char json[512];
	uint8_t id;              /* if messages have SRC: the trace id in CoreSight frames whose bytes are read */
	/* As in the description, unless the messages show that it is wrong. */
	uint8_t guessed_srcbits, guessed_word_bytes;
	uint8_t guessed_times; /* enum hf_ntrace_times: the one that fits; UNKNOWN: none does, or several do */
};

struct hf_ntrace_dec {
	struct hf_dec dec; /* first */
	struct hf_ntrace_params params;
	struct hf_ntrace_input input;
	struct hf_walk_blocks blocks;
	struct hf_ntrace_state s, before; /* now, and before this batch */
	struct hf_return_stack calls, calls_before;
	uint64_t calls_room[2][HF_NTRACE_STACK_MAX];
	uint8_t times;                    /* enum hf_ntrace_times */
	uint32_t open_trap;               /* in this batch: which single event, from 1, is a trap whose value may follow; 0: none */
	uint64_t given;                   /* events of this batch that the caller has */
	uint32_t plan_count, plan_at, plan_used; /* entries; the first not given completely; events given of it */
	uint32_t planned;                 /* events */
	uint32_t single_count;
	struct hf_ntrace_plan plans[HF_NTRACE_PLANS];
	struct hf_event singles[HF_NTRACE_PLANS];
	uint32_t harts[HF_NTRACE_HARTS_MAX + 1]; /* the last one stands for all that are left out */
	size_t hart_count;
	uint8_t heard[1 << HF_NTRACE_SRCBITS_MAX]; /* messages about the flow that each SRC sent, counted up to a few */
};

/* ---- stream.c ---- */

extern const struct hf_codec hf_codec_ntrace;
int hf_ntrace_open(struct hf_src *src, const struct hf_setup *setup, struct hf_stream **ret_stream,
		   struct hf_diag *diag);
void hf_ntrace_close(struct hf_stream *stream);

/* ---- decoder.c ---- */

extern const struct hf_dec_ops hf_ntrace_dec_ops;

/* ---- records.c ---- */

extern const struct hf_dec_ops hf_ntrace_records_ops;

/* ---- times.c ---- */

/* Which reading of the times in these bytes, whose first message begins at first, fits: some source synchronised twice,
 * and by one only it never steps back. */
int hf_ntrace_guess_times(const struct hf_ntrace_params *params, const uint8_t *bytes, size_t n, size_t first,
			  uint8_t *ret_times);

/* Takes the time of a message of this hart. */
void hf_ntrace_keep_time(struct hf_ntrace_dec *d, const struct hf_ntrace_message *msg);

/* The TIMESTAMP of the message that is executed, if it has a time. */
void hf_ntrace_push_time(struct hf_ntrace_dec *d);

/* ---- plan.c ---- */

/* Adds that many instructions to the plan, borrowed, which no message agreed with yet. */
struct hf_ntrace_plan *hf_ntrace_push_insns(struct hf_ntrace_dec *d, const struct hf_event *ev, uint32_t count);

/* Adds a single event to the plan. The caller fills it in. */
struct hf_event *hf_ntrace_single(struct hf_ntrace_dec *d, uint8_t kind);

/* Adds a GAP, DOUBT or NOTE to the plan. */
void hf_ntrace_push_loss(struct hf_ntrace_dec *d, uint8_t kind, int code, uint64_t at, uint64_t bytes,
			 uint64_t detail);

/* The GAP of what is lost, if anything is. */
void hf_ntrace_push_gap(struct hf_ntrace_dec *d);

/* ---- flow.c ---- */

/* Trace is lost from here on, and code says why. If trace is lost already, that loss goes on. */
void hf_ntrace_lose(struct hf_ntrace_dec *d, int code, uint64_t at, uint64_t detail);

/* Starts a message of this hart. If the phase is not FETCH then, hf_ntrace_run has to execute the rest of it. */
void hf_ntrace_start(struct hf_ntrace_dec *d, const struct hf_ntrace_message *msg);

/* Executes one piece of the message, as the phase says. */
void hf_ntrace_run(struct hf_ntrace_dec *d);

/* ---- beside.c ---- */

/* Tells what a message says beside the flow. */
void hf_ntrace_tell(struct hf_ntrace_dec *d, const struct hf_ntrace_message *msg);

/* ---- context.c ---- */

/*
 * Takes mode and id from the PROCESS of an Ownership. It comes when the instruction retires that changes the context (7.1):
 * what ResourceFull counted before it, and is still to be executed, ran in the context before.
 */
void hf_ntrace_own(struct hf_ntrace_dec *d, uint64_t process);

/* Lets the Ownership take effect that is yet to, if one is. */
void hf_ntrace_change_context(struct hf_ntrace_dec *d);

/* The value of the trap that was planned last (tt-dfd). */
void hf_ntrace_put_trap_value(struct hf_ntrace_dec *d, uint64_t value);

/* Chooses the program for the context in the state. */
void hf_ntrace_choose_program(struct hf_ntrace_dec *d);

#endif
