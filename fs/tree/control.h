/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory .hartfs: what the file system is doing, as files.
 */
#ifndef HF_FS_CONTROL_H
#define HF_FS_CONTROL_H

#include "codecs/base/sink.h"
#include "fs/base/options.h"
#include "fs/base/lock.h"

struct hf_tree;

/* What status.json says of single paths: each path once, with one text. */
#define HF_REMARKS_MAX 1000
struct hf_remarks {
	struct hf_remark {
		char *path, *text; /* owned */
	} *item;
	size_t count, more; /* more: not kept */
};

struct hf_control {
	pthread_mutex_t lock;
	struct hf_remarks
		substitutes; /* captures whose view directory does not have the name it should have: its name */
	struct hf_remarks unreached;   /* what the search for captures could not look at: why */
};

void hf_control_init(struct hf_control *control);
void hf_control_fini(struct hf_control *control);

/* Notes the name that a capture's view directory has instead of its own; the same again is nothing new. */
void hf_control_substitute(struct hf_control *control, const char *path, const char *name);
/* The archive is searched from its beginning: what could not be reached before may be reachable now. */
void hf_control_search_begins(struct hf_control *control);
/* Notes dir/name (dir itself if name is NULL), which a search had to leave out because of err. False if there are too
 * many to keep: they are counted only. */
bool hf_control_unreached(struct hf_control *control, const char *dir, const char *name, int err);

void hf_control_status(struct hf_tree *tree, struct hf_sink *sink);
void hf_control_progress(struct hf_tree *tree, struct hf_sink *sink);
/* metrics.c */
void hf_control_metrics(struct hf_tree *tree, struct hf_sink *sink);

#endif
