/* SPDX-License-Identifier: Apache-2.0 */
/* libhartfs: the functions of hartfs.h, on top of fs.h. */
#include "fs/library.h"
#include "codecs/base/errors.h"
#include "codecs/isa/disasm.h"
#include "fs/locate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As hartfs has it for --threads and --jobs. */
#define THREADS_MAX 1024

struct hartfs_archive {
	struct hf_fs *fs;
	char *capture; /* its path, if it was opened as one; NULL */
	size_t event_size;
	struct hf_stop stop;
};

struct hartfs_view {
	struct hartfs_archive *archive;
	char *capture; /* path of the one that it is of; NULL: of none */
	struct hf_file *file;
	uint64_t ino, size;
};

struct hf_fs *hf_library_fs(const struct hartfs_archive *archive)
{
	return archive->fs;
}

unsigned hartfs_version(void)
{
	return HARTFS_VERSION_NUMBER;
}

/* ---- archives ---- */

int hartfs_load(struct hartfs_diag *diag)
{
	const char *why = hf_disasm_load();
	int error;

	if (!why)
		return 0;
	error = hf_library_fail(NULL, NULL, HF_ERR_DISASM, NULL, diag);
	if (diag)
		snprintf(diag->text + strlen(diag->text), sizeof diag->text - strlen(diag->text), ": %s", why);
	return error;
}

static int open_dir(const char *path, const char *what, int *ret_fd, struct hartfs_diag *diag)
{
	int error;

	*ret_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*ret_fd >= 0)
		return 0;
	error = errno == ENOENT || errno == ENOTDIR ? HARTFS_ERROR_NOT_FOUND : HARTFS_ERROR_IO;
	if (diag) {
		const char *why = strerror(errno);

		*diag = (struct hartfs_diag){.error = error, .offset = HARTFS_NOWHERE};
		snprintf(diag->text, sizeof diag->text, "%s %s: %s", what, path, why);
	}
	return error;
}

/* A capture by its name in the file system: the directory in which its archive begins, and its path there. */
static int open_around(struct hartfs_options *options, char **ret_capture, struct hartfs_diag *diag)
{
	char *dir = NULL;
	int error;

	if (!hf_locate(options->capture, true, NULL, NULL, &dir, ret_capture)) {
		error = hf_library_fail(NULL, NULL, errno == ENOMEM ? HF_ERR_NOMEM : HF_ERR_NOT_FOUND, NULL, diag);
		if (diag)
			snprintf(diag->capture, sizeof diag->capture, "%s", options->capture);
	} else {
		error = open_dir(dir, "directory", &options->archive_fd, diag);
	}
	free(dir);
	return error;
}

/* Opens what was given by name. */
static int open_dirs(struct hartfs_options *options, char **ret_capture, struct hartfs_diag *diag)
{
	int error = 0;

	if (options->archive_fd < 0 && options->archive)
		error = open_dir(options->archive, "archive", &options->archive_fd, diag);
	else if (options->archive_fd < 0 && options->capture)
		error = open_around(options, ret_capture, diag);
	else if (options->archive_fd < 0)
		error = hf_library_misuse(diag, "hartfs_options names neither archive nor capture");
	if (!error && options->capture && !*ret_capture && !(*ret_capture = strdup(options->capture)))
		error = hf_library_fail(NULL, NULL, HF_ERR_NOMEM, NULL, diag);
	if (!error && options->index_fd < 0 && options->index && !options->index_error)
		error = open_dir(options->index, "index directory", &options->index_fd, diag);
	if (!error && options->debug_fd < 0 && options->debug_dir)
		error = open_dir(options->debug_dir, "debug directory", &options->debug_fd, diag);
	return error;
}

static void close_dirs(const struct hartfs_options *options)
{
	if (options->archive_fd >= 0)
		close(options->archive_fd);
	if (options->index_fd >= 0)
		close(options->index_fd);
	if (options->debug_fd >= 0)
		close(options->debug_fd);
}

/* Both descriptors are gone then, whatever comes out. */
static int open_fs(struct hartfs_archive *archive, const struct hartfs_options *given, const char *name,
		   struct hartfs_diag *diag)
{
	struct hf_fs_options options = {.archive_fd = given->archive_fd,
					.index_fd = given->index_fd,
					.index_error = given->index_error,
					.index_path = given->index,
					.index_on_disk = given->index_on_disk,
					.archive_path = name,
					.debug_path = given->debug_fd < 0 ? NULL : given->debug_dir ? given->debug_dir : ".",
					.debug_fd = given->debug_fd,
					.pack_below = given->pack_below ? given->pack_below : HF_PACK_BELOW,
					.summary = given->summary,
					.summary_of_indexed = given->summary_of_indexed,
					.sharing = {.publish = given->index_for_group,
						    .trust = given->trusts_group,
						    .trusted = given->trusted_group},
					.all_sums = given->all_checksums,
					.cache_bytes = given->cache_bytes,
					.stream_memory = given->stream_memory,
					.expansion = given->expansion,
					.threads = given->threads,
					.index_threads = given->index_threads,
					.no_index = true,
					.chunk_insns = given->chunk,
					.views = given->views,
					.params = given->params,
					.log = given->log,
					.log_ctx = given->log_ctx,
					.stop = archive->stop.wanted ? &archive->stop : NULL};
	struct hf_fs_place place;
	struct hf_diag own = {0};
	struct stat st;

	if (options.index_fd >= 0 && fstat(options.index_fd, &st) == 0) {
		place = (struct hf_fs_place){.dev = st.st_dev, .ino = st.st_ino};
		options.skip = &place;
		options.skip_count = 1;
	}
	return hf_library_fail(NULL, NULL, hf_fs_open(&options, &archive->fs, &own), &own, diag);
}

/* What the file system would take without a word. */
static int check(const struct hartfs_options *options, struct hartfs_diag *diag)
{
	char why[320];

	if (options->threads > THREADS_MAX || options->index_threads > THREADS_MAX)
		return hf_library_misuse(diag, "hartfs_options asks for more than 1024 threads");
	if (options->views && !hf_fs_knows_views(options->views))
		return hf_library_misuse(diag, "hartfs_options.views names a view that there is not");
	if (options->index_on_disk && options->index_fd < 0 && !options->index_error)
		return hf_library_misuse(diag, "hartfs_options.index_on_disk without an index directory");
	if (hf_fs_check_params(options->archive_fd, options->params, why, sizeof why))
		return hf_library_misuse(diag, why);
	return hartfs_load(diag);
}

/* That what the archive was opened as is a capture, by its own path or that of its view directory. */
static int find_capture(struct hartfs_archive *archive, struct hartfs_diag *diag)
{
	char capture[PATH_MAX], view_dir[PATH_MAX];
	int err = hf_fs_capture_of(archive->fs, archive->capture, capture, view_dir);
	char *own = err ? NULL : strdup(capture);

	if (!err && !own)
		err = HF_ERR_NOMEM;
	if (err)
		return hf_library_fail(archive->fs, archive->capture, err, NULL, diag);
	free(archive->capture);
	archive->capture = own;
	return 0;
}

static int open_archive(struct hartfs_options *options, struct hartfs_archive *archive, struct hartfs_diag *diag)
{
	char *name = NULL;
	int error = open_dirs(options, &archive->capture, diag);

	if (!error)
		error = check(options, diag);
	if (error) {
		close_dirs(options);
		return error;
	}
	if (options->archive)
		name = realpath(options->archive, NULL);
	archive->event_size = options->event_size;
	archive->stop = (struct hf_stop){.wanted = options->stop, .ctx = options->stop_ctx};
	error = open_fs(archive, options, name, diag);
	free(name);
	return error || !archive->capture ? error : find_capture(archive, diag);
}

int hartfs_open(const struct hartfs_options *options, struct hartfs_archive **ret_archive, struct hartfs_diag *diag)
{
	struct hartfs_options known = {.archive_fd = -1, .index_fd = -1, .debug_fd = -1};
	struct hartfs_archive *archive;
	int error;

	*ret_archive = NULL;
	/* What a later library knows more of stays as if it were not asked for. */
	if (options->size < offsetof(struct hartfs_options, stop_ctx) + sizeof options->stop_ctx || !options->event_size)
		return hf_library_misuse(diag, "hartfs_options was not begun with HARTFS_OPTIONS_INIT");
	memcpy(&known, options, options->size < sizeof known ? options->size : sizeof known);
	archive = calloc(1, sizeof *archive);
	if (!archive) {
		close_dirs(&known);
		return hf_library_fail(NULL, NULL, HF_ERR_NOMEM, NULL, diag);
	}
	error = open_archive(&known, archive, diag);
	if (error)
		hartfs_close(archive);
	else
		*ret_archive = archive;
	return error;
}

void hartfs_close(struct hartfs_archive *archive)
{
	if (archive && archive->fs)
		hf_fs_close(archive->fs);
	if (archive)
		free(archive->capture);
	free(archive);
}

/* ---- captures ---- */

/* The path in the archive of the capture that the caller calls path; NULL: it is none, which *ret_error says. */
static const char *capture_called(const struct hartfs_archive *archive, const char *path, int *ret_error,
				  struct hartfs_diag *diag)
{
	*ret_error = archive->capture && *path
			     ? hf_library_misuse(diag, "of a capture that was opened alone the path is empty")
			     : 0;
	return *ret_error ? NULL : archive->capture ? archive->capture : path;
}

int hartfs_each_capture(struct hartfs_archive *archive, const char *under,
			bool (*fn)(void *ctx, const char *path, const char *view_dir), void *ctx,
			struct hartfs_diag *diag)
{
	int error;

	if (!archive->capture)
		return hf_library_fail(archive->fs, NULL, hf_fs_each_capture(archive->fs, under, NULL, fn, ctx), NULL, diag);
	if (capture_called(archive, under, &error, diag))
		fn(ctx, "", "");
	return error;
}

int hartfs_index(struct hartfs_archive *archive, const char *path,
		 bool (*progress)(void *ctx, double percent, uint64_t instructions), void *ctx,
		 struct hartfs_diag *diag)
{
	struct hf_diag own = {0};
	int error;
	const char *capture = capture_called(archive, path, &error, diag);

	if (!capture)
		return error;
	return hf_library_fail(archive->fs, capture, hf_fs_index(archive->fs, capture, progress, ctx, &own), &own,
			       diag);
}

/* A damaged capture has views too, of what could be read. */
static bool is_about_capture(int err)
{
	return hf_err_class(err) == HF_CLASS_corrupt || hf_err_class(err) == HF_CLASS_unsupported ||
	       hf_err_class(err) == HF_CLASS_limit || hf_err_class(err) == HF_CLASS_lost;
}

struct file_giver {
	bool (*fn)(void *ctx, const struct hartfs_file *file);
	void *ctx;
	size_t cut; /* of the paths: what is before those in the view directory */
};

static bool give_file(void *ctx, const struct hartfs_file *file)
{
	const struct file_giver *giver = ctx;
	struct hartfs_file given = *file;

	given.path += giver->cut;
	return giver->fn(giver->ctx, &given);
}

int hartfs_each_file(struct hartfs_archive *archive, const char *path,
		     bool (*fn)(void *ctx, const struct hartfs_file *file), void *ctx, struct hartfs_diag *diag)
{
	char capture[PATH_MAX], view_dir[PATH_MAX];
	struct file_giver giver = {.fn = fn, .ctx = ctx};
	struct hf_diag own = {0};
	int error, err, list_err;
	const char *called = capture_called(archive, path, &error, diag);

	if (!called)
		return error;
	err = hf_fs_capture_of(archive->fs, called, capture, view_dir);
	if (err)
		return hf_library_fail(archive->fs, called, err, NULL, diag);
	err = hf_fs_index(archive->fs, capture, NULL, NULL, &own);
	if (err && !is_about_capture(err))
		return hf_library_fail(archive->fs, capture, err, &own, diag);
	if (archive->capture)
		giver.cut = strlen(view_dir) + 1;
	list_err = hf_fs_each_file(archive->fs, view_dir, give_file, &giver);
	return hf_library_fail(archive->fs, capture, err ? err : list_err, &own, diag);
}

/* ---- views ---- */

/* Not a word against a capture: there is none. The path may be another file of the tree. */
static bool is_nothing(int err)
{
	return err == HF_ERR_NOT_FOUND || err == HF_ERR_UNKNOWN_FORMAT;
}

/* HF_NOTE_END: it is a directory. */
static int open_file(struct hartfs_view *view, const char *path)
{
	struct hf_fs *fs = view->archive->fs;
	struct hf_attr attr;
	bool keep;
	int err = hf_fs_resolve(fs, path, &view->ino);

	if (err)
		return err;
	err = hf_fs_getattr(fs, view->ino, &attr);
	if (!err && S_ISDIR(attr.st.st_mode))
		err = HF_NOTE_END;
	if (!err)
		err = hf_file_open(fs, view->ino, &view->file, &keep);
	/* A text that was made now has the size that it has now. */
	if (!err)
		err = hf_fs_getattr(fs, view->ino, &attr);
	view->size = (uint64_t)attr.st.st_size;
	if (err && view->file)
		hf_file_close(view->file);
	if (err)
		hf_fs_forget(fs, view->ino, 1);
	return err;
}

/* failed: why its capture has no more than info.json, or 0; inner: where path leads to in the view directory, or NULL.
 */
static int open_view(struct hartfs_view *view, const char *path, int failed, const char *inner,
		     const struct hf_diag *own, struct hartfs_diag *diag)
{
	char why[320];
	int err = open_file(view, path);

	if (err == HF_NOTE_END)
		return hf_library_misuse(diag, "this is a directory");
	if (err == HF_ERR_NOT_FOUND && failed)
		err = failed;
	hf_library_fail(view->archive->fs, view->capture, err, own, diag);
	if (err == HF_ERR_NOT_FOUND && inner && diag &&
	    hf_fs_refusal(view->archive->fs, view->capture, inner, why, sizeof why))
		snprintf(diag->text, sizeof diag->text, "there is no such view: %s", why);
	return hf_library_error(err);
}

static int new_view(struct hartfs_archive *archive, const char *capture, struct hartfs_view **ret_view)
{
	struct hartfs_view *view = calloc(1, sizeof *view);

	*ret_view = view;
	if (!view)
		return HF_ERR_NOMEM;
	view->archive = archive;
	if (capture && !(view->capture = strdup(capture))) {
		free(view);
		return HF_ERR_NOMEM;
	}
	return 0;
}

static void free_view(struct hartfs_view *view)
{
	free(view->capture);
	free(view);
}

int hf_library_view_open(struct hartfs_archive *archive, const char *path, hf_tap_fn put,
			 bool (*progress)(void *ctx, double percent, uint64_t insns), void *ctx,
			 struct hartfs_view **ret_view, struct hartfs_diag *diag)
{
	char capture[PATH_MAX], view_dir[PATH_MAX];
	struct hf_diag own = {0};
	struct hartfs_view *view;
	const char *inner = NULL;
	size_t n;
	int error, failed = 0, err = hf_fs_capture_of(archive->fs, path, capture, view_dir);
	const bool of_capture = !err;

	*ret_view = NULL;
	if (err && !is_nothing(err))
		return hf_library_fail(archive->fs, NULL, err, NULL, diag);
	n = of_capture ? strlen(view_dir) : 0;
	/* The capture's own bytes need no index. */
	if (of_capture && strncmp(path, view_dir, n) == 0 && path[n] == '/') {
		inner = path + n + 1;
		failed = hf_fs_index_tapped(archive->fs, capture, inner, put, progress, ctx, &own);
		if (failed && !is_about_capture(failed))
			return hf_library_fail(archive->fs, capture, failed, &own, diag);
	}
	err = new_view(archive, of_capture ? capture : NULL, &view);
	if (err)
		return hf_library_fail(NULL, NULL, err, NULL, diag);
	error = open_view(view, path, failed, inner, &own, diag);
	if (error)
		free_view(view);
	else
		*ret_view = view;
	return error;
}

int hartfs_view_open(struct hartfs_archive *archive, const char *path, struct hartfs_view **ret_view,
		     struct hartfs_diag *diag)
{
	char capture[PATH_MAX], view_dir[PATH_MAX], *full;
	int err, error;

	*ret_view = NULL;
	if (!archive->capture)
		return hf_library_view_open(archive, path, NULL, NULL, NULL, ret_view, diag);
	err = hf_fs_capture_of(archive->fs, archive->capture, capture, view_dir);
	if (!err && asprintf(&full, "%s/%s", view_dir, path) < 0)
		err = HF_ERR_NOMEM;
	if (err)
		return hf_library_fail(archive->fs, archive->capture, err, NULL, diag);
	error = hf_library_view_open(archive, full, NULL, NULL, NULL, ret_view, diag);
	free(full);
	return error;
}

uint64_t hartfs_view_size(const struct hartfs_view *view)
{
	return view->size;
}

/* What went wrong with an open view: that says nothing of why its capture may have no other. */
static int fail(const struct hartfs_view *view, int err, const struct hf_diag *own, struct hartfs_diag *diag)
{
	return hf_library_fail(NULL, view->capture, err, own, diag);
}

int hartfs_view_read(struct hartfs_view *view, uint64_t offset, void *buf, size_t size, size_t *ret_n,
		     struct hartfs_diag *diag)
{
	*ret_n = 0;
	if (offset >= view->size)
		return 0;
	if (size > view->size - offset)
		size = (size_t)(view->size - offset);
	return fail(view, hf_fs_read_wait(view->archive->fs, view->file, offset, buf, size, ret_n), NULL, diag);
}

int hf_library_view_give(struct hartfs_view *view, uint64_t offset, uint64_t size, hf_bytes_fn fn, void *ctx,
			 struct hartfs_diag *diag)
{
	uint64_t n;

	return fail(view, hf_fs_read_each(view->archive->fs, view->file, offset, size, fn, ctx, &n), NULL, diag);
}

static int fail_events(const struct hartfs_view *view, int err, const struct hf_diag *own, struct hartfs_diag *diag)
{
	return err == HF_ERR_UNSUPPORTED ? hf_library_misuse(diag, "this has no instruction of a hart")
					 : fail(view, err, own, diag);
}

/* The caller knows a longer or a shorter struct. */
static int read_resized(struct hartfs_view *view, uint64_t ordinal, uint8_t *to, size_t max, size_t *ret_n,
			struct hf_diag *own)
{
	const size_t step = view->archive->event_size;
	const size_t common = step < sizeof(struct hartfs_event) ? step : sizeof(struct hartfs_event);
	struct hartfs_event ev[64];
	size_t n;
	int err;

	do {
		const size_t want = max - *ret_n < 64 ? max - *ret_n : 64;

		err = hf_file_events(view->file, ordinal, ev, want, &n, own);
		for (size_t i = 0; i < n; i++, to += step) {
			memset(to, 0, step);
			memcpy(to, &ev[i], common);
		}
		*ret_n += n;
		ordinal = n ? ev[n - 1].ordinal + 1 : ordinal;
	} while (!err && n && *ret_n < max);
	return *ret_n ? 0 : err;
}

int hartfs_view_events(struct hartfs_view *view, uint64_t ordinal, struct hartfs_event *ev, size_t max, size_t *ret_n,
		       struct hartfs_diag *diag)
{
	struct hf_diag own = {0};
	int err;

	*ret_n = 0;
	err = view->archive->event_size == sizeof *ev ? hf_file_events(view->file, ordinal, ev, max, ret_n, &own)
						      : read_resized(view, ordinal, (uint8_t *)ev, max, ret_n, &own);
	return fail_events(view, err, &own, diag);
}

int hartfs_view_ordinal(struct hartfs_view *view, uint64_t offset, uint64_t *ret_ordinal, struct hartfs_diag *diag)
{
	*ret_ordinal = 0;
	return fail_events(view, hf_file_ordinal(view->file, offset, ret_ordinal), NULL, diag);
}

void hartfs_view_close(struct hartfs_view *view)
{
	if (!view)
		return;
	hf_file_close(view->file);
	hf_fs_forget(view->archive->fs, view->ino, 1);
	free_view(view);
}
