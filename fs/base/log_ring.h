/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last lines of a log in memory, for .hartfs/log.txt. The newest push out the oldest, whole lines at a time.
 */
#ifndef HF_FS_LOG_RING_H
#define HF_FS_LOG_RING_H

#include "codecs/base/sink.h"

struct hf_log_ring;

/* size: bytes that it holds, at least that of the longest line. */
int hf_log_ring_new(size_t size, struct hf_log_ring **ret_ring);
void hf_log_ring_free(struct hf_log_ring *ring);

/* A line with its line break. One longer than the ring is dropped. From any thread. */
void hf_log_ring_add(struct hf_log_ring *ring, const char *line, size_t n);
void hf_log_ring_write(struct hf_log_ring *ring, struct hf_sink *sink);

#endif
