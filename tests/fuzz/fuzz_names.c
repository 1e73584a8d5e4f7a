/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text as a name: of a slice, of a capture whose view is named after it, of a view, and of a file that a description
 * names. The first byte says how many instructions a hart has, the next what the name is.
 */
#include "fs/stream/members.h"
#include "fs/archive/names.h"
#include "fs/bytes/slice.h"
#include "fs/tree/tree.h"
#include "tests/lib/fuzz.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Read with other means: the only two spellings of a range. */
static void check_slice(const char *name, uint64_t insns)
{
	uint64_t first, last, want_first, want_last;
	const bool is = hf_slice_parse(name, insns, &first, &last);
	char *end, closed[64], open[64];

	if (is)
		MUST(first <= last && last < insns);
	want_first = strtoull(name, &end, 10);
	want_last = *end == '-' && end[1] ? strtoull(end + 1, NULL, 10) : insns - 1;
	snprintf(closed, sizeof closed, "%" PRIu64 "-%" PRIu64, want_first, want_last);
	snprintf(open, sizeof open, "%" PRIu64 "-", want_first);
	MUST(is == (insns && (strcmp(name, closed) == 0 || strcmp(name, open) == 0) && want_first <= want_last &&
		    want_last < insns));
	MUST(!is || (first == want_first && last == want_last));
}

struct search {
	const char *name;
	bool found;
	unsigned count;
};

static bool is_it(void *ctx, const char *name)
{
	struct search *search = ctx;

	MUST(*name && strlen(name) <= NAME_MAX);
	search->count++;
	search->found |= strcmp(name, search->name) == 0;
	return true;
}

static void check_view(const char *name, const struct hf_codec *codec, bool described)
{
	struct search search = {.name = name};
	char view[NAME_MAX + 1];
	const size_t n = hf_name_view(name, codec, described, view);

	MUST(n >= strlen(name) && strlen(view) == (n < NAME_MAX ? n : NAME_MAX));
	if (n <= NAME_MAX) {
		hf_name_origins(view, is_it, &search);
		MUST(search.found && search.count <= HF_NAME_CHAIN + 20);
	}
	for (unsigned salt = 0; salt < HF_NAME_SALTS; salt++) {
		hf_name_substitute(name, codec, described, salt, view);
		MUST(strlen(view) <= NAME_MAX && hf_name_is_substitute(view) && hf_name_substitute_of(view, name));
	}
}

static void check_names(const char *name)
{
	struct search search = {.name = ""};
	char buf[NAME_MAX + 1];

	for (size_t i = 0; hf_codecs[i]; i++) {
		check_view(name, hf_codecs[i], false);
		check_view(name, hf_codecs[i], true);
	}
	MUST(hf_name_elf(name, buf) >= 4);
	hf_name_claim(name);
	if (hf_name_is_substitute(name))
		hf_name_substitute_of(name, "x.stf");
	hf_name_origins(name, is_it, &search);
}

/* A path has no empty component, no "." and no "..". */
static bool is_plain(const char *path)
{
	for (const char *p = path; ; p++) {
		const size_t n = strcspn(p, "/");

		if (!n || (*p == '.' && (n == 1 || (n == 2 && p[1] == '.'))))
			return false;
		p += n;
		if (!*p)
			return true;
	}
}

static void check_resolve(const char *name)
{
	static const char *const inis[] = {"capture.ini", "a/capture.ini", "a/b/c/x.ini"};
	char path[HF_PATH_SIZE], again[HF_PATH_SIZE];

	for (size_t i = 0; i < sizeof inis / sizeof *inis; i++) {
		int err = hf_members_resolve(inis[i], name, path);

		MUST(err == 0 || err == HF_ERR_NOT_FOUND);
		if (err)
			continue;
		MUST(*name != '/' && strlen(path) < HF_PATH_SIZE && is_plain(path));
		MUST(hf_members_resolve("x.ini", path, again) == 0 && strcmp(path, again) == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const uint64_t insns[] = {0, 1, 10, 1000, 4294967296, 10000000000000000000u, UINT64_MAX};
	char *name;

	if (n < 2)
		return 0;
	name = strndup((const char *)bytes + 2, n - 2);
	MUST(name);
	if (bytes[1] % 3 == 0)
		check_slice(name, insns[bytes[0] % 7]);
	else if (bytes[1] % 3 == 1)
		check_resolve(name);
	else if (*name && strlen(name) <= NAME_MAX)
		check_names(name);
	free(name);
	return 0;
}
