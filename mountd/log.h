/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the daemon's messages go: a file or syslog, and standard error while there is someone to read it. Lines of any
 * thread, whole.
 */
#ifndef HF_MOUNTD_LOG_H
#define HF_MOUNTD_LOG_H

#include "fs/fs.h"
#include "fs/base/log_ring.h"

#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

enum hf_log_target {
	HF_LOG_NONE, /* standard error is all there is */
	HF_LOG_FILE, /* with the time of day */
	HF_LOG_SYSLOG,
};

/* From supervisor to server: a new log file was sent. Were it SIGHUP, one from elsewhere that comes meanwhile would be lost. */
#define HF_SIGNAL_NEW_LOG SIGRTMIN

/* verbosity: 0 gives info and more urgent, -1 warnings, -2 errors, 1 debug; on standard error one step less unless
 * the log is what it is there for (chatty). */
void hf_log_init(int verbosity, bool chatty);
/* From now on the log goes there. fd: of an HF_LOG_FILE, open for the life of the process. */
void hf_log_open(enum hf_log_target target, int fd);
/* From now on nothing goes to standard error. */
void hf_log_leave_stderr(void);
/* From now on the last lines are also kept in memory, for the life of the process; NULL if there is none. */
struct hf_log_ring *hf_log_keep(void);
/* level as in syslog: 3 error, 4 warning, 6 info, 7 debug. */
void hf_log(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));
void hf_log_v(int level, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
/* One line to whoever started the program, whatever file names hold: what a terminal would act on is shown as '?'. */
void hf_say(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* As fs.h wants it. */
void hf_log_line(void *ctx, int level, const char *line);

/* p; if it is NULL, it was said that there is no memory. */
void *hf_got(void *p);
/* By errno: why a path does not lead to anything. */
const char *hf_why_none(void);

#endif
