/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decoder: messages of one source to events. A packet's walk over the program is made as a list of stretches of
 * blocks first; only when the packet fits the program to its end does the list become events. So a packet that does not
 * fit leaves nothing but a gap.
 *
 * The instruction at core.pc, the last one reached, is held back: only the next packet tells where it went.
 */
#ifndef HF_ETRACE_DECODER_H
#define HF_ETRACE_DECODER_H

#include "codecs/etrace/expectation.h"
#include "codecs/etrace/flow.h"
#include "codecs/etrace/framing.h"

/* A walk without a branch or an uninferable jump is no longer than this, in instructions. */
#define HF_ETRACE_WALK_MAX (UINT64_C(1) << 20)
/* Stretches and events that wait for their packet's end; a longer walk is committed piece by piece. */
#define HF_ETRACE_LIST 2048
/* What one step or one packet's end may add to the list. */
#define HF_ETRACE_LIST_ROOM 512
/* Accesses that wait for their instruction at most; what is beyond is a doubt. Instructions that wait for theirs are
 * those in half a list. */
#define HF_ETRACE_ACCESSES 65536

/* What a packet in progress is at. Values are stored. */
enum hf_etrace_phase {
	HF_ETRACE_IDLE,   /* none is in progress */
	HF_ETRACE_INFER,  /* the pending address of the packet before is being finished */
	HF_ETRACE_FOLLOW, /* to the packet's own end */
	HF_ETRACE_ENTER,  /* at the address of a synchronisation packet */
};

/* Stretch of a block, or an event (event.kind != NONE). */
union hf_etrace_item {
	struct {
		uint8_t kind; /* HF_EVENT_NONE */
		uint8_t flags; /* HF_EVF_TAKEN, of the last instruction */
		uint8_t mode;
		uint8_t from, to; /* instructions [from, to) */
		const struct hf_etrace_block *block;
		uint64_t target; /* with TAKEN */
	};
	struct hf_event event;
};

/* All that a decoder has beside its tables and the place in the stream; field by field in state blobs. */
struct hf_etrace_core {
	uint64_t pc;           /* of the instruction held back, or (entering) to be reached next */
	uint64_t base;         /* last address that was reported */
	uint64_t prev_address; /* with INFERRED: the address; with ENDED_AT: where the flow would have gone on */
	uint64_t target;       /* of the packet in progress */
	uint64_t context, next_epc;
	uint64_t predicted;    /* outcomes: behind bits so many as predicted, then perhaps one against */
	uint64_t bits;         /* nbits outcomes, oldest lowest, 1 not taken */
	uint64_t gap_offset, gap_bytes, gap_detail;
	uint64_t unsynced;     /* packets that need a synchronisation, none of which has come; HF_ETRACE_SYNCED: one has */
	uint64_t time;         /* of the transport, unwrapped */
	uint64_t steps;        /* instructions since the last outcome */
	uint64_t access_lost;  /* data packets for which there was no instruction */
	uint64_t unmet;        /* 1 + pc of the first since the last synchronisation that might have an access, or 0 */
	uint32_t modes, irets; /* irets: implicit returns since the last branch or packet (2.1) */
	uint32_t prev_irets;   /* with INFERRED and IRREPORTED: what its packet said */
	uint32_t gap_code;     /* -enum hf_err, 0: none open */
	uint8_t nbits;
	uint8_t against;
	uint8_t privilege;
	uint8_t phase;
	uint8_t adjacent;      /* bytes of the instruction right before pc if that is known to have retired there, or 0 */
	uint8_t prev_end;      /* enum hf_etrace_end of the instruction before pc */
	uint8_t entering;      /* pc is not reached yet: 1, or 2 by an uninferable jump or trap return */
	uint16_t flags;        /* enum hf_etrace_core_flags */
	uint8_t data_on;       /* there is data trace */
	uint8_t passed_over;   /* since the last synchronisation an instruction turned out to have no access in it */
	uint8_t reported;      /* the instruction held back; all before it are not given yet */
	uint8_t fenced;        /* enum hf_etrace_fence */
	uint8_t data_lost;     /* which access belongs to which instruction is not known up to the next synchronisation */
	uint32_t fence;        /* accesses, the oldest, that came before the report */
	/* sizes that support packets of 2.1 change */
	uint8_t time_width, f0s_width, return_stack_size, call_counter_size, bpred_size, cache_size;
};

#define HF_ETRACE_SYNCED UINT64_MAX

enum hf_etrace_core_flags {
	HF_ETRACE_STARTED = 1,
	HF_ETRACE_INFERRED = 2,  /* the address reported last may be reached once more */
	HF_ETRACE_TRAP0 = 4,     /* a trap was reported whose handler did not retire anything yet */
	HF_ETRACE_HELD = 8,      /* there is an instruction held back */
	HF_ETRACE_CONTEXTED = 16, /* context is known */
	HF_ETRACE_SUSPECT = 32,  /* trap_reporting = figure: the instruction held back may not have retired */
	HF_ETRACE_FINAL = 64,    /* the packet before had its updiscon flag set */
	HF_ETRACE_AFTER_TRAP = 128, /* the packet before was F3.1 */
	HF_ETRACE_ENDED = 256,      /* tracing was ended; prev_address is where the flow would have gone on, if... */
	HF_ETRACE_ENDED_AT = 512,   /* ...this is set */
	HF_ETRACE_NEXT_EPC = 1024,  /* next_epc is known: a handler whose first instruction trapped */
	HF_ETRACE_IRREPORTED = 2048, /* the packet of the INFERRED address had its irreport flag set */
	HF_ETRACE_ANEW = 4096,       /* tracing started anew, and nothing was missed since: the tables are the trace unit's */
	HF_ETRACE_FLAGS = 8191,
};

/* data_order = before: an instruction that is reported while it is held back has its accesses already. */
enum hf_etrace_fence {
	HF_ETRACE_UNFENCED,
	HF_ETRACE_FENCED,  /* it is the next one to be given: only accesses before the fence are its own */
	HF_ETRACE_PASSING, /* it was given last */
	HF_ETRACE_FENCES
};

#define HF_ETRACE_CACHE_EMPTY 1 /* no target is odd */

struct hf_etrace_tables {
	uint64_t *stack;       /* ring of return addresses */
	uint16_t *repeat;      /* of each, how often more it lies there (2.1) */
	uint32_t stack_size, depth, top;
	uint8_t *predictor;    /* two bits each, in a byte */
	uint32_t predictor_mask;
	uint64_t *cache;       /* HF_ETRACE_CACHE_EMPTY: an entry without a target */
	uint32_t cache_mask, cache_used;
	bool predicted;        /* the predictor was touched since it was reset */
};

struct hf_etrace_dec {
	struct hf_dec dec;
	struct hf_etrace_params given;
	struct hf_etrace_params params; /* with what support packets say */
	struct hf_etrace_framer framer;
	struct hf_etrace_flow flow;
	struct hf_etrace_tables tables, spare;
	struct hf_etrace_core core;
	struct hf_etrace_message msg;
	struct hf_etrace_packet pkt;
	bool ended;
	bool full; /* blocks must be forgotten before the walk goes on */
	/* where the walk is: cur is NULL while entering */
	struct hf_etrace_block *cur;
	uint32_t index, open; /* in cur: of core.pc, and of the first that is not in the list yet */
	uint64_t brent, brent_power; /* blocks without an outcome */
	const struct hf_etrace_block *seen;
	uint8_t finished; /* phase in which the walk came to its end */
	/* where the packet in progress began, to go back to; mark: end of the list then */
	uint32_t mark;
	struct hf_etrace_block *start;
	uint32_t start_index;
	uint64_t start_bits;
	uint8_t start_nbits;
	bool split; /* it was committed in part */
	/* where a walk may have come to its end by another reading, NULL: nowhere; its tables are in spare */
	struct hf_etrace_block *second;
	struct hf_etrace_core second_core;
	uint32_t second_tail;
	/* list: [head, committed) may become events, and what is behind holds no stretches between two packets */
	uint32_t head, committed, tail;
	uint32_t trap; /* 1 + index of a TRAP in the list whose handler is not known yet, 0: none */
	union hf_etrace_item list[HF_ETRACE_LIST];
	/* data trace */
	struct hf_etrace_data_state data;
	uint32_t access_count;
	uint32_t access_stale;  /* of them, the oldest, that were there at the last synchronisation */
	uint32_t access_first, access_room;
	uint32_t access_dropped; /* how many were there that are gone, modulo 2^32 */
	struct hf_etrace_access *accesses; /* owned; access_count from access_first on, oldest first */
	uint32_t *splits;       /* owned; of each kind and id, where that was appended last */
	bool aged;              /* the synchronisation that was given last has aged them */
	struct hf_event doubt;  /* to be given before anything else, if it has a kind */
	uint32_t release;       /* instructions in the list before this index wait for no access */
	struct hf_etrace_expectation taker; /* what else the instruction given last takes; expects: anything */
	uint32_t taker_opcode;
	struct hf_event extra[4]; /* of that instruction; [extra_at, extra_count) is still to be given */
	uint32_t extra_at, extra_count;
	uint32_t said_context; /* of the last CONTEXT event given */
	/* the state that save gives, and events given since */
	uint8_t blob[HF_STATE_MAX - 1];
	uint32_t blob_size;
	uint64_t done, retry; /* retry: not before so many are a new one is tried, for want of a small one */
	bool synced; /* here a new one would be small */
	uint32_t sync_distance, full_distance; /* events between states; tests make them smaller */
	/* source ids seen */
	uint32_t *harts; /* owned; grows at every power of two */
	uint32_t hart_count, last_hart;
	uint64_t hart_bits[1024]; /* ids below 65536 */
};

extern const struct hf_dec_ops hf_etrace_dec_ops;

/* ---- walk.c ---- */

/* Goes on with the packet in progress. 0: done or (HF_NOTE_END) to be continued when the list is empty; else the error
 * that makes it a gap, with its place in *ret_detail. */
int hf_etrace_walk(struct hf_etrace_dec *d, uint64_t *ret_detail);

/* The pending address is finished: on to the packet's own. */
int hf_etrace_begin_follow(struct hf_etrace_dec *d);

/* Where the instruction held back sends the flow, without changing anything; false: not known. *ret_taken: it is a
 * branch or jump that is taken. */
bool hf_etrace_successor(const struct hf_etrace_dec *d, uint64_t *ret_pc, bool *ret_taken);

/* Finds the block of the instruction held back again. False: there is no code. */
bool hf_etrace_locate(struct hf_etrace_dec *d);

/* Puts the instruction held back into the list: what it is known to do. *target, if not NULL, is where it went. */
void hf_etrace_release(struct hf_etrace_dec *d, const uint64_t *target);

/* ---- list ---- */

static inline void hf_etrace_add(struct hf_etrace_dec *d, const struct hf_event *ev)
{
	d->list[d->tail++].event = *ev;
}

/* ---- attach.c ---- */

/* The list of those that wait, empty; lrid_width is in d->given. 0 or HF_ERR_NOMEM; fini in any case. */
int hf_etrace_accesses_init(struct hf_etrace_dec *d);
void hf_etrace_accesses_fini(struct hf_etrace_dec *d);
/* One more behind those that wait, of which there are fewer than HF_ETRACE_ACCESSES. 0 or HF_ERR_NOMEM. */
int hf_etrace_append_access(struct hf_etrace_dec *d, const struct hf_etrace_access *access);
/* The data packet in d->msg: its access waits for an instruction. 0 or HF_ERR_NOMEM. */
int hf_etrace_take_data(struct hf_etrace_dec *d);
/* Whether the next instruction cannot just be given. */
bool hf_etrace_merges(const struct hf_etrace_dec *d);
/* What belongs to insn, the next one to be given, into d->extra. False: it must wait for its access. */
bool hf_etrace_attach(struct hf_etrace_dec *d, const struct hf_ev_insn *insn);
/* d->extra is given: whether there is more of the same instruction in it now. */
bool hf_etrace_give_more(struct hf_etrace_dec *d);
/* All before the instruction held back has been given. */
void hf_etrace_fence_accesses(struct hf_etrace_dec *d);
/* A synchronisation has been given: accesses that waited since the one before it have no instruction. */
void hf_etrace_age_accesses(struct hf_etrace_dec *d);
/* Those that wait have none either: what was between is lost. */
void hf_etrace_lose_accesses(struct hf_etrace_dec *d);
/* Into the list a NOTE of how many there were for which none came since the last one, ... */
void hf_etrace_tell_lost_data(struct hf_etrace_dec *d);
/* ... which are counted when it is given, with those that wait if nothing follows; false: there were none. */
bool hf_etrace_count_lost_data(struct hf_etrace_dec *d, struct hf_event *ev);

/* ---- tables.c ---- */

/* Those of a decoder, of the sizes that its params have now. */
int hf_etrace_make_tables(struct hf_etrace_dec *d);
int hf_etrace_tables_init(struct hf_etrace_tables *t, const struct hf_etrace_params *params);
void hf_etrace_tables_fini(struct hf_etrace_tables *t);
/* Of tables of the same sizes. */
void hf_etrace_tables_copy(struct hf_etrace_tables *to, const struct hf_etrace_tables *from);
/* As behind a synchronisation. */
void hf_etrace_tables_reset(struct hf_etrace_tables *t);

static inline bool hf_etrace_tables_are_fresh(const struct hf_etrace_tables *t)
{
	return t->depth == 0 && !t->predicted && t->cache_used == 0;
}

static inline uint64_t hf_etrace_stack_top(const struct hf_etrace_tables *t)
{
	return t->stack[(t->top - 1) & (t->stack_size - 1)];
}

/* ---- packets.c ---- */

/* Takes the message in d->msg, of this hart. 0, or what makes it a gap. */
int hf_etrace_dispatch(struct hf_etrace_dec *d, uint64_t *ret_detail);
/* What happens when the walk of the packet in progress has come to its end. */
int hf_etrace_finish(struct hf_etrace_dec *d);
/* The synchronisation packet d->pkt once more, when the walk to it has failed. */
int hf_etrace_resync(struct hf_etrace_dec *d);
/* The trace is lost from here to the next synchronisation. */
void hf_etrace_lose(struct hf_etrace_dec *d, int code, uint64_t detail);
/* Nothing follows, or another recording does. */
void hf_etrace_stop(struct hf_etrace_dec *d);
/* The program of the present context, for what is looked up from now on. */
void hf_etrace_choose_program(struct hf_etrace_dec *d);

/* ---- trap.c ---- */

/* The trap of the packet, and what of the flow before it that shows: all up to the handler's first instruction. */
void hf_etrace_trap(struct hf_etrace_dec *d);
/* Where the packet's handler begins, if an implicit exception mode leaves it to the configuration. */
bool hf_etrace_vector(const struct hf_etrace_dec *d, uint64_t *ret_address);
/* The handler of a trap that was reported alone (thaddr 0) is known now, or will never be (address NULL). */
void hf_etrace_settle_trap(struct hf_etrace_dec *d, const uint64_t *address);

/* ---- state.c ---- */

/* Saves this moment, or fails f if that has no room; or goes to a moment that was saved, from the state before the first
 * packet. */
void hf_etrace_state_visit(struct hf_etrace_dec *d, struct hf_fields *f);

enum hf_mode hf_etrace_mode_of(uint8_t privilege);

#endif
