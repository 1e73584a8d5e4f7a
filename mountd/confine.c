/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/confine.h"

#include "fs/hartfs.h"
#include "mountd/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of the child of hf_confine_call: it has said why. */
enum { REFUSED = 2 };

static char state[400];
static bool refused;

/* A shared mount of root's is the one that an attacker wants: he has captures shown, and gets root's process. */
static enum hf_sandbox_mode mode_of(const struct hf_settings *settings)
{
	if (settings->sandbox != HF_SANDBOX_DEFAULT)
		return settings->sandbox;
#ifdef HARTFS_COVERAGE
	/* What was covered is written where the program was built. */
	return HF_SANDBOX_OFF;
#endif
	for (int i = 0; i < settings->fuse_option_count && geteuid() == 0; i++)
		if (!strcmp(settings->fuse_options[i], "allow_other"))
			return HF_SANDBOX_REQUIRED;
	return HF_SANDBOX_TRY;
}

/* Root without its capabilities writes only where it is the owner, or the mode says so. */
static void check_writing(const struct hf_sandbox_places *places)
{
	struct stat st;

	if (places->write < 0 || geteuid() != 0 || fstat(places->write, &st) < 0 || st.st_uid == 0 ||
	    faccessat(places->write, ".", W_OK | X_OK, AT_EACCESS) == 0)
		return;
	hf_log(4, "indexes cannot be kept: the index directory belongs to user %u, and this process gave up the right to "
		  "write there",
	       st.st_uid);
}

static bool refuse(const char *missing)
{
	hf_log(3, "confining this process is required, but %s; with sandbox=try it goes on without", missing);
	return false;
}

bool hf_load_disassembler(void)
{
	struct hartfs_diag diag;
	const int error = hartfs_load(&diag);

	if (error)
		hf_log(3, "%s", diag.text);
	return !error;
}

bool hf_confine(const struct hf_settings *settings, const struct hf_sandbox_places *places)
{
	const enum hf_sandbox_mode mode = mode_of(settings);
	/* Nobody reads the log of another command unless something is wrong. */
	const int urgency = settings->command == HF_COMMAND_MOUNT ? 4 : 6;
	struct hf_sandbox_report report;

	if (*state)
		return !refused;
	if (mode == HF_SANDBOX_OFF) {
		snprintf(state, sizeof state, "off");
		hf_log(6, "not confined: sandbox=off");
		return true;
	}
	hf_sandbox_enter(places, settings->verbosity > 1, &report);
	snprintf(state, sizeof state, "%s%s%s", *report.in_force ? report.in_force : "nothing",
		 *report.missing ? "; missing: " : "", report.missing);
	hf_log(6, "confined: %s", *report.in_force ? report.in_force : "nothing");
	if (*report.missing && report.complete)
		hf_log(6, "%s", report.missing);
	else if (*report.missing && mode == HF_SANDBOX_TRY)
		hf_log(urgency, "not confined as it could be: %s", report.missing);
	refused = mode == HF_SANDBOX_REQUIRED && !report.complete;
	if (refused)
		return refuse(report.missing);
	check_writing(places);
	return true;
}

void hf_confine_supervisor(const struct hf_settings *settings, pid_t server, bool has_log_file)
{
	struct hf_sandbox_report report;

	if (mode_of(settings) == HF_SANDBOX_OFF ||
	    !hf_sandbox_enter_supervisor(server, has_log_file, settings->verbosity > 1, &report))
		return;
	if (*report.missing)
		hf_log(report.complete ? 6 : 4, "the supervisor is not confined as it could be: %s", report.missing);
}

const char *hf_confine_state(void)
{
	return *state ? state : "off";
}

static bool write_all(int fd, const void *bytes, size_t size)
{
	/* As little as a pipe takes whole. */
	return write(fd, bytes, size) == (ssize_t)size;
}

static bool read_all(int fd, void *bytes, size_t size)
{
	char *to = bytes;

	while (size) {
		ssize_t n = read(fd, to, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		to += n;
		size -= (size_t)n;
	}
	return true;
}

static void run_child(const struct hf_settings *settings, int dir_fd, void (*fn)(void *ctx, void *result), void *ctx,
		      void *result, size_t size, int pipe_fd)
{
	struct hf_sandbox_report report;

	hf_sandbox_enter(&(struct hf_sandbox_places){.read = &dir_fd, .read_count = 1, .write = -1},
			 settings->verbosity > 1, &report);
	if (mode_of(settings) == HF_SANDBOX_REQUIRED && !report.complete) {
		refuse(report.missing);
		_exit(REFUSED);
	}
	fn(ctx, result);
	_exit(write_all(pipe_fd, result, size) ? 0 : 1);
}

static bool wait_for(pid_t child, bool got_result)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	if (got_result && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return true;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != REFUSED)
		hf_log(3, "the process that looks at descriptions died");
	return false;
}

bool hf_confine_call(const struct hf_settings *settings, int dir_fd, void (*fn)(void *ctx, void *result), void *ctx,
		     void *result, size_t size)
{
	int ends[2];
	pid_t child;
	bool got;

	if (mode_of(settings) == HF_SANDBOX_OFF) {
		fn(ctx, result);
		return true;
	}
	if (pipe2(ends, O_CLOEXEC) < 0) {
		hf_log(3, "no process can be made to look at descriptions: %s", strerror(errno));
		return false;
	}
	child = fork();
	if (child == 0)
		run_child(settings, dir_fd, fn, ctx, result, size, ends[1]);
	if (child < 0)
		hf_log(3, "no process can be made to look at descriptions: %s", strerror(errno));
	close(ends[1]);
	got = child > 0 && read_all(ends[0], result, size);
	close(ends[0]);
	return child > 0 && wait_for(child, got);
}
