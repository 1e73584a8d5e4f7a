/* SPDX-License-Identifier: Apache-2.0 */
/* hartfs cat and hartfs info: single files of the tree on standard output, without a mount. */
#include "mountd/commands.h"
#include "mountd/live.h"
#include "mountd/log.h"
#include "mountd/paths.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* An archive and a file in it: captures are named by their own path and a view, or by the path of the view. */
struct target {
	char *archive;  /* a directory */
	char *path;     /* within it; "" for none */
	char *view;     /* behind it, if path is a capture: "hart0/listing.txt" */
};

static void target_fini(struct target *target)
{
	free(target->archive);
	free(target->path);
	free(target->view);
}

/* A directory, but not the directory of a capture's views, in a mount or copied from one. */
static bool is_archive(const char *path)
{
	char info[PATH_MAX];

	snprintf(info, sizeof info, "%s/info.json", path);
	return hf_paths_is_directory(path) && access(info, F_OK) < 0;
}

/* The longest beginning of path that exists ("." if none does); *ret_rest is what follows it. */
static char *existing_part(const char *path, const char **ret_rest)
{
	char *part = strdup(path);
	struct stat st;

	*ret_rest = "";
	while (part && stat(part, &st) < 0) {
		char *slash = strrchr(part, '/');

		if (!slash || slash == part) {
			*ret_rest = slash ? path + 1 : path;
			free(part);
			return strdup(slash ? "/" : ".");
		}
		*slash = 0;
		*ret_rest = path + (slash - part) + 1;
	}
	return part;
}

/* The path of something in the directory part: of a view of a capture there with a description (run@etrace/...), whose
 * files may lie above part, the archive is the one of that capture. *target has part as its archive and changes. */
static bool find_beneath(const struct hf_settings *settings, const char *part, const char *rest, struct target *target)
{
	const char *at = memrchr(rest, '@', strcspn(rest, "/"));
	char *capture = NULL, *archive = NULL, *name = NULL;
	bool ok = true;

	if (at && asprintf(&capture, "%s/%.*s", part, (int)(at - rest), rest) < 0)
		return false;
	if (capture && hf_paths_split(settings, capture, true, &archive, &name)) {
		const char *slash = strrchr(name, '/');
		char *path;

		ok = asprintf(&path, "%.*s%s", slash ? (int)(slash + 1 - name) : 0, name, target->path) >= 0;
		if (ok) {
			free(target->archive);
			free(target->path);
			*target = (struct target){.archive = archive, .path = path};
			archive = NULL;
		}
	}
	free(capture);
	free(archive);
	free(name);
	return ok;
}

static bool find_target(const struct hf_settings *settings, const char *path, const char *view,
			struct target *ret_target)
{
	const char *rest;
	char *part = existing_part(path, &rest);
	bool ok;

	*ret_target = (struct target){0};
	if (!part)
		return false;
	if (hf_paths_is_directory(part)) {
		ret_target->archive = part;
		if (asprintf(&ret_target->path, "%s%s%s", rest, *rest && view ? "/" : "", view ? view : "") < 0)
			ret_target->path = NULL;
		return ret_target->path && find_beneath(settings, part, rest, ret_target);
	}
	ok = hf_paths_split(settings, part, view || *rest, &ret_target->archive, &ret_target->path);
	free(part);
	if (ok && (view || *rest)) {
		ok = asprintf(&ret_target->view, "%s%s%s", rest, *rest && view ? "/" : "", view ? view : "") >= 0;
		if (!ok)
			ret_target->view = NULL;
	}
	return ok;
}

/* Not a word against a capture: there is none. The path may be another file of the tree. */
static bool is_nothing(int err)
{
	return err == HF_ERR_NOT_FOUND || err == HF_ERR_UNKNOWN_FORMAT;
}

/* A damaged capture has views too, of what could be read: they are looked for all the same. */
static bool is_about_capture(int err)
{
	return hf_err_class(err) == HF_CLASS_corrupt || hf_err_class(err) == HF_CLASS_unsupported ||
	       hf_err_class(err) == HF_CLASS_limit;
}

/* Why a path has no view: err is of hf_fs_capture_of. */
static void explain_none(const char *command, const char *shown, int err)
{
	if (err == HF_ERR_UNKNOWN_FORMAT)
		hf_say(stderr, "hartfs %s: %s: this is not a capture (bare packets need a capture.ini)", command, shown);
	else if (err == HF_ERR_NOT_FOUND)
		hf_say(stderr, "hartfs %s: %s: there is no such file", command, shown);
	else
		hf_paths_explain(command, shown, err, NULL);
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

static bool is_wanted(void *ctx, double percent, uint64_t insns)
{
	(void)percent, (void)insns;
	return !ctx || !hf_live_failed(ctx);
}

/* Indexes a capture, and writes what is made of a view (NULL: nothing) meanwhile. *ret_done: up to there it is written. */
static int index_and_write(struct hf_fs *fs, const struct hf_settings *settings, const char *capture, const char *view,
			   const char *command, uint64_t *ret_done, struct hf_diag *diag)
{
	struct hf_live *live = view ? hf_live_new(settings->offset, settings->length) : NULL;
	int errnum, err = hf_fs_index_tapped(fs, capture, live ? view : "", live ? hf_live_put : NULL, is_wanted, live, diag);

	*ret_done = hf_live_finish(live, &errnum);
	return tell_write_error(command, errnum) ? HF_ERR_CANCELLED : err;
}

/* What a target means. */
struct meaning {
	char *path;    /* in the tree; NULL: nothing, as was said */
	char *capture; /* it belongs to; NULL: none */
	uint64_t done; /* of the file: written already */
	bool failed;   /* nothing of the capture could be decoded */
};

/* The path of the view behind a capture's view directory; NULL: it is none. */
static const char *view_of(const struct target *target, const char *view_dir)
{
	const size_t n = strlen(view_dir);

	if (target->view)
		return target->view;
	return !strncmp(target->path, view_dir, n) && target->path[n] == '/' ? target->path + n + 1 : NULL;
}

/* A capture that is not indexed gets so. live: what is made of the view meanwhile is to be written. */
static struct meaning resolve_target(struct hf_fs *fs, const struct hf_settings *settings, const struct target *target,
				     const char *command, const char *shown, bool live)
{
	char capture[PATH_MAX], view_dir[PATH_MAX];
	struct meaning meaning = {.path = NULL};
	struct hf_diag diag = {0};
	int err = hf_fs_capture_of(fs, target->path, capture, view_dir);

	if (err && (target->view || !is_nothing(err))) {
		explain_none(command, shown, err);
		return meaning;
	}
	if (err) {
		meaning.path = strdup(target->path);
		return meaning;
	}
	/* The capture's own bytes need no index. */
	if (target->view || strcmp(capture, target->path) != 0)
		err = index_and_write(fs, settings, capture, live ? view_of(target, view_dir) : NULL, command, &meaning.done,
				      &diag);
	if (err == HF_ERR_CANCELLED)
		return meaning;
	if (err && !is_about_capture(err))
		hf_paths_explain_capture(command, shown, fs, capture, err, &diag);
	else if (!target->view)
		meaning.path = strdup(target->path);
	else if (asprintf(&meaning.path, "%s/%s", view_dir, target->view) < 0)
		meaning.path = NULL;
	meaning.failed = err;
	meaning.capture = strdup(capture);
	return meaning;
}

/* Reads under way: as many as keep the decode pool busy while the oldest is being written. */
#define AHEAD 4
#define READ_SIZE ((size_t)1 << 20)

struct slot {
	struct hf_read read;
	struct copier *copier;
	bool started, done;
};

struct copier {
	pthread_mutex_t lock;
	pthread_cond_t done;
	struct slot slots[AHEAD];
};

static void read_done(struct hf_read *read)
{
	struct slot *slot = read->ctx;
	struct copier *copier = slot->copier;

	pthread_mutex_lock(&copier->lock);
	slot->done = true;
	pthread_cond_signal(&copier->done);
	pthread_mutex_unlock(&copier->lock);
}

static void start_read(struct hf_fs *fs, struct slot *slot, struct hf_file *file, uint64_t offset, size_t size)
{
	slot->done = false;
	slot->started = true;
	slot->read = (struct hf_read){.file = file, .offset = offset, .size = size, .done = read_done, .ctx = slot};
	hf_fs_read(fs, &slot->read);
}

static void wait_read(struct slot *slot)
{
	struct copier *copier = slot->copier;

	pthread_mutex_lock(&copier->lock);
	while (!slot->done)
		pthread_cond_wait(&copier->done, &copier->lock);
	pthread_mutex_unlock(&copier->lock);
}

static int write_bytes(const uint8_t *bytes, size_t size)
{
	for (size_t at = 0; at < size;) {
		ssize_t n = write(STDOUT_FILENO, bytes + at, size - at);

		if (n < 0 && errno != EINTR)
			return errno;
		at += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int write_all(const struct hf_read *read, size_t *ret_n)
{
	int err = 0;

	*ret_n = 0;
	for (size_t i = 0; i < read->pieces && !err; i++) {
		err = write_bytes(read->piece[i].bytes, read->piece[i].size);
		*ret_n += err ? 0 : read->piece[i].size;
	}
	return err;
}

/* A read failed somewhere in its range: what is before that place is good. */
static int write_before(struct hf_fs *fs, const struct hf_read *read)
{
	uint8_t *bytes = malloc(read->size);
	size_t n = 0;
	int err = 0;

	if (bytes) {
		hf_fs_read_wait(fs, read->file, read->offset, bytes, read->size, &n);
		err = write_bytes(bytes, n);
	}
	free(bytes);
	return err;
}

/* Copies [offset, offset + length) as far as the file reaches. *ret_err is an error of reading, the result one of
 * writing (an errno). */
static int copy(struct hf_fs *fs, struct hf_file *file, uint64_t offset, uint64_t length, int *ret_err)
{
	struct copier copier = {.lock = PTHREAD_MUTEX_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};
	uint64_t asked = 0;
	bool ended = false;
	int write_err = 0;

	*ret_err = 0;
	for (size_t i = 0;; i = (i + 1) % AHEAD) {
		struct slot *slot = &copier.slots[i];

		if (slot->started) {
			size_t n = 0;

			if (ended)
				hf_fs_read_cancel(fs, &slot->read);
			wait_read(slot);
			if (!ended && slot->read.err) {
				*ret_err = slot->read.err;
				write_err = write_before(fs, &slot->read);
			} else if (!ended) {
				write_err = write_all(&slot->read, &n);
			}
			ended = ended || *ret_err || write_err || n < slot->read.size;
			hf_fs_read_release(&slot->read);
			slot->started = false;
		}
		if (!ended && asked < length) {
			size_t size = length - asked < READ_SIZE ? (size_t)(length - asked) : READ_SIZE;

			slot->copier = &copier;
			start_read(fs, slot, file, offset + asked, size);
			asked += size;
		} else {
			bool under_way = false;

			for (size_t k = 0; k < AHEAD; k++)
				under_way |= copier.slots[k].started;
			if (!under_way)
				return write_err;
		}
	}
}

static bool is_directory(struct hf_fs *fs, uint64_t ino)
{
	struct hf_attr attr;

	return hf_fs_getattr(fs, ino, &attr) == 0 && S_ISDIR(attr.st.st_mode);
}

/* capture: whose file it is, or NULL. If nothing of it could be decoded that is why its views are not there. done: up to
 * there it is written already. */
static int write_file(struct hf_fs *fs, const char *path, const char *capture, uint64_t done,
		      const struct hf_settings *settings, const char *command, const char *shown)
{
	const uint64_t skip = done > settings->offset ? done - settings->offset : 0;
	struct hf_file *file = NULL;
	uint64_t ino;
	bool keep, directory = false;
	int read_err, write_err = 0;

	read_err = hf_fs_resolve(fs, path, &ino);
	if (!read_err) {
		directory = is_directory(fs, ino);
		read_err = hf_file_open(fs, ino, &file, &keep);
		if (!read_err) {
			if (skip < settings->length)
				write_err = copy(fs, file, settings->offset + skip, settings->length - skip, &read_err);
			hf_file_close(file);
		}
		hf_fs_forget(fs, ino, 1);
	}
	if (directory)
		hf_say(stderr, "hartfs %s: %s: this is a directory", command, shown);
	else if (read_err == HF_ERR_NOT_FOUND && !capture)
		explain_none(command, shown, read_err);
	else if (read_err == HF_ERR_NOT_FOUND)
		hf_paths_explain_capture(command, shown, fs, capture, read_err, NULL);
	else if (read_err)
		hf_paths_explain(command, shown, read_err, NULL);
	tell_write_error(command, write_err);
	return read_err || write_err ? HF_EXIT_FAILURE : HF_EXIT_OK;
}

struct found {
	char **view_dir, **capture; /* owned */
	size_t count;
};

static bool add_found(void *ctx, const char *path, const char *view_dir)
{
	struct found *found = ctx;
	char **view_dirs = realloc(found->view_dir, (found->count + 1) * sizeof *view_dirs), **captures = NULL;

	if (view_dirs) {
		found->view_dir = view_dirs;
		captures = realloc(found->capture, (found->count + 1) * sizeof *captures);
	}
	if (!captures)
		return false;
	found->capture = captures;
	view_dirs[found->count] = strdup(view_dir);
	captures[found->count] = strdup(path);
	return captures[found->count] && view_dirs[found->count++];
}

/* info.json of every capture of the archive, one after the other. */
static int write_infos(struct hf_fs *fs, const struct hf_settings *settings, const char *shown)
{
	struct found found = {0};
	struct hf_diag diag = {0};
	size_t good = 0;

	hf_fs_each_capture(fs, "", add_found, &found);
	if (!found.count)
		hf_say(stderr, "hartfs info: %s: there is no capture in it", shown);
	for (size_t i = 0; i < found.count; i++) {
		char *inside = NULL;
		int err = reader_left ? HF_ERR_CANCELLED : hf_fs_index(fs, found.capture[i], NULL, NULL, &diag), status;

		if (!err || is_about_capture(err)) {
			if (asprintf(&inside, "%s/info.json", found.view_dir[i]) < 0)
				inside = NULL;
			status = inside ? write_file(fs, inside, NULL, 0, settings, "info", found.capture[i]) : HF_EXIT_FAILURE;
			good += !err && status == HF_EXIT_OK;
		} else if (!reader_left) {
			hf_paths_explain_capture("info", found.capture[i], fs, found.capture[i], err, &diag);
		}
		free(inside);
		free(found.capture[i]);
		free(found.view_dir[i]);
	}
	free(found.capture);
	free(found.view_dir);
	if (!good)
		return HF_EXIT_FAILURE;
	return good < found.count || hf_fs_unreached(fs, NULL, NULL) ? HF_EXIT_SOME : HF_EXIT_OK;
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
	char *shown;       /* the path, and the view behind it */
	bool all;          /* every capture of a directory */
	bool opened;       /* false: it was said why not */
	struct target target;
	struct hf_opened archive;
};

static void open_job(const struct hf_settings *settings, const char *path, const char *view, const char *command,
		     struct job *ret_job)
{
	struct job job = {.path = path, .all = strcmp(command, "info") == 0 && is_archive(path)};

	if (asprintf(&job.shown, "%s%s%s", path, view ? "/" : "", view ? view : "") < 0)
		job.shown = NULL;
	else if (!find_target(settings, path, view, &job.target))
		hf_say(stderr, "hartfs %s: %s: there is no such file", command, job.shown);
	else if (!*job.target.path)
		hf_say(stderr, "hartfs %s: %s: this is a directory", command, job.shown);
	else
		job.opened = hf_opened_open(settings, job.target.archive, &job.archive);
	*ret_job = job;
}

static int write_job(const struct hf_settings *settings, struct job *job, const char *command)
{
	struct hf_fs *fs = hf_opened_start(settings, &job->archive, false, NULL);
	struct meaning meaning = {.path = NULL};
	int status = HF_EXIT_FAILURE;

	if (!fs)
		return status;
	if (job->all) {
		status = write_infos(fs, settings, job->path);
	} else {
		meaning = resolve_target(fs, settings, &job->target, command, job->shown, strcmp(command, "cat") == 0);
		if (meaning.path)
			status = write_file(fs, meaning.path, meaning.capture, meaning.done, settings, command, job->shown);
		/* That of "info" is about the capture. */
		if (meaning.failed && strcmp(command, "info") == 0)
			status = HF_EXIT_FAILURE;
	}
	hf_fs_close(fs);
	free(meaning.capture);
	free(meaning.path);
	return status;
}

static void close_job(struct job *job)
{
	if (job->opened)
		hf_opened_close(&job->archive);
	target_fini(&job->target);
	free(job->shown);
}

/* Of the jobs that could be opened. */
static bool confine(const struct hf_settings *settings, const struct job *jobs, size_t count)
{
	struct hf_opened *archives = calloc(count, sizeof *archives);
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
	struct job *jobs = calloc(count, sizeof *jobs);
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
	status = calloc(count, sizeof *status);
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
