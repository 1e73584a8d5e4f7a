/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hartfs convert: a view as a file. This process opens the file, under a name of its own, and gives it the name that was
 * asked for when all is in it; a child, which confines itself, makes the bytes.
 */
#include "fs/library.h"
#include "fs/locate.h"
#include "index/exec/exec.h"
#include "mountd/bar.h"
#include "mountd/commands.h"
#include "mountd/log.h"
#include "mountd/number.h"
#include "mountd/packed_file.h"
#include "mountd/paths.h"
#include "mountd/target.h"
#include "mountd/view_name.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct command {
	const struct hf_settings *settings;
	enum hf_packing packing;
	bool cut;
	uint64_t from, to;
};

/* ---- in the child ---- */

struct writing {
	const struct command *c;
	const char *shown;
	struct hf_packed_file *file;
	struct hf_bar bar;
	const char *name;
	uint64_t done, size;
	int errnum;
};

static bool put_bytes(void *ctx, const uint8_t *bytes, size_t n)
{
	struct writing *w = ctx;

	w->errnum = hf_packed_file_write(w->file, bytes, n);
	w->done += n;
	hf_bar_show(&w->bar, &(struct hf_bar_state){.name = w->name, .share = w->size ? (double)w->done / (double)w->size : 1});
	return !w->errnum;
}

/* The path of the view, in the slice that is wanted; NULL: no memory. */
static char *cut_path(const struct command *c, const char *path, const struct hf_target_capture *capture)
{
	const size_t n = strlen(capture->view_dir) + 1;
	const char *slash = strchr(path + n, '/');
	char *cut = NULL;
	int length;

	if (!slash || strncmp(path + n, "hart", 4) != 0)
		return strdup(path);
	if (c->to == UINT64_MAX)
		length = asprintf(&cut, "%.*s/at/%" PRIu64 "-%s", (int)(slash - path), path, c->from, slash);
	else
		length = asprintf(&cut, "%.*s/at/%" PRIu64 "-%" PRIu64 "%s", (int)(slash - path), path, c->from, c->to, slash);
	return length < 0 ? NULL : cut;
}

/* Which file the name means: as hartfs cat takes it, below the hart that is wanted. NULL after saying why there is none. */
static char *find_view(const struct command *c, const struct hf_target_capture *capture, const char *shown)
{
	const char *name = c->settings->operands[1];
	char *asked = NULL, *path = NULL, *words = NULL, *cut;
	struct hartfs_view *view;
	struct hartfs_diag diag;

	if (c->settings->has_hart && strncmp(name, "hart", 4) != 0 &&
	    asprintf(&asked, "hart%" PRIu32 "/%s", c->settings->hart, name) < 0)
		return hf_got(NULL);
	name = asked ? asked : name;
	if (asprintf(&path, "%s/%s", capture->view_dir, name) < 0)
		path = hf_got(NULL);
	if (path && !hartfs_view_open(capture->archive, path, &view, &diag)) {
		hartfs_view_close(view);
	} else if (path) {
		free(path);
		path = NULL;
		/* A file that the capture cannot have has a reason, which is better than a guess. */
		if (!strstr(diag.text, "no such file") ||
		    !hf_view_name_find(capture->archive, capture->path, capture->view_dir, name, &path, &words)) {
			if (words)
				hf_say(stderr, "hartfs convert: %s: %s", shown, words);
			else
				hf_paths_complain("convert", shown, &diag);
			path = NULL;
		}
	}
	cut = path && c->cut ? hf_got(cut_path(c, path, capture)) : path;
	if (cut != path)
		free(path);
	free(words);
	free(asked);
	return cut;
}

static int write_view(struct writing *w, const struct hf_target_capture *capture, const char *path)
{
	struct hartfs_view *view;
	struct hartfs_diag diag;
	int error = hartfs_view_open(capture->archive, path, &view, &diag);

	if (!error) {
		w->size = hartfs_view_size(view);
		w->name = path + strlen(capture->view_dir) + 1;
		error = hf_library_view_give(view, 0, UINT64_MAX, put_bytes, w, &diag);
		hartfs_view_close(view);
	}
	hf_bar_clear(&w->bar);
	if (error && !w->errnum)
		hf_paths_complain("convert", w->shown, &diag);
	return error || w->errnum ? HF_EXIT_FAILURE : HF_EXIT_OK;
}

static int convert(void *ctx, struct hf_target_capture *capture)
{
	struct writing *w = ctx;
	int status = HF_EXIT_FAILURE;
	char *path;

	if (!hf_target_index(w->c->settings, "convert", capture, &w->bar))
		return HF_EXIT_FAILURE;
	path = find_view(w->c, capture, w->shown);
	if (path)
		status = write_view(w, capture, path);
	free(path);
	return status;
}

/* Makes the bytes of the capture's view in fd. */
static int run_child(const struct command *c, const char *capture, int fd)
{
	struct hf_settings own = *c->settings;
	const unsigned threads = own.threads ? own.threads : hf_exec_cores();
	struct writing w = {.c = c, .shown = capture, .file = hf_got(hf_packed_file_new(fd, c->packing, threads))};
	char *operands[] = {(char *)(uintptr_t)capture, NULL};
	int status, err;

	if (!w.file)
		return HF_EXIT_FAILURE;
	own.operands = operands;
	own.operand_count = 1;
	hf_bar_begin(&w.bar, own.verbosity);
	status = hf_target_run(&own, "convert", HF_EXIT_FAILURE, convert, &w);
	err = hf_packed_file_close(w.file);
	w.errnum = w.errnum ? w.errnum : status ? 0 : err;
	if (w.errnum == EILSEQ)
		hf_say(stderr, "hartfs convert: %s: a .zstf has trace.stf in it, and this view is no STF", capture);
	else if (w.errnum)
		hf_say(stderr, "hartfs convert: %s: %s", c->settings->output, strerror(w.errnum));
	return w.errnum ? HF_EXIT_FAILURE : status;
}

static bool put_name(void *ctx, const char *path, const char *view_dir)
{
	FILE *to = ctx;

	fwrite(path, 1, strlen(path) + 1, to);
	fwrite(view_dir, 1, strlen(view_dir) + 1, to);
	return !ferror(to);
}

/* Writes the paths of the captures of the archive, and of their view directories, each with a 0. */
static int list_captures(const struct command *c, const char *directory, int fd)
{
	FILE *to = fdopen(fd, "w");
	struct hartfs_archive *archive = NULL;
	struct hartfs_diag diag;
	struct hf_opened opened;
	int error = 1;

	if (!to || !hf_opened_open(c->settings, directory, &opened))
		return HF_EXIT_FAILURE;
	if (hf_opened_confine(c->settings, &opened, 1))
		archive = hf_opened_start(c->settings, &opened, false, NULL);
	if (archive) {
		error = hartfs_each_capture(archive, "", put_name, to, &diag);
		if (error)
			hf_paths_complain("convert", directory, &diag);
		hartfs_close(archive);
	}
	hf_opened_close(&opened);
	return fclose(to) || error ? HF_EXIT_FAILURE : HF_EXIT_OK;
}

/* ---- children ---- */

static volatile sig_atomic_t stopped;
static volatile pid_t child;

static void stop(int sig)
{
	stopped = sig;
	if (child > 0)
		kill(child, sig);
}

/* 0 in the child; what it prints is its own. */
static pid_t start_child(void)
{
	fflush(NULL);
	child = fork();
	if (child == 0) {
		signal(SIGINT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
	} else if (child < 0) {
		hf_say(stderr, "hartfs convert: no process: %s", strerror(errno));
	}
	return child;
}

static int end_child(void)
{
	int status = 0;
	pid_t pid;

	if (child < 0)
		return HF_EXIT_FAILURE;
	while ((pid = waitpid(child, &status, 0)) < 0 && errno == EINTR)
		;
	child = 0;
	return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : HF_EXIT_FAILURE;
}

/* ---- the file ---- */

static void complain(const char *path, int errnum)
{
	hf_say(stderr, "hartfs convert: %s: %s", path,
	       errnum == EROFS ? "nothing can be written there: a mount of hartfs, or another file system that is read-only"
			       : strerror(errnum));
}

/* The name is taken, or it cannot be known whether it is. */
static bool is_taken(const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0 && errno == ENOENT)
		return false;
	complain(path, EEXIST);
	return true;
}

/* Gives the whole file its name, unless that was taken meanwhile. */
static int publish(int fd, const char *private, const char *path)
{
	const mode_t mask = umask(0);

	umask(mask);
	if (fchmod(fd, 0666 & ~mask) < 0 || fsync(fd) < 0)
		return errno;
	return renameat2(AT_FDCWD, private, AT_FDCWD, path, RENAME_NOREPLACE) < 0 ? errno : 0;
}

static int convert_one(const struct command *c, const char *capture, const char *path)
{
	char *private = NULL;
	int fd, err, status;

	if (asprintf(&private, "%s.XXXXXX", path) < 0)
		return hf_got(NULL) ? HF_EXIT_OK : HF_EXIT_FAILURE;
	fd = mkostemp(private, O_CLOEXEC);
	if (fd < 0) {
		complain(path, errno);
		free(private);
		return HF_EXIT_FAILURE;
	}
	if (start_child() == 0)
		_exit(run_child(c, capture, fd));
	status = end_child();
	err = status || stopped ? 0 : publish(fd, private, path);
	if (err)
		complain(path, err);
	if (status || stopped || err)
		unlink(private);
	close(fd);
	free(private);
	return err || stopped ? HF_EXIT_FAILURE : status;
}

/* ---- an archive ---- */

/* DIR/boot/x@stf/hart0/listing.txt.xz */
static int convert_found(const struct command *c, const char *capture, const char *view_dir)
{
	char *from = NULL, *path = NULL, *slash;
	struct stat st;
	int err, status = HF_EXIT_FAILURE;

	if (asprintf(&from, "%s/%s", c->settings->operands[0], capture) < 0)
		from = hf_got(NULL);
	if (asprintf(&path, "%s/%s/%s%s", c->settings->output, view_dir, c->settings->operands[1],
		     hf_packing_suffix(c->packing)) < 0)
		path = hf_got(NULL);
	if (from && path && lstat(path, &st) == 0) {
		hf_say(stderr, "hartfs convert: %s: it is there already, and is left as it is", path);
		status = HF_EXIT_OK;
	} else if (from && path) {
		slash = strrchr(path, '/');
		*slash = 0;
		err = hf_paths_make(path, 0777);
		if (err)
			complain(path, err);
		*slash = '/';
		status = err ? HF_EXIT_FAILURE : convert_one(c, from, path);
	}
	free(from);
	free(path);
	return status;
}

static int convert_archive(const struct command *c)
{
	char *capture = NULL, *view_dir = NULL;
	size_t room = 0, room2 = 0, good = 0, bad = 0;
	int ends[2], status;
	FILE *names = tmpfile();

	/* What the child finds is read when it has ended: one child at a time. */
	if (!names) {
		hf_say(stderr, "hartfs convert: no temporary file: %s", strerror(errno));
		return HF_EXIT_FAILURE;
	}
	ends[0] = fileno(names);
	ends[1] = dup(ends[0]);
	if (start_child() == 0)
		_exit(list_captures(c, c->settings->operands[0], ends[1]));
	close(ends[1]);
	status = end_child();
	rewind(names);
	while (!stopped && getdelim(&capture, &room, 0, names) > 0 && getdelim(&view_dir, &room2, 0, names) > 0) {
		const bool ok = convert_found(c, capture, view_dir) == HF_EXIT_OK;

		good += ok;
		bad += !ok;
	}
	fclose(names);
	free(capture);
	free(view_dir);
	if (!status && !good && !bad)
		hf_paths_no_capture("convert", c->settings->operands[0]);
	if (!good)
		return HF_EXIT_FAILURE;
	return bad || status || stopped ? HF_EXIT_SOME : HF_EXIT_OK;
}

/* ---- the command ---- */

static bool ends_in(const char *text, const char *end)
{
	const size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

/* A name that could leave the directory is none. */
static bool is_name(const char *view)
{
	return *view != '/' && !strstr(view, "..");
}

static int take_options(struct command *c)
{
	const struct hf_settings *settings = c->settings;

	for (size_t i = 0; i < settings->asked_count; i++) {
		const struct hf_asked *asked = &settings->asked[i];
		const bool from = strcmp(asked->name, "from") == 0;
		const bool ok = strcmp(asked->name, "compress") == 0 ? hf_packing_find(asked->value, &c->packing)
								     : hf_number_is(asked->value, from ? &c->from : &c->to);

		if (!ok)
			return hf_settings_refuse(settings, asked->name, asked->value);
		c->cut |= strcmp(asked->name, "compress") != 0;
	}
	if (settings->operand_count != 2 || !settings->output)
		return hf_settings_usage(settings, "a capture or an archive, a view and a file are needed: "
						   "hartfs convert %s trace.stf -o FILE (or trace.astf, listing.txt ...)",
					 settings->operand_count ? settings->operands[0] : "CAPTURE");
	if (!is_name(settings->operands[1]))
		return hf_settings_usage(settings, "'%s' is no name of a view", settings->operands[1]);
	if (c->cut && c->from > c->to)
		return hf_settings_usage(settings, "--from is greater than --to");
	if (ends_in(settings->output, ".zstf")) {
		if (c->packing != HF_PACKING_NONE)
			return hf_settings_usage(settings, "a .zstf is compressed by itself, without --compress");
		c->packing = HF_PACKING_ZSTF;
	}
	return HF_EXIT_OK;
}

int hf_command_convert(const struct hf_settings *settings)
{
	const struct sigaction action = {.sa_handler = stop};
	struct command c = {.settings = settings, .to = UINT64_MAX};
	int status = take_options(&c);

	if (status)
		return status;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (hf_locate_is_directory(settings->operands[0]))
		status = convert_archive(&c);
	else
		status = is_taken(settings->output) ? HF_EXIT_FAILURE
						    : convert_one(&c, settings->operands[0], settings->output);
	if (stopped) {
		signal(stopped, SIG_DFL);
		raise(stopped);
	}
	return status;
}
