/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The summary of a capture: which code each hart executed, how often, and in which chunks. Decoding one of these chunks
 * tells which instructions it was. Like an index it is a cache, opened read-only, and usable by any number of threads.
 *
 * Addresses are pcs, counts are executions, chunks are numbered as those of the decode index.
 */
#ifndef HF_INDEX_SUMMARY_H
#define HF_INDEX_SUMMARY_H

#include "index/base/identity.h"
#include "index/summary/run.h"

/* Changes with what pages and sections hold. */
#define HF_SUMMARY_VERSION 9

struct hf_index;
struct hf_summary;

/* 0, HF_ERR_NOT_FOUND if there is no complete and valid one of that identity, or HF_ERR_NOMEM/IO, as hf_index_open. */
int hf_summary_open(int dirfd, const struct hf_identity *identity, struct hf_summary **ret_summary);
void hf_summary_close(struct hf_summary *summary);
/* Whether there is a file for one with that hf_index_files; what it holds is not looked at. */
bool hf_summary_is_there(int dirfd, const uint64_t files[2]);
/* Whether anything that was asked of it has met damage. */
bool hf_summary_is_damaged(const struct hf_summary *summary);
/* Removes its file, if that still stands under its name. It can be used as before. */
void hf_summary_remove(const struct hf_summary *summary);

/* Whether it is of the same chunks as the index: if not, hf_build_run makes it anew. */
bool hf_summary_fits(const struct hf_summary *summary, const struct hf_index *index);
/* A hart with more chunks has a summary however small its capture is, and so its index has no place in a pack. */
#define HF_SUMMARY_UNPACKED 64u
/* Whether there is anything to sum up: a hart of one chunk is decoded instead. */
bool hf_summary_is_wanted(const struct hf_index *index);

/* What a number of a context in the runs of the hart means. HF_ERR_NOT_FOUND: there is none, as of HF_RUN_OTHERS. */
int hf_summary_context(struct hf_summary *summary, uint32_t hart, uint32_t number, struct hf_run_context *ret_context);

/* All of them, by their numbers, into an empty array, for free() in any case. HF_ERR_STATE, HF_ERR_NOMEM. */
int hf_summary_contexts(struct hf_summary *summary, uint32_t hart, struct hf_run_context **ret_contexts,
			size_t *ret_count);

/* A run of the hart, with what is known of it. The same run may come once for each span of the hart. */
struct hf_summary_run {
	struct hf_run run;
	uint64_t count;	     /* how often it was executed */
	uint64_t number;     /* of it, among all of the hart */
	uint64_t chunks;     /* in so many chunks, */
	uint64_t first, end; /*   all of them in [first, end) */
};

/* A positive number ends the look-up, a negative error too. */
typedef int (*hf_summary_fn)(void *ctx, const struct hf_summary_run *run);
/*
 * Every run of the hart of whose code some lies in [first, end), in the order of spans and keys; run is valid for the
 * call. Returns what fn did, if not 0. HF_ERR_NOT_FOUND: there is no such hart. HF_ERR_STATE: it is damaged.
 */
int hf_summary_runs(struct hf_summary *summary, uint32_t hart, uint64_t first, uint64_t end, hf_summary_fn fn,
		    void *ctx);

/* How many numbers of runs the hart has; 0: there is no such hart. */
uint64_t hf_summary_run_count(const struct hf_summary *summary, uint32_t hart);

/* That a run was executed in a chunk so many times, at least 1. */
struct hf_posting {
	uint64_t chunk, count;
};

/* Of a run with that number some postings, at least 1, at most 64, in the order of chunks. A positive number ends it, a
 * negative error too. */
typedef int (*hf_postings_fn)(void *ctx, uint64_t run, const struct hf_posting *posting, size_t n);
/*
 * What was executed in the chunks [low, high): groups of 64 chunks come in their order, each run once in a group that has
 * it. wanted: of each number of a run whether it is asked for; NULL: all are. Returns what fn did, if not 0. Errors as of
 * hf_summary_runs, HF_ERR_NOMEM.
 */
int hf_summary_postings(struct hf_summary *summary, uint32_t hart, uint64_t low, uint64_t high, const uint8_t *wanted,
			hf_postings_fn fn, void *ctx);

/* All runs of a hart in memory, by their numbers. */
struct hf_summary_book {
	struct hf_summary_run *run; /* without instructions: there is none of that number, and nothing has it */
	uint64_t count;
	uint8_t *code;
};
/* To be freed in any case. Errors as of hf_summary_runs, HF_ERR_NOMEM. */
int hf_summary_book_load(struct hf_summary *summary, uint32_t hart, struct hf_summary_book *ret_book);
void hf_summary_book_free(struct hf_summary_book *book);

/* Looks at all of it: HF_ERR_STATE if a page or a section is damaged, or the runs are not as many instructions as the
 * hart, or its calls. What else it holds is asked with summary_tree.h and summary/rare.h, words.h and registers.h. */
int hf_summary_check(struct hf_summary *summary);

#endif
