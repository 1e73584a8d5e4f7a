/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pass over a capture that makes its index, its view tables, or both: README.md shows how it goes. Here is what its
 * runs share, and the tables it makes.
 *
 * All of it belongs to the thread that called hf_build_run, but for what does not change while there are runs: build,
 * limits, most, env, in.stream, the list of views, many. Internal to index/.
 */
#ifndef HF_INDEX_PASS_H
#define HF_INDEX_PASS_H

#include "index/base/fault.h"
#include "index/pass/build_options.h"
#include "index/pass/index_part.h"
#include "index/pass/input.h"
#include "index/pass/view_part.h"
#include "index/summary/summary_part.h"

struct hf_index;
struct hf_pass_run;
struct hf_pass_workers;

struct hf_pass {
	const struct hf_build *build;
	struct hf_chunk_limits limits;
	uint64_t most; /* hf_expansion_most */
	struct hf_enc_env env;
	struct hf_input in;
	struct hf_index_part *index; /* NULL while only views are made */
	struct hf_view_part *views;  /* the tables being made */
	size_t view_count;
	struct hf_summary_part summary; /* without a store none is made */
	struct hf_diag *diag;
	uint32_t *ids; /* of the harts found so far */
	size_t id_count;
	/* while there are runs; otherwise NULL */
	struct hf_pass_workers *workers;
	/* In the middle of long work on the thread that called hf_build_run: writes the rows there are and tells the
	 * progress. On others it does nothing. */
	int (*pump)(struct hf_pass *pass);
	bool many; /* there may be more threads than that one */
	bool left; /* some views' tables are of an earlier build, or a summary: hf_pass_build_views looks at them */
	bool behind; /* the summary lacks a hart, or the rest of one: it is made when the index is there */
	bool whole; /* all that is asked for was made and published by this pass */
	/* From where on the stream may be wrong, as a pass before this one found out; code 0: nowhere. */
	struct hf_diag doubt;
	/* how it ended (pass_end.c) */
	bool doubted;	       /* the doubt is another one: it is worth a pass that tells it at its place */
	struct hf_fault fault; /* of the directory */
	bool made_room;	       /* for want of which it ended: it is worth another try */
	/* progress */
	uint64_t runs_done, runs; /* reading the file so often, besides once for each of ids */
	uint64_t insns;		  /* of runs that are done */
	/* clocks, in ns */
	uint64_t ticked, committed, commit_cost;
	uint64_t offset;	   /* stream offset up to which rows were written */
	uint64_t committed_offset; /* that at the last commit */
	unsigned ticks;		   /* with build->every */
};

/* ---- the harts ---- */

/* Adds a hart to those that are known: with every chunk, for a decoder that is entered behind them does not find them
 * again. */
int hf_pass_add_id(struct hf_pass *pass, uint32_t id);
/* The records are a hart with a run of its own if their view is asked for. */
bool hf_pass_wants_records(const struct hf_pass *pass);

/* ---- the view tables ---- */

/* Room for all that build asks for. */
int hf_pass_init_views(struct hf_pass *pass);
/* Opens or creates the table's private file. */
int hf_pass_add_view(struct hf_pass *pass, const struct hf_view_key *key);
/* Takes pass->views[i] out, and keeps its private file for later. */
void hf_pass_leave_view(struct hf_pass *pass, size_t i);
void hf_pass_close_views(struct hf_pass *pass);
/* Whether the capture can have that view at all. */
bool hf_pass_wants_view(const struct hf_pass *pass, const struct hf_view_key *key);
/* Whether the view is the stream itself, byte for byte, and needs no table. One with holes is encoded anew. */
bool hf_pass_view_is_stream(const struct hf_pass *pass, const struct hf_view_key *key, size_t harts, bool holes);
/* What every view says about itself when it is whole; then, the index at last, they get their names. */
int hf_pass_finish_views(struct hf_pass *pass);
int hf_pass_publish_views(struct hf_pass *pass, size_t harts, bool holes);
/* All private files go, that of the index too. */
void hf_pass_remove_parts(struct hf_pass *pass);

/* ---- the summary (pass_summary.c) ---- */

/* Whether one is asked for, and can be. */
bool hf_pass_wants_summary(const struct hf_pass *pass);
/* Whether a hart with a chunk of that number is to have one, but cannot, for the index is to go into a pack. */
bool hf_pass_outgrows_pack(const struct hf_pass *pass, uint64_t number);
int hf_pass_open_summary(struct hf_pass *pass);
/* The index begins anew, and so does the summary. */
int hf_pass_restart_summary(struct hf_pass *pass);
/* If what there is of it is not of the chunks of that index, it begins anew. */
int hf_pass_fit_summary(struct hf_pass *pass, struct hf_index *index);
/* Writes a row of the summary, as HF_ROW_SUMMARY has it. */
int hf_pass_write_summary(struct hf_pass *pass, const uint8_t *bytes, size_t size);
int hf_pass_finish_summary(struct hf_pass *pass);
/* wanted: hf_summary_is_wanted; otherwise there is none. */
int hf_pass_publish_summary(struct hf_pass *pass, bool wanted);
void hf_pass_close_summary(struct hf_pass *pass);

/* ---- progress and commits (pass_commit.c) ---- */

uint64_t hf_pass_now(void);
/* Every few milliseconds: tells the progress, and keeps what has been done, if it is time to. offset: in the stream. */
int hf_pass_tick(struct hf_pass *pass, uint64_t offset, bool chunk_ended);
int hf_pass_commit(struct hf_pass *pass);

/* ---- runs, by the thread that called hf_build_run (pass_write.c) ---- */

/* What was found in the end. */
struct hf_run_end {
	struct hf_index_hart hart; /* chunks is 0 if nothing was stored */
	uint64_t stream_size;	   /* of the first run only */
	struct hf_diag damage;
};

/* Before the first run. */
int hf_pass_begin_runs(struct hf_pass *pass);
/* Writes all rows of a run, letting this and others go on meanwhile; then it is gone. After an error it is not. */
int hf_pass_finish_run(struct hf_pass *pass, struct hf_pass_run *run, struct hf_run_end *ret_end);

/* ---- which runs there are ---- */

/* One for each hart and one for the records, into pass->index and pass->views (pass_harts.c); goes on where an earlier
 * build ended. */
int hf_pass_harts(struct hf_pass *pass);
/* Those that pass->views need, as far as they are not made yet, for all chunks of a published index (pass_views.c). */
int hf_pass_views(struct hf_pass *pass, struct hf_index *index);

/* ---- the end (pass_end.c) ---- */

/* Bytes that changed while they were read would be an index of neither version: HF_ERR_CHANGED. */
int hf_pass_check_identity(struct hf_pass *pass);
/* Whether it came to its end or not: ends the runs, and after an error keeps what is worth keeping for the next build.
 */
void hf_pass_end(struct hf_pass *pass, int err);
/* Whether an error means that what was stored, privately or publicly, does not fit: it can only be made anew. */
bool hf_pass_is_unusable(int err);
/*
 * The directory failed, and would again: what it has stays for the next build. Where it is full this would keep it so,
 * and whoever builds next does so in memory or begins anew: unless a spool can go for it, the private files do.
 */
void hf_pass_make_room(struct hf_pass *pass);

/* ---- what is built (build.c decides) ---- */

int hf_pass_build_index(struct hf_pass *pass);
int hf_pass_build_views(struct hf_pass *pass, struct hf_index *index);

#endif
