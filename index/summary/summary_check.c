/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the contents of a summary are consistent. */
#include "index/summary/group_read.h"
#include "index/summary/rare.h"
#include "index/summary/registers.h"
#include "index/summary/summary.h"
#include "index/summary/words.h"

#include <stdlib.h>

/* ---- runs ---- */

struct check {
	uint64_t *count; /* of each run: executions not yet found in a chunk */
	uint64_t insns;
};

static int check_run(void *ctx, const struct hf_summary_run *run)
{
	struct check *c = ctx;

	if (c->count[run->number] || run->count > HF_COUNT_MAX / run->run.insns ||
	    __builtin_add_overflow(c->insns, run->count * run->run.insns, &c->insns))
		return HF_ERR_STATE;
	c->count[run->number] = run->count;
	return 0;
}

static int check_postings(void *ctx, uint64_t run, const struct hf_posting *posting, size_t n)
{
	struct check *c = ctx;

	for (size_t i = 0; i < n; i++) {
		if (posting[i].count > c->count[run])
			return HF_ERR_STATE;
		c->count[run] -= posting[i].count;
	}
	return 0;
}

static int check_runs(struct hf_summary *summary, const struct hf_summary_hart *hart)
{
	struct check c = {.count = calloc((size_t)hart->runs + 1, sizeof *c.count)};
	int err = c.count ? hf_summary_runs(summary, hart->id, 0, UINT64_MAX, check_run, &c) : HF_ERR_NOMEM;

	if (!err && c.insns != hart->insns)
		err = HF_ERR_STATE;
	if (!err)
		err = hf_summary_postings(summary, hart->id, 0, UINT64_MAX, NULL, check_postings, &c);
	for (uint64_t i = 0; i < hart->runs && !err; i++)
		err = c.count[i] ? HF_ERR_STATE : 0;
	free(c.count);
	return err;
}

/* ---- the rest ---- */

static int see_range(void *ctx, uint64_t chunk, const struct hf_range *range, unsigned level)
{
	(void)ctx, (void)chunk, (void)range, (void)level;
	return 0;
}

static int see_register(void *ctx, enum hf_registers_what what, uint8_t class, uint16_t number,
			const struct hf_chunk_set *set)
{
	(void)ctx, (void)what, (void)class, (void)number, (void)set;
	return 0;
}

static int see_hit(void *ctx, const struct hf_rare_hit *hit)
{
	(void)ctx, (void)hit;
	return 0;
}

static int check_words(struct hf_summary *summary, uint32_t hart, enum hf_words_what what)
{
	struct hf_chunk_set set;
	int err = hf_words_each(summary, hart, what, 0, UINT64_MAX, see_range, NULL);

	/* And the filters. */
	if (!err && !(err = hf_words_find(summary, hart, what, 0, 0, &set, NULL)))
		hf_chunk_set_free(&set);
	return err == HF_ERR_UNSUPPORTED ? 0 : err;
}

static int check_rare(struct hf_summary *summary, uint32_t hart)
{
	int err = 0;

	for (unsigned kind = 0; kind < HF_RARE_KINDS && !err; kind++) {
		const struct hf_rare_question all = {
			.kind = (enum hf_rare_kind)kind, .any_detail = true, .any_value = true};
		struct hf_rare *rare;

		err = hf_rare_find(summary, hart, &all, &rare);
		if (!err)
			err = hf_rare_each(rare, see_hit, NULL);
		hf_rare_free(rare);
	}
	return err;
}

static int check_hart(struct hf_summary *summary, const struct hf_summary_hart *hart)
{
	int err = check_runs(summary, hart);

	if (!err)
		err = hf_summary_check_calls(summary, hart->id);
	for (unsigned what = HF_WORDS_WRITES; what <= HF_WORDS_ATTEMPT_READS && !err; what++)
		err = check_words(summary, hart->id, (enum hf_words_what)what);
	if (!err)
		err = check_rare(summary, hart->id);
	if (!err)
		err = hf_registers_each(summary, hart->id, see_register, NULL);
	return err == HF_ERR_UNSUPPORTED ? 0 : err;
}

int hf_summary_check(struct hf_summary *summary)
{
	int err = 0;

	for (size_t i = 0; i < summary->hart_count && !err; i++)
		err = check_hart(summary, &summary->harts[i]);
	return hf_published_noted(&summary->file, err);
}
