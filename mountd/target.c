/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/target.h"

#include "fs/locate.h"
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
