/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One mount as the server sees it: libfuse's session, the file system behind it, and what is open or under way, so
 * that all of it can be ended in order.
 */
#ifndef HF_MOUNTD_SESSION_H
#define HF_MOUNTD_SESSION_H

#define FUSE_USE_VERSION 35

#include "fs/base/list.h"
#include "fs/fs.h"
#include "index/exec.h"
#include "mountd/listers.h"
#include "mountd/receivers.h"

#include <fuse_lowlevel.h>
#include <pthread.h>
#include <stdatomic.h>

/* Look-ups that are put aside: blocked.h. */
struct hf_blockings {
	pthread_mutex_t lock;
	struct hf_link list;
	size_t count;
	bool running;
	struct hf_job look;
};

/* How far the kernel reads ahead, in bytes, where we may say so; otherwise 128 KiB. A page fault reads as much. */
#define HF_SESSION_READ_AHEAD (512u << 10)

struct hf_session {
	struct fuse_session *fuse;
	struct hf_fs *fs;            /* set before hf_session_run */
	void (*on_init)(void *ctx);  /* the kernel has got its first answer */
	void (*on_hangup)(void *ctx); /* SIGHUP came */
	void *ctx;

	pthread_mutex_t lock;        /* of the lists and of what is in them */
	pthread_cond_t no_reads;
	struct hf_link handles;      /* open files and directories */
	struct hf_link reads;        /* requests that somebody still holds */
	size_t read_count;           /* of those, including the one being freed */

	bool direct;                 /* reads go past the page cache; set before hf_session_run */
	bool block;                  /* look-ups wait for indexes; set before hf_session_run */
	struct hf_blockings blocked; /* if block */
	atomic_int threads;          /* of the loop, that still run */
	struct hf_receivers receivers; /* which of those wait for requests */
	struct hf_listers listers;   /* who wants more than names of a directory */
	pthread_t main;
};

extern const struct fuse_lowlevel_ops hf_fuse_ops;

/* options: of the mount, each "name" or "name=value". Messages of libfuse go to the log. */
int hf_session_init(struct hf_session *session, const char *archive, char *const *options, int option_count);
int hf_session_mount(struct hf_session *session, const char *mountpoint);
/* For hf_fs_options.invalidate, with the session as context. Never waits for an answer of ours. */
void hf_session_invalidate(void *ctx, uint64_t ino);
/* Serves until the mount is gone or SIGTERM or SIGINT comes (blocked in all threads from here on, as is SIGHUP). */
int hf_session_run(struct hf_session *session);
/* Ends requests under way and closes what is open, so that the fs can be closed; false if something hangs. */
bool hf_session_quiesce(struct hf_session *session);
/* Closes the connection to the kernel. The mount itself is the supervisor's to undo. */
void hf_session_fini(struct hf_session *session);

/* fuse_ops.c */
void hf_fuse_cancel_reads(struct hf_session *session);
void hf_fuse_close_handles(struct hf_session *session);

#endif
