/* SPDX-License-Identifier: Apache-2.0 */
#include "index/answer/timeline.h"
#include "index/read/decode_index.h"
#include "index/summary/words.h"

#include <stdlib.h>

struct telling {
	struct hf_summary *summary;
	struct hf_summary_book book;
	const struct hf_timeline_visitor *visitor;
	uint32_t hart;
	const struct hf_timeline_range *range;
	uint64_t *first; /* ordinal of each chunk's first instruction; at the end the number of all */
	uint64_t chunks;
	bool written, interrupt; /* for the present data; mark */
	uint64_t low, high;	 /* chunks [low, high) may have some of the range */
	enum hf_rare_kind kind;
};

static int load_chunks(struct telling *t, struct hf_index *index)
{
	struct hf_chunk *chunk = malloc(sizeof *chunk);
	int err = chunk ? 0 : HF_ERR_NOMEM;

	for (uint64_t i = 0; i < t->chunks && !err; i++) {
		err = hf_index_chunk(index, t->hart, i, chunk);
		if (err)
			break;
		t->first[i] = chunk->ordinal;
		t->first[i + 1] = chunk->ordinal + chunk->insns;
	}
	t->high = t->chunks;
	while (t->low + 1 < t->chunks && !err && t->first[t->low + 1] <= t->range->first)
		t->low++;
	while (t->high > t->low + 1 && !err && t->first[t->high - 1] > t->range->end)
		t->high--;
	free(chunk);
	return err;
}

static bool is_stopping(const struct telling *t)
{
	return t->range->stop && t->range->stop(t->range->ctx);
}

/* The range of a chunk; one without instructions is at the instruction before it. HF_NOTE_END: it is out of range. */
static inline int place_of(const struct telling *t, uint64_t chunk, struct hf_timeline_when *when)
{
	if (chunk >= t->chunks)
		return HF_ERR_STATE;
	when->chunk = chunk;
	when->first = t->first[chunk];
	when->end = t->first[chunk + 1];
	if (when->first == when->end) {
		when->first -= when->first != 0;
		when->end = when->first + 1;
	}
	return when->first < t->range->end && when->end > t->range->first ? 0 : HF_NOTE_END;
}

/* ---- code and data ---- */

/* Passes on the postings that have some of the range. */
static int put_postings(void *ctx, uint64_t run, const struct hf_posting *posting, size_t count)
{
	const struct telling *t = ctx;
	struct hf_timeline_when when[HF_TIMELINE_BATCH];
	size_t n = 0;
	int err = is_stopping(t) ? HF_ERR_CANCELLED : t->book.run[run].run.insns ? 0 : HF_ERR_STATE;

	for (size_t i = 0; i < count && !err; i++) {
		when[n].count = posting[i].count;
		err = place_of(t, posting[i].chunk, &when[n]);
		n += !err;
		err = err == HF_NOTE_END ? 0 : err;
	}
	return err || !n ? err : t->visitor->code(t->visitor->ctx, &t->book.run[run].run, when, n);
}

static int put_code(struct telling *t)
{
	int err = hf_summary_book_load(t->summary, t->hart, &t->book);

	if (!err)
		err = hf_summary_postings(t->summary, t->hart, t->low, t->high, NULL, put_postings, t);
	hf_summary_book_free(&t->book);
	return err;
}

static int put_range(void *ctx, uint64_t chunk, const struct hf_range *range, unsigned level)
{
	const struct telling *t = ctx;
	const struct hf_timeline_data data = {.first = range->first, .last = range->last, .written = t->written};
	struct hf_timeline_when when = {.count = 1};
	int err = level == HF_WORDS_UNKNOWN ? (int)HF_NOTE_END : place_of(t, chunk, &when);

	if (err)
		return err == HF_NOTE_END ? 0 : err;
	return t->visitor->data(t->visitor->ctx, &data, &when, 1);
}

static int put_words(struct telling *t, bool written)
{
	int err;

	t->written = written;
	err = is_stopping(t) ? HF_ERR_CANCELLED
			     : hf_words_each(t->summary, t->hart, written ? HF_WORDS_WRITES : HF_WORDS_READS, t->low,
					     t->high, put_range, t);
	return err == HF_ERR_UNSUPPORTED ? 0 : err;
}

/* ---- marks ---- */

static int put_hit(void *ctx, const struct hf_rare_hit *hit)
{
	const struct telling *t = ctx;
	const struct hf_timeline_when when = {
		.first = hit->first, .end = hit->last + 1, .count = hit->count, .chunk = HF_NOWHERE};

	if (when.end <= when.first)
		return HF_ERR_STATE;
	if (when.first >= t->range->end || when.end <= t->range->first)
		return 0;
	return t->visitor->mark(t->visitor->ctx, t->kind, t->interrupt, &when);
}

static int put_kind(struct telling *t, const struct hf_rare_question *question)
{
	struct hf_rare *rare;
	int err = hf_rare_find(t->summary, t->hart, question, &rare);

	t->kind = question->kind;
	t->interrupt = question->kind == HF_RARE_TRAP && question->detail % HF_RARE_UNKNOWN_CAUSE == HF_RARE_INTERRUPT;
	if (!err)
		err = hf_rare_each(rare, put_hit, t);
	hf_rare_free(rare);
	return err;
}

static int put_marks(struct telling *t)
{
	static const enum hf_rare_kind kinds[] = {HF_RARE_ATTEMPT, HF_RARE_CONTEXT, HF_RARE_GAP, HF_RARE_DOUBT,
						  HF_RARE_DISCONTINUITY};
	int err = 0;

	for (uint8_t detail = 0; detail < HF_RARE_TRAPS && !err; detail++)
		err = put_kind(t,
			       &(struct hf_rare_question){.kind = HF_RARE_TRAP, .detail = detail, .any_value = true});
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !err; i++)
		err = put_kind(t, &(struct hf_rare_question){.kind = kinds[i], .any_detail = true, .any_value = true});
	return err;
}

/* ---- stacks ---- */

static int put_stack(void *ctx, uint64_t chunk, const struct hf_summary_stack *stack)
{
	const struct telling *t = ctx;
	struct hf_timeline_when when;
	const struct hf_timeline_stack told = {.ordinal = chunk < t->chunks ? t->first[chunk] : 0,
					       .nodes = stack->nodes,
					       .count = stack->count,
					       .beyond = stack->calls_beyond + stack->traps_beyond};

	int err = place_of(t, chunk, &when);

	/* A chunk without instructions has the stack of the next one. */
	if (err || t->first[chunk] == t->first[chunk + 1])
		return err == HF_NOTE_END ? 0 : err;
	return t->visitor->stack(t->visitor->ctx, &told);
}

static int tell(struct telling *t, const struct hf_summary_tree *tree)
{
	const struct hf_timeline_visitor *visitor = t->visitor;
	int err = 0;

	if (visitor->code)
		err = put_code(t);
	if (!err && visitor->data)
		err = put_words(t, false);
	if (!err && visitor->data)
		err = put_words(t, true);
	if (!err && visitor->mark)
		err = put_marks(t);
	if (!err && visitor->stack)
		err = hf_summary_each_stack(t->summary, tree, 0, t->chunks, put_stack, t);
	return err;
}

int hf_timeline_of_summary(struct hf_summary *summary, struct hf_index *index, const struct hf_summary_tree *tree,
			   const struct hf_timeline_range *range, const struct hf_timeline_visitor *visitor)
{
	struct telling t = {.summary = summary, .visitor = visitor, .hart = tree->hart, .range = range};
	const struct hf_index_hart *harts;
	const size_t n = hf_index_harts(index, &harts);
	int err;

	for (size_t i = 0; i < n; i++)
		if (harts[i].id == tree->hart)
			t.chunks = harts[i].chunks;
	t.first = calloc((size_t)t.chunks + 1, sizeof *t.first);
	err = t.first ? 0 : HF_ERR_NOMEM;
	if (!err)
		err = load_chunks(&t, index);
	if (!err)
		err = tell(&t, tree);
	free(t.first);
	return err;
}
