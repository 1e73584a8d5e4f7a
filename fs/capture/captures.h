/* SPDX-License-Identifier: Apache-2.0 */
/* struct hf_captures: all captures of one archive, with all that they share. Only captures.c and fs.c see it: floors
 * above have a pointer and the functions in all.h, the other files of this folder have struct hf_shared. */
#ifndef HF_FS_CAPTURES_H
#define HF_FS_CAPTURES_H

#include "codecs/base/chains.h"
#include "fs/archive/descriptors.h"
#include "fs/archive/open_files.h"
#include "fs/archive/params.h"
#include "fs/base/common.h"
#include "fs/base/views.h"
#include "fs/capture/all.h"
#include "fs/capture/build.h"
#include "fs/capture/decoder_pool.h"
#include "fs/capture/jobs.h"
#include "fs/capture/not_captures.h"
#include "fs/capture/open_pool.h"
#include "fs/facts/catalogue_use.h"
#include "fs/facts/executable.h"
#include "fs/facts/index_dir.h"
#include "fs/facts/shared.h"
#include "fs/facts/table.h"
#include "fs/program/debug_dir.h"

struct hf_captures {
	/* Who opens it sets common, archive, open_files and descriptors of shared, and the callbacks of jobs. */
	struct hf_shared shared;
	struct hf_views views;
	struct hf_params_access params_access;
	char *params_wrong; /* why hartfs.conf is ignored, owned; NULL: it is not, or there is none */
	struct hf_debug_dir debug_dir;
	struct hf_index_dir index_dir;
	struct hf_builder builder;
	struct hf_open_pool open_pool;
	struct hf_decoder_pool decoder_pool;
	struct hf_executables executables;
	struct hf_capture_table table;
	struct hf_not_captures not_captures;
	struct hf_catalogue_use catalogue_use;
	struct hf_jobs jobs;
};

/* To be closed also after an error. */
int hf_captures_open(struct hf_captures *all, const struct hf_fs_options *options);
/* Before the executor is stopped: all waits end. */
void hf_captures_stop(struct hf_captures *all);
/* After the executor is stopped, while there still is a cache: closes all captures. */
void hf_captures_put_down(struct hf_captures *all);
void hf_captures_close(struct hf_captures *all);
/* Threads that wait for a capture check whether the file system is closing. */
void hf_captures_wake(struct hf_captures *all);

/* An hf_capture_fn, for a search of the archive; all: a struct hf_captures. Queues the capture unless it has an index.
 */
bool hf_captures_offer(void *all, const char *path, const char *view_dir);

#endif
