/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked for of a capture and done later, by its jobs. */
#ifndef HF_FS_QUEUE_H
#define HF_FS_QUEUE_H

#include "fs/capture/capture.h"

/* Queues a capture for indexing unless it is queued or being indexed: it becomes QUEUED. urgent: somebody looked. */
void hf_jobs_add(struct hf_capture *capture, bool urgent);
/* The same, not to begin before that time has passed. */
void hf_jobs_add_after(struct hf_capture *capture, bool urgent, int64_t delay_ns);
/* The kernel will be told to forget what it knows of the capture's views. */
void hf_jobs_notify(struct hf_capture *capture);
/* Moves a queued capture before those nobody waits for, and lets one that was put aside go on. */
void hf_capture_hurry(struct hf_capture *capture);
/* Has the files of that version that are not there made again, unless the last time ended less long ago than it took.
 */
void hf_capture_repair(struct hf_capture *capture, uint64_t version);

#endif
