/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index directory of a file system. While writing it fails, indexes are kept in memory (index/store/memdir.h), and
 * it is tried again, after a second at first and up to a minute later. Its failures never make a capture fail.
 */
#ifndef HF_FS_INDEX_DIR_H
#define HF_FS_INDEX_DIR_H

#include "fs/archive/access.h"
#include "fs/base/options.h"
#include "index/base/fault.h"
#include "index/base/lock.h"
#include "index/exec/exec.h"
#include "index/store/dir.h"
#include "index/store/memdir.h"
#include "index/store/packs.h"

#include <time.h>

struct hf_shared;

struct hf_index_dir {
	const struct hf_shared *shared;
	int fd;                    /* -1: there is none */
	char *path;                /* as it is shown */
	bool unwanted;             /* nobody asked for a directory: indexes are kept in memory */
	uint64_t memory;           /* most bytes of indexes in memory */
	struct hf_memdir *memdir;  /* NULL: nothing is kept in memory */
	struct hf_packs *packs;    /* NULL: there is no directory */
	struct hf_store_dir disk, for_group, in_memory, in_packs; /* the same, for builds that write there */
	uint64_t pack_below;       /* captures of fewer bytes go into packs */
	_Atomic int64_t limit_due; /* so many indexes may be made before the next look at the limit */
	struct hf_job pack;        /* publishes indexes that wait for a pack */
	pthread_mutex_t lock;      /* from here on; a leaf */
	struct hf_job retry;
	bool stop;
	bool has_failed;           /* something may be in memory only */
	bool failing;
	struct hf_fault fault;     /* the last one, if failing */
	time_t since;
	uint64_t failures;         /* so far */
	unsigned delay_s;          /* between two tries */
	int64_t looked_ns;         /* when somebody's look caused a try last */
	uint64_t room;             /* free bytes of the disk when it was full */
	unsigned skipped;          /* tries left out because there was no more room */
	bool told_full;            /* it was logged that memory does not suffice */
	bool told_well;            /* it was logged that writing works again */
};

/* Takes fd, copies path (NULL: not known). memory: most bytes of indexes in memory, 0: none. error: why fd is -1; 0:
 * nobody asked for a directory. */
int hf_index_dir_init(const struct hf_shared *shared, int fd, const char *path, uint64_t memory, int error);
/* Whether the directory's group may read what is made of a capture that access lets read. */
bool hf_index_dir_may_publish(const struct hf_index_dir *dir, const struct hf_access *access);
/* Ends the tries. */
void hf_index_dir_stop(struct hf_index_dir *dir);
/* Tries a last time to write what is in memory. */
void hf_index_dir_fini(struct hf_index_dir *dir);

/* The directory for an index of more than too_small bytes: hf_build.dir. publish: hf_index_dir_may_publish.
 * *ret_memory: it is in memory. */
const struct hf_store_dir *hf_index_dir_choose(struct hf_index_dir *dir, bool publish, uint64_t too_small,
					       bool *ret_memory);
/* Whether there is neither a directory nor memory in its place. */
bool hf_index_dir_is_none(const struct hf_index_dir *dir);
/* Bytes of memory that are still free for indexes. */
uint64_t hf_index_dir_free(struct hf_index_dir *dir);
/* A call with the directory returned HF_ERR_INDEX_DIR to this thread. */
void hf_index_dir_failed(struct hf_index_dir *dir);
/* The directory for the index of a capture of that size if it goes into a pack, else NULL. */
const struct hf_store_dir *hf_index_dir_choose_pack(struct hf_index_dir *dir, bool publish, uint64_t size);
/* An index was written for a pack: it is published within about a second. */
void hf_index_dir_packed(struct hf_index_dir *dir);
/* Publishes what waits for a pack: 0, or why it still waits. */
int hf_index_dir_flush(struct hf_index_dir *dir);
/* An index was made: sometimes looks whether the directory is over its limit, and then removes some. */
void hf_index_dir_keep_limit(struct hf_index_dir *dir);
/* Something was written to memory instead. */
void hf_index_dir_kept(struct hf_index_dir *dir);
/* Memory did not suffice either: a capture waits until the directory is tried again. */
void hf_index_dir_waited_for(struct hf_index_dir *dir);
/* Something was written to the directory: its failure is over if nothing else is left to be written. */
void hf_index_dir_wrote(struct hf_index_dir *dir);
/* Somebody looks at a capture that waits: whether to try it now. */
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
