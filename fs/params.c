#include "fs/params.h"

#include "codecs/codec.h"
#include "codecs/setup/ini.h"
#include "codecs/setup/read.h"
#include "fs/fs.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What one codec may be told: hf_view_key.params has a limit too. */
enum { PARAMS_MAX = 3072 };

/* The parameters as they come in, each "codec.key=value". */
struct list {
	char **row; /* owned */
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

/* Bytes of "codec.key=", by which rows are the same; 0: the row is none. */
static size_t key_length(const char *row)
{
	const size_t codec = strspn(row, "abcdefghijklmnopqrstuvwxyz0123456789");
	const size_t key = row[codec] == '.'
				   ? strspn(row + codec + 1, "abcdefghijklmnopqrstuvwxyz0123456789_") : 0;

	return codec && key && row[codec + 1 + key] == '=' ? codec + key + 2 : 0;
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
static int add(struct list *list, char *row, size_t first)
{
	const size_t n = row ? key_length(row) : 0;
	int err = row ? 0 : HF_ERR_NOMEM;

	if (row && (!n || !is_value(row + n)))
		err = refuse(list, "'%s' is not VIEW.key=value", row);
	for (size_t i = 0; i < list->count && !err; i++) {
		if (strncmp(list->row[i], row, n) != 0)
			continue;
		if (i >= first)
			err = refuse(list, "'%.*s' is given twice", (int)n - 1, row);
		free(row);
		return err;
	}
	if (!err)
		err = hf_setup_room(&list->row, list->count, sizeof *list->row);
	if (err)
		free(row);
	else
		list->row[list->count++] = row;
	return err;
}

static int take_given(struct list *list, const char *given)
{
	int err = 0;

	while (given && *given && !err) {
		const size_t n = strcspn(given, ",");

		err = add(list, strndup(given, n), 0);
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
	char *row;
	int err;

	if (!line->key)
		return refuse(conf->list, HF_PARAMS_FILE ":%u: it has no sections", (unsigned)line->number);
	if (asprintf(&row, "%s=%s", line->key, line->value) < 0)
		return HF_ERR_NOMEM;
	err = add(conf->list, row, conf->first);
	return err == HF_ERR_SETUP_VALUE
		       ? refuse(conf->list, HF_PARAMS_FILE ":%u: '%s = %s' is no VIEW.key = value, or there twice",
				(unsigned)line->number, line->key, line->value)
		       : err;
}

static int take_file(struct list *list, const struct hf_archive *archive)
{
	struct conf conf = {list, list->count};
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
		refuse(list, HF_PARAMS_FILE " cannot be read");
	} else {
		err = hf_ini_walk(text, size, 0, take_line, &conf, &line);
		if (err == HF_ERR_SETUP_SYNTAX)
			refuse(list, HF_PARAMS_FILE ":%u: this is no 'VIEW.key = value'", (unsigned)line);
	}
	hf_src_free(src);
	free(text);
	return err;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The codec knows what its view takes. */
static int check(const struct list *list, const char *params)
{
	for (size_t i = 0; i < list->count; i++) {
		const size_t n = strcspn(list->row[i], ".");
		const struct hf_codec *codec = NULL;

		for (size_t k = 0; hf_codecs[k] && !codec; k++)
			if (strlen(hf_codecs[k]->name) == n && memcmp(hf_codecs[k]->name, list->row[i], n) == 0)
				codec = hf_codecs[k];
		if (!codec || !codec->enc || !codec->enc->check_params)
			return refuse(list, "'%s': there is no view %.*s with parameters", list->row[i], (int)n,
				      list->row[i]);
	}
	for (size_t k = 0; hf_codecs[k]; k++) {
		const struct hf_enc_ops *ops = hf_codecs[k]->enc;
		char *own = ops && ops->check_params ? hf_params_of(params, hf_codecs[k]->name) : NULL;
		char why[256] = "no such parameter or value";
		int err = 0;

		if (own && *own)
			err = strlen(own) > PARAMS_MAX ? refuse(list, "%s: too many parameters", hf_codecs[k]->name)
						       : ops->check_params(own, why, sizeof why);
		free(own);
		if (err)
			return refuse(list, "%s: %s", hf_codecs[k]->name, why);
	}
	return 0;
}

/* Rows end to end with commas between. */
static char *join(const struct list *list)
{
	size_t size = 1;
	char *text, *p;

	for (size_t i = 0; i < list->count; i++)
		size += strlen(list->row[i]) + 1;
	p = text = malloc(size);
	if (!text)
		return NULL;
	for (size_t i = 0; i < list->count; i++)
		p += snprintf(p, size - (size_t)(p - text), "%s%s", i ? "," : "", list->row[i]);
	*p = '\0';
	return text;
}

int hf_params_read(const struct hf_archive *archive, const char *given, char **ret_params, char *why, size_t size)
{
	struct list list = {.why = why, .size = size};
	int err = take_given(&list, given);

	*ret_params = NULL;
	if (!err && archive)
		err = take_file(&list, archive);
	if (!err && list.count)
		qsort(list.row, list.count, sizeof *list.row, by_text);
	if (!err) {
		*ret_params = join(&list);
		err = *ret_params ? check(&list, *ret_params) : HF_ERR_NOMEM;
	}
	if (err == HF_ERR_NOMEM)
		refuse(&list, "out of memory");
	if (err) {
		free(*ret_params);
		*ret_params = NULL;
	}
	for (size_t i = 0; i < list.count; i++)
		free(list.row[i]);
	free(list.row);
	return err;
}

char *hf_params_of(const char *params, const char *codec)
{
	const size_t n = strlen(codec);
	char *own = calloc(1, params ? strlen(params) + 1 : 1), *p = own;

	while (own && params && *params) {
		const size_t length = strcspn(params, ",");

		if (strncmp(params, codec, n) == 0 && params[n] == '.') {
			if (p > own)
				*p++ = ',';
			memcpy(p, params + n + 1, length - n - 1);
			p += length - n - 1;
		}
		params += length + (params[length] == ',');
	}
	return own;
}

int hf_fs_check_params(int archive_fd, const char *given, char *why, size_t size)
{
	const struct hf_archive archive = {.fd = archive_fd};
	char *params;
	int err = hf_params_read(archive_fd < 0 ? NULL : &archive, given, &params, why, size);

	free(params);
	return err;
}
