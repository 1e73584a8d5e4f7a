/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The N-Trace decoder. decoder.c reads messages off the stream; flow.c executes them on the program and plans the
 * events; stream.c knows what the description says.
 *
 * Events are planned in batches: a list of stretches of decoded instructions and single events. A message that turns
 * out not to fit the program takes back what it planned, so that nothing of it is told. The state to enter at is the
 * one before the batch, and the number of events given since (codecs/README.md, form B).
 */
#ifndef HF_NTRACE_DECODER_H
#define HF_NTRACE_DECODER_H

#include "codecs/codec.h"
#include "codecs/ntrace/input.h"
#include "codecs/walk/limits.h"
#include "codecs/walk/return_stack.h"

/* Source ids that are told apart. */
#define HF_NTRACE_HARTS_MAX 256

enum hf_ntrace_phase {
	HF_NTRACE_PHASE_FETCH,   /* a message is to be read */
	HF_NTRACE_PHASE_HISTORY, /* ResourceFull: up to the last branch of its HIST */
	HF_NTRACE_PHASE_COUNT,   /* a message with I-CNT: that many halfwords */
	HF_NTRACE_PHASE_END,     /* the stream has ended */
	HF_NTRACE_PHASES,
};

#define HF_NTRACE_SYNCED UINT64_MAX

/* Everything at the beginning of a batch. */
struct hf_ntrace_state {
	struct hf_ntrace_place place; /* of the next byte to read */
	uint8_t phase;        /* enum hf_ntrace_phase */
	uint8_t hinted;       /* a wrong width of SRC has been told of */
	uint8_t skip;         /* bytes are passed over until one ends a message */
	uint8_t known;        /* pc is known: synchronised */
	uint8_t stopped;      /* the trace was stopped, or has not begun: what is missing is not lost */
	uint8_t begun;        /* something was traced before, in this part */
	uint8_t history;      /* HIST was seen since the last start: branches without a bit are an error */
	uint8_t timed;        /* the last synchronising message had a time */
	uint8_t mode;         /* enum hf_mode */
	uint8_t ids;          /* HF_CONTEXT_PID: pid is scontext; HF_CONTEXT_VMID: vmid is hcontext */
	uint32_t pid, vmid;
	uint64_t pc;
	uint64_t ref;         /* address sent last, which U-ADDR is relative to (8.1) */
	uint64_t debt;        /* halfwords to add to the next I-CNT; negative (two's complement): executed in advance */
	uint64_t time;
	/* the message that is being executed */
	uint64_t message_at;
	uint32_t message_length;
	uint8_t tcode, btype, message_timed;
	uint8_t reset;        /* the hart was reset or powered up: the address need not be where the flow leads (8.4) */
	uint32_t pattern;     /* HIST as it was sent; 0: none */
	uint32_t hist;        /* what is left of it, with its stop bit */
	uint32_t repeats;     /* so often again after this time */
	uint64_t left;        /* halfwords */
	uint64_t straight;    /* halfwords since the last branch, while only HIST says how far to go */
	uint64_t unsure;      /* instructions given since I-CNT was last compared with what was executed */
	uint64_t address;     /* to go on at, absolute */
	/* the branch message that RepeatBranch would repeat; tcode 0: none */
	uint8_t last_tcode, last_btype;
	uint32_t last_icnt, last_hist;
	uint64_t last_address;
	/* trace that is lost since lost_at, because of lost_code (-enum hf_err; 0: none is) */
	uint32_t lost_code;
	uint64_t lost_at, lost_bytes, lost_detail;
	uint64_t unsynced;    /* messages that need a synchronising one, none of which has come; HF_NTRACE_SYNCED: one has */
};

/* Return addresses that a decoder keeps (9.2). */
#define HF_NTRACE_STACK 32

/* Events to give: count of them from ev on, the last one changed if it is an instruction that jumped. */
struct hf_ntrace_plan {
	const struct hf_event *ev;
	uint64_t target;
	uint32_t count;
	bool taken;
};

/* Blocks of one piece: what is taken back together if it does not fit. */
#define HF_NTRACE_PIECE 256
/* Entries that a piece may need: its blocks and a few single events. */
#define HF_NTRACE_PIECE_PLANS (HF_NTRACE_PIECE + 16)
#define HF_NTRACE_PLANS 1024
/* A batch ends when it has so many events. */
#define HF_NTRACE_BATCH 8192

struct hf_ntrace_stream {
	struct hf_stream base; /* first */
	char json[256];
	uint8_t id;              /* whose bytes they are in frames, if SRC tells harts apart */
	/* Those of the description, unless it is surely wrong. */
	uint8_t guessed_srcbits, guessed_word_bytes;
};

struct hf_ntrace_dec {
	struct hf_dec dec; /* first */
	struct hf_ntrace_params params;
	struct hf_ntrace_input input;
	struct hf_walk_blocks blocks;
	struct hf_ntrace_state s, before; /* now, and before this batch */
	struct hf_return_stack calls, calls_before;
	uint64_t calls_room[2][HF_NTRACE_STACK];
	uint64_t given;                   /* events of this batch */
	uint32_t plan_count, plan_at, plan_used; /* entries; the first with events left, and how many of it are given */
	uint32_t planned;                 /* events */
	uint32_t single_count;
	struct hf_ntrace_plan plans[HF_NTRACE_PLANS];
	struct hf_event singles[HF_NTRACE_PLANS];
	uint32_t harts[HF_NTRACE_HARTS_MAX + 1]; /* the last is left out */
	size_t hart_count;
	uint8_t heard[1 << HF_NTRACE_SRCBITS_MAX]; /* messages about the flow of each SRC, no more than matter */
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

/* ---- flow.c ---- */

/* One event of its own, to be filled in. */
struct hf_event *hf_ntrace_single(struct hf_ntrace_dec *d, uint8_t kind);

/* A GAP, DOUBT or NOTE. */
void hf_ntrace_push_loss(struct hf_ntrace_dec *d, uint8_t kind, int code, uint64_t at, uint64_t bytes,
			 uint64_t detail);

/* Trace is lost from here on, because of code; a loss that is not over yet goes on. */
void hf_ntrace_lose(struct hf_ntrace_dec *d, int code, uint64_t at, uint64_t detail);

/* A whole message of this hart. It may leave a phase that hf_ntrace_run has to work off. */
void hf_ntrace_start(struct hf_ntrace_dec *d, const struct hf_ntrace_message *msg);

/* One piece of the current phase. */
void hf_ntrace_run(struct hf_ntrace_dec *d);

/* The program of the context that the state is in. */
void hf_ntrace_choose_program(struct hf_ntrace_dec *d);

#endif
