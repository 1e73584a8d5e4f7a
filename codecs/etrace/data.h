/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data trace packets (chapter 7): payload bits to the access that they report and back, with the compression of
 * addresses and data.
 */
#ifndef HF_ETRACE_DATA_H
#define HF_ETRACE_DATA_H

#include "codecs/etrace/packet.h"

enum hf_etrace_access_kind {
	HF_ETRACE_LOAD,
	HF_ETRACE_STORE,
	HF_ETRACE_ATOMIC,
	HF_ETRACE_CSR,
	/* what was read, of the request with the same id */
	HF_ETRACE_LOAD_DATA,
	HF_ETRACE_ATOMIC_DATA,
};

enum hf_etrace_access_flags {
	HF_ETRACE_HAS_ADDRESS = 1,
	HF_ETRACE_HAS_DATA = 2,
	HF_ETRACE_HAS_OPERAND = 4,
	HF_ETRACE_SPLIT = 8,   /* the data comes in a packet of its own */
	HF_ETRACE_FAILED_ACCESS = 16, /* the response says so */
	HF_ETRACE_UNALIGNED = 32,
	HF_ETRACE_ACCESS_FLAGS = 63,
	HF_ETRACE_UNSIZED = 64, /* data of a split atomic whose request is not known: its size, and so the data, is a guess */
};

/* Of atomics. CSR accesses have 0 RW, 1 RS, 2 RC. */
enum hf_etrace_atomic {
	HF_ETRACE_SWAP,
	HF_ETRACE_ADD,
	HF_ETRACE_AND,
	HF_ETRACE_OR,
	HF_ETRACE_XOR,
	HF_ETRACE_MAX,
	HF_ETRACE_MIN,
	HF_ETRACE_FAILED_SC,  /* 2.0: a store-conditional that did not store */
	HF_ETRACE_FAILED_CAS, /* 2.1, mmacas */
	HF_ETRACE_ATOMICS
};

struct hf_etrace_access {
	uint64_t address; /* of a CSR its number */
	uint64_t data;    /* read, or stored; of an atomic or a CSR what was there */
	uint64_t operand; /* rs2 of an atomic, rs1 of a CSR access */
	uint16_t id;
	uint8_t kind;     /* enum hf_etrace_access_kind */
	uint8_t size;     /* log2 of bytes */
	uint8_t subtype;  /* enum hf_etrace_atomic, or of a CSR access */
	uint8_t flags;    /* enum hf_etrace_access_flags */
	/* as transmitted */
	uint8_t format, diff;
	uint8_t length;   /* bytes of the payload */
};

#define HF_ETRACE_DATA_SIZES 8
/* Split atomics under way whose size is known when their data comes; that of an older one is HF_ETRACE_UNSIZED. */
#define HF_ETRACE_DATA_ATOMICS 16

/* What differences are formed against, for each size of an access. */
struct hf_etrace_data_state {
	uint64_t address[HF_ETRACE_DATA_SIZES], data[HF_ETRACE_DATA_SIZES];
	bool used;
	/* of a writer: sizes (as bits) of which there is one since the last synchronisation */
	uint8_t address_known, data_known;
	/* of a reader: split atomics without their data, oldest first */
	uint8_t atomic_count;
	uint8_t atomic_size[HF_ETRACE_DATA_ATOMICS];
	uint16_t atomic_id[HF_ETRACE_DATA_ATOMICS];
};

/* DataCompress of table 2.2. */
enum hf_etrace_data_compress {
	HF_ETRACE_DATA_BEST,
	HF_ETRACE_DATA_NONE,
	HF_ETRACE_DATA_XOR,
	HF_ETRACE_DATA_DIFFERENCE,
};

/*
 * Takes a payload apart; modes have NO_ADDRESS, NO_DATA and MMACAS. HF_ERR_ETRACE_PACKET: a reserved format. What is
 * kept in *state for the packets behind it is changed.
 */
int hf_etrace_data_read(const struct hf_etrace_params *params, uint32_t modes, struct hf_etrace_data_state *state,
			const uint8_t *payload, size_t n, struct hf_etrace_access *ret_access);

/*
 * The reverse: the shortest payload[HF_ETRACE_PAYLOAD_MAX] that this compression allows, and its bytes; 0, and *state as
 * it was, if this access has no packet with these parameters. modes also have FULL_DADDRESS and FULL_DATA. HAS_ADDRESS
 * and HAS_DATA say what is known, the modes what is written; SPLIT only makes a request of an atomic or load.
 */
size_t hf_etrace_data_write(const struct hf_etrace_params *params, uint32_t modes, enum hf_etrace_data_compress compress,
			    struct hf_etrace_data_state *state, const struct hf_etrace_access *access, uint8_t *payload);

/* A synchronisation: the next packet of each size stands alone. */
static inline void hf_etrace_data_sync(struct hf_etrace_data_state *state)
{
	state->address_known = state->data_known = 0;
}

#endif
