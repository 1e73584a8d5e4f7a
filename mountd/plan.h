/* SPDX-License-Identifier: Apache-2.0 */
/* What the processes behind a mount have in common (daemon.h). */
#ifndef HF_MOUNTD_PLAN_H
#define HF_MOUNTD_PLAN_H

#include "fs/fs.h"
#include "mountd/options.h"

#include <stdatomic.h>

/* Everything a mount needs, checked and opened by the started process. */
struct hf_plan {
	const struct hf_settings *settings;
	char *archive, *mountpoint; /* absolute, without symbolic links */
	char *log_path;             /* absolute; NULL: no file */
	int archive_fd, log_fd;
	int index_fd, index_error;  /* -1: there is none, and why (errno) */
	char *index_path;
	int debug_fd;               /* of a directory of debug files, if there is its path */
	char *debug_path;           /* absolute; NULL: there is none */
	int null_fd;                /* /dev/null, for when it cannot be opened any more */
	atomic_bool quiet;          /* hf_daemon_go_quiet was called */
	struct hf_fs_place skip[3];
	size_t skip_count;
};

/* What the server tells. The supervisor sends it nothing but a new log file, and then HF_SIGNAL_NEW_LOG to tell of that. */
struct hf_report {
	enum hf_report_kind {
		HF_REPORT_MOUNTED = 1, /* there is a mount: to the started process, then to the supervisor */
		HF_REPORT_READY,       /* the mount answers (or all is indexed): to the started process alone */
		HF_REPORT_REOPEN,      /* the server got a SIGHUP: to the supervisor */
	} kind;
	dev_t dev;           /* MOUNTED: of the mount */
	uint64_t since;      /* MOUNTED: hf_mounts_announce */
	enum hf_exit status; /* READY: what the command shall end with */
};

/* In the server process: its exit status. supervisor_fd: a socket, of packets. start_fd: as of
 * hf_supervisor_run. */
int hf_server_run(struct hf_plan *plan, int supervisor_fd, int start_fd);

/* ---- reopen.c ---- */

/* Standard streams to /dev/null, the log to where the settings say. */
void hf_daemon_go_quiet(struct hf_plan *plan);
/* A new log file is opened by the supervisor, since the server may not open files. */
/* Opens the log file anew, for the calling process: the log's descriptor, or -1 after saying why, with the old file. */
int hf_reopen_log(struct hf_plan *plan);
/* Gives a log file to the server. */
void hf_reopen_send(int server_fd, int fd);
/* In the server: takes the newest log file that was sent, if any. */
void hf_reopen_receive(struct hf_plan *plan, int supervisor_fd);

#endif
