/* SPDX-License-Identifier: Apache-2.0 */
/* Whether all that a summary says can be. */
#include "index/summary/inverse_read.h"
#include "index/summary/summary.h"
#include "index/summary/summary_internal.h"

#include <stdlib.h>

/* ---- runs ---- */

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

/* ---- other parts ---- */

struct part_check {
	struct hf_summary *summary;
	enum hf_inverse_part part;
	uint64_t total;
};

static int check_list(void *ctx, const struct hf_inverse_found *found)
{
	struct part_check *c = ctx;
	struct hf_posting posting;
	struct hf_list list;
	uint8_t *bytes;
	int err = hf_inverse_list(c->summary, c->part, found, &list, &bytes);

	while (!err)
		err = hf_list_next(&list, &posting);
	free(bytes);
	if (__builtin_add_overflow(c->total, found->facts.total, &c->total))
		return HF_ERR_STATE;
	return err == HF_NOTE_END ? 0 : err;
}

static int check_part(struct hf_summary *summary, uint32_t hart, enum hf_inverse_part part)
{
	static const hf_inverse_shift_fn shifts[HF_INVERSE_PARTS] = {
		[HF_INVERSE_RARE] = hf_inverse_level,	     [HF_INVERSE_WRITES] = hf_words_shift,
		[HF_INVERSE_READS] = hf_words_shift,	     [HF_INVERSE_ATTEMPT_WRITES] = hf_words_shift,
		[HF_INVERSE_ATTEMPT_READS] = hf_words_shift, [HF_INVERSE_REGISTERS] = hf_inverse_level,
	};
	const struct hf_inverse_question all = {
		.part = part, .last = UINT64_MAX, .shift = shifts[part], .places = part != HF_INVERSE_RARE};
	struct part_check check = {.summary = summary, .part = part};
	struct hf_inverse_head head;
	int err = hf_inverse_head(summary, hart, part, &head);

	if (!err)
		err = hf_inverse_find(summary, hart, &all, check_list, &check);
	return !err && check.total != head.total ? HF_ERR_STATE : err;
}

static int check_parts(struct hf_summary *summary)
{
	int err = 0;

	for (size_t i = 0; i < summary->hart_count; i++)
		for (unsigned part = 0; part < HF_INVERSE_PARTS && !err; part++)
			err = check_part(summary, summary->harts[i].id, part);
	return err;
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
	if (!err)
		err = check_parts(summary);
	return hf_published_noted(&summary->file, err);
}
