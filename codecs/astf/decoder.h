/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ASTF decoder: records to events. Its unit is the step, the events of one record (of a string: of all its
 * records). Between two steps everything is in struct hf_astf_sync; inside one the state is the step's beginning and
 * the events given since.
 */
#ifndef HF_ASTF_DECODER_H
#define HF_ASTF_DECODER_H

#include "codecs/astf/header.h"
#include "codecs/source/reader.h"

/* Bytes that a step may look at, a string aside: a Trap record, a Timestamp and a Context. */
#define HF_ASTF_LOOK (3 * HF_ASTF_SIZE)
/* Events of one step at most, those of a string's bytes aside. */
#define HF_ASTF_STEP_MAX 16

enum hf_astf_flags {
	HF_ASTF_CONTEXT_SEEN = 1,
	HF_ASTF_EXPECT = 2,   /* expected is known */
	HF_ASTF_CHAIN = 4,    /* an Extra EA record is due */
	HF_ASTF_DUE = 8,      /* the last instruction's trap flag awaits its record: Trap, in Basic traces Context */
	HF_ASTF_FRESH = 16,   /* a Context record since the last instruction */
	HF_ASTF_TIMED = 32,   /* time is that of a Timestamp record */
	HF_ASTF_PID = 64,     /* pid, tid are valid */
	HF_ASTF_TID = 128,
	HF_ASTF_ATTEMPT = 256, /* the last instruction did not retire */
	HF_ASTF_BEGUN = 512,  /* the header's notes are told */
	HF_ASTF_ALL = 1023,
};

/* What is noted once, as bits of hf_astf_sync.noted; a bit of its own for the reserved bits of each record type. */
enum hf_astf_noted {
	HF_ASTF_NOTED_LEVEL = 1,
	HF_ASTF_NOTED_TRAP = 2,
	HF_ASTF_NOTED_JUMP = 4,
	HF_ASTF_NOTED_TIME = 8,
	HF_ASTF_NOTED_CONTEXT = 16,
	HF_ASTF_NOTED_RESERVED = 32, /* times 2 to the type's low 4 bits, plus 8 for 0x40: no two are equal */
	HF_ASTF_NOTED_ALL = (32 << 16) - 1,
};

struct hf_astf_sync {
	uint64_t offset;   /* of the next record in the stream */
	uint64_t index;    /* instruction records before it */
	uint64_t expected; /* where the flow goes on */
	uint64_t time;
	uint64_t fault;    /* address of the instruction's last access that neither read nor wrote */
	uint32_t pid, tid;
	uint32_t flags;    /* enum hf_astf_flags */
	uint32_t noted;    /* enum hf_astf_noted */
	uint16_t state;    /* enum hf_context_state of the last Context record */
	uint8_t evl;
	uint8_t mode;      /* enum hf_mode */
};

struct hf_astf_dec {
	struct hf_dec dec; /* first */
	struct hf_reader reader;
	bool basic, timestamps;
	struct hf_astf_sync sync; /* before the step at hand */
	struct hf_astf_sync now;  /* behind it */
	uint64_t done;            /* events given since sync */
	struct hf_event queue[HF_ASTF_STEP_MAX];
	unsigned queued, given;
	uint32_t text, text_given; /* bytes of the string whose record is at sync.offset */
	bool ended;                /* nothing follows but what is queued */
};

/* A step in the making: events go to ev, the state to now. */
struct hf_astf_step {
	struct hf_astf_dec *d;
	struct hf_astf_sync *now;
	const uint8_t *p; /* the record */
	size_t have;      /* bytes from there on, in the window */
	struct hf_event *ev;
	unsigned n;
};

/* The events of the record at now->offset, a whole one (steps.c). It moves on behind it. */
void hf_astf_step(struct hf_astf_step *s);
/*
 * Steps at p[have], where d->now stands, with events to ev[*n] and on, as long as there is room for any step and its
 * record is not a string's.
 */
void hf_astf_run(struct hf_astf_dec *d, const uint8_t *p, size_t have, struct hf_event *ev, size_t max, size_t *n);
/* What there is to say where the stream ends: have < HF_ASTF_SIZE. */
void hf_astf_step_end(struct hf_astf_step *s);
/* What hf_dec_ops.begin asks for, of the state behind an instruction. */
void hf_astf_begin(const struct hf_astf_sync *now, struct hf_event *ret_context, uint64_t *ret_record);

extern const struct hf_dec_ops hf_astf_dec_ops, hf_astf_dump_ops;

/* enum hf_mode of a Context record: its exception level and stack pointer. */
static inline uint8_t hf_astf_mode(const struct hf_astf_record *rec)
{
	static const uint8_t modes[8] = {HF_MODE_EL0t, HF_MODE_EL1t, HF_MODE_EL2t, HF_MODE_EL3t,
					 HF_MODE_EL0t, HF_MODE_EL1h, HF_MODE_EL2h, HF_MODE_EL3h};

	return modes[HF_ASTF_GET(rec, CONTEXT, el) | HF_ASTF_GET(rec, CONTEXT, handler) << 2];
}

#endif
