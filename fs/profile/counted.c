/* SPDX-License-Identifier: Apache-2.0 */
/* What all texts of a profile are made of: how often each instruction was executed, and the calls. */
#include "fs/profile/counted.h"
#include "fs/bytes/answer.h"
#include "fs/facts/facts.h"
#include "fs/facts/opened.h"

static struct hf_insn_range range_of(const struct hf_profile_source *source)
{
	return (struct hf_insn_range){
		.first = source->first, .end = source->end, .stop = source->stop, .ctx = source->ctx};
}

static int count_events(const struct hf_profile_source *source, struct hf_counts *counts,
			struct hf_summary_tree **ret_tree)
{
	const struct hf_insn_range range = range_of(source);
	struct hf_cursor cursor = hf_profile_cursor(source);
	struct hf_diag diag;
	int err = hf_counts_of_events(&cursor, &range, counts, ret_tree, &diag);

	hf_cursor_fini(&cursor);
	return err;
}

/* A long slice: its instructions are counted, its calls estimated. */
static int ask_summary_of_slice(const struct hf_profile_source *source, struct hf_counts *counts,
				struct hf_summary_tree **ret_tree)
{
	const struct hf_insn_range range = range_of(source);
	struct hf_cursor cursor = hf_profile_cursor(source);
	struct hf_summary_tree *all;
	struct hf_diag diag;
	int err = hf_summary_tree_load(source->summary, source->hart, &all);

	if (err)
		return err;
	err = hf_counts_of_range(&cursor, source->summary, &range, counts, &diag);
	hf_cursor_fini(&cursor);
	if (!err)
		err = hf_summary_tree_sample(source->summary, source->open->index, all, range.first, range.end, ret_tree);
	hf_summary_tree_free(all);
	return err;
}

static int ask_summary(const struct hf_profile_source *source, struct hf_counts *counts, struct hf_summary_tree **ret_tree)
{
	int err = hf_counts_of_summary(source->summary, source->hart, counts);

	return err ? err : hf_summary_tree_load(source->summary, source->hart, ret_tree);
}

/* A short slice is decoded: a summary tells nothing of its calls. */
int hf_profile_counted(const struct hf_profile_source *source, struct hf_counts *counts, struct hf_summary_tree **ret_tree,
		       bool *ret_sampled)
{
	*ret_sampled = false;
	if (source->summary && hf_profile_is_whole(source))
		return ask_summary(source, counts, ret_tree);
	if (source->decodes)
		return count_events(source, counts, ret_tree);
	*ret_sampled = true;
	return source->summary ? ask_summary_of_slice(source, counts, ret_tree) : HF_ERR_NOT_FOUND;
}

bool hf_profile_is_whole(const struct hf_profile_source *source)
{
	const struct hf_facts_hart *hart = hf_facts_hart(source->open->facts, source->hart);

	return hart && source->end - source->first == hart->info.insns;
}

struct counting {
	struct hf_profile_source source;
	struct hf_counts *counts;
	struct hf_summary_tree **tree;
};

static int count_whole(void *ctx, struct hf_summary *summary)
{
	struct counting *c = ctx;
	bool sampled;
	int err;

	c->source.summary = summary;
	*c->counts = (struct hf_counts){0};
	*c->tree = NULL;
	err = hf_profile_counted(&c->source, c->counts, c->tree, &sampled);
	if (err)
		hf_counts_free(c->counts);
	return err;
}

static bool is_stopping(void *ctx)
{
	return hf_stopping(ctx);
}

int hf_profile_count(struct hf_open *open, uint32_t id, struct hf_counts *ret_counts, struct hf_summary_tree **ret_tree)
{
	const struct hf_facts_hart *hart = hf_facts_hart(open->facts, id);
	struct counting c = {
		.source = {.open = open, .hart = id, .stop = is_stopping, .ctx = open->capture->common},
		.counts = ret_counts,
		.tree = ret_tree,
	};

	if (!hart || !open->stream)
		return HF_ERR_NOT_FOUND;
	c.source.end = hart->info.insns;
	c.source.decodes = c.source.end <= HF_PROFILE_DECODED;
	return hf_answer_summed(open, count_whole, &c);
}
