/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/capture/info_page.h"
#include "fs/base/human.h"
#include "fs/base/views.h"
#include "fs/capture/all.h"
#include "fs/capture/index_wait.h"
#include "fs/capture/open_pool.h"
#include "fs/capture/repair.h"
#include "fs/facts/facts.h"
#include "fs/facts/info.h"
#include "fs/facts/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Harts that get a line each; the column where the text of a line begins; files with symbols that are named. */
enum { HARTS_SHOWN = 16, INDENT = 17, FILES_SHOWN = 4 };

/* Begins a line of the page with its label; the caller adds the rest. */
static void begin_line(struct hf_sink *sink, const char *label)
{
	hf_sink_printf(sink, "\n  %-*s", INDENT - 2, label);
}

static void put_number(struct hf_sink *sink, uint64_t number)
{
	char text[HF_HUMAN_SIZE];

	hf_sink_printf(sink, "%s", hf_human_count(text, number));
}

static void put_size(struct hf_sink *sink, uint64_t size)
{
	char text[HF_HUMAN_SIZE];

	hf_sink_printf(sink, "%s", hf_human_bytes(text, size));
}

static void put_count(struct hf_sink *sink, uint64_t count, const char *what)
{
	put_number(sink, count);
	hf_sink_printf(sink, " %s%s", what, count == 1 ? "" : "s");
}

/* ---- what it is ---- */

static void put_head(struct hf_sink *sink, struct hf_capture *capture, const struct hf_open *open)
{
	const struct hf_codec *codec;
	const struct hf_box *box;

	pthread_mutex_lock(&capture->lock);
	codec = capture->codec;
	box = capture->box;
	pthread_mutex_unlock(&capture->lock);
	hf_human_path(sink, capture->path);
	hf_sink_printf(sink, ": %s", codec ? codec->title : "of no known format");
	if (open && open->stream && open->stream->info.version) {
		hf_sink_printf(sink, " ");
		hf_human_path(sink, open->stream->info.version);
	}
	if (box)
		hf_sink_printf(sink, ", %s", box->name);
}

static void put_machine(struct hf_sink *sink, const struct hf_stream *stream)
{
	const struct hf_stream_info *info = &stream->info;

	begin_line(sink, "machine");
	hf_sink_printf(sink, "%s", hf_info_arch_name(info->arch));
	if (!(info->flags & HF_STREAM_HARTS))
		return;
	hf_sink_printf(sink, ", %s", hf_info_isa_name(info->isa));
	if (info->vlen)
		hf_sink_printf(sink, ", vectors of %u bits", (unsigned)info->vlen);
}

/* "; 26 texts, 3 samples" */
static void put_told(struct hf_sink *sink, const struct hf_told *told)
{
	const struct {
		uint64_t count;
		const char *what;
	} counts[] = {{told->texts, "text"}, {told->samples, "sample"}, {told->markers, "marker"}};
	const char *before = "; ";

	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		if (!counts[i].count)
			continue;
		hf_sink_printf(sink, "%s", before);
		put_count(sink, counts[i].count, counts[i].what);
		before = ", ";
	}
}

static void put_instructions(struct hf_sink *sink, const struct hf_open *open, const struct hf_facts *facts)
{
	const uint64_t size = open->trace.identity.size;
	const struct hf_facts_sum sum = hf_facts_sum(facts);

	begin_line(sink, "instructions");
	put_number(sink, sum.insns);
	hf_sink_printf(sink, " retired by ");
	put_count(sink, facts->hart_count, "hart");
	if (sum.attempts) {
		hf_sink_printf(sink, ", ");
		put_count(sink, sum.attempts, "attempt");
	}
	put_told(sink, &sum.told);
	if (sum.insns)
		hf_sink_printf(sink, ", %.3g bits each", (double)size * 8 / (double)sum.insns);
}

static void put_sizes(struct hf_sink *sink, const struct hf_open *open, const struct hf_facts *facts)
{
	begin_line(sink, "size");
	put_size(sink, open->trace.identity.size);
	if (facts->known.stream_size != HF_NOWHERE && facts->known.stream_size != open->trace.identity.size) {
		hf_sink_printf(sink, ", ");
		put_size(sink, facts->known.stream_size);
		hf_sink_printf(sink, " decompressed");
	}
	hf_sink_printf(sink, "; its index ");
	put_size(sink, facts->index_size);
}

static void put_description(struct hf_sink *sink, const struct hf_trace *trace)
{
	if (!trace->setup)
		return;
	begin_line(sink, "description");
	hf_human_path(sink, trace->members->ini);
	hf_sink_printf(sink, ", ");
	put_count(sink, trace->setup->part_count, "trace");
	for (size_t i = 0; i < trace->setup->fact_count; i++) {
		begin_line(sink, trace->setup->facts[i].name);
		hf_human_path(sink, trace->setup->facts[i].value);
	}
}

static void put_symbols(struct hf_sink *sink, const struct hf_symbol_files *files)
{
	size_t ran = 0;

	if (!files->file_count)
		return;
	begin_line(sink, "symbols");
	put_number(sink, files->symbols ? hf_symbols_count(files->symbols) : 0);
	for (size_t i = 0; files->addresses && i < files->file_count; i++) {
		if (files->addresses->file[i].verdict != HF_BIAS_FOUND)
			continue;
		if (ran++ >= FILES_SHOWN)
			continue;
		hf_sink_printf(sink, "%s", ran == 1 ? " of " : ", ");
		hf_human_path(sink, files->file[i].path);
	}
	if (ran > FILES_SHOWN) {
		hf_sink_printf(sink, " and ");
		put_count(sink, ran - FILES_SHOWN, "other file");
	}
	if (ran < files->file_count) {
		hf_sink_printf(sink, "; nothing of ");
		put_count(sink, files->file_count - ran, "file");
		hf_sink_printf(sink, " ran");
	}
}

static void put_problems(struct hf_sink *sink, const struct hf_open *open, const struct hf_facts *facts)
{
	const size_t count = hf_index_problem_count(open->index);
	struct hf_index_problem first;
	char text[HF_FAILURE_SIZE];

	begin_line(sink, "problems");
	if (facts->known.text_size[HF_TEXT_ERRORS] == 0) {
		hf_sink_printf(sink, "none");
		return;
	}
	if (count) {
		put_number(sink, count);
		hf_sink_printf(sink, " in the trace; errors.txt has all");
	} else {
		hf_sink_printf(sink, "none in the trace; errors.txt has warnings");
	}
	if (!count || hf_index_problem_at(open->index, 0, &first))
		return;
	if (!hf_info_cause(open, &first, text, sizeof text))
		hf_diag_format(&first.diag, text, HF_DIAG_SIZE);
	begin_line(sink, "");
	hf_sink_printf(sink, "the first: ");
	hf_human_path(sink, text);
}

/* ---- its views ---- */

/* The next entry of a list of names with sizes. */
static void put_view(struct hf_sink *sink, bool *first, const char *name, uint64_t size)
{
	hf_sink_printf(sink, "%s%s ", *first ? "" : ", ", name);
	put_size(sink, size);
	*first = false;
}

static void put_whole_views(struct hf_sink *sink, const struct hf_facts *facts)
{
	const struct hf_facts_hart *records = hf_facts_hart(facts, HF_HART_RECORDS);
	char name[128];
	bool first = true;

	begin_line(sink, "views");
	if (facts->known.stream_size != HF_NOWHERE) {
		hf_info_source_name(facts->known.codec, name, sizeof name);
		put_view(sink, &first, name, facts->known.stream_size);
	}
	if (records && records->view[HF_VIEW_RECORDS].size != HF_NOWHERE)
		put_view(sink, &first, hf_enc_records.view, records->view[HF_VIEW_RECORDS].size);
}

static void put_hart(struct hf_sink *sink, const struct hf_facts_hart *hart, bool alone)
{
	char label[24];
	bool first = true;

	snprintf(label, sizeof label, "  hart%u", (unsigned)hart->info.id);
	begin_line(sink, label);
	if (!alone) {
		put_count(sink, hart->info.insns, "instruction");
		hf_sink_printf(sink, ": ");
	}
	for (size_t i = 0; i < HF_VIEW_COUNT; i++)
		if (hart->view[i].size != HF_NOWHERE && !(hf_fs_view_ops(i)->flags & HF_ENC_CHANNELS))
			put_view(sink, &first, hf_fs_view_ops(i)->view, hart->view[i].size);
	if (hart->no_program) {
		begin_line(sink, "");
		hf_sink_printf(sink, "no program.elf: ");
		hf_human_path(sink, hart->no_program);
	}
}

static void put_harts(struct hf_sink *sink, const struct hf_facts *facts)
{
	uint64_t insns = 0;
	size_t i = 0;

	if (facts->hart_count) {
		begin_line(sink, "pictures");
		hf_sink_printf(sink, "overview.svg, flame.svg, report.html; hartN/profile/README.txt has all");
	}
	if (facts->known.merged_size != HF_NOWHERE) {
		begin_line(sink, "");
		hf_sink_printf(sink, "all/overview.svg, all/flame.svg, of all harts");
	}
	for (; i < facts->hart_count && i < HARTS_SHOWN; i++)
		put_hart(sink, &facts->hart[i], facts->hart_count == 1);
	if (i == facts->hart_count)
		return;
	begin_line(sink, "");
	hf_sink_printf(sink, "and ");
	put_count(sink, facts->hart_count - i, "more hart");
	for (; i < facts->hart_count; i++)
		insns += facts->hart[i].info.insns;
	hf_sink_printf(sink, " with ");
	put_count(sink, insns, "instruction");
}

static void put_refusals(struct hf_sink *sink, const struct hf_facts *facts)
{
	const char *label = "not there";

	for (size_t i = 0; i < HF_VIEW_COUNT; i++) {
		const char *name = hf_fs_view_ops(i)->view;
		const size_t dir = hf_view_dir(i, NULL);

		if (!facts->refusal[i] || hf_fs_view_ops(i)->flags & HF_ENC_CHANNELS)
			continue;
		begin_line(sink, label);
		hf_sink_printf(sink, "%.*s: ", dir ? (int)dir : (int)strlen(name), name);
		hf_human_path(sink, facts->refusal[i]);
		label = "";
	}
}

/* ---- the page ---- */

void hf_info_page_write(struct hf_capture *capture, struct hf_open *open, const struct hf_facts *facts,
			struct hf_sink *sink)
{
	char text[HF_FAILURE_SIZE];

	put_head(sink, capture, open);
	if (hf_facts_has_failed(facts)) {
		hf_facts_failure(facts, text, sizeof text);
		begin_line(sink, "failed");
		hf_human_path(sink, text);
	}
	if (open && open->stream) {
		put_machine(sink, open->stream);
		put_instructions(sink, open, facts);
		put_sizes(sink, open, facts);
		put_description(sink, &open->trace);
		put_symbols(sink, &open->symbol_files);
		put_problems(sink, open, facts);
		put_whole_views(sink, facts);
		put_harts(sink, facts);
		put_refusals(sink, facts);
	}
	hf_sink_printf(sink, "\n");
}

static int write_page(struct hf_capture *capture, struct hf_facts *facts, struct hf_sink *sink)
{
	struct hf_open *open = NULL;
	int err = facts->failure.code ? 0 : hf_capture_reopen(capture, facts->version, -1, HF_REPAIR_MS, &open);

	if (err)
		return err;
	hf_info_page_write(capture, open, facts, sink);
	if (open)
		hf_open_put(open);
	return sink->err;
}

int hf_captures_info_page(struct hf_captures *all, const char *path, char **ret_text)
{
	struct hf_capture *capture;
	struct hf_facts *facts = NULL;
	struct hf_sink sink;
	int err = hf_capture_at(all, path, &capture);

	*ret_text = NULL;
	if (!err)
		err = hf_capture_facts(capture, 0, &facts);
	if (!err)
		err = hf_capture_confirm(capture, HF_REPAIR_MS, &facts);
	if (err)
		return err;
	err = hf_sink_init_memory(&sink, 0);
	if (!err) {
		err = write_page(capture, facts, &sink);
		hf_sink_write(&sink, "", 1);
		if (!err && !sink.err)
			*ret_text = strdup((const char *)sink.start);
		err = err ? err : *ret_text ? 0 : HF_ERR_NOMEM;
		hf_sink_fini_memory(&sink);
	}
	hf_facts_unref(facts);
	return err;
}
