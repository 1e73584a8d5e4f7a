/* SPDX-License-Identifier: Apache-2.0 */
/* report.html: a page about a hart that stands alone, to be sent to somebody: what it is, and what it did. */
#include "fs/capture/info_page.h"
#include "fs/capture/recognise.h"
#include "fs/capture/source_text.h"
#include "fs/facts/info.h"
#include "fs/facts/opened.h"
#include "fs/profile/embedded.h"
#include "fs/profile/escape.h"
#include "fs/profile/pictures.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* Rows of tables, and lines of problems and of what the program was, that are shown. */
enum { ROWS = 25, PROBLEMS = 20, ORIGIN = 8 };

struct report {
	const struct hf_profiled *of;
	struct hf_sink *sink;
};

typedef int (*text_fn)(const struct hf_profiled *of, struct hf_sink *sink);

/* ---- texts in the page ---- */

static const char *line_end(const char *line, const char *end)
{
	const char *newline = memchr(line, '\n', (size_t)(end - line));

	return newline ? newline : end;
}

/* All of it, although it may be longer than a name: in pieces that end behind a blank, where there is one. */
static void put_line(struct report *r, const char *line, const char *end)
{
	while (line < end) {
		size_t n = (size_t)(end - line) < HF_ESCAPE_NAME ? (size_t)(end - line) : HF_ESCAPE_NAME;
		const char *blank = line + n < end ? memrchr(line, ' ', n) : NULL;

		n = blank ? (size_t)(blank - line) + 1 : n;
		hf_escape_xml(r->sink, line, n);
		line += n;
	}
	hf_sink_printf(r->sink, "\n");
}

/* Lines of a text, at most so many; what is left out is counted. */
static void put_lines(struct report *r, const char *text, size_t size, unsigned most)
{
	const char *end = text + size;
	unsigned n = 0;

	hf_sink_printf(r->sink, "<pre>");
	for (const char *next; text < end; text = next) {
		const char *stop = line_end(text, end);

		next = stop < end ? stop + 1 : end;
		if (n++ < most)
			put_line(r, text, stop);
	}
	if (n > most)
		hf_sink_printf(r->sink, "and %u more lines\n", n - most);
	hf_sink_printf(r->sink, "</pre>\n");
}

/* ---- tables ---- */

/* cells: of each word of a row 'n' a number, '%' a share, '-' left out; the rest of the row is the last column. */
struct table {
	const char *title, *columns[5], *cells;
	text_fn write;
};

/* The next word of a row, and what is behind it. */
static const char *next_word(const char **at, const char *end, size_t *ret_size)
{
	const char *word = *at;

	while (word < end && *word == ' ')
		word++;
	for (*at = word; *at < end && **at != ' ';)
		(*at)++;
	*ret_size = (size_t)(*at - word);
	return word;
}

static void put_cell(struct report *r, const char *word, size_t size)
{
	hf_sink_printf(r->sink, "<td>");
	hf_escape_xml(r->sink, word, size);
	hf_sink_printf(r->sink, "</td>");
}

/* A share of all, with a bar. */
static void put_share(struct report *r, const char *word, size_t size)
{
	const double share = strtod(word, NULL);

	hf_sink_printf(r->sink, "<td class=\"bar\" style=\"--w:%.1f%%\">", share);
	hf_escape_xml(r->sink, word, size);
	hf_sink_printf(r->sink, "</td>");
}

static void put_number(struct report *r, const char *word, size_t size)
{
	if (*word < '0' || *word > '9') {
		put_cell(r, word, size);
		return;
	}
	hf_sink_printf(r->sink, "<td>");
	hf_put_grouped(r->sink, strtoull(word, NULL, 10));
	hf_sink_printf(r->sink, "</td>");
}

static void put_row(struct report *r, const char *line, const char *end, const struct table *table)
{
	const char *at = line;
	size_t size;

	hf_sink_printf(r->sink, "<tr>");
	for (const char *cell = table->cells; *cell; cell++) {
		const char *word = next_word(&at, end, &size);

		if (*cell == 'n')
			put_number(r, word, size);
		else if (*cell == '%')
			put_share(r, word, size);
	}
	while (at < end && *at == ' ')
		at++;
	put_cell(r, at, (size_t)(end - at));
	hf_sink_printf(r->sink, "</tr>\n");
}

static int columns_of(const struct table *table)
{
	int n = 0;

	while (n < 5 && table->columns[n])
		n++;
	return n;
}

static void put_rows(struct report *r, const char *text, size_t size, const struct table *table)
{
	const char *end = text + size;
	unsigned n = 0;

	for (const char *next; text < end; text = next) {
		const char *stop = line_end(text, end);

		next = stop < end ? stop + 1 : end;
		if (*text != '#' && n++ < ROWS)
			put_row(r, text, stop, table);
	}
	if (n > ROWS)
		hf_sink_printf(r->sink, "<tr><td colspan=\"%d\"></td><td>and %u more</td></tr>\n", columns_of(table) - 1, n - ROWS);
}

static int put_table(struct report *r, const struct table *table)
{
	struct hf_sink text;
	int err = hf_sink_init_memory(&text, 0);

	if (err)
		return err;
	err = table->write(r->of, &text);
	hf_sink_printf(
		r->sink,
		"<div><h2>%s</h2>\n<table><colgroup><col class=\"n\"><col class=\"s\"><col span=\"%d\" class=\"n\"><col></colgroup>"
		"<tr>",
		table->title, columns_of(table) - 3);
	for (int i = 0; i < columns_of(table); i++)
		hf_sink_printf(r->sink, "<th>%s</th>", table->columns[i]);
	hf_sink_printf(r->sink, "</tr>\n");
	if (!err)
		put_rows(r, (const char *)text.start, (size_t)hf_sink_total(&text), table);
	hf_sink_printf(r->sink, "</table></div>\n");
	hf_sink_fini_memory(&text);
	return err;
}

static int put_tables(struct report *r)
{
	const struct table functions = {"Functions",
					{"own", "%", "below", "calls", "function"},
					r->of->tree->facts.timed ? "n%n-n---" : "n%n-n--",
					hf_profile_functions};
	static const struct table mix = {"Instructions", {"executed", "%", "flow", "mnemonic"}, "n%n", hf_profile_mix};
	int err;

	hf_sink_printf(r->sink, "<div class=\"tables\">\n");
	err = put_table(r, &functions);
	if (!err)
		err = put_table(r, &mix);
	hf_sink_printf(r->sink, "</div>\n");
	return err;
}

/* ---- the capture ---- */

/* What hartfs record wrote of the program: its command and the date; else the date of the file. */
static int put_origin(struct report *r)
{
	struct hf_open *open = r->of->source->open;
	struct hf_source_text text;
	struct stat st;
	struct tm tm;
	int err = hf_source_text_read(open, "recording.txt", &text);

	if (err)
		return err;
	if (text.bytes) {
		put_lines(r, text.bytes, text.size, ORIGIN);
	} else if (!hf_capture_stat(open->capture, &st) && gmtime_r(&st.st_mtime, &tm)) {
		char date[32];

		strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &tm);
		hf_sink_printf(r->sink, "<p>The file was written at %s UTC.</p>\n", date);
	}
	hf_source_text_free(&text);
	return 0;
}

static int put_capture(struct report *r)
{
	struct hf_open *open = r->of->source->open;
	struct hf_sink text;
	int err = hf_sink_init_memory(&text, 0);

	if (err)
		return err;
	hf_info_page_write(open->capture, open, open->facts, &text);
	put_lines(r, (const char *)text.start, (size_t)hf_sink_total(&text), UINT32_MAX);
	err = text.err;
	hf_sink_fini_memory(&text);
	return err;
}

static int put_problems(struct report *r)
{
	struct hf_open *open = r->of->source->open;
	struct hf_sink text;
	int err = hf_sink_init_memory(&text, 0);

	if (err)
		return err;
	hf_info_text(HF_TEXT_ERRORS, open->capture, open, open->facts, &text);
	hf_sink_printf(r->sink, "<h2>Problems</h2>\n");
	if (hf_sink_total(&text))
		put_lines(r, (const char *)text.start, (size_t)hf_sink_total(&text), PROBLEMS);
	else
		hf_sink_printf(r->sink, "<p>None: all of the trace was understood.</p>\n");
	err = text.err;
	hf_sink_fini_memory(&text);
	return err;
}

/* ---- the page ---- */

static void put_name(struct report *r)
{
	const char *path = r->of->source->open->capture->path;

	hf_escape_xml(r->sink, path, strlen(path));
	hf_sink_printf(r->sink, ", hart%" PRIu32, r->of->hart);
}

static void put_head(struct report *r)
{
	hf_sink_printf(r->sink, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
				"<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
	put_name(r);
	hf_sink_printf(r->sink, "</title>\n<style>\n");
	hf_sink_write(r->sink, hf_embedded_report_css.bytes, hf_embedded_report_css.size);
	hf_sink_printf(r->sink, "</style>\n</head>\n<body>\n<h1>");
	put_name(r);
	hf_sink_printf(r->sink, "</h1>\n");
}

static int put_pictures(struct report *r)
{
	int err;

	hf_sink_printf(r->sink,
		       "<h2>Overview</h2>\n<p>From left to right: the instructions as they were retired.</p>\n");
	err = hf_overview_put(r->of, false, r->sink);
	if (err)
		return err;
	hf_sink_printf(r->sink,
		       "<h2>Calls</h2>\n<p>The width of a frame is what ran in a function and in what it called from "
		       "there. Click a frame to see it alone; Escape leads back; invert shows the callers of each function.</p>\n");
	return hf_flame_put(r->of, false, r->sink);
}

int hf_profile_report(const struct hf_profiled *of, struct hf_sink *sink)
{
	struct report r = {.of = of, .sink = sink};
	int err;

	put_head(&r);
	err = put_origin(&r);
	if (!err)
		err = put_capture(&r);
	if (!err)
		err = put_pictures(&r);
	if (!err)
		err = put_tables(&r);
	if (!err)
		err = put_problems(&r);
	hf_sink_printf(sink, "<footer>Made by hartfs " HARTFS_VERSION
			     ". Counts are exact, chains of calls are as good as the "
			     "returns fit: profile/callers.txt says how many do not.</footer>\n</body>\n</html>\n");
	return err ? err : sink->err;
}
