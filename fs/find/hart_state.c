/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/find/hart_state.h"
#include "fs/facts/facts.h"
#include "fs/facts/opened.h"

#include <stdlib.h>

void hf_hart_state_free(struct hf_hart_state *state)
{
	if (!state)
		return;
	for (size_t i = 0; i < state->reg_count; i++)
		hf_state_part_fini(&state->reg[i]);
	for (size_t i = 0; i < state->access_count; i++)
		hf_state_part_fini(&state->access[i]);
	free(state->reg);
	free(state);
}

bool hf_hart_state_counts(const struct hf_hart_state *m, const struct hf_state_part *reg)
{
	if (m->lost && reg->ordinal <= m->lost_behind)
		return false;
	if (reg->ev->reg.role == HF_REG_DESTINATION || reg->ordinal == m->ordinal)
		return true;
	return m->written && !(m->lost && m->last_written <= m->lost_behind);
}

/* The instruction itself, and the context in which it was executed. */
static int find_insn(struct hf_hart_state *m, struct hf_cursor *cursor)
{
	struct hf_event begin[HF_BEGIN_EVENTS];
	size_t n;
	int err = hf_cursor_seek(cursor, m->ordinal, &m->insn, NULL);

	if (err)
		return err;
	n = hf_dec_begin(cursor->dec, &m->insn, m->ordinal, begin);
	for (size_t i = 0; i < n; i++)
		if (begin[i].kind == HF_EVENT_CONTEXT)
			m->context = begin[i];
	return 0;
}

/* Chunk by chunk back, as long as one may tell something. */
static int look_back(struct hf_hart_state *m, struct hf_cursor *cursor, struct hf_needs *needs, bool bounded)
{
	struct hf_chunk chunk;
	uint64_t number;
	int err = hf_index_chunk_of(cursor->index, m->hart, m->ordinal, &chunk);

	number = chunk.number;
	for (unsigned decoded = 0; !err; decoded++) {
		if (bounded && decoded == HF_HART_STATE_CHUNKS)
			return hf_needs_give_up(needs, m, &chunk);
		err = hf_hart_state_scan(m, cursor, number);
		if (!err)
			err = hf_index_chunk(cursor->index, m->hart, number, &chunk);
		if (!err)
			err = hf_needs_next(needs, m, &chunk, &number);
	}
	return err == HF_NOTE_END ? 0 : err;
}

static int find_stack(struct hf_hart_state *m, const struct hf_cursor *where, struct hf_summary *summary,
		      bool (*go_on)(void *ctx, uint64_t chunk), void *ctx)
{
	struct hf_stacks *stacks;
	int err = hf_stacks_new(where, summary, &stacks);

	if (err)
		return err;
	err = hf_stacks_at(stacks, m->ordinal, go_on, ctx, &m->stack);
	hf_stacks_free(stacks);
	return err;
}

int hf_hart_state_new(struct hf_open *open, struct hf_summary *summary, uint32_t hart, uint64_t ordinal,
		      bool (*go_on)(void *ctx, uint64_t chunk), void *ctx, struct hf_hart_state **ret_state)
{
	const struct hf_facts_hart *facts = hf_facts_hart(open->facts, hart);
	struct hf_cursor cursor = {.stream = open->stream, .src = open->source, .index = open->index, .hart = hart};
	struct hf_hart_state *m = facts && open->stream && ordinal < facts->info.insns ? calloc(1, sizeof *m) : NULL;
	struct hf_needs *needs = NULL;
	int err;

	*ret_state = m;
	if (!m)
		return facts && open->stream && ordinal < facts->info.insns ? HF_ERR_NOMEM : HF_ERR_NOT_FOUND;
	m->hart = hart;
	m->ordinal = ordinal;
	m->doubt = hf_index_doubt(open->index, hart, ordinal);
	m->no_accesses = open->stream->info.flags & HF_STREAM_NO_ACCESSES;
	err = hf_needs_new(m, open, summary, &needs);
	if (!err)
		err = find_insn(m, &cursor);
	if (!err)
		err = look_back(m, &cursor, needs, summary != NULL);
	if (!err)
		err = find_stack(m, &cursor, summary, go_on, ctx);
	hf_needs_free(needs);
	hf_cursor_fini(&cursor);
	if (err) {
		hf_hart_state_free(m);
		*ret_state = NULL;
	}
	return err;
}
