/* SPDX-License-Identifier: Apache-2.0 */
/* What an archive is opened with. */
#ifndef HF_FS_OPTIONS_H
#define HF_FS_OPTIONS_H

#include "codecs/source/source.h"
#include "index/store/dir.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct hf_log_ring;

/* As long as the longest path, and what is said of it. */
#define HF_LOG_LINE_SIZE (PATH_MAX + 1024)
/* Where log lines go: level as in syslog (3 error, 4 warning, 6 info, 7 debug). Called from any thread. */
typedef void (*hf_log_fn)(void *ctx, int level, const char *line);

/* A directory as fstatat sees it; ino 0: all of that device. */
struct hf_fs_place {
	dev_t dev;
	ino_t ino;
};

#define HF_PACK_BELOW ((uint64_t)16 << 10)

struct hf_fs_options {
	int archive_fd;          /* O_PATH or O_DIRECTORY descriptor of the archive; owned by the fs from then on */
	int index_fd;            /* directory of the indexes; owned likewise; -1: there is none */
	int index_error;         /* why it is -1 (errno); 0: because nobody wants one */
	const char *index_path;  /* its name in messages; copied by hf_fs_open; NULL: it has none */
	struct hf_sharing sharing; /* of the index directory with other users */
	bool index_on_disk;      /* an index that cannot be written there fails, instead of being kept in memory */
	const char *archive_path; /* canonical: what was found is remembered in the catalogue of that; NULL: in none */
	/* Directories inside the archive that must not be shown: index directory, mountpoint (both what lies under it
	 * and the root of the mount: looking into that one would be a request to ourselves). Copied by hf_fs_open. */
	size_t skip_count;
	const struct hf_fs_place *skip;
	uint64_t cache_bytes;    /* chunk cache, default 256 MiB; up to half of it for indexes that cannot be written */
	uint64_t stream_memory;  /* what decompressing a stream may take; 0: default */
	uint64_t expansion;      /* events for each byte of a capture; 0: default, HF_NOWHERE: no limit */
	uint64_t pack_below;     /* indexes of captures of fewer bytes go into packs; 0: none. HF_PACK_BELOW is usual */
	bool summary;		 /* indexing sums up what harts execute (index/summary/summary.h) */
	bool summary_of_indexed; /* also where there is an index without one */
	bool all_sums;		 /* indexes have checksums of every byte of every view, also of lines */
	uint64_t index_limit;    /* bytes of the index directory: hf_prune_to_limit, now and then; 0: none */
	uint64_t spool_bytes;    /* what spools may take in the index directory; 0: there are none */
	unsigned threads;        /* decode pool; 0: one a core */
	unsigned index_threads;  /* of indexing: captures at a time, or parts of the last ones; 0: one a core */
	bool no_index;           /* index only what hf_fs_index is called for, nothing by itself (cat, info) */
	uint64_t chunk_insns;    /* 0: default; tests set 1, 7, 1000 */
	const char *debug_path; /* directory of debug files, in messages; copied by hf_fs_open; NULL: there is none */
	int debug_fd;           /* its descriptor, if there is one; owned likewise */
	const char *views;       /* names of hart views to offer, comma-separated; NULL: all */
	const char
		*params; /* "VIEW.key=value" or "-o VIEW.key=value", comma-separated: hf_fs_check_params; NULL: none */
	const char *sandbox;     /* how the process is confined, for status.json; borrowed; NULL: not told */
	hf_log_fn log;
	void *log_ctx;
	bool status_all;         /* .hartfs is for everybody, not only for the user of this process */
	struct hf_log_ring
		*log_ring; /* what .hartfs/log.txt shows (fs/base/log_ring.h), borrowed; NULL: no such file */
	/* The kernel must ask for this inode's attributes before it believes them again: a file that was replaced then
	 * gives an error also for bytes that the kernel has cached. Must not wait for anything. May be NULL. */
	void (*invalidate)(void *ctx, uint64_t ino);
	void *invalidate_ctx;
	/* A second way to say hf_fs_stop, for whoever gets to know it in a signal handler; borrowed. NULL: none. */
	const struct hf_stop *stop;
};

#endif
