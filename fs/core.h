/*
 * struct hf_fs: the parts of a file system and what they share. Internal to this folder.
 *
 * Locks, in the order in which they may be taken: captures, a capture, opens, jobs; nodes, slices, the spooler and
 * control are leaves. None is held while something is decoded, indexed or read from a disk.
 */
#ifndef HF_FS_CORE_H
#define HF_FS_CORE_H

#include "fs/archive.h"
#include "fs/capture.h"
#include "fs/chunk_cache.h"
#include "fs/control.h"
#include "fs/executable.h"
#include "fs/jobs.h"
#include "fs/memory.h"
#include "fs/metrics.h"
#include "fs/node.h"
#include "fs/opens.h"
#include "fs/pool.h"
#include "fs/slice.h"
#include "fs/spooler.h"

#include <stdatomic.h>

/* The views by number: for each codec that of its encoder, in the order of hf_codecs, then records.txt and
 * program.elf, which has no encoder (its ops only describe it). */
enum {
#define HF_CODEC(name) HF_CODEC_INDEX_##name,
#include "codecs/codecs.def"
#undef HF_CODEC
	HF_CODEC_COUNT,
	HF_VIEW_RECORDS = HF_CODEC_COUNT,
	HF_VIEW_PROGRAM,
	HF_VIEW_COUNT
};

/* NULL if the codec with that number has no encoder. */
const struct hf_enc_ops *hf_fs_view_ops(size_t view);

struct hf_fs {
	struct hf_fs_options options; /* views, skip and archive_path are not valid any more */
	struct hf_archive archive;
	int index_fd;
	struct hf_chunk_limits limits;
	bool wanted[HF_VIEW_COUNT]; /* options.views */
	char params[128];           /* of every view: what its bytes depend on besides the events */
	struct timespec started;
	struct hf_cache *cache;
	struct hf_pool *pool;
	struct hf_nodes nodes;
	struct hf_captures captures;
	struct hf_opens opens;
	struct hf_slices slices;
	struct hf_executables executables;
	struct hf_jobs jobs;
	struct hf_spooler spooler;
	struct hf_memory memory;
	struct hf_control control;
	struct hf_metrics metrics;
	atomic_bool closing;
};

__attribute__((format(printf, 3, 4))) void hf_fs_log(struct hf_fs *fs, int level, const char *format, ...);

int64_t hf_fs_now_ns(void); /* monotonic */

#endif
