/* SPDX-License-Identifier: Apache-2.0 */
#include "index/answer/mode_marks.h"

#include "codecs/base/array.h"
#include "index/read/decode_index.h"

#include <stdlib.h>

/* What is under way. */
struct marking {
	const struct hf_mode_marks *of;
	struct hf_mode_marked *found;
	uint64_t first, last; /* chunks with some of the instructions */
	uint64_t low, high;   /* chunks [low, high) are counted by lists: */
	uint64_t *listed;     /* how many instructions of each count */
	uint64_t seen;	      /* instructions that count, so far */
};

static bool stopped(const struct hf_mode_marks *of)
{
	return of->stop && of->stop(of->stop_ctx);
}

static bool counts(const struct hf_mode_marks *of, unsigned mode)
{
	return of->modes >> mode & 1;
}

/* ---- by lists ---- */

struct listing_up {
	struct marking *marking;
	/* Of each run. */
	struct listed_run {
		uint32_t insns;
		uint8_t mode;
	} *run;
};

static int take_run(void *ctx, const struct hf_summary_run *run)
{
	const struct listing_up *up = ctx;

	if (run->run.key.mode >= HF_MODE_COUNT)
		return HF_ERR_STATE;
	up->run[run->number] = (struct listed_run){.insns = run->run.insns, .mode = run->run.key.mode};
	return 0;
}

static int add_postings(void *ctx, uint64_t number, const struct hf_posting *posting, size_t count)
{
	const struct listing_up *up = ctx;
	const struct listed_run *run = &up->run[number];
	struct marking *m = up->marking;
	uint64_t *insns = &m->found->insns[run->mode], n;

	if (stopped(m->of))
		return HF_ERR_CANCELLED;
	for (size_t i = 0; i < count; i++) {
		if (__builtin_mul_overflow(posting[i].count, run->insns, &n) || __builtin_add_overflow(*insns, n, insns))
			return HF_ERR_STATE;
		/* The sum of all fits, so this does. */
		m->listed[posting[i].chunk - m->low] += counts(m->of, run->mode) ? n : 0;
	}
	return 0;
}

static int list_up(struct marking *m)
{
	struct hf_summary *summary = m->of->summary;
	struct listing_up up = {.marking = m};
	int err = 0;

	if (!summary || m->low >= m->high)
		return 0;
	m->listed = calloc(m->high - m->low, sizeof *m->listed);
	up.run = calloc(hf_summary_run_count(summary, m->of->cursor->hart) + 1, sizeof *up.run);
	if (!m->listed || !up.run)
		err = HF_ERR_NOMEM;
	if (!err)
		err = hf_summary_runs(summary, m->of->cursor->hart, 0, UINT64_MAX, take_run, &up);
	if (!err)
		err = hf_summary_postings(summary, m->of->cursor->hart, m->low, m->high, NULL, add_postings, &up);
	free(up.run);
	return err;
}

/* ---- by decoding ---- */

static int put_insn(struct marking *m, uint64_t ordinal, unsigned mode, bool sum)
{
	struct hf_mode_marked *found = m->found;
	int err;

	if (ordinal < m->of->first || ordinal >= m->of->end)
		return 0;
	mode = mode < HF_MODE_COUNT ? mode : HF_MODE_UNKNOWN;
	found->insns[mode] += sum;
	if (!counts(m->of, mode) || m->seen++ % m->of->every)
		return 0;
	err = hf_array_room(&found->mark, found->count, sizeof *found->mark);
	if (!err)
		found->mark[found->count++] = ordinal;
	return err;
}

/* sum: also counts the chunk's instructions of each mode, which no list does. */
static int decode_chunk(struct marking *m, uint64_t number, bool sum, struct hf_diag *diag)
{
	struct hf_cursor *cursor = m->of->cursor;
	struct hf_event ev[HF_CURSOR_BATCH];
	int err = stopped(m->of) ? HF_ERR_CANCELLED : hf_cursor_enter(cursor, number, diag);
	uint64_t ordinal = cursor->chunk.ordinal;
	size_t n;

	while (!err && cursor->left) {
		err = hf_cursor_take(cursor, ev, HF_CURSOR_BATCH, &n, diag);
		for (size_t i = 0; i < n && !err; i++)
			if (ev[i].kind == HF_EVENT_INSN)
				err = put_insn(m, ordinal++, ev[i].insn.mode, sum);
	}
	return err;
}

static int mark_chunk(struct marking *m, uint64_t number, struct hf_diag *diag)
{
	const bool listed = m->listed && number >= m->low && number < m->high;
	const uint64_t n = listed ? m->listed[number - m->low] : 0, before = m->seen;
	/* The next number to mark. */
	const uint64_t next = before + (m->of->every - before % m->of->every) % m->of->every;
	int err;

	if (listed && next - before >= n) {
		m->seen += n;
		return 0;
	}
	err = decode_chunk(m, number, !listed, diag);
	return !err && listed && m->seen - before != n ? HF_ERR_STATE : err;
}

/* ---- all ---- */

static int find_chunks(struct marking *m)
{
	const struct hf_mode_marks *of = m->of;
	struct hf_chunk chunk;
	int err = hf_index_chunk_of(of->cursor->index, of->cursor->hart, of->first, &chunk);

	if (err)
		return err;
	m->first = chunk.number;
	m->low = chunk.number + (chunk.ordinal != of->first);
	err = hf_index_chunk_of(of->cursor->index, of->cursor->hart, of->end - 1, &chunk);
	if (err)
		return err;
	m->last = chunk.number;
	m->high = chunk.number + (chunk.ordinal + chunk.insns <= of->end);
	return 0;
}

int hf_mode_marks_find(const struct hf_mode_marks *marks, struct hf_mode_marked *ret_marked, struct hf_diag *diag)
{
	struct marking m = {.of = marks, .found = ret_marked};
	int err;

	*ret_marked = (struct hf_mode_marked){0};
	if (marks->first == marks->end)
		return 0;
	err = find_chunks(&m);
	if (!err)
		err = list_up(&m);
	for (uint64_t number = m.first; !err && number <= m.last; number++)
		err = mark_chunk(&m, number, diag);
	free(m.listed);
	if (err)
		hf_mode_marked_free(ret_marked);
	return err;
}

void hf_mode_marked_free(struct hf_mode_marked *marked)
{
	free(marked->mark);
	*marked = (struct hf_mode_marked){0};
}
