/* SPDX-License-Identifier: Apache-2.0 */
#include "index/answer/mode_marks.h"

#include "codecs/base/array.h"
#include "index/read/decode_index.h"

#include <stdlib.h>

/* What is under way. */
struct marking {
	const struct hf_mode_marks *of;
	struct hf_mode_marked *found;
	uint64_t first, last; /* chunks that have any of the instructions */
	uint64_t low, high;   /* those in [low, high) the lists have counted: */
	uint64_t *listed;     /* instructions of each that count */
	uint64_t seen;	      /* that count, so far */
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
	struct hf_list_reader *reader;
};

/* The run was executed count times: that are *ret_n instructions. */
static int add_insns(struct marking *m, const struct hf_run *run, uint64_t count, uint64_t *ret_n)
{
	uint64_t *insns = &m->found->insns[run->key.mode];

	if (__builtin_mul_overflow(count, run->insns, ret_n) || __builtin_add_overflow(*insns, *ret_n, insns))
		return HF_ERR_STATE;
	return 0;
}

static int add_run(void *ctx, const struct hf_summary_run *run)
{
	const struct listing_up *up = ctx;
	struct marking *m = up->marking;
	struct hf_posting posting;
	struct hf_list list;
	uint64_t n;
	int err;

	if (run->facts.end <= m->low || run->facts.first >= m->high)
		return 0;
	if (run->run.key.mode >= HF_MODE_COUNT)
		return HF_ERR_STATE;
	if (stopped(m->of))
		return HF_ERR_CANCELLED;
	/* Where it lies makes no difference. */
	if (!counts(m->of, run->run.key.mode) && run->facts.first >= m->low && run->facts.end <= m->high)
		return add_insns(m, &run->run, run->count, &n);
	err = hf_summary_list_by(m->of->summary, up->reader, run, &list);
	if (!err)
		err = hf_list_seek(&list, m->low, &posting);
	while (!err && posting.chunk < m->high) {
		err = add_insns(m, &run->run, posting.count, &n);
		if (!err) {
			/* No more than the sum of all, which fits. */
			m->listed[posting.chunk - m->low] += counts(m->of, run->run.key.mode) ? n : 0;
			err = hf_list_next(&list, &posting);
		}
	}
	return err == HF_NOTE_END ? 0 : err;
}

static int list_up(struct marking *m)
{
	struct listing_up up = {.marking = m};
	int err;

	if (!m->of->summary || m->low >= m->high)
		return 0;
	m->listed = calloc(m->high - m->low, sizeof *m->listed);
	if (!m->listed)
		return HF_ERR_NOMEM;
	err = hf_list_reader_new(&up.reader);
	if (!err)
		err = hf_summary_runs(m->of->summary, m->of->cursor->hart, 0, UINT64_MAX, add_run, &up);
	hf_list_reader_free(up.reader);
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

/* sum: nothing else counts the instructions of this chunk. */
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
	/* The next one that is marked. */
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
