/* SPDX-License-Identifier: Apache-2.0 */
/* What a question is made of, as it was asked: no capture is known yet. Internal to fs/find/. */
#ifndef HF_FIND_QUESTION_H
#define HF_FIND_QUESTION_H

#include "fs/find/find.h"
#include "index/summary/run.h"

enum hf_question_kind {
#define HF_QUESTION(id, name, parse) HF_ASK_##id,
#include "fs/find/questions.def"
#undef HF_QUESTION
	HF_ASK_KINDS,
	HF_ASK_RARE = HF_ASK_KINDS, /* of no user: which chunks may have such events */
};

/* A value has at most so many words: a vector register of 2048 bits. */
#define HF_FIND_WORDS 32

/* Numbers of causes that have names are all below. */
#define HF_FIND_NAMED_CAUSES HF_TRAP_M_END

/* Both ends belong to it. */
struct hf_find_range {
	uint64_t first, last;
};

/* A trap is asked for by its cause if by neither of the others. */
enum hf_find_trap { HF_TRAP_ANY, HF_TRAP_CAUSE, HF_TRAP_EXCEPTION, HF_TRAP_INTERRUPT, HF_TRAP_NAME };

struct hf_find_value {
	unsigned count; /* of words; 0: any value */
	uint64_t word[HF_FIND_WORDS];
};

struct hf_find_term {
	enum hf_question_kind kind;
	char *text;		    /* a symbol, mnemonic, register, or name of a trap; owned; NULL: none, of a register any */
	struct hf_find_range range; /* without a symbol: where; with one: its last is the bytes after the first */
	const struct hf_find_range *more; /* borrowed: more of them, more_count */
	size_t more_count;
	uint32_t opcode, mask;
	unsigned mode;
	struct hf_run_context context;
	char comm[32]; /* and the name of the thread; "": any */
	enum hf_find_trap trap;
	uint64_t cause;
	uint8_t what; /* of a marker: enum hf_marker, HF_MARKERS: any; */
	bool numbered; /*   and its number */
	uint64_t number;
	uint32_t rare; /* bits of enum hf_rare_kind */
	struct hf_find_value value;
};

struct hf_question {
	size_t count;
	struct hf_find_term term[HF_QUESTION_TERMS];
};

/* A number as the listing has it, in hexadecimal with or without "0x". */
bool hf_find_hex(const char *text, size_t n, uint64_t *ret_value);
bool hf_find_dec(const char *text, size_t n, uint64_t *ret_value);

#endif
