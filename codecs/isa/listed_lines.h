/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of instructions that a listing has written, without their ordinals: a program repeats few of them many times, so
 * that writing one again is two small copies. A line is found by all of the event that it shows; the rest that it depends
 * on (symbols, parameters of the hart) is the encoder's, so the lines are those of the one that used them last.
 */
#ifndef HF_ISA_LISTED_LINES_H
#define HF_ISA_LISTED_LINES_H

#include "codecs/event.h"

/* 1 MiB: that many lines of a program stay near, and fewer of them meet in one place. */
#define HF_LISTED_LINE_BITS 13
/* Longer lines are written anew each time. */
#define HF_LISTED_LINE_TEXT 96

struct hf_listed_line {
	uint64_t word[3];  /* of the instruction */
	uint32_t use;	   /* number of the use in which it was written */
	uint8_t flags;	   /* of the instruction */
	uint8_t len, owed; /* length, and the blanks behind it that belong to what follows */
	uint8_t it;	   /* of the instruction */
	uint8_t text[HF_LISTED_LINE_TEXT];
};

static_assert(sizeof(struct hf_listed_line) == 128, "two cache lines");

/* Zeroed: there are none. */
struct hf_listed_lines {
	struct hf_listed_line line[1 << HF_LISTED_LINE_BITS];
	const void *user;    /* the encoder that uses them, */
	const void *symbols; /*   with these symbols */
	uint32_t uses;	     /* number of the present use */
};

/* Where the line of an instruction is, if anywhere. */
static inline struct hf_listed_line *hf_listed_line_at(struct hf_listed_lines *lines, const struct hf_event *ev)
{
	const uint64_t key = ev->insn.pc ^ (uint64_t)ev->flags << 56;

	return &lines->line[key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - HF_LISTED_LINE_BITS)];
}

/* For an event whose turn is soon, be it of any kind. */
static inline void hf_listed_line_prefetch(struct hf_listed_lines *lines, const struct hf_event *ev)
{
	const struct hf_listed_line *line = hf_listed_line_at(lines, ev);

	__builtin_prefetch(line);
	__builtin_prefetch(line->text + sizeof line->text / 2);
}

#endif
