/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a capture, opened in one version of it. */
#ifndef HF_FS_OPEN_TRACE_H
#define HF_FS_OPEN_TRACE_H

#include "fs/facts/capture.h"
#include "fs/program/symbol_files.h"
#include "fs/stream/trace.h"

/* Opens the files with that stamp, to be closed only after success. HF_ERR_CHANGED if they are others by now, never
 * HF_ERR_NOT_FOUND. What is wrong with a description is noted in the capture, and in *diag (may be NULL). */
int hf_capture_open_trace(struct hf_capture *capture, const struct hf_stamp *stamp, struct hf_trace *ret_trace,
			  struct hf_diag *diag);
/* hf_symbol_files_open of the capture. */
int hf_capture_open_symbol_files(struct hf_capture *capture, const struct hf_trace *trace, const struct hf_stamp *stamp,
				 struct hf_symbol_files *ret_files);

#endif
