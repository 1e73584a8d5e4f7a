/* SPDX-License-Identifier: Apache-2.0 */
/* The views by number: of encoders, the files beside those, and what each one's bytes depend on. */
#include "codecs/base/errors.h"
#include "codecs/isa/disasm.h"
#include "fs/base/views.h"
#include "index/index.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file beside an encoder's own. ops gives it a name and a version and encodes nothing. */
static struct side {
	struct hf_enc_ops ops;
	size_t view;
	const struct hf_side_file *file;
} sides[HF_SIDES_MAX];

const struct hf_enc_ops hf_view_program = {.name = "program", .view = "program.elf", .version = 3};

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

bool hf_view_is_named(size_t view, const char *name, size_t length)
{
	const struct hf_enc_ops *ops = hf_fs_view_ops(view);
	const size_t dir = hf_view_dir(view, NULL);

	return ops && (dir ? dir : strlen(ops->view)) == length && memcmp(ops->view, name, length) == 0;
}

static bool is_name(const char *name, size_t length)
{
	for (size_t i = 0; i < HF_ENC_COUNT; i++)
		if (hf_view_is_named(i, name, length))
			return true;
	return hf_view_is_named(HF_VIEW_PROGRAM, name, length);
}

bool hf_views_known(const char *list)
{
	for (;; list++) {
		const size_t length = strcspn(list, ",");

		if (!is_name(list, length))
			return false;
		list += length;
		if (!*list)
			return true;
	}
}

bool hf_views_name(size_t i, char *buf, size_t size)
{
	const size_t view = i < HF_ENC_COUNT ? i : HF_VIEW_PROGRAM;
	const size_t dir = hf_view_dir(view, NULL);

	if (i > HF_ENC_COUNT)
		return false;
	snprintf(buf, size, "%.*s", dir ? (int)dir : -1, hf_fs_view_ops(view)->view);
	return true;
}

static bool in_list(const char *list, size_t view)
{
	for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
		if (hf_view_is_named(view, at, strcspn(at, ",")))
			return true;
	return false;
}

void hf_views_choose(struct hf_views *views, const char *list)
{
	for (size_t i = 0; i < HF_VIEW_ALL; i++)
		views->wanted[i] = hf_fs_view_ops(i) && (i == HF_VIEW_RECORDS || !list || in_list(list, i));
	/* What is a directory of its own has the program in it. */
	for (size_t i = 0; i < HF_ENC_COUNT; i++)
		views->wanted[HF_VIEW_PROGRAM] |= views->wanted[i] && hf_view_dir(i, NULL);
}

/* ---- what their bytes depend on ---- */

char *hf_params_of(const char *params, const char *view)
{
	const size_t n = strlen(view);
	char *own = calloc(1, params ? strlen(params) + 1 : 1), *p = own;

	while (own && params && *params) {
		const size_t length = strcspn(params, ",");

		if (strncmp(params, view, n) == 0 && params[n] == '.') {
			if (p > own)
				*p++ = ',';
			memcpy(p, params + n + 1, length - n - 1);
			p += length - n - 1;
		}
		params += length + (params[length] == ',');
	}
	return own;
}

/* bbv.bb and bbv-*.bb of profiles, which no encoder makes. */
static const char bbv[] = "bbv";
static const struct hf_param bbv_params[] = {HF_PARAM_READ("modes", hf_modes_read, HF_MODES_WHAT), HF_PARAM_END};

static int check_bbv(const char *params, char *why, size_t size)
{
	uint64_t value[1];

	return hf_params_parse(params, bbv_params, bbv, value, why, size);
}

bool hf_views_taker(size_t i, struct hf_taker *ret_taker)
{
	if (i < HF_ENC_COUNT)
		*ret_taker = (struct hf_taker){hf_views[i]->name, hf_views[i]->check_params};
	else
		*ret_taker = (struct hf_taker){bbv, check_bbv};
	return i <= HF_ENC_COUNT;
}

static int init_bbv(struct hf_views *views, const char *params)
{
	char *own = hf_params_of(params, bbv);
	uint64_t named = 0;
	int err = own ? hf_params_parse(own, bbv_params, bbv, &named, NULL, 0) : HF_ERR_NOMEM;

	views->bbv_modes = hf_modes_of(named);
	free(own);
	return err;
}

/* Only tables of views that are counted say less without all_sums. */
static int init_view(struct hf_views *views, size_t i, const char *params, bool all_sums)
{
	const struct hf_enc_ops *ops = hf_fs_view_ops(i);
	const char *sums;
	size_t view = i;
	int n;

	if (!ops)
		return 0;
	sums = all_sums && (ops->flags & HF_ENC_COUNTS) ? " checksums=all" : "";
	hf_fs_side(i, &view);
	if (view < HF_ENC_COUNT) {
		views->options[i] = hf_params_of(params, hf_views[view]->name);
		if (!views->options[i])
			return HF_ERR_NOMEM;
	}
	n = views->options[i] && *views->options[i]
		    ? asprintf(&views->params[i], "%s%s %s", views->common, sums, views->options[i])
		    : asprintf(&views->params[i], "%s%s", views->common, sums);
	if (n < 0)
		views->params[i] = NULL;
	return n < 0 ? HF_ERR_NOMEM : 0;
}

int hf_views_init(struct hf_views *views, const char *params, uint64_t expansion, bool all_sums)
{
	int n, err = 0;

	if (hf_disasm_load())
		return HF_ERR_DISASM;
	n = snprintf(views->common, sizeof views->common, "disasm=%s", hf_disasm_version());

	if (n > 0 && (size_t)n < sizeof views->common && expansion && expansion != HF_EXPANSION)
		snprintf(views->common + n, sizeof views->common - (size_t)n, " expansion=%llu",
			 (unsigned long long)expansion);
	for (size_t i = 0; i < HF_VIEW_ALL && !err; i++)
		err = init_view(views, i, params, all_sums);
	return err ? err : init_bbv(views, params);
}

void hf_views_fini(struct hf_views *views)
{
	for (size_t i = 0; i < HF_VIEW_ALL; i++) {
		free(views->options[i]);
		free(views->params[i]);
	}
}

size_t hf_views_naming(void)
{
	size_t i = 0;

	while (i < HF_ENC_COUNT && !(hf_views[i]->flags & HF_ENC_SYMBOLS))
		i++;
	return i < HF_ENC_COUNT ? i : HF_VIEW_COUNT;
}

size_t hf_views_merged(void)
{
	size_t i = 0;

	while (i < HF_ENC_COUNT && !(hf_views[i]->flags & HF_ENC_TIMES))
		i++;
	return i < HF_ENC_COUNT ? i : HF_VIEW_COUNT;
}

unsigned hf_views_symbols(const struct hf_views *views)
{
	const size_t view = hf_views_naming();

	return view < HF_ENC_COUNT && hf_views[view]->symbols ? hf_views[view]->symbols(views->options[view]) : 0;
}

const char *hf_view_params(const struct hf_views *views, size_t view)
{
	return views->params[view] ? views->params[view] : views->common;
}
