/* SPDX-License-Identifier: Apache-2.0 */
/* What the events of a chunk tell of the state. */
#include "codecs/base/array.h"
#include "fs/find/hart_state_parts.h"
#include "fs/find/walk.h"


#include <stdlib.h>
#include <string.h>

/* What put returns behind the last instruction that is wanted. */
enum { ENOUGH = HF_NOTE_END + 1 };

/* A walk through a chunk. */
struct scan {
	struct hf_hart_state *state;
	uint64_t number;
	uint64_t end;	      /* ordinal of the instruction where it ends */
	uint64_t next;	      /* of the next one */
	bool attempt;	      /* what is attached is of one that did not retire */
	struct hf_state_part *open; /* DATA goes there */
	uint32_t left;	      /* bytes of it to come */
	/* The last accesses of the chunk: a ring. */
	struct hf_state_part access[HF_HART_STATE_ACCESSES];
	size_t accesses;
};

void hf_state_part_fini(struct hf_state_part *part)
{
	free(part->ev);
	*part = (struct hf_state_part){0};
}

static int append(struct hf_state_part *part, const struct hf_event *ev)
{
	if (hf_array_room(&part->ev, part->n, sizeof *part->ev))
		return HF_ERR_NOMEM;
	part->ev[part->n++] = *ev;
	return 0;
}

static int begin_told(struct scan *s, struct hf_state_part *part, const struct hf_event *ev)
{
	hf_state_part_fini(part);
	part->ordinal = s->next - 1;
	part->chunk = s->number;
	s->open = part;
	s->left = ev->size;
	return append(part, ev);
}

static bool is_register(const struct hf_state_part *part, const struct hf_event *ev)
{
	return part->ev->reg.class == ev->reg.class && part->ev->reg.number == ev->reg.number;
}

/* The register of that event, perhaps a new one. *ret_told is NULL if there are too many. */
static int find_register(struct hf_hart_state *state, const struct hf_event *ev, struct hf_state_part **ret_told)
{
	uint16_t *recent = &state->recent[(ev->reg.class * 67u + ev->reg.number) % 256];
	struct hf_state_part *reg = state->reg;
	size_t i = *recent;

	if (i >= state->reg_count || !is_register(&reg[i], ev))
		for (i = 0; i < state->reg_count && !is_register(&reg[i], ev);)
			i++;
	*ret_told = NULL;
	if (i == HF_HART_STATE_REGISTERS) {
		state->too_many = true;
		return 0;
	}
	*recent = (uint16_t)i;
	if (i == state->reg_count) {
		if (hf_array_room(&state->reg, i, sizeof *reg))
			return HF_ERR_NOMEM;
		reg = state->reg;
		reg[i] = (struct hf_state_part){0};
	}
	*ret_told = &reg[i];
	return 0;
}

static int put_register(struct scan *s, const struct hf_event *ev)
{
	struct hf_hart_state *m = s->state;
	struct hf_state_part *part;
	int err;

	if ((ev->reg.role != HF_REG_DESTINATION && ev->reg.role != HF_REG_STATE) || ev->reg.class == HF_REG_ZA_INDEX)
		return 0;
	if (ev->reg.role == HF_REG_DESTINATION && (!m->written || s->next - 1 > m->last_written)) {
		m->written = true;
		m->last_written = s->next - 1;
	}
	err = find_register(m, ev, &part);
	/* What a later chunk told is newer. */
	if (err || !part || (part->ev && part->chunk != s->number))
		return err;
	err = begin_told(s, part, ev);
	if (!err && part == &m->reg[m->reg_count])
		m->reg_count++;
	return err;
}

static int put_data(struct scan *s, const struct hf_event *ev)
{
	int err = s->left ? append(s->open, ev) : 0;

	s->left -= ev->used < s->left ? ev->used : s->left;
	return err;
}

static void put_loss(struct scan *s)
{
	struct hf_hart_state *m = s->state;

	/* What is lost behind the instruction itself comes later. */
	if (!s->next || s->next - 1 >= m->ordinal || (m->lost && m->lost_behind >= s->next - 1))
		return;
	m->lost = true;
	m->lost_behind = s->next - 1;
}

static int put(void *ctx, const struct hf_event *ev)
{
	struct scan *s = ctx;

	if (ev->kind != HF_EVENT_DATA)
		s->left = 0;
	switch (ev->kind) {
	case HF_EVENT_INSN:
		if (s->next == s->end)
			return ENOUGH;
		s->next++;
		s->attempt = false;
		return 0;
	case HF_EVENT_ATTEMPT:
		s->attempt = true;
		return 0;
	case HF_EVENT_MEM:
		if (s->attempt || !s->next)
			return 0;
		return begin_told(s, &s->access[s->accesses++ % HF_HART_STATE_ACCESSES], ev);
	case HF_EVENT_REG:
		return s->attempt || !s->next ? 0 : put_register(s, ev);
	case HF_EVENT_DATA:
		return put_data(s, ev);
	case HF_EVENT_GAP:
	case HF_EVENT_DOUBT:
	case HF_EVENT_DISCONTINUITY:
		put_loss(s);
		return 0;
	default:
		return 0;
	}
}

/* The chunk's last accesses follow those of the chunks behind it. */
static void take_accesses(struct scan *s)
{
	struct hf_hart_state *m = s->state;
	size_t left = s->accesses < HF_HART_STATE_ACCESSES ? s->accesses : HF_HART_STATE_ACCESSES;

	for (; left && m->access_count < HF_HART_STATE_ACCESSES; left--) {
		struct hf_state_part *part = &s->access[--s->accesses % HF_HART_STATE_ACCESSES];

		m->access[m->access_count++] = *part;
		*part = (struct hf_state_part){0};
	}
	for (size_t i = 0; i < HF_HART_STATE_ACCESSES; i++)
		hf_state_part_fini(&s->access[i]);
}

static void begin(void *ctx, const struct hf_chunk *chunk)
{
	struct scan *s = ctx;
	const uint64_t end = chunk->ordinal + chunk->insns;

	s->next = chunk->ordinal;
	s->end = s->state->ordinal < end ? s->state->ordinal + 1 : end;
}

int hf_hart_state_scan(struct hf_hart_state *state, struct hf_cursor *cursor, uint64_t number)
{
	struct scan s = {.state = state, .number = number};
	struct hf_walk walk;
	int err;

	walk.cursor = cursor;
	walk.begin = begin;
	walk.context = NULL;
	walk.put = put;
	walk.ctx = &s;
	err = hf_walk_chunk(&walk, number);
	take_accesses(&s);
	return err == ENOUGH ? 0 : err;
}
