/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a build, and its callbacks. */
#ifndef HF_INDEX_BUILD_OPTIONS_H
#define HF_INDEX_BUILD_OPTIONS_H

#include "index/base/identity.h"
#include "index/base/limits.h"
#include "index/base/view_key.h"

struct hf_exec;
struct hf_run_table_room;
struct hf_call_room;

/* The progress of a build. hf_build_fn is called every few milliseconds by the building thread; non-zero cancels. */
struct hf_build_progress {
	uint64_t done, total; /* bytes of the file, over all harts and passes */
	uint64_t insns;
};
typedef int (*hf_build_fn)(void *ctx, const struct hf_build_progress *progress);

/*
 * For a caller who wants the bytes of one view while the index is built. put gets them in order, from any thread, and
 * must not wait. If an earlier build is resumed they do not start at the beginning; if the build starts again they come
 * twice. Bytes NULL: all before are not the view's, which is made again with a doubt in it. Nothing comes of a view
 * that is the stream itself.
 */
struct hf_tap {
	const struct hf_enc_ops *ops;
	uint32_t hart;
	void (*put)(void *ctx, uint64_t offset, const uint8_t *bytes, size_t n);
	void *ctx;
};

struct hf_build {
	int dirfd;		      /* the index directory, hf_memdir_fd, or hf_packs_fd */
	struct hf_src *file;	      /* the capture as it is in the archive; borrowed */
	const struct hf_setup *setup; /* from its description; NULL: it has none */
	struct hf_identity identity;  /* of file, with members added in their order */
	const struct hf_identity *members;
	size_t member_count;
	const struct hf_view_key *views;
	size_t view_count;
	struct hf_disasm *disasm; /* may be NULL */
	const struct hf_symbols *symbols;
	const struct hf_chunk_limits *limits; /* NULL: default */
	uint64_t expansion;		      /* see hf_expansion_most */
	const struct hf_tap *tap;	      /* NULL: nobody */
	bool summary;			      /* a summary is made, too (summary.h) */
	bool all_sums;			      /* all bytes of all views are in checksums */
	hf_build_fn on_progress;	      /* may be NULL */
	void *ctx;
	/* How many threads the build may use now, the caller's included. Called by that one, again and again. NULL: no
	 * other threads. The result is the same. */
	unsigned (*threads)(void *ctx);
	/* Runs the other threads' work. NULL: there are none. */
	struct hf_exec *exec;
	/* For tests: calls on_progress and commits after so many chunks; 0: by the clock. */
	unsigned every;
	/* For tests: the limits of a summary's memory (summary/run_table.h); NULL: the usual ones. */
	const struct hf_run_table_room *room;
	const struct hf_call_room *call_room; /* and the limits of its calls (summary/calls.h) */
};

#endif
