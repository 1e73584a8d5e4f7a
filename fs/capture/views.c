/* SPDX-License-Identifier: Apache-2.0 */
/* The views by number: of encoders, the files beside those, and what each one's bytes depend on. */
#include "codecs/isa/disasm.h"
#include "fs/core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file beside an encoder's own. ops gives it a name and a version and encodes nothing. */
static struct side {
	struct hf_enc_ops ops;
	size_t view;
	const struct hf_side_file *file;
} sides[HF_SIDES_MAX];

static pthread_once_t sides_once = PTHREAD_ONCE_INIT;

static void find_sides(void)
{
	size_t n = 0;

	for (size_t i = 0; i < HF_ENC_COUNT; i++) {
		const struct hf_enc_ops *ops = hf_views[i];

		for (size_t k = 0; ops->side && ops->side[k].name && n < HF_SIDES_MAX; k++)
			sides[n++] = (struct side){.ops = {.view = ops->side[k].name, .version = ops->version},
						   .view = i,
						   .file = &ops->side[k]};
	}
}

const struct hf_enc_ops *hf_fs_view_ops(size_t view)
{
	if (view < HF_ENC_COUNT)
		return hf_views[view];
	if (view == HF_VIEW_PROGRAM)
		return &hf_view_program;
	if (view == HF_VIEW_RECORDS)
		return &hf_enc_records;
	pthread_once(&sides_once, find_sides);
	return sides[view - HF_VIEW_COUNT].file ? &sides[view - HF_VIEW_COUNT].ops : NULL;
}

const struct hf_side_file *hf_fs_side(size_t view, size_t *ret_view)
{
	if (view < HF_VIEW_COUNT || !hf_fs_view_ops(view))
		return NULL;
	*ret_view = sides[view - HF_VIEW_COUNT].view;
	return sides[view - HF_VIEW_COUNT].file;
}

size_t hf_view_dir(size_t view, const char **ret_name)
{
	const struct hf_enc_ops *ops = hf_fs_view_ops(view);
	const char *slash = ops ? strchr(ops->view, '/') : NULL;

	if (ret_name)
		*ret_name = !ops ? "" : slash ? slash + 1 : ops->view;
	return slash ? (size_t)(slash - ops->view) : 0;
}

/* ---- which are offered ---- */

/* Whether a list of length bytes names the view: by its file, or by its directory. */
static bool names(const char *name, size_t length, size_t view)
{
	const struct hf_enc_ops *ops = hf_fs_view_ops(view);
	const size_t dir = hf_view_dir(view, NULL);

	return ops && (dir ? dir : strlen(ops->view)) == length && memcmp(ops->view, name, length) == 0;
}

bool hf_fs_knows_view(const char *name, size_t length)
{
	for (size_t i = 0; i < HF_ENC_COUNT; i++)
		if (names(name, length, i))
			return true;
	return names(name, length, HF_VIEW_PROGRAM);
}

bool hf_fs_view_name(size_t i, char buf[HF_FS_VIEW_NAME])
{
	const size_t view = i < HF_ENC_COUNT ? i : HF_VIEW_PROGRAM;
	const size_t dir = hf_view_dir(view, NULL);

	if (i > HF_ENC_COUNT)
		return false;
	snprintf(buf, HF_FS_VIEW_NAME, "%.*s", dir ? (int)dir : -1, hf_fs_view_ops(view)->view);
	return true;
}

static bool in_list(const char *list, size_t view)
{
	for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
		if (names(at, strcspn(at, ","), view))
			return true;
	return false;
}

void hf_views_choose(struct hf_fs *fs, const char *list)
{
	for (size_t i = 0; i < HF_VIEW_ALL; i++)
		fs->wanted[i] = hf_fs_view_ops(i) && (i == HF_VIEW_RECORDS || !list || in_list(list, i));
	/* What is a directory of its own has the program in it. */
	for (size_t i = 0; i < HF_ENC_COUNT; i++)
		fs->wanted[HF_VIEW_PROGRAM] |= fs->wanted[i] && hf_view_dir(i, NULL);
}

/* ---- what their bytes depend on ---- */

int hf_views_init(struct hf_fs *fs, const char *params)
{
	int n;

	if (hf_disasm_load())
		return HF_ERR_DISASM;
	n = snprintf(fs->params, sizeof fs->params, "disasm=%s", hf_disasm_version());

	if (n > 0 && (size_t)n < sizeof fs->params && fs->options.expansion && fs->options.expansion != HF_EXPANSION)
		snprintf(fs->params + n, sizeof fs->params - (size_t)n, " expansion=%llu",
			 (unsigned long long)fs->options.expansion);
	for (size_t i = 0; i < HF_VIEW_ALL; i++) {
		size_t view = i;

		hf_fs_side(i, &view);
		if (view >= HF_ENC_COUNT)
			continue;
		fs->view_options[i] = hf_params_of(params, hf_views[view]->name);
		n = fs->view_options[i] && *fs->view_options[i]
			    ? asprintf(&fs->view_params[i], "%s %s", fs->params, fs->view_options[i])
			    : asprintf(&fs->view_params[i], "%s", fs->params);
		if (n < 0)
			fs->view_params[i] = NULL;
		if (!fs->view_options[i] || !fs->view_params[i])
			return HF_ERR_NOMEM;
	}
	return 0;
}

void hf_views_fini(struct hf_fs *fs)
{
	for (size_t i = 0; i < HF_VIEW_ALL; i++) {
		free(fs->view_options[i]);
		free(fs->view_params[i]);
	}
}

const char *hf_view_params(const struct hf_fs *fs, size_t view)
{
	return fs->view_params[view] ? fs->view_params[view] : fs->params;
}
