/* SPDX-License-Identifier: Apache-2.0 */
/*
 * struct hf_captures: all captures of one archive and what they share. Seen by the files of this folder alone; the
 * floors above have a pointer, and functions.
 *
 * Locks, in the order in which they may be taken: the table's, a capture's, the pool's. The executor's, the makers',
 * kept texts', executables', held files' and the catalogue's are leaves. None is held while something is decoded,
 * indexed or read from a disk; that of the debug directory is while it is listed.
 */
#ifndef HF_FS_CAPTURES_H
#define HF_FS_CAPTURES_H

#include "codecs/base/chains.h"
#include "fs/archive/descriptors.h"
#include "fs/archive/held.h"
#include "fs/archive/params.h"
#include "fs/base/callbacks.h"
#include "fs/base/common.h"
#include "fs/base/views.h"
#include "fs/capture/all.h"
#include "fs/capture/capture.h"
#include "fs/capture/debug_dir.h"
#include "fs/capture/executable.h"
#include "fs/capture/index_dir.h"
#include "fs/capture/jobs.h"
#include "fs/capture/makers.h"
#include "fs/capture/memory.h"
#include "fs/capture/open_capture.h"

#include <stdatomic.h>

struct hf_captures {
	/* Borrowed. */
	struct hf_common *common;
	const struct hf_archive *archive;
	struct hf_held_files *held;
	struct hf_descriptors *descriptors;
	/* What goes up, set by who opens: tells the kernel that it is to forget what it knows of a capture's files; and
	 * gives fn every capture that the archive has. */
	void (*on_change)(void *ctx, struct hf_capture *capture);
	int (*each)(void *ctx, hf_capture_fn fn, void *fn_ctx);
	void *ctx;
	/* What goes up inside of this folder, set by captures.c: indexing in the background and at once, telling of a
	 * change, making a spool. */
	struct hf_job index_job, notice_job;
	int (*index_now)(struct hf_capture *capture, struct hf_diag *diag);
	void (*want_spool)(void *open);

	struct hf_views views;
	struct hf_params_access params_access;
	char *params_wrong; /* why hartfs.conf counts for nothing, owned; NULL: it does count, or there is none */
	struct hf_debug_dir debug_dir;
	struct hf_chunk_limits limits;
	int index_fd; /* what stands for the directory of the indexes in calls of index/ */
	struct hf_index_dir index_dir;
	_Atomic(struct hf_disasm *) spare_disasm[2]; /* of builds that are over: what they remember helps the next */
	struct hf_open_pool open_pool;
	struct hf_makers makers;
	struct hf_executables executables;
	struct hf_jobs jobs;
	struct hf_memory memory;

	/* The table. */
	pthread_mutex_t lock;
	struct hf_chains table; /* of captures */
	struct hf_plain *plain; /* memory of files that are no captures */
};

/* Opens what is not borrowed: common, archive, held, descriptors and what goes up are set. To be closed also after an
 * error. */
int hf_captures_open(struct hf_captures *all, const struct hf_fs_options *options);
/* Before the executor is stopped: nobody waits any longer. */
void hf_captures_stop(struct hf_captures *all);
/* After that, while there still is a cache: nothing is open any more. */
void hf_captures_put_down(struct hf_captures *all);
void hf_captures_close(struct hf_captures *all);
/* Those who wait for a capture look whether all is to end. */
void hf_captures_wake(struct hf_captures *all);

/* ---- the table (table.c), and files that are no captures (plain.c) ---- */

/* What was found out of a file or directory. */
struct hf_found {
	const struct hf_box *box;
	const struct hf_codec *codec; /* NULL: it is no capture */
	struct hf_members *members;   /* borrowed */
	struct hf_stamp stamp;
};

void hf_table_fini(struct hf_captures *all);
/* NULL if there is none. */
struct hf_capture *hf_table_find(struct hf_captures *all, const char *path);
/* The one that is there, or a new one. */
int hf_table_add(struct hf_captures *all, const char *path, const struct hf_found *found,
		 struct hf_capture **ret_capture);

int hf_plain_init(struct hf_captures *all);
void hf_plain_fini(struct hf_captures *all);
bool hf_plain_is_known(struct hf_captures *all, const char *path, const struct hf_stamp *stamp);
void hf_plain_remember(struct hf_captures *all, const char *path, const struct hf_stamp *stamp);

#endif
