/* SPDX-License-Identifier: Apache-2.0 */
/* hartfs cat and hartfs info: single files of the tree on standard output, without a mount. */
#include "codecs/base/array.h"
#include "fs/locate.h"
#include "mountd/commands.h"
#include "mountd/guess.h"
#include "mountd/log.h"
#include "mountd/output_queue.h"
#include "mountd/paths.h"
#include "mountd/target.h"
#include "mountd/view_name.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A directory, but not the directory of a capture's views, in a mount or copied from one. */
static bool is_archive(const char *path)
{
	char info[PATH_MAX];

	snprintf(info, sizeof info, "%s/info.json", path);
	return hf_locate_is_directory(path) && access(info, F_OK) < 0;
}

/* Whoever read our output has enough. */
static bool reader_left;

/* Says why writing failed, unless the reader has left. */
static bool tell_write_error(const char *command, int errnum)
{
	reader_left |= errnum == EPIPE;
	if (errnum && errnum != EPIPE)
		hf_say(stderr, "hartfs %s: standard output: %s", command, strerror(errnum));
	return errnum;
}

/* ctx: an int, the errno of a failure. */
static bool write_bytes(void *ctx, const uint8_t *bytes, size_t size)
{
	int *errnum = ctx;

	for (size_t at = 0; at < size && !*errnum;) {
		ssize_t n = write(STDOUT_FILENO, bytes + at, size - at);

		if (n < 0 && errno != EINTR)
			*errnum = errno;
		at += n > 0 ? (size_t)n : 0;
	}
	return !*errnum;
}

static bool is_wanted(void *ctx, double percent, uint64_t insns)
{
	(void)percent, (void)insns;
	return !ctx || !hf_output_queue_failed(ctx);
}

/* A file of the tree. What is made of it while its capture is being indexed is written at once, of a "cat".
 * *ret_missing: why there is no such file, of which nothing was said yet; no error: there is one. NULL: it is said. */
static int write_path(struct hartfs_archive *archive, const struct hf_settings *settings, const char *path,
		      const char *command, const char *shown, struct hartfs_diag *ret_missing)
{
	struct hf_output_queue *queue =
		strcmp(command, "cat") == 0 ? hf_output_queue_new(settings->offset, settings->length) : NULL;
	char capture[PATH_MAX], view_dir[PATH_MAX];
	struct hartfs_view *view;
	struct hartfs_diag diag;
	int error =
		hf_library_view_open(archive, path, queue ? hf_output_queue_put : NULL, is_wanted, queue, &view, &diag);
	bool stale;
	int errnum;
	const uint64_t done = hf_output_queue_finish(queue, &stale, &errnum);
	const uint64_t skip = done > settings->offset ? done - settings->offset : 0;

	if (stale)
		hf_say(stderr, "hartfs %s: %s: the compressed stream is damaged after what was written, which may be wrong and has "
			       "no mark that says so; the same command writes it with that mark now", command, shown);
	else if (!error && !errnum && skip < settings->length)
		error = hf_library_view_give(view, settings->offset + skip, settings->length - skip, write_bytes, &errnum,
					     &diag);
	if (ret_missing && (error == HARTFS_ERROR_NOT_FOUND || error == HARTFS_ERROR_MISUSE))
		*ret_missing = diag;
	else if (error && !errnum && error != HARTFS_ERROR_STOPPED)
		hf_paths_complain(command, shown, &diag);
	hartfs_view_close(view);
	if (!error && strstr(path, "/profile/") && !hf_fs_capture_of(hf_library_fs(archive), path, capture, view_dir))
		hf_paths_warn(command, shown, hf_library_fs(archive), capture);
	return tell_write_error(command, errnum) || error || stale ? HF_EXIT_FAILURE : HF_EXIT_OK;
}

static int write_page(struct hartfs_archive *archive, const char *capture, const char *shown)
{
	char *text = NULL;
	int errnum = 0, err = hf_fs_info_page(hf_library_fs(archive), capture, &text);

	if (err)
		hf_paths_explain("info", shown, err, NULL);
	else
		write_bytes(&errnum, (const uint8_t *)text, strlen(text));
	free(text);
	return tell_write_error("info", errnum) || err ? HF_EXIT_FAILURE : HF_EXIT_OK;
}

/* What is known of a capture. Also if nothing of it could be decoded, but that is a failure. */
static int write_info(struct hartfs_archive *archive, const struct hf_settings *settings, const char *capture,
		      const char *path, const char *shown)
{
	const int error = hartfs_index(archive, capture, NULL, NULL, NULL);
	const int status = settings->json ? write_path(archive, settings, path, "info", shown, NULL)
					  : write_page(archive, capture, shown);

	return error ? HF_EXIT_FAILURE : status;
}

/* view: of that capture, but there is no file of that name, for the reason in diag. */
static int write_meant(struct hartfs_archive *archive, const struct hf_settings *settings, const char *capture,
		       const char *view_dir, const char *view, const char *shown, const struct hartfs_diag *diag)
{
	/* A file that the capture cannot have has a reason, which is better than a guess. */
	const bool reason = diag->error == HARTFS_ERROR_NOT_FOUND && !strstr(diag->text, "no such file");
	char *path = NULL, *words = NULL, *line = NULL;
	int status = HF_EXIT_FAILURE;

	if (!reason && hf_view_name_find(archive, capture, view_dir, view, &path, &words))
		status = write_path(archive, settings, path, "cat", shown, NULL);
	else if (words)
		hf_say(stderr, "hartfs cat: %s: %s", shown, words);
	else if (!reason && (line = hf_guess_line(view, settings->operands[0])))
		hf_say(stderr, "hartfs cat: %s: there is no such file%s", shown, line);
	else
		hf_paths_complain("cat", shown, diag);
	free(line);
	free(words);
	free(path);
	return status;
}

static int write_target(struct hartfs_archive *archive, const struct hf_settings *settings, const struct hf_target *target,
			const char *command, const char *shown)
{
	char capture[PATH_MAX], view_dir[PATH_MAX], *path;
	const int err = hf_fs_capture_of(hf_library_fs(archive), target->path, capture, view_dir);
	int status = HF_EXIT_FAILURE;
	struct hartfs_diag missing = {0};

	if (err && target->view) {
		hf_paths_explain_capture(command, shown, hf_library_fs(archive), target->path, err, NULL);
		return HF_EXIT_FAILURE;
	}
	if (!target->view)
		path = strdup(target->path);
	else if (asprintf(&path, "%s/%s", view_dir, target->view) < 0)
		path = NULL;
	hf_got(path);
	if (path && !err && strcmp(command, "info") == 0)
		status = write_info(archive, settings, capture, path, shown);
	else if (path)
		status = write_path(archive, settings, path, command, shown, target->view ? &missing : NULL);
	/* Who pipes it into a file knows that. */
	if (!err && !target->view && strcmp(capture, target->path) == 0 && isatty(STDOUT_FILENO))
		hf_say(stderr, "hartfs cat: %s: these are the capture's own bytes; hartfs ls %s lists its views", shown, shown);
	if (missing.error)
		status = write_meant(archive, settings, capture, view_dir, target->view, shown, &missing);
	free(path);
	return status;
}

struct found {
	struct shown {
		char *view_dir, *capture; /* owned */
	} * at;
	size_t count;
	bool cut; /* there was no memory for the rest, which was said */
};

static bool add_found(void *ctx, const char *path, const char *view_dir)
{
	struct found *found = ctx;
	struct shown *one;

	found->cut = hf_array_room(&found->at, found->count, sizeof *one) != 0;
	one = hf_got(found->cut ? NULL : &found->at[found->count]);
	if (!one)
		return false;
	*one = (struct shown){hf_got(strdup(view_dir)), hf_got(strdup(path))};
	found->cut = !one->capture || !one->view_dir;
	/* One that is not whole is freed with the others. */
	found->count++;
	return !found->cut;
}

/* Every capture of the archive, one after the other. */
static int write_infos(struct hartfs_archive *archive, const struct hf_settings *settings, const char *shown)
{
	struct found found = {0};
	struct hartfs_diag diag;
	size_t good = 0;
	const int error = hartfs_each_capture(archive, "", add_found, &found, &diag);

	if (error)
		hf_paths_complain("info", shown, &diag);
	else if (!found.count && !found.cut)
		hf_paths_no_capture("info", shown);
	for (size_t i = 0; i < found.count; i++) {
		struct shown *one = &found.at[i];
		char *path = NULL;

		if (reader_left || !one->capture || !one->view_dir)
			; /* nobody reads it, or it was said why not */
		else if (asprintf(&path, "%s/info.json", one->view_dir) < 0)
			path = hf_got(NULL);
		else
			good += write_info(archive, settings, one->capture, path, one->capture) == HF_EXIT_OK;
		free(path);
		free(one->capture);
		free(one->view_dir);
	}
	free(found.at);
	if (!good)
		return HF_EXIT_FAILURE;
	if (error || found.cut || good < found.count || hf_fs_unreached(hf_library_fs(archive), NULL, NULL))
		return HF_EXIT_SOME;
	return HF_EXIT_OK;
}

/* Ends as every other tool would, but only when all threads are gone: they must not be shot while they index. */
static int end(int status)
{
	if (reader_left) {
		signal(SIGPIPE, SIG_DFL);
		raise(SIGPIPE);
	}
	return status;
}

/* An operand on its way: first all are opened, then the process confines itself, then they are written. */
struct job {
	const char *path;
	char *shown; /* the path, and the view behind it */
	bool all;    /* every capture of a directory */
	bool opened; /* false: it was said why not */
	struct hf_target target;
	struct hf_opened archive;
};

static void open_job(const struct hf_settings *settings, const char *path, const char *view, const char *command,
		     struct job *ret_job)
{
	struct job job = {.path = path, .all = strcmp(command, "info") == 0 && is_archive(path)};

	if (asprintf(&job.shown, "%s%s%s", path, view ? "/" : "", view ? view : "") < 0)
		job.shown = hf_got(NULL);
	else if (!hf_target_find(settings, path, view, view != NULL, &job.target))
		hf_say(stderr, "hartfs %s: %s: %s", command, job.shown, hf_why_none());
	else if (!*job.target.path)
		hf_say(stderr, "hartfs %s: %s: this is a directory; hartfs ls lists what is in it", command, job.shown);
	else
		job.opened = hf_opened_open(settings, job.target.archive, &job.archive);
	*ret_job = job;
}

static int write_job(const struct hf_settings *settings, struct job *job, const char *command)
{
	struct hartfs_archive *archive = hf_opened_start(settings, &job->archive, false, NULL);
	int status;

	if (!archive)
		return HF_EXIT_FAILURE;
	status = job->all ? write_infos(archive, settings, job->path)
			  : write_target(archive, settings, &job->target, command, job->shown);
	hartfs_close(archive);
	return status;
}

static void close_job(struct job *job)
{
	if (job->opened)
		hf_opened_close(&job->archive);
	hf_target_fini(&job->target);
	free(job->shown);
}

/* Of the jobs that could be opened. */
static bool confine(const struct hf_settings *settings, const struct job *jobs, size_t count)
{
	struct hf_opened *archives = hf_got(calloc(count, sizeof *archives));
	size_t opened = 0;
	bool ok = false;

	for (size_t i = 0; archives && i < count; i++)
		if (jobs[i].opened)
			archives[opened++] = jobs[i].archive;
	if (archives)
		ok = !opened || hf_opened_confine(settings, archives, opened);
	free(archives);
	return ok;
}

/* Writes count operands; as many exit statuses go to ret_status. */
static void write_operands(const struct hf_settings *settings, const char *view, const char *command, size_t count,
			   int *ret_status)
{
	struct job *jobs = hf_got(calloc(count, sizeof *jobs));
	bool ok;

	for (size_t i = 0; jobs && i < count; i++)
		open_job(settings, settings->operands[i], view, command, &jobs[i]);
	ok = jobs && confine(settings, jobs, count);
	for (size_t i = 0; i < count; i++)
		ret_status[i] = ok && jobs[i].opened ? write_job(settings, &jobs[i], command) : HF_EXIT_FAILURE;
	for (size_t i = 0; jobs && i < count; i++)
		close_job(&jobs[i]);
	free(jobs);
}

int hf_command_cat(const struct hf_settings *settings)
{
	int status;

	if (settings->operand_count < 1 || settings->operand_count > 2)
		return hf_settings_usage(settings, "a path and perhaps a view are needed");
	signal(SIGPIPE, SIG_IGN);
	write_operands(settings, settings->operand_count > 1 ? settings->operands[1] : NULL, "cat", 1, &status);
	return end(status);
}

int hf_command_info(const struct hf_settings *settings)
{
	const size_t count = (size_t)settings->operand_count;
	int worst = HF_EXIT_OK, good = 0, *status;

	if (count == 0)
		return hf_settings_usage(settings, "a capture or a directory is needed");
	status = hf_got(calloc(count, sizeof *status));
	if (!status)
		return HF_EXIT_FAILURE;
	signal(SIGPIPE, SIG_IGN);
	write_operands(settings, "info.json", "info", count, status);
	for (size_t i = 0; i < count; i++) {
		good += status[i] != HF_EXIT_FAILURE;
		if (status[i])
			worst = HF_EXIT_SOME;
	}
	free(status);
	return end(good ? worst : HF_EXIT_FAILURE);
}
