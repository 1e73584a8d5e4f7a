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

/* Return addresses of a trace unit and its readers (9.2), and of units before N-Trace 1.0 the most that readers keep. */
#define HF_NTRACE_STACK 32
#define HF_NTRACE_STACK_MAX 2048

/* A set of source ids. */
struct hf_ntrace_sources {
	uint64_t bits[(1u << HF_NTRACE_SRCBITS_MAX) / 64];
};

struct hf_ntrace_params {
	uint8_t srcbits;         /* width of SRC in every message; 0: there is none */
	uint8_t xlen;            /* 32, 64 */
	bool addr_msb_ext;       /* trTeInstExtendAddrMSB: high bits that are all equal are not sent (9.4) */
	bool implicit_return;    /* the encoder does not report returns to where the call was (9.2) */
	uint16_t return_depth;   /* addresses that are kept for that */
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

/* The codec's check (codecs/codec.h). */
int hf_ntrace_check(const struct hf_setup *setup, struct hf_setup_error *error);

#endif
