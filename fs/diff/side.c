/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/diff/side.h"
#include "fs/facts/opened.h"

#include <stdlib.h>
#include <string.h>

/* What an instruction is apart from its mode and what it does to the flow: opcode, size, instruction set
 * (index/base/prefix_digest.h). */
#define CODE_MASK UINT64_C(0x0000ffffffffffff)

/* What is no further away is decoded on the way there. */
#define NEAR 16384u

void hf_diff_side_fini(struct hf_diff_side *side)
{
	hf_cursor_fini(&side->cursor);
	hf_cursor_fini(&side->other);
	free(side->store);
	*side = (struct hf_diff_side){0};
}

static void attach(struct hf_diff_side *side, struct hf_cursor *cursor)
{
	const struct hf_open *open = side->open;

	if (!cursor->stream)
		*cursor = (struct hf_cursor){
			.stream = open->stream, .src = open->source, .index = open->index, .hart = side->hart};
}

/* Events of the chunk at hand, or of the next one that has any; HF_NOTE_END. */
static int take(struct hf_diff_side *side, struct hf_cursor *cursor, struct hf_event *ev, size_t *ret_n)
{
	int err = 0;

	while (!err && !cursor->left) {
		err = hf_cursor_advance(cursor, NULL);
		side->decoded += !err && cursor->chunk.insns;
	}
	return err ? err : hf_cursor_take(cursor, ev, HF_CURSOR_BATCH, ret_n, NULL);
}

/* ---- what it did before an instruction ---- */

/* How many of the events belong to the insns instructions that are still wanted, which that number becomes. */
static size_t count_wanted(const struct hf_event *ev, size_t n, uint64_t *insns)
{
	for (size_t i = 0; i < n; i++) {
		if (ev[i].kind != HF_EVENT_INSN)
			continue;
		if (!*insns)
			return i;
		--*insns;
	}
	return n;
}

/* The rest is added to what the chunk at hand begins with. */
static int add_up(struct hf_diff_side *side, uint64_t insns, struct hf_prefix_digest *prefix)
{
	struct hf_prefix_digester digester;
	struct hf_event ev[HF_CURSOR_BATCH];
	size_t n = 0, wanted = 0;
	int err = hf_cursor_enter(&side->other, side->other.chunk.number, NULL);

	side->decoded++;
	hf_prefix_digester_begin(&digester, &side->other.chunk.before, side->other.chunk.ordinal);
	while (!err && wanted == n) {
		err = take(side, &side->other, ev, &n);
		if (err)
			break;
		wanted = count_wanted(ev, n, &insns);
		hf_prefix_digester_put(&digester, ev, wanted);
	}
	if (err && (err != HF_NOTE_END || insns))
		return err < 0 ? err : HF_ERR_MISMATCH;
	*prefix = hf_prefix_digester_end(&digester);
	return 0;
}

int hf_diff_side_before(struct hf_diff_side *side, uint64_t ordinal, struct hf_prefix_digest *ret_prefix)
{
	struct hf_chunk *chunk = &side->other.chunk;
	int err;

	*ret_prefix = hf_prefix_digest_none;
	if (!ordinal)
		return 0;
	attach(side, &side->other);
	err = hf_index_chunk_of(side->open->index, side->hart, ordinal < side->insns ? ordinal : ordinal - 1, chunk);
	if (err)
		return err == HF_ERR_NOMEM ? err : HF_ERR_MISMATCH;
	/* The accesses of the last instruction may be in the next chunk. */
	if (chunk->ordinal == ordinal && !side->accesses) {
		*ret_prefix = chunk->before;
		return 0;
	}
	return add_up(side, ordinal - chunk->ordinal, ret_prefix);
}

/* ---- the window ---- */

/* Another item has room then. */
static int make_room(struct hf_diff_side *side)
{
	const size_t gone = (size_t)(side->item - side->store);
	struct hf_diff_item *bigger;
	size_t room;

	if (gone + side->count < side->room)
		return 0;
	if (gone && gone >= side->room / 2) {
		memmove(side->store, side->item, side->count * sizeof *side->item);
		side->item = side->store;
		return 0;
	}
	room = side->room ? 2 * side->room : 4096;
	bigger = realloc(side->store, room * sizeof *bigger);
	if (!bigger)
		return HF_ERR_NOMEM;
	side->store = bigger;
	side->item = bigger + gone;
	side->room = room;
	return 0;
}

/* The last item has all of its accesses. */
static void close_item(struct hf_diff_side *side)
{
	if (!side->open_item)
		return;
	if (side->accesses) {
		const struct hf_prefix_digest all = hf_prefix_digester_end(&side->digester);

		side->item[side->count].access = all.access;
		side->item[side->count].value = all.value;
	}
	side->open_item = false;
	side->count++;
}

static int put(struct hf_diff_side *side, const struct hf_event *ev, size_t n)
{
	int err = 0;

	for (; n && !err; n--, ev++) {
		if (ev->kind != HF_EVENT_INSN) {
			if (side->accesses)
				hf_prefix_digester_put_accesses(&side->digester, ev, 1);
			continue;
		}
		close_item(side);
		err = make_room(side);
		if (err)
			break;
		side->item[side->count] =
			(struct hf_diff_item){.pc = ev->insn.pc, .code = ev->word[2] & CODE_MASK};
		side->open_item = true;
		if (side->accesses) {
			hf_prefix_digester_begin(&side->digester, &hf_prefix_digest_none, 0);
			hf_prefix_digester_put_accesses(&side->digester, ev, 1);
		} else {
			close_item(side);
		}
	}
	return err;
}

/* Begins anew there. */
static int seek(struct hf_diff_side *side, uint64_t ordinal)
{
	struct hf_event insn;
	int err;

	side->item = side->store;
	side->count = 0;
	side->base = ordinal;
	side->begun = true;
	side->open_item = false;
	side->ended = ordinal >= side->insns;
	if (side->ended)
		return 0;
	attach(side, &side->cursor);
	side->decoded++;
	err = hf_cursor_seek(&side->cursor, ordinal, &insn, NULL);
	return err ? err : put(side, &insn, 1);
}

int hf_diff_side_fill(struct hf_diff_side *side, uint64_t count)
{
	struct hf_event ev[HF_CURSOR_BATCH];
	size_t n;
	int err = 0;

	while (!err && side->count < count && !side->ended) {
		err = take(side, &side->cursor, ev, &n);
		if (!err) {
			err = put(side, ev, n);
		} else if (err == HF_NOTE_END) {
			close_item(side);
			side->ended = true;
			err = side->base + side->count == side->insns ? 0 : HF_ERR_MISMATCH;
		}
	}
	return err;
}

int hf_diff_side_move(struct hf_diff_side *side, uint64_t ordinal)
{
	size_t gone;
	int err;

	if (!side->begun || ordinal < side->base || ordinal > side->base + side->count + NEAR)
		return seek(side, ordinal);
	err = hf_diff_side_fill(side, ordinal - side->base);
	if (err)
		return err;
	gone = (size_t)(ordinal - side->base);
	if (!gone)
		return 0;
	if (gone > side->count)
		return HF_ERR_MISMATCH;
	side->item += gone;
	side->count -= gone;
	side->base = ordinal;
	return 0;
}
