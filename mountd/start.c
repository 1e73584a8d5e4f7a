/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The started process: it forks the supervisor and waits until the mount answers. Its exit status is true whatever is
 * killed meanwhile: the server itself says that the mount answers, and where it does not, nothing of the mount is left.
 */
#include "index/base/libc.h"
#include "mountd/daemon.h"
#include "mountd/dead.h"
#include "mountd/log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long a server may take to end whose mount was taken away, looked at so often. */
enum { PATIENCE_MS = 30000, STEP_MS = 100 };

struct start {
	const struct hf_plan *plan;
	pid_t supervisor;
	int supervisor_fd; /* a pidfd; -1 if there is none to be had */
	int report_fd;     /* a pipe from the server: hf_report; ends with it */
	dev_t dev;         /* of the mount; 0 until there is one */
};

static volatile sig_atomic_t supervisor_pid;

/* Told to end before the mount answers: so shall the mount. */
static void pass_on(int sig)
{
	(void)sig;
	if (supervisor_pid > 0)
		kill(supervisor_pid, SIGTERM);
}

static void watch_signals(pid_t supervisor)
{
	struct sigaction action = {.sa_handler = pass_on};

	supervisor_pid = supervisor;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

/* False if the server has ended. */
static bool take_report(struct start *start, struct hf_report *ret_report)
{
	ssize_t n;

	do
		n = read(start->report_fd, ret_report, sizeof *ret_report);
	while (n < 0 && errno == EINTR);
	if (n != sizeof *ret_report)
		return false;
	if (ret_report->kind == HF_REPORT_MOUNTED)
		start->dev = ret_report->dev;
	return true;
}

/* True if the mount answers; what to end with then. False if the server or the supervisor ended before. */
static bool wait_for_ready(struct start *start, enum hf_exit *ret_status)
{
	struct hf_report report;

	for (;;) {
		struct pollfd polls[] = {{.fd = start->report_fd, .events = POLLIN},
					 {.fd = start->supervisor_fd, .events = POLLIN}};

		if (poll(polls, 2, -1) < 0)
			continue;
		if (!polls[0].revents || !take_report(start, &report))
			return false;
		if (report.kind == HF_REPORT_READY) {
			*ret_status = report.status;
			return true;
		}
	}
}

/* In place of the supervisor, which was killed: ends the server by taking its mount away. */
static void take_back(struct start *start)
{
	struct pollfd poller = {.fd = start->report_fd, .events = POLLIN};
	struct hf_report report;
	bool lives = true;

	/* A server that has not mounted yet finds out by itself, or tells of its mount. */
	for (int ms = 0; lives && ms < PATIENCE_MS; ms += STEP_MS) {
		hf_dead_clear_own(start->plan->mountpoint, start->dev);
		if (poll(&poller, 1, STEP_MS) > 0)
			lives = take_report(start, &report);
	}
	hf_dead_clear_own(start->plan->mountpoint, start->dev);
	hf_say(stderr, "hartfs mount: %s: the supervisor was killed before the mount answered: nothing is mounted%s",
	       start->plan->mountpoint, lives ? ", but the server is still running" : "");
}

static int run_started(struct start *start)
{
	enum hf_exit status;
	int ended = 0;

	watch_signals(start->supervisor);
	if (wait_for_ready(start, &status))
		return status;
	/* A supervisor that was not killed ends after the server, and leaves nothing of the mount. */
	while (waitpid(start->supervisor, &ended, 0) < 0 && errno == EINTR)
		;
	supervisor_pid = 0;
	if (WIFSIGNALED(ended))
		take_back(start);
	return HF_EXIT_FAILURE;
}

int hf_daemon_run(struct hf_plan *plan)
{
	int reports[2];
	pid_t pid;

	/* It is for the log, and it is the supervisor's; a terminal that goes away ends no mount. */
	signal(SIGHUP, SIG_IGN);
	if (plan->settings->foreground)
		return hf_supervisor_run(plan, -1);
	if (pipe2(reports, O_CLOEXEC) < 0 || (pid = fork()) < 0) {
		fprintf(stderr, "hartfs mount: %s\n", strerror(errno));
		return HF_EXIT_FAILURE;
	}
	if (pid > 0) {
		close(reports[1]);
		return run_started(&(struct start){.plan = plan,
						   .supervisor = pid,
						   .supervisor_fd = pidfd_open(pid, 0),
						   .report_fd = reports[0]});
	}
	close(reports[0]);
	setsid();
	if (chdir("/") < 0)
		hf_log(4, "the root directory cannot be entered: %s", strerror(errno));
	_exit(hf_supervisor_run(plan, reports[1]));
}
