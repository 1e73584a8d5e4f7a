/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is remembered of the archive's files from one mount to the next: the catalogue as captures use it,
 * which is written down every few seconds while there is something new.
 */
#ifndef HF_FS_CATALOGUE_USE_H
#define HF_FS_CATALOGUE_USE_H

#include "index/base/lock.h"
#include "fs/base/options.h"
#include "index/catalogue/catalogue.h"
#include "index/exec/exec.h"

#include <stdatomic.h>

struct hf_capture;
struct hf_facts;
struct hf_shared;
struct hf_stamp;
struct stat;

struct hf_catalogue_use {
	const struct hf_shared *shared;
	struct hf_catalogue *catalogue; /* NULL: nothing is remembered */
	size_t *view;                   /* numbers of the views whose sizes it has, view_count of them */
	size_t view_count;
	pthread_mutex_t lock; /* from here to many */
	bool dirty;
	int64_t delay_ns; /* from the first news to writing it down */
	size_t many;      /* so much news is written down at once */
	struct hf_job write;
	/* For metrics.prom. */
	atomic_ullong recalled; /* files that were not looked into, because they are in the catalogue */
	atomic_ullong probed;   /* files that were looked into */
	atomic_ullong opened;   /* captures opened with their indexes */
	atomic_ullong flushed;
};

/* path: canonical, of the archive; NULL for no memory. That there is none, for this or any other reason, is no error:
 * then everything is found out anew. */
void hf_catalogue_use_init(const struct hf_shared *shared, const char *path);
/* Writes down what is new, after the executor was stopped. */
void hf_catalogue_use_fini(const struct hf_shared *shared);

/* HF_ERR_NOT_FOUND, or an entry to be cleared: a file with that stat was looked at before. */
int hf_catalogue_use_recall(const struct hf_shared *shared, const char *path, const struct stat *st,
			    struct hf_catalogue_entry *ret_entry);
/* The facts of an indexed capture, recalled: that they are still true shows when the index is opened. */
int hf_catalogue_use_facts(struct hf_capture *capture, uint64_t version, const struct hf_catalogue_entry *entry,
			   struct hf_facts **ret_facts);

void hf_catalogue_use_put_not_capture(const struct hf_shared *shared, const char *path, const struct hf_stamp *stamp);
/* What the capture is now; facts, if they are of this version, may be NULL. */
void hf_catalogue_use_put(struct hf_capture *capture, const struct hf_facts *facts);

#endif
