/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/archive/names.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

/* Calls fn with each suffix of each codec and container; stops when it returns true. */
static bool each_suffix(bool (*fn)(void *ctx, const char *suffix), void *ctx)
{
	for (size_t i = 0; hf_codecs[i]; i++)
		for (size_t k = 0; hf_codecs[i]->suffixes && hf_codecs[i]->suffixes[k]; k++)
			if (fn(ctx, hf_codecs[i]->suffixes[k]))
				return true;
	for (size_t i = 0; hf_boxes[i]; i++)
		for (size_t k = 0; hf_boxes[i]->suffixes && hf_boxes[i]->suffixes[k]; k++)
			if (fn(ctx, hf_boxes[i]->suffixes[k]))
				return true;
	return false;
}

/* Whether text[at..n) equals the suffix, dots being written as dot. */
static bool same(const char *text, const char *suffix, size_t n, char dot)
{
	for (size_t i = 0; i < n; i++)
		if (text[i] != (suffix[i] == '.' ? dot : suffix[i]))
			return false;
	return true;
}

struct tail {
	const char *name;
	size_t len;   /* of name that is looked at */
	char dot;     /* how the suffix' dots are written in name */
	size_t found; /* length of the longest suffix that name[..len) ends with */
};

static bool match_tail(void *ctx, const char *suffix)
{
	struct tail *tail = ctx;
	size_t n = strlen(suffix);

	/* A name that is nothing but a suffix is a hidden file, not an extension. */
	if (n > tail->found && n < tail->len && same(tail->name + tail->len - n, suffix, n, tail->dot))
		tail->found = n;
	return false;
}

static size_t suffix_length(const char *name, size_t len, char dot)
{
	struct tail tail = {.name = name, .len = len, .dot = dot};

	each_suffix(match_tail, &tail);
	return tail.found;
}

/* Of name without all its extensions. */
static size_t stem_length(const char *name)
{
	size_t stem = strlen(name), n;

	for (unsigned i = 0; i < HF_NAME_CHAIN && (n = suffix_length(name, stem, '.')); i++)
		stem -= n;
	return stem;
}

size_t hf_name_elf(const char *name, char buf[NAME_MAX + 1])
{
	return (size_t)snprintf(buf, NAME_MAX + 1, "%.*s.elf", (int)stem_length(name), name);
}

size_t hf_name_program_dir(const char *name, char buf[NAME_MAX + 1])
{
	return (size_t)snprintf(buf, NAME_MAX + 1, "%.*s.d", (int)stem_length(name), name);
}

size_t hf_name_view(const char *name, const struct hf_codec *codec, bool described, char buf[NAME_MAX + 1])
{
	size_t len = strlen(name), stem = described ? len : stem_length(name);

	snprintf(buf, NAME_MAX + 1, "%s", name);
	for (size_t i = stem; i < len && i < NAME_MAX; i++)
		if (buf[i] == '.')
			buf[i] = '@';
	if (stem < len)
		return len;
	if (len < NAME_MAX)
		snprintf(buf + len, NAME_MAX + 1 - len, "@%s", codec->name);
	return len + 1 + strlen(codec->name);
}

/* Whether name[..len) ends with one of the suffixes; *ret_len is the length without it. */
static bool ends_with(const char *name, size_t len, const char *const *suffixes, size_t *ret_len)
{
	for (size_t i = 0; suffixes && suffixes[i]; i++) {
		size_t n = strlen(suffixes[i]);

		if (n < len && memcmp(name + len - n, suffixes[i], n) == 0) {
			*ret_len = len - n;
			return true;
		}
	}
	return false;
}

const struct hf_codec *hf_name_claim(const char *name)
{
	size_t len = strlen(name), rest;

	for (unsigned chain = 0; chain < HF_NAME_CHAIN; chain++) {
		const struct hf_box *box = NULL;

		for (size_t i = 0; hf_codecs[i]; i++)
			if (ends_with(name, len, hf_codecs[i]->suffixes, &rest))
				return hf_codecs[i];
		for (size_t i = 0; hf_boxes[i] && !box; i++)
			if (ends_with(name, len, hf_boxes[i]->suffixes, &rest))
				box = hf_boxes[i];
		if (!box)
			return NULL;
		if (box->codec)
			return hf_codec_by_name(box->codec);
		len = rest;
	}
	return NULL;
}

enum { TAG = 9 }; /* "~" and 8 hex digits */

void hf_name_substitute(const char *name, const struct hf_codec *codec, bool described, unsigned salt,
			char buf[NAME_MAX + 1])
{
	size_t len = hf_name_view(name, codec, described, buf);

	if (len > NAME_MAX - TAG) {
		len = NAME_MAX - TAG;
		/* Not in the middle of a UTF-8 character. */
		while (len && (buf[len] & 0xc0) == 0x80)
			len--;
	}
	snprintf(buf + len, TAG + 1, "~%08x", (unsigned)XXH3_64bits_withSeed(name, strlen(name), salt));
}

bool hf_name_is_substitute(const char *view)
{
	size_t len = strlen(view);

	return len > TAG && view[len - TAG] == '~' && strspn(view + len - TAG + 1, "0123456789abcdef") == TAG - 1;
}

bool hf_name_substitute_of(const char *view, const char *name)
{
	static const struct hf_codec unknown = {.name = HF_NAME_UNKNOWN};
	char buf[NAME_MAX + 1];

	for (size_t i = 0; i == 0 || hf_codecs[i - 1]; i++)
		for (unsigned salt = 0; salt < 2 * HF_NAME_SALTS; salt++) {
			hf_name_substitute(name, hf_codecs[i] ? hf_codecs[i] : &unknown, salt >= HF_NAME_SALTS,
					   salt % HF_NAME_SALTS, buf);
			if (strcmp(buf, view) == 0)
				return true;
		}
	return false;
}

void hf_name_origins(const char *view, hf_name_fn emit, void *ctx)
{
	size_t len = strlen(view), starts[HF_NAME_CHAIN], count = 0, n;
	char name[NAME_MAX + 1];

	if (len > NAME_MAX)
		return;
	for (size_t at = len; count < HF_NAME_CHAIN && (n = suffix_length(view, at, '@')); at -= n)
		starts[count++] = at - n;
	/* All of the extensions turned back, then all but the first, and so on: "a@stf@xz" may be of "a@stf.xz". */
	while (count) {
		memcpy(name, view, len + 1);
		for (char *s = name + starts[--count]; *s; s++)
			if (*s == '@')
				*s = '.';
		if (!emit(ctx, name))
			return;
	}
	for (size_t i = 0; i == 0 || hf_codecs[i - 1]; i++) {
		const char *format = hf_codecs[i] ? hf_codecs[i]->name : HF_NAME_UNKNOWN;

		n = strlen(format);
		if (len <= n + 1 || view[len - n - 1] != '@' || strcmp(view + len - n, format) != 0)
			continue;
		memcpy(name, view, len - n - 1);
		name[len - n - 1] = '\0';
		if (!emit(ctx, name))
			return;
	}
}
