/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes behind a mount: the started one waits until the mount answers; a supervisor outside the sandbox undoes
 * the mount when it is told to or the server ends; the server, confined, answers the kernel.
 */
#ifndef HF_MOUNTD_DAEMON_H
#define HF_MOUNTD_DAEMON_H

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
	int null_fd;                /* /dev/null, for when it cannot be opened any more */
	atomic_bool quiet;          /* hf_daemon_go_quiet was called */
	struct hf_fs_place skip[3];
	size_t skip_count;
};

/*
 * What the server tells the supervisor: first a mount and its device number, then that it answers (or that all is indexed).
 * The supervisor sends it nothing but a new log file, and then SIGHUP to tell of that.
 */
struct hf_report {
	enum hf_report_kind {
		HF_REPORT_MOUNTED = 1,
		HF_REPORT_READY,
		HF_REPORT_REOPEN, /* the server got a SIGHUP and has no new log file */
	} kind;
	dev_t dev;
	enum hf_exit status; /* what the command shall end with */
};

/* Forks, waits for readiness; the exit status of the command. */
int hf_daemon_run(struct hf_plan *plan);
/* In the server process: its exit status. supervisor_fd: a socket, of packets. */
int hf_server_run(struct hf_plan *plan, int supervisor_fd);
/* Standard streams to /dev/null, the log to where the settings say. */
void hf_daemon_go_quiet(struct hf_plan *plan);

/* reopen.c: a new log file, opened by the supervisor, since the server may not open files. */
/* Opens the log file anew, for the calling process: the log's descriptor, or -1 after saying why, with the old file. */
int hf_reopen_log(struct hf_plan *plan);
/* Gives a log file to the server. */
void hf_reopen_send(int server_fd, int fd);
/* In the server: takes the log file that was sent; false if there was none. */
bool hf_reopen_receive(struct hf_plan *plan, int supervisor_fd);

#endif
