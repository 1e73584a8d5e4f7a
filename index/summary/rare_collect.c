/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/rare_collect.h"

static unsigned kind_of(const struct hf_inverse_key *key)
{
	return (unsigned)(key->a >> HF_RARE_DETAIL_BITS);
}

static void range(const struct hf_inverse_key *key, uint64_t *ret_first, uint64_t *ret_last)
{
	*ret_first = *ret_last = key->a;
}

static void make_coarser(void *ctx, struct hf_inverse_key *key)
{
	const struct hf_rare_collector *c = ctx;

	key->level = c->level[kind_of(key)];
	if (key->level >= HF_RARE_LEVEL_MAYBE)
		key->b = 0;
}

/* The kind that takes the most bytes, of those that can be coarser: as if each key took 8 and each posting 1. */
static unsigned largest(const struct hf_rare_collector *c)
{
	const struct hf_inverse *inverse = c->writer.inverse;
	uint64_t bytes[HF_RARE_KINDS] = {0}, most = 0;
	unsigned found = HF_RARE_KINDS;

	for (uint32_t i = 0; i < inverse->count; i++) {
		const struct hf_inverse_entry *entry = &inverse->entries[i];

		bytes[kind_of(&entry->key)] += 8 + hf_growing_postings(&entry->list);
	}
	for (unsigned kind = 0; kind < HF_RARE_KINDS; kind++)
		if (c->level[kind] < HF_RARE_LEVEL_MAX && bytes[kind] > most) {
			found = kind;
			most = bytes[kind];
		}
	return found;
}

static int coarsen(void *ctx)
{
	struct hf_rare_collector *c = ctx;
	const unsigned kind = largest(c);
	int err;

	if (kind == HF_RARE_KINDS)
		return 0;
	c->level[kind] += HF_RARE_LEVEL_STEP;
	err = hf_inverse_writer_map(&c->writer, make_coarser, c);
	return err ? err : 1;
}

static void begin(void *ctx)
{
	struct hf_rare_collector *c = ctx;

	for (unsigned kind = 0; kind < HF_RARE_KINDS; kind++)
		c->level[kind] = 0;
}

static bool is_level(unsigned level)
{
	return level <= HF_RARE_LEVEL_MAX && level % HF_RARE_LEVEL_STEP == 0;
}

static bool is_key(const struct hf_inverse_key *key)
{
	return key->a >> HF_RARE_DETAIL_BITS < HF_RARE_KINDS && is_level(key->level);
}

static const struct hf_inverse_ops ops = {.part = HF_INVERSE_RARE,
					  .counted = true,
					  .insns_a_byte = 128,
					  .shift = hf_inverse_level,
					  .coarsen = coarsen,
					  .is_key = is_key,
					  .range = range,
					  .begin = begin};

int hf_rare_collector_init(struct hf_rare_collector *c, const struct hf_inverse_room *room, hf_summary_row_fn put,
			   void *ctx)
{
	return hf_inverse_writer_init(&c->writer, &ops, c, room, put, ctx);
}

void hf_rare_collector_fini(struct hf_rare_collector *c)
{
	hf_inverse_writer_fini(&c->writer);
}

static int add(struct hf_rare_collector *c, enum hf_rare_kind kind, unsigned detail, uint64_t value, uint64_t insns)
{
	int err;

	c->writer.insns = insns;
	for (;;) {
		struct hf_inverse_key key = {.a = (uint64_t)kind << HF_RARE_DETAIL_BITS | detail, .b = value};

		make_coarser(c, &key);
		err = hf_inverse_writer_put(&c->writer, &key, insns ? insns - 1 : 0, 1);
		if (err != HF_ERR_LIMIT)
			return err;
		err = hf_inverse_writer_make_room(&c->writer);
		if (err)
			return err;
	}
}

static int add_trap(struct hf_rare_collector *c, const struct hf_event *ev, uint64_t insns)
{
	const unsigned which = ev->flags & HF_EVF_ASYNC ? HF_RARE_INTERRUPT : HF_RARE_EXCEPTION;

	return ev->flags & HF_EVF_CAUSE ? add(c, HF_RARE_TRAP, which, ev->trap.cause, insns)
					: add(c, HF_RARE_TRAP, which + HF_RARE_UNKNOWN_CAUSE, 0, insns);
}

static int add_context(struct hf_rare_collector *c, const struct hf_event *ev, uint64_t insns)
{
	const struct hf_ev_context *x = &ev->context;
	const uint32_t values[] = {x->hw, x->pid, x->tid, x->asid, x->vmid, x->mode, x->vlen, x->isa, ev->state};
	int err = add(c, HF_RARE_CONTEXT, HF_RARE_CONTEXT_ALL, 0, insns);

	for (unsigned i = 0; i < sizeof values / sizeof *values && !err; i++)
		if (ev->fields & 1u << i)
			err = add(c, HF_RARE_CONTEXT, 1 + i, values[i], insns);
	return err;
}

int hf_rare_collector_put(struct hf_rare_collector *c, const struct hf_event *ev, uint64_t insns)
{
	switch (ev->kind) {
	case HF_EVENT_ATTEMPT:
		return add(c, HF_RARE_ATTEMPT, 0, 0, insns);
	case HF_EVENT_TRAP:
		return add_trap(c, ev, insns);
	case HF_EVENT_TRAP_RETURN:
		return add(c, HF_RARE_TRAP_RETURN, 0, 0, insns);
	case HF_EVENT_CONTEXT:
		return add_context(c, ev, insns);
	case HF_EVENT_TIMESTAMP:
		return add(c, HF_RARE_TIMESTAMP, (ev->flags & HF_EVF_NO_TIME) != 0, 0, insns);
	case HF_EVENT_CYCLES:
		return add(c, HF_RARE_CYCLES, (ev->flags & HF_EVF_NO_TIME) != 0, 0, insns);
	case HF_EVENT_MARKER:
		return add(c, HF_RARE_MARKER, 0, ev->marker.number, insns);
	case HF_EVENT_DISCONTINUITY:
		return add(c, HF_RARE_DISCONTINUITY, (ev->flags & HF_EVF_UNTRACED) != 0, 0, insns);
	case HF_EVENT_GAP:
		return add(c, HF_RARE_GAP, 0, ev->code, insns);
	case HF_EVENT_DOUBT:
		return add(c, HF_RARE_DOUBT, 0, ev->code, insns);
	default:
		return 0;
	}
}

int hf_rare_collector_cut(struct hf_rare_collector *c, uint64_t insns)
{
	bool coarse = false;

	for (unsigned kind = 0; kind < HF_RARE_KINDS; kind++)
		coarse = coarse || c->level[kind];
	c->writer.insns = insns;
	return hf_inverse_writer_cut(&c->writer, coarse);
}

int hf_rare_collector_end(struct hf_rare_collector *c, uint64_t insns)
{
	c->writer.insns = insns;
	return hf_inverse_writer_end(&c->writer, true);
}

void hf_rare_collector_keep(struct hf_rare_collector *c, struct hf_keep *k)
{
	for (unsigned kind = 0; kind < HF_RARE_KINDS; kind++) {
		HF_KEEP(k, c->level[kind], HF_RARE_LEVEL_MAX);
		hf_keep_check(k, is_level(c->level[kind]));
	}
	hf_inverse_writer_keep(&c->writer, k);
}
