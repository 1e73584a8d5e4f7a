/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ASTF encoder: the events of one hart to trace.astf, RAW. An instruction's record is held back until its first
 * access and the trap flag are known, one Extra EA record until it is known whether another follows; a Context record
 * is due until something else than a context comes.
 */
#ifndef HF_ASTF_ENCODER_H
#define HF_ASTF_ENCODER_H

#include "codecs/astf/header.h"

enum hf_astf_enc_flags {
	HF_ASTF_ENC_HEADER = 1,    /* the header is written */
	HF_ASTF_ENC_INSN = 2,      /* attachments go to an instruction */
	HF_ASTF_ENC_HELD = 4,      /* whose record is in insn */
	HF_ASTF_ENC_EXTRA = 8,     /* an Extra EA record is in extra */
	HF_ASTF_ENC_ATTEMPT = 16,  /* it did not retire */
	HF_ASTF_ENC_SOFT = 32,     /* a Context is due before the next instruction */
	HF_ASTF_ENC_HARD = 64,    /* and before anything else but contexts */
	HF_ASTF_ENC_SAID = 128,    /* there was a Context */
	HF_ASTF_ENC_STATE = 256,   /* state and the ids' validity are the source's word */
	HF_ASTF_ENC_PID = 512,    /* pid, tid are known */
	HF_ASTF_ENC_TID = 1024,
	HF_ASTF_ENC_TIMED = 2048,  /* time is the last Timestamp's */
	HF_ASTF_ENC_AARCH32 = 4096, /* the PE is in AArch32, which is not recorded */
	HF_ASTF_ENC_ALL = 8191,
};

struct hf_astf_enc_state {
	struct hf_astf_record insn;
	struct hf_astf_record extra; /* also the record of a string that is not full */
	uint64_t time;
	uint32_t flags;
	uint32_t pid, tid;
	uint32_t text;        /* bytes of a text still to come */
	uint32_t piece;       /* of them in the string that is being written */
	uint16_t state;       /* enum hf_context_state */
	uint8_t text_at;      /* where in extra the next byte of the string goes, 0: no record is begun */
	uint8_t slot;         /* where the last access went: 1 insn, 2 and 3 the first and second of extra */
	uint8_t evl;
	uint8_t mode;
};

struct hf_astf_enc {
	struct hf_enc enc;                   /* first */
	const struct hf_astf_record *source; /* header of an ASTF source, else NULL */
	bool basic, timestamps;
	struct hf_astf_enc_state s;
};

static inline void hf_astf_write(struct hf_sink *sink, const struct hf_astf_record *rec)
{
	hf_astf_store(rec, hf_sink_room(sink, HF_ASTF_SIZE));
	sink->p += HF_ASTF_SIZE;
}

/* One access of the instruction whose record is held, or Extra EA records are (accesses.c). */
void hf_astf_enc_access(struct hf_astf_enc *e, struct hf_sink *sink, const struct hf_event *ev);
/* Writes what is held of an instruction: its record and the last of its Extra EA records. */
void hf_astf_enc_flush(struct hf_astf_enc *e, struct hf_sink *sink);

/* Strings (strings.c): a text of size bytes that come as DATA; what of it never came is zeros. */
void hf_astf_enc_text(struct hf_astf_enc *e, uint32_t size);
void hf_astf_enc_text_data(struct hf_astf_enc *e, struct hf_sink *sink, const uint8_t *bytes, uint32_t n);
void hf_astf_enc_text_end(struct hf_astf_enc *e, struct hf_sink *sink);
/* A string "hartfs: " and the text, at most 300 bytes. */
void hf_astf_enc_remark(struct hf_astf_enc *e, struct hf_sink *sink, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
