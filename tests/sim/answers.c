/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/answers.h"

#include "codecs/base/errors.h"
#include "tests/sim/sched.h"

#include <stdio.h>
#include <string.h>

enum { INODES = 512 };

bool sim_may_lack(const struct sim_chosen *chosen, const char *view, unsigned versions)
{
	for (unsigned v = 0; v < SIM_VERSIONS; v++)
		if (versions & 1u << v && *view && !sim_view_of(&chosen->capture->version[v], view))
			return true;
	return versions & 1u << SIM_GONE;
}

static const struct sim_view *view_in(const struct sim_chosen *chosen, unsigned version, const char *view)
{
	return sim_view_of(&chosen->capture->version[version], view);
}

/* While a capture cannot be read its errors.txt says so. */
static bool is_loose(const struct sim_chosen *chosen, const struct sim_view *truth)
{
	const bool fails = chosen->fails || sim_world.short_of_files || sim_world.stopped;

	return truth->loose || (fails && !sim_world.settling && strcmp(truth->path, "errors.txt") == 0);
}

void sim_check_size(const struct sim_chosen *chosen, const char *view, unsigned *versions, const struct hf_attr *attr)
{
	unsigned left = 0;

	for (unsigned v = 0; v < SIM_VERSIONS; v++) {
		const struct sim_view *truth = *view ? view_in(chosen, v, view) : NULL;

		if (!(*versions & 1u << v) || (*view && !truth))
			continue;
		if (!*view || truth->is_dir
			    ? S_ISDIR(attr->st.st_mode)
			    : S_ISREG(attr->st.st_mode) &&
				      (is_loose(chosen, truth) || (uint64_t)attr->st.st_size == truth->bytes.n))
			left |= 1u << v;
	}
	if (!left)
		sim_fail("%s/%s has %lld bytes", chosen->capture->view_dir, view, (long long)attr->st.st_size);
	*versions = left;
}

/* Where they differ first; the size of the read if nowhere. */
static size_t differ(const struct sim_view *truth, const struct hf_read *read)
{
	size_t at = 0;

	for (size_t i = 0; i < read->pieces; i++)
		for (size_t j = 0; j < read->piece[i].size; j++, at++)
			if (read->offset + at >= truth->bytes.n ||
			    read->piece[i].bytes[j] != truth->bytes.p[read->offset + at])
				return at;
	/* Fewer only at the end. */
	return at < read->size && read->offset + at < truth->bytes.n ? at : read->size;
}

void sim_check_bytes(const struct sim_chosen *chosen, const char *view, unsigned *versions, const struct hf_read *read)
{
	unsigned left = 0;
	size_t where = 0, n = 0;

	for (size_t i = 0; i < read->pieces; i++)
		n += read->piece[i].size;
	if (n > read->size)
		sim_fail("%s/%s: %zu bytes of %zu", chosen->capture->view_dir, view, n, read->size);
	for (unsigned v = 0; v < SIM_VERSIONS; v++) {
		const struct sim_view *truth = *versions & 1u << v ? view_in(chosen, v, view) : NULL;
		size_t same;

		if (!truth)
			continue;
		same = is_loose(chosen, truth) ? read->size : differ(truth, read);
		if (same == read->size)
			left |= 1u << v;
		else if (same > where)
			where = same;
	}
	if (!left)
		sim_fail("%s/%s: byte %llu of what was read at %llu is wrong (%zu of %zu came)",
			 chosen->capture->view_dir, view, (unsigned long long)(read->offset + where),
			 (unsigned long long)read->offset, n, read->size);
	sim_world.bytes += n;
	*versions = left;
}

static bool is_listed(const struct sim_names *names, const char *name, size_t n)
{
	for (size_t i = 0; i < names->n; i++)
		if (strlen(names->name[i]) == n && memcmp(names->name[i], name, n) == 0)
			return true;
	return false;
}

/* The name of a view that lies right in dir; NULL: it lies elsewhere. */
static const char *name_in(const struct sim_view *view, const char *dir)
{
	const size_t n = strlen(dir);
	const char *name = view->path;

	if (n && (strncmp(name, dir, n) != 0 || name[n] != '/'))
		return NULL;
	name += n ? n + 1 : 0;
	return strchr(name, '/') ? NULL : name;
}

/* What is listed of that version: 0 nothing else, and with all: all of it. */
static bool is_list_of(const struct sim_version *version, const char *dir, const struct sim_names *names, bool all)
{
	size_t known = 0;

	for (size_t i = 0; i < version->views; i++) {
		const struct sim_view *view = &version->view[i];
		const char *name = name_in(view, dir);

		if (!name || (view->by_name && !strstr(dir, "/at/")))
			continue;
		if (is_listed(names, name, strlen(name)))
			known++;
		else if (all)
			return false;
	}
	return known + (!all && is_listed(names, "INDEXING", 8)) == names->n;
}

void sim_check_names(const struct sim_chosen *chosen, const char *dir, unsigned versions, const struct sim_names *names,
		     bool all)
{
	char text[1200] = "";
	size_t n = 0;

	/* Of profile/ it depends on who looked, and when, which files are made and listed. */
	if (strstr(dir, "/profile"))
		return;
	for (unsigned v = 0; v < SIM_VERSIONS; v++)
		if (versions & 1u << v && is_list_of(&chosen->capture->version[v], dir, names, all))
			return;
	if (versions & 1u << SIM_GONE && !names->n)
		return;
	for (size_t i = 0; i < names->n && n < sizeof text; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, " %s", names->name[i]);
	sim_fail("%s/%s is listed as%s", chosen->capture->view_dir, dir, text);
}

void sim_check_error(const struct sim_chosen *chosen, const char *what, const char *view, int err, unsigned versions)
{
	sim_world.errors++;
	if (err == HF_ERR_BUG || err == HF_ERR_NOMEM)
		sim_fail("%s of %s/%s: %s", what, chosen->capture->view_dir, view, hf_err_name(err));
	if (chosen->fails || chosen->changes || sim_world.stopped || sim_world.short_of_files ||
	    sim_may_lack(chosen, view, versions))
		return;
	/* Not yet. */
	if (strcmp(what, "a look-up") == 0 && (err == HF_ERR_BUSY || err == HF_ERR_NOT_FOUND))
		return;
	if (chosen->stalls && (err == HF_ERR_BUSY || err == HF_ERR_CHANGED) && strcmp(what, "a read") != 0)
		return;
	/* An index that turned out to be damaged is made again. */
	if ((sim_world.rots || sim_world.index_fails) && (err == HF_ERR_BUSY || err == HF_ERR_CHANGED))
		return;
	/* Whoever meets the damage first hears of it, and what is made again is not there for a moment. */
	if (sim_world.rots && (err == HF_ERR_STATE || err == HF_ERR_MISMATCH || err == HF_ERR_NOT_FOUND))
		return;
	if (sim_world.index_fails && err == HF_ERR_INDEX_DIR)
		return;
	sim_fail("%s of %s/%s: %s", what, chosen->capture->view_dir, view, hf_err_name(err));
}

/* What the kernel has cached of each inode. */
static struct {
	uint64_t ino;
	unsigned versions;
} cached[INODES];

void sim_check_keep(uint64_t ino, unsigned versions, bool keep)
{
	const size_t i = ino % INODES;

	if (keep && cached[i].ino == ino && !(cached[i].versions & versions))
		sim_fail("the kernel may keep bytes of another version");
	if (cached[i].ino != ino || !keep)
		cached[i].versions = versions;
	else
		cached[i].versions &= versions;
	cached[i].ino = ino;
}
