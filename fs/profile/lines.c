/* SPDX-License-Identifier: Apache-2.0 */
/* lines.txt: what was executed of each line of the source. */
#include "fs/profile/texts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct line {
	struct hf_line at;
	uint64_t count; /* executions of all its instructions */
	uint64_t most;	/* of the one that was executed most often */
};

static int compare_files(const struct hf_line *x, const struct hf_line *y)
{
	const uint32_t n = x->file_size < y->file_size ? x->file_size : y->file_size;
	const int order = n ? memcmp(x->file, y->file, n) : 0;

	return order ? order : (x->file_size > y->file_size) - (x->file_size < y->file_size);
}

static int by_place(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	const int order = compare_files(&x->at, &y->at);

	return order ? order : (x->at.line > y->at.line) - (x->at.line < y->at.line);
}

static int by_count(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return by_place(a, b);
}

/* One for each instruction, without those that no line is known of. */
static size_t collect(const struct hf_profiled *of, struct line *line)
{
	struct hf_line at = {0};
	size_t n = 0;

	for (size_t i = 0; i < of->counts->n; i++) {
		const struct hf_count *row = &of->counts->row[i];

		if (row->pc < at.start || row->pc >= at.end)
			hf_symbols_line_at(of->symbols, row->pc, &at);
		if (at.line)
			line[n++] = (struct line){.at = at, .count = row->count, .most = row->count};
	}
	return n;
}

/* Those of one line become one; then the largest comes first. */
static size_t merge(struct line *line, size_t n)
{
	size_t kept = 0;

	qsort(line, n, sizeof *line, by_place);
	for (size_t i = 0; i < n; i++) {
		if (!kept || by_place(&line[kept - 1], &line[i]) != 0) {
			line[kept++] = line[i];
			continue;
		}
		line[kept - 1].count += line[i].count;
		if (line[kept - 1].most < line[i].most)
			line[kept - 1].most = line[i].most;
	}
	qsort(line, kept, sizeof *line, by_count);
	return kept;
}

int hf_profile_lines(const struct hf_profiled *of, struct hf_sink *sink)
{
	const bool have = of->symbols && hf_symbols_have_lines(of->symbols);
	struct line *line = malloc((of->counts->n + 1) * sizeof *line);
	uint64_t known = 0;
	size_t n;

	if (!line)
		return HF_ERR_NOMEM;
	n = have ? merge(line, collect(of, line)) : 0;
	for (size_t i = 0; i < n; i++)
		known += line[i].count;
	hf_profile_put_head(of, sink);
	hf_sink_printf(sink, "# of these have a line: %" PRIu64 "\n", known);
	hf_sink_printf(sink, "# instructions  share         most line\n");
	for (size_t i = 0; i < n; i++) {
		hf_sink_printf(sink, "%14" PRIu64 " %6.2f %12" PRIu64 " ", line[i].count,
			       hf_profile_share(of, line[i].count), line[i].most);
		hf_sink_write(sink, line[i].at.file, line[i].at.file_size);
		hf_sink_printf(sink, ":%" PRIu32 "\n", line[i].at.line);
	}
	free(line);
	return sink->err;
}
