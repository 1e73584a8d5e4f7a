/* SPDX-License-Identifier: Apache-2.0 */
/* A record as a line of records.txt. */
#ifndef HF_ASTF_DUMP_H
#define HF_ASTF_DUMP_H

#include "codecs/astf/decoder.h"
#include "codecs/base/text.h"
#include "codecs/records.h"

/* The longest line is shorter. */
#define HF_ASTF_LINE 512

/* What the records before a line say. */
struct hf_astf_dump_state {
	uint16_t text; /* bytes of a string still to come */
	uint8_t mode;  /* enum hf_mode of the last Context record */
};

extern const struct hf_record_ops hf_astf_dump_record;

/* Makes the record an event, whose head is there: that of most fit in it. The others are text. */
bool hf_astf_dump_pack(const struct hf_astf_dump_state *state, const struct hf_astf_record *rec, struct hf_event *ev);

/* Writes the line of the record at p[HF_ASTF_SIZE], which is at that offset, to t; returns its end. */
uint8_t *hf_astf_dump_line(struct hf_astf_dump_state *state, uint8_t *t, uint64_t offset, const uint8_t *p);

#endif
