/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/tree/control.h"
#include "fs/base/human.h"
#include "fs/base/json.h"
#include "fs/capture/all.h"
#include "fs/facts/info.h"
#include "fs/facts/state.h"
#include "fs/tree/shared.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* Lines of progress.txt, failures in status.json: more captures than this are only counted. */
enum { PROGRESS_LINES = 1000 };

void hf_control_init(struct hf_control *control)
{
	*control = (struct hf_control){0};
	pthread_mutex_init(&control->lock, NULL);
}

static void forget_remarks(struct hf_remarks *remarks)
{
	for (size_t i = 0; i < remarks->count; i++) {
		free(remarks->item[i].path);
		free(remarks->item[i].text);
	}
	free(remarks->item);
	*remarks = (struct hf_remarks){0};
}

void hf_control_fini(struct hf_control *control)
{
	forget_remarks(&control->substitutes);
	forget_remarks(&control->unreached);
	pthread_mutex_destroy(&control->lock);
}

/* With the lock held. */
static bool note(struct hf_remarks *remarks, const char *path, const char *text)
{
	struct hf_remark *slot;

	for (size_t i = 0; i < remarks->count; i++)
		if (strcmp(remarks->item[i].path, path) == 0 && strcmp(remarks->item[i].text, text) == 0)
			return true;
	if (!remarks->item)
		remarks->item = calloc(HF_REMARKS_MAX, sizeof *remarks->item);
	if (remarks->item && remarks->count < HF_REMARKS_MAX) {
		slot = &remarks->item[remarks->count];
		*slot = (struct hf_remark){.path = strdup(path), .text = strdup(text)};
		if (slot->path && slot->text) {
			remarks->count++;
			return true;
		}
		free(slot->path);
		free(slot->text);
	}
	remarks->more++;
	return false;
}

void hf_control_substitute(struct hf_control *control, const char *path, const char *name)
{
	HF_LOCKED(&control->lock);
	note(&control->substitutes, path, name);
}

void hf_control_search_begins(struct hf_control *control)
{
	HF_LOCKED(&control->lock);
	forget_remarks(&control->unreached);
}

bool hf_control_unreached(struct hf_control *control, const char *dir, const char *name, int err)
{
	const struct hf_diag diag = {.code = err, .offset = HF_NOWHERE};
	char path[PATH_MAX + NAME_MAX + 2], text[HF_DIAG_SIZE];

	snprintf(path, sizeof path, "%s%s%s", dir, *dir && name ? "/" : "", name ? name : "");
	hf_diag_format(&diag, text, sizeof text);
	HF_LOCKED(&control->lock);
	return note(&control->unreached, path, text);
}

size_t hf_tree_unreached(struct hf_tree *tree, void (*fn)(void *ctx, const char *path, const char *why), void *ctx)
{
	struct hf_control *control = &tree->control;
	size_t count;

	HF_LOCKED(&control->lock);
	count = control->unreached.count + control->unreached.more;
	for (size_t i = 0; fn && i < control->unreached.count; i++)
		fn(ctx, control->unreached.item[i].path, control->unreached.item[i].text);
	return count;
}

static void put_remarks(struct hf_control *control, struct hf_json *json, const struct hf_remarks *remarks,
			const char *name, const char *path_name, const char *text_name)
{
	char complete[64];

	HF_LOCKED(&control->lock);
	hf_json_open(json, name, '[');
	for (size_t i = 0; i < remarks->count; i++) {
		hf_json_open(json, NULL, '{');
		hf_json_string(json, path_name, remarks->item[i].path);
		hf_json_string(json, text_name, remarks->item[i].text);
		hf_json_close(json, '}');
	}
	hf_json_close(json, ']');
	snprintf(complete, sizeof complete, "%s_complete", name);
	hf_json_bool(json, complete, !remarks->more);
}

struct failures {
	struct hf_json *json;
	size_t count;
};

static void put_failure(void *ctx, struct hf_capture *capture)
{
	struct failures *failures = ctx;
	struct hf_diag diag;
	char text[HF_FAILURE_SIZE];

	if (!hf_capture_failure(capture, &diag, text, sizeof text) || failures->count++ >= PROGRESS_LINES)
		return;
	hf_json_open(failures->json, NULL, '{');
	hf_json_string(failures->json, "capture", capture->path);
	hf_json_string(failures->json, "error", text);
	hf_json_close(failures->json, '}');
}

static void put_failures(struct hf_tree *tree, struct hf_json *json)
{
	struct failures failures = {.json = json};

	hf_json_open(json, "failed_captures", '[');
	hf_captures_each(tree->captures, put_failure, &failures);
	hf_json_close(json, ']');
	hf_json_bool(json, "failed_captures_complete", failures.count <= PROGRESS_LINES);
}

static void put_index_dir(const struct hf_captures_stats *captures, struct hf_json *json)
{
	const struct hf_index_dir_stats *stats = &captures->index_dir;
	char text[HF_FAULT_SIZE];
	struct tm tm;

	hf_json_open(json, "index_directory", '{');
	if (captures->index_path)
		hf_json_string(json, "path", captures->index_path);
	hf_json_string(json, "state", stats->failing ? "failing" : "ok");
	if (stats->failing) {
		hf_fault_format(&stats->fault, text, sizeof text);
		hf_json_string(json, "error", text);
		gmtime_r(&stats->since, &tm);
		strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
		hf_json_string(json, "since", text);
	}
	hf_json_u64(json, "memory_limit", stats->memory.limit);
	hf_json_u64(json, "memory_bytes", stats->memory.bytes);
	hf_json_u64(json, "memory_files", stats->memory.files);
	hf_json_close(json, '}');
}

void hf_control_status(struct hf_tree *tree, struct hf_sink *sink)
{
	struct hf_cache_stats stats;
	struct hf_captures_stats captures;
	struct hf_json json;

	hf_cache_get_stats(tree->common->cache, &stats);
	hf_captures_get_stats(tree->captures, &captures);
	hf_json_begin(&json, sink);
	hf_json_open(&json, NULL, '{');
	hf_json_string(&json, "version", HARTFS_VERSION);
	if (tree->common->options.sandbox)
		hf_json_string(&json, "sandbox", tree->common->options.sandbox);
	if (captures.params_wrong)
		hf_json_string(&json, "hartfs_conf", captures.params_wrong);
	hf_json_bool(&json, "searching", captures.searching);
	hf_json_open(&json, "captures", '{');
	for (int i = 0; i < HF_CAPTURE_GONE; i++)
		hf_json_u64(&json, hf_capture_state_name((enum hf_capture_state)i), captures.count.state[i]);
	hf_json_close(&json, '}');
	hf_json_open(&json, "cache", '{');
	hf_json_u64(&json, "limit", tree->common->options.cache_bytes);
	hf_json_u64(&json, "bytes", stats.bytes);
	hf_json_u64(&json, "hits", stats.hits);
	hf_json_u64(&json, "misses", stats.misses);
	hf_json_u64(&json, "waits", stats.waits);
	hf_json_u64(&json, "evicted", stats.evicted);
	hf_json_close(&json, '}');
	put_index_dir(&captures, &json);
	put_failures(tree, &json);
	put_remarks(&tree->control, &json, &tree->control.substitutes, "substitute_names", "capture", "view_directory");
	put_remarks(&tree->control, &json, &tree->control.unreached, "not_searched", "path", "error");
	hf_json_close(&json, '}');
	hf_json_end(&json);
}

struct lines {
	struct hf_sink *sink;
	size_t count;
	enum hf_capture_state state;
};

/* One line of a capture that is in that state. */
static void put_line(void *ctx, struct hf_capture *capture)
{
	struct lines *lines = ctx;
	char left[32], line[96];
	int n = 0;

	pthread_mutex_lock(&capture->lock);
	if (capture->state == lines->state && lines->count++ < PROGRESS_LINES) {
		hf_info_duration(hf_capture_seconds_left(capture), left, sizeof left);
		n = snprintf(line, sizeof line, "%5.1f%% %8s  ", hf_capture_percent(capture),
			     capture->paused_ns			    ? "aside"
			     : lines->state == HF_CAPTURE_INDEXING ? left
								   : hf_capture_state_name(lines->state));
	}
	pthread_mutex_unlock(&capture->lock);
	if (!n)
		return;
	hf_sink_write(lines->sink, line, (size_t)n);
	hf_human_path(lines->sink, capture->path);
	hf_sink_write(lines->sink, "\n", 1);
}

void hf_control_progress(struct hf_tree *tree, struct hf_sink *sink)
{
	static const enum hf_capture_state states[] = {HF_CAPTURE_INDEXING, HF_CAPTURE_QUEUED, HF_CAPTURE_WAITING};
	struct lines lines = {.sink = sink};
	char line[64];

	for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
		lines.state = states[i];
		hf_captures_each(tree->captures, put_line, &lines);
	}
	if (lines.count > PROGRESS_LINES) {
		int n = snprintf(line, sizeof line, "and %zu more\n", lines.count - PROGRESS_LINES);

		hf_sink_write(sink, line, (size_t)n);
	}
}
