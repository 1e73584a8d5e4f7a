/* SPDX-License-Identifier: Apache-2.0 */
/* branches.txt: how often each conditional branch was taken. */
#include "fs/profile/texts.h"

#include <inttypes.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	const struct hf_count *x = *(const struct hf_count *const *)a, *y = *(const struct hf_count *const *)b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void put_branch(const struct hf_profiled *of, const struct hf_count *row, struct hf_sink *sink)
{
	char text[HF_DISASM_ROOM];
	uint64_t target;

	hf_profile_text_of(of, row, text);
	hf_sink_printf(sink, "%14" PRIu64 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %016" PRIx64 " ", row->count,
		       row->taken, row->count - row->taken - row->open, row->open, row->pc);
	if (hf_profile_target(row, &target))
		hf_sink_printf(sink, "%016" PRIx64 " ", target);
	else
		hf_sink_printf(sink, "%16s ", "-");
	hf_sink_printf(sink, "%-30s ", text);
	hf_profile_put_place(of, row->pc, sink);
	hf_sink_printf(sink, "\n");
}

int hf_profile_branches(const struct hf_profiled *of, struct hf_sink *sink)
{
	const struct hf_counts *counts = of->counts;
	const struct hf_count **branch = malloc((counts->n + 1) * sizeof *branch);
	size_t n = 0;

	if (!branch)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < counts->n; i++)
		if (hf_profile_flow(&counts->row[i], of->extensions) == HF_FLOW_BRANCH)
			branch[n++] = &counts->row[i];
	qsort(branch, n, sizeof *branch, compare);
	hf_profile_put_head(of, sink);
	hf_sink_printf(sink, "#     executed        taken    not taken      unknown address          target           "
			     "instruction                    place\n");
	for (size_t i = 0; i < n; i++)
		put_branch(of, branch[i], sink);
	free(branch);
	return sink->err;
}
