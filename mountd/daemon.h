/*
 * The processes behind a mount: the started one waits until the mount answers; a supervisor outside the sandbox undoes
 * the mount when it is told to or the server ends; the server, confined, answers the kernel.
 */
#ifndef HF_MOUNTD_DAEMON_H
#define HF_MOUNTD_DAEMON_H

#include "fs/fs.h"
#include "mountd/options.h"

/* Everything a mount needs, checked and opened by the started process. */
struct hf_plan {
	const struct hf_settings *settings;
	char *archive, *mountpoint; /* absolute, without symbolic links */
	int archive_fd, log_fd;
	int index_fd, index_error;  /* -1: there is none, and why (errno) */
	char *index_path;
	int null_fd;                /* /dev/null, for when it cannot be opened any more */
	struct hf_fs_place skip[3];
	size_t skip_count;
};

/* What the server tells the supervisor: first a mount and its device number, then that it answers (or that all is indexed). */
struct hf_report {
	enum hf_report_kind {
		HF_REPORT_MOUNTED = 1,
		HF_REPORT_READY,
	} kind;
	dev_t dev;
	enum hf_exit status; /* what the command shall end with */
};

/* Forks, waits for readiness; the exit status of the command. */
int hf_daemon_run(struct hf_plan *plan);
/* In the server process: its exit status. Reports go to report_fd. */
int hf_server_run(struct hf_plan *plan, int report_fd);
/* Standard streams to /dev/null, the log to where the settings say. */
void hf_daemon_go_quiet(const struct hf_plan *plan);

#endif
