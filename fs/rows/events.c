/* SPDX-License-Identifier: Apache-2.0 */
/* Rows out of events: which chunks may have any, and what lies in them. */
#include "fs/rows/events.h"

#include "codecs/base/text.h"
#include "fs/rows/rare_plan.h"

#include <stdlib.h>
#include <string.h>

struct reading {
	struct hf_question question; /* texts in it are borrowed */
	struct hf_terms *terms;	     /* NULL: nothing is asked of lists */
	struct hf_find_plan plan;
	uint64_t first, end; /* ordinals in [first, end) */
	uint64_t next;	     /* chunks of the plan that were looked at */
	struct hf_rows_chunk *chunk;
	size_t low, high; /* heads of it that are still to come */
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
	const struct hf_rows_events *how = rows->table->how;
	const bool listed = (r->terms || how->rare) && high - low > 1;
	struct hf_find_ask ask = {.terms = r->terms,
				  .summary = listed ? hf_rows_hart_summary(rows->hart) : NULL,
				  .index = rows->hart->open->index,
				  .hart = rows->hart->info.id,
				  .low = low,
				  .high = high,
				  .disasm = rows->session->disasm};
	int err = HF_ERR_UNSUPPORTED;

	r->plan = (struct hf_find_plan){.low = low, .high = high};
	if (ask.summary)
		err = r->terms ? hf_find_plan_new(&ask, &r->plan) : hf_rows_rare_plan(&ask, how->rare, &r->plan);

	/* A list that is damaged, or is not there, costs time and no row. */
	if (err == HF_ERR_STATE)
		hf_rows_hart_distrust(rows->hart);
	if (err == HF_ERR_NOMEM || !err)
		return err;
	r->plan = (struct hf_find_plan){.low = low, .high = high};
	return 0;
}

int hf_rows_ask_range(const struct hf_rows *rows, unsigned column, enum hf_question_kind kind,
		      struct hf_question *question)
{
	int64_t first, last;

	hf_rows_range(rows, column, &first, &last);
	/* As signed numbers the upper half comes before the lower one. */
	if ((first < 0) != (last < 0) || question->count == HF_QUESTION_TERMS)
		return 0;
	question->term[question->count++] =
		(struct hf_find_term){.kind = kind, .range = {(uint64_t)first, (uint64_t)last}};
	return 0;
}

int hf_rows_events_open(struct hf_rows *rows)
{
	const struct hf_rows_events *how = rows->table->how;
	struct reading *r = calloc(1, sizeof *r);
	uint64_t low, high;
	char why[320];
	int err = r ? 0 : HF_ERR_NOMEM;

	if (!err)
		err = find_window(rows, r, &low, &high);
	if (!err && how->ask)
		err = how->ask(rows, &r->question);
	if (!err && r->question.count)
		err = hf_terms_new(&r->question, rows->hart->open, rows->hart->info.id, &r->terms, why, sizeof why);
	if (!err)
		err = make_plan(rows, r, low, high);
	rows->own = r;
	if (err && r)
		hf_rows_events_close(rows);
	return err;
}

void hf_rows_events_close(struct hf_rows *rows)
{
	struct reading *r = rows->own;

	if (r->chunk)
		hf_rows_chunk_put(rows->session, r->chunk);
	hf_find_plan_fini(&r->plan);
	hf_terms_free(r->terms);
	free(r);
	rows->own = NULL;
}

/* ---- what is in them ---- */

/* Of the chunk what the asked ordinals have. */
static void find_heads(struct reading *r)
{
	const struct hf_rows_chunk *chunk = r->chunk;
	const uint64_t first = r->first > chunk->ordinal ? r->first - chunk->ordinal : 0;
	const uint64_t end = r->end > chunk->ordinal ? r->end - chunk->ordinal : 0;

	r->low = r->high = 0;
	if (first >= chunk->insns)
		return;
	r->low = chunk->first[first];
	r->high = chunk->first[end < chunk->insns ? end : chunk->insns];
}

static int next_chunk(struct hf_rows *rows, struct reading *r)
{
	const struct hf_find_plan *plan = &r->plan;
	int err;

	if (r->chunk)
		hf_rows_chunk_put(rows->session, r->chunk);
	r->chunk = NULL;
	for (; r->next < plan->high - plan->low; r->next++) {
		const uint64_t number = rows->ask->reverse ? plan->high - 1 - r->next : plan->low + r->next;

		if (!hf_find_plan_has(plan, number))
			continue;
		r->next++;
		err = hf_rows_chunk_get(rows->session, rows->hart, number, &r->chunk);
		if (err == HF_ERR_LIMIT)
			hf_rows_fail(rows, err, "hart %u: chunk %llu has more than %u events", rows->hart->info.id,
				     (unsigned long long)number, HF_ROWS_CHUNK_EVENTS);
		if (!err)
			find_heads(r);
		return err;
	}
	return HF_NOTE_END;
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
	const size_t behind = number - chunk->first[head->insn];

	*ret_is = false;
	if (!(how->kinds >> at.ev->kind & 1))
		return 0;
	hf_row_number(rows, row, HF_AT_ORDINAL, at.ordinal);
	*ret_is = how->put(rows, &at, row);
	if (!*ret_is)
		return 0;
	if (behind >= HF_ROWS_EVENTS || at.ordinal >= HF_ROWS_ORDINALS)
		return hf_rows_fail(rows, HF_ERR_LIMIT,
				    "hart %u, instruction %llu: rows of so many instructions, or events behind one, have "
				    "no number",
				    rows->hart->info.id, (unsigned long long)at.ordinal);
	return hf_row_id(rows, row, at.ordinal * HF_ROWS_EVENTS + behind);
}

int hf_rows_events_next(struct hf_rows *rows, struct hf_row *row)
{
	struct reading *r = rows->own;
	bool is = false;
	int err = 0;

	while (!err && r->low < r->high) {
		const size_t number = rows->ask->reverse ? --r->high : r->low++;

		err = put_event(rows, r, number, row, &is);
		if (is)
			return err;
	}
	if (err)
		return err;
	err = next_chunk(rows, r);
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
