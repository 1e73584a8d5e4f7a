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
	HF_EVENT_MARKER,        /* marker: trace event, watchpoint, instrumentation */
	HF_EVENT_TRANSACTION,   /* txn */
	HF_EVENT_DEPENDENCY,    /* txn: one the transaction before it depends on */
	HF_EVENT_TEXT,          /* text: a comment of the producer */
	HF_EVENT_DISCONTINUITY, /* jump: the flow goes on elsewhere for a reason that the trace does not give */
	HF_EVENT_GAP,           /* loss: trace lost here */
	HF_EVENT_DOUBT,         /* loss: what follows, up to the next sync, may be wrong */
	HF_EVENT_NOTE,          /* loss: a defect of the source that costs nothing */
	HF_EVENT_OPAQUE,        /* text: bytes of the source that no view but the source's own can carry */
	HF_EVENT_DATA,          /* data: continues the head before it until its size is met; all but the last are full */
	HF_EVENT_BEGIN,         /* begin: first event of a slice, and only there; no decoder makes it */
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
#define HF_MODE(name, text) HF_MODE_##name,
#include "codecs/modes.def"
#undef HF_MODE
	HF_MODE_COUNT
};

/* The word in the second field of a listing line: "M", "EL1h", "?". */
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
	HF_EVF_OPEN = 2,         /* INSN: a conditional branch of which the source does not say whether it was taken */
	HF_EVF_RECORD = 4,       /* ATTEMPT: target is known */
	/* MEM, BUS */
	HF_EVF_READ = 1,
	HF_EVF_WRITE = 2,        /* both: read-modify-write */
	HF_EVF_SIZE_BITS = 4,    /* the source counts this size in bits */
	HF_EVF_SIZE_ASSUMED = 8, /* whether it counts bits or bytes shows only in its other accesses */
	HF_EVF_NO_ADDRESS = 16,  /* MEM: mem.address is not known, and 0 */
	/* TRAP */
	HF_EVF_ASYNC = 1,        /* interrupt */
	HF_EVF_HANDLER = 2,      /* TRAP, TRAP_RETURN: trap.handler is known */
	HF_EVF_MODE = 4,         /* TRAP, TRAP_RETURN: hf_event.small is the mode afterwards */
	HF_EVF_CAUSE = 8,        /* TRAP: trap.cause is known */
	HF_EVF_VIRTUAL = 16,     /* TRAP: a virtual interrupt or SError */
	HF_EVF_VALUE = 32,       /* TRAP: trap.value is known */
	/* TIMESTAMP, CYCLES */
	HF_EVF_BACK = 1,         /* applies to time.back events before this one */
	HF_EVF_NO_TIME = 2,      /* the source says that it does not know time.value, which is 0 */
	/* DISCONTINUITY */
	HF_EVF_UNTRACED = 1,     /* what lies between was deliberately not traced */
	/* GAP, DOUBT, NOTE */
	HF_EVF_FILE = 1,         /* loss.offset counts the bytes of the file and not of the stream */
};

struct hf_ev_insn {
	uint64_t pc;
	uint64_t target;  /* with HF_EVF_TAKEN; with HF_EVF_RECORD the number of its instruction record in the source */
	uint32_t opcode;  /* 32-bit T32: first halfword in the upper half */
	uint8_t size;     /* bytes: 2, 4 */
	uint8_t isa;      /* enum hf_isa */
	uint8_t flow;     /* enum hf_flow */
	uint8_t mode;     /* enum hf_mode in which it executed */
};

struct hf_ev_mem {
	uint64_t address; /* virtual */
	uint64_t data;    /* first 8 bytes, right-justified, if small (words known) > 0; further ones as DATA */
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

struct hf_ev_reg {
	uint64_t value;   /* of a vector register its first 8 bytes; hf_event.size more follow as DATA */
	uint64_t pad;
	uint16_t number;  /* RISC-V: x0.., f0.., v0.., CSR address */
	uint8_t class;    /* 1 integer, 2 floating point, 3 vector, 4 CSR (STF's numbers; 0 for READY_REG), 5 SME: the
			   * index into ZA that the instruction computed */
	uint8_t role;     /* 1 state, 2 source, 3 destination */
	uint32_t pad2;
};

struct hf_ev_uop {
	uint64_t opcode;
	uint64_t pad[2];  /* hf_event.small: size in bytes */
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

struct hf_ev_trap {
	/* RISC-V: mcause without its top bit; AArch64: ESR.EC, or 0 SError 1 IRQ 2 FIQ 3 reset; HF_TRAP_ETE + type */
	uint64_t cause;
	uint64_t value;     /* with HF_EVF_VALUE: tval, FAR; of an Arm system call its number */
	uint64_t handler;   /* where execution goes on */
};                          /* DATA (hf_event.size bytes): STF's metadata words, all of them */

enum hf_context_field {
	HF_CONTEXT_HW = 1, HF_CONTEXT_PID = 2, HF_CONTEXT_TID = 4, HF_CONTEXT_ASID = 8, HF_CONTEXT_VMID = 16,
	HF_CONTEXT_MODE = 32, HF_CONTEXT_VLEN = 64, HF_CONTEXT_ISA = 128,
	HF_CONTEXT_STATE = 256, /* hf_event.small: enum hf_context_state */
};

/* What else an Arm PE is in. */
enum hf_context_state {
	HF_STATE_SM = 1, HF_STATE_DIT = 2, HF_STATE_SSBS = 4, /* PSTATE */
	HF_STATE_TCF = 0x18, /* MTE tag check fault mode: 0 none, 8 synchronous, 0x10 asynchronous, 0x18 asymmetric */
	HF_STATE_SECURE = 0x20,
	HF_STATE_NO_PID = 0x40, HF_STATE_NO_TID = 0x80, /* the ids said before hold no longer */
	HF_STATE_ABSENT = 0x100, /* what follows is not in the trace: AArch32, Debug state */
	HF_STATE_ALL = 0x1ff,
};

struct hf_ev_context {      /* hf_event.size: the fields that are meant, enum hf_context_field */
	uint32_t hw, pid, tid, asid, vmid;
	uint16_t vlen;      /* bits / 8 */
	uint8_t mode, isa;
};

struct hf_ev_time {
	uint64_t value;
	uint64_t back;
	uint64_t pad;
};

struct hf_ev_marker {
	uint64_t value;
	uint64_t number;
	uint64_t type;      /* the source format's own */
};

struct hf_ev_txn {          /* hf_event.small: clock id; hf_event.size bytes of DATA: metadata, then protocol data */
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

struct hf_ev_loss {         /* hf_event.size: -code, an enum hf_err */
	uint64_t offset;    /* stream offset of the record or packet, or see HF_EVF_FILE */
	uint64_t bytes;     /* of the stream that were passed over, 0 if unknown */
	uint64_t detail;    /* as in hf_diag */
};

struct hf_ev_data {
	uint8_t bytes[24];  /* hf_event.small of them */
};

/* What a slice begins with; a CONTEXT with all that still holds and then the instruction itself come next. */
struct hf_ev_begin {        /* hf_event.small: enum hf_isa of the instruction */
	uint64_t ordinal;   /* of the first instruction, in the whole */
	uint64_t record;    /* number of its instruction record, as in the source; 0 if the source numbers none */
	uint64_t pc;        /* of it */
};

struct hf_event {
	uint8_t kind;   /* enum hf_event_kind */
	uint8_t flags;  /* enum hf_event_flags */
	uint16_t small; /* see the kind; MEM, BUS: 64-bit words of data known */
	uint32_t size;  /* bytes that follow as DATA, or see the kind */
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

static inline bool hf_event_is_instruction(const struct hf_event *ev)
{
	return ev->kind == HF_EVENT_INSN || ev->kind == HF_EVENT_ATTEMPT;
}

static inline bool hf_event_is_attachment(const struct hf_event *ev)
{
	return (ev->kind >= HF_EVENT_MEM && ev->kind <= HF_EVENT_TRAP_RETURN) || ev->kind == HF_EVENT_DATA;
}

#endif
