/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/setup/ini.h"

#include "codecs/setup/errors.h"

#include <stdlib.h>
#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static char *trim(char *s)
{
	size_t n;

	while (is_blank(*s))
		s++;
	n = strlen(s);
	while (n && is_blank(s[n - 1]))
		n--;
	s[n] = '\0';
	return s;
}

/* Ends s where a comment begins: at ';' or '#', of strict files only behind a blank or at the start. */
static void cut_comment(char *s, bool loose)
{
	char quote = 0;

	for (char *p = s; *p; p++) {
		if (quote) {
			if (*p == quote)
				quote = 0;
		} else if (*p == '"' && (p == s || is_blank(p[-1]) || p[-1] == '=')) {
			quote = strchr(p + 1, *p) ? *p : 0;
		} else if ((*p == ';' || *p == '#') && (loose || p == s || is_blank(p[-1]))) {
			*p = '\0';
			return;
		}
	}
}

/* Whether a line has nothing but text: a control character is no part of a description. */
static bool is_text(const char *s)
{
	for (; *s; s++)
		if (((unsigned char)*s < 0x20 && *s != '\t') || *s == 0x7f)
			return false;
	return true;
}

/* "value" or 'value' without its quotes. */
static char *unquote(char *s)
{
	const size_t n = strlen(s);

	if (n < 2 || (*s != '"' && *s != '\'') || s[n - 1] != *s)
		return s;
	s[n - 1] = '\0';
	return s + 1;
}

static int take_odd(bool loose, struct hf_ini_line *line, hf_ini_fn fn, void *ctx)
{
	int err;

	if (!loose)
		return HF_ERR_SETUP_SYNTAX;
	line->odd = true;
	err = fn(ctx, line);
	line->odd = false;
	return err;
}

/* One line, terminated, without its line break. */
static int take_line(char *s, bool loose, struct hf_ini_line *line, hf_ini_fn fn, void *ctx)
{
	char *equals, *key;

	if (!is_text(s))
		return HF_ERR_SETUP_SYNTAX;
	cut_comment(s, loose);
	s = trim(s);
	if (!*s)
		return 0;
	line->key = line->value = NULL;
	if (*s == '[') {
		char *end = strchr(s, ']');

		if (!end || end[1])
			return take_odd(loose, line, fn, ctx);
		*end = '\0';
		line->section = trim(s + 1);
		return fn(ctx, line);
	}
	equals = strchr(s, '=');
	if (!equals || equals == s)
		return take_odd(loose, line, fn, ctx);
	*equals = '\0';
	key = trim(s);
	line->key = key;
	line->value = trim(equals + 1);
	if (loose)
		line->value = unquote((char *)line->value);
	return fn(ctx, line);
}

int hf_ini_walk(char *text, size_t size, unsigned flags, hf_ini_fn fn, void *ctx, uint32_t *ret_line)
{
	const bool loose = flags & HF_INI_LOOSE;
	struct hf_ini_line line = {.section = ""};
	size_t at = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

	text[size] = '\0';
	for (*ret_line = 0; at < size;) {
		char *s = text + at, *end = memchr(s, '\n', size - at);
		size_t n = end ? (size_t)(end - s) : size - at;
		int err;

		at += n + 1;
		s[n] = '\0';
		line.number = ++*ret_line;
		if (memchr(s, '\0', n))
			return HF_ERR_SETUP_SYNTAX;
		if (n && s[n - 1] == '\r')
			s[n - 1] = '\0';
		err = take_line(s, loose, &line, fn, ctx);
		if (err)
			return err;
	}
	return 0;
}

int hf_ini_load(struct hf_src *src, char **ret_text, size_t *ret_size, struct hf_diag *diag)
{
	char *text;
	int err;

	*ret_text = NULL;
	if (src->size > HF_INI_SIZE_MAX)
		return hf_diag_set(diag, HF_ERR_INI_LIMIT, HF_SPACE_FILE, HF_NOWHERE, 0);
	text = malloc((size_t)src->size + 1);
	if (!text)
		return hf_diag_set(diag, HF_ERR_NOMEM, HF_SPACE_FILE, HF_NOWHERE, 0);
	err = hf_src_read_all(src, 0, text, (size_t)src->size, ret_size, diag);
	if (!err && *ret_size < src->size)
		err = hf_diag_set(diag, HF_ERR_CHANGED, HF_SPACE_FILE, *ret_size, 0);
	if (err) {
		free(text);
		return err;
	}
	*ret_text = text;
	return 0;
}
