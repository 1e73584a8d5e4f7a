/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are no captures: they need not be looked into again before they change. */
#ifndef HF_FS_PLAIN_H
#define HF_FS_PLAIN_H

#include "index/base/lock.h"

#include <stdbool.h>

struct hf_plain;
struct hf_stamp;

struct hf_plains {
	pthread_mutex_t lock;
	struct hf_plain *plain;
};

int hf_plain_init(struct hf_plains *plains);
void hf_plain_fini(struct hf_plains *plains);
bool hf_plain_is_known(struct hf_plains *plains, const char *path, const struct hf_stamp *stamp);
void hf_plain_remember(struct hf_plains *plains, const char *path, const struct hf_stamp *stamp);

#endif
