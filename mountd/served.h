/* SPDX-License-Identifier: Apache-2.0 */
/*
 * struct hf_session: libfuse's session, the file system behind it, and what is open or under way, so that all of it can be
 * ended in order.
 */
#ifndef HF_MOUNTD_SERVED_H
#define HF_MOUNTD_SERVED_H

#define FUSE_USE_VERSION 35

#include "fs/base/list.h"
#include "fs/fs.h"
#include "index/exec/exec.h"
#include "mountd/list_hints.h"
#include "mountd/thread_parking.h"

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
	/* SIGHUP came, or HF_SIGNAL_NEW_LOG */
	void (*on_log_signal)(void *ctx, int sig);
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
	struct hf_thread_parking parking; /* which of those wait for requests */
	struct hf_list_hints list_hints;  /* who wants more than names of a directory */
	pthread_t main;
};

/* ---- fuse_ops.c ---- */

extern const struct fuse_lowlevel_ops hf_fuse_ops;
void hf_fuse_cancel_reads(struct hf_session *session);
void hf_fuse_close_handles(struct hf_session *session);

#endif
