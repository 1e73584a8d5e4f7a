/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are no captures: they are not probed again before they change. */
#ifndef HF_FS_NOT_CAPTURES_H
#define HF_FS_NOT_CAPTURES_H

#include "index/base/lock.h"

#include <stdbool.h>

struct hf_not_capture;
struct hf_stamp;

struct hf_not_captures {
	pthread_mutex_t lock;
	struct hf_not_capture *entry;
};

int hf_not_captures_init(struct hf_not_captures *not_captures);
void hf_not_captures_fini(struct hf_not_captures *not_captures);
bool hf_not_captures_has(struct hf_not_captures *not_captures, const char *path, const struct hf_stamp *stamp);
void hf_not_captures_add(struct hf_not_captures *not_captures, const char *path, const struct hf_stamp *stamp);

#endif
