/* SPDX-License-Identifier: Apache-2.0 */
/* Rows out of events: which chunks may have any, and what lies in them. */
#include "fs/rows/events.h"

#include "codecs/base/text.h"
#include "fs/find/plan.h"
#include "fs/rows/ahead.h"

/* Lists are asked of so many chunks at first, and then of so many times more each time: whoever wants few rows is not to
 * read the lists of the whole hart. */
#define WINDOW_FIRST 256u
#define WINDOW_GROWTH 8u

#include <stdlib.h>
#include <string.h>

struct reading {
	struct hf_question question; /* texts in it are borrowed */
	struct hf_predicates *predicates; /* NULL: nothing is asked of lists */
	struct hf_find_range *ranges; /* owned: of the question */
	uint64_t first, end;	      /* ordinals in [first, end) */
	uint64_t low, high;	      /* chunks in [low, high) are still to be planned, */
	uint64_t window;	      /* so many next */
	struct hf_find_plan plan;     /* of those before */
	uint64_t next;		      /* chunks of the plan that were looked at */
	struct hf_rows_ahead ahead;
	struct hf_rows_chunk *chunk;
	size_t low_head, high_head; /* heads of it that are still to come */
	uint64_t given;		    /* rows before the last chunk */
	int err;		    /* of planning */
};

/* ---- which chunks ---- */

/* The ordinals that are asked for, and the chunks that have them: none if *low == *high. */
static int find_window(const struct hf_rows *rows, struct reading *r, uint64_t *ret_low, uint64_t *ret_high)
{
	struct hf_index *index = rows->hart->open->index;
	const uint32_t id = rows->hart->info.id;
	int64_t first, last;
	struct hf_chunk chunk;
	int err;

	hf_rows_range(rows, HF_AT_ORDINAL, &first, &last);
	r->first = first < 0 ? 0 : (uint64_t)first;
	r->end = last < 0 ? 0 : (uint64_t)last < rows->hart->info.insns ? (uint64_t)last + 1 : rows->hart->info.insns;
	*ret_low = *ret_high = 0;
	/* All that a hart without instructions says has the ordinal 0. */
	if (!rows->hart->info.insns && !r->first && last >= 0) {
		r->end = 1;
		*ret_high = rows->hart->info.chunks;
		return 0;
	}
	if (r->first >= r->end)
		return 0;
	err = hf_index_chunk_of(index, id, r->first, &chunk);
	if (err)
		return HF_ERR_MISMATCH;
	*ret_low = chunk.number;
	err = hf_index_chunk_of(index, id, r->end - 1, &chunk);
	*ret_high = chunk.number + 1;
	return err ? HF_ERR_MISMATCH : 0;
}

static int make_plan(struct hf_rows *rows, struct reading *r, uint64_t low, uint64_t high)
{
	const bool listed = r->predicates && high - low > 1 && rows->hart->info.insns;
	struct hf_find_ask ask = {.predicates = r->predicates,
				  .summary = listed ? hf_rows_hart_summary(rows->hart) : NULL,
				  .index = rows->hart->open->index,
				  .hart = rows->hart->info.id,
				  .low = low,
				  .high = high,
				  .disasm = rows->session->disasm};
	int err = HF_ERR_UNSUPPORTED;

	r->plan = (struct hf_find_plan){.low = low, .high = high};
	if (ask.summary)
		err = hf_find_plan_new(&ask, &r->plan);

	/* A list that is damaged, or is not there, costs time and no row. */
	if (err == HF_ERR_STATE)
		hf_rows_hart_drop_index(rows->hart);
	if (err == HF_ERR_NOMEM || !err)
		return err;
	r->plan = (struct hf_find_plan){.low = low, .high = high};
	return 0;
}

/* The places of a condition; as signed numbers the upper half of them comes before the lower one. */
static size_t find_places(const struct hf_rows *rows, unsigned column, struct hf_find_range *to)
{
	const struct hf_rows_among *among = &rows->ask->among[column];
	int64_t first, last;
	size_t n = 0;

	hf_rows_range(rows, column, &first, &last);
	if (!(rows->ask->ranged >> column & 1))
		for (; n < among->count; n++)
			to[n] = (struct hf_find_range){(uint64_t)among->number[n], (uint64_t)among->number[n]};
	else if (first < 0 && last >= 0)
		to[n++] = (struct hf_find_range){0, (uint64_t)last};
	if (rows->ask->ranged >> column & 1)
		to[n++] = (struct hf_find_range){(uint64_t)first, first < 0 && last >= 0 ? UINT64_MAX : (uint64_t)last};
	return n;
}

void hf_rows_ask_range(const struct hf_rows *rows, unsigned column, enum hf_question_kind kind,
		       struct hf_question *question)
{
	const struct hf_rows_among *among = &rows->ask->among[column];
	struct reading *r = rows->own;
	size_t n;

	if (question->count == HF_QUESTION_TERMS || r->ranges)
		return;
	r->ranges = calloc(among->count + 2, sizeof *r->ranges);
	n = r->ranges ? find_places(rows, column, r->ranges) : 0;
	if (!n)
		return;
	question->term[question->count++] =
		(struct hf_find_term){.kind = kind, .range = r->ranges[0], .more = r->ranges + 1, .more_count = n - 1};
}

int hf_rows_events_open(struct hf_rows *rows)
{
	const struct hf_rows_events *how = rows->table->how;
	struct reading *r = rows->own = calloc(1, sizeof *r);
	char why[320];
	int err = r ? find_window(rows, r, &r->low, &r->high) : HF_ERR_NOMEM;

	if (!err && how->ask)
		how->ask(rows, &r->question);
	if (!err && how->rare && !r->question.count)
		r->question.term[r->question.count++] = (struct hf_find_term){.kind = HF_ASK_RARE, .rare = how->rare};
	if (!err && r->question.count)
		err = hf_predicates_new(&r->question, rows->hart->open, rows->hart->info.id, &r->predicates, why,
					sizeof why);
	/* A name that nothing has: there are no rows. */
	if (r && err == HF_ERR_NOT_FOUND) {
		err = 0;
		r->low = r->high;
	}
	if (r) {
		r->window = WINDOW_FIRST;
		r->given = UINT64_MAX;
		r->ahead.source = (struct hf_find_source){
			.open = rows->hart->open, .predicates = r->predicates, .hart = rows->hart->info.id};
	}
	if (err && r)
		hf_rows_events_close(rows);
	return err;
}

void hf_rows_events_close(struct hf_rows *rows)
{
	struct reading *r = rows->own;

	hf_rows_ahead_end(&r->ahead, rows);
	if (r->chunk)
		hf_rows_chunk_put(rows->session, r->chunk);
	hf_find_plan_fini(&r->plan);
	hf_predicates_free(r->predicates);
	free(r->ranges);
	free(r);
	rows->own = NULL;
}

/* ---- what is in them ---- */

/* Of the chunk what the asked ordinals have. */
static void find_heads(const struct hf_rows *rows, struct reading *r)
{
	const struct hf_rows_chunk *chunk = r->chunk;
	const uint64_t first = r->first > chunk->ordinal ? r->first - chunk->ordinal : 0;
	const uint64_t end = r->end > chunk->ordinal ? r->end - chunk->ordinal : 0;

	r->low_head = r->high_head = 0;
	if (!rows->hart->info.insns)
		r->high_head = chunk->heads;
	if (first >= chunk->insns)
		return;
	r->low_head = chunk->first[first];
	r->high_head = chunk->first[end < chunk->insns ? end : chunk->insns];
}

/* Whether there is a chunk that was not looked at. */
static bool plan_on(struct hf_rows *rows, struct reading *r)
{
	while (!r->err && r->next == r->plan.high - r->plan.low && r->low < r->high) {
		const uint64_t left = r->high - r->low, n = r->window < left ? r->window : left;
		const uint64_t low = rows->ask->reverse ? r->high - n : r->low;

		hf_find_plan_fini(&r->plan);
		r->next = 0;
		r->window *= WINDOW_GROWTH;
		if (rows->ask->reverse)
			r->high -= n;
		else
			r->low += n;
		r->err = make_plan(rows, r, low, low + n);
	}
	return !r->err && r->next < r->plan.high - r->plan.low;
}

static uint64_t number_at(const struct hf_rows *rows, const struct hf_find_plan *plan, uint64_t i)
{
	return rows->ask->reverse ? plan->high - 1 - i : plan->low + i;
}

static bool next_number(struct hf_rows *rows, uint64_t *ret_number)
{
	struct reading *r = rows->own;

	while (plan_on(rows, r)) {
		*ret_number = number_at(rows, &r->plan, r->next++);
		if (hf_find_plan_has(&r->plan, *ret_number))
			return true;
	}
	return false;
}

static int next_chunk(struct hf_rows *rows, struct reading *r)
{
	uint64_t number = 0;
	int err;

	/* Lists of words name chunks that may have rows, and in most of these there is none: as in the last one. */
	r->ahead.probe = r->given == rows->given && !r->plan.exact && r->predicates &&
			 (r->predicates->access | r->predicates->reg);
	err = hf_rows_ahead_take(&r->ahead, rows, next_number, &r->chunk, &number);
	if (err == HF_ERR_LIMIT)
		hf_rows_fail(rows, err, "hart %u: chunk %llu has more than %u events", rows->hart->info.id,
			     (unsigned long long)number, HF_ROWS_CHUNK_EVENTS);
	if (!err && r->chunk)
		find_heads(rows, r);
	return err == HF_NOTE_END && r->err ? r->err : err;
}

static int put_event(struct hf_rows *rows, const struct reading *r, size_t number, struct hf_row *row, bool *ret_is)
{
	const struct hf_rows_events *how = rows->table->how;
	const struct hf_rows_chunk *chunk = r->chunk;
	const struct hf_rows_head *head = &chunk->head[number];
	const struct hf_rows_at at = {.ev = &chunk->event[head->event],
				      .end = &chunk->event[chunk->events],
				      .ordinal = chunk->ordinal + head->insn,
				      .attempted = head->attempted};
	const bool flow = rows->hart->info.insns; /* else rows are numbered by chunks */
	const size_t behind = flow ? number - chunk->first[head->insn] : 0;

	*ret_is = false;
	if (!(how->kinds >> at.ev->kind & 1))
		return 0;
	hf_row_number(rows, row, HF_AT_ORDINAL, at.ordinal);
	*ret_is = how->put(rows, &at, row);
	if (!*ret_is)
		return 0;
	if (behind >= HF_ROWS_EVENTS || at.ordinal >= HF_ROWS_ORDINALS)
		return hf_rows_fail(rows, HF_ERR_LIMIT,
				    "hart %u, instruction %llu: rows of so many instructions, or events after one, have "
				    "no number",
				    rows->hart->info.id, (unsigned long long)at.ordinal);
	return hf_row_id(rows, row, flow ? at.ordinal * HF_ROWS_EVENTS + behind : chunk->number * HF_ROWS_CHUNK_EVENTS + number);
}

int hf_rows_events_next(struct hf_rows *rows, struct hf_row *row)
{
	struct reading *r = rows->own;
	bool is = false;
	int err = 0;

	while (!err && r->low_head < r->high_head) {
		const size_t number = rows->ask->reverse ? --r->high_head : r->low_head++;

		err = put_event(rows, r, number, row, &is);
		if (is)
			return err;
	}
	if (err)
		return err;
	if (r->chunk)
		hf_rows_chunk_put(rows->session, r->chunk);
	err = next_chunk(rows, r);
	r->given = rows->given;
	return err ? err : HF_NOTE_MORE;
}

void hf_row_value(const struct hf_rows *rows, struct hf_row *row, unsigned column, const struct hf_rows_at *at,
		  uint64_t value, uint32_t more)
{
	uint8_t text[HF_ROWS_TEXT / 2], *p = text;

	if (!more) {
		hf_row_number(rows, row, column, value);
		return;
	}
	if (!hf_row_wants(rows, column))
		return;
	p = hf_text_put_hex16(p, value);
	for (const struct hf_event *ev = at->ev + 1; ev < at->end && ev->kind == HF_EVENT_DATA; ev++)
		for (unsigned i = 0; i < ev->used && i < sizeof ev->data.bytes; i += 8) {
			const unsigned size = ev->used - i < 8 ? ev->used - i : 8;
			uint64_t word = 0;

			if (p - text > (ptrdiff_t)sizeof text - 64) {
				memcpy(p, "...", 3);
				return hf_row_copy(rows, row, column, (char *)text, (size_t)(p - text) + 3);
			}
			memcpy(&word, ev->data.bytes + i, size);
			*p++ = '_';
			p = hf_text_put_hex_width(p, word, 2 * size);
		}
	hf_row_copy(rows, row, column, (char *)text, (size_t)(p - text));
}
