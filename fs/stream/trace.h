/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of an opened capture: its file, or the files of its description. Opened once and shared by all who have the
 * capture open.
 */
#ifndef HF_FS_TRACE_H
#define HF_FS_TRACE_H

#include "codecs/setup/read.h"
#include "fs/stream/members.h"
#include "index/base/identity.h"

struct hf_archive;
struct hf_open_files;
struct hf_stamp;

struct hf_trace {
	struct hf_src *file;         /* the file, or the trace files end to end */
	struct hf_identity identity; /* of all files */
	struct hf_identity *parts;   /* what the members and a limit of the description add to it */
	size_t part_count;
	/* With a description: */
	struct hf_members *members;  /* NULL: there is none */
	struct hf_member_state *opened; /* of each of them, as it was opened */
	struct hf_setup *setup;
};

/* What is opened. All is borrowed. */
struct hf_trace_ask {
	const struct hf_archive *archive;
	struct hf_open_files *open_files;
	const char *path;
	const struct hf_stamp *stamp; /* of that version */
	struct hf_members *members;   /* NULL: there is no description */
	/* A file of the directory of debug files, by its path in it, with its stat. NULL: there is none. */
	int (*open_debug)(void *ctx, const char *path, struct stat *ret_st, struct hf_src **ret_src);
	void *debug;
	uint64_t expansion, memory;   /* hf_fs_options: expansion, stream_memory */
};

/* HF_ERR_CHANGED if the files are others by now, never HF_ERR_NOT_FOUND. To be closed only after success. *error: what
 * is wrong with the description, if anything. *ret_members_changed: it names other files than when it was read. */
int hf_trace_open(const struct hf_trace_ask *ask, struct hf_trace *ret_trace, struct hf_setup_error *error,
		  bool *ret_members_changed);
void hf_trace_close(struct hf_trace *trace);

/* Opens the member with that name in the description; the caller frees it. HF_ERR_CHANGED if it is another file than
 * when the trace was opened. */
int hf_trace_open_member(struct hf_open_files *open_files, const struct hf_trace *trace, const char *name,
			 struct hf_src **ret_src);

#endif
