/* SPDX-License-Identifier: Apache-2.0 */
/* What can be told of a capture without indexing it: hartfs ls. */
#include "fs/capture/ls_line.h"
#include "codecs/base/errors.h"
#include "fs/capture/all.h"
#include "fs/capture/index_wait.h"
#include "fs/capture/recognise.h"
#include "fs/facts/facts.h"
#include "fs/facts/shared.h"
#include "fs/stream/members.h"

static void put_facts(const struct hf_facts *facts, struct hf_fs_ls_line *line)
{
	line->state = hf_facts_has_failed(facts) ? HF_FS_FAILED : HF_FS_INDEXED;
	if (line->state == HF_FS_FAILED)
		hf_facts_failure(facts, line->failure, sizeof line->failure);
	line->harts = facts->hart_count;
	line->problems = facts->known.problems;
	line->instructions = hf_facts_sum(facts).insns;
}

/* The size of the file, or of all files that a description names. */
static uint64_t size_of(struct hf_capture *capture, const struct stat *st)
{
	struct hf_members *members;
	struct stat one;
	uint64_t size = 0;

	pthread_mutex_lock(&capture->lock);
	members = capture->members ? hf_members_ref(capture->members) : NULL;
	pthread_mutex_unlock(&capture->lock);
	if (!members)
		return (uint64_t)st->st_size;
	for (size_t i = 0; i < members->count; i++)
		if (members->path[i] && !hf_archive_stat(capture->shared->archive, members->path[i], &one))
			size += (uint64_t)one.st_size;
	hf_members_unref(members);
	return size;
}

int hf_captures_ls_line(struct hf_captures *all, const char *path, struct hf_fs_ls_line *ret_line)
{
	struct hf_fs_ls_line line = {.format = "", .container = ""};
	struct hf_capture *capture;
	struct hf_facts *facts = NULL;
	struct stat st;
	int err = hf_capture_at(all, path, &capture);

	if (!err)
		err = hf_capture_stat(capture, &st);
	if (err)
		return err;
	err = hf_capture_facts(capture, 0, &facts);
	pthread_mutex_lock(&capture->lock);
	line.format = capture->codec ? capture->codec->name : "";
	line.container = capture->box ? capture->box->name : "";
	pthread_mutex_unlock(&capture->lock);
	line.size = size_of(capture, &st);
	if (facts)
		put_facts(facts, &line);
	hf_facts_unref(facts);
	*ret_line = line;
	return facts || err == HF_ERR_BUSY ? 0 : err;
}
