/* SPDX-License-Identifier: Apache-2.0 */
/* mix.txt: how often each kind of instruction was executed. */
#include "fs/profile/texts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 32 };

struct mnemonic {
	char name[NAME_SIZE];
	uint8_t flow;
	uint64_t count;
};

static int by_name(const void *a, const void *b)
{
	const struct mnemonic *x = a, *y = b;
	const int order = strcmp(x->name, y->name);

	return order ? order : strcmp(hf_profile_flow_name(x->flow), hf_profile_flow_name(y->flow));
}

static int by_count(const void *a, const void *b)
{
	const struct mnemonic *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return by_name(a, b);
}

static void read_one(const struct hf_profiled *of, const struct hf_count *row, struct mnemonic *ret)
{
	char text[HF_DISASM_ROOM];

	hf_profile_text_of(of, row, text);
	*ret = (struct mnemonic){.flow = hf_profile_flow(row, of->extensions), .count = row->count};
	snprintf(ret->name, sizeof ret->name, "%.*s", (int)strcspn(text, " \t"), text);
}

static size_t merge(struct mnemonic *all, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (kept && by_name(&all[kept - 1], &all[i]) == 0)
			all[kept - 1].count += all[i].count;
		else
			all[kept++] = all[i];
	}
	return kept;
}

int hf_profile_mix(const struct hf_profiled *of, struct hf_sink *sink)
{
	const struct hf_counts *counts = of->counts;
	struct mnemonic *all = malloc((counts->n + 1) * sizeof *all);
	size_t n;

	if (!all)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < counts->n; i++)
		read_one(of, &counts->row[i], &all[i]);
	qsort(all, counts->n, sizeof *all, by_name);
	n = merge(all, counts->n);
	qsort(all, n, sizeof *all, by_count);
	hf_profile_put_head(of, sink);
	hf_sink_printf(sink, "#     executed  share flow        mnemonic\n");
	for (size_t i = 0; i < n; i++)
		hf_sink_printf(sink, "%14" PRIu64 " %6.2f %-11s %s\n", all[i].count,
			       hf_profile_share(of, all[i].count), hf_profile_flow_name(all[i].flow), all[i].name);
	free(all);
	return sink->err;
}
