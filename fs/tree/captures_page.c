/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/tree/captures_page.h"
#include "codecs/base/array.h"
#include "fs/base/human.h"
#include "fs/capture/all.h"
#include "fs/capture/recognise.h"
#include "fs/facts/capture.h"
#include "fs/facts/state.h"
#include "fs/profile/embedded.h"
#include "fs/profile/escape.h"
#include "fs/profile/profile.h"
#include "fs/tree/shared.h"
#include "fs/tree/tree_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Captures on a page; and harts of one that have links: more are counted. */
enum { CAPTURES = 1000, HARTS = 4 };

struct list {
	struct hf_capture **at; /* they live as long as the tree */
	size_t count;
	bool full; /* no memory */
};

/* ---- which captures ---- */

static void add(void *ctx, struct hf_capture *capture)
{
	struct list *list = ctx;

	if (hf_array_room(&list->at, list->count, sizeof capture))
		list->full = true;
	else
		list->at[list->count++] = capture;
}

static int by_path(const void *a, const void *b)
{
	return strcmp((*(struct hf_capture *const *)a)->path, (*(struct hf_capture *const *)b)->path);
}

/* ---- texts ---- */

static void put_name(struct hf_sink *sink, const char *name)
{
	hf_escape_xml(sink, name, strlen(name));
}

/* A link into the mount, whose root is the directory above. No byte but those that a URL may have stands for itself. */
static void put_link(struct hf_sink *sink, const char *view_dir, const char *file, const char *text)
{
	hf_sink_printf(sink, "<a href=\"../");
	for (const char *p = view_dir; *p; p++) {
		const bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
				   strchr("-._~/@", *p);

		hf_sink_printf(sink, plain ? "%c" : "%%%02X", (unsigned char)*p);
	}
	hf_sink_printf(sink, "/%s\">", file);
	put_name(sink, text);
	hf_sink_printf(sink, "</a>");
}

/* ---- a row ---- */

static void put_number(struct hf_sink *sink, uint64_t n, const char *one, const char *many)
{
	char text[HF_HUMAN_SIZE];

	hf_sink_printf(sink, "<td data-is=\"%s\">%s</td>", n == 1 ? one : many, hf_human_count(text, n));
}

static void put_state(struct hf_sink *sink, struct hf_capture *capture)
{
	enum hf_capture_state state;
	double percent;
	char text[HF_FAILURE_SIZE];
	struct hf_diag diag;

	pthread_mutex_lock(&capture->lock);
	state = hf_capture_told_state(capture);
	percent = hf_capture_percent(capture);
	pthread_mutex_unlock(&capture->lock);
	hf_sink_printf(sink, "<td class=\"text state\">");
	if (state == HF_CAPTURE_FAILED && hf_capture_failure(capture, &diag, text, sizeof text)) {
		hf_sink_printf(sink, "failed: ");
		put_name(sink, text);
	} else if (state == HF_CAPTURE_INDEXING) {
		hf_sink_printf(sink, "indexing, %.0f%%", percent);
	} else {
		hf_sink_printf(sink, "%s", hf_capture_state_name(state));
	}
	hf_sink_printf(sink, "</td>");
}

static void put_format(struct hf_sink *sink, struct hf_capture *capture)
{
	const struct hf_codec *codec;
	const struct hf_box *box;
	struct stat st;
	char size[HF_HUMAN_SIZE];

	pthread_mutex_lock(&capture->lock);
	codec = capture->codec;
	box = capture->box;
	pthread_mutex_unlock(&capture->lock);
	hf_sink_printf(sink, "<td class=\"text\">%s%s%s</td>", codec ? codec->name : "?", box ? ", " : "",
		       box ? box->name : "");
	if (hf_capture_stat(capture, &st))
		hf_sink_printf(sink, "<td>?</td>");
	else
		hf_sink_printf(sink, "<td>%s</td>", hf_human_bytes(size, (uint64_t)st.st_size));
}

/* Pictures of a hart, or of all, by name: they are made when somebody follows the link. */
static void put_pictures(struct hf_sink *sink, const char *view_dir, uint32_t hart)
{
	static const struct {
		enum hf_profile_file file;
		const char *text;
	} files[] = {{HF_PROFILE_REPORT, "report"}, {HF_PROFILE_OVERVIEW, "overview"}, {HF_PROFILE_FLAME, "flame graph"}};
	char path[HF_PROFILE_PATH];

	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		if (!hf_profile_path(files[i].file, hart, path))
			continue;
		hf_sink_printf(sink, " ");
		put_link(sink, view_dir, path, files[i].text);
	}
}

static void put_facts(struct hf_sink *sink, const struct hf_capture *capture, const struct hf_facts *facts,
		      const char *view_dir)
{
	char text[HF_HUMAN_SIZE];

	put_number(sink, facts->hart_count, "hart", "harts");
	put_number(sink, hf_facts_sum(facts).insns, "instruction", "instructions");
	hf_sink_printf(sink, "<td data-is=\"%s\">", facts->known.problems == 1 ? "problem" : "problems");
	if (facts->known.problems)
		put_link(sink, view_dir, "errors.txt", hf_human_count(text, facts->known.problems));
	else
		hf_sink_printf(sink, "no");
	hf_sink_printf(sink, "</td><td class=\"text pictures\">");
	if (facts->known.merged_size != HF_NOWHERE) {
		hf_sink_printf(sink, "all harts:");
		put_pictures(sink, view_dir, HF_HART_RECORDS);
		hf_sink_printf(sink, "<br>");
	}
	for (size_t i = 0; i < facts->hart_count && i < HARTS; i++) {
		hf_sink_printf(sink, "hart%" PRIu32 ":", facts->hart[i].info.id);
		if (hf_profile_exists(capture, facts, &facts->hart[i]))
			put_pictures(sink, view_dir, facts->hart[i].info.id);
		else
			hf_sink_printf(sink, " none, as a hart this long needs a summary");
		hf_sink_printf(sink, "<br>");
	}
	if (facts->hart_count > HARTS)
		hf_sink_printf(sink, "and %s more", hf_human_count(text, facts->hart_count - HARTS));
	hf_sink_printf(sink, "</td>");
}

/* The path of its view directory, if it has one. */
static bool find_view_dir(struct hf_tree *tree, struct hf_capture *capture, char ret_view_dir[HF_PATH_SIZE])
{
	char dir[HF_PATH_SIZE], name[NAME_MAX + 1];
	const char *base = hf_path_split(dir, capture->path);

	return !hf_tree_view_name(tree, dir, base, capture, hf_tree_exists, tree, name) &&
	       !hf_path_join(ret_view_dir, dir, name);
}

static void put_row(struct hf_tree *tree, struct hf_capture *capture, struct hf_sink *sink)
{
	char view_dir[HF_PATH_SIZE];
	struct hf_facts *facts = NULL;
	const bool shown = find_view_dir(tree, capture, view_dir);

	hf_sink_printf(sink, "<tr><td class=\"text name\">");
	if (shown)
		put_link(sink, view_dir, "", capture->path);
	else
		put_name(sink, capture->path);
	hf_sink_printf(sink, "</td>");
	put_state(sink, capture);
	put_format(sink, capture);
	if (shown && !hf_capture_facts_now(capture, &facts) && !hf_facts_has_failed(facts))
		put_facts(sink, capture, facts, view_dir);
	else
		hf_sink_printf(sink, "<td></td><td></td><td></td><td></td>");
	hf_facts_unref(facts);
	hf_sink_printf(sink, "</tr>\n");
}

/* ---- the page ---- */

/* What is shown of the page: rows whose name, state or format has all words that were typed. */
static const char filter[] =
	"<script>\n"
	"const field = document.querySelector('input'), shown = document.getElementById('shown');\n"
	"const rows = [...document.querySelectorAll('tr')].slice(1);\n"
	"function filter() {\n"
	"	const words = field.value.toLowerCase().split(/\\s+/);\n"
	"	let n = 0;\n"
	"	for (const row of rows) {\n"
	"		const text = [...row.children].slice(0, 3).map(cell => cell.textContent).join(' ').toLowerCase();\n"
	"		row.hidden = !words.every(word => text.includes(word));\n"
	"		n += !row.hidden;\n"
	"	}\n"
	"	shown.textContent = n + ' of ' + rows.length + ' on this page';\n"
	"}\n"
	"field.hidden = false;\n"
	"field.addEventListener('input', filter);\n"
	"filter();\n"
	"</script>\n";

static void put_head(struct hf_sink *sink, size_t count)
{
	char text[HF_HUMAN_SIZE];

	hf_sink_printf(sink,
		       "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		       "<meta name=\"viewport\" content=\"width=device-width\">\n<title>hartfs</title>\n<style>\n");
	hf_sink_write(sink, hf_embedded_report_css.bytes, hf_embedded_report_css.size);
	hf_sink_printf(sink,
		       "</style>\n</head>\n<body class=\"list\">\n<h1>%s capture%s</h1>\n<p>As they were when this page was "
		       "opened. <a href=\"status.json\">status</a> <a href=\"log.txt\">log</a></p>\n"
		       "<p><input type=\"search\" placeholder=\"filter\" aria-label=\"words of a name, a state or a format\" hidden> "
		       "<span id=\"shown\"></span></p>\n",
		       hf_human_count(text, count), count == 1 ? "" : "s");
}

/* The pages, by the name of the first capture on each. */
static void put_pages(const struct list *list, size_t page, struct hf_sink *sink)
{
	hf_sink_printf(sink, "<p>Pages:");
	for (size_t i = 0; i * CAPTURES < list->count; i++) {
		hf_sink_printf(sink, " <a href=\"");
		if (i)
			hf_sink_printf(sink, "index-%zu.html", i + 1);
		else
			hf_sink_printf(sink, "index.html");
		hf_sink_printf(sink, "\" title=\"from ");
		put_name(sink, list->at[i * CAPTURES]->path);
		hf_sink_printf(sink, i + 1 == page ? " on\"><b>%zu</b></a>" : " on\">%zu</a>", i + 1);
	}
	hf_sink_printf(sink, "</p>\n");
}

static void count(void *ctx, struct hf_capture *capture)
{
	(void)capture;
	++*(size_t *)ctx;
}

size_t hf_captures_pages(struct hf_tree *tree)
{
	size_t n = 0;

	hf_captures_each(tree->captures, count, &n);
	return n ? (n + CAPTURES - 1) / CAPTURES : 1;
}

int hf_captures_page_write(struct hf_tree *tree, size_t page, struct hf_sink *sink)
{
	struct list list = {0};

	hf_captures_each(tree->captures, add, &list);
	if (list.count)
		qsort(list.at, list.count, sizeof *list.at, by_path);
	put_head(sink, list.count);
	if (list.count > CAPTURES)
		put_pages(&list, page, sink);
	hf_sink_printf(sink, "<table><tr><th class=\"text\">capture</th><th class=\"text\">state</th><th "
			     "class=\"text\">format</th><th>size</th>"
			     "<th>harts</th><th>instructions</th><th>problems</th><th class=\"text\">pictures</th></tr>\n");
	for (size_t i = (page - 1) * CAPTURES; i < list.count && i < page * CAPTURES; i++)
		put_row(tree, list.at[i], sink);
	hf_sink_printf(sink, "</table>\n");
	hf_sink_write(sink, filter, sizeof filter - 1);
	hf_sink_printf(sink, "</body>\n</html>\n");
	free(list.at);
	return list.full ? HF_ERR_NOMEM : sink->err;
}
