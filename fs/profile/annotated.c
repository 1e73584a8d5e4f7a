/* SPDX-License-Identifier: Apache-2.0 */
/* annotated/FILE: what was executed of each line of a source file, beside the text of the line if that is to be had. */
#include "fs/capture/source_text.h"
#include "fs/profile/sources.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct line {
	uint32_t number;
	uint64_t count; /* executions of all its instructions */
	uint64_t most;	/* of the one that was executed most often */
};

static int by_number(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

/* The number of the file of that name; 0: nothing of it was executed. */
static uint32_t find_file(const struct hf_sources *sources, const char *name)
{
	for (uint32_t i = 1; i < sources->file_count; i++)
		if (sources->file[i].size == strlen(name) &&
		    !memcmp(sources->file[i].name, name, sources->file[i].size))
			return i;
	return 0;
}

/* Its lines that were executed, by number. */
static size_t collect(const struct hf_profiled *of, const struct hf_sources *sources, uint32_t file, struct line *line)
{
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < of->counts->n; i++) {
		const uint64_t count = of->counts->row[i].count;

		if (sources->row[i].file == file)
			line[n++] = (struct line){sources->row[i].line, count, count};
	}
	if (n)
		qsort(line, n, sizeof *line, by_number);
	for (size_t i = 0; i < n; i++) {
		if (!kept || line[kept - 1].number != line[i].number) {
			line[kept++] = line[i];
			continue;
		}
		line[kept - 1].count += line[i].count;
		if (line[kept - 1].most < line[i].most)
			line[kept - 1].most = line[i].most;
	}
	return kept;
}

/* line: NULL if nothing of it was executed. */
static void put_counts(uint64_t number, const struct line *line, struct hf_sink *sink)
{
	if (line)
		hf_sink_printf(sink, "%14" PRIu64 " %14" PRIu64 " %7" PRIu64 " |", line->count, line->most, number);
	else
		hf_sink_printf(sink, "%14s %14s %7" PRIu64 " |", "-", "-", number);
}

/* Tabs stay, other control characters become "?". */
static void put_text(const char *text, size_t n, struct hf_sink *sink)
{
	if (n)
		hf_sink_printf(sink, " ");
	for (size_t i = 0; i < n; i++) {
		const bool shown = (unsigned char)text[i] >= ' ' ? text[i] != 0x7f : text[i] == '\t';

		hf_sink_write(sink, shown ? &text[i] : "?", 1);
	}
	hf_sink_printf(sink, "\n");
}

/* Behind the end of the text, or without one, only lines that were executed. */
static void put_lines(const struct hf_source_text *text, const struct line *line, size_t n, struct hf_sink *sink)
{
	const char *at = text->bytes, *end = at ? at + text->size : NULL;
	size_t next = 0;

	for (uint64_t number = 1; at && at < end; number++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const size_t size = (size_t)((newline ? newline : end) - at);
		const bool executed = next < n && line[next].number == number;

		put_counts(number, executed ? &line[next] : NULL, sink);
		put_text(at, size && at[size - 1] == '\r' ? size - 1 : size, sink);
		next += executed;
		at += size + (newline != NULL);
	}
	if (at && next < n)
		hf_sink_printf(sink, "# after the end of the text: it is not that of the program\n");
	for (; next < n; next++) {
		put_counts(line[next].number, &line[next], sink);
		hf_sink_printf(sink, "\n");
	}
}

static void put_head(const struct hf_profiled *of, const struct hf_source_text *text, const struct line *line, size_t n,
		     struct hf_sink *sink)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += line[i].count;
	hf_profile_put_head(of, sink);
	hf_sink_printf(sink, "# %" PRIu64 " of them in %zu lines of this file\n# ", sum, n);
	if (text->bytes)
		hf_sink_write(sink, text->path, strlen(text->path));
	else if (text->too_long)
		hf_sink_printf(sink, "the text has more than 16 MiB");
	else if (text->too_many)
		hf_sink_printf(sink, "the text has more than 1,048,576 lines");
	else
		hf_sink_printf(
			sink,
			"the text is not there: it is looked for in the directory with the extension d beside the "
			"capture, and in --debug-dir");
	if (text->others)
		hf_sink_printf(sink, ", the first of %u files of that name", text->others + 1);
	hf_sink_printf(sink, "\n# instructions           most    line | text\n");
}

static int put_file(const struct hf_profiled *of, const struct hf_sources *sources, uint32_t file, struct hf_sink *sink)
{
	struct line *line = malloc((of->counts->n + 1) * sizeof *line);
	struct hf_source_text text;
	size_t n;
	int err = line ? hf_source_text_read(of->source->open, of->about, &text) : HF_ERR_NOMEM;

	if (!err) {
		n = collect(of, sources, file, line);
		put_head(of, &text, line, n, sink);
		put_lines(&text, line, n, sink);
		hf_source_text_free(&text);
	}
	free(line);
	return err;
}

int hf_profile_annotated(const struct hf_profiled *of, struct hf_sink *sink)
{
	struct hf_sources sources;
	int err = hf_sources_init(&sources, of, false);
	const uint32_t file = err ? 0 : find_file(&sources, of->about);

	if (!err)
		err = file ? put_file(of, &sources, file, sink) : HF_ERR_NOT_FOUND;
	hf_sources_free(&sources);
	return err ? err : sink->err;
}
