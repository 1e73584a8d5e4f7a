/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which instructions of a capture answer a question. A question is made of terms, all of which must hold of one retired
 * instruction, with what the trace says between it and the next one. What comes before the first instruction of a hart
 * counts to that. Answers are exact: a list of the summary (index/summary/summary.h) only names the chunks in which to look, and
 * without a list all are looked at. Ordinals are those of the hart, from 0.
 */
#ifndef HF_FIND_FIND_H
#define HF_FIND_FIND_H

#include "codecs/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hf_fs;
struct hf_find_chunks;

/* Terms of one question, at most. */
#define HF_QUESTION_TERMS 32

struct hf_question;

/* HF_ERR_NOMEM. */
int hf_question_new(struct hf_question **ret_question);
void hf_question_free(struct hf_question *question);
/*
 * Adds the term of that name (questions.def), with its text, or NULL where none is needed. HF_ERR_NOT_FOUND: there is no
 * such name. HF_ERR_SETUP_VALUE: why[size] says in words what is wrong with the text; HF_ERR_LIMIT: HF_QUESTION_TERMS.
 * Symbols are looked up when the question is asked.
 */
int hf_question_add(struct hf_question *question, const char *name, const char *text, char *why, size_t size);
/* Takes away what was added last. */
void hf_question_drop(struct hf_question *question);
size_t hf_question_terms(const struct hf_question *question);

/* Every hart: hf_find.hart. */
#define HF_FIND_ALL UINT32_MAX

struct hf_find_hit {
	uint32_t hart;
	uint64_t ordinal;
	/* As listing.txt has it, each line with its end: that of the instruction, and if the question is about what comes
	 * behind it all up to the next one. NULL without hf_find.lines. Valid for the call. */
	const char *lines;
	size_t size;
	uint64_t doubt;	   /* hf_index_doubt */
	const char *stack; /* NULL: not wanted. Valid for the call */
	size_t stack_size;
};

/* How the answers of a hart were found. */
struct hf_find_stats {
	uint32_t hart;
	const char *list;    /* that named the chunks; NULL: none, all were candidates */
	const char *no_list; /* then: why */
	bool exact;	     /* the list also says how many answers are in each chunk */
	uint64_t chunks;     /* of the hart, between after and before */
	uint64_t candidates; /* of them */
	uint64_t decoded;    /* of these, those that were needed; a chunk that was needed twice counts twice */
	uint64_t unknown;    /* instructions of which the trace does not tell whether they are answers */
	uint64_t stack_chunks; /* decoded to know the stacks */
	bool from_start;       /* for these the hart was followed from its start: there is no summary */
};

/* The calls in which each answer was executed (index/answer/stack.h), in the form of stack_text.h. */
enum hf_find_stack { HF_FIND_NO_STACK, HF_FIND_STACK_LINES, HF_FIND_STACK_JSON };

/* A question, which of its answers, and who gets them. All is borrowed. */
struct hf_find {
	const char *path; /* of the capture; it has been indexed */
	const struct hf_question *question;
	uint32_t hart;		/* or HF_FIND_ALL */
	bool has_after, has_before;
	uint64_t after, before; /* only ordinals greater, or less, than that */
	bool reverse;		/* the last one first, of the last hart first */
	uint64_t skip, limit;	/* of the answers in that order: not the first skip ones, then limit at most */
	bool explain;		/* stats hears of all chunks, also if few of them are looked at */
	bool count;		/* hit is not called */
	bool lines;		/* hits come with their lines */
	enum hf_find_stack stack;
	bool no_summary;	/* for tests: as if there were none */
	void *ctx;
	bool (*hit)(void *ctx, const struct hf_find_hit *hit);	  /* false: that is enough */
	void (*stats)(void *ctx, const struct hf_find_stats *stats); /* each hart's, in their order; may be NULL */
	void (*say)(void *ctx, const char *text); /* what the user has to know besides; may be NULL */
	void (*progress)(void *ctx, uint32_t hart, double share); /* of its chunks, 0 to 1; may be NULL */
	const struct hf_find_chunks *chunks; /* scan.h */
};

/*
 * *ret_count: how many answers there are, after skip and up to limit. Hits come on the calling thread in the order of
 * harts and ordinals. HF_ERR_NOT_FOUND: there is no such hart, or symbol; HF_ERR_UNSUPPORTED: the capture cannot tell.
 * HF_ERR_MISMATCH: the summary was wrong, which showed after hits were given, and is removed. All of them with
 * why[size] in words; it is empty with others, which are those of reading.
 */
int hf_fs_find(struct hf_fs *fs, const struct hf_find *find, uint64_t *ret_count, char *why, size_t size);

#endif
