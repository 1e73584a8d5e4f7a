/* SPDX-License-Identifier: Apache-2.0 */
/* One mount as the server sees it, from its beginning to its end. */
#ifndef HF_MOUNTD_SESSION_H
#define HF_MOUNTD_SESSION_H

#include "mountd/served.h"

/* options: of the mount, each "name" or "name=value". Messages of libfuse go to the log. */
int hf_session_init(struct hf_session *session, const char *archive, char *const *options, int option_count);
int hf_session_mount(struct hf_session *session, const char *mountpoint);
/* For hf_fs_options.invalidate, with the session as context. Never waits for an answer of ours. */
void hf_session_invalidate(void *ctx, uint64_t ino);
/* Serves until the mount is gone or SIGTERM or SIGINT comes (blocked in all threads from here on, as is SIGHUP). */
int hf_session_run(struct hf_session *session);
/* Ends requests under way and closes what is open, so that the fs can be closed; false if something hangs. */
bool hf_session_quiesce(struct hf_session *session);
/* Closes the connection to the kernel. The mount itself is the supervisor's to undo. */
void hf_session_fini(struct hf_session *session);

#endif
