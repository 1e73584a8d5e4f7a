/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server process: mounts, confines itself, starts the file system and answers the kernel until the mount is gone
 * or it is told to end. Threads exist from hf_fs_open on, so that all of them are confined.
 */
#include "mountd/blocked.h"
#include "mountd/confine.h"
#include "mountd/plan.h"
#include "mountd/log.h"
#include "mountd/mounts.h"
#include "mountd/paths.h"
#include "mountd/session.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct server {
	struct hf_plan *plan;
	int supervisor_fd;
	int start_fd;     /* to the started process, which takes its end for the server's; -1 in the foreground */
	int announced_fd; /* hf_mounts_announce */
	struct hf_session session;
	struct hf_fs *fs;
	struct hf_log_ring *log_ring;
};

static bool report(const struct server *server, struct hf_report message)
{
	if (write(server->supervisor_fd, &message, sizeof message) == sizeof message)
		return true;
	hf_log(4, "the supervisor is gone");
	return false;
}

static void tell_starter(const struct server *server, struct hf_report message)
{
	if (server->start_fd >= 0 && write(server->start_fd, &message, sizeof message) != sizeof message)
		hf_log(7, "nobody waits for the mount any more");
}

static void say_ready(struct server *server, enum hf_exit status)
{
	hf_daemon_go_quiet(server->plan);
	hf_log(6, "%s is mounted on %s", server->plan->archive, server->plan->mountpoint);
	tell_starter(server, (struct hf_report){.kind = HF_REPORT_READY, .status = status});
}

static void on_init(void *ctx)
{
	struct server *server = ctx;

	if (!server->plan->settings->wait)
		say_ready(server, HF_EXIT_OK);
}

static void on_log_signal(void *ctx, int sig)
{
	struct server *server = ctx;

	if (!server->plan->log_path)
		return;
	if (sig == HF_SIGNAL_NEW_LOG)
		hf_reopen_receive(server->plan, server->supervisor_fd);
	else
		report(server, (struct hf_report){.kind = HF_REPORT_REOPEN});
}

/* To whoever waits for the mount; the log has it already. */
static void tell_failure(void *ctx, const char *path, const struct hf_diag *diag)
{
	const struct server *server = ctx;

	if (server->plan->settings->verbosity > -2)
		hf_paths_explain_capture("mount", path, server->fs, path, diag->code, diag);
}

static void tell_unreached(void *ctx, const char *path, const char *why)
{
	const struct server *server = ctx;

	if (server->plan->settings->verbosity > -2)
		hf_say(stderr, "hartfs mount: %s: not searched for captures: %s", path, why);
}

/* What --wait ends with, after saying what is not as it should be. */
static enum hf_exit sum_up(struct server *server)
{
	size_t memory, waiting, failed = hf_fs_failures(server->fs, tell_failure, server);
	char text[1024];

	failed += hf_fs_unreached(server->fs, tell_unreached, server);
	if (!hf_fs_index_trouble(server->fs, text, sizeof text, &memory, &waiting) || !(memory || waiting))
		return failed ? HF_EXIT_SOME : HF_EXIT_OK;
	if (server->plan->settings->verbosity > -2)
		fprintf(stderr, "hartfs mount: %s; waiting captures: %zu, index files in memory only: %zu\n", text, waiting,
			memory);
	return HF_EXIT_SOME;
}

static void on_idle(void *ctx)
{
	struct server *server = ctx;

	say_ready(server, sum_up(server));
}

static int mount_it(struct server *server)
{
	struct hf_plan *plan = server->plan;
	struct hf_report mounted = {.kind = HF_REPORT_MOUNTED};
	struct hf_mount_entry entry;

	if (hf_session_init(&server->session, plan->archive, plan->settings->fuse_options,
			    plan->settings->fuse_option_count)) {
		hf_log(3, "the mount options were refused");
		return HF_EXIT_FAILURE;
	}
	if (hf_session_mount(&server->session, plan->mountpoint)) {
		hf_log(3, "mounting on %s failed", plan->mountpoint);
		if (geteuid() != 0)
			hf_log(3, "only root mounts without fusermount3, of the package fuse3; cat, find, sql, top, diff, info "
				  "and index need no mount");
		return HF_EXIT_FAILURE;
	}
	if (!hf_mounts_find(plan->mountpoint, &entry) || !hf_mounts_is_ours(&entry)) {
		hf_log(3, "the mount on %s vanished", plan->mountpoint);
		return HF_EXIT_FAILURE;
	}
	/* Seen through the archive it is a place the file system must keep away from, also where it is mounted once more. */
	plan->skip[plan->skip_count++] = (struct hf_fs_place){.dev = entry.dev};
	hf_mounts_read_ahead(entry.dev, HF_SESSION_READ_AHEAD);
	mounted.dev = entry.dev;
	mounted.since = hf_mounts_time();
	server->announced_fd = hf_mounts_announce(mounted.dev, mounted.since, HF_MOUNTS_SERVER);
	/* First to the started process: should the supervisor be killed once it knows, that process undoes the mount. */
	tell_starter(server, mounted);
	if (report(server, mounted))
		return HF_EXIT_OK;
	/* Nobody else would do it, and later this process may not. */
	hf_mounts_detach(plan->mountpoint, true);
	return HF_EXIT_FAILURE;
}

static bool confine(const struct hf_plan *plan)
{
	const int read[] = {plan->archive_fd, plan->debug_fd};

	return hf_confine(plan->settings, &(struct hf_sandbox_places){.read = read,
								      .read_count = plan->debug_path ? 2 : 1,
								      .write = plan->index_fd});
}

static int open_fs(struct server *server)
{
	const struct hf_settings *settings = server->plan->settings;
	struct hf_fs_options options = {.archive_fd = server->plan->archive_fd,
					.index_fd = server->plan->index_fd,
					.index_error = server->plan->index_error,
					.index_path = server->plan->index_path,
					.archive_path = server->plan->archive,
					.debug_path = server->plan->debug_path,
					.debug_fd = server->plan->debug_fd,
					.skip_count = server->plan->skip_count,
					.skip = server->plan->skip,
					.pack_below = settings->pack_below ? settings->pack_below : HF_PACK_BELOW,
					.summary = settings->summary,
					.all_sums = settings->all_checksums,
					.sharing = settings->sharing,
					.cache_bytes = settings->cache,
					.stream_memory = settings->stream_memory,
					.expansion = settings->expansion,
					.spool_bytes = settings->spool,
					.index_limit = settings->index_limit,
					.threads = settings->threads,
					.index_threads = settings->jobs,
					.chunk_insns = settings->chunk,
					.views = settings->views,
					.params = settings->params,
					.sandbox = hf_confine_state(),
					.log = hf_log_line,
					.status_all = settings->status_all,
					.log_ring = server->log_ring,
					.invalidate = hf_session_invalidate,
					.invalidate_ctx = &server->session};
	struct hf_diag diag = {0};
	char text[HF_DIAG_SIZE];
	int err = hf_fs_open(&options, &server->fs, &diag);

	if (!err)
		return HF_EXIT_OK;
	if (diag.code != err)
		diag = (struct hf_diag){.code = err, .offset = HF_NOWHERE};
	hf_diag_format(&diag, text, sizeof text);
	hf_log(3, "%s: %s", server->plan->archive, text);
	return HF_EXIT_FAILURE;
}

static int serve(struct server *server)
{
	int err;

	server->session.fs = server->fs;
	server->session.on_init = on_init;
	server->session.on_log_signal = on_log_signal;
	server->session.ctx = server;
	if (server->session.block)
		hf_blocked_start(&server->session);
	hf_fs_index_all(server->fs);
	if (server->plan->settings->wait)
		hf_fs_when_idle(server->fs, on_idle, server);
	err = hf_session_run(&server->session);
	/* A new log file may have come behind what ended the loop. */
	on_log_signal(server, HF_SIGNAL_NEW_LOG);
	/*
	 * Whatever still hangs now, a decoder, may be left where it is: all that is written is private until it is whole,
	 * and resumable.
	 */
	if (!hf_session_quiesce(&server->session)) {
		hf_log(7, "ending with work under way");
		_exit(err ? HF_EXIT_FAILURE : HF_EXIT_OK);
	}
	hf_fs_close(server->fs);
	return err ? HF_EXIT_FAILURE : HF_EXIT_OK;
}

/* Signals that end the server are waited for by its main thread alone. */
static void block_signals(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, HF_SIGNAL_NEW_LOG);
	sigaddset(&signals, SIGUSR1);
	sigprocmask(SIG_SETMASK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
}

int hf_server_run(struct hf_plan *plan, int supervisor_fd, int start_fd)
{
	struct server server = {
		.plan = plan, .supervisor_fd = supervisor_fd, .start_fd = start_fd, .log_ring = hf_log_keep()};
	int status;

	block_signals();
	if (!hf_load_disassembler())
		return HF_EXIT_FAILURE;
	status = mount_it(&server);
	if (status)
		return status;
	if (!confine(plan))
		return HF_EXIT_FAILURE;
	server.session.block = plan->settings->block;
	server.session.direct = plan->settings->direct;
	status = open_fs(&server);
	if (status)
		return status;
	status = serve(&server);
	hf_session_fini(&server.session);
	hf_log(6, "%s was unmounted", plan->mountpoint);
	return status;
}
