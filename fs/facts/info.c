/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/facts/info.h"
#include "codecs/setup/errors.h"
#include "codecs/setup/trial.h"
#include "codecs/source/errors.h"
#include "fs/archive/path.h"
#include "fs/base/human.h"
#include "fs/base/json.h"
#include "fs/base/views.h"
#include "fs/facts/capture.h"
#include "fs/facts/facts.h"
#include "fs/facts/index_dir.h"
#include "fs/facts/missing_code.h"
#include "fs/facts/opened.h"
#include "fs/facts/shared.h"
#include "fs/facts/state.h"
#include "fs/program/debug_dir.h"
#include "fs/program/load_addresses.h"
#include "fs/program/symbol_files.h"
#include "fs/stream/members.h"
#include "index/base/libc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const arch_names[HF_ARCH_COUNT] = {"none", "riscv", "arm"};
static const char *const isa_names[HF_ISA_COUNT] = {"none", "rv32", "rv64", "a64", "a32", "t32"};

const char *hf_info_arch_name(unsigned arch)
{
	return arch_names[arch < HF_ARCH_COUNT ? arch : HF_ARCH_NONE];
}

const char *hf_info_isa_name(unsigned isa)
{
	return isa_names[isa < HF_ISA_COUNT ? isa : HF_ISA_NONE];
}

void hf_info_source_name(const struct hf_codec *codec, char *buf, size_t size)
{
	const char *suffix = codec->suffixes && codec->suffixes[0] ? codec->suffixes[0] : ".bin";

	snprintf(buf, size, "source%s", suffix);
}

static void put_view(struct hf_json *json, const char *name, uint64_t size, const char *reason)
{
	hf_json_open(json, name, '{');
	if (reason)
		hf_json_string(json, "reason", reason);
	else
		hf_json_u64(json, "size", size);
	hf_json_close(json, '}');
}

/* Whether a hart lacks a view because it has no program, though others have; buf: why. */
static bool lacks_program(const struct hf_facts *facts, const struct hf_facts_hart *hart, size_t view, char *buf,
			  size_t size)
{
	const bool program = view == HF_VIEW_PROGRAM;
	const bool needs = view < HF_ENC_COUNT && !facts->refusal[view] && hf_view_dir(view, NULL);

	if (hart->view[view].size != HF_NOWHERE || !hart->no_program || !(program || needs))
		return false;
	snprintf(buf, size, "%sa program that cannot be one image: %s",
		 program ? "" : "it needs program.elf, and this is ", hart->no_program);
	return true;
}

/* One view of a hart: its size, or why this hart does not have it though others do. */
static void put_hart_view(struct hf_json *json, const struct hf_facts *facts, const struct hf_facts_hart *hart,
			  size_t view)
{
	const struct hf_enc_ops *ops = hf_fs_view_ops(view);
	char name[128], reason[320];
	const bool lacking = lacks_program(facts, hart, view, reason, sizeof reason);

	if ((hart->view[view].size == HF_NOWHERE && !lacking) || ops->flags & HF_ENC_CHANNELS)
		return;
	snprintf(name, sizeof name, "hart%u/%s", (unsigned)hart->info.id, ops->view);
	put_view(json, name, hart->view[view].size, lacking ? reason : NULL);
}

/* A view that no hart has, by the name of its file or of its directory, with the reason. */
static void put_refusal(struct hf_json *json, const struct hf_facts *facts, size_t view)
{
	const char *name = hf_fs_view_ops(view)->view;
	const size_t dir = hf_view_dir(view, NULL);
	char text[128];

	if (!facts->refusal[view] || hf_fs_view_ops(view)->flags & HF_ENC_CHANNELS)
		return;
	snprintf(text, sizeof text, "%.*s", dir ? (int)dir : (int)strlen(name), name);
	put_view(json, text, 0, facts->refusal[view]);
}

/* Whether a capture has all/ (*ret_reason NULL), or could have it; *ret_reason: why it does not. */
static bool merges(const struct hf_facts *facts, const char **ret_reason)
{
	const size_t view = hf_views_merged();

	*ret_reason = NULL;
	if (view == HF_VIEW_COUNT || facts->hart_count < 2)
		return false;
	if (facts->known.merged_size != HF_NOWHERE)
		return true;
	if (facts->refusal && facts->refusal[view])
		*ret_reason = facts->refusal[view];
	else if (facts->hart_count > HF_MERGED_HARTS)
		*ret_reason = "it has too many harts";
	else
		*ret_reason = "fewer than two harts have times";
	return true;
}

/* Why there is no such path in all/. */
static bool merged_refusal(const struct hf_facts *facts, const char *path, char *buf, size_t size)
{
	const char *reason;

	if (strncmp(path, "all/", 4) != 0 || !merges(facts, &reason) || !reason ||
	    !hf_view_is_named(hf_views_merged(), path + 4, strlen(path + 4)))
		return false;
	snprintf(buf, size, "%s", reason);
	return true;
}

bool hf_info_refusal(const struct hf_facts *facts, const char *path, char *buf, size_t size)
{
	const struct hf_facts_hart *hart = NULL;
	unsigned id;
	int n = 0;

	if (merged_refusal(facts, path, buf, size))
		return true;
	/* NOLINTNEXTLINE(cert-err34-c): it only chooses the words of a reason */
	if (sscanf(path, "hart%u/%n", &id, &n) == 1 && n)
		hart = hf_facts_hart(facts, id);
	path += n;
	for (size_t i = 0; facts->refusal && i < HF_VIEW_COUNT; i++) {
		if (!hf_view_is_named(i, path, strcspn(path, "/")))
			continue;
		if (facts->refusal[i])
			snprintf(buf, size, "%s", facts->refusal[i]);
		if (facts->refusal[i] || (hart && lacks_program(facts, hart, i, buf, size)))
			return true;
	}
	return false;
}

static void put_merged(struct hf_json *json, const struct hf_facts *facts)
{
	const char *reason;
	char name[128];

	if (!merges(facts, &reason))
		return;
	snprintf(name, sizeof name, "all/%s", hf_fs_view_ops(hf_views_merged())->view);
	put_view(json, name, facts->known.merged_size, reason);
}

static void put_views(struct hf_json *json, const struct hf_facts *facts)
{
	const struct hf_facts_hart *records;
	char name[128];

	hf_json_open(json, "views", '{');
	put_view(json, "errors.txt", facts->known.text_size[HF_TEXT_ERRORS], NULL);
	if (facts->known.stream_size != HF_NOWHERE) {
		hf_info_source_name(facts->known.codec, name, sizeof name);
		put_view(json, name, facts->known.stream_size, NULL);
	}
	records = hf_facts_hart(facts, HF_HART_RECORDS);
	if (records && records->view[HF_VIEW_RECORDS].size != HF_NOWHERE)
		put_view(json, hf_enc_records.view, records->view[HF_VIEW_RECORDS].size, NULL);
	put_merged(json, facts);
	for (size_t i = 0; i < facts->hart_count; i++)
		for (size_t k = 0; k < HF_VIEW_ALL; k++)
			put_hart_view(json, facts, &facts->hart[i], k);
	for (size_t i = 0; i < HF_VIEW_COUNT; i++)
		put_refusal(json, facts, i);
	hf_json_close(json, '}');
}

/* Harts of packet captures may differ in XLEN. */
static void put_harts(struct hf_json *json, const struct hf_stream *stream, const struct hf_facts *facts)
{
	hf_json_open(json, "harts", '[');
	for (size_t i = 0; i < facts->hart_count; i++) {
		hf_json_open(json, NULL, '{');
		hf_json_u64(json, "id", facts->hart[i].info.id);
		hf_json_u64(json, "instructions", facts->hart[i].info.insns);
		hf_json_u64(json, "attempts", facts->hart[i].info.attempts);
		hf_json_u64(json, "texts", facts->hart[i].info.told.texts);
		hf_json_u64(json, "samples", facts->hart[i].info.told.samples);
		hf_json_u64(json, "markers", facts->hart[i].info.told.markers);
		if (stream && stream->codec->xlen)
			hf_json_u64(json, "xlen", hf_stream_xlen(stream, facts->hart[i].info.id));
		hf_json_close(json, '}');
	}
	hf_json_close(json, ']');
}

static void put_stream(struct hf_json *json, const struct hf_stream *stream)
{
	const struct hf_stream_info *info = &stream->info;

	if (info->version)
		hf_json_string(json, "version", info->version);
	hf_json_string(json, "arch", hf_info_arch_name(info->arch));
	if (info->flags & HF_STREAM_HARTS) {
		hf_json_string(json, "isa", hf_info_isa_name(info->isa));
		hf_json_u64(json, "xlen", info->xlen);
		if (info->vlen)
			hf_json_u64(json, "vlen", info->vlen);
	}
	hf_json_open(json, "stream", '{');
	hf_json_raw(json, info->json ? info->json : "");
	hf_json_close(json, '}');
}

static void put_diag(struct hf_json *json, const char *name, const struct hf_diag *diag)
{
	char text[HF_DIAG_SIZE];

	hf_diag_format(diag, text, sizeof text);
	hf_json_string(json, name, text);
}

static void put_failure(struct hf_json *json, const struct hf_facts *facts)
{
	char text[HF_FAILURE_SIZE];

	hf_facts_failure(facts, text, sizeof text);
	hf_json_string(json, "error", text);
}

/* What the description says, with warnings about it. */
static void put_description(struct hf_json *json, const struct hf_trace *trace)
{
	const struct hf_setup *setup = trace->setup;

	if (!setup)
		return;
	hf_json_open(json, "description", '{');
	hf_json_string(json, "file", trace->members->ini);
	hf_json_open(json, "traces", '[');
	/* The recordings of one file are as many as it is long. */
	for (size_t i = 0; i < setup->part_count && !setup->reader; i++) {
		const struct hf_setup_part *part = &setup->parts[i];

		hf_json_open(json, NULL, '{');
		hf_json_string(json, "name", part->name);
		if (*part->framing)
			hf_json_string(json, "framing", part->framing);
		if (part->size != HF_NOWHERE)
			hf_json_u64(json, "size", part->size);
		hf_json_close(json, '}');
	}
	hf_json_close(json, ']');
	hf_json_open(json, "members", '[');
	for (size_t i = 0; i < trace->members->count; i++)
		if (trace->members->path[i])
			hf_json_string(json, NULL, trace->members->path[i]);
	hf_json_close(json, ']');
	if (setup->reader)
		hf_json_u64(json, "recordings", setup->part_count);
	for (size_t i = 0; i < setup->fact_count; i++)
		hf_json_string(json, setup->facts[i].name, setup->facts[i].value);
	hf_json_u64(json, "warnings", setup->warning_count);
	hf_json_close(json, '}');
}

static const char of_another_machine[] = "it is code of another machine than the trace";

/* Why the file gives no symbols; false: it does, or none of its code was executed. */
static bool has_problem(const struct hf_open *open, size_t i, char buf[HF_DIAG_SIZE])
{
	const struct hf_symbol_files *files = &open->symbol_files;
	const struct hf_symbol_file *file = &files->file[i];
	const struct hf_bias *found = files->addresses ? &files->addresses->file[i] : NULL;

	if (file->diag.code)
		hf_diag_format(&file->diag, buf, HF_DIAG_SIZE);
	else if (open->stream && file->machine && !hf_arch_has_machine(open->stream->info.arch, file->machine))
		snprintf(buf, HF_DIAG_SIZE, "%s", of_another_machine);
	else if (found && found->verdict == HF_BIAS_DIFFERS && found->bytes)
		snprintf(buf, HF_DIAG_SIZE, "%.0f%% of the code that ran there is another: is it of another build?",
			 (double)found->differs * 100 / (double)found->bytes);
	else if (found && found->verdict == HF_BIAS_SEVERAL)
		snprintf(buf, HF_DIAG_SIZE, "its code fits at more than one address");
	else
		return false;
	return true;
}

static void put_places(struct hf_json *json, const struct hf_symbol_files *files, size_t i)
{
	const struct hf_load_addresses *addresses = files->addresses;
	char text[24];

	if (!addresses || addresses->file[i].verdict != HF_BIAS_FOUND) {
		hf_json_string(json, "note", "nothing of it is found in the code that ran");
		return;
	}
	hf_json_open(json, "bias", '[');
	for (size_t k = 0; k < addresses->count; k++)
		if (addresses->row[k].file == i) {
			snprintf(text, sizeof text, "0x%" PRIx64, addresses->row[k].bias);
			hf_json_string(json, NULL, text);
		}
	hf_json_close(json, ']');
	hf_json_u64(json, "executed", addresses->file[i].bytes);
	hf_json_u64(json, "differs", addresses->file[i].differs);
}

static void put_symbol_file(struct hf_json *json, const struct hf_open *open, size_t i)
{
	char text[HF_DIAG_SIZE];

	hf_json_open(json, NULL, '{');
	hf_json_string(json, "file", open->symbol_files.file[i].path);
	if (has_problem(open, i, text))
		hf_json_string(json, "error", text);
	else
		put_places(json, &open->symbol_files, i);
	hf_json_close(json, '}');
}

static void put_symbol_files(struct hf_json *json, const struct hf_open *open)
{
	const struct hf_symbol_files *files = &open->symbol_files;

	if (!files->file_count && !files->debug_count && !files->relocatable)
		return;
	hf_json_open(json, "symbols", '{');
	hf_json_u64(json, "count", files->symbols ? hf_symbols_count(files->symbols) : 0);
	if (files->addresses) {
		hf_json_u64(json, "executed", files->addresses->executed);
		hf_json_u64(json, "in_no_file", files->addresses->unknown);
	}
	if (files->left_out)
		hf_json_u64(json, "files_left_out", files->left_out);
	if (files->relocatable)
		hf_json_u64(json, "files_relocatable", files->relocatable);
	if (files->withheld)
		hf_json_u64(json, "files_withheld", files->withheld);
	if (files->addresses && files->addresses->limit_reached)
		hf_json_string(json, "note", "the files are too large to look for all of them");
	hf_json_open(json, "files", '[');
	for (size_t i = 0; i < files->file_count; i++)
		put_symbol_file(json, open, i);
	hf_json_close(json, ']');
	if (files->debug_count) {
		hf_json_open(json, "debug_files", '[');
		for (size_t i = 0; i < files->debug_count; i++)
			hf_json_string(json, NULL, files->debug[i].path);
		hf_json_close(json, ']');
	}
	hf_json_close(json, '}');
}

/* The first byte before the damage that may be wrong: one of the last problems, those of the file, has it. */
static void put_doubt(struct hf_json *json, struct hf_index *index)
{
	const size_t count = hf_index_problem_count(index);
	struct hf_index_problem problem;

	for (size_t i = count; i && i + 4 > count; i--)
		if (!hf_index_problem_at(index, i - 1, &problem) && problem.diag.code == HF_ERR_BOX_DOUBT) {
			put_diag(json, "doubt", &problem.diag);
			return;
		}
}

static void put_indexed(struct hf_json *json, struct hf_open *open, const struct hf_facts *facts)
{
	struct hf_diag damage;

	if (open->stream)
		put_stream(json, open->stream);
	if (facts->known.stream_size != HF_NOWHERE)
		hf_json_u64(json, "stream_size", facts->known.stream_size);
	if (facts->known.undecoded.code)
		put_failure(json, facts);
	if (hf_index_damage(open->index, &damage)) {
		put_diag(json, "damage", &damage);
		put_doubt(json, open->index);
	}
	if (hf_info_density(open))
		hf_json_u64(json, "instructions_per_byte", hf_info_density(open));
	hf_json_u64(json, "problems", hf_index_problem_count(open->index));
	put_description(json, &open->trace);
	put_symbol_files(json, open);
	hf_json_u64(json, "index_size", facts->index_size);
	put_harts(json, open->stream, facts);
	put_views(json, facts);
}

void hf_info_json(struct hf_capture *capture, struct hf_open *open, const struct hf_facts *facts, struct hf_sink *sink)
{
	struct hf_json json;
	const struct hf_codec *codec;
	const struct hf_box *box;
	char reason[HF_FAULT_SIZE + HF_PATH_SIZE];
	uint64_t size;
	bool waiting;

	pthread_mutex_lock(&capture->lock);
	waiting = !facts && capture->state == HF_CAPTURE_WAITING;
	codec = capture->codec;
	box = capture->box;
	size = (uint64_t)capture->stamp.size;
	pthread_mutex_unlock(&capture->lock);
	hf_json_begin(&json, sink);
	hf_json_open(&json, NULL, '{');
	hf_json_string(&json, "capture", capture->path);
	hf_json_string(&json, "state", waiting		      ? "waiting for the index directory"
				       : !facts		      ? "indexing"
				       : hf_facts_has_failed(facts) ? "failed"
								    : "ready");
	if (waiting && hf_index_dir_text(capture->shared->index_dir, reason, sizeof reason))
		hf_json_string(&json, "reason", reason);
	if (codec) {
		hf_json_string(&json, "format", codec->name);
		hf_json_string(&json, "title", codec->title);
	}
	hf_json_string(&json, "container", box ? box->name : "none");
	hf_json_u64(&json, "file_size", size);
	if (facts && facts->failure.code)
		put_failure(&json, facts);
	else if (facts && open)
		put_indexed(&json, open, facts);
	hf_json_close(&json, '}');
	hf_json_end(&json);
}

/* Packets of real programs have a few dozen instructions a byte, of loops some hundred. */
enum { DENSE = 1000 };

uint64_t hf_info_density(const struct hf_open *open)
{
	const uint64_t size = open->trace.identity.size;
	const uint64_t insns = hf_facts_sum(open->facts).insns;

	return size && insns / size >= DENSE ? insns / size : 0;
}

bool hf_info_cause(const struct hf_open *open, const struct hf_index_problem *problem, char *buf, size_t size)
{
	char words[512];

	switch (problem->diag.code) {
	case HF_ERR_SETUP_LIKELY:
		hf_trial_text(hf_index_codec(open->index), open->trace.setup, problem->diag.detail, words,
			      sizeof words);
		snprintf(buf, size, "likely cause: %s", words);
		return true;
	case HF_ERR_SETUP_PROGRAM:
		if (hf_missing_code_text(open, problem->diag.detail, words, sizeof words)) {
			snprintf(buf, size, "likely cause: %s", words);
			return true;
		}
		hf_setup_code_text(open->trace.setup, problem->hart, words, sizeof words);
		snprintf(buf, size,
			 "likely cause: the program: the trace goes to %llx, and the description has code at %s only",
			 (unsigned long long)problem->diag.detail, *words ? words : "no address");
		return true;
	case HF_ERR_SETUP_WRONG_PROGRAM:
		snprintf(buf, size,
			 "likely cause: the program: the trace hardly ever comes to the addresses at which it synchronises; it is "
			 "likely another one or another build, or more than one value is wrong");
		return true;
	default:
		return false;
	}
}

/* Puts the problem, if it is the likely cause of all others, in terms of the description. */
static bool put_cause(struct hf_sink *sink, const struct hf_capture *capture, const struct hf_open *open,
		      const struct hf_index_problem *problem)
{
	char text[HF_FAILURE_SIZE];

	if (!hf_info_cause(open, problem, text, sizeof text))
		return false;
	hf_human_path(sink, capture->path);
	hf_sink_printf(sink, ": ");
	hf_human_path(sink, text);
	hf_sink_printf(sink, "\n");
	return true;
}

static void put_problem(struct hf_sink *sink, const char *path, const struct hf_index_problem *problem, bool harts)
{
	const char *between = ";";
	char text[HF_DIAG_SIZE];

	hf_diag_format(&problem->diag, text, sizeof text);
	hf_human_path(sink, path);
	hf_sink_printf(sink, ": %s", text);
	if (harts) {
		hf_sink_printf(sink, "%s hart %u", between, (unsigned)problem->hart);
		between = ",";
	}
	if (problem->has_ordinal) {
		hf_sink_printf(sink, "%s after %llu instructions", between, (unsigned long long)problem->ordinal);
		between = ",";
	}
	if (problem->bytes) {
		hf_sink_printf(sink, "%s %llu bytes passed over", between, (unsigned long long)problem->bytes);
		between = ",";
	}
	if (problem->back)
		hf_sink_printf(sink, "%s the last %llu instructions before it may be wrong", between,
			       (unsigned long long)problem->back);
	hf_sink_printf(sink, "\n");
}

/* The warnings about files of a description, with path and line. */
static void put_warnings(struct hf_sink *sink, const struct hf_trace *trace)
{
	char path[HF_PATH_SIZE];

	for (size_t i = 0; trace->setup && i < trace->setup->warning_count; i++) {
		const struct hf_setup_warning *warning = &trace->setup->warnings[i];

		if (hf_members_resolve(trace->members->ini, warning->file, path))
			continue;
		hf_human_path(sink, path);
		if (warning->line)
			hf_sink_printf(sink, ":%u", (unsigned)warning->line);
		hf_sink_printf(sink, ": warning: ");
		hf_human_path(sink, warning->text);
		hf_sink_printf(sink, "\n");
	}
}

/* ELF files beside the capture that give no symbols, with the reason. */
static void put_symbol_file_problems(struct hf_sink *sink, const struct hf_capture *capture, const struct hf_open *open)
{
	const struct hf_symbol_files *files = &open->symbol_files;
	char text[HF_DIAG_SIZE];

	for (size_t i = 0; i < files->file_count; i++)
		if (has_problem(open, i, text)) {
			hf_human_path(sink, files->file[i].path);
			hf_sink_printf(sink, ": warning: it gives no symbols: %s\n", text);
		}
	if (files->left_out) {
		hf_human_path(sink, capture->path);
		hf_sink_printf(sink, ": warning: of the files beside it %" PRIu64 " are not looked at\n",
			       files->left_out);
	}
	if (files->relocatable) {
		hf_human_path(sink, capture->path);
		hf_sink_printf(sink,
			       ": warning: of the files beside it %" PRIu64 " are relocatable (.o, .ko) and give no "
			       "symbols: where each of their sections was placed is not looked for\n",
			       files->relocatable);
	}
	if (files->withheld) {
		hf_human_path(sink, files->dir->path);
		hf_sink_printf(sink,
			       ": warning: %" PRIu64 " files give no symbols: fewer may read them than the directory\n",
			       files->withheld);
	}
	if (files->addresses && files->addresses->limit_reached) {
		hf_human_path(sink, capture->path);
		hf_sink_printf(sink, ": warning: the ELF files beside it are too large to look for all of them\n");
	}
}

static void put_errors(struct hf_capture *capture, struct hf_open *open, const struct hf_facts *facts,
		       struct hf_sink *sink)
{
	struct hf_index_problem problem = {.diag = facts->failure};
	size_t count, left, first = 0;

	if (facts->failure.code && facts->complaint) {
		hf_human_path(sink, facts->complaint);
		hf_sink_printf(sink, "\n");
		return;
	}
	if (facts->failure.code) {
		put_problem(sink, capture->path, &problem, false);
		return;
	}
	count = left = hf_index_problem_count(open->index);
	if (count && !hf_index_problem_at(open->index, 0, &problem) && put_cause(sink, capture, open, &problem)) {
		first = 1;
		left--;
	}
	put_warnings(sink, &open->trace);
	hf_missing_code_put(sink, capture->path, open);
	put_symbol_file_problems(sink, capture, open);
	for (size_t i = first; i < count && i < HF_INDEX_PROBLEM_MAX; i++)
		if (!hf_index_problem_at(open->index, i, &problem)) {
			put_problem(sink, capture->path, &problem, facts->hart_count > 1);
			left--;
		}
	if (left) {
		hf_human_path(sink, capture->path);
		hf_sink_printf(sink, ": and %zu more problems\n", left);
	}
}

void hf_info_duration(double seconds, char *buf, size_t size)
{
	if (seconds < 0)
		snprintf(buf, size, "?");
	else if (seconds < 120)
		snprintf(buf, size, "%.0f s", seconds);
	else if (seconds < 7200)
		snprintf(buf, size, "%.0f min", seconds / 60);
	else
		snprintf(buf, size, "%.0f h", seconds / 3600 < 9999 ? seconds / 3600 : 9999);
}

void hf_info_indexing(struct hf_capture *capture, struct hf_sink *sink)
{
	char left[32], why[64], text[HF_INFO_INDEXING_SIZE];
	struct hf_index_dir_stats dir;

	pthread_mutex_lock(&capture->lock);
	if (capture->state == HF_CAPTURE_WAITING) {
		hf_index_dir_get_stats(capture->shared->index_dir, &dir);
		snprintf(text, sizeof text, "waiting for the index directory: %.30s",
			 dir.failing ? hf_libc_error(dir.fault.errnum, why, sizeof why) : "again soon");
	} else if (capture->paused_ns) {
		snprintf(text, sizeof text, "%5.1f%% indexed, put aside for another capture",
			 hf_capture_percent(capture));
	} else {
		hf_info_duration(hf_capture_seconds_left(capture), left, sizeof left);
		snprintf(text, sizeof text, "%5.1f%% indexed, %s left", hf_capture_percent(capture), left);
	}
	pthread_mutex_unlock(&capture->lock);
	/* Padded, so that the size does not change. */
	hf_sink_printf(sink, "%-*s\n", HF_INFO_INDEXING_SIZE - 1, text);
}

void hf_info_text(enum hf_text text, struct hf_capture *capture, struct hf_open *open, const struct hf_facts *facts,
		  struct hf_sink *sink)
{
	(text == HF_TEXT_INFO ? hf_info_json : put_errors)(capture, open, facts, sink);
}

int hf_info_measure(struct hf_capture *capture, struct hf_open *open, struct hf_facts *facts)
{
	uint8_t buf[2 * HF_SINK_ROOM];
	struct hf_sink sink;

	/* info.json names the size of errors.txt. */
	hf_sink_init_count(&sink, buf, sizeof buf);
	put_errors(capture, open, facts, &sink);
	facts->known.text_size[HF_TEXT_ERRORS] = hf_sink_total(&sink);
	hf_sink_init_count(&sink, buf, sizeof buf);
	hf_info_json(capture, open, facts, &sink);
	facts->known.text_size[HF_TEXT_INFO] = hf_sink_total(&sink);
	return sink.err;
}
