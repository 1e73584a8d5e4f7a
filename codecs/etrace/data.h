/*
 * Data trace packets (chapter 7): payload bits to the access that they report, with the compression of addresses and
 * data undone.
 */
#ifndef HF_ETRACE_DATA_H
#define HF_ETRACE_DATA_H

#include "codecs/etrace/packet.h"

enum hf_etrace_access_kind {
	HF_ETRACE_LOAD,
	HF_ETRACE_STORE,
	HF_ETRACE_ATOMIC,
	HF_ETRACE_CSR,
	HF_ETRACE_RESPONSE, /* data of a split load or atomic: of the request with its id */
};

enum hf_etrace_access_flags {
	HF_ETRACE_HAS_ADDRESS = 1,
	HF_ETRACE_HAS_DATA = 2,
	HF_ETRACE_HAS_OPERAND = 4,
	HF_ETRACE_SPLIT = 8,   /* the data comes in a packet of its own */
	HF_ETRACE_FAILED_ACCESS = 16, /* the response says so */
	HF_ETRACE_UNALIGNED = 32,
};

struct hf_etrace_access {
	uint64_t address; /* of a CSR its number */
	uint64_t data;    /* read, or stored; of an atomic what was there */
	uint64_t operand; /* rs2 of an atomic, rs1 of a CSR access */
	uint16_t id;
	uint8_t kind;     /* enum hf_etrace_access_kind */
	uint8_t size;     /* log2 of bytes */
	uint8_t subtype;  /* atomics: swap add and or xor max min, 7 failed store-conditional; CSRs: RW RS RC */
	uint8_t flags;    /* enum hf_etrace_access_flags */
	/* as transmitted */
	uint8_t format, diff;
	uint8_t length;   /* bytes of the payload */
};

#define HF_ETRACE_DATA_SIZES 8

/* What differences are formed against, for each size of an access. */
struct hf_etrace_data_state {
	uint64_t address[HF_ETRACE_DATA_SIZES], data[HF_ETRACE_DATA_SIZES];
	bool used;
};

/*
 * Takes a payload apart; modes have NO_ADDRESS, NO_DATA and MMACAS. HF_ERR_ETRACE_PACKET: a reserved format. What is
 * kept in *state for the packets behind it is changed.
 */
int hf_etrace_data_read(const struct hf_etrace_params *params, uint32_t modes, struct hf_etrace_data_state *state,
			const uint8_t *payload, size_t n, struct hf_etrace_access *ret_access);

#endif
