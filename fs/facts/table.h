/* SPDX-License-Identifier: Apache-2.0 */
/* The table of captures by path. */
#ifndef HF_FS_TABLE_H
#define HF_FS_TABLE_H

#include "fs/archive/stamp.h"
#include "fs/facts/capture.h"

struct hf_capture_table {
	const struct hf_shared *shared;	      /* of its captures */
	struct hf_job index_job, notice_job;  /* templates for its captures, set before there are any */
	pthread_mutex_t lock;
	struct hf_chains chains;
};

/* What a probe found out about a file or directory. */
struct hf_found {
	const struct hf_box *box;
	const struct hf_codec *codec; /* NULL: it is no capture */
	struct hf_members *members;   /* borrowed */
	struct hf_stamp stamp;
};

void hf_table_init(struct hf_capture_table *table, const struct hf_shared *shared);
void hf_table_fini(struct hf_capture_table *table);
/* NULL: there is none. */
struct hf_capture *hf_table_find(struct hf_capture_table *table, const char *path);
/* The capture at path, or a new one. */
int hf_table_add(struct hf_capture_table *table, const char *path, const struct hf_found *found,
		 struct hf_capture **ret_capture);
/* Every capture, in no order. fn must not call back into captures. */
void hf_table_each(struct hf_capture_table *table, void (*fn)(void *ctx, struct hf_capture *capture), void *ctx);

#endif
