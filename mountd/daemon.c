/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/daemon.h"

#include "mountd/confine.h"
#include "mountd/dead.h"
#include "mountd/log.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Seconds a server that was told to end may take: indexing stops within moments, decoding of a chunk too. */
#define PATIENCE 15
/* Seconds between two looks whether the server was killed and cannot end; how long it may take to end if it was. */
#define LOOK 3
#define GRACE 2

struct supervisor {
	struct hf_plan *plan;
	pid_t server;
	int server_fd; /* reports come from there, a new log file goes there */
	int gone_fd;   /* hf_mounts_announce */
	int abort_fd;  /* hf_dead_handle, or -1 */
	int watch_fd;  /* hf_dead_watch, or -1 */
	uint64_t since; /* hf_mounts_time before there was a server */
	dev_t dev;     /* of the mount; 0 until there is one */
	bool told;     /* of a mount, by the server */
	bool undone, ending, killed, aborted;
	time_t deadline; /* as are all times: of now() */
	time_t dying;    /* when the server was first seen to have been killed; 0: never */
};

static time_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + 1;
}

/* Once, and not if somebody else has: the next mount may have the same place and number. */
static void undo_mount(struct supervisor *s)
{
	struct hf_mount_entry entry;
	int err;

	if (s->undone || !hf_dead_connected(s->watch_fd) || !hf_mounts_holds(s->plan->mountpoint, s->dev, &entry))
		return;
	/* Lazily: who still has files open there must not keep a dead mount in everyone's way. */
	err = hf_mounts_detach(s->plan->mountpoint, true);
	s->undone = !err;
	if (err)
		hf_log(3, "%s cannot be unmounted: %s", s->plan->mountpoint,
		       err > 0 ? strerror(err) : "fusermount3 failed");
}

static void end_server(struct supervisor *s)
{
	if (s->ending)
		return;
	s->ending = true;
	s->deadline = now() + PATIENCE;
	undo_mount(s);
	kill(s->server, SIGTERM);
}

static void reopen_log(const struct supervisor *s)
{
	int fd = s->plan->log_path ? hf_reopen_log(s->plan) : -1;

	if (fd < 0)
		return;
	if (s->server_fd >= 0) {
		hf_reopen_send(s->server_fd, fd);
		kill(s->server, HF_SIGNAL_NEW_LOG);
	}
	/* Who reads this may rely on it that a server which ends takes the new file first. */
	hf_log(6, "the log was opened anew");
}

/* Looked at when the two are open: until then the number may have become that of another connection. */
static void take_mount(struct supervisor *s, dev_t dev, uint64_t since)
{
	struct hf_mount_entry entry;
	const int abort_fd = hf_dead_handle(dev), watch_fd = hf_dead_watch(dev);

	if (hf_mounts_holds(s->plan->mountpoint, dev, &entry) && since >= s->since && since <= hf_mounts_time()) {
		s->dev = dev;
		s->abort_fd = abort_fd;
		s->watch_fd = watch_fd;
		s->gone_fd = hf_mounts_announce(dev, since, HF_MOUNTS_SUPERVISOR);
		return;
	}
	hf_log(4, "the server of %s tells of a mount that is not there", s->plan->mountpoint);
	if (abort_fd >= 0)
		close(abort_fd);
	if (watch_fd >= 0)
		close(watch_fd);
}

/*
 * A server is believed once, before it has read a byte of the archive, and no more than the kernel says too: afterwards it
 * may be an attacker's, who would have other mounts ended.
 */
static void take_report(struct supervisor *s)
{
	struct hf_report report;
	ssize_t n = read(s->server_fd, &report, sizeof report);

	if (n != sizeof report) {
		close(s->server_fd);
		s->server_fd = -1;
		return;
	}
	if (report.kind == HF_REPORT_REOPEN) {
		reopen_log(s);
	} else if (report.kind == HF_REPORT_MOUNTED && !s->told) {
		s->told = true;
		take_mount(s, report.dev, report.since);
		hf_confine_supervisor(s->plan->settings, s->server, s->plan->log_path);
	}
}

/* True when the server is no more; its exit status then. */
static bool reap_server(const struct supervisor *s, int *ret_status)
{
	int status;

	if (waitpid(s->server, &status, WNOHANG) != s->server)
		return false;
	if (WIFEXITED(status)) {
		*ret_status = WEXITSTATUS(status);
	} else {
		hf_log(3, "the server of %s died of signal %d", s->plan->mountpoint, WTERMSIG(status));
		*ret_status = HF_EXIT_FAILURE;
	}
	return true;
}

static void take_signals(struct supervisor *s, int signal_fd)
{
	struct signalfd_siginfo info;

	while (read(signal_fd, &info, sizeof info) == sizeof info)
		if (info.ssi_signo == SIGHUP)
			reopen_log(s);
		else if (info.ssi_signo != SIGCHLD)
			end_server(s);
}

/* Ends the connection of a server that cannot end by itself: it, and all who wait in the mount, get away. */
static void abort_connection(struct supervisor *s)
{
	hf_log(3, "the server of %s is dead and does not end: its connection is aborted", s->plan->mountpoint);
	if (s->abort_fd >= 0)
		hf_dead_abort(s->abort_fd);
	else if (s->dev && !s->undone)
		hf_dead_clear_own(s->plan->mountpoint, s->dev);
	undo_mount(s);
	s->aborted = s->ending = s->killed = true;
	s->deadline = now() + PATIENCE;
}

/* Nobody tells when a process is killed but cannot end. */
static void look_at_server(struct supervisor *s)
{
	if (s->aborted || !hf_dead_process(s->server))
		return;
	if (!s->dying)
		s->dying = now();
	else if (now() - s->dying >= GRACE)
		abort_connection(s);
}

/* False if nothing more can be done. */
static bool keep_deadline(struct supervisor *s)
{
	if (!s->ending || now() <= s->deadline)
		return true;
	if (s->killed) {
		hf_log(3, "the server of %s (process %d) does not even end when it is killed", s->plan->mountpoint,
		       (int)s->server);
		return false;
	}
	hf_log(4, "the server of %s does not end: killing it", s->plan->mountpoint);
	kill(s->server, SIGKILL);
	s->killed = true;
	s->deadline = now() + PATIENCE;
	return true;
}

static int supervise(struct supervisor *s, int signal_fd)
{
	int status = HF_EXIT_FAILURE;

	while (!reap_server(s, &status) && keep_deadline(s)) {
		struct pollfd polls[] = {{.fd = signal_fd, .events = POLLIN}, {.fd = s->server_fd, .events = POLLIN}};

		if (poll(polls, 2, s->ending || s->dying ? 1000 : LOOK * 1000) < 0 && errno != EINTR)
			break;
		if (polls[0].revents)
			take_signals(s, signal_fd);
		if (polls[1].revents)
			take_report(s);
		look_at_server(s);
	}
	/* The server may have mounted and died before its report was read. */
	if (s->server_fd >= 0 && !s->dev)
		take_report(s);
	/* Another process may hold the device, a debugger for one: nobody would answer, and all would wait. */
	if (s->abort_fd >= 0)
		hf_dead_abort(s->abort_fd);
	if (s->dev)
		undo_mount(s);
	else
		hf_dead_clear_own(s->plan->mountpoint, 0);
	return status;
}

/* What the supervisor waits for. Not told by SIGPIPE either that nobody reads what it says. */
static int take_over_signals(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGHUP, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

int hf_supervisor_run(struct hf_plan *plan, int start_fd)
{
	struct supervisor s = {.plan = plan,
			       .server_fd = -1,
			       .gone_fd = -1,
			       .abort_fd = -1,
			       .watch_fd = -1,
			       .since = hf_mounts_time()};
	int ends[2], signal_fd = take_over_signals();

	if (signal_fd < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0 ||
	    (s.server = fork()) < 0) {
		hf_log(3, "starting failed: %s", strerror(errno));
		return HF_EXIT_FAILURE;
	}
	if (s.server == 0) {
		close(signal_fd);
		close(ends[0]);
		_exit(hf_server_run(plan, ends[1], start_fd));
	}
	close(ends[1]);
	if (start_fd >= 0)
		close(start_fd);
	s.server_fd = ends[0];
	/* What the supervisor has to say from here on nobody waits for; what the server has, they do. */
	close(plan->archive_fd);
	if (plan->index_fd >= 0)
		close(plan->index_fd);
	if (plan->debug_path)
		close(plan->debug_fd);
	hf_daemon_go_quiet(plan);
	return supervise(&s, signal_fd);
}
