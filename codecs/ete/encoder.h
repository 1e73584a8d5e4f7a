/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The view ete/: an instruction stream as ETE packets without speculation, in a CoreSight snapshot directory. encoder.c
 * follows the flow, enc_emit.c makes the packets, enc_state.c keeps the state, enc_snapshot.c writes the descriptions.
 */
#ifndef HF_ETE_ENCODER_H
#define HF_ETE_ENCODER_H

#include "codecs/codec.h"
#include "codecs/ete/packet.h"
#include "codecs/walk/return_stack.h"

/* Return addresses a trace unit keeps at the most (D4.4.5). */
#define HF_ETE_ENC_STACK 15
/* Atoms that wait for a packet: the most that one has. */
#define HF_ETE_ENC_ATOMS 24
#define HF_ETE_SYNC_DEFAULT 16384u

/* The view's parameters. */
struct hf_ete_enc_config {
	uint32_t sync_instructions; /* between two synchronisations; 0: only where the trace begins */
	bool return_stack, timestamps, contextid;
	bool q_elements; /* how the flow ends where nothing says why: see hf_ete_enc_close */
};

enum hf_ete_enc_flags {
	HF_ETE_ENC_STARTED = 1,  /* a decoder knows where the flow is */
	HF_ETE_ENC_INDIRECT = 2, /* the newest P0 element is a taken indirect branch, its target not said yet */
	HF_ETE_ENC_ADDRESS = 4,  /* behind an exception: where it goes on was not said yet */
	HF_ETE_ENC_BRANCHED = 8, /* the newest instruction is a P0 element: a synchronisation may follow */
	HF_ETE_ENC_LOST = 16,    /* trace was lost here */
	HF_ETE_ENC_APART = 32,   /* what follows does not follow on what was before */
	HF_ETE_ENC_TIME = 64,    /* timestamp waits for the trace to begin */
	HF_ETE_ENC_CID = 128,    /* cid was said since the last synchronisation */
	HF_ETE_ENC_TARGET = 256, /* with INDIRECT or ADDRESS: next is where the flow went */
};

struct hf_ete_enc_state {
	uint64_t next;       /* where the flow goes on by itself */
	uint64_t address[3]; /* said last, the newest first */
	uint64_t said_time, time;
	uint32_t atoms;      /* that wait; bit 0 is the oldest */
	uint32_t ran;        /* instructions since the newest P0 element or address */
	uint32_t left;       /* instructions until a synchronisation is due */
	uint32_t cid, said_cid;
	uint16_t flags;      /* enum hf_ete_enc_flags */
	uint8_t is[3];
	uint8_t next_is;
	uint8_t atom_count;
	uint8_t context;     /* context byte without ids, as said last */
	uint8_t next_context; /* with TARGET: of what is there */
	uint8_t secure;
};

struct hf_ete_enc {
	struct hf_enc enc;
	struct hf_ete_enc_config c;
	struct hf_ete_config unit; /* of the trace unit that it plays */
	struct hf_ete_enc_state s;
	struct hf_return_stack links; /* bit 0 of an address: T32 */
	uint64_t links_room[HF_ETE_ENC_STACK + 1];
};

/* A place that the flow reaches. */
struct hf_ete_enc_place {
	uint64_t pc;
	uint8_t is;      /* 1: T32 */
	uint8_t context; /* context byte without ids */
};

/* HF_ERR_SETUP_VALUE, and why[size] (which may be NULL) says what is wrong. */
int hf_ete_enc_config_read(const char *params, struct hf_ete_enc_config *ret_config, char *why, size_t size);
int hf_ete_enc_check(const char *params, char *why, size_t size);

void hf_ete_enc_visit(struct hf_enc *enc, struct hf_fields *f);

void hf_ete_enc_atom(struct hf_ete_enc *e, struct hf_sink *sink, bool taken);
void hf_ete_enc_flush(struct hf_ete_enc *e, struct hf_sink *sink);
/*
 * Ends what was executed since the newest P0 element, so that it is not lost: as if the PE was halted there, which every
 * decoder takes, or by a Q element that counts it.
 */
void hf_ete_enc_close(struct hf_ete_enc *e, struct hf_sink *sink);
/* Where the trace begins, or begins again behind a loss (Overflow) or a jump that nothing explains (Trace On). */
void hf_ete_enc_start(struct hf_ete_enc *e, struct hf_sink *sink, const struct hf_ete_enc_place *at);
/* Trace was lost here. */
void hf_ete_enc_overflow(struct hf_ete_enc *e, struct hf_sink *sink);
/* A periodic synchronisation where the flow is at. */
void hf_ete_enc_sync(struct hf_ete_enc *e, struct hf_sink *sink, const struct hf_ete_enc_place *at);
/* A target address, with the context if that is another one than before. */
void hf_ete_enc_target(struct hf_ete_enc *e, struct hf_sink *sink, const struct hf_ete_enc_place *at);
/* The context, if it is another one than before. */
void hf_ete_enc_context(struct hf_ete_enc *e, struct hf_sink *sink, uint8_t byte);
void hf_ete_enc_exception(struct hf_ete_enc *e, struct hf_sink *sink, unsigned type, uint64_t address, uint8_t is);
void hf_ete_enc_timestamp(struct hf_ete_enc *e, struct hf_sink *sink);

/* The descriptions beside trace.bin. */
extern const struct hf_side_file hf_ete_enc_side[];

#endif
