/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captures: the files of the archive that a codec recognises by their content, each with its state on the way to being
 * served. A file is recognised again when its size or times change. That begins a new version, and nothing of an older
 * one is served any more.
 */
#ifndef HF_FS_CAPTURE_H
#define HF_FS_CAPTURE_H

#include "codecs/base/chains.h"
#include "fs/archive/access.h"
#include "fs/archive/stamp.h"
#include "fs/base/list.h"
#include "fs/program/load_addresses.h"
#include "index/base/lock.h"
#include "index/exec/exec.h"
#include "index/index.h"

#include <stdatomic.h>

enum hf_capture_state {
	HF_CAPTURE_UNKNOWN, /* recognised; nobody looked for an index yet */
	HF_CAPTURE_QUEUED,
	HF_CAPTURE_INDEXING,
	HF_CAPTURE_READY,
	HF_CAPTURE_FAILED,  /* could not be indexed; facts say why */
	HF_CAPTURE_WAITING, /* for the index directory, which fails */
	HF_CAPTURE_GONE,    /* the file is not there, or is no capture any more */
};

struct hf_facts;
struct hf_members;
struct hf_open;
struct hf_shared;

/* Lives as long as the fs. */
struct hf_capture {
	const struct hf_shared *shared;
	struct hf_common *common;
	const char *path;
	struct hf_chain in_table; /* by the hash of its path */

	pthread_mutex_t lock;	    /* of all members from here to nodes */
	pthread_cond_t changed;	    /* of the state */
	struct hf_stamp stamp;	    /* of the file, or of the description */
	struct hf_members *members; /* one reference; NULL: there is no description */
	struct hf_access access;    /* who may read the views: of all that they are made of */
	int64_t access_ns;	    /* when that was looked at; 0: never */
	uint64_t told;		    /* the version whose failure was logged, plus 1; 0: none */
	char *complaint;	    /* what was wrong with the description, or NULL */
	const struct hf_box *box;   /* as recognised; NULL: plain bytes */
	const struct hf_codec *codec;
	enum hf_capture_state state;
	struct hf_facts *facts; /* READY and FAILED: one reference */
	char *profiles;		/* of version profiles_of: hf_catalogue_entry.profiles */
	uint64_t profiles_of;
	/* A version whose index files were examined (hf_index_examine); 0: none. */
	uint64_t examined;  /* and not built since */
	uint64_t absent;    /* and had no index, and was not built since */
	uint64_t confirmed; /* and agree with the recalled facts */
	bool building;		/* a thread is indexing it, perhaps an older version */
	unsigned rebuilds;	/* of this version, because its bytes were wrong */
	unsigned rebuilt;	/* recent ones; when the last one was */
	int64_t rebuilt_ns;
	bool repair;			/* READY, and index files are to be made again: hf_capture_repair */
	int64_t repaired_ns, repair_ns; /* when a repair ended last; how long it took */
	unsigned shortages; /* attempts in a row that failed for want of memory or descriptors */
	int64_t failed_ns;  /* when it failed, or began to wait */
	uint64_t too_small; /* so many bytes of memory were too few for its index; 0: not known */
	struct hf_build_progress progress;
	int64_t started_ns; /* of its indexing, plus pauses */
	int64_t paused_ns;  /* since when its indexing pauses for others; 0: it does not */
	_Atomic uint64_t version;

	struct hf_kept_load_addresses load_addresses; /* of the ELF files beside it */

	struct hf_link nodes; /* its inodes; the nodes' lock */

	struct hf_open *open; /* the pool's lock: the index in use, if any */
	bool opening;

	struct hf_job job;    /* the executor's: indexing it */
	struct hf_job notice; /* telling the kernel that it changed */
};

#endif
