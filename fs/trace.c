#include "fs/trace.h"

#include "fs/core.h"
#include "fs/members.h"
#include "fs/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Files as they are opened, each counted once. */
struct opener {
	const struct hf_archive *archive;
	struct hf_trace *trace;
	int64_t mtime_ns; /* the latest of all */
	char **seen;
	size_t seen_count;
};

static bool was_seen(const struct opener *o, const char *path)
{
	for (size_t i = 0; i < o->seen_count; i++)
		if (strcmp(o->seen[i], path) == 0)
			return true;
	return false;
}

static int note(struct opener *o, const char *path, struct hf_src *src, const struct stat *st)
{
	struct hf_trace *trace = o->trace;
	int err = hf_setup_room(&trace->parts, trace->part_count, sizeof *trace->parts);

	if (!err)
		err = hf_setup_room(&o->seen, o->seen_count, sizeof *o->seen);
	if (!err)
		err = hf_identity_of(src, hf_time_ns(&st->st_mtim), &trace->parts[trace->part_count], NULL);
	if (err)
		return err;
	o->seen[o->seen_count] = strdup(path);
	if (!o->seen[o->seen_count])
		return HF_ERR_NOMEM;
	o->seen_count++;
	trace->part_count++;
	if (hf_time_ns(&st->st_mtim) > o->mtime_ns)
		o->mtime_ns = hf_time_ns(&st->st_mtim);
	return 0;
}

static int open_member(void *ctx, const char *name, struct hf_src **ret_src, struct hf_diag *diag)
{
	struct opener *o = ctx;
	char path[HF_PATH_SIZE];
	struct stat st;
	int fd, err = hf_members_resolve(o->trace->members->ini, name, path);

	if (!err)
		err = hf_archive_open_file(o->archive, path, &fd, &st);
	if (!err)
		err = hf_archive_source(o->archive, fd, ret_src, diag);
	if (err || was_seen(o, path))
		return err;
	err = note(o, path, *ret_src, &st);
	if (err) {
		hf_src_free(*ret_src);
		*ret_src = NULL;
	}
	return err;
}

/* The file that is wrong, as a path of the archive. */
static void name_file(const char *ini, struct hf_setup_error *error)
{
	char path[HF_PATH_SIZE];

	if (*error->text && !hf_members_resolve(ini, error->file, path))
		snprintf(error->file, sizeof error->file, "%.*s", (int)sizeof error->file - 1, path);
}

static int open_described(const struct hf_archive *archive, const struct hf_stamp *stamp, struct hf_trace *trace,
			  struct hf_setup_error *error)
{
	struct opener own = {.archive = archive, .trace = trace};
	const struct hf_setup_opener opener = {.ctx = &own, .open = open_member};
	char dir[HF_PATH_SIZE];
	int err = hf_setup_read(&opener, hf_path_split(dir, trace->members->ini), &trace->setup, error);

	if (!err)
		err = hf_setup_load(trace->setup, &opener, &trace->file, error);
	name_file(trace->members->ini, error);
	/* Only now: whatever was changed before it was opened shows. */
	if (hf_members_stamp(archive, trace->members) != stamp->beside || err == HF_ERR_NOT_FOUND)
		err = HF_ERR_CHANGED;
	if (!err)
		trace->file->stop = archive->stop;
	if (!err)
		err = hf_identity_of(trace->file, own.mtime_ns, &trace->identity, NULL);
	for (size_t i = 0; i < trace->part_count && !err; i++)
		hf_identity_add(&trace->identity, &trace->parts[i]);
	for (size_t i = 0; i < own.seen_count; i++)
		free(own.seen[i]);
	free(own.seen);
	return err;
}

static int open_single(struct hf_capture *capture, const struct hf_stamp *stamp, struct hf_trace *trace)
{
	struct hf_stamp now;
	struct stat st;
	int fd, err = hf_archive_open_file(&capture->fs->archive, capture->path, &fd, &st);

	if (err)
		return err == HF_ERR_NOT_FOUND ? HF_ERR_CHANGED : err;
	now = hf_stamp_of(&st);
	now.beside = stamp->beside;
	if (!hf_stamp_same(&now, stamp)) {
		close(fd);
		return HF_ERR_CHANGED;
	}
	err = hf_archive_source(&capture->fs->archive, fd, &trace->file, NULL);
	if (err)
		trace->file = NULL;
	return err ? err : hf_identity_of(trace->file, stamp->mtime_ns, &trace->identity, NULL);
}

static int add_expansion(uint64_t expansion, struct hf_trace *trace)
{
	int err;

	if (!expansion || expansion == HF_EXPANSION)
		return 0;
	err = hf_setup_room(&trace->parts, trace->part_count, sizeof *trace->parts);
	if (err)
		return err;
	trace->parts[trace->part_count] = hf_expansion_identity(expansion);
	hf_identity_add(&trace->identity, &trace->parts[trace->part_count++]);
	return 0;
}

int hf_trace_open(struct hf_capture *capture, const struct hf_stamp *stamp, struct hf_trace *ret_trace,
		  struct hf_setup_error *error)
{
	int err;

	*error = (struct hf_setup_error){.line = 0};
	*ret_trace = (struct hf_trace){.file = NULL};
	pthread_mutex_lock(&capture->lock);
	ret_trace->members = hf_members_ref(capture->members);
	pthread_mutex_unlock(&capture->lock);
	err = ret_trace->members ? open_described(&capture->fs->archive, stamp, ret_trace, error)
				 : open_single(capture, stamp, ret_trace);
	if (!err)
		err = add_expansion(capture->fs->options.expansion, ret_trace);
	if (err)
		hf_trace_close(ret_trace);
	else
		ret_trace->file->memory = capture->fs->options.stream_memory;
	return err;
}

void hf_trace_close(struct hf_trace *trace)
{
	hf_src_free(trace->file);
	hf_setup_free(trace->setup);
	free(trace->parts);
	hf_members_unref(trace->members);
	*trace = (struct hf_trace){.file = NULL};
}
