/* SPDX-License-Identifier: Apache-2.0 */
/* struct hf_tree: what the files of the tree share. They call functions of each other by the headers of these. */
#ifndef HF_FS_TREE_SHARED_H
#define HF_FS_TREE_SHARED_H

#include "fs/archive/archive.h"
#include "fs/archive/path.h"
#include "fs/base/common.h"
#include "fs/base/list_cache.h"
#include "fs/capture/all.h"
#include "fs/tree/node.h"

struct hf_open_files;
struct hf_mades;
struct hf_profiles;
struct hf_slices;

/* Seconds for which the kernel may believe names and attributes; the short one is of what waits for an index. */
#define HF_TIMEOUT_LONG 5.0
#define HF_TIMEOUT_SHORT 0.25

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

struct hf_tree {
	/* Borrowed. */
	struct hf_common *common;
	const struct hf_archive *archive;
	struct hf_open_files *open_files;
	struct hf_captures *captures;
	struct hf_slices *slices;
	struct hf_profiles *profiles;
	struct hf_mades *wheres;
	struct hf_mades *channels;
	struct hf_mades *hart_states;

	struct hf_nodes nodes;
	struct hf_list_cache list_cache;
	struct hf_control control;
	uid_t uid; /* whose .hartfs is */
	gid_t gid;
};

#endif
