/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a capture, opened: its file, or what its description says of several, read once and shared by whoever
 * has the capture open.
 */
#ifndef HF_FS_TRACE_H
#define HF_FS_TRACE_H

#include "codecs/setup/read.h"
#include "fs/capture/capture.h"
#include "fs/capture/members.h"

struct hf_trace {
	struct hf_src *file;         /* the file, or the trace files end to end */
	struct hf_identity identity; /* of all there is */
	struct hf_identity *parts;   /* what members, and a limit of its own, add to the identity */
	size_t part_count;
	/* With a description: */
	struct hf_members *members;  /* NULL: there is none */
	struct hf_member_state *opened; /* of each of them, as it was opened */
	struct hf_setup *setup;
};

/* Opens that version of the capture, to be closed only after success. HF_ERR_CHANGED if it is another one by now, never
 * HF_ERR_NOT_FOUND; what is wrong with a description is the capture's complaint from then on, and in *diag (may be
 * NULL). */
int hf_capture_open_trace(struct hf_capture *capture, const struct hf_stamp *stamp, struct hf_trace *ret_trace,
			  struct hf_diag *diag);
void hf_trace_close(struct hf_trace *trace);

struct hf_held_files;
/* Opens the member that the description has by that name, to be freed by the caller. HF_ERR_CHANGED if it is another
 * file than the one the trace was opened with. */
int hf_trace_open_member(struct hf_held_files *held, const struct hf_trace *trace, const char *name,
			 struct hf_src **ret_src);

#endif
