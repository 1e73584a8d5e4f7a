/* SPDX-License-Identifier: Apache-2.0 */
/* Filling a setup row by row, and saying what is wrong. */
#include "codecs/base/array.h"
#include "codecs/codec.h"
#include "codecs/setup/ini.h"
#include "codecs/setup/read.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What does not fit says so. */
static void put_text(char *text, size_t size, const char *format, va_list args)
{
	static const char cut[] = " [cut here]";
	const int n = vsnprintf(text, size, format, args);

	if (n > 0 && (size_t)n >= size)
		memcpy(text + size - sizeof cut, cut, sizeof cut);
}

int hf_setup_fail(struct hf_setup_error *error, int code, const char *file, uint32_t line, const char *format, ...)
{
	va_list args;

	if (!error)
		return code;
	snprintf(error->file, sizeof error->file, "%s", file);
	error->line = line;
	va_start(args, format);
	put_text(error->text, sizeof error->text, format, args);
	va_end(args);
	return code;
}

int hf_setup_no_room(struct hf_setup_error *error, int err, const char *file, uint32_t line)
{
	const char *text =
		err == HF_ERR_LIMIT ? "too many lines: 4096 files, or 4096 values, are allowed" : "out of memory";

	return hf_setup_fail(error, err, file, line, "%s", text);
}

int hf_setup_read_text(const struct hf_setup_opener *opener, const char *name, char **ret_text, size_t *ret_size,
		       struct hf_setup_error *error)
{
	struct hf_src *src = NULL;
	int err = opener->open(opener->ctx, name, &src, NULL);

	if (!err)
		err = hf_ini_load(src, ret_text, ret_size, NULL);
	if (err)
		hf_setup_fail(error, err, name, 0, "it cannot be read: %s", hf_err_text(err, (char[HF_DIAG_SIZE]){0}));
	hf_src_free(src);
	return err;
}

int hf_setup_room(void *rows, size_t count, size_t size)
{
	return count < HF_SETUP_ROWS_MAX ? hf_array_room(rows, count, size) : HF_ERR_LIMIT;
}

/* A file that is looked at for several harts is said to be odd once. */
static bool is_said(const struct hf_setup *setup, const char *file, uint32_t line, const char *text)
{
	for (size_t i = 0; i < setup->warning_count; i++)
		if (setup->warnings[i].line == line && strcmp(setup->warnings[i].text, text) == 0 &&
		    strcmp(setup->warnings[i].file, file) == 0)
			return true;
	return false;
}

int hf_setup_warn(struct hf_setup *setup, const char *file, uint32_t line, const char *format, ...)
{
	struct hf_setup_warning warning = {.line = line};
	char text[256];
	va_list args;
	int err;

	va_start(args, format);
	put_text(text, sizeof text, format, args);
	va_end(args);
	if (is_said(setup, file, line, text))
		return 0;
	err = hf_setup_room(&setup->warnings, setup->warning_count, sizeof warning);
	if (err == HF_ERR_LIMIT)
		return 0;
	/* More of them help nobody, but that there are some does. */
	if (setup->warning_count == HF_SETUP_ROWS_MAX - 1) {
		snprintf(text, sizeof text, "this and more problems of the description: only the first %u are told",
			 HF_SETUP_ROWS_MAX - 1);
		warning.line = 0;
	}
	warning.file = strdup(file);
	warning.text = strdup(text);
	if (err || !warning.file || !warning.text) {
		free((char *)warning.file);
		free((char *)warning.text);
		return HF_ERR_NOMEM;
	}
	setup->warnings[setup->warning_count++] = warning;
	return 0;
}

int hf_setup_add_value(struct hf_setup *setup, uint32_t hart, const char *key, const char *value, const char *file,
		       uint32_t line)
{
	struct hf_setup_value row = {.hart = hart, .line = line};
	int err = hf_setup_room(&setup->values, setup->value_count, sizeof row);

	if (err)
		return err;
	row.key = strdup(key);
	row.value = strdup(value);
	row.file = strdup(file);
	setup->values[setup->value_count++] = row;
	return row.key && row.value && row.file ? 0 : HF_ERR_NOMEM;
}

int hf_setup_add_part(struct hf_setup *setup, uint32_t hart, const char *name, const char *framing)
{
	struct hf_setup_part row = {.hart = hart, .size = HF_NOWHERE};
	int err = hf_setup_room(&setup->parts, setup->part_count, sizeof row);

	if (err)
		return err;
	row.name = strdup(name);
	row.framing = strdup(framing);
	setup->parts[setup->part_count++] = row;
	return row.name && row.framing ? 0 : HF_ERR_NOMEM;
}

int hf_setup_add_file(struct hf_setup *setup, const struct hf_setup_file *file)
{
	struct hf_setup_file row = *file;
	int err = hf_setup_room(&setup->files, setup->file_count, sizeof row);

	if (err)
		return err;
	row.name = strdup(file->name);
	row.said_in = strdup(file->said_in);
	setup->files[setup->file_count++] = row;
	return row.name && row.said_in ? 0 : HF_ERR_NOMEM;
}

int hf_setup_add_fact(struct hf_setup *setup, const char *name, const char *value)
{
	struct hf_setup_fact row = {.name = NULL};
	int err = hf_setup_room(&setup->facts, setup->fact_count, sizeof row);

	if (err)
		return err;
	row.name = strdup(name);
	row.value = strdup(value);
	setup->facts[setup->fact_count++] = row;
	return row.name && row.value ? 0 : HF_ERR_NOMEM;
}

const struct hf_codec *hf_setup_codec(const struct hf_setup_opener *opener, const char *name)
{
	for (size_t i = 0; opener->codecs[i]; i++)
		if (strcmp(opener->codecs[i]->name, name) == 0)
			return opener->codecs[i];
	return NULL;
}
