/* SPDX-License-Identifier: Apache-2.0 */
/* hartfs record: a program under QEMU with the plugin of contrib/capture, and what it executes in captures. */
#include "mountd/commands.h"
#include "mountd/log.h"
#include "mountd/paths.h"
#include "mountd/record_notes.h"
#include "mountd/record_plan.h"
#include "mountd/record_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct recording {
	const struct hf_settings *settings;
	struct hf_record_plan plan;
	struct hf_record_ring *ring;
	int dirfd;
	char name[NAME_MAX + 16]; /* the plan's, with a number if there is one of that name */
	sigset_t signals;	  /* of whoever called us */
};

static bool complain(const char *about, const char *what)
{
	hf_say(stderr, "hartfs record: %s: %s", about, what);
	return false;
}

/* ---- where it goes ---- */

static bool exists(const struct recording *rec, const char *suffix)
{
	char path[NAME_MAX + 64];

	snprintf(path, sizeof path, "%s%s", rec->name, suffix);
	return faccessat(rec->dirfd, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Makes the directory NAME.d, which claims the name. */
static bool claim_name(struct recording *rec)
{
	char path[NAME_MAX + 64];

	for (unsigned n = 1; n < 100000; n++) {
		snprintf(rec->name, sizeof rec->name, n == 1 ? "%s" : "%s-%u", rec->plan.name, n);
		if (exists(rec, ".zstf"))
			continue;
		snprintf(path, sizeof path, "%s.d", rec->name);
		if (mkdirat(rec->dirfd, path, 0777) == 0)
			return true;
		if (errno != EEXIST)
			return complain(path, strerror(errno));
	}
	return complain(rec->plan.name, "there are too many recordings of that name");
}

static bool open_output(struct recording *rec)
{
	const char *dir = rec->settings->output ? rec->settings->output : ".";

	rec->dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (rec->dirfd < 0 && errno == ENOENT) {
		errno = hf_paths_make(dir, 0777);
		if (!errno)
			rec->dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	if (rec->dirfd < 0)
		return complain(dir, strerror(errno));
	if (!claim_name(rec))
		return false;
	rec->ring = hf_record_ring_new();
	if (!rec->ring)
		return complain("memory to share with QEMU", strerror(errno));
	hf_record_ring_into(rec->ring, rec->dirfd, rec->name);
	return true;
}

/* Of a recording that never began. */
static void remove_output(struct recording *rec)
{
	char path[NAME_MAX + 64];

	snprintf(path, sizeof path, "%s.zstf", rec->name);
	unlinkat(rec->dirfd, path, 0);
	snprintf(path, sizeof path, "%s.d/addresses.txt", rec->name);
	unlinkat(rec->dirfd, path, 0);
	snprintf(path, sizeof path, "%s.d", rec->name);
	unlinkat(rec->dirfd, path, AT_REMOVEDIR);
}

/* ---- the program ---- */

/* The plugin with its argument, for QEMU: commas in its path are doubled. To be freed. */
static char *plugin_argument(const struct recording *rec)
{
	char *text = malloc(2 * strlen(rec->plan.plugin) + 32), *to = text;

	for (const char *c = rec->plan.plugin; text && *c; c++) {
		if (*c == ',')
			*to++ = ',';
		*to++ = *c;
	}
	if (text)
		snprintf(to, 32, ",ring=%d", hf_record_ring_id(rec->ring));
	return text;
}

/* To be freed; what it points at is the plan's, the settings' or plugin. */
static char **make_arguments(const struct recording *rec, char *plugin)
{
	const struct hf_settings *settings = rec->settings;
	const struct hf_record_plan *plan = &rec->plan;
	char **args = calloc((size_t)settings->operand_count + 8, sizeof *args);
	size_t n = 0;

	if (!args)
		return NULL;
	args[n++] = plan->qemu;
	args[n++] = (char *)"-plugin";
	args[n++] = plugin;
	if (plan->program) {
		if (plan->sysroot) {
			args[n++] = (char *)"-L";
			args[n++] = plan->sysroot;
		}
		args[n++] = (char *)"-0";
		args[n++] = settings->operands[0];
		args[n++] = plan->program;
	}
	for (int i = 1; i < settings->operand_count; i++)
		args[n++] = settings->operands[i];
	return args;
}

static volatile sig_atomic_t child;

/* Whoever ends us means the program; what it still does is recorded. */
static void pass_on(int signal)
{
	if (child > 0)
		kill(child, signal);
}

static void wake(int signal)
{
	(void)signal;
}

static void handle_signals(const struct recording *rec)
{
	/* A terminal sends these to the program as well. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGTERM, &(struct sigaction){.sa_handler = pass_on}, NULL);
	sigaction(SIGHUP, &(struct sigaction){.sa_handler = pass_on}, NULL);
	sigprocmask(SIG_SETMASK, &rec->signals, NULL);
}

static bool start(struct recording *rec)
{
	posix_spawnattr_t how;
	sigset_t all, defaults;
	char *plugin = plugin_argument(rec), **args = make_arguments(rec, plugin);
	pid_t pid;
	int err = plugin && args ? 0 : ENOMEM;

	/* Before there is a child: of one that ends while the signal is ignored nobody learns the status. */
	sigaction(SIGCHLD, &(struct sigaction){.sa_handler = wake}, NULL);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &rec->signals);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGXFSZ);
	posix_spawnattr_init(&how);
	posix_spawnattr_setsigmask(&how, &rec->signals);
	posix_spawnattr_setsigdefault(&how, &defaults);
	posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	if (!err)
		err = posix_spawn(&pid, rec->plan.qemu, NULL, &how, args, environ);
	posix_spawnattr_destroy(&how);
	free(plugin);
	free(args);
	child = err ? 0 : pid;
	handle_signals(rec);
	return !err || complain(rec->plan.qemu, strerror(err));
}

/* The files of a machine are in its arguments. */
static void add_files(struct recording *rec)
{
	for (int i = 1; rec->settings->system && i + 1 < rec->settings->operand_count; i++) {
		const char *option = rec->settings->operands[i], *value = rec->settings->operands[i + 1];
		const char *file = strstr(value, "file=");

		if ((!strcmp(option, "-kernel") || !strcmp(option, "-bios")) && hf_record_is_elf(value))
			hf_record_ring_file(rec->ring, value);
		if (!strcmp(option, "-device") && !strncmp(value, "loader,", 7) && file) {
			char *path = strndup(file + 5, strcspn(file + 5, ","));

			if (path && hf_record_is_elf(path))
				hf_record_ring_file(rec->ring, path);
			free(path);
		}
	}
}

/* Takes what the plugin gives until the program has ended; returns what waitpid() says. */
static int record(struct recording *rec)
{
	bool any = false, took;
	int status = 0;
	pid_t ended;

	do {
		ended = waitpid(child, &status, WNOHANG);
		took = hf_record_ring_take(rec->ring);
		if (took && !any)
			add_files(rec);
		any |= took;
		if (!took && !ended)
			hf_record_ring_wait(rec->ring);
	} while (!ended);
	hf_record_ring_end(rec->ring);
	return status;
}

/* ---- what came of it ---- */

#define PATH_SIZE (2 * PATH_MAX)

static void put_path(const struct recording *rec, char path[PATH_SIZE])
{
	const char *dir = rec->settings->output ? rec->settings->output : "";

	snprintf(path, PATH_SIZE, "%s%s%s.zstf", dir, *dir && dir[strlen(dir) - 1] != '/' ? "/" : "", rec->name);
}

static void tell_result(const struct recording *rec, const struct hf_record_result *result)
{
	const char *all = result->threads > 1 ? "all/" : "";
	char path[PATH_SIZE], more[64] = "", *file;

	put_path(rec, path);
	file = hf_record_quote(path);
	if (result->threads > 1)
		snprintf(more, sizeof more, " of %" PRIu32 " threads", result->threads);
	hf_say(stderr, "hartfs record: %s: %" PRIu64 " instructions%s", path, result->insns, more);
	if (file)
		fprintf(stderr,
			"Try:\n  hartfs top %s\n  hartfs cat %s %sflame.svg > flame.svg\n"
			"  hartfs cat %s %soverview.svg > overview.svg\n",
			file, file, all, file, all);
	if (file && *all)
		fprintf(stderr, "  hartfs cat %s all/listing.txt | less\n", file);
	free(file);
}

/* What is wrong with the recording. False: nothing. */
static bool tell_trouble(const struct recording *rec, const struct hf_record_result *result, int status)
{
	if (result->lost)
		hf_say(stderr,
		       "hartfs record: %s: %" PRIu32 " threads are not in the capture: there were too many at a time",
		       rec->name, result->lost);
	if (result->cut)
		hf_say(stderr,
		       "hartfs record: %s: %" PRIu32 " accesses are left out: there were too many in one instruction",
		       rec->name, result->cut);
	if (result->more_files)
		hf_say(stderr, "hartfs record: %s: it had more than %" PRIu32 " files in its memory", rec->name,
		       result->files);
	if (result->attached && result->insns)
		return result->lost || result->cut || result->more_files;
	if (result->attached && result->errnum)
		return true;
	if (result->attached)
		hf_say(stderr, "hartfs record: %s: nothing of it ran", rec->name);
	else if (WIFEXITED(status))
		hf_say(stderr, "hartfs record: %s did not load the plugin %s: it must be a QEMU with plugins",
		       rec->plan.qemu, rec->plan.plugin);
	return true;
}

static int tell(const struct recording *rec, int status)
{
	const bool quiet = rec->settings->verbosity < 0;
	struct hf_record_result result;
	bool trouble;

	hf_record_ring_result(rec->ring, &result);
	trouble = tell_trouble(rec, &result, status);
	if (WIFSIGNALED(status) && !quiet)
		hf_say(stderr, "hartfs record: %s was killed by signal %d (%s)", rec->settings->operands[0],
		       WTERMSIG(status), strsignal(WTERMSIG(status)));
	if (result.insns && !quiet)
		tell_result(rec, &result);
	if (WIFSIGNALED(status) && !result.errnum)
		return 128 + WTERMSIG(status);
	return trouble || result.errnum ? HF_EXIT_FAILURE : WEXITSTATUS(status);
}

/* Indexes the capture with its pictures, in a process that confines itself: this one reads no capture. Standard output is the
 * program's. Whatever becomes of it, the recording is there. */
static void make_ahead(const struct recording *rec)
{
	char path[PATH_SIZE];
	char *const args[] = {(char *)"hartfs", (char *)"index", (char *)(rec->settings->verbosity < 0 ? "-q" : "--profiles"),
			      (char *)"--profiles", (char *)"--", path, NULL};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	sigset_t defaults;
	pid_t pid;
	int err;

	put_path(rec, path);
	sigfillset(&defaults);
	posix_spawnattr_init(&how);
	posix_spawnattr_setsigdefault(&how, &defaults);
	posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	/* A bar is for a terminal; what else is wrong is told to whoever asks something of the capture. */
	if (!isatty(STDERR_FILENO))
		posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	err = posix_spawn(&pid, "/proc/self/exe", &files, &how, args, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&how);
	if (err)
		return;
	child = pid;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	child = 0;
}

int hf_command_record(const struct hf_settings *settings)
{
	struct recording rec = {.settings = settings, .dirfd = -1};
	struct hf_record_result result;
	int status = HF_EXIT_FAILURE;

	if (settings->operand_count == 0)
		return hf_settings_usage(settings, "a program is needed");
	if (hf_record_plan_make(settings, &rec.plan) && open_output(&rec)) {
		if (start(&rec))
			status = tell(&rec, record(&rec));
		else
			hf_record_ring_end(rec.ring);
		hf_record_ring_result(rec.ring, &result);
		if (!result.insns)
			remove_output(&rec);
		else if (!result.errnum && !hf_record_notes(settings, rec.dirfd, rec.name) && !status)
			status = HF_EXIT_FAILURE;
		if (result.insns && !result.errnum)
			make_ahead(&rec);
	}
	hf_record_ring_free(rec.ring);
	hf_record_plan_free(&rec.plan);
	if (rec.dirfd >= 0)
		close(rec.dirfd);
	return status;
}
