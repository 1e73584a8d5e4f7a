/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets of an ETE: bytes to and from one struct. Nothing here knows what came before: addresses, timestamps and
 * contexts have the bits that the packet holds, and struct hf_ete_history makes whole values of them.
 */
#ifndef HF_ETE_PACKET_H
#define HF_ETE_PACKET_H

#include "codecs/ete/config.h"

enum hf_ete_kind {
	HF_ETE_NONE,
#define HF_ETE_EXTENDED(kind, ...) HF_ETE_##kind,
#define HF_ETE_PACKET(kind, ...) HF_ETE_##kind,
#include "codecs/ete/packets.def"
	HF_ETE_KINDS
};

/* An alignment synchronisation: so many zeros at least, then 80. */
#define HF_ETE_ASYNC_ZEROS 11
/* The most bytes of any packet but an A-sync with more zeros: a timestamp with a cycle count has 13, an exception with
 * a 64-bit address and all of a context 20. */
#define HF_ETE_PACKET_MAX 20

enum hf_ete_address_form {
	HF_ETE_ADDRESS_NONE,
	HF_ETE_ADDRESS_MATCH, /* one of the last three: match */
	HF_ETE_ADDRESS_SHORT,
	HF_ETE_ADDRESS_32,
	HF_ETE_ADDRESS_64,
	HF_ETE_ADDRESS_UNKNOWN, /* of an exception: 70 */
	HF_ETE_ADDRESS_FORMS
};

struct hf_ete_address {
	uint64_t value; /* the low bits of the address */
	uint8_t bits;   /* how many of them the packet holds: 8, 9, 16, 17, 32, 64 */
	uint8_t form;   /* enum hf_ete_address_form */
	uint8_t is;     /* sub-instruction set: 1 is T32 */
	uint8_t match;  /* 0: the newest */
};

/* A context byte (D5.3): what is not sent keeps its value. */
enum hf_ete_context_bits {
	HF_ETE_CONTEXT_EL = 3, HF_ETE_CONTEXT_NSE = 8, HF_ETE_CONTEXT_SF = 16, HF_ETE_CONTEXT_NS = 32,
	HF_ETE_CONTEXT_VMID = 64, HF_ETE_CONTEXT_CID = 128,
	HF_ETE_CONTEXT_STATE = 59, /* all but the two that say what follows */
};

struct hf_ete_context {
	uint32_t vmid, cid;
	uint8_t byte; /* of enum hf_ete_context_bits */
};

/* Exception types (D4.3); others are reserved, 10 to 17 hex are the implementation's. */
enum hf_ete_exception {
	HF_ETE_EXC_RESET = 0, HF_ETE_EXC_DEBUG_HALT = 1, HF_ETE_EXC_CALL = 2, HF_ETE_EXC_TRAP = 3,
	HF_ETE_EXC_SYSTEM_ERROR = 4, HF_ETE_EXC_INST_DEBUG = 6, HF_ETE_EXC_DATA_DEBUG = 7, HF_ETE_EXC_ALIGNMENT = 10,
	HF_ETE_EXC_INST_FAULT = 11, HF_ETE_EXC_DATA_FAULT = 12, HF_ETE_EXC_IRQ = 14, HF_ETE_EXC_FIQ = 15,
	HF_ETE_EXC_TRANSACTION_FAILURE = 24, /* no exception, but has its packet */
};

/*
 * Those of the M profile have types of 10 bits with other meanings (IHI0064, exceptions of Armv7-M and Armv8-M), and here
 * this beside. 1 to 15 are the exception's number, but for those below; 10 to 17 hex are IRQ0 to IRQ7, 208 to 3ef hex IRQ8
 * and those after it.
 */
#define HF_ETE_EXC_M 0x400u
enum hf_ete_m_exception {
	HF_ETE_M_RESET = HF_ETE_EXC_M + 1, HF_ETE_M_USAGE_FAULT = HF_ETE_EXC_M + 6,
	HF_ETE_M_DEBUG_HALT = HF_ETE_EXC_M + 0x18, HF_ETE_M_LAZY_FP = HF_ETE_EXC_M + 0x19,
	HF_ETE_M_LOCKUP = HF_ETE_EXC_M + 0x1a,
};
/* The preferred return address of an M core where there is none: it goes from handler to handler (tail chaining). */
#define HF_ETE_M_TAIL 0xfffffffeu

/* The cause of a trap event for an exception of an M core, and whether it is an interrupt; 0: reserved. */
uint64_t hf_ete_m_cause(unsigned type, bool *ret_interrupt);

/* "call", "IRQ", "SysTick"; NULL for a reserved one. */
const char *hf_ete_exception_name(unsigned type);

enum hf_ete_flags {
	HF_ETE_HAS_CONTEXT = 1,    /* CONTEXT (81 and not 80), and addresses with one */
	HF_ETE_HAS_COMMIT = 2,     /* cycle counts: commit is meant; COMMOPT 1 never has it */
	HF_ETE_HAS_COUNT = 4,      /* count is known */
	HF_ETE_HAS_MISPREDICT = 8, /* cancels */
	HF_ETE_HAS_INFO = 16,      /* TRACE_INFO: its sections, as its PLCTL has them in the low bits */
	HF_ETE_HAS_SPEC = 64,
	HF_ETE_HAS_CYCT = 128,
	HF_ETE_HAS_FAULT = 64,    /* EXCEPTION of an M core: a fault is pending */
	HF_ETE_HAS_TARGET = 32,    /* EXCEPTION: its address is also where the last branch went (E1E0 10) */
};

/* Fields that a kind does not have are 0. */
struct hf_ete_packet {
	uint32_t size;      /* bytes */
	uint8_t kind;       /* enum hf_ete_kind */
	uint8_t header;
	uint8_t flags;      /* enum hf_ete_flags */
	uint8_t atom_count; /* ATOM, MISPREDICT, CANCEL_F2, CANCEL_F3 */
	uint32_t atoms;     /* bit 0 is the oldest; 1: E */
	uint32_t cancel;    /* P0 elements */
	uint32_t commit;    /* P0 elements; TRACE_INFO: SPEC, those that are uncommitted here */
	uint32_t count;     /* cycles as sent, without the threshold; instructions of a Q; TRACE_INFO: CYCT, that one */
	uint16_t info;      /* TRACE_INFO: INFO; EXCEPTION: type; EVENT: the four events; INSTRUMENTATION: EL */
	uint8_t value_bits; /* TIMESTAMP: low bits that the packet holds, 7 to 56 or 64 */
	uint64_t value;     /* of a TIMESTAMP, an INSTRUMENTATION */
	struct hf_ete_address address;
	struct hf_ete_context context;
};

/*
 * Reads the packet at p[n]. Its size, 0 if p[n] does not hold all of it (HF_ETE_PACKET_MAX bytes are enough for all
 * but an A-sync), or HF_ERR_ETE_HEADER, HF_ERR_ETE_FIELD or HF_ERR_ETE_NO_ID: such a packet does not exist; ret->header is set. After the
 * zeros of an A-sync any other byte than 80, or too few zeros, is HF_ERR_ETE_ASYNC.
 */
int hf_ete_packet_get(const struct hf_ete_config *config, const uint8_t *p, size_t n, struct hf_ete_packet *ret);

/*
 * Writes a packet in its shortest form to p[HF_ETE_PACKET_MAX] and returns the end. ATOM: atoms must be one of the
 * patterns that exist (hf_ete_atom_header); CYCLE_COUNT_F2 and F3 and the cancels: in range.
 */
uint8_t *hf_ete_packet_put(const struct hf_ete_config *config, uint8_t *p, const struct hf_ete_packet *packet);

/* The header of a packet with exactly these atoms, 0 if there is none. */
uint8_t hf_ete_atom_header(uint32_t atoms, unsigned count);

/* What packets leave out because it was said before (K10.5.2.1). The newest address is the first. */
struct hf_ete_history {
	uint64_t address[3];
	uint8_t is[3];
	uint64_t timestamp;
	struct hf_ete_context context;
	uint32_t threshold; /* of cycle counts */
};

/* The whole of what the packet says; the history is as after it. */
struct hf_ete_meaning {
	uint64_t address; /* EXCEPTION with an unknown one: 0 */
	uint64_t timestamp;
	uint8_t is;
	struct hf_ete_context context; /* after it */
};

void hf_ete_history_apply(struct hf_ete_history *history, const struct hf_ete_packet *packet,
			  struct hf_ete_meaning *ret);

/* Name and fields of a packet that was read, which stays as it is, as in records.txt, to text[HF_ETE_TEXT_MAX]; returns
 * the end. threshold: of cycle counts. */
#define HF_ETE_TEXT_MAX 256
uint8_t *hf_ete_packet_show(struct hf_ete_packet *packet, const struct hf_ete_meaning *meaning, uint32_t threshold,
			    uint8_t *text);

#endif
