/* SPDX-License-Identifier: Apache-2.0 */
/* A record as a line of records.txt. */
#ifndef HF_ASTF_DUMP_H
#define HF_ASTF_DUMP_H

#include "codecs/astf/decoder.h"
#include "codecs/base/text.h"

/* The longest line is shorter. */
#define HF_ASTF_LINE 512

/* What the records before a line say. */
struct hf_astf_dump_state {
	uint16_t text; /* bytes of a string still to come */
	uint8_t mode;  /* enum hf_mode of the last Context record */
};

/* Writes the line of the record at p[HF_ASTF_SIZE], which is at that offset, to t; returns its end. */
uint8_t *hf_astf_dump_line(struct hf_astf_dump_state *state, uint8_t *t, uint64_t offset, const uint8_t *p);

#endif
