/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/archive/params.h"

#include "codecs/base/errors.h"
#include "codecs/base/nearest.h"
#include "codecs/codec.h"
#include "codecs/setup/errors.h"
#include "codecs/setup/ini.h"
#include "codecs/setup/read.h"
#include "fs/base/views.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What one view may be told: hf_view_key.params has a limit too. */
enum { PARAMS_MAX = 3072 };

/* So long what was seen of hartfs.conf's rights holds. */
#define CONF_NS INT64_C(1000000000)

/* One parameter as it came in. */
struct row {
	char *text; /* "view.key=value", owned */
	char *from; /* "hartfs.conf:3: ", "-o ", owned: what stands before it in messages */
};

struct list {
	struct row *row;
	size_t count;
	char *why;
	size_t size;
};

__attribute__((format(printf, 2, 3))) static int refuse(const struct list *list, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (list->size)
		vsnprintf(list->why, list->size, format, args);
	va_end(args);
	return HF_ERR_SETUP_VALUE;
}

static int refuse_row(const struct list *list, const struct row *row, const char *why)
{
	return refuse(list, "%s%.80s: %s", row->from, row->text, why);
}

/* Bytes of "view.key=", by which rows are the same; 0: the row is none. */
static size_t key_length(const char *row)
{
	const size_t view = strspn(row, "abcdefghijklmnopqrstuvwxyz0123456789");
	const size_t key = row[view] == '.'
				   ? strspn(row + view + 1, "abcdefghijklmnopqrstuvwxyz0123456789_") : 0;

	return view && key && row[view + 1 + key] == '=' ? view + key + 2 : 0;
}

static bool is_value(const char *value)
{
	if (!*value)
		return false;
	for (; *value; value++)
		if ((unsigned char)*value <= ' ' || *value == ',' || *value == 0x7f)
			return false;
	return true;
}

/* Takes row. One of the same key stays if it was there before the first of these. */
static int take(struct list *list, struct row *row, size_t first)
{
	const size_t n = key_length(row->text);

	if (!n || !is_value(row->text + n))
		return refuse_row(list, row, "it is not VIEW.key=value");
	for (size_t i = 0; i < list->count; i++) {
		if (strncmp(list->row[i].text, row->text, n) != 0)
			continue;
		if (i >= first)
			return refuse_row(list, row, "it is given twice");
		return 0;
	}
	if (hf_setup_room(&list->row, list->count, sizeof *list->row))
		return HF_ERR_NOMEM;
	list->row[list->count++] = *row;
	*row = (struct row){NULL, NULL};
	return 0;
}

/* Takes both strings, which may be NULL for want of memory. */
static int add(struct list *list, char *from, char *text, size_t first)
{
	struct row row = {text, from};
	int err = from && text ? take(list, &row, first) : HF_ERR_NOMEM;

	free(row.text);
	free(row.from);
	return err;
}

static int take_given(struct list *list, const char *given)
{
	int err = 0;

	while (given && *given && !err) {
		const size_t n = strcspn(given, ","), blank = strcspn(given, " ");
		const size_t from = blank < n ? blank + 1 : 0;

		err = add(list, strndup(given, from), strndup(given + from, n - from), 0);
		given += n + (given[n] == ',');
	}
	return err;
}

struct conf {
	struct list *list;
	size_t first;
};

static int take_line(void *ctx, const struct hf_ini_line *line)
{
	struct conf *conf = ctx;
	char *row, *from;

	if (!line->key)
		return refuse(conf->list, HF_PARAMS_FILE ":%u: [%.40s]: it has no sections, but lines VIEW.key = value",
			      (unsigned)line->number, line->section);
	if (asprintf(&row, "%s=%s", line->key, line->value) < 0)
		return HF_ERR_NOMEM;
	if (asprintf(&from, HF_PARAMS_FILE ":%u: ", (unsigned)line->number) < 0)
		from = NULL;
	return add(conf->list, from, row, conf->first);
}

static int take_file(struct list *list, const struct hf_archive *archive, struct hf_access *access)
{
	struct conf conf = {list, list->count};
	const size_t before = list->count;
	struct hf_src *src = NULL;
	char *text = NULL;
	size_t size;
	struct stat st;
	uint32_t line;
	int fd, err;

	if (hf_archive_stat(archive, HF_PARAMS_FILE, &st) == HF_ERR_NOT_FOUND)
		return 0;
	err = hf_archive_open_file(archive, HF_PARAMS_FILE, &fd, &st);
	if (!err)
		err = hf_src_file_new(fd, &src, NULL);
	if (!err)
		err = hf_ini_load(src, &text, &size, NULL);
	if (err) {
		refuse(list, HF_PARAMS_FILE ": it cannot be read");
	} else {
		err = hf_ini_walk(text, size, 0, take_line, &conf, &line);
		if (err == HF_ERR_SETUP_SYNTAX)
			refuse(list, HF_PARAMS_FILE ":%u: this is no 'VIEW.key = value'", (unsigned)line);
	}
	if (!err && access && list->count > before)
		hf_access_add(access, &st);
	hf_src_free(src);
	free(text);
	return err;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct row *)a)->text, ((const struct row *)b)->text);
}

/* Rows end to end with commas between, but not that at left_out. */
static char *join(const struct list *list, size_t left_out)
{
	size_t size = 1;
	char *text, *p;

	for (size_t i = 0; i < list->count; i++)
		size += strlen(list->row[i].text) + 1;
	p = text = malloc(size);
	if (!text)
		return NULL;
	for (size_t i = 0; i < list->count; i++)
		if (i != left_out)
			p += snprintf(p, size - (size_t)(p - text), "%s%s", p > text ? "," : "", list->row[i].text);
	*p = '\0';
	return text;
}

/* ---- what the views say of them ---- */

static bool is_of(const struct row *row, const struct hf_taker *view)
{
	const size_t n = strlen(view->name);

	return strncmp(row->text, view->name, n) == 0 && row->text[n] == '.';
}

/* Each is of a view that has parameters. */
static int check_views(const struct list *list)
{
	const char *known[HF_ENC_COUNT + 2] = {NULL};
	struct hf_taker view;
	size_t n = 0;

	for (size_t k = 0; hf_views_taker(k, &view); k++)
		if (view.check)
			known[n++] = view.name;
	for (size_t i = 0; i < list->count; i++) {
		const int size = (int)strcspn(list->row[i].text, ".");
		char hint[HF_NEAREST_SIZE], why[160];
		bool found = false;

		for (size_t k = 0; !found && hf_views_taker(k, &view); k++)
			found = view.check && is_of(&list->row[i], &view);
		if (found)
			continue;
		hf_nearest_hint(list->row[i].text, (size_t)size, known, hint);
		snprintf(why, sizeof why, "there is no view %.*s with parameters%s", size < 40 ? size : 40,
			 list->row[i].text, hint);
		return refuse_row(list, &list->row[i], why);
	}
	return 0;
}

/* Whether the view takes its parameters of these: 0, HF_ERR_SETUP_VALUE or HF_ERR_NOMEM. */
static int ask(const struct hf_taker *view, const char *params, char *why, size_t size)
{
	char *own = params ? hf_params_of(params, view->name) : NULL;
	int err = own ? 0 : HF_ERR_NOMEM;

	snprintf(why, size, "no such parameter or value");
	if (own && strlen(own) > PARAMS_MAX)
		snprintf(why, size, "too many parameters");
	if (own && *own)
		err = strlen(own) > PARAMS_MAX ? HF_ERR_SETUP_VALUE : view->check(own, why, size);
	free(own);
	return err;
}

/* Whose fault it is that the view does not take its parameters as they are: that without which it takes the others, or
 * that which it does not take alone, or the first. why says the reason for all; it becomes that for the row alone. */
static const struct row *culprit(const struct list *list, const struct hf_taker *view, char *why, size_t size)
{
	const struct row *first = NULL;
	char other[256];

	for (size_t i = 0; i < list->count; i++) {
		char *rest = is_of(&list->row[i], view) ? join(list, i) : NULL;
		const bool cured = rest && !ask(view, rest, other, sizeof other);

		free(rest);
		if (cured)
			return &list->row[i];
	}
	for (size_t i = 0; i < list->count; i++) {
		if (!is_of(&list->row[i], view))
			continue;
		if (ask(view, list->row[i].text, other, sizeof other)) {
			snprintf(why, size, "%s", other);
			return &list->row[i];
		}
		first = first ? first : &list->row[i];
	}
	return first;
}

/* Each view knows what it takes. */
static int check(const struct list *list, const char *params)
{
	int err = check_views(list);
	struct hf_taker view;

	for (size_t k = 0; !err && hf_views_taker(k, &view); k++) {
		const struct row *row;
		char why[256];

		if (!view.check)
			continue;
		err = ask(&view, params, why, sizeof why);
		row = err && err != HF_ERR_NOMEM ? culprit(list, &view, why, sizeof why) : NULL;
		if (row)
			err = refuse_row(list, row, why);
	}
	return err;
}

int hf_params_read(const struct hf_archive *archive, const char *given, char **ret_params, struct hf_access *ret_access,
		   char *why, size_t size)
{
	struct list list = {.why = why, .size = size};
	int err = take_given(&list, given);

	*ret_params = NULL;
	if (ret_access)
		*ret_access = (struct hf_access){0};
	if (!err && archive)
		err = take_file(&list, archive, ret_access);
	if (!err && list.count)
		qsort(list.row, list.count, sizeof *list.row, by_text);
	if (!err) {
		*ret_params = join(&list, SIZE_MAX);
		err = *ret_params ? check(&list, *ret_params) : HF_ERR_NOMEM;
	}
	if (err == HF_ERR_NOMEM)
		refuse(&list, "out of memory");
	if (err) {
		free(*ret_params);
		*ret_params = NULL;
	}
	for (size_t i = 0; i < list.count; i++) {
		free(list.row[i].text);
		free(list.row[i].from);
	}
	free(list.row);
	return err;
}

void hf_params_join_access(struct hf_params_access *own, const struct hf_archive *archive, struct hf_access *access)
{
	const int64_t now_ns = hf_now_ns();
	struct stat st;

	if (!own->read.some)
		return;
	hf_access_join(access, &own->read);
	HF_LOCKED(&own->lock);
	if (!own->now_ns || now_ns - own->now_ns > CONF_NS) {
		int err = hf_archive_stat(archive, HF_PARAMS_FILE, &st);

		own->now = (struct hf_access){0};
		own->now_ns = now_ns;
		if (!err)
			hf_access_add(&own->now, &st);
		else if (err != HF_ERR_NOT_FOUND)
			hf_access_close(&own->now);
	}
	hf_access_join(access, &own->now);
}

int hf_params_check(int archive_fd, const char *given, char *why, size_t size)
{
	const struct hf_archive archive = {.fd = archive_fd};
	char *params;
	int err = hf_params_read(archive_fd < 0 ? NULL : &archive, given, &params, NULL, why, size);

	free(params);
	return err;
}
