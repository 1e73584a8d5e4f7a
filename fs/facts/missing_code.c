/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/facts/missing_code.h"

#include "codecs/ete/errors.h"
#include "fs/base/human.h"
#include "fs/facts/opened.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* What the trace lost of a file: places where it comes to its code, and instructions that are passed over, at least. */
struct lost {
	uint64_t places, insns;
};

/* Counts by the problems of the index. *ret_cut: there are more than it keeps. */
static void count_lost(const struct hf_open *open, struct lost *lost, bool *ret_cut)
{
	const struct hf_processes *processes = open->trace.setup->processes;
	const size_t count = hf_index_problem_count(open->index);
	struct hf_index_problem problem;
	struct lost *last = NULL;
	uint32_t hart = 0;

	*ret_cut = count > HF_INDEX_PROBLEM_MAX;
	for (size_t i = 0; i < count && i < HF_INDEX_PROBLEM_MAX; i++) {
		if (hf_index_problem_at(open->index, i, &problem))
			continue;
		if (problem.diag.code == HF_ERR_ETE_NO_IMAGE) {
			last = &lost[hf_processes_missing(processes, problem.diag.detail)];
			hart = problem.hart;
			last->places++;
			last->insns++; /* what the trace says next was executed there */
		} else if (problem.diag.code == HF_ERR_ETE_NO_ADDRESS && last && hart == problem.hart) {
			last->insns += problem.diag.detail;
			last = NULL;
		} else {
			last = NULL;
		}
	}
}

static void put_file(struct hf_sink *sink, const char *path, const struct hf_missing_file *file, const struct lost *lost,
		     bool cut)
{
	hf_human_path(sink, path);
	hf_sink_printf(sink, ": warning: code of '");
	hf_human_path(sink, file->name);
	hf_sink_printf(sink, "' is not known: ");
	hf_human_path(sink, file->why);
	hf_sink_printf(sink, "; %s%" PRIu64 " places, at least %" PRIu64 " instructions\n", cut ? "at least " : "", lost->places,
		       lost->insns);
}

void hf_missing_code_put(struct hf_sink *sink, const char *path, const struct hf_open *open)
{
	const struct hf_processes *processes = open->trace.setup ? open->trace.setup->processes : NULL;
	struct lost *lost = processes ? calloc(processes->missing_count + 1, sizeof *lost) : NULL;
	uint64_t others = 0;
	bool cut;

	if (!lost) {
		if (processes)
			sink->err = HF_ERR_NOMEM;
		return;
	}
	count_lost(open, lost, &cut);
	for (size_t i = 0; i < processes->missing_count; i++) {
		if (lost[i].places)
			put_file(sink, path, &processes->missing[i], &lost[i], cut);
		others += !lost[i].places;
	}
	if (others) {
		hf_human_path(sink, path);
		hf_sink_printf(sink, ": warning: %" PRIu64 " other mapped files are not there; the trace does not come to their code\n",
			       others);
	}
	free(lost);
}

bool hf_missing_code_text(const struct hf_open *open, uint64_t address, char *buf, size_t size)
{
	const struct hf_processes *processes = open->trace.setup ? open->trace.setup->processes : NULL;
	const size_t i = processes ? hf_processes_missing(processes, address) : 0;

	if (!processes || i == processes->missing_count)
		return false;
	snprintf(buf, size, "code of '%.120s' is not known: %s", processes->missing[i].name, processes->missing[i].why);
	return true;
}

bool hf_missing_code_first(const struct hf_open *open, char *buf, size_t size)
{
	const size_t count = hf_index_problem_count(open->index);
	struct hf_index_problem problem;

	for (size_t i = 0; i < count && i < HF_INDEX_PROBLEM_MAX; i++)
		if (!hf_index_problem_at(open->index, i, &problem) && problem.diag.code == HF_ERR_ETE_NO_IMAGE &&
		    hf_missing_code_text(open, problem.diag.detail, buf, size))
			return true;
	return false;
}
