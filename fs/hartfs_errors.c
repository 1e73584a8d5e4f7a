/* SPDX-License-Identifier: Apache-2.0 */
/* libhartfs: errors of hartfs.h out of those of codecs/base/err.h, and in words. */
#include "codecs/base/errors.h"
#include "fs/hartfs_errors.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static_assert(sizeof((struct hartfs_diag *)NULL)->capture >= PATH_MAX, "any path fits");

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

int hf_library_error(int err)
{
	static const int8_t classes[] = {
		[HF_CLASS_nomem] = HARTFS_ERROR_AGAIN,
		[HF_CLASS_io] = HARTFS_ERROR_IO,
		[HF_CLASS_bug] = HARTFS_ERROR_FAILED,
		[HF_CLASS_state] = HARTFS_ERROR_CHANGED,
		[HF_CLASS_unsupported] = HARTFS_ERROR_UNSUPPORTED,
		[HF_CLASS_limit] = HARTFS_ERROR_DAMAGED,
		[HF_CLASS_corrupt] = HARTFS_ERROR_DAMAGED,
		[HF_CLASS_lost] = HARTFS_ERROR_DAMAGED,
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

int hf_library_misuse(struct hartfs_diag *diag, const char *text)
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
		return hf_library_error(err);
	if (!own || own->code != err)
		own = &nowhere;
	*diag = (struct hartfs_diag){
		.error = hf_library_error(err), .in_file = own->space == HF_SPACE_FILE, .offset = own->offset};
	if (capture)
		snprintf(diag->capture, sizeof diag->capture, "%s", capture);
	if (fs && err == HF_ERR_INDEX_DIR && hf_fs_index_trouble(fs, diag->text + n, sizeof diag->text - n, NULL, NULL))
		memcpy(diag->text, not_indexed, n);
	else if (!fs || !capture || !hf_fs_explain(fs, capture, diag->text, sizeof diag->text))
		say(own, diag);
	return hf_library_error(err);
}
