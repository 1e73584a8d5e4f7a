/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Look-ups that are answered only when a capture is indexed (option block). The threads that answer the kernel do not
 * wait for that: what has to wait is put aside here, and a job tries again.
 */
#ifndef HF_MOUNTD_BLOCKED_H
#define HF_MOUNTD_BLOCKED_H

#include "mountd/served.h"

/* Nothing is put aside yet. */
void hf_blocked_init(struct hf_session *session);
/* session->fs is set. */
void hf_blocked_start(struct hf_session *session);
/* Answers a look-up with what hf_fs_lookup gave. */
typedef void hf_blocked_reply(fuse_req_t req, int err, const struct hf_attr *attr);
/* Puts a look-up aside that gave HF_ERR_BUSY; false if it is to be answered with that. */
bool hf_blocked_add(struct hf_session *session, fuse_req_t req, fuse_ino_t parent, const char *name,
		    hf_blocked_reply *reply);
/* A capture may be ready. Waits for nothing. */
void hf_blocked_wake(struct hf_session *session);
/* Answers all of them with EINTR, and takes no more. After hf_fs_stop, before hf_fs_close. */
void hf_blocked_stop(struct hf_session *session);

#endif
