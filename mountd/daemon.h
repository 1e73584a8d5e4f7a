/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes behind a mount: the started one waits until the mount answers (start.c); a supervisor, which has no
 * Landlock, since that forbids to unmount, undoes the mount when it is told to or the server ends (daemon.c); the server,
 * confined, answers the kernel (server.c).
 */
#ifndef HF_MOUNTD_DAEMON_H
#define HF_MOUNTD_DAEMON_H

#include "mountd/plan.h"

/* Forks, waits for readiness; the exit status of the command. */
int hf_daemon_run(struct hf_plan *plan);
/* In the supervisor process: forks the server; its exit status. start_fd: the pipe to the started process, which is for
 * the server and is closed here; -1 in the foreground. */
int hf_supervisor_run(struct hf_plan *plan, int start_fd);

#endif
