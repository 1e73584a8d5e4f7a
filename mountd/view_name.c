/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/view_name.h"

#include "codecs/base/nearest.h"
#include "fs/profile/profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So many names are told. */
enum { TOLD = 24 };

struct search {
	const char *name;
	size_t n;	    /* of name, without slashes at its end */
	size_t skip;	    /* of a path: the view directory and a slash */
	uint32_t hart;	    /* whose profiles were looked at last */
	uint64_t insns;	    /* of the hart that the name begins with, or of the first one; 0: of none */
	bool as_directory;  /* those that match are in the directory of that name, */
	bool directories;   /* or are directories that end with it */
	char *path[TOLD];   /* below the view directory, or what is in that one; owned */
	size_t count, told; /* those that match; how many of them are in path */
	struct hf_nearest near;
	char near_name[64]; /* what near has */
};

/* ---- what a name matches ---- */

static bool is_inside(const struct search *s, const char *path)
{
	return strncmp(path, s->name, s->n) == 0 && path[s->n] == '/';
}

/* "flame.svg" and "flame" of "hart0/profile/flame.svg"; "hart0/listing" of "hart0/listing.txt". */
static bool is_end(const struct search *s, const char *path)
{
	for (const char *at = path; at; at = strchr(at, '/')) {
		at += *at == '/';
		if (strncmp(at, s->name, s->n) == 0 && (!at[s->n] || (at[s->n] == '.' && !strchr(at + s->n, '/'))))
			return true;
	}
	return false;
}

/* What "hart0/etrace/trace.bin" has up to the end of "/etrace"; 0: it is not in a directory whose path ends so. */
static size_t directory_end(const struct search *s, const char *path)
{
	for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/'))
		if (is_inside(s, at + 1))
			return (size_t)(at + 1 - path) + s->n;
	return 0;
}

static void forget(struct search *s)
{
	while (s->told)
		free(s->path[--s->told]);
	s->count = 0;
	s->directories = false;
}

/* A name without a slash is compared with the ends of paths. */
static void offer_near(struct search *s, const char *path)
{
	const char *slash = strchr(s->name, '/') ? NULL : strrchr(path, '/'), *name = slash ? slash + 1 : path;

	hf_nearest_offer(&s->near, name, strlen(name));
	if (s->near.name != name)
		return;
	snprintf(s->near_name, sizeof s->near_name, "%s", name);
	s->near.name = s->near_name;
}

static void add(struct search *s, const char *path, size_t n)
{
	for (size_t i = 0; i < s->told; i++)
		if (s->path[i] && strlen(s->path[i]) == n && memcmp(s->path[i], path, n) == 0)
			return;
	if (s->told < TOLD)
		s->path[s->told++] = strndup(path, n);
	s->count++;
}

static void offer(struct search *s, const char *path)
{
	const bool inside = is_inside(s, path), end = is_end(s, path);
	const size_t directory = end || inside ? 0 : directory_end(s, path);

	offer_near(s, path);
	if (directory && (!s->count || s->directories)) {
		s->directories = true;
		add(s, path, directory);
	}
	if (!inside && (s->as_directory || !end))
		return;
	/* A directory of that name is what is meant, whatever else has the name. */
	if (s->directories || (inside && !s->as_directory))
		forget(s);
	s->as_directory = inside;
	path += inside ? s->n + 1 : 0;
	add(s, path, inside ? strcspn(path, "/") + !!strchr(path, '/') : strlen(path));
}

/* Directories list them when they were made. */
static void offer_profiles(struct search *s, uint32_t hart)
{
	char path[HF_PROFILE_PATH];

	for (enum hf_profile_file file = 0; file < HF_PROFILE_FILES; file++)
		if (hf_profile_path(file, hart, path))
			offer(s, path);
}

static bool offer_file(void *ctx, const struct hartfs_file *file)
{
	struct search *s = ctx;
	char hart[24];
	int n;

	offer(s, file->path + s->skip);
	if (file->hart == HARTFS_NO_HART) {
		if (strncmp(file->path + s->skip, "all/", 4) == 0)
			offer_profiles(s, HF_HART_RECORDS);
		return true;
	}
	if (file->hart != s->hart)
		offer_profiles(s, file->hart);
	s->hart = file->hart;
	n = snprintf(hart, sizeof hart, "hart%" PRIu32 "/", file->hart);
	if (!s->insns || strncmp(s->name, hart, (size_t)n) == 0)
		s->insns = file->instructions;
	return true;
}

/* ---- what is said ---- */

/* "hart0/at/...", "at/100", "100-200", "100". */
static bool is_of_slice(const char *name)
{
	return strncmp(name, "at/", 3) == 0 || strstr(name, "/at/") || !name[strspn(name, "0123456789-")];
}

/* Which slices there are. */
static char *tell_slices(const struct search *s)
{
	char *words;

	if (asprintf(&words,
		     "a slice is hartN/at/FIRST-LAST/, with two of the ordinals 0 to %" PRIu64
		     "; hartfs find --ordinals finds some",
		     s->insns - 1) < 0)
		return NULL;
	return words;
}

static char *tell_files(struct search *s)
{
	char *words = NULL;
	size_t size;
	FILE *to = open_memstream(&words, &size);

	if (!to)
		return NULL;
	if (s->as_directory)
		fprintf(to, "%.*s is a directory, with", (int)s->n, s->name);
	else
		fputs("there are several:", to);
	for (size_t i = 0; i < s->told; i++)
		fprintf(to, "%s %s", i ? "," : "", s->path[i] ? s->path[i] : "");
	if (s->count > s->told)
		fprintf(to, " and %zu more", s->count - s->told);
	fclose(to);
	return words;
}

static char *tell_nearest(const struct search *s)
{
	char hint[HF_NEAREST_SIZE], *words;

	hf_nearest_text(&s->near, hint);
	return *hint && asprintf(&words, "there is no such file%s", hint) >= 0 ? words : NULL;
}

bool hf_view_name_find(struct hartfs_archive *archive, const char *capture, const char *view_dir, const char *name,
		       char **ret_path, char **ret_words)
{
	struct search s = {.name = name, .n = strlen(name), .skip = strlen(view_dir) + 1, .hart = HARTFS_NO_HART};
	bool found = false;

	*ret_path = *ret_words = NULL;
	while (s.n && name[s.n - 1] == '/')
		s.n--;
	s.near = (struct hf_nearest){.word = name, .n = s.n};
	hartfs_each_file(archive, capture, offer_file, &s, NULL);
	if (is_of_slice(name) && s.insns)
		*ret_words = tell_slices(&s);
	else if (s.count == 1 && s.directories)
		hf_view_name_find(archive, capture, view_dir, s.path[0], ret_path, ret_words);
	else if (s.count == 1 && !s.as_directory && s.path[0])
		found = asprintf(ret_path, "%s/%s", view_dir, s.path[0]) >= 0;
	else
		*ret_words = s.count ? tell_files(&s) : tell_nearest(&s);
	if (!found)
		*ret_path = NULL;
	forget(&s);
	return found;
}
