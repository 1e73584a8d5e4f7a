/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an E-Trace decoder or encoder must be told: the parameters of the trace unit and of the transport, for one hart.
 * Every width here is the plain width; the discovery attributes of the specification hold most of them less one.
 */
#ifndef HF_ETRACE_PARAMS_H
#define HF_ETRACE_PARAMS_H

#include "codecs/codec.h"

enum hf_etrace_version {
	HF_ETRACE_1_1_1,
	HF_ETRACE_2_0,
	HF_ETRACE_2_1,
};

enum hf_etrace_framing {
	HF_ETRACE_FRAMING_NONE,
	HF_ETRACE_FRAMING_RAW,       /* te_inst_raw: one byte of length and type */
	HF_ETRACE_FRAMING_ENCAP,     /* the ratified encapsulation */
	HF_ETRACE_FRAMING_SMI,       /* the message framing of figure 6.1 */
	HF_ETRACE_FRAMING_CORESIGHT, /* 16-byte formatter frames; encapsulation inside each id's bytes */
	HF_ETRACE_FRAMING_PULP,      /* records of 40 bytes */
	HF_ETRACE_FRAMING_ESP32,     /* length and a counter of packets */
};

/* How a reader finds the first byte of a packet in a stream without a synchronisation of its own (chapter 6). */
enum hf_etrace_alignment {
	HF_ETRACE_ALIGN_NONE,   /* the stream begins with a packet */
	HF_ETRACE_ALIGN_ZEROS,  /* behind 32 or more zero bytes */
	HF_ETRACE_ALIGN_BLOCKS, /* at every multiple of block_bytes, with zeros before it */
};

/* A width of a field of support packets that its layout has by itself. */
#define HF_ETRACE_OWN UINT8_MAX

/* Order of the option bits in a support packet. PULP and ESP32 also stand for those units' payload dialects. */
enum hf_etrace_support {
	HF_ETRACE_SUPPORT_REFERENCE,
	HF_ETRACE_SUPPORT_PULP,
	HF_ETRACE_SUPPORT_ESP32,
	HF_ETRACE_SUPPORT_STANDARD, /* of 2.1 */
};

enum hf_etrace_compression {
	HF_ETRACE_COMPRESS_FULL,
	HF_ETRACE_COMPRESS_NONE,
	HF_ETRACE_COMPRESS_ADDRESS, /* formats 1 and 2 with an address only */
};

/* Whether an access may come behind the packet that reports its instruction. */
enum hf_etrace_data_order {
	HF_ETRACE_ORDER_UNSAID, /* it may, once there is data trace: a support packet or an access says that */
	HF_ETRACE_ORDER_ANY,
	HF_ETRACE_ORDER_BEFORE, /* it does not, but behind the synchronisation at its own instruction */
};

/* The optional modes of one instruction trace, as support packets switch them. */
enum hf_etrace_mode {
	HF_ETRACE_IMPLICIT_RETURN = 1,
	HF_ETRACE_IMPLICIT_EXCEPTION = 2,
	HF_ETRACE_FULL_ADDRESS = 4,
	HF_ETRACE_JUMP_TARGET_CACHE = 8,
	HF_ETRACE_BRANCH_PREDICTION = 16,
	HF_ETRACE_SIJUMP = 32,
	HF_ETRACE_RESYNC_DISABLED = 64, /* 2.1 */
	HF_ETRACE_IRET_EXT = 128,       /* 2.1: irets instead of irdepth */
	/* of the data trace */
	HF_ETRACE_NO_ADDRESS = 256,
	HF_ETRACE_NO_DATA = 512,
	HF_ETRACE_FULL_DADDRESS = 1024,
	HF_ETRACE_FULL_DATA = 2048,
	HF_ETRACE_MMACAS = 4096,        /* 2.1: the other data packet formats */
};

/* Largest sizes of tables, as powers of two, that a description may ask for. */
#define HF_ETRACE_TABLE_MAX 16
/* Bits of f0s_width in a register or a support packet say this at most. */
#define HF_ETRACE_F0S_MAX 3

/* Branches as predicted that one packet may stand for: a loop that waits for the better part of a second. The field has 32
 * bits, and a packet with a bit wrong would be hours of instructions. */
#define HF_ETRACE_PREDICTED_MAX (UINT32_C(1) << 28)
/* So many are worth a note. */
#define HF_ETRACE_PREDICTED_LONG (UINT32_C(1) << 20)

struct hf_etrace_params {
	uint8_t version;            /* enum hf_etrace_version */
	uint8_t iaddress_width;     /* bits: 32, 64 or what the unit has */
	uint8_t iaddress_lsb;
	uint8_t privilege_width;
	uint8_t context_width;      /* 0 with nocontext */
	uint8_t time_width;         /* 0 with notime, and in 1.1.1 */
	uint8_t ecause_width;
	uint8_t f0s_width;
	uint8_t return_stack_size;
	uint8_t call_counter_size;
	uint8_t bpred_size;
	uint8_t cache_size;
	/* of support packets; HF_ETRACE_OWN: as wide as support has it */
	uint8_t encoder_mode_width, ioptions_width, doptions_width;
	uint8_t support;            /* enum hf_etrace_support */
	uint8_t compression;        /* enum hf_etrace_compression, of the encoder */
	bool irreport;              /* the bit is in the packets */
	bool link_x5;               /* link_registers = x1,x5 */
	bool ecall_retires;
	bool figure;                /* trap_reporting = figure */
	bool jtc_all;               /* jtc_policy = all */
	bool zcmp, zcmt;            /* the hart has these extensions */
	uint32_t modes;             /* enum hf_etrace_mode that hold before, or without, a support packet */
	uint32_t sync_instructions; /* of the encoder; 0 if not said */
	bool has_tvec[3];           /* mtvec, stvec, vstvec are given */
	uint64_t tvec[3];
	bool has_unknown_cause;
	uint64_t unknown_cause;     /* the ecause that stands for a cause nobody knows */
	/* data trace */
	uint8_t daddress_width;
	uint8_t data_width;         /* bits */
	uint8_t data_format_width;
	uint8_t data_diff_width;    /* of diff in packets without an address, and of CSR accesses */
	uint8_t lrid_width;         /* 0: loads and atomics are unified, else split, with ids of so many bits */
	bool data_reference;        /* data_diff = reference */
	uint8_t data_order;         /* enum hf_etrace_data_order */
	/* transport */
	uint8_t framing;            /* enum hf_etrace_framing */
	uint8_t srcid_bits;
	uint8_t timestamp_bytes;
	uint8_t type_bits;
	uint8_t alignment;          /* enum hf_etrace_alignment */
	uint32_t block_bytes;
};

/* The keys that a description of E-Trace may have in [parameters] and [capture]. */
extern const struct hf_setup_key hf_etrace_keys[];
/* By enum hf_etrace_version; ends with NULL. */
extern const char *const hf_etrace_versions[];

/* Everything at its default; xlen 32 or 64 gives the width of addresses. */
void hf_etrace_params_default(struct hf_etrace_params *params, unsigned xlen);

/* The parameters of that hart from a description. HF_ERR_SETUP_VALUE; error may be NULL. */
int hf_etrace_params_read(const struct hf_setup *setup, uint32_t hart, struct hf_etrace_params *ret_params,
			  struct hf_setup_error *error);

/* The reverse: lines of [capture] and of [parameters] for what is not as usual. */
void hf_etrace_params_write_transport(const struct hf_etrace_params *params, const struct hf_etrace_params *usual,
				      struct hf_sink *sink);
void hf_etrace_params_write(const struct hf_etrace_params *params, const struct hf_etrace_params *usual,
			    struct hf_sink *sink);

/* Word length of a hart's instructions: of its first program that says one, else by the width of addresses. */
unsigned hf_etrace_xlen(const struct hf_setup *setup, uint32_t hart, const struct hf_etrace_params *params);

/* xlen with the extensions of that hart, as codecs/isa/riscv.h wants it. */
unsigned hf_etrace_isa(const struct hf_etrace_params *params, unsigned xlen);

/* enum hf_etrace_framing of its name in a description; NONE if there is no such framing. */
enum hf_etrace_framing hf_etrace_framing_of(const char *name);

/* Bits of irdepth (or irets) behind irreport. */
static inline unsigned hf_etrace_depth_width(const struct hf_etrace_params *params, uint32_t modes)
{
	if (modes & HF_ETRACE_IRET_EXT)
		return 8;
	return params->return_stack_size + (params->return_stack_size > 0) + params->call_counter_size;
}

/* The largest repeat of an entry: direct recursion takes one entry where 2.1's irets are on. */
static inline uint32_t hf_etrace_repeat_max(const struct hf_etrace_params *params, uint32_t modes)
{
	return modes & HF_ETRACE_IRET_EXT && params->return_stack_size ? (1u << params->call_counter_size) - 1 : 0;
}

static inline uint64_t hf_etrace_address_mask(const struct hf_etrace_params *params)
{
	return params->iaddress_width >= 64 ? UINT64_MAX : (UINT64_C(1) << params->iaddress_width) - 1;
}

#endif
