#include "fs/control.h"
#include "fs/core.h"
#include "fs/info.h"
#include "fs/json.h"

#include <stdio.h>
#include <stdlib.h>

/* Lines of progress.txt, failures in status.json: more captures than this are only counted. */
enum { PROGRESS_LINES = 1000 };

void hf_control_init(struct hf_control *control)
{
	*control = (struct hf_control){0};
	pthread_mutex_init(&control->lock, NULL);
}

void hf_control_fini(struct hf_control *control)
{
	for (size_t i = 0; i < control->count; i++) {
		free(control->substitute[i].path);
		free(control->substitute[i].name);
	}
	free(control->substitute);
	pthread_mutex_destroy(&control->lock);
}

/* With the lock held. */
static bool note(struct hf_control *control, const char *path, const char *name)
{
	struct hf_substitute *slot;

	for (size_t i = 0; i < control->count; i++)
		if (strcmp(control->substitute[i].path, path) == 0 && strcmp(control->substitute[i].name, name) == 0)
			return true;
	if (!control->substitute)
		control->substitute = calloc(HF_SUBSTITUTES_MAX, sizeof *control->substitute);
	if (!control->substitute || control->count == HF_SUBSTITUTES_MAX)
		return false;
	slot = &control->substitute[control->count];
	slot->path = strdup(path);
	slot->name = strdup(name);
	if (!slot->path || !slot->name) {
		free(slot->path);
		free(slot->name);
		return false;
	}
	control->count++;
	return true;
}

void hf_control_substitute(struct hf_control *control, const char *path, const char *name)
{
	pthread_mutex_lock(&control->lock);
	if (!note(control, path, name))
		control->more++;
	pthread_mutex_unlock(&control->lock);
}

static void put_substitutes(struct hf_control *control, struct hf_json *json)
{
	pthread_mutex_lock(&control->lock);
	hf_json_open(json, "substitute_names", '[');
	for (size_t i = 0; i < control->count; i++) {
		hf_json_open(json, NULL, '{');
		hf_json_string(json, "capture", control->substitute[i].path);
		hf_json_string(json, "view_directory", control->substitute[i].name);
		hf_json_close(json, '}');
	}
	hf_json_close(json, ']');
	hf_json_bool(json, "substitute_names_complete", !control->more);
	pthread_mutex_unlock(&control->lock);
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

static void put_failures(struct hf_fs *fs, struct hf_json *json)
{
	struct failures failures = {.json = json};

	hf_json_open(json, "failed_captures", '[');
	hf_captures_each(&fs->captures, put_failure, &failures);
	hf_json_close(json, ']');
	hf_json_bool(json, "failed_captures_complete", failures.count <= PROGRESS_LINES);
}

void hf_control_status(struct hf_fs *fs, struct hf_sink *sink)
{
	struct hf_cache_stats stats;
	struct hf_capture_count count;
	struct hf_json json;
	size_t walking;

	hf_cache_get_stats(fs->cache, &stats);
	hf_captures_count(&fs->captures, &count);
	pthread_mutex_lock(&fs->jobs.lock);
	walking = fs->jobs.walking;
	pthread_mutex_unlock(&fs->jobs.lock);
	hf_json_begin(&json, sink);
	hf_json_open(&json, NULL, '{');
	hf_json_string(&json, "version", HARTFS_VERSION);
	if (fs->options.sandbox)
		hf_json_string(&json, "sandbox", fs->options.sandbox);
	hf_json_bool(&json, "searching", walking > 0);
	hf_json_open(&json, "captures", '{');
	for (int i = 0; i < HF_CAPTURE_GONE; i++)
		hf_json_u64(&json, hf_capture_state_name((enum hf_capture_state)i), count.state[i]);
	hf_json_close(&json, '}');
	hf_json_open(&json, "cache", '{');
	hf_json_u64(&json, "limit", fs->options.cache_bytes);
	hf_json_u64(&json, "bytes", stats.bytes);
	hf_json_u64(&json, "hits", stats.hits);
	hf_json_u64(&json, "misses", stats.misses);
	hf_json_u64(&json, "waits", stats.waits);
	hf_json_u64(&json, "evicted", stats.evicted);
	hf_json_close(&json, '}');
	put_failures(fs, &json);
	put_substitutes(&fs->control, &json);
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
			     lines->state == HF_CAPTURE_QUEUED ? "queued" : left);
	}
	pthread_mutex_unlock(&capture->lock);
	if (!n)
		return;
	hf_sink_write(lines->sink, line, (size_t)n);
	hf_info_path(lines->sink, capture->path);
	hf_sink_write(lines->sink, "\n", 1);
}

void hf_control_progress(struct hf_fs *fs, struct hf_sink *sink)
{
	static const enum hf_capture_state states[] = {HF_CAPTURE_INDEXING, HF_CAPTURE_QUEUED};
	struct lines lines = {.sink = sink};
	char line[64];

	for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
		lines.state = states[i];
		hf_captures_each(&fs->captures, put_line, &lines);
	}
	if (lines.count > PROGRESS_LINES) {
		int n = snprintf(line, sizeof line, "and %zu more\n", lines.count - PROGRESS_LINES);

		hf_sink_write(sink, line, (size_t)n);
	}
}
