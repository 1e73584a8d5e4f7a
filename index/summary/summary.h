/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The summary of a capture: which code each hart executed, how often, and in which chunks; decoding these gives the
 * instructions. Like an index it is a cache, opened read-only, and usable by any number of threads.
 *
 * Addresses are pcs, counts are executions, chunks are numbered as those of the decode index.
 */
#ifndef HF_INDEX_SUMMARY_H
#define HF_INDEX_SUMMARY_H

#include "index/base/identity.h"
#include "index/store/dir.h"
#include "index/summary/run.h"

/* Changes with what pages and sections hold. */
#define HF_SUMMARY_VERSION 10

struct hf_index;
struct hf_summary;

/* As hf_index_open: HF_ERR_NOT_FOUND if there is no complete, valid one of that identity; HF_ERR_NOMEM, HF_ERR_IO. */
int hf_summary_open(const struct hf_store_dir *dir, const struct hf_identity *identity,
		    struct hf_summary **ret_summary);
void hf_summary_close(struct hf_summary *summary);
/* Whether there is a file of a summary with that hf_index_files. Its contents are not checked. */
bool hf_summary_is_there(const struct hf_store_dir *dir, const uint64_t files[2]);
/* Whether a call has met damage. */
bool hf_summary_is_damaged(const struct hf_summary *summary);
/* Removes its file, unless another one has the name by now. The open summary can still be used. */
void hf_summary_remove(const struct hf_summary *summary);

/* Whether its chunks are those of the index. If not, hf_build_run makes the summary again. */
bool hf_summary_fits(const struct hf_summary *summary, const struct hf_index *index);
/* A hart with more chunks has a summary even if its capture is small; so its index must not be in a pack. */
#define HF_SUMMARY_UNPACKED 64u
/* Whether the capture needs a summary: a hart of one chunk is decoded instead. */
bool hf_summary_is_wanted(const struct hf_index *index);

/* The context with that number in the runs of the hart. HF_ERR_NOT_FOUND: there is none, as for HF_RUN_OTHERS. */
int hf_summary_context(struct hf_summary *summary, uint32_t hart, uint32_t number, struct hf_run_context *ret_context);

/* All of them, by their numbers, into an empty array, for free() in any case. HF_ERR_STATE, HF_ERR_NOMEM. */
int hf_summary_contexts(struct hf_summary *summary, uint32_t hart, struct hf_run_context **ret_contexts,
			size_t *ret_count);

/* A run of the hart, with what is known of it. The same run may come once for each span of the hart. */
struct hf_summary_run {
	struct hf_run run;
	uint64_t count;	     /* how often it was executed */
	uint64_t number;     /* of the run, in the hart */
	uint64_t chunks;     /* in so many chunks, */
	uint64_t first, end; /*   all of them in [first, end) */
};

/* A result other than 0 ends the look-up. */
typedef int (*hf_summary_fn)(void *ctx, const struct hf_summary_run *run);
/*
 * All runs of the hart with code in [first, end), in the order of spans and keys; run is valid for the call. Returns
 * what fn did, if not 0. HF_ERR_NOT_FOUND: there is no such hart. HF_ERR_STATE: it is damaged.
 */
int hf_summary_runs(struct hf_summary *summary, uint32_t hart, uint64_t first, uint64_t end, hf_summary_fn fn,
		    void *ctx);

/* How many numbers of runs the hart has; 0: there is no such hart. */
uint64_t hf_summary_run_count(const struct hf_summary *summary, uint32_t hart);

/* A run was executed in that chunk count times, at least once. */
struct hf_posting {
	uint64_t chunk, count;
};

/* Gets 1 to 64 postings of that run, in the order of chunks. A result other than 0 ends it. */
typedef int (*hf_postings_fn)(void *ctx, uint64_t run, const struct hf_posting *posting, size_t n);
/*
 * What was executed in chunks [low, high): groups of 64 chunks come in order, each run once for each group that has it.
 * wanted: for each run number whether it is asked for; NULL: all are. Returns what fn did, if not 0. Errors as of
 * hf_summary_runs, HF_ERR_NOMEM.
 */
int hf_summary_postings(struct hf_summary *summary, uint32_t hart, uint64_t low, uint64_t high, const uint8_t *wanted,
			hf_postings_fn fn, void *ctx);

/* All runs of a hart in memory, by their numbers. */
struct hf_summary_book {
	struct hf_summary_run *run; /* one without instructions: no run has that number */
	uint64_t count;
	uint8_t *code;
};
/* To be freed in any case. Errors as of hf_summary_runs, HF_ERR_NOMEM. */
int hf_summary_book_load(struct hf_summary *summary, uint32_t hart, struct hf_summary_book *ret_book);
void hf_summary_book_free(struct hf_summary_book *book);

/* Checks all of it. HF_ERR_STATE: a page or section is damaged, or runs or calls do not add up to the hart's
 * instructions. Its other contents are read with summary_tree.h, rare.h, words.h and registers.h. */
int hf_summary_check(struct hf_summary *summary);

#endif
