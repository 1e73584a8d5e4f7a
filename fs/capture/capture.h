/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captures: the files of the archive that a codec recognises, each with its state on the way to being served. They are
 * known by their content; what was found is remembered with the file's size and times, and found anew when these
 * change. A change begins a new version: nothing of an older one is served any more.
 */
#ifndef HF_FS_CAPTURE_H
#define HF_FS_CAPTURE_H

#include "codecs/base/chains.h"
#include "fs/archive/access.h"
#include "fs/archive/stamp.h"
#include "fs/base/list.h"
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

const char *hf_capture_state_name(enum hf_capture_state state);

struct hf_captures;
struct hf_facts;
struct hf_members;
struct hf_open;
struct hf_places;

/* Lives as long as the fs. */
struct hf_capture {
	struct hf_captures *all;
	struct hf_common *common;
	const char *path;
	struct hf_chain in_table; /* by the hash of its path */

	pthread_mutex_t lock;	    /* from here to nodes */
	pthread_cond_t changed;	    /* of the state */
	struct hf_stamp stamp;	    /* of the file, or of the description */
	struct hf_members *members; /* one reference; NULL: a file that needs no description */
	struct hf_access access;    /* who may read the views: of all that they are made of */
	int64_t access_ns;	    /* when that was looked at; 0: never */
	uint64_t told;		    /* 1 + the version whose failure was logged; 0: none */
	char *complaint;	    /* what was wrong with the description, or NULL */
	const struct hf_box *box;   /* as recognised; NULL: plain bytes */
	const struct hf_codec *codec;
	enum hf_capture_state state;
	struct hf_facts *facts; /* READY and FAILED: one reference */
	/* Versions whose index files were looked at page by page; 0: none. */
	uint64_t examined;  /* and nobody built it since */
	uint64_t absent;    /* and it had no index, and nobody built it since */
	uint64_t confirmed; /* and they agree with its recalled facts */
	bool building;		/* a thread is indexing it, perhaps an older version */
	unsigned rebuilds;	/* of this version, because bytes were not as promised */
	unsigned rebuilt;	/* those of late; the last one of them */
	int64_t rebuilt_ns;
	bool repair;			/* READY, and files of its index are to be made again: hf_capture_repair */
	int64_t repaired_ns, repair_ns; /* when that ended last, and how long it took */
	unsigned shortages; /* times in a row that it could not be indexed for want of memory or descriptors */
	int64_t failed_ns;  /* when it failed, or began to wait, to try again later */
	uint64_t too_small; /* its index did not fit in so many bytes of memory; 0: not known */
	struct hf_build_progress progress;
	int64_t started_ns; /* as if it had not paused */
	int64_t paused_ns;  /* since when its indexing is put aside for others; 0: it is not */
	_Atomic uint64_t version;

	struct hf_places *places;	/* where the ELF files beside it lay, in that version; NULL: nobody asked */
	uint64_t places_version;

	struct hf_link nodes; /* its inodes; the nodes' lock */

	struct hf_open *open; /* the pool's lock: the index in use, if any */
	bool opening;

	struct hf_job job;    /* the executor's: indexing it */
	struct hf_job notice; /* telling the kernel that it changed */
};

/* The capture at path, whose stat is given; NULL if it is none, or cannot be read. Looks into files that are new, and
 * for descriptions in directories. */
int hf_capture_find(struct hf_captures *all, const char *path, const struct stat *st, struct hf_capture **ret_capture);

/* The same of a path alone; HF_ERR_UNKNOWN_FORMAT if it is none, or why it cannot be looked at or read. */
int hf_capture_at(struct hf_captures *all, const char *path, struct hf_capture **ret_capture);

/* The one at path if it was found before, or NULL. */
struct hf_capture *hf_capture_known(struct hf_captures *all, const char *path);
/* Whether it has a description. */
bool hf_capture_is_described(struct hf_capture *capture);
/* The stat of its file, or of its description, with the owner, group and mode of the views (fs/archive/access.h), which
 * may be those of a second ago. */
int hf_capture_stat(struct hf_capture *capture, struct stat *ret_st);

/* Looks at the file: begins a new version if it changed. HF_ERR_NOT_FOUND if it is gone or no capture any more. ret_st
 * is that of hf_capture_stat, as it is now. */
int hf_capture_check(struct hf_capture *capture, struct stat *ret_st);
/* The same, but what lies beside the file may be as it was some milliseconds ago: for directories of the capture, which
 * are opened one after the other. */
int hf_capture_check_again(struct hf_capture *capture, struct stat *ret_st);

/*
 * What is known of the indexed capture, with a reference. While it is not indexed HF_ERR_BUSY: its indexing is
 * started (unless the options forbid it) and waited for at most wait_ms.
 */
int hf_capture_facts(struct hf_capture *capture, unsigned wait_ms, struct hf_facts **ret_facts);
/* The same without starting or waiting for anything. */
int hf_capture_facts_now(struct hf_capture *capture, struct hf_facts **ret_facts);
/* Opens that version of the capture, to be closed only after success. HF_ERR_CHANGED if it is another one by now, never
 * HF_ERR_NOT_FOUND; what is wrong with a description is the capture's complaint from then on, and in *diag (may be
 * NULL). */
struct hf_trace;
int hf_capture_open_trace(struct hf_capture *capture, const struct hf_stamp *stamp, struct hf_trace *ret_trace,
			  struct hf_diag *diag);
/* Exchanges facts that were only recalled for those of the index, before bytes are read that must fit them: opens it,
 * or waits for it as hf_capture_facts does. HF_ERR_CHANGED if it does not come; *facts is NULL after an error. */
int hf_capture_confirm(struct hf_capture *capture, unsigned wait_ms, struct hf_facts **facts);

/* Indexes on the calling thread; HF_ERR_BUSY if another one (wait: does not happen, it is waited for) is at it. tap:
 * NULL, or who gets the bytes of a view meanwhile. */
int hf_capture_index(struct hf_capture *capture, bool wait, const struct hf_tap *tap,
		     bool (*fn)(void *ctx, double percent, uint64_t insns), void *ctx, struct hf_diag *diag);

/* Indexing or opening it met err, a shortage, and is to be tried again; counts. False: no shortage, or the last of
 * many. */
bool hf_capture_may_try(struct hf_capture *capture, int err);

/* The index of that version gave wrong bytes: throw it away and build it anew. Or (HF_ERR_INDEX_DIR) it cannot be read:
 * leave it as it is, and build another. */
void hf_capture_distrust(struct hf_capture *capture, uint64_t version, int why);

/* The facts of this version are known: it is READY (or FAILED, if they say so). Takes a reference of its own. They take
 * the place of recalled ones. */
void hf_capture_settle(struct hf_capture *capture, uint64_t version, struct hf_facts *facts);

/* Moves a queued capture before those nobody waits for, and lets one that was put aside go on. */
void hf_capture_hurry(struct hf_capture *capture);

/* Whether the capture could not be indexed, or not be opened as what it claims to be: why, also in words (text may be
 * NULL). */
#define HF_FAILURE_SIZE 1024
bool hf_capture_failure(struct hf_capture *capture, struct hf_diag *ret_diag, char *text, size_t size);

/* As the user is told: one of which nothing could be decoded has failed, though its index is there. With the lock held.
 */
enum hf_capture_state hf_capture_told_state(const struct hf_capture *capture);

/* Seconds until it is indexed, as far as can be told, or a negative number. With the lock of the capture held. */
double hf_capture_seconds_left(const struct hf_capture *capture);
double hf_capture_percent(const struct hf_capture *capture);

#endif
