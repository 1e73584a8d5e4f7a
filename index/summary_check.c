/* SPDX-License-Identifier: Apache-2.0 */
/* Whether all that a summary says can be. */
#include "index/summary_internal.h"

#include <stdlib.h>

struct check {
	struct hf_summary *summary;
	uint64_t insns;
};

static int check_run(void *ctx, const struct hf_summary_run *run)
{
	struct check *c = ctx;
	struct hf_posting posting;
	struct hf_list list;
	uint8_t *bytes;
	int err = hf_summary_list(c->summary, run, &list, &bytes);

	while (!err)
		err = hf_list_next(&list, &posting);
	free(bytes);
	if (run->count > HF_COUNT_MAX / run->run.insns ||
	    __builtin_add_overflow(c->insns, run->count * run->run.insns, &c->insns))
		return HF_ERR_STATE;
	return err == HF_NOTE_END ? 0 : err;
}

int hf_summary_check(struct hf_summary *summary)
{
	int err = 0;

	for (size_t i = 0; i < summary->hart_count && !err; i++) {
		struct check check = {.summary = summary};

		err = hf_summary_runs(summary, summary->harts[i].id, 0, UINT64_MAX, check_run, &check);
		if (!err && check.insns != summary->harts[i].insns)
			err = HF_ERR_STATE;
		if (!err)
			err = hf_summary_check_calls(summary, summary->harts[i].id);
	}
	return hf_published_noted(&summary->file, err);
}
