/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/commands.h"
#include "mountd/log.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static int (*const commands[])(const struct hf_settings *settings) = {
	[HF_COMMAND_MOUNT] = hf_command_mount, [HF_COMMAND_UMOUNT] = hf_command_umount,
	[HF_COMMAND_INDEX] = hf_command_index, [HF_COMMAND_LS] = hf_command_ls,
	[HF_COMMAND_INFO] = hf_command_info,
	[HF_COMMAND_CAT] = hf_command_cat,     [HF_COMMAND_FIND] = hf_command_find,
	[HF_COMMAND_STATE] = hf_command_state,
	[HF_COMMAND_SLICE] = hf_command_slice, [HF_COMMAND_CONVERT] = hf_command_convert,
	[HF_COMMAND_DIFF] = hf_command_diff,
	[HF_COMMAND_TOP] = hf_command_top,     [HF_COMMAND_WAIT] = hf_command_wait,
	[HF_COMMAND_RECORD] = hf_command_record, [HF_COMMAND_VERIFY] = hf_command_verify,
	[HF_COMMAND_COMPLETE] = hf_command_complete, [HF_COMMAND_SERVE] = hf_command_serve,
	[HF_COMMAND_SQL] = hf_command_sql,
};

/* A closed standard stream would be given out again by the next open, and then written to. */
static void fill_standard_streams(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/* Many captures, and users with many open files, need many descriptors: as many as are allowed. */
static void raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* The exit status. If whoever read the output left, SIGPIPE ends the process, as it ends every other tool: only now,
 * since threads that index must not be shot. */
static int end_output(int status)
{
	struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};

	if (fflush(stdout) != EOF && !ferror(stdout))
		return status;
	if (poll(&out, 1, 0) > 0 && out.revents & (POLLERR | POLLHUP)) {
		signal(SIGPIPE, SIG_DFL);
		raise(SIGPIPE);
	}
	hf_say(stderr, "hartfs: standard output could not be written");
	return status ? status : HF_EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	struct hf_settings settings;
	int status;

	fill_standard_streams();
	/* A limit of file sizes is an error like a full disk, and no reason to die. */
	signal(SIGXFSZ, SIG_IGN);
	if (hf_settings_parse(&settings, argc, argv, &status)) {
		/* A program that is recorded has the limit that its user gave it. */
		if (settings.command != HF_COMMAND_RECORD)
			raise_limit();
		hf_log_init(settings.verbosity, settings.foreground);
		status = commands[settings.command](&settings);
	}
	hf_settings_free(&settings);
	return end_output(status);
}
