/*
 * What an N-Trace stream does not say of itself (trace control registers of the encoder): from the [parameters] of
 * its description.
 */
#ifndef HF_NTRACE_PARAMS_H
#define HF_NTRACE_PARAMS_H

#include "codecs/setup/setup.h"

/* The widest SRC field (6.2). */
#define HF_NTRACE_SRCBITS_MAX 12

struct hf_ntrace_params {
	uint8_t srcbits;         /* width of SRC in every message; 0: there is none */
	uint8_t xlen;            /* 32, 64 */
	bool addr_msb_ext;       /* trTeInstExtendAddrMSB: addresses are cut where their high bits are equal (9.4) */
	bool implicit_return;    /* returns to where the call was are not reported (9.2) */
	bool sequential_jump;    /* nor are jumps through a register that the instruction before set (9.1) */
	bool all_jumps;          /* trTeInstEnAllJumps: direct jumps are reported like taken branches (2) */
	bool wrapped;            /* the buffer begins inside a message */
	uint16_t isa;            /* xlen and the HF_RISCV_* of codecs/isa/riscv.h */
	uint64_t wrap_offset;    /* where the oldest byte of a circular buffer lies (trRamWP - trRamStart) */
};

/* The keys that hf_ntrace_params_read takes; ends with NULL. */
extern const char *const hf_ntrace_parameters[];

/* Those of one hart. setup may be NULL: all defaults. */
int hf_ntrace_params_read(const struct hf_setup *setup, uint32_t hart, struct hf_ntrace_params *ret_params,
			  struct hf_diag *diag);

#endif
