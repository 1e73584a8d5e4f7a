/* SPDX-License-Identifier: Apache-2.0 */
/* Requests about a capture that its jobs do later. */
#ifndef HF_FS_QUEUE_H
#define HF_FS_QUEUE_H

#include "fs/facts/capture.h"

/* Queues a capture for indexing, unless it is queued or being indexed. urgent: somebody looked at it. */
void hf_jobs_add(struct hf_capture *capture, bool urgent);
/* The same, to begin after that time. */
void hf_jobs_add_after(struct hf_capture *capture, bool urgent, int64_t delay_ns);
/* The kernel will be told to forget what it knows of the capture's views. */
void hf_jobs_notify(struct hf_capture *capture);
/* Moves a queued capture before those nobody waits for, and lets a paused one go on. */
void hf_capture_hurry(struct hf_capture *capture);
/* Queues a repair of missing index files of that version, unless less time passed since the last one than that took. */
void hf_capture_repair(struct hf_capture *capture, uint64_t version);

#endif
