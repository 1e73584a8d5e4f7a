/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an N-Trace stream does not say: how the trace control registers of the encoder were set. It comes from
 * [parameters] of the description.
 */
#ifndef HF_NTRACE_PARAMS_H
#define HF_NTRACE_PARAMS_H

#include "codecs/setup/keys.h"
#include "codecs/walk/ending.h"

/* The widest SRC field (6.2). */
#define HF_NTRACE_SRCBITS_MAX 12

/* The narrowest addresses and counters. */
#define HF_NTRACE_ADDRESS_MIN 16
#define HF_NTRACE_TIME_MIN 16

/* Return addresses of a trace unit and its readers (9.2), and of units before N-Trace 1.0 the most that readers keep. */
#define HF_NTRACE_STACK 32
#define HF_NTRACE_STACK_MAX 2048

/* What the TSTAMP of a message is that does not synchronise. */
enum hf_ntrace_times {
	HF_NTRACE_TIMES_ADD,      /* it is added to the time before (8.5) */
	HF_NTRACE_TIMES_XOR,      /* it is XORed with it: SiFive's units */
	HF_NTRACE_TIMES_ABSOLUTE, /* it is the time */
	HF_NTRACE_TIMES_UNKNOWN,
};

/* Trace units that were built before or beside N-Trace 1.0: dialects.def. */
enum hf_ntrace_dialect {
#define HF_NTRACE_DIALECT(NAME, ...) HF_NTRACE_DIALECT_##NAME,
#include "codecs/ntrace/dialects.def"
#undef HF_NTRACE_DIALECT
	HF_NTRACE_DIALECTS,
};

/* A set of source ids. */
struct hf_ntrace_sources {
	uint64_t bits[(1u << HF_NTRACE_SRCBITS_MAX) / 64];
};

struct hf_ntrace_params {
	uint8_t srcbits;         /* width of SRC in every message; 0: there is none */
	uint8_t xlen;            /* 32, 64 */
	uint8_t dialect;         /* enum hf_ntrace_dialect: what is not said otherwise is as this one has it */
	uint8_t address_width;   /* bits of an address that are sent; what is above equals the highest. 0: xlen */
	uint8_t times;           /* enum hf_ntrace_times */
	uint8_t time_width;      /* bits of the counter; 64: it never wraps */
	bool trap_values;        /* TCODE 56 is the value of the trap before it */
	bool addr_msb_ext;       /* trTeInstExtendAddrMSB: high bits that are all equal are not sent (9.4) */
	bool implicit_return;    /* the encoder does not report returns to where the call was (9.2) */
	uint16_t return_depth;   /* addresses that are kept for that */
	bool compare_returns;    /* a return to elsewhere is reported; else returns are only counted */
	bool sequential_jump;    /* nor does it report jumps through a register that the instruction before set (9.1) */
	bool all_jumps;          /* trTeInstEnAllJumps: direct jumps are reported like taken branches (2) */
	bool wrapped;            /* the buffer begins inside a message */
	struct hf_code_size code_size;
	uint16_t isa;            /* xlen and the hart's extensions */
	/* With SRC: sources whose xlen or addr_msb_ext differs. Their messages are parsed too. */
	struct hf_ntrace_sources other_xlen, other_msb_ext;
	uint8_t layout;          /* enum hf_coresight_layout */
	uint8_t trace_id;        /* with frames and SRC: the trace id that is read; 0: the lowest one */
	uint8_t word_bytes;      /* 1, or the size of the words whose bytes a dump has in the wrong order */
	uint64_t wrap_offset;    /* where the oldest byte of a circular buffer lies (trRamWP - trRamStart) */
};

/* The keys that hf_ntrace_params_read takes. */
extern const struct hf_setup_key hf_ntrace_keys[];

/* Reads the parameters of one hart, or returns HF_ERR_SETUP_VALUE. setup may be NULL (all defaults), error as well. */
int hf_ntrace_params_read(const struct hf_setup *setup, uint32_t hart, struct hf_ntrace_params *ret_params,
			  struct hf_setup_error *error);

/* How a reader of the stream classifies instructions. */
static inline struct hf_walk_rules hf_ntrace_rules(const struct hf_ntrace_params *params)
{
	return (struct hf_walk_rules){
		.xlen = params->isa, .code_size = params->code_size, .pairs = params->sequential_jump, .swaps = true};
}

static inline bool hf_ntrace_source_in(const struct hf_ntrace_sources *sources, unsigned src)
{
	return sources->bits[src / 64] >> src % 64 & 1;
}

static inline unsigned hf_ntrace_xlen(const struct hf_ntrace_params *params, unsigned src)
{
	return (params->xlen == 32) != hf_ntrace_source_in(&params->other_xlen, src) ? 32 : 64;
}

/* Bits of an address of that source that are sent: bit 0, which no field has, counts. */
static inline unsigned hf_ntrace_address_bits(const struct hf_ntrace_params *params, unsigned src)
{
	const unsigned xlen = hf_ntrace_xlen(params, src);

	return params->address_width && params->address_width < xlen ? params->address_width : xlen;
}

/* The address whose low bits are those of v: what is above the bits that are sent equals the highest of them. */
static inline uint64_t hf_ntrace_extend(const struct hf_ntrace_params *params, unsigned src, uint64_t v)
{
	const unsigned bits = hf_ntrace_address_bits(params, src);
	const uint64_t sign = UINT64_C(1) << (bits - 1), low = sign | (sign - 1);

	v = ((v & low) ^ sign) - sign;
	return hf_ntrace_xlen(params, src) == 32 ? (uint32_t)v : v;
}

/* "xor"; NULL: not known. */
const char *hf_ntrace_times_name(unsigned times);
const char *hf_ntrace_dialect_name(unsigned dialect);
const struct hf_ntrace_params *hf_ntrace_dialect_defaults(unsigned dialect);

/* The codec's check (codecs/codec.h). */
int hf_ntrace_check(const struct hf_setup *setup, struct hf_setup_error *error);

#endif
