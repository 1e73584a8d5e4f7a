/* SPDX-License-Identifier: Apache-2.0 */
/*
 * struct hf_fs: the parts of a file system and what they share. Internal to this folder.
 *
 * Locks, in the order in which they may be taken: captures, a capture, opens, jobs, the executor; nodes, slices, held files,
 * kept texts and control are leaves. None is held while something is decoded, indexed or read from a disk.
 */
#ifndef HF_FS_CORE_H
#define HF_FS_CORE_H

#include "fs/archive/archive.h"
#include "fs/capture/capture.h"
#include "fs/base/chunk_cache.h"
#include "fs/tree/control.h"
#include "fs/archive/descriptors.h"
#include "fs/capture/executable.h"
#include "fs/capture/index_dir.h"
#include "fs/archive/held.h"
#include "fs/capture/jobs.h"
#include "fs/base/kept.h"
#include "fs/capture/memory.h"
#include "fs/tree/metrics.h"
#include "fs/tree/node.h"
#include "fs/capture/opens.h"
#include "fs/archive/params.h"
#include "fs/capture/repair.h"
#include "fs/bytes/slice.h"
#include "fs/capture/spooler.h"

#include <stdatomic.h>

/* The views by number: those of hf_views in their order, then records.txt and program.elf, which has no encoder (its ops
 * only describe it). */
enum {
#define HF_VIEW(name) HF_VIEW_INDEX_##name,
#include "codecs/views.def"
#undef HF_VIEW
	HF_ENC_COUNT,
	HF_VIEW_RECORDS = HF_ENC_COUNT,
	HF_VIEW_PROGRAM,
	HF_VIEW_COUNT,
	/* Behind them the files that lie beside an encoder's own in its directory, which have no tables. */
	HF_SIDES_MAX = 16,
	HF_VIEW_ALL = HF_VIEW_COUNT + HF_SIDES_MAX,
};

struct hf_fs;

/* NULL if there is no such file. view < HF_VIEW_ALL. */
const struct hf_enc_ops *hf_fs_view_ops(size_t view);
/* A file beside an encoder's own: *ret_view is the number of that. NULL: it is none. */
const struct hf_side_file *hf_fs_side(size_t view, size_t *ret_view);
/* How much of a view's name is the directory it lies in: 0 if in that of the hart. *ret_name (may be NULL) is the rest. */
size_t hf_view_dir(size_t view, const char **ret_name);
/* Everything that the view's bytes depend on besides the events and symbols. */
const char *hf_view_params(const struct hf_fs *fs, size_t view);

/* Sets fs->wanted. */
void hf_views_choose(struct hf_fs *fs, const char *list);
/* Sets fs->params, view_params and view_options of what hf_params_read has given. */
int hf_views_init(struct hf_fs *fs, const char *params);
void hf_views_fini(struct hf_fs *fs);

struct hf_fs {
	struct hf_fs_options options; /* views, skip and archive_path are not valid any more */
	struct hf_archive archive;
	int index_fd;              /* what stands for the directory of the indexes in calls of index/ */
	struct hf_index_dir index_dir;
	struct hf_chunk_limits limits;
	bool wanted[HF_VIEW_ALL];   /* options.views */
	struct hf_params_access params_access;
	char params[128];           /* of every view: what its bytes depend on besides the events */
	char *view_params[HF_VIEW_ALL];  /* the same with the view's own parameters; NULL: no more */
	char *view_options[HF_VIEW_ALL]; /* those alone, for its encoder; NULL: none */
	struct timespec started;
	uid_t uid;                  /* whose .hartfs is */
	gid_t gid;
	struct hf_cache *cache;
	struct hf_exec *exec;
	unsigned index_threads;     /* of builds, all together */
	struct hf_nodes nodes;
	struct hf_captures captures;
	struct hf_descriptors descriptors;
	struct hf_held_files held;
	struct hf_kepts kepts;
	struct hf_opens opens;
	struct hf_slices slices;
	struct hf_executables executables;
	struct hf_jobs jobs;
	struct hf_memory memory;
	struct hf_control control;
	struct hf_metrics metrics;
	atomic_bool closing;
	struct hf_stop stop; /* hf_fs_stopping, for sources */
};

__attribute__((format(printf, 3, 4))) void hf_fs_log(struct hf_fs *fs, int level, const char *format, ...);

/* All work is to end soon: hf_fs_stop was called, or whoever opened it says so. */
static inline bool hf_fs_stopping(const struct hf_fs *fs)
{
	return fs->closing || hf_stop_wanted(fs->options.stop);
}

int64_t hf_fs_now_ns(void); /* monotonic */

#endif
