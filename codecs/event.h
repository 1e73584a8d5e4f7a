/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The canonical instruction stream: what every decoder produces and every encoder consumes. An event is 32 bytes,
 * tagged, and holds no pointer; what does not fit follows its head as DATA events.
 *
 * Order. An instruction (INSN: retired, ATTEMPT: not retired) comes first, then its attachments: MEM, REG, READY_REG,
 * UOP, TRANSLATION, BUS, TRAP, TRAP_RETURN, each with its DATA events. The first event of another kind, or the next
 * instruction, ends them. The clock of all views is the ordinal of INSN events within the hart, from 0.
 */
#ifndef HF_EVENT_H
#define HF_EVENT_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hf_event_kind {
	HF_EVENT_NONE,
	HF_EVENT_INSN,          /* insn: one retired instruction */
	HF_EVENT_ATTEMPT,       /* insn: started and not retired */
	/* attachments of the instruction before them */
	HF_EVENT_MEM,           /* mem */
	HF_EVENT_REG,           /* reg: a value of a register, as read, written, or simply known */
	HF_EVENT_READY_REG,     /* reg: number only; the dependency on it is taken to be fulfilled */
	HF_EVENT_UOP,           /* uop */
	HF_EVENT_TRANSLATION,   /* walk */
	HF_EVENT_BUS,           /* bus: an access by someone other than this hart */
	HF_EVENT_TRAP,          /* trap: exception or interrupt; without an instruction before it if none is known */
	HF_EVENT_TRAP_RETURN,   /* trap: handler is where execution goes on */
	/* on their own */
	HF_EVENT_CONTEXT,       /* context: holds from here on */
	HF_EVENT_TIMESTAMP,     /* time */
	HF_EVENT_CYCLES,        /* time: cycles since the last CYCLES event */
	HF_EVENT_MARKER,        /* marker: what stands beside the flow: text, samples, watchpoints, counters, trace events */
	HF_EVENT_TRANSACTION,   /* txn */
	HF_EVENT_DEPENDENCY,    /* txn: one the transaction before it depends on */
	HF_EVENT_TEXT,          /* text: a comment of the producer */
	HF_EVENT_DISCONTINUITY, /* jump: the flow goes on elsewhere for a reason that the trace does not give */
	HF_EVENT_GAP,           /* loss: trace lost here */
	HF_EVENT_DOUBT,         /* loss: what follows, up to the next sync, may be wrong; both: what is before, see back */
	HF_EVENT_NOTE,          /* loss: a defect of the source that costs nothing */
	HF_EVENT_OPAQUE,        /* text: bytes of the source that no view but the source's own can carry */
	HF_EVENT_DATA,          /* data: continues the head before it until its size is met; all but the last are full */
	HF_EVENT_BEGIN,         /* begin: first event of a slice, and only there; no decoder makes it */
	HF_EVENT_RECORD,        /* data: a record of the source, of which records.txt makes a line (codecs/records.h) */
	HF_EVENT_KINDS
};

/* Instruction sets, as struct hf_ev_insn.isa has them. */
enum hf_isa {
	HF_ISA_NONE,
	HF_ISA_RV32,
	HF_ISA_RV64,
	HF_ISA_A64,
	HF_ISA_A32,
	HF_ISA_T32,
	HF_ISA_COUNT
};

/* Privilege modes of all architectures; modes.def has their names. */
enum hf_mode {
#define HF_MODE(name, text, level, word) HF_MODE_##name,
#include "codecs/modes.def"
#undef HF_MODE
	HF_MODE_COUNT
};

/* The word in the second field of a listing line: "M", "EL1h", "svc", "?". */
const char *hf_mode_name(unsigned mode);

/* What an instruction does to the flow. Classified from the opcode alone. */
enum hf_flow {
	HF_FLOW_PLAIN,
	HF_FLOW_BRANCH,        /* conditional, direct */
	HF_FLOW_JUMP,          /* unconditional, direct (RISC-V also: tail call) */
	HF_FLOW_CALL,          /* direct call */
	HF_FLOW_INDIRECT_JUMP,
	HF_FLOW_INDIRECT_CALL,
	HF_FLOW_RETURN,
	HF_FLOW_SWAP,          /* co-routine swap: return and call in one (RISC-V) */
	HF_FLOW_TRAP_CALL,     /* ecall, ebreak; svc, hvc, smc, brk */
	HF_FLOW_TRAP_RETURN,   /* mret, sret, dret...; eret */
	HF_FLOW_SYNC,          /* fence.i, isb: matters to packet formats */
	HF_FLOW_WAIT,          /* wfi, wfe... */
	HF_FLOW_COUNT
};

/* hf_event.flags. The values of different kinds overlap. */
enum hf_event_flags {
	/* INSN, ATTEMPT */
	HF_EVF_TAKEN = 1,        /* INSN: target is where this instruction itself sent the flow */
	/* INSN: a branch of which the source does not say whether it was taken, or (A32, T32) only that, and not where to.
	 * With neither of them a branch that may be conditional was not taken: one of A32 or T32, or HF_FLOW_BRANCH. */
	HF_EVF_OPEN = 2,
	HF_EVF_RECORD = 4,       /* ATTEMPT: insn.record is known */
	/* MEM, BUS */
	HF_EVF_READ = 1,
	HF_EVF_WRITE = 2,        /* both: read-modify-write */
	HF_EVF_SIZE_BITS = 4,    /* the source counts this size in bits */
	HF_EVF_SIZE_ASSUMED = 8, /* whether it counts bits or bytes shows only in its other accesses */
	HF_EVF_NO_ADDRESS = 16,  /* MEM: mem.address is not known, and 0 */
	/* TRAP */
	HF_EVF_ASYNC = 1,        /* interrupt */
	HF_EVF_HANDLER = 2,      /* TRAP, TRAP_RETURN: trap.handler is known */
	HF_EVF_MODE = 4,         /* TRAP, TRAP_RETURN: hf_event.mode is the mode afterwards */
	HF_EVF_CAUSE = 8,        /* TRAP: trap.cause is known */
	HF_EVF_VIRTUAL = 16,     /* TRAP: a virtual interrupt or SError */
	HF_EVF_VALUE = 32,       /* TRAP: trap.value is known */
	/* TIMESTAMP, CYCLES */
	HF_EVF_BACK = 1,         /* applies to time.back events before this one */
	HF_EVF_NO_TIME = 2,      /* the source says that it does not know time.value, which is 0 */
	HF_EVF_LATE = 4,         /* CYCLES: what it belongs to, or itself, was delayed on its way into the trace */
	/* MARKER */
	HF_EVF_AT = 1,           /* marker.value is the pc at which it was */
	HF_EVF_UNNUMBERED = 2,   /* marker.number is not told, and 0 */
	/* DISCONTINUITY */
	HF_EVF_UNTRACED = 1,     /* what lies between was deliberately not traced */
	/* GAP, DOUBT, NOTE */
	HF_EVF_FILE = 1,         /* loss.offset counts the bytes of the file and not of the stream */
};

struct hf_ev_insn {
	uint64_t pc;
	union {
		uint64_t target; /* with HF_EVF_TAKEN */
		uint64_t record; /* with HF_EVF_RECORD: the number of its instruction record in the source */
	};
	uint32_t opcode;  /* 32-bit T32: first halfword in the upper half */
	uint8_t size;     /* bytes: 2, 4 */
	uint8_t isa;      /* enum hf_isa */
	uint8_t flow;     /* enum hf_flow */
	uint8_t mode;     /* enum hf_mode in which it executed */
};

struct hf_ev_mem {
	uint64_t address; /* virtual */
	uint64_t data;    /* first 8 bytes, right-justified, if hf_event.words > 0; further ones as DATA */
	uint32_t size;    /* bytes */
	uint16_t attr;    /* the source's own attribute bits; of Arm sources enum hf_arm_attr */
	uint8_t tag;      /* MTE tag */
	uint8_t pad;
};

/* Bits of hf_ev_mem.attr that all Arm sources share. */
enum hf_arm_attr {
	HF_ARM_ATTR_TAG = 0x10,     /* bits 3:0 are the tag of the address */
	HF_ARM_ATTR_CHECKED = 0x20, /* Tag Checked, or tags themselves are accessed */
	HF_ARM_ATTR_RANGE = 0x40,   /* as many bytes as a register says: FEAT_MOPS, TLBI by range */
};

/*
 * Classes of registers, and what hf_ev_reg.number counts in each. Those of Arm name a register as its architecture does:
 * DDI 0487, B1.2 (AArch64), G1.9 (AArch32 and its banks), D18.1 (system registers).
 */
enum hf_reg_class {
	HF_REG_NONE,          /* READY_REG */
	HF_REG_INTEGER,       /* x0.., 0x20: pc. STF's numbers of classes, also in Arm captures, from here */
	HF_REG_FLOAT,         /* f0.. */
	HF_REG_VECTOR,        /* v0.. */
	HF_REG_CSR,           /* its address; to here */
	HF_REG_ZA_INDEX,      /* no register: the index into ZA that the instruction computed is its value */
	HF_REG_ARM_GENERAL,   /* AArch64: 0 to 30 x0 to x30, 31 sp, 32 pc */
	HF_REG_ARM_VECTOR,    /* AArch64: 0 to 31 v0 to v31, or z where more than 16 bytes are known */
	HF_REG_ARM_PREDICATE, /* AArch64: 0 to 15 p0 to p15, 16 ffr */
	HF_REG_ARM_SYSTEM,    /* AArch64: op0, op1, CRn, CRm, op2 as an MRS has them, in bits 15:14, 13:11, 10:7, 6:3, 2:0 */
	HF_REG_ARM32_GENERAL, /* AArch32: 0 to 15 r0 to r15, 16 cpsr, 17 spsr; bits 12:8: PSTATE.M of their bank, or 0 */
	HF_REG_ARM32_FLOAT,   /* AArch32: 0 to 31 d0 to d31, 32 to 63 s0 to s31 */
	HF_REG_ARM32_SYSTEM,  /* AArch32: bit 14: cp15, not cp14; opc1, CRn, CRm, opc2 in bits 13:11, 10:7, 6:3, 2:0 */
	HF_REG_UNKNOWN,       /* a class that the source does not explain */
	HF_REG_CLASS_COUNT
};

/* What a value of a register is to the instruction; STF's numbers. */
enum hf_reg_role {
	HF_REG_ROLE_NONE,
	HF_REG_STATE,         /* as it is after the instruction */
	HF_REG_SOURCE,        /* as the instruction read it */
	HF_REG_DESTINATION,   /* as the instruction wrote it */
	HF_REG_ROLE_COUNT
};

struct hf_ev_reg {
	uint64_t value;   /* of a vector register its first 8 bytes; hf_event.size more follow as DATA */
	uint64_t pad;
	uint16_t number;
	uint8_t class;    /* enum hf_reg_class */
	uint8_t role;     /* enum hf_reg_role */
	uint32_t pad2;
};

struct hf_ev_uop {
	uint64_t opcode;  /* of hf_event.uop_size bytes */
	uint64_t pad[2];
};

struct hf_ev_walk {
	uint64_t va;
	uint64_t first;     /* ordinal of the instruction record that first used the page, as in the source */
	uint32_t page_size; /* bytes */
	uint32_t entries;   /* DATA: for each, u64 physical address of the entry and u64 raw entry, leaf last */
};

struct hf_ev_bus {
	uint64_t address;
	uint64_t data;      /* as in hf_ev_mem */
	uint32_t attr;
	uint16_t size;      /* bytes */
	uint8_t master;     /* STF's initiator type */
	uint8_t index;
};

/* An ETE names the kind of an exception (codecs/ete/packet.h), which may stand for several values of ESR.EC. */
#define HF_TRAP_ETE 0x40u
/* M profile: this and the exception's number, which of IRQ n is 16 + n; and what has none: OTHER and the type of its ETM. */
#define HF_TRAP_M 1000u
#define HF_TRAP_M_OTHER (HF_TRAP_M + 512)
#define HF_TRAP_M_END (HF_TRAP_M_OTHER + 32)

struct hf_ev_trap {
	/* RISC-V: mcause without its top bit; AArch64: ESR.EC, or 0 SError 1 IRQ 2 FIQ 3 reset; HF_TRAP_ETE + type;
	 * HF_TRAP_M + number */
	uint64_t cause;
	uint64_t value;     /* with HF_EVF_VALUE: tval, FAR; of an Arm system call its number */
	uint64_t handler;   /* where execution goes on */
};                          /* DATA (hf_event.size bytes): STF's metadata words, all of them */

enum hf_context_field {
	HF_CONTEXT_HW = 1, HF_CONTEXT_PID = 2, HF_CONTEXT_TID = 4, HF_CONTEXT_ASID = 8, HF_CONTEXT_VMID = 16,
	HF_CONTEXT_MODE = 32, HF_CONTEXT_VLEN = 64, HF_CONTEXT_ISA = 128,
	HF_CONTEXT_STATE = 256, /* hf_event.state */
};

/* What else an Arm PE is in: hf_event.state. */
enum hf_context_state {
	HF_STATE_SM = 1, HF_STATE_DIT = 2, HF_STATE_SSBS = 4, /* PSTATE */
	HF_STATE_TCF = 0x18, /* MTE tag check fault mode: 0 none, 8 synchronous, 0x10 asynchronous, 0x18 asymmetric */
	HF_STATE_SECURE = 0x20,
	HF_STATE_NO_PID = 0x40, HF_STATE_NO_TID = 0x80, /* the ids said before hold no longer */
	HF_STATE_ABSENT = 0x100, /* what follows is not in the trace: AArch32, Debug state */
	HF_STATE_ALL = 0x1ff,
};

struct hf_ev_context {      /* hf_event.fields says which of them are meant */
	uint32_t hw, pid, tid, asid, vmid;
	uint16_t vlen;      /* bits / 8 */
	uint8_t mode, isa;
};

struct hf_ev_time {
	uint64_t value;
	uint64_t back;
	uint64_t pad;
};

/* What a MARKER is: hf_event.what. */
enum hf_marker {
	HF_MARKER_OTHER,      /* a trace event that only its source explains: type, number, value */
	HF_MARKER_TEXT,       /* software wrote bytes to channel number: DATA (hf_event.size bytes); they are no line yet */
	HF_MARKER_SAMPLE,     /* value is a pc that was executed then; type: enum hf_sample */
	HF_MARKER_WATCHPOINT, /* comparator or watchpoint number; type: enum hf_watch */
	HF_MARKER_COUNTER,    /* counter number; type: enum hf_counter */
	HF_MARKER_TRIGGER,    /* trigger number came from outside */
	HF_MARKER_CONTROL,    /* of the trace unit: code number */
	HF_MARKER_CALL,       /* a call or a return, to type if that is not 0 */
	HF_MARKER_EXCEPTION,  /* number; type: enum hf_marker_exception */
	HF_MARKER_INTERRUPT,  /* the same */
	HF_MARKER_CONTEXT,    /* number: as the source has it */
	HF_MARKERS
};

/* "text", "sample"; "marker" of what is none of them. */
const char *hf_marker_name(unsigned what);

enum hf_sample { HF_SAMPLE_PC, HF_SAMPLE_ASLEEP, HF_SAMPLE_DENIED };
enum hf_watch { HF_WATCH_HIT, HF_WATCH_ADDRESS, HF_WATCH_READ, HF_WATCH_WRITE }; /* what value is; HIT: none but a pc */
enum hf_counter { HF_COUNTER_VALUE, HF_COUNTER_WRAPPED };
enum hf_marker_exception { HF_MARKER_TAKEN, HF_MARKER_ENTERED, HF_MARKER_EXITED, HF_MARKER_RETURNED };

struct hf_ev_marker {
	uint64_t value;
	uint64_t number;
	uint64_t type;      /* of OTHER the source format's own */
};

struct hf_ev_txn {          /* hf_event.size bytes of DATA: metadata, then protocol data */
	uint64_t id;
	uint64_t delta;     /* cycles */
	uint16_t meta_count;
	uint16_t pad;
	uint32_t meta_size; /* bytes of DATA that are metadata */
};

struct hf_ev_text {
	uint64_t offset;    /* stream offset of the bytes, which also follow as DATA (hf_event.size) */
	uint64_t pad[2];
};

struct hf_ev_jump {
	uint64_t from;      /* where the flow would have gone on, if known (else 0) */
	uint64_t to;        /* 0 if not known */
	uint64_t pad;
};

struct hf_ev_loss {         /* hf_event.code: what is wrong */
	uint64_t offset;    /* stream offset of the record or packet, or see HF_EVF_FILE */
	uint64_t bytes;     /* of the stream that were passed over, 0 if unknown */
	uint64_t detail;    /* as in hf_diag */
};

struct hf_ev_data {
	uint8_t bytes[24];  /* hf_event.used of them; of a RECORD what its codec says */
};

/* What a slice begins with; a CONTEXT with all that still holds and then the instruction itself come next. */
struct hf_ev_begin {        /* hf_event.isa: that of the instruction */
	uint64_t ordinal;   /* of the first instruction, in the whole */
	uint64_t record;    /* number of its instruction record, as in the source; 0 if the source numbers none */
	uint64_t pc;        /* of it */
};

struct hf_event {
	uint8_t kind;   /* enum hf_event_kind */
	uint8_t flags;  /* enum hf_event_flags */
	union {
		uint16_t words;    /* MEM, BUS: 64-bit words of data that are known */
		uint16_t mode;     /* TRAP, TRAP_RETURN: enum hf_mode, with HF_EVF_MODE */
		uint16_t uop_size; /* UOP: bytes */
		uint16_t it;       /* INSN, ATTEMPT of T32: ITSTATE for it; 0: in no IT block, or that is not known */
		uint16_t state;    /* CONTEXT: enum hf_context_state, with HF_CONTEXT_STATE */
		uint16_t clock;    /* TRANSACTION, DEPENDENCY: number of the clock */
		uint16_t used;     /* DATA: bytes of data.bytes */
		uint16_t isa;      /* BEGIN: enum hf_isa */
		uint16_t what;     /* MARKER: enum hf_marker */
		uint16_t code;     /* GAP, DOUBT, NOTE: an enum hf_err, negated */
		uint16_t any;      /* of all kinds: whatever it is; 0 where it has no other name */
	};
	union {
		uint32_t size;     /* bytes that follow as DATA */
		uint32_t fields;   /* CONTEXT: enum hf_context_field */
		/*
		 * GAP, DOUBT: so many retired instructions of the hart before this event may be wrong too: those since
		 * the source last proved where the flow was. UINT32_MAX: so many or more.
		 */
		uint32_t back;
	};
	union {
		struct hf_ev_insn insn;
		struct hf_ev_mem mem;
		struct hf_ev_reg reg;
		struct hf_ev_uop uop;
		struct hf_ev_walk walk;
		struct hf_ev_bus bus;
		struct hf_ev_trap trap;
		struct hf_ev_context context;
		struct hf_ev_time time;
		struct hf_ev_marker marker;
		struct hf_ev_txn txn;
		struct hf_ev_text text;
		struct hf_ev_jump jump;
		struct hf_ev_loss loss;
		struct hf_ev_data data;
		struct hf_ev_begin begin;
		uint64_t word[3];
	};
};

static_assert(sizeof(struct hf_event) == 32, "an event is half a cache line");
static_assert(offsetof(struct hf_event, insn) == 8, "the payload follows the tag");

/* What a GAP, DOUBT or NOTE says is wrong, and where. */
struct hf_diag;
void hf_event_diag(const struct hf_event *ev, struct hf_diag *ret_diag);

/* A number of instructions as hf_event.back. */
static inline uint32_t hf_event_back(uint64_t insns)
{
	return insns < UINT32_MAX ? (uint32_t)insns : UINT32_MAX;
}

/* Whether an INSN is a branch that was not taken. */
static inline bool hf_event_is_not_taken(const struct hf_event *ev)
{
	const unsigned flow = ev->insn.flow;
	const bool aarch32 = ev->insn.isa == HF_ISA_A32 || ev->insn.isa == HF_ISA_T32;

	if (ev->flags & (HF_EVF_TAKEN | HF_EVF_OPEN))
		return false;
	return flow == HF_FLOW_BRANCH ||
	       (aarch32 && ((flow >= HF_FLOW_JUMP && flow <= HF_FLOW_RETURN) || flow == HF_FLOW_TRAP_RETURN));
}

static inline bool hf_event_is_instruction(const struct hf_event *ev)
{
	return ev->kind == HF_EVENT_INSN || ev->kind == HF_EVENT_ATTEMPT;
}

static inline bool hf_event_is_attachment(const struct hf_event *ev)
{
	return (ev->kind >= HF_EVENT_MEM && ev->kind <= HF_EVENT_TRAP_RETURN) || ev->kind == HF_EVENT_DATA;
}

#endif
