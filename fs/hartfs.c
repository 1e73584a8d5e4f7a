/* SPDX-License-Identifier: Apache-2.0 */
/* libhartfs: the functions of hartfs.h, on top of fs.h. */
#include "fs/hartfs.h"
#include "fs/library.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static_assert(sizeof((struct hartfs_diag *)NULL)->capture >= PATH_MAX, "any path fits");

struct hartfs_archive {
	struct hf_fs *fs;
	size_t event_size;
	struct hf_stop stop;
};

struct hartfs_view {
	struct hartfs_archive *archive;
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

/* ---- errors ---- */

const char *hartfs_error_text(int error)
{
	static const char *const texts[] = {
		[-HARTFS_OK] = "no error",
		[-HARTFS_ERROR_MISUSE] = "this cannot be asked",
		[-HARTFS_ERROR_NOT_FOUND] = "there is no such file or view",
		[-HARTFS_ERROR_CHANGED] = "the capture changed: open its view again",
		[-HARTFS_ERROR_STOPPED] = "stopped",
		[-HARTFS_ERROR_AGAIN] = "something is short or in use: try again later",
		[-HARTFS_ERROR_DAMAGED] = "the capture is damaged",
		[-HARTFS_ERROR_UNSUPPORTED] = "the capture is of a kind that is not supported",
		[-HARTFS_ERROR_IO] = "reading failed",
		[-HARTFS_ERROR_INDEX] = "the index directory failed",
		[-HARTFS_ERROR_FAILED] = "an error of the library",
	};

	return error <= 0 && error >= HARTFS_ERROR_FAILED ? texts[-error] : texts[-HARTFS_ERROR_FAILED];
}

/* The public error of one of errors.def. */
static int error_of(int err)
{
	static const int8_t classes[] = {
		[HF_CLASS_nomem] = HARTFS_ERROR_AGAIN,
		[HF_CLASS_io] = HARTFS_ERROR_IO,
		[HF_CLASS_bug] = HARTFS_ERROR_FAILED,
		[HF_CLASS_state] = HARTFS_ERROR_CHANGED,
		[HF_CLASS_unsupported] = HARTFS_ERROR_UNSUPPORTED,
		[HF_CLASS_limit] = HARTFS_ERROR_DAMAGED,
		[HF_CLASS_corrupt] = HARTFS_ERROR_DAMAGED,
	};

	switch (err) {
	case HF_OK:
		return HARTFS_OK;
	case HF_ERR_CANCELLED:
		return HARTFS_ERROR_STOPPED;
	case HF_ERR_BUSY:
		return HARTFS_ERROR_AGAIN;
	case HF_ERR_INDEX_DIR:
		return HARTFS_ERROR_INDEX;
	case HF_ERR_NOT_FOUND:
	case HF_ERR_PATH_LENGTH:
	case HF_ERR_UNKNOWN_FORMAT:
		return HARTFS_ERROR_NOT_FOUND;
	default:
		return classes[hf_err_class(err)];
	}
}

static int misuse(struct hartfs_diag *diag, const char *text)
{
	if (diag) {
		*diag = (struct hartfs_diag){.error = HARTFS_ERROR_MISUSE, .offset = HARTFS_NOWHERE};
		snprintf(diag->text, sizeof diag->text, "%s", text);
	}
	return HARTFS_ERROR_MISUSE;
}

/* err in words, as far as no more is known than itself. */
static void say(const struct hf_diag *own, struct hartfs_diag *diag)
{
	if (own->code == HF_ERR_UNKNOWN_FORMAT)
		snprintf(diag->text, sizeof diag->text, "this is not a capture (bare packets need a capture.ini)");
	else if (own->code == HF_ERR_NOT_FOUND)
		snprintf(diag->text, sizeof diag->text, "there is no such file");
	else
		hf_diag_format(own, diag->text, sizeof diag->text);
}

int hf_library_fail(struct hf_fs *fs, const char *capture, int err, const struct hf_diag *own, struct hartfs_diag *diag)
{
	const struct hf_diag nowhere = {.code = err, .offset = HF_NOWHERE};
	static const char not_indexed[] = "not indexed: ";
	const size_t n = sizeof not_indexed - 1;

	if (!err || !diag)
		return error_of(err);
	if (!own || own->code != err)
		own = &nowhere;
	*diag = (struct hartfs_diag){
		.error = error_of(err), .in_file = own->space == HF_SPACE_FILE, .offset = own->offset};
	if (capture)
		snprintf(diag->capture, sizeof diag->capture, "%s", capture);
	if (fs && err == HF_ERR_INDEX_DIR && hf_fs_index_trouble(fs, diag->text + n, sizeof diag->text - n, NULL, NULL))
		memcpy(diag->text, not_indexed, n);
	else if (!capture || !hf_fs_explain(fs, capture, diag->text, sizeof diag->text))
		say(own, diag);
	return error_of(err);
}

/* ---- archives ---- */

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

/* Opens what was given by name. */
static int open_dirs(struct hartfs_options *options, struct hartfs_diag *diag)
{
	int error = 0;

	if (options->archive_fd < 0)
		error = options->archive ? open_dir(options->archive, "archive", &options->archive_fd, diag)
					 : misuse(diag, "hartfs_options names no archive");
	if (!error && options->index_fd < 0 && options->index && !options->index_error)
		error = open_dir(options->index, "index directory", &options->index_fd, diag);
	return error;
}

static void close_dirs(const struct hartfs_options *options)
{
	if (options->archive_fd >= 0)
		close(options->archive_fd);
	if (options->index_fd >= 0)
		close(options->index_fd);
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

static int open_archive(struct hartfs_options *options, struct hartfs_archive *archive, struct hartfs_diag *diag)
{
	char *name = NULL, why[320];
	int error = open_dirs(options, diag);

	if (!error && hf_fs_check_params(options->archive_fd, options->params, why, sizeof why))
		error = misuse(diag, why);
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
	return error;
}

int hartfs_open(const struct hartfs_options *given, struct hartfs_archive **ret_archive, struct hartfs_diag *diag)
{
	struct hartfs_options options = {.archive_fd = -1, .index_fd = -1};
	struct hartfs_archive *archive;
	int error;

	*ret_archive = NULL;
	/* What a later library knows more of stays as if it were not asked for. */
	if (given->size < offsetof(struct hartfs_options, stop_ctx) + sizeof given->stop_ctx || !given->event_size)
		return misuse(diag, "hartfs_options was not begun with HARTFS_OPTIONS_INIT");
	memcpy(&options, given, given->size < sizeof options ? given->size : sizeof options);
	archive = calloc(1, sizeof *archive);
	if (!archive) {
		close_dirs(&options);
		return hf_library_fail(NULL, NULL, HF_ERR_NOMEM, NULL, diag);
	}
	error = open_archive(&options, archive, diag);
	if (error)
		free(archive);
	else
		*ret_archive = archive;
	return error;
}

void hartfs_close(struct hartfs_archive *archive)
{
	if (archive)
		hf_fs_close(archive->fs);
	free(archive);
}

int hartfs_each_capture(struct hartfs_archive *archive, const char *under,
			bool (*fn)(void *ctx, const char *path, const char *view_dir), void *ctx)
{
	return error_of(hf_fs_each_capture(archive->fs, under, fn, ctx));
}

int hartfs_index(struct hartfs_archive *archive, const char *path,
		 bool (*progress)(void *ctx, double percent, uint64_t instructions), void *ctx,
		 struct hartfs_diag *diag)
{
	struct hf_diag own = {0};
	int err = hf_fs_index(archive->fs, path, progress, ctx, &own);

	return hf_library_fail(archive->fs, path, err, &own, diag);
}

/* ---- views ---- */

/* Not a word against a capture: there is none. The path may be another file of the tree. */
static bool is_nothing(int err)
{
	return err == HF_ERR_NOT_FOUND || err == HF_ERR_UNKNOWN_FORMAT;
}

/* A damaged capture has views too, of what could be read. */
static bool is_about_capture(int err)
{
	return hf_err_class(err) == HF_CLASS_corrupt || hf_err_class(err) == HF_CLASS_unsupported ||
	       hf_err_class(err) == HF_CLASS_limit;
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

static int open_view(struct hartfs_view *view, const char *path, const char *capture, struct hartfs_diag *diag)
{
	int err = open_file(view, path);

	return err == HF_NOTE_END ? misuse(diag, "this is a directory")
				  : hf_library_fail(view->archive->fs, capture, err, NULL, diag);
}

int hf_library_view_open(struct hartfs_archive *archive, const char *path, hf_tap_fn put,
			 bool (*progress)(void *ctx, double percent, uint64_t insns), void *ctx,
			 struct hartfs_view **ret_view, struct hartfs_diag *diag)
{
	char capture[PATH_MAX], view_dir[PATH_MAX];
	struct hf_diag own = {0};
	struct hartfs_view *view;
	size_t n;
	int error, err = hf_fs_capture_of(archive->fs, path, capture, view_dir);
	const bool of_capture = !err;

	*ret_view = NULL;
	if (err && !is_nothing(err))
		return hf_library_fail(archive->fs, NULL, err, NULL, diag);
	n = of_capture ? strlen(view_dir) : 0;
	/* The capture's own bytes need no index. */
	if (of_capture && strncmp(path, view_dir, n) == 0 && path[n] == '/') {
		err = hf_fs_index_tapped(archive->fs, capture, path + n + 1, put, progress, ctx, &own);
		if (err && !is_about_capture(err))
			return hf_library_fail(archive->fs, capture, err, &own, diag);
	}
	view = calloc(1, sizeof *view);
	if (!view)
		return hf_library_fail(NULL, NULL, HF_ERR_NOMEM, NULL, diag);
	view->archive = archive;
	error = open_view(view, path, of_capture ? capture : NULL, diag);
	if (error)
		free(view);
	else
		*ret_view = view;
	return error;
}

int hartfs_view_open(struct hartfs_archive *archive, const char *path, struct hartfs_view **ret_view,
		     struct hartfs_diag *diag)
{
	return hf_library_view_open(archive, path, NULL, NULL, NULL, ret_view, diag);
}

uint64_t hartfs_view_size(const struct hartfs_view *view)
{
	return view->size;
}

int hartfs_view_read(struct hartfs_view *view, uint64_t offset, void *buf, size_t size, size_t *ret_n)
{
	*ret_n = 0;
	if (offset >= view->size)
		return 0;
	if (size > view->size - offset)
		size = (size_t)(view->size - offset);
	return error_of(hf_fs_read_wait(view->archive->fs, view->file, offset, buf, size, ret_n));
}

int hf_library_view_give(struct hartfs_view *view, uint64_t offset, uint64_t size, hf_bytes_fn fn, void *ctx,
			 struct hartfs_diag *diag)
{
	struct hf_fs *fs = view->archive->fs;
	uint64_t n;

	return hf_library_fail(fs, NULL, hf_fs_read_each(fs, view->file, offset, size, fn, ctx, &n), NULL, diag);
}

/* What the view has none of is asked for in error. */
static int event_error(int err)
{
	return err == HF_ERR_UNSUPPORTED ? HARTFS_ERROR_MISUSE : error_of(err);
}

/* The caller knows a longer or a shorter struct. */
static int read_resized(struct hartfs_view *view, uint64_t ordinal, uint8_t *to, size_t max, size_t *ret_n)
{
	const size_t step = view->archive->event_size;
	const size_t common = step < sizeof(struct hartfs_event) ? step : sizeof(struct hartfs_event);
	struct hartfs_event ev[64];
	size_t n;
	int err;

	do {
		const size_t want = max - *ret_n < 64 ? max - *ret_n : 64;

		err = hf_file_events(view->file, ordinal, ev, want, &n);
		for (size_t i = 0; i < n; i++, to += step) {
			memset(to, 0, step);
			memcpy(to, &ev[i], common);
		}
		*ret_n += n;
		ordinal = n ? ev[n - 1].ordinal + 1 : ordinal;
	} while (!err && n && *ret_n < max);
	return *ret_n ? 0 : err;
}

int hartfs_view_events(struct hartfs_view *view, uint64_t ordinal, struct hartfs_event *ev, size_t max, size_t *ret_n)
{
	*ret_n = 0;
	if (view->archive->event_size != sizeof *ev)
		return event_error(read_resized(view, ordinal, (uint8_t *)ev, max, ret_n));
	return event_error(hf_file_events(view->file, ordinal, ev, max, ret_n));
}

int hartfs_view_ordinal(struct hartfs_view *view, uint64_t offset, uint64_t *ret_ordinal)
{
	*ret_ordinal = 0;
	return event_error(hf_file_ordinal(view->file, offset, ret_ordinal));
}

void hartfs_view_close(struct hartfs_view *view)
{
	if (!view)
		return;
	hf_file_close(view->file);
	hf_fs_forget(view->archive->fs, view->ino, 1);
	free(view);
}
