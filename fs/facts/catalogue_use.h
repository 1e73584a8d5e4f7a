/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The catalogue: what is remembered of the archive's files from one mount to the next. Changes are written within a few
 * seconds.
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
	size_t *view;                   /* [view_count]: numbers of the views whose sizes it has */
	size_t view_count;
	pthread_mutex_t lock; /* from here to many */
	bool dirty;
	int64_t delay_ns; /* from the first change to writing it */
	size_t many;      /* so many changes are written without delay */
	struct hf_job write;
	/* For metrics.prom. */
	atomic_ullong recalled; /* files not probed, because they are in the catalogue */
	atomic_ullong probed;   /* files that were probed */
	atomic_ullong opened;   /* captures opened with their indexes */
	atomic_ullong flushed;
};

/* path: canonical, of the archive; NULL: no catalogue. Without one, for whatever reason, everything is found out again,
 * which is no error. */
void hf_catalogue_use_init(const struct hf_shared *shared, const char *path);
/* Writes the last changes; after the executor was stopped. */
void hf_catalogue_use_fini(const struct hf_shared *shared);

/* What is remembered of the file with that stat, to be cleared (hf_catalogue_clear); or HF_ERR_NOT_FOUND. */
int hf_catalogue_use_recall(const struct hf_shared *shared, const char *path, const struct stat *st,
			    struct hf_catalogue_entry *ret_entry);
/* The facts of an indexed capture. Whether they are still true shows when its index is opened. */
int hf_catalogue_use_facts(struct hf_capture *capture, uint64_t version, const struct hf_catalogue_entry *entry,
			   struct hf_facts **ret_facts);

void hf_catalogue_use_put_not_capture(const struct hf_shared *shared, const char *path, const struct hf_stamp *stamp);
/* Notes the present state of the capture. facts: of this version, or NULL. */
void hf_catalogue_use_put(struct hf_capture *capture, const struct hf_facts *facts);

#endif
