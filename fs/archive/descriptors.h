/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many descriptors each part of the file system may hold at the same time, of those that the process may have, and
 * what is done when there are none all the same.
 */
#ifndef HF_FS_DESCRIPTORS_H
#define HF_FS_DESCRIPTORS_H

#include "fs/base/common.h"
#include "index/base/lock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Descriptors that an opened capture may have: an index, a spool, and the tables of views, of which no capture has all.
 */
#define HF_OPEN_FILES 10
#define HF_OPEN_CAPTURES_MAX 64

struct hf_descriptors {
	const struct hf_common *common;
	/* Closes what nobody is using; returns how many that were. */
	size_t (*shed)(void *ctx);
	void *ctx;
	size_t limit;  /* of the process (RLIMIT_NOFILE) */
	size_t open_files; /* of files of the archive that nobody is reading (open_files.h) */
	size_t open;   /* of indexes and view tables (open_capture.h) */
	size_t builds; /* captures that are indexed at the same time */
	pthread_mutex_t lock;
	pthread_cond_t ended;	 /* a build has ended, or pauses; or somebody is to look whether it is to stop */
	size_t building;	 /* the lock's */
	_Atomic int64_t told_ns; /* when the log last said that there are none left; 0: never */
};

/* Divides what the process may have. */
void hf_descriptors_init(struct hf_descriptors *descriptors, const struct hf_common *common);
/* The same of another limit: for tests. */
void hf_descriptors_divide(struct hf_descriptors *descriptors, size_t limit);
void hf_descriptors_fini(struct hf_descriptors *descriptors);

/*
 * One capture more is indexed: waits until it may be, for which the job that does so leaves its seat. HF_ERR_CANCELLED:
 * stop says so, which is looked at once a second and when hf_descriptors_wake is called; then there is nothing to end.
 */
int hf_descriptors_begin_build(struct hf_descriptors *descriptors, const struct hf_stop *stop);
void hf_descriptors_wake(struct hf_descriptors *descriptors);
void hf_descriptors_end_build(struct hf_descriptors *descriptors);
/* It is put aside and does not count, until it goes on, for which it does not wait. */
void hf_descriptors_pause_build(struct hf_descriptors *descriptors, bool pause);

/*
 * Something failed for the time tries, counted from 1, for want of descriptors or memory (errnum: EMFILE, ENFILE,
 * ENOMEM). Closes what nobody is using, waits a moment and says so in the log, once in a while. False: it is no use to
 * try again. No lock of the fs may be held. descriptors: a struct hf_descriptors.
 */
bool hf_descriptors_make_room(void *descriptors, unsigned tries, int errnum);
/* The same after one of our own errors; false of any other than hf_err_is_shortage. */
bool hf_descriptors_again(struct hf_descriptors *descriptors, unsigned tries, int err);

#endif
