/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/stream/trace.h"
#include "fs/archive/open_files.h"
#include "fs/archive/path.h"
#include "fs/archive/stamp.h"
#include "index/base/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Adds up the files that are opened, each once. */
struct opener {
	const struct hf_trace_ask *ask;
	struct hf_open_files *open_files;
	struct hf_trace *trace;
	int64_t mtime_ns; /* the latest of all */
	bool members_changed; /* a file is no member, or another one than before */
};

static int note(struct opener *o, struct hf_src *src, const struct stat *st)
{
	struct hf_trace *trace = o->trace;
	int err = hf_setup_room(&trace->parts, trace->part_count, sizeof *trace->parts);

	if (!err)
		err = hf_identity_of(src, hf_time_ns(&st->st_mtim), &trace->parts[trace->part_count], NULL);
	if (err)
		return err;
	trace->part_count++;
	if (hf_time_ns(&st->st_mtim) > o->mtime_ns)
		o->mtime_ns = hf_time_ns(&st->st_mtim);
	return 0;
}

static bool same_state(const struct hf_member_state *a, const struct hf_member_state *b)
{
	return a->ino == b->ino && a->size == b->size && a->mtime_ns == b->mtime_ns;
}

static int list_names(void *ctx, int (*fn)(void *fn_ctx, const char *name), void *fn_ctx)
{
	const struct opener *o = ctx;

	return hf_members_list(o->open_files->archive, o->trace->members->ini, fn, fn_ctx);
}

/* It is no member, but another file there makes another capture. */
static int open_debug(void *ctx, const char *path, struct hf_src **ret_src)
{
	struct opener *o = ctx;
	struct stat st;
	int err = o->ask->open_debug ? o->ask->open_debug(o->ask->debug, path, &st, ret_src) : HF_ERR_NOT_FOUND;

	if (!err && (err = note(o, *ret_src, &st))) {
		hf_src_free(*ret_src);
		*ret_src = NULL;
	}
	return err;
}

/* Opens members only, and of each always the same file: the access to the views depends on these. */
static int open_member(void *ctx, const char *name, struct hf_src **ret_src, struct hf_diag *diag)
{
	struct opener *o = ctx;
	const struct hf_members *members = o->trace->members;
	struct hf_member_state state, *opened;
	char path[HF_PATH_SIZE];
	struct stat st;
	size_t i;
	int err = hf_members_resolve(members->ini, name, path);

	(void)diag;
	if (err)
		return err;
	i = hf_members_find_path(members, path);
	if (i == members->count) {
		o->members_changed = true;
		return HF_ERR_CHANGED;
	}
	opened = &o->trace->opened[i];
	err = hf_open_file_as_src(o->open_files, path, &st, ret_src);
	if (err)
		return err;
	state = hf_member_state_of(&st);
	if (opened->opened && !same_state(opened, &state)) {
		hf_src_free(*ret_src);
		*ret_src = NULL;
		o->members_changed = true;
		return HF_ERR_CHANGED;
	}
	if (opened->opened)
		return 0;
	*opened = state;
	err = note(o, *ret_src, &st);
	if (err) {
		hf_src_free(*ret_src);
		*ret_src = NULL;
	}
	return err;
}

int hf_trace_open_member(struct hf_open_files *open_files, const struct hf_trace *trace, const char *name,
			 struct hf_src **ret_src)
{
	struct hf_member_state state;
	char path[HF_PATH_SIZE];
	struct stat st;
	size_t i;
	int err = hf_members_resolve(trace->members->ini, name, path);

	if (!err)
		err = hf_open_file_as_src(open_files, path, &st, ret_src);
	if (err)
		return err == HF_ERR_NOT_FOUND ? HF_ERR_CHANGED : err;
	i = hf_members_find_path(trace->members, path);
	state = hf_member_state_of(&st);
	if (i == trace->members->count || !trace->opened[i].opened || !same_state(&trace->opened[i], &state)) {
		hf_src_free(*ret_src);
		*ret_src = NULL;
		return HF_ERR_CHANGED;
	}
	return 0;
}

/* Makes the path in error one of the archive. */
static void name_file(const char *ini, struct hf_setup_error *error)
{
	char path[HF_PATH_SIZE];

	if (*error->text && !hf_members_resolve(ini, error->file, path))
		snprintf(error->file, sizeof error->file, "%.*s", (int)sizeof error->file - 1, path);
}

static int open_described(const struct hf_trace_ask *ask, struct hf_trace *trace, struct hf_setup_error *error,
			  bool *ret_members_changed)
{
	struct opener own = {.ask = ask, .open_files = ask->open_files, .trace = trace};
	const struct hf_setup_opener opener = {
		.ctx = &own, .open = open_member, .list = list_names, .open_debug = open_debug, .codecs = hf_codecs};
	char dir[HF_PATH_SIZE];
	uint64_t now;
	int stamp_err, err;

	trace->opened = calloc(trace->members->count + 1, sizeof *trace->opened);
	if (!trace->opened)
		return HF_ERR_NOMEM;
	err = hf_setup_read(&opener, hf_path_split(dir, trace->members->ini), &trace->setup, error);
	if (!err)
		err = hf_setup_load(trace->setup, &opener, &trace->file, error);
	name_file(trace->members->ini, error);
	/* Last, and of the opened files: so a change shows even if it was undone meanwhile. */
	stamp_err = hf_members_stamp_opened(ask->archive, trace->members, trace->opened, &now);
	if (stamp_err)
		err = stamp_err;
	else if (own.members_changed || err == HF_ERR_NOT_FOUND || now != ask->stamp->beside)
		err = HF_ERR_CHANGED;
	*ret_members_changed = own.members_changed;
	if (!err)
		trace->file->stop = ask->archive->stop;
	if (!err)
		err = hf_identity_of(trace->file, own.mtime_ns, &trace->identity, NULL);
	for (size_t i = 0; i < trace->part_count && !err; i++)
		hf_identity_add(&trace->identity, &trace->parts[i]);
	return err;
}

static int open_single(const struct hf_trace_ask *ask, struct hf_trace *trace)
{
	const struct hf_stamp *stamp = ask->stamp;
	struct hf_stamp now;
	struct stat st;
	int err = hf_open_file_as_src(ask->open_files, ask->path, &st, &trace->file);

	if (err)
		return err == HF_ERR_NOT_FOUND ? HF_ERR_CHANGED : err;
	now = hf_stamp_of(&st);
	now.beside = stamp->beside;
	now.debug = stamp->debug;
	if (!hf_stamp_same(&now, stamp))
		return HF_ERR_CHANGED;
	return hf_identity_of(trace->file, stamp->mtime_ns, &trace->identity, NULL);
}

static int add_number(struct hf_trace *trace, const char *what, uint64_t number)
{
	int err = hf_setup_room(&trace->parts, trace->part_count, sizeof *trace->parts);

	if (err)
		return err;
	trace->parts[trace->part_count] = hf_identity_of_number(what, number);
	hf_identity_add(&trace->identity, &trace->parts[trace->part_count++]);
	return 0;
}

/* What the files do not say, and events depend on. */
static int add_numbers(uint64_t expansion, struct hf_trace *trace)
{
	const struct hf_codec *reader = trace->setup ? trace->setup->reader : NULL;
	int err = expansion && expansion != HF_EXPANSION ? add_number(trace, "expansion", expansion) : 0;

	return err || !reader ? err : add_number(trace, reader->name, reader->version);
}

int hf_trace_open(const struct hf_trace_ask *ask, struct hf_trace *ret_trace, struct hf_setup_error *error,
		  bool *ret_members_changed)
{
	int err;

	*error = (struct hf_setup_error){.line = 0};
	*ret_members_changed = false;
	*ret_trace = (struct hf_trace){.members = hf_members_ref(ask->members)};
	err = ask->members ? open_described(ask, ret_trace, error, ret_members_changed) : open_single(ask, ret_trace);
	if (!err)
		err = add_numbers(ask->expansion, ret_trace);
	if (err)
		hf_trace_close(ret_trace);
	else
		ret_trace->file->memory = ask->memory;
	return err;
}

void hf_trace_close(struct hf_trace *trace)
{
	hf_src_free(trace->file);
	hf_setup_free(trace->setup);
	free(trace->parts);
	free(trace->opened);
	hf_members_unref(trace->members);
	*trace = (struct hf_trace){.file = NULL};
}
