/* SPDX-License-Identifier: Apache-2.0 */
/* hartfs serve: answers requests about the tables of captures on the socket that is its standard input. */
#include "fs/library.h"
#include "index/base/libc.h"
#include "mountd/commands.h"
#include "mountd/log.h"
#include "mountd/paths.h"
#include "mountd/serve.h"
#include "mountd/target.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* What is open in a host that loaded an extension is none of our business. */
static void close_others(void)
{
	close_range(STDERR_FILENO + 1, ~0U, 0);
}

static bool is_socket(int fd)
{
	int type;
	socklen_t size = sizeof type;

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

static int answer(struct hartfs_archive *archive, const struct hf_target *target)
{
	struct hf_fs *fs = hf_library_fs(archive);
	char capture[PATH_MAX], view_dir[PATH_MAX];
	int err = *target->path ? hf_fs_capture_of(fs, target->path, capture, view_dir) : 0;
	bool served;

	if (err) {
		hf_paths_explain("serve", target->path, err, NULL);
		return HF_EXIT_FAILURE;
	}
	served = hf_serve(fs, STDIN_FILENO, *target->path ? target->path : NULL);
	if (served && *target->path)
		hf_paths_warn("sql", target->path, fs, capture);
	return served ? HF_EXIT_OK : HF_EXIT_FAILURE;
}

static int serve(const struct hf_settings *settings, const struct hf_target *target)
{
	struct hartfs_archive *archive = NULL;
	struct hf_opened opened;
	int status = HF_EXIT_FAILURE;

	if (!hf_opened_open(settings, target->archive, &opened))
		return status;
	if (hf_opened_confine(settings, &opened, 1))
		archive = hf_opened_start(settings, &opened, false, NULL);
	if (archive)
		status = answer(archive, target);
	hartfs_close(archive);
	hf_opened_close(&opened);
	return status;
}

int hf_command_serve(const struct hf_settings *settings)
{
	struct hf_target target;
	int status = HF_EXIT_FAILURE;

	if (settings->operand_count != 1)
		return hf_settings_usage(settings, "an archive or a capture is needed");
	if (!is_socket(STDIN_FILENO))
		return hf_settings_usage(settings, "standard input is no stream socket: this is for programs, see "
						   "hartfs-sql(5)");
	close_others();
	/* Whoever asks says when it is enough: the terminal's signals are for him. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	if (hf_target_find(settings, settings->operands[0], NULL, true, &target))
		status = serve(settings, &target);
	else
		hf_say(stderr, "hartfs serve: %s: %s", settings->operands[0], hf_why_none());
	hf_target_fini(&target);
	return status;
}
