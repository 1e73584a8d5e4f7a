/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index directory as a file system uses it: written as long as that works; while it does not, memory takes its
 * place (index/store/memdir.h), and it is tried again, after a second at first and a minute in the end. What fails there is
 * never a capture's fault.
 */
#ifndef HF_FS_INDEX_DIR_H
#define HF_FS_INDEX_DIR_H

#include "index/base/lock.h"
#include "fs/base/options.h"
#include "index/base/fault.h"
#include "index/exec/exec.h"
#include "index/store/memdir.h"
#include "index/store/packs.h"

#include <time.h>

struct hf_shared;

struct hf_index_dir {
	const struct hf_shared *shared;
	int fd;                    /* -1: there is none */
	char *path;                /* as it is shown */
	bool unwanted;             /* there is none and nobody asked for one: indexes are kept in memory */
	uint64_t memory;           /* bytes that they may take there */
	struct hf_memdir *memdir;  /* NULL: nothing is kept in memory */
	struct hf_packs *packs;    /* NULL: there is no directory */
	uint64_t pack_below;       /* captures of fewer bytes go into packs */
	struct hf_job pack;        /* publishes those that wait for one */
	pthread_mutex_t lock;      /* from here on; a leaf */
	struct hf_job retry;
	bool stop;
	bool has_failed;           /* it may be that something is in memory only */
	bool failing;
	struct hf_fault fault;     /* the last one, if failing */
	time_t since;
	uint64_t failures;         /* that were met */
	unsigned delay_s;          /* between two tries */
	int64_t looked_ns;         /* the last one because somebody looked */
	uint64_t room;             /* there was no more when it failed for want of it */
	unsigned skipped;          /* tries that were left out since there was no more */
	bool told_full;            /* that the memory does not suffice */
	bool told_well;            /* that it works, though something is still to be written */
};

/* Takes fd and, copied, path (NULL: not known). memory: bytes of indexes that may be in memory, 0 for none. error: why
 * fd is -1, if it is; 0: nobody asked for a directory. */
int hf_index_dir_init(const struct hf_shared *shared, int fd, const char *path, uint64_t memory, int error);
/* It is not tried again. */
void hf_index_dir_stop(struct hf_index_dir *dir);
/* After a last try to write what is in memory. */
void hf_index_dir_fini(struct hf_index_dir *dir);

/* Where an index is to be written that does not fit in so many bytes: hf_build.dirfd. *ret_memory: in memory. */
int hf_index_dir_choose(struct hf_index_dir *dir, uint64_t too_small, bool *ret_memory);
/* Bytes that may still be kept in memory. */
uint64_t hf_index_dir_free(struct hf_index_dir *dir);
/* HF_ERR_INDEX_DIR was returned to this thread by a call that had to do with the directory itself. */
void hf_index_dir_failed(struct hf_index_dir *dir);
/* Where the index of a capture of that size is to be written if it is to go into a pack, or -1. */
int hf_index_dir_choose_pack(struct hf_index_dir *dir, uint64_t size);
/* An index was written there: it is published within a second or so. */
void hf_index_dir_packed(struct hf_index_dir *dir);
/* Publishes what waits to go into a pack: 0, or why it waits still. */
int hf_index_dir_flush(struct hf_index_dir *dir);
/* Something was written to memory instead. */
void hf_index_dir_kept(struct hf_index_dir *dir);
/* Memory did not suffice either: a capture waits, and is tried again when the directory is. */
void hf_index_dir_waited_for(struct hf_index_dir *dir);
/* Something was written there: if nothing is left to be written all is well again. */
void hf_index_dir_wrote(struct hf_index_dir *dir);
/* Somebody looks at a capture that waits: whether it is worth a try now. */
bool hf_index_dir_may_try(struct hf_index_dir *dir);

/* "index directory DIR: writing failed: No space left on device"; false: nothing is wrong, and buf is "". */
bool hf_index_dir_text(struct hf_index_dir *dir, char *buf, size_t size);

struct hf_index_dir_stats {
	bool failing;
	struct hf_fault fault; /* if failing, as since */
	time_t since;
	uint64_t failures;
	struct hf_memdir_stats memory;
};
void hf_index_dir_get_stats(struct hf_index_dir *dir, struct hf_index_dir_stats *ret_stats);

#endif
