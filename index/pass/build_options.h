/* SPDX-License-Identifier: Apache-2.0 */
/* What a build is asked for, and who hears of it. */
#ifndef HF_INDEX_BUILD_OPTIONS_H
#define HF_INDEX_BUILD_OPTIONS_H

#include "index/base/identity.h"
#include "index/base/limits.h"
#include "index/base/view_key.h"

struct hf_exec;
struct hf_run_table_room;
struct hf_call_room;

/* How far a build is. Called every few milliseconds from the building thread; non-zero cancels (HF_ERR_CANCELLED). */
struct hf_build_progress {
	uint64_t done, total; /* in bytes of the file, all harts and passes together */
	uint64_t insns;
};
typedef int (*hf_build_fn)(void *ctx, const struct hf_build_progress *progress);

/*
 * Somebody who wants the bytes of one view while the index is being made: put gets them in order, from whatever thread,
 * and not from the beginning if an earlier build had come further, or twice if the build begins anew. Bytes NULL: those
 * that it got are not the view's, which is made anew with a doubt in it. It must not wait.
 * A view that is the stream itself is not given.
 */
struct hf_tap {
	const struct hf_enc_ops *ops;
	uint32_t hart;
	void (*put)(void *ctx, uint64_t offset, const uint8_t *bytes, size_t n);
	void *ctx;
};

struct hf_build {
	int dirfd;		      /* the index directory, hf_memdir_fd, or hf_packs_fd */
	struct hf_src *file;	      /* the capture as it lies in the archive; borrowed */
	const struct hf_setup *setup; /* what its description says; NULL: it has none */
	struct hf_identity identity;  /* of file, with members added in this order */
	const struct hf_identity *members;
	size_t member_count;
	const struct hf_view_key *views;
	size_t view_count;
	struct hf_disasm *disasm; /* may be NULL */
	const struct hf_symbols *symbols;
	const struct hf_chunk_limits *limits; /* NULL: default */
	uint64_t expansion;		      /* see hf_expansion_most */
	const struct hf_tap *tap;	      /* NULL: nobody */
	bool summary;			      /* what the harts do is summed up too (summary.h) */
	bool all_sums;			      /* every byte of every view is in a checksum */
	hf_build_fn on_progress;	      /* may be NULL */
	void *ctx;
	/* How many threads the build may use just now, the caller's included; asked again and again on that one. NULL:
	 * no other. What is built is the same. */
	unsigned (*threads)(void *ctx);
	/* Runs the work of the others. NULL: there are none. */
	struct hf_exec *exec;
	/* For tests: tell the progress and make it safe after so many chunks, whatever the clock says; 0: by the clock.
	 */
	unsigned every;
	/* For tests: what a summary's memory is divided into (summary/run_table.h); NULL: as usual. */
	const struct hf_run_table_room *room;
	const struct hf_call_room *call_room; /* and the limits of its calls (summary/calls.h) */
};

#endif
