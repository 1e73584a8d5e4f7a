/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pass over a capture that makes its index, its view tables, or both (see README.md): what its runs share, and the
 * tables that it makes.
 *
 * Only the thread that called hf_build_run uses it. Other threads may read what does not change while there are runs:
 * build, limits, most, env, in.stream, the list of views, many. Internal to index/.
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
	struct hf_index_part *index; /* NULL if only views are made */
	struct hf_view_part *views;  /* the tables being made */
	size_t view_count;
	struct hf_summary_part summary; /* store NULL: none is made */
	struct hf_diag *diag;
	uint32_t *ids; /* of the harts found so far */
	size_t id_count;
	/* while there are runs; otherwise NULL */
	struct hf_pass_workers *workers;
	/* Called in long work: on the thread that called hf_build_run it writes waiting rows and tells the progress, on
	 * others it does nothing. */
	int (*pump)(struct hf_pass *pass);
	bool many; /* there may be other threads */
	bool left; /* some view table or the summary is of an earlier build: hf_pass_build_views checks it */
	bool whole; /* all that is asked for was made and published by this pass */
	/* From where on the stream may be wrong, as an earlier pass found; code 0: nowhere. */
	struct hf_diag doubt;
	/* how it ended (pass_end.c) */
	bool doubted;	       /* doubt is new: another pass is to put it into the events */
	struct hf_fault fault; /* of the directory */
	bool made_room;	       /* the disk was full, and something was removed: worth another try */
	/* progress */
	uint64_t runs_done, runs; /* of the file, besides one for each of ids */
	uint64_t insns;		  /* of finished runs */
	/* clocks, in ns */
	uint64_t ticked, committed, commit_cost;
	uint64_t offset;	   /* stream offset up to which rows were written */
	uint64_t committed_offset; /* offset at the last commit */
	unsigned ticks;		   /* for build->every */
};

/* ---- the harts ---- */

/* Adds a hart to the known ones. Done with each chunk, for a decoder that enters later does not find earlier ones. */
int hf_pass_add_id(struct hf_pass *pass, uint32_t id);
/* Whether the view of the records is wanted: then they are a hart with a run of its own. */
bool hf_pass_wants_records(const struct hf_pass *pass);

/* ---- the view tables ---- */

/* Allocates views for all that build wants. */
int hf_pass_init_views(struct hf_pass *pass);
/* Opens or creates the table's private file. */
int hf_pass_add_view(struct hf_pass *pass, const struct hf_view_key *key);
/* Takes pass->views[i] out of this pass, and keeps its private file. */
void hf_pass_leave_view(struct hf_pass *pass, size_t i);
void hf_pass_close_views(struct hf_pass *pass);
/* Whether the capture can have that view at all. */
bool hf_pass_wants_view(const struct hf_pass *pass, const struct hf_view_key *key);
/* Whether the view is the stream itself, byte for byte, and needs no table. Not if the stream has holes. */
bool hf_pass_view_is_stream(const struct hf_pass *pass, const struct hf_view_key *key, size_t harts, bool holes);
/* Completes the meta of all views; then publishes them, and the index last. */
int hf_pass_finish_views(struct hf_pass *pass);
int hf_pass_publish_views(struct hf_pass *pass, size_t harts, bool holes);
/* Removes all private files, that of the index, too. */
void hf_pass_remove_parts(struct hf_pass *pass);

/* ---- the summary (pass_summary.c) ---- */

/* Whether one is wanted and possible. */
bool hf_pass_wants_summary(const struct hf_pass *pass);
/* Whether a hart with a chunk of that number needs one, but the index is to go into a pack, which has none. */
bool hf_pass_outgrows_pack(const struct hf_pass *pass, uint64_t number);
int hf_pass_open_summary(struct hf_pass *pass);
/* Starts the summary again, as the index does. */
int hf_pass_restart_summary(struct hf_pass *pass);
/* Starts the summary again if it is not of the chunks of that index. */
int hf_pass_fit_summary(struct hf_pass *pass, struct hf_index *index);
/* How many events the hart has before that chunk. */
int hf_pass_events_before(struct hf_index *index, uint32_t hart, uint64_t chunk, uint64_t *ret_events);
/* Resumes the summary at that chunk, as the index is. If that fails, it is made afterwards. */
int hf_pass_resume_summary(struct hf_pass *pass, uint64_t id);
/* Leaves the summary out of this pass: it is made afterwards. */
void hf_pass_leave_summary(struct hf_pass *pass);
/* Writes waiting rows of the summary. */
int hf_pass_write_summary(struct hf_pass_run *run);
int hf_pass_finish_summary(struct hf_pass *pass);
/* wanted: hf_summary_is_wanted. If false, none is published. */
int hf_pass_publish_summary(struct hf_pass *pass, bool wanted);
void hf_pass_close_summary(struct hf_pass *pass);

/* ---- progress and commits (pass_commit.c) ---- */

uint64_t hf_pass_now(void);
/* To be called every few milliseconds: tells the progress, and commits if it is time. offset: in the stream. */
int hf_pass_tick(struct hf_pass *pass, uint64_t offset, bool chunk_ended);
int hf_pass_commit(struct hf_pass *pass);

/* ---- runs, by the thread that called hf_build_run (pass_write.c) ---- */

/* What a run found by its end. */
struct hf_run_end {
	struct hf_index_hart hart; /* chunks is 0 if nothing was stored */
	uint64_t stream_size;	   /* of the first run only */
	struct hf_diag damage;
};

/* Before the first run. */
int hf_pass_begin_runs(struct hf_pass *pass);
/* Writes all rows of a run, while this and other runs go on, and frees it. After an error it is not freed. */
int hf_pass_finish_run(struct hf_pass *pass, struct hf_pass_run *run, struct hf_run_end *ret_end);

/* ---- which runs there are ---- */

/* One for each hart and one for the records (pass_harts.c): fills index and views, and resumes an earlier build. */
int hf_pass_harts(struct hf_pass *pass);
/* Those for missing rows of pass->views, from the chunks of a published index (pass_views.c). */
int hf_pass_views(struct hf_pass *pass, struct hf_index *index);

/* ---- the end (pass_end.c) ---- */

/* HF_ERR_CHANGED: the file changed while it was read, so the index would be of neither version. */
int hf_pass_check_identity(struct hf_pass *pass);
/* Ends the runs, also after an error: then it keeps for the next build what is worth it. */
void hf_pass_end(struct hf_pass *pass, int err);
/* Whether the error means that stored files do not fit each other, so that they must be made again. */
bool hf_pass_is_unusable(int err);
/*
 * After the directory failed: private files stay for the next build. But if the directory is full, they would keep it
 * so, and the next build would use memory or start again: then a spool is removed or, without one, the private files.
 */
void hf_pass_make_room(struct hf_pass *pass);

/* ---- what is built (build.c decides) ---- */

int hf_pass_build_index(struct hf_pass *pass);
int hf_pass_build_views(struct hf_pass *pass, struct hf_index *index);

#endif
