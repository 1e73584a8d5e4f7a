#include "mountd/daemon.h"

#include "mountd/log.h"
#include "mountd/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How long a server that was told to end may take: indexing stops within moments, decoding of a chunk too. */
#define PATIENCE 15

struct supervisor {
	struct hf_plan *plan;
	pid_t server;
	int report_fd; /* from the server */
	int ready_fd;  /* to the started process; -1 in the foreground, or once told */
	int gone_fd;   /* hf_mounts_announce */
	dev_t dev;     /* of the mount; 0 until there is one */
	bool ending;
	time_t deadline;
};

void hf_daemon_go_quiet(const struct hf_plan *plan)
{
	if (plan->log_fd >= 0 || !plan->settings->foreground)
		hf_log_leave_stderr();
	if (plan->settings->foreground)
		return;
	dup2(plan->null_fd, STDIN_FILENO);
	dup2(plan->null_fd, STDOUT_FILENO);
	/* What libraries, asserts and sanitizers have to say goes to the log file too, if there is one. */
	dup2(plan->log_fd >= 0 ? plan->log_fd : plan->null_fd, STDERR_FILENO);
}

/* Undoes our mount if it is still there: another one may have taken its place. */
static void undo_mount(const struct supervisor *s)
{
	struct hf_mount_entry entry;
	int err;

	if (!s->dev || !hf_mounts_find(s->plan->mountpoint, &entry) || entry.dev != s->dev)
		return;
	/* Lazily: who still has files open there must not keep a dead mount in everyone's way. */
	err = hf_mounts_detach(s->plan->mountpoint, true);
	if (err)
		hf_log(3, "%s cannot be unmounted: %s", s->plan->mountpoint,
		       err > 0 ? strerror(err) : "fusermount3 failed");
}

static void end_server(struct supervisor *s)
{
	if (s->ending)
		return;
	s->ending = true;
	s->deadline = time(NULL) + PATIENCE;
	undo_mount(s);
	kill(s->server, SIGTERM);
}

static void take_report(struct supervisor *s)
{
	struct hf_report report;
	ssize_t n = read(s->report_fd, &report, sizeof report);

	if (n != sizeof report) {
		close(s->report_fd);
		s->report_fd = -1;
		return;
	}
	if (report.kind == HF_REPORT_MOUNTED) {
		s->dev = report.dev;
		s->gone_fd = hf_mounts_announce(report.dev);
	} else if (s->ready_fd >= 0) {
		uint8_t status = (uint8_t)report.status;

		if (write(s->ready_fd, &status, 1) != 1)
			hf_log(7, "nobody waits for the mount any more");
		close(s->ready_fd);
		s->ready_fd = -1;
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
		if (info.ssi_signo != SIGCHLD)
			end_server(s);
}

static int supervise(struct supervisor *s, int signal_fd)
{
	int status = HF_EXIT_FAILURE;

	while (!reap_server(s, &status)) {
		struct pollfd polls[] = {{.fd = signal_fd, .events = POLLIN}, {.fd = s->report_fd, .events = POLLIN}};

		if (poll(polls, 2, s->ending ? 1000 : -1) < 0 && errno != EINTR)
			break;
		if (polls[0].revents)
			take_signals(s, signal_fd);
		if (polls[1].revents)
			take_report(s);
		if (s->ending && time(NULL) > s->deadline) {
			hf_log(4, "the server of %s does not end: killing it", s->plan->mountpoint);
			kill(s->server, SIGKILL);
			s->deadline += PATIENCE;
		}
	}
	/* The server may have mounted and died before its report was read. */
	if (s->report_fd >= 0 && !s->dev)
		take_report(s);
	undo_mount(s);
	return status;
}

static int run_supervisor(struct hf_plan *plan, int ready_fd)
{
	struct supervisor s = {.plan = plan, .report_fd = -1, .ready_fd = ready_fd, .gone_fd = -1};
	int report[2], signal_fd;
	sigset_t signals, before;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, &before);
	signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signal_fd < 0 || pipe2(report, O_CLOEXEC) < 0) {
		hf_log(3, "starting failed: %s", strerror(errno));
		return HF_EXIT_FAILURE;
	}
	s.server = fork();
	if (s.server < 0) {
		hf_log(3, "starting failed: %s", strerror(errno));
		return HF_EXIT_FAILURE;
	}
	if (s.server == 0) {
		close(signal_fd);
		close(report[0]);
		if (ready_fd >= 0)
			close(ready_fd);
		_exit(hf_server_run(plan, report[1]));
	}
	close(report[1]);
	s.report_fd = report[0];
	/* What the supervisor has to say from here on nobody waits for; what the server has, they do. */
	close(plan->archive_fd);
	if (plan->index_fd >= 0)
		close(plan->index_fd);
	hf_daemon_go_quiet(plan);
	return supervise(&s, signal_fd);
}

static volatile sig_atomic_t supervisor_pid;

/* The started process was told to end before the mount answered: so shall the mount. */
static void pass_on(int sig)
{
	(void)sig;
	kill(supervisor_pid, SIGTERM);
}

static int wait_for_ready(pid_t supervisor, int ready_fd)
{
	struct sigaction action = {.sa_handler = pass_on};
	uint8_t status;
	ssize_t n;

	supervisor_pid = supervisor;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	do
		n = read(ready_fd, &status, 1);
	while (n < 0 && errno == EINTR);
	if (n == 1)
		return status;
	/* Without readiness the supervisor ends as well: afterwards nothing is left of the mount. */
	while (waitpid(supervisor, NULL, 0) < 0 && errno == EINTR)
		;
	return HF_EXIT_FAILURE;
}

int hf_daemon_run(struct hf_plan *plan)
{
	int ready[2];
	pid_t pid;

	if (plan->settings->foreground)
		return run_supervisor(plan, -1);
	if (pipe2(ready, O_CLOEXEC) < 0 || (pid = fork()) < 0) {
		fprintf(stderr, "hartfs mount: %s\n", strerror(errno));
		return HF_EXIT_FAILURE;
	}
	if (pid > 0) {
		close(ready[1]);
		return wait_for_ready(pid, ready[0]);
	}
	close(ready[0]);
	setsid();
	if (chdir("/") < 0)
		hf_log(4, "the root directory cannot be entered: %s", strerror(errno));
	_exit(run_supervisor(plan, ready[1]));
}
