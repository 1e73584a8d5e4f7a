/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk over the program from one report to the next. A packet's walk is made as a list of stretches of blocks
 * first; only when the packet fits the program to its end is the list given on. So a packet that does not fit leaves
 * nothing but a gap.
 *
 * The instruction at s.pc, the last one reached, is held back: only the next packet tells where it went.
 *
 * follow.c takes packets and has the list; packets.c does what each packet says, trap.c what a trap does, walk.c walks.
 */
#ifndef HF_ETRACE_FOLLOW_H
#define HF_ETRACE_FOLLOW_H

#include "codecs/etrace/framing.h"
#include "codecs/etrace/report.h"
#include "codecs/walk/limits.h"

/* A walk without a branch or an uninferable jump is no longer than this, in instructions. */
#define HF_ETRACE_WALK_MAX (UINT64_C(1) << 20)
/* Stretches and events that wait for their packet's end; a longer walk is committed piece by piece. */
#define HF_ETRACE_LIST 2048
/* What one step or one packet's end may add to the list. */
#define HF_ETRACE_LIST_ROOM 512

/* What a packet in progress is at. Values are stored. */
enum hf_etrace_phase {
	HF_ETRACE_IDLE,	  /* none is in progress */
	HF_ETRACE_INFER,  /* the pending address of the packet before is being finished */
	HF_ETRACE_FOLLOW, /* to the packet's own end */
	HF_ETRACE_ENTER,  /* at the address of a synchronisation packet */
};

/* Stretch of a block, or an event (event.kind != NONE). */
union hf_etrace_item {
	struct {
		uint8_t kind;  /* HF_EVENT_NONE */
		uint8_t flags; /* HF_EVF_TAKEN, of the last instruction */
		uint8_t mode;
		uint8_t from, to; /* instructions [from, to) */
		const struct hf_walk_block *block;
		uint64_t target; /* with TAKEN */
	};
	struct hf_event event;
};

enum hf_etrace_follow_flags {
	HF_ETRACE_STARTED = 1,
	HF_ETRACE_INFERRED = 2,	     /* the address reported last may be reached once more */
	HF_ETRACE_TRAP0 = 4,	     /* a trap was reported whose handler did not retire anything yet */
	HF_ETRACE_HELD = 8,	     /* there is an instruction held back */
	HF_ETRACE_CONTEXTED = 16,    /* context is known */
	HF_ETRACE_SUSPECT = 32,	     /* trap_reporting = figure: what is held back may not have retired */
	HF_ETRACE_FINAL = 64,	     /* the packet before had its updiscon flag set */
	HF_ETRACE_AFTER_TRAP = 128,  /* the packet before was F3.1 */
	HF_ETRACE_ENDED = 256,	     /* tracing was ended; prev_address is where the flow would go on, if... */
	HF_ETRACE_ENDED_AT = 512,    /* ...this is set */
	HF_ETRACE_NEXT_EPC = 1024,   /* next_epc is known: a handler whose first instruction trapped */
	HF_ETRACE_IRREPORTED = 2048, /* the packet of the INFERRED address had its irreport flag set */
	HF_ETRACE_ANEW = 4096, /* tracing started anew, and nothing was missed since: the tables are the trace unit's */
	HF_ETRACE_FLAGS = 8191,
};

/* Where the walk is, and what is to be said of the packets so far. */
struct hf_etrace_follow_state {
	uint64_t pc;	       /* of the instruction held back, or (entering) to be reached next */
	uint64_t prev_address; /* with INFERRED: the address; with ENDED_AT: where the flow would have gone on */
	uint64_t context, next_epc;
	uint64_t offset, size; /* of the message that was read last, in the stream; not stored */
	uint64_t gap_offset, gap_bytes, gap_detail;
	uint64_t unsynced; /* packets that need a synchronisation, none of which has come; HF_ETRACE_SYNCED: one has */
	uint64_t time;	   /* of the transport, unwrapped */
	uint64_t steps;	   /* instructions since the last outcome */
	uint64_t unproven; /* instructions put into the list since a packet last agreed with where the walk was: from... */
	uint32_t prev_irets; /* with INFERRED and IRREPORTED: what its packet said */
	uint32_t gap_code;   /* -enum hf_err, 0: none open */
	uint32_t gap_back;   /* hf_event.back */
	uint8_t privilege;
	uint8_t phase;
	uint8_t adjacent; /* bytes of the instruction right before pc if that is known to have retired there, or 0 */
	uint8_t prev_end; /* enum hf_walk_end of the instruction before pc */
	uint8_t entering; /* pc is not reached yet: 1, or 2 by an uninferable jump or trap return */
	uint16_t flags;	  /* enum hf_etrace_follow_flags */
	uint8_t reported; /* the instruction held back was; all before it are not given yet */
};

#define HF_ETRACE_SYNCED UINT64_MAX
/* ...here on, as the packet agreed with the one that is held back and comes next. */
#define HF_ETRACE_PROVED UINT64_MAX

struct hf_etrace_follow {
	struct hf_etrace_report report;
	struct hf_etrace_follow_state s;
	struct hf_walk_blocks blocks;
	const struct hf_setup *setup; /* borrowed: where programs are */
	uint32_t hart;
	struct hf_agreed *agreed; /* of the decoder */
	uint64_t behind; /* stream offset behind all that was read, for who reports a loss */
	bool synced;	 /* a synchronisation came since the list was empty */
	bool full;	 /* blocks must be forgotten before the walk goes on */
	/* where the walk is: cur is NULL while entering */
	struct hf_walk_block *cur;
	uint32_t index, open; /* in cur: of s.pc, and of the first that is not in the list yet */
	struct hf_walk_circle circle;
	uint8_t finished; /* phase in which the walk came to its end */
	/* where the packet in progress began, to go back to; mark: end of the list then */
	uint32_t mark;
	struct hf_walk_block *start;
	uint32_t start_index;
	struct hf_etrace_outcomes start_outcomes;
	uint64_t start_unproven;
	bool split; /* it was committed in part */
	/* where a walk may have come to its end by another reading, NULL: nowhere; the report keeps its part */
	struct hf_walk_block *second;
	struct hf_etrace_follow_state second_state;
	uint32_t second_tail;
	/* list: [head, committed) may become events, and what is behind holds no stretches between two packets */
	uint32_t head, committed, tail;
	uint32_t
		final; /* nothing comes any more for instructions before this index: a loss or the end is behind them */
	uint32_t trap; /* 1 + index of a TRAP in the list whose handler is not known yet, 0: none */
	union hf_etrace_item list[HF_ETRACE_LIST];
};

/* ---- follow.c: packets in, list out ---- */

/* Those of that hart; fini in any case. */
int hf_etrace_follow_init(struct hf_etrace_follow *f, const struct hf_setup *setup, uint32_t hart);
void hf_etrace_follow_fini(struct hf_etrace_follow *f);
/* As at the beginning of a recording; what is in the list stays. HF_ERR_NOMEM. */
int hf_etrace_follow_reset(struct hf_etrace_follow *f);
/* As before the first packet, with no blocks and an empty list. HF_ERR_NOMEM. */
int hf_etrace_follow_clear(struct hf_etrace_follow *f);

/* An instruction trace packet of this hart. HF_ERR_NOMEM. */
int hf_etrace_follow_take(struct hf_etrace_follow *f, const struct hf_etrace_message *msg);
/* The list is empty: whether it is ready for a packet. If not, go on first. */
bool hf_etrace_follow_is_ready(struct hf_etrace_follow *f);
int hf_etrace_follow_go_on(struct hf_etrace_follow *f);
/* Bytes at s.offset that are no packets. */
void hf_etrace_follow_lose(struct hf_etrace_follow *f, int code);
/* Nothing follows (end), or another recording does. */
void hf_etrace_follow_stop(struct hf_etrace_follow *f, bool end);

/* What is in the list may be given, but a trap whose handler is not known yet and what follows it. */
void hf_etrace_commit(struct hf_etrace_follow *f);
/* What was given makes room, where the list never comes to its end because each packet finds something that waits. */
void hf_etrace_compact(struct hf_etrace_follow *f);

/* Loading, a packet may be in progress: then it is to be read again. */
void hf_etrace_follow_visit(struct hf_etrace_follow *f, struct hf_fields *fields);
int hf_etrace_follow_reread(struct hf_etrace_follow *f, const struct hf_etrace_message *msg);

/* ---- packets.c ---- */

/* Takes the packet apart and begins with it. 0, or what makes it a gap. */
int hf_etrace_dispatch(struct hf_etrace_follow *f, const struct hf_etrace_message *msg, uint64_t *ret_detail);
/* What happens when the walk of the packet in progress has come to its end. */
int hf_etrace_finish(struct hf_etrace_follow *f);
/* The synchronisation packet once more, when the walk to it has failed. */
int hf_etrace_resync(struct hf_etrace_follow *f);
/* The trace is lost from here to the next synchronisation. */
void hf_etrace_lose(struct hf_etrace_follow *f, int code, uint64_t detail);
/* Ends what is open: a trap, the instruction held back, a gap. */
void hf_etrace_close(struct hf_etrace_follow *f);
/* The program of the present context, for what is looked up from now on. */
void hf_etrace_choose_program(struct hf_etrace_follow *f);

/* ---- trap.c ---- */

/* The trap of the packet, and what of the flow before it that shows: all up to the handler's first instruction. */
void hf_etrace_trap(struct hf_etrace_follow *f);
/* The handler of a trap that was reported alone (thaddr 0) is known now, or will never be (address NULL). */
void hf_etrace_settle_trap(struct hf_etrace_follow *f, const uint64_t *address);

/* ---- walk.c ---- */

/* Goes on with the packet in progress. 0: done or (HF_NOTE_END) to be continued when the list is empty; else the error
 * that makes it a gap, with its place in *ret_detail. */
int hf_etrace_walk(struct hf_etrace_follow *f, uint64_t *ret_detail);

/* The pending address is finished: on to the packet's own. */
int hf_etrace_begin_follow(struct hf_etrace_follow *f);

/* Where the instruction held back sends the flow, without changing anything; false: not known. *ret_taken: it is a
 * branch or jump that is taken. */
bool hf_etrace_successor(const struct hf_etrace_follow *f, uint64_t *ret_pc, bool *ret_taken);

/* Finds the block of the instruction held back again. False: there is no code. */
bool hf_etrace_locate(struct hf_etrace_follow *f);

/* Puts the instruction held back into the list: what it is known to do. *target, if not NULL, is where it went. */
void hf_etrace_release(struct hf_etrace_follow *f, const uint64_t *target);

bool hf_etrace_is_branch_at(const struct hf_etrace_follow *f, uint64_t pc);

enum hf_mode hf_etrace_mode_of(uint8_t privilege);

/* ---- in all of them ---- */

static inline void hf_etrace_add(struct hf_etrace_follow *f, const struct hf_event *ev)
{
	f->list[f->tail++].event = *ev;
}

/* A note of the message at hand. */
static inline void hf_etrace_note(struct hf_etrace_follow *f, int code, uint64_t detail)
{
	const struct hf_event ev = {
		.kind = HF_EVENT_NOTE,
		.code = (uint16_t)-code,
		.loss = {.offset = f->s.offset, .detail = detail},
	};

	hf_etrace_add(f, &ev);
}

static inline void hf_etrace_add_time(struct hf_etrace_follow *f, uint64_t value)
{
	const struct hf_event ev = {.kind = HF_EVENT_TIMESTAMP, .time.value = value};

	hf_etrace_add(f, &ev);
}

static inline bool hf_etrace_has(const struct hf_etrace_follow *f, unsigned flag)
{
	return f->s.flags & flag;
}

static inline void hf_etrace_clear(struct hf_etrace_follow *f, unsigned flags)
{
	f->s.flags &= (uint16_t)~flags;
}

#endif
