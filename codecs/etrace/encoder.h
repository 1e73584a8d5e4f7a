/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The E-Trace encoder: the events of one hart to etrace/trace.bin, packets in a framing. One retired instruction is held
 * back, because what it needs (a report, an updiscon flag) depends on what comes behind it.
 *
 * Layers: encoder.c takes events; enc_flow.c decides what the held instruction needs (chapter 8's decision flow);
 * enc_report.c makes the packets, enc_frame.c their framing; tables.h is what both sides remember (predictor, return
 * stack, jump target cache); enc_config.c reads the view's parameters, enc_capture.c writes them into capture.ini.
 */
#ifndef HF_ETRACE_ENCODER_H
#define HF_ETRACE_ENCODER_H

#include "codecs/etrace/expectation.h"
#include "codecs/etrace/tables.h"
#include "codecs/walk/ending.h"

/*
 * Whose habits the stream has. EXACT reports so that every decoder finds every instruction; the others follow the
 * specification's figure and the quirks of the two reference encoders, to compare with their streams byte for byte.
 */
enum hf_etrace_profile {
	HF_ETRACE_EXACT,
	HF_ETRACE_C111,   /* the C codec that came with version 1.1.1 */
	HF_ETRACE_PYTHON, /* the model that comes with version 2.0 */
};

/* What the context field holds. */
enum hf_etrace_context_source {
	HF_ETRACE_CONTEXT_NONE, /* zero, if there is such a field */
	HF_ETRACE_CONTEXT_PID,
	HF_ETRACE_CONTEXT_TID,
	HF_ETRACE_CONTEXT_ASID, /* with the VMID in bits 29:16, as 2.0 recommends */
};

/* Largest tables, as powers of two, of which a state blob can hold the content. */
#define HF_ETRACE_ENC_BPRED_MAX 12
#define HF_ETRACE_ENC_TABLE_MAX 8

/* Runs of instructions without a decision of their own that are told apart, each so often; a packet ends the count. */
#define HF_ETRACE_ENC_RUNS 64
#define HF_ETRACE_ENC_RUN_PASSES 64

struct hf_etrace_config {
	struct hf_etrace_params params;
	uint8_t profile;         /* enum hf_etrace_profile */
	uint8_t context;         /* enum hf_etrace_context_source */
	bool imprecise;          /* a context change alone is told by F3.2 and does not synchronise */
	bool data;               /* data trace from MEM and REG events */
	uint8_t compress;        /* enum hf_etrace_data_compress */
	uint32_t sync;           /* instructions between sync packets; 0: none */
	uint32_t resync_packets; /* packets after which a sync is due; UINT32_MAX: not counted */
	uint32_t filter_modes;   /* bit of each enum hf_mode that is traced */
	uint64_t filter_low, filter_high;
	bool filtered;
};

enum hf_etrace_enc_flags {
	HF_ETRACE_ENC_ON = 1,        /* the first support packet is written */
	HF_ETRACE_ENC_TRACING = 2,   /* a decoder is synchronised: packets since the last start */
	HF_ETRACE_ENC_HELD = 4,      /* held is an instruction that is not dealt with yet */
	HF_ETRACE_ENC_LOST = 8,      /* trace was lost since the last packet, which says so if there was one */
	/* of the held instruction */
	HF_ETRACE_ENC_UPDISCON = 16, /* the target of an uninferable discontinuity */
	HF_ETRACE_ENC_JUMP = 32,     /* and that was a jump, which the jump target cache knows */
	HF_ETRACE_ENC_INFERRED = 64, /* the target of an implicit return or of a sequentially inferable jump */
	HF_ETRACE_ENC_MISSED = 128,  /* the target of a return that the stack foretold wrongly: irreport */
	HF_ETRACE_ENC_SYNC = 256,    /* it gets an F3.0 */
	HF_ETRACE_ENC_CONTEXT = 512, /* an imprecise change of context goes with it */
	/* the last trap: of the held instruction, the first of its handler; with none held nothing retired since */
	HF_ETRACE_ENC_TRAP = 1024,
	HF_ETRACE_ENC_TOLD = 2048,   /* it is reported */
	HF_ETRACE_ENC_ASYNC = 4096,
	HF_ETRACE_ENC_CHAINED = 524288, /* the packet of the trap before it says where it came */
	/* since the last instruction */
	HF_ETRACE_ENC_ATTEMPT = 8192,  /* one did not retire */
	HF_ETRACE_ENC_CHANGED = 16384, /* the context changed */
	HF_ETRACE_ENC_DUE = 32768,     /* a sync by count is due at the next instruction that can take it */
	HF_ETRACE_ENC_CROWDED = 65536, /* many accesses since the last report */
	HF_ETRACE_ENC_SYNCED = 131072, /* the held instruction's sync packet went out before its accesses */
	HF_ETRACE_ENC_UNALIGNED = 262144, /* a reader that begins at the next sync packet should find it */
	HF_ETRACE_ENC_RETURNED = 1048576, /* the held instruction is where an implicit return led */
	HF_ETRACE_ENC_UNSURE = 2097152,   /* the last packet told a return itself: whether that counts is not said */
	HF_ETRACE_ENC_CYCLE = 4194304,    /* trap_reporting = figure: what is held is a trap, which retired nothing */
	HF_ETRACE_ENC_ALL = 8388607,
};

/* What holds of the held instruction alone. */
#define HF_ETRACE_ENC_OF_HELD \
	(HF_ETRACE_ENC_UPDISCON | HF_ETRACE_ENC_JUMP | HF_ETRACE_ENC_INFERRED | HF_ETRACE_ENC_MISSED | \
	 HF_ETRACE_ENC_SYNC | HF_ETRACE_ENC_CONTEXT | HF_ETRACE_ENC_TRAP | HF_ETRACE_ENC_TOLD | HF_ETRACE_ENC_ASYNC | \
	 HF_ETRACE_ENC_SYNCED | HF_ETRACE_ENC_CHAINED | HF_ETRACE_ENC_RETURNED | HF_ETRACE_ENC_CYCLE)

/* Implicit returns after which one is reported: what the field holds, less one. */
#define HF_ETRACE_ENC_IRETS_MAX 254

/* Pcs of instructions; a longer straight line is reported in between. */
#define HF_ETRACE_ENC_RUN_MAX (UINT64_C(1) << 20)
struct hf_etrace_run {
	uint64_t first;
	uint32_t length; /* from there to the last instruction's pc */
	uint32_t passes;
};

/* Access sizes of the data trace that have a history of their own: 1, 2, 4, 8 bytes. */
#define HF_ETRACE_ENC_SIZES 4
/* Accesses after which an instruction is reported: decoders keep them until they know whose they are. */
#define HF_ETRACE_ENC_ACCESSES 200
/* And what they keep; a vector instruction may have more. */
#define HF_ETRACE_ENC_ACCESSES_MAX 256

/* What the source says of the held instruction's accesses. Stored. */
enum hf_etrace_enc_got {
	HF_ETRACE_GOT_READ_AT = 1,   /* it read at the address */
	HF_ETRACE_GOT_WRITE_AT = 2,
	HF_ETRACE_GOT_READ = 4,      /* read is known; of a CSR: what was there */
	HF_ETRACE_GOT_WRITTEN = 8,
	HF_ETRACE_GOT_OPERAND = 16,
	HF_ETRACE_GOT_NO_ADDRESS = 32, /* ...which is not known */
	HF_ETRACE_GOT_ALL = 63,
};

/* The data trace's part of the state. */
struct hf_etrace_enc_data {
	struct hf_etrace_data_state history;
	uint16_t got;            /* enum hf_etrace_enc_got */
	uint64_t address, read, written, operand;
	uint32_t accesses;       /* since the last report */
	uint16_t missed;         /* kinds and sizes of which an instruction since the last report could take one more */
	uint16_t id;             /* of the next split access */
};

/* Bytes of a message stream that a CoreSight frame holds if its id stands in it. */
#define HF_ETRACE_ENC_FRAME 14

struct hf_etrace_enc_state {
	uint32_t flags;          /* enum hf_etrace_enc_flags */
	uint32_t left;           /* instructions to the next sync; 0 if none is counted */
	uint64_t base;           /* the last reported address */
	/* outcomes that are not reported */
	uint64_t branches;
	uint64_t pbc;            /* of them predicted correctly */
	uint32_t map;            /* the first 31, bit 0 the oldest, 1 not taken */
	uint32_t resync;         /* packets since the last sync */
	uint32_t depth;          /* of the return stack at the return that MISSED; 2.1: implicit returns before it */
	uint32_t irets;          /* implicit returns since the last packet or branch (2.1) */
	/* the instruction before the held one, if that ran right before it and is traced; opcode 0: none */
	uint32_t before;
	uint64_t before_pc;
	/* the trap */
	uint64_t cause, value, epc;
	uint8_t trap_mode;       /* in which it came */
	uint8_t mode;            /* of the last instruction or handler */
	uint8_t attempt_mode;
	uint64_t attempt_pc;
	uint64_t context, time;
	uint32_t ids[4];         /* pid, tid, asid, vmid */
	uint64_t run;            /* where the straight line began in which the held instruction lies */
	uint32_t run_count;
	struct hf_etrace_enc_data data;
	/* the transport */
	uint64_t told_time;
	uint32_t block;          /* bytes in the block that is being filled */
	uint16_t number;         /* of the next ESP32 packet */
	uint8_t frame_count;
	uint8_t frame[HF_ETRACE_ENC_FRAME];
};

struct hf_etrace_enc {
	struct hf_enc enc; /* first */
	struct hf_etrace_config c;
	unsigned xlen;     /* of the instructions, as riscv.h wants it */
	struct hf_walk_rules rules;
	uint32_t source;   /* id in the framing */
	struct hf_event held;
	const struct hf_walk_ending *ending; /* of held, as long as nothing else is held; or NULL */
	struct hf_etrace_enc_state s;
	struct hf_etrace_run runs[HF_ETRACE_ENC_RUNS];
	struct hf_etrace_tables tables;
	/* their room */
	uint64_t stack[1u << HF_ETRACE_ENC_TABLE_MAX];
	uint16_t repeat[1u << HF_ETRACE_ENC_TABLE_MAX];
	uint64_t cache[1u << HF_ETRACE_ENC_TABLE_MAX];
	uint8_t predictor[1u << HF_ETRACE_ENC_BPRED_MAX];
};

/* Those that wait are told, or begin anew. */
static inline void hf_etrace_enc_forget_outcomes(struct hf_etrace_enc *e)
{
	e->s.branches = 0;
	e->s.pbc = 0;
	e->s.map = 0;
}

/* ---- enc_config.c ---- */

/* What these view parameters make of that hart of that stream (NULL: any). HF_ERR_SETUP_VALUE and why[size]. */
int hf_etrace_config_read(struct hf_etrace_config *config, const char *params, const struct hf_stream *stream,
			  uint32_t hart, char *why, size_t size);
int hf_etrace_config_check(const char *params, char *why, size_t size);
/* The parameters that a description has which says nothing but this version and width of addresses. */
void hf_etrace_config_defaults(struct hf_etrace_params *params, unsigned version, unsigned iaddress_width);

/* ---- enc_capture.c ---- */

void hf_etrace_write_capture(const struct hf_side *side, struct hf_sink *sink);

/* ---- enc_step.c ---- */

/* How the flow leaves an instruction. */
enum hf_etrace_way {
	HF_ETRACE_WAY_ON,       /* to where a decoder knows by itself */
	HF_ETRACE_WAY_SIJUMP,   /* the same, by the instruction before */
	HF_ETRACE_WAY_RETURN,   /* to what the return stack foretells */
	HF_ETRACE_WAY_JUMP,     /* uninferable */
	HF_ETRACE_WAY_TRAP_RETURN,
	HF_ETRACE_WAY_ECALL,    /* one that retired: to the next instruction, but decoders disagree */
};

struct hf_etrace_step {
	uint8_t way;        /* enum hf_etrace_way */
	bool known;         /* target is meaningful */
	bool jumps;         /* not to the next instruction, or not by itself */
	bool call, pops;
	bool empty;         /* a return that the stack could have foretold */
	uint64_t target;
};

/* Of the held instruction. */
struct hf_etrace_step hf_etrace_enc_step(const struct hf_etrace_enc *e, bool taken);
/* Whether insn, right behind before, is the jump of a sequentially inferable pair. */
bool hf_etrace_enc_pair(const struct hf_etrace_enc *e, const struct hf_ev_insn *before, const struct hf_ev_insn *insn);
void hf_etrace_enc_reset(struct hf_etrace_enc *e);
/* At a sync packet: as after a reset, or in 2.1 without resynchronisation with what was learned since the start. */
void hf_etrace_enc_resync(struct hf_etrace_enc *e);
/* Whether packets count implicit returns, and not the depth of the stack (2.1). */
static inline bool hf_etrace_enc_has_irets(const struct hf_etrace_enc *e)
{
	const uint32_t both = HF_ETRACE_IRET_EXT | HF_ETRACE_IMPLICIT_RETURN;

	return (e->c.params.modes & both) == both;
}

/* ---- enc_report.c ---- */

/* The privilege field for enum hf_mode. */
uint8_t hf_etrace_enc_privilege(const struct hf_etrace_enc *e, unsigned mode);

/* The flags of a report. */
struct hf_etrace_flags {
	bool notify, updiscon;
	bool counted;   /* irreport with irets */
	uint32_t irets;
};

/* The held instruction's address with all outcomes; clears them. */
void hf_etrace_enc_report(struct hf_etrace_enc *e, struct hf_sink *sink, struct hf_etrace_flags flags);
/*
 * The same, as often as a decoder passes by that address, so that it stops at the right pass. final: format 3 follows,
 * without which a decoder takes the address for the target of a jump still to come, unless it is notified.
 */
void hf_etrace_enc_report_pass(struct hf_etrace_enc *e, struct hf_sink *sink, bool final);
/* Outcomes without an address, when no more of them fit. */
void hf_etrace_enc_outcomes(struct hf_etrace_enc *e, struct hf_sink *sink);
/* F3.0, or F3.1 if it is a handler's first, for the held instruction. */
void hf_etrace_enc_sync(struct hf_etrace_enc *e, struct hf_sink *sink);
/*
 * F3.1 with thaddr 0 for the trap that is not told yet. address and mode are of the cycle in which that is noticed: its
 * own, or where the handler's first instruction trapped as well.
 */
void hf_etrace_enc_trap(struct hf_etrace_enc *e, struct hf_sink *sink, uint64_t address, uint8_t mode);
void hf_etrace_enc_context(struct hf_etrace_enc *e, struct hf_sink *sink);
void hf_etrace_enc_support(struct hf_etrace_enc *e, struct hf_sink *sink, bool enable,
			   enum hf_etrace_qual_status status);
/* Whether F3.1 can tell the handler at pc: in the implicit exception mode only where the trap vector leads there. */
bool hf_etrace_enc_tells_handler(const struct hf_etrace_enc *e, uint64_t pc, uint8_t mode);

/* ---- enc_frame.c ---- */

/* A payload of 1 to HF_ETRACE_PAYLOAD_MAX bytes as a message; data: of a data trace packet. */
void hf_etrace_enc_message(struct hf_etrace_enc *e, struct hf_sink *sink, bool data, const uint8_t *payload, size_t n);
/* If the next sync packet should be found by readers that begin in the middle: what they find it by. */
void hf_etrace_enc_align(struct hf_etrace_enc *e, struct hf_sink *sink);
/* The frame that has begun, filled up. */
void hf_etrace_enc_fill_frame(struct hf_etrace_enc *e, struct hf_sink *sink);
/* Whether the longest packet of these widths has room in a message. */
bool hf_etrace_enc_fits_framing(const struct hf_etrace_params *params);

/* ---- enc_flow.c ---- */

/* What comes behind the held instruction. */
enum hf_etrace_behind {
	HF_ETRACE_BEHIND_INSN,
	HF_ETRACE_BEHIND_TRAP, /* with an instruction that did not retire, if ATTEMPT */
	HF_ETRACE_BEHIND_STOP, /* nothing that is traced */
	HF_ETRACE_BEHIND_LOST, /* something that is not known */
	HF_ETRACE_BEHIND_END,  /* the end of the trace */
};

/*
 * Deals with the held instruction; none is held afterwards. ev: of BEHIND_INSN, the next, of BEHIND_TRAP, the trap. Leaves
 * the flags that hold of the next, and before a trap UPDISCON or INFERRED if that is where it came.
 */
void hf_etrace_enc_finish(struct hf_etrace_enc *e, struct hf_sink *sink, enum hf_etrace_behind behind,
			  const struct hf_event *ev);
/*
 * The same for a branch of which only the outcome is to be told; false, with nothing done, if it does not lead to pc,
 * where the next instruction is.
 */
bool hf_etrace_enc_branch(struct hf_etrace_enc *e, struct hf_sink *sink, uint64_t pc);
/* The same for a direct jump or call of which nothing is to be told. */
bool hf_etrace_enc_jump(struct hf_etrace_enc *e, uint64_t pc);
/* The same for a return that goes where the stack foretells. */
bool hf_etrace_enc_return(struct hf_etrace_enc *e, uint64_t pc);
/* Nothing is to be told of the held instruction, which may be where an inferred jump led. */
static inline void hf_etrace_enc_pass(struct hf_etrace_enc *e)
{
	if (!(e->s.flags & HF_ETRACE_ENC_INFERRED))
		return;
	e->s.flags &= ~(uint32_t)HF_ETRACE_ENC_OF_HELD;
	e->s.depth = hf_etrace_enc_has_irets(e) ? e->s.irets : 0;
}
/* Tracing ends here, with nothing held. */
void hf_etrace_enc_stop(struct hf_etrace_enc *e, struct hf_sink *sink, enum hf_etrace_qual_status status, bool enable);
/* Tracing starts: what must come before a sync packet. */
void hf_etrace_enc_begin(struct hf_etrace_enc *e, struct hf_sink *sink);

/* The sync packet that the held instruction gets, ahead of what belongs to it. */
void hf_etrace_enc_sync_early(struct hf_etrace_enc *e, struct hf_sink *sink);

/* ---- enc_data.c ---- */

/* A MEM or REG event of the held instruction. */
void hf_etrace_enc_gather(struct hf_etrace_enc *e, struct hf_sink *sink, const struct hf_event *ev);
/* The packets of the held instruction, of which all is known now. */
void hf_etrace_enc_accesses(struct hf_etrace_enc *e, struct hf_sink *sink);
/* Whether an access of next could be taken for one of an instruction that is not reported yet. */
bool hf_etrace_enc_confuses(const struct hf_etrace_enc *e, const struct hf_ev_insn *next);
/*
 * A report: decoders know now which accesses are whose; if it is not final, only of those instructions that have one, for
 * they may stop where they passed by that address before.
 */
void hf_etrace_enc_settle(struct hf_etrace_enc *e, bool final);
/* What is wrong with the parameters of a data trace, or NULL. */
const char *hf_etrace_enc_refuses_data(const struct hf_etrace_config *config);

/* ---- enc_state.c ---- */

void hf_etrace_enc_visit(struct hf_enc *enc, struct hf_fields *f);
/* Bytes of the largest blob. */
size_t hf_etrace_enc_blob_max(const struct hf_etrace_config *config);


#endif
