/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/target.h"

#include "fs/library.h"
#include "fs/locate.h"
#include "mountd/log.h"
#include "mountd/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void hf_target_fini(struct hf_target *target)
{
	free(target->archive);
	free(target->path);
	free(target->view);
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
static bool find_beneath(const struct hf_settings *settings, const char *part, const char *rest, struct hf_target *target)
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
			*target = (struct hf_target){.archive = archive, .path = path};
			archive = NULL;
		}
	}
	free(capture);
	free(archive);
	free(name);
	return ok;
}

bool hf_target_find(const struct hf_settings *settings, const char *path, const char *view, bool as_capture,
		    struct hf_target *ret_target)
{
	const char *rest;
	char *part = existing_part(path, &rest);
	bool ok;

	*ret_target = (struct hf_target){0};
	if (!part)
		return false;
	if (hf_locate_is_directory(part)) {
		ret_target->archive = part;
		if (asprintf(&ret_target->path, "%s%s%s", rest, *rest && view ? "/" : "", view ? view : "") < 0)
			ret_target->path = NULL;
		return ret_target->path && find_beneath(settings, part, rest, ret_target);
	}
	ok = hf_paths_split(settings, part, as_capture || *rest, &ret_target->archive, &ret_target->path);
	free(part);
	if (ok && (view || *rest)) {
		ok = asprintf(&ret_target->view, "%s%s%s", rest, *rest && view ? "/" : "", view ? view : "") >= 0;
		if (!ok)
			ret_target->view = NULL;
	}
	return ok;
}

static int call(const struct hf_settings *settings, const char *command, struct hf_opened *opened, const char *path,
		int (*fn)(void *ctx, struct hf_target_capture *capture), void *ctx, int failed)
{
	struct hf_target_capture capture = {.archive = NULL};
	int err, status = failed;

	if (hf_opened_confine(settings, opened, 1))
		capture.archive = hf_opened_start(settings, opened, false, NULL);
	if (!capture.archive)
		return failed;
	err = hf_fs_capture_of(hf_library_fs(capture.archive), path, capture.path, capture.view_dir);
	if (err)
		hf_paths_explain(command, settings->operands[0], err, NULL);
	else
		status = fn(ctx, &capture);
	hartfs_close(capture.archive);
	return status;
}

int hf_target_run(const struct hf_settings *settings, const char *command, int failed,
		  int (*fn)(void *ctx, struct hf_target_capture *capture), void *ctx)
{
	const char *shown = settings->operands[0];
	struct hf_target target;
	struct hf_opened opened;
	int status = failed;

	if (!hf_target_find(settings, shown, NULL, true, &target)) {
		hf_say(stderr, "hartfs %s: %s: %s", command, shown, hf_why_none());
	} else if (!*target.path) {
		hf_say(stderr, "hartfs %s: %s: this is a directory; hartfs ls lists its captures", command, shown);
	} else if (hf_opened_open(settings, target.archive, &opened)) {
		status = call(settings, command, &opened, target.path, fn, ctx, failed);
		hf_opened_close(&opened);
	}
	hf_target_fini(&target);
	return status;
}

bool hf_target_index(const struct hf_settings *settings, const char *command, const struct hf_target_capture *capture,
		     struct hf_bar *bar)
{
	struct hartfs_diag diag;
	const bool failed = hartfs_index(capture->archive, capture->path, hf_bar_show_indexing, bar, &diag);

	hf_bar_clear(bar);
	if (failed) {
		hf_paths_complain(command, settings->operands[0], &diag);
		return false;
	}
	hf_paths_warn(command, settings->operands[0], hf_library_fs(capture->archive), capture->path);
	hf_bar_begin(bar, settings->verbosity);
	return true;
}

void hf_target_fail(const struct hf_settings *settings, const char *command, const struct hf_target_capture *capture,
		    int err, const char *why)
{
	struct hartfs_diag diag;

	if (*why) {
		hf_say(stderr, "hartfs %s: %s: %s", command, settings->operands[0], why);
		return;
	}
	hf_library_fail(hf_library_fs(capture->archive), capture->path, err, NULL, &diag);
	hf_paths_complain(command, settings->operands[0], &diag);
}

struct harts {
	uint32_t hart;
	bool any, many;
};

static bool count_hart(void *ctx, const struct hartfs_file *file)
{
	struct harts *harts = ctx;

	if (file->hart == HARTFS_NO_HART)
		return true;
	harts->many = harts->any && harts->hart != file->hart;
	harts->any = true;
	harts->hart = file->hart;
	return !harts->many;
}

bool hf_target_has_harts(const struct hf_target_capture *capture, uint32_t *ret_hart)
{
	struct harts harts = {0};

	hartfs_each_file(capture->archive, capture->path, count_hart, &harts, NULL);
	*ret_hart = harts.hart;
	return harts.many;
}
