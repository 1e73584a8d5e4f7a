/* SPDX-License-Identifier: Apache-2.0 */
#include "index/answer/course.h"
#include "index/read/decode_index.h"
#include "index/summary/words.h"

#include <stdlib.h>

struct telling {
	struct hf_summary *summary;
	struct hf_list_reader *reader;
	const struct hf_course *course;
	uint32_t hart;
	const struct hf_course_range *range;
	uint64_t *first; /* ordinal of each chunk's first instruction; behind the last: of all */
	uint64_t chunks;
	bool written, interrupt; /* what is being told */
	/* In chunks [known_first, known_end) that is known; known_end 0: nothing is. */
	struct hf_course_data known;
	uint64_t known_first, known_end;
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
	free(chunk);
	return err;
}

static bool is_stopping(const struct telling *t)
{
	return t->range->stop && t->range->stop(t->range->ctx);
}

/* Where a chunk is. One without an instruction: at the one before it. HF_NOTE_END: it has none of the range. */
static inline int place_of(const struct telling *t, uint64_t chunk, struct hf_course_when *when)
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

/* ---- lists ---- */

/* Of the next postings those that have some of the range. */
static int take(const struct telling *t, struct hf_list *list, struct hf_course_when *when, size_t *ret_n)
{
	struct hf_posting posting[HF_COURSE_BATCH];
	size_t n, kept = 0;
	int err = hf_list_take(list, posting, HF_COURSE_BATCH, &n);

	for (size_t i = 0; i < n && !err; i++) {
		when[kept].count = posting[i].count;
		err = place_of(t, posting[i].chunk, &when[kept]);
		kept += !err;
		err = err == HF_NOTE_END ? 0 : err;
	}
	*ret_n = kept;
	return err;
}

static int put_run(void *ctx, const struct hf_summary_run *run)
{
	const struct telling *t = ctx;
	struct hf_course_when when[HF_COURSE_BATCH];
	struct hf_list list;
	size_t n;
	int err = is_stopping(t) ? HF_ERR_CANCELLED : hf_summary_list_by(t->summary, t->reader, run, &list);

	while (!err && list.left) {
		err = take(t, &list, when, &n);
		if (!err && n)
			err = t->course->code(t->course->ctx, &run->run, when, n);
	}
	return err;
}

/* Whether the list need not be read: wherever it may be is told already. A chunk without an instruction is at the one
 * before it. Ranges come in the order of addresses: those near by are mostly known too. */
static bool is_known(struct telling *t, const struct hf_course_data *data, const struct hf_list_facts *chunks)
{
	struct hf_course_when when = {.chunk = HF_NOWHERE};

	if (t->known_first != chunks->first || t->known_end != chunks->end || data->first < t->known.first ||
	    data->last > t->known.last) {
		if (!t->course->is_known || chunks->postings == 1 || chunks->end > t->chunks)
			return false;
		when.first = t->first[chunks->first] - (t->first[chunks->first] != 0);
		when.end = t->first[chunks->end];
		t->known = *data;
		t->known_first = chunks->first;
		t->known_end = t->course->is_known(t->course->ctx, &t->known, &when) ? chunks->end : 0;
	}
	return t->known_end != 0;
}

static int put_one(const struct telling *t, const struct hf_course_data *data, uint64_t chunk)
{
	struct hf_course_when when = {.count = 1};
	int err = place_of(t, chunk, &when);

	if (err)
		return err == HF_NOTE_END ? 0 : err;
	return t->course->data(t->course->ctx, data, &when, 1);
}

static int put_list(const struct telling *t, const struct hf_course_data *data, struct hf_words_look *look)
{
	struct hf_course_when when[HF_COURSE_BATCH];
	struct hf_list list;
	size_t n;
	int err = hf_words_list(look, &list);

	while (!err && list.left) {
		err = take(t, &list, when, &n);
		if (!err && n)
			err = t->course->data(t->course->ctx, data, when, n);
	}
	return err;
}

/* Most ranges are of one chunk, or known. */
static int put_range(void *ctx, const struct hf_words_range *range, struct hf_words_look *look)
{
	struct telling *t = ctx;
	const struct hf_course_data data = {.first = range->first, .last = range->last, .written = t->written};

	if (range->level >= HF_WORDS_UNKNOWN || is_known(t, &data, range->chunks))
		return 0;
	return range->chunks->postings == 1 ? put_one(t, &data, range->chunk) : put_list(t, &data, look);
}

static int put_words(struct telling *t, bool written)
{
	int err;

	t->written = written;
	t->known_end = 0;
	err = hf_words_each(t->summary, t->hart, written ? HF_WORDS_WRITES : HF_WORDS_READS, put_range, t);
	return err == HF_ERR_UNSUPPORTED ? 0 : err;
}

/* ---- marks ---- */

static int put_hit(void *ctx, const struct hf_rare_hit *hit)
{
	const struct telling *t = ctx;
	const struct hf_course_when when = {
		.first = hit->first, .end = hit->last + 1, .count = hit->count, .chunk = HF_NOWHERE};

	if (when.end <= when.first)
		return HF_ERR_STATE;
	if (when.first >= t->range->end || when.end <= t->range->first)
		return 0;
	return t->course->mark(t->course->ctx, t->kind, t->interrupt, &when);
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
	struct hf_course_when when;
	const struct hf_course_stack told = {.ordinal = chunk < t->chunks ? t->first[chunk] : 0,
					     .nodes = stack->nodes,
					     .count = stack->count,
					     .beyond = stack->calls_beyond + stack->traps_beyond};

	int err = place_of(t, chunk, &when);

	/* Of a chunk without an instruction it is that of the next one. */
	if (err || t->first[chunk] == t->first[chunk + 1])
		return err == HF_NOTE_END ? 0 : err;
	return t->course->stack(t->course->ctx, &told);
}

static int tell(struct telling *t, const struct hf_summary_tree *tree)
{
	const struct hf_course *course = t->course;
	int err = 0;

	if (course->code)
		err = hf_summary_runs(t->summary, t->hart, 0, UINT64_MAX, put_run, t);
	if (!err && course->data)
		err = put_words(t, false);
	if (!err && course->data)
		err = put_words(t, true);
	if (!err && course->mark)
		err = put_marks(t);
	if (!err && course->stack)
		err = hf_summary_each_stack(t->summary, tree, 0, t->chunks, put_stack, t);
	return err;
}

int hf_course_of_summary(struct hf_summary *summary, struct hf_index *index, const struct hf_summary_tree *tree,
			 const struct hf_course_range *range, const struct hf_course *course)
{
	struct telling t = {.summary = summary, .course = course, .hart = tree->hart, .range = range};
	const struct hf_index_hart *harts;
	const size_t n = hf_index_harts(index, &harts);
	int err;

	for (size_t i = 0; i < n; i++)
		if (harts[i].id == tree->hart)
			t.chunks = harts[i].chunks;
	t.first = calloc((size_t)t.chunks + 1, sizeof *t.first);
	err = t.first ? hf_list_reader_new(&t.reader) : HF_ERR_NOMEM;
	if (!err)
		err = load_chunks(&t, index);
	if (!err)
		err = tell(&t, tree);
	hf_list_reader_free(t.reader);
	free(t.first);
	return err;
}
