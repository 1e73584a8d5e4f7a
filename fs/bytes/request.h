/* SPDX-License-Identifier: Apache-2.0 */
/* The way of a read: which pieces it needs, who makes them, and when all are there. */
#ifndef HF_FS_REQUEST_H
#define HF_FS_REQUEST_H

#include "fs/bytes/ahead.h"
#include "fs/bytes/read.h"

/* What a read holds until it is released: pinned blocks, or bytes of its own. In struct hf_read.state. */
struct hf_request;

/* hf_fs_read_cancel. */
void hf_request_cancel(struct hf_read *read);

/* The read of bytes through the cache. */
void hf_bytes_read(struct hf_common *common, struct hf_read *read, const struct hf_bytes *bytes,
		   struct hf_reading *reading);
/* The read of what is at hand: takes own[size], malloc'ed. */
int hf_read_own(struct hf_common *common, struct hf_read *read, uint8_t *own, size_t size);

#endif
