/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/capture/open_trace.h"
#include "fs/base/common.h"
#include "fs/facts/shared.h"
#include "fs/program/debug_dir.h"

#include <stdio.h>
#include <stdlib.h>

/* The description names other files than when it was read, though its stamp is the same: makes it be read again. */
static void doubt(struct hf_capture *capture, const struct hf_members *members)
{
	HF_LOCKED(&capture->lock);
	if (capture->members == members)
		capture->stamp.beside = 0;
}

/* Notes why a description is wrong, for info.json; NULL: it is not. */
static void complain(struct hf_capture *capture, const struct hf_setup_error *error)
{
	char *text = NULL, *old, line[16] = "";

	if (error && error->line)
		snprintf(line, sizeof line, ":%u", (unsigned)error->line);
	if (error && asprintf(&text, "%s%s: %s", error->file, line, error->text) < 0)
		text = NULL;
	pthread_mutex_lock(&capture->lock);
	old = capture->complaint;
	capture->complaint = text;
	pthread_mutex_unlock(&capture->lock);
	free(old);
}

static int open_debug(void *ctx, const char *path, struct stat *ret_st, struct hf_src **ret_src)
{
	struct hf_debug_dir *dir = ctx;

	return dir->path ? hf_debug_dir_open(dir, path, ret_st, ret_src) : HF_ERR_NOT_FOUND;
}

int hf_capture_open_trace(struct hf_capture *capture, const struct hf_stamp *stamp, struct hf_trace *ret_trace,
			  struct hf_diag *diag)
{
	const struct hf_fs_options *options = &capture->common->options;
	struct hf_trace_ask ask = {.archive = capture->shared->archive,
				   .open_files = capture->shared->open_files,
				   .path = capture->path,
				   .stamp = stamp,
				   .open_debug = open_debug,
				   .debug = capture->shared->debug_dir,
				   .expansion = options->expansion,
				   .memory = options->stream_memory};
	struct hf_setup_error error;
	bool members_changed;
	int err;

	pthread_mutex_lock(&capture->lock);
	ask.members = hf_members_ref(capture->members);
	pthread_mutex_unlock(&capture->lock);
	err = hf_trace_open(&ask, ret_trace, &error, &members_changed);
	if (members_changed)
		doubt(capture, ask.members);
	hf_members_unref(ask.members);
	if (err == HF_ERR_CHANGED)
		return hf_diag_set(diag, err, HF_SPACE_FILE, HF_NOWHERE, 0);
	complain(capture, err && *error.text ? &error : NULL);
	return err ? hf_diag_set(diag, err, HF_SPACE_FILE, HF_NOWHERE, error.line) : 0;
}

int hf_capture_open_symbol_files(struct hf_capture *capture, const struct hf_trace *trace, const struct hf_stamp *stamp,
				 struct hf_symbol_files *ret_files)
{
	const struct hf_symbol_files_ask ask = {.open_files = capture->shared->open_files,
						.views = capture->shared->views,
						.debug_dir = capture->shared->debug_dir,
						.path = capture->path,
						.trace = trace,
						.stamp = stamp};

	return hf_symbol_files_open(&ask, ret_files);
}
