/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/collector.h"

#include "index/summary/rare_collect.h"
#include "index/summary/registers_collect.h"
#include "index/summary/words_collect.h"

#include <stdlib.h>

enum { WRITES, READS, ATTEMPTS /* behind these, the same of them */, KINDS = 4 };

struct hf_collector {
	struct hf_rare_collector rare;
	struct hf_words_collector words[KINDS];
	struct hf_registers_collector registers;
	uint64_t insns;
	uint64_t cuts;	  /* chunks that have ended since the last instruction that retired */
	unsigned attempt; /* what is attached now is an attempt's: ATTEMPTS, or 0 */
};

int hf_collector_new(const struct hf_inverse_room *room, hf_summary_row_fn put, void *ctx,
		     struct hf_collector **ret_collector)
{
	struct hf_collector *c = calloc(1, sizeof *c);
	int err;

	*ret_collector = c;
	if (!c)
		return HF_ERR_NOMEM;
	room = room ? room : &hf_inverse_room_default;
	err = hf_rare_collector_init(&c->rare, room, put, ctx);
	for (unsigned i = 0; i < KINDS && !err; i++)
		err = hf_words_collector_init(&c->words[i], HF_INVERSE_WRITES + i, room, put, ctx);
	if (!err)
		err = hf_registers_collector_init(&c->registers, room, put, ctx);
	if (err) {
		hf_collector_free(c);
		*ret_collector = NULL;
	}
	return err;
}

void hf_collector_free(struct hf_collector *c)
{
	if (!c)
		return;
	hf_rare_collector_fini(&c->rare);
	for (unsigned i = 0; i < KINDS; i++)
		hf_words_collector_fini(&c->words[i]);
	hf_registers_collector_fini(&c->registers);
	free(c);
}

static int put_access(struct hf_collector *c, const struct hf_event *ev)
{
	/* An access of which the source does not tell which it is may be either. */
	const bool either = !(ev->flags & (HF_EVF_READ | HF_EVF_WRITE));
	int err = 0;

	if (ev->flags & HF_EVF_WRITE || either)
		err = hf_words_collector_put(&c->words[c->attempt + WRITES], ev);
	if (!err && (ev->flags & HF_EVF_READ || either))
		err = hf_words_collector_put(&c->words[c->attempt + READS], ev);
	return err;
}

/* What follows an instruction belongs to it, also if its chunk ends between. */
static int cut(struct hf_collector *c)
{
	int err = hf_rare_collector_cut(&c->rare, c->insns);

	for (unsigned i = 0; i < KINDS && !err; i++)
		err = hf_words_collector_cut(&c->words[i], c->cuts, c->insns);
	hf_registers_collector_cut(&c->registers, c->cuts, c->insns);
	c->cuts = 0;
	return err;
}

/* Any event that is not an instruction that retired. */
static int put_other(struct hf_collector *c, const struct hf_event *ev)
{
	switch (ev->kind) {
	case HF_EVENT_MEM:
		return put_access(c, ev);
	case HF_EVENT_REG:
		return c->attempt ? 0 : hf_registers_collector_put(&c->registers, ev);
	case HF_EVENT_ATTEMPT:
		c->attempt = ATTEMPTS;
		return hf_rare_collector_put(&c->rare, ev, c->insns);
	default:
		return hf_rare_collector_put(&c->rare, ev, c->insns);
	}
}

int hf_collector_put(struct hf_collector *c, const struct hf_event *ev, size_t n)
{
	const struct hf_event *const end = ev + n;
	int err = 0;

	while (ev < end && !err) {
		const struct hf_event *const first = ev;

		if (ev->kind == HF_EVENT_INSN && c->cuts)
			err = cut(c);
		while (ev < end && ev->kind == HF_EVENT_INSN)
			ev++;
		c->insns += (uint64_t)(ev - first);
		c->attempt = ev > first ? 0 : c->attempt;
		for (; ev < end && ev->kind != HF_EVENT_INSN && !err; ev++)
			if (ev->kind != HF_EVENT_DATA && ev->kind != HF_EVENT_RECORD)
				err = put_other(c, ev);
	}
	return err;
}

/* Only what is attached to its instructions is to be looked at. */
static int put_stretch(struct hf_collector *c, const struct hf_event *ev, const struct hf_stretch *stretch)
{
	int err = c->cuts ? cut(c) : 0;

	c->attempt = 0;
	for (uint32_t left = stretch->others; left && !err; left &= left - 1) {
		const struct hf_event *other = &ev[__builtin_ctz(left)];
		const unsigned kind = other->flags & HF_EVF_WRITE ? WRITES : READS;

		/* Most are one access to what was touched a moment ago. */
		if (other->kind != HF_EVENT_MEM || !(other->flags & (HF_EVF_READ | HF_EVF_WRITE)) ||
		    (other->flags & (HF_EVF_READ | HF_EVF_WRITE)) == (HF_EVF_READ | HF_EVF_WRITE) ||
		    !hf_words_collector_again(&c->words[kind], other))
			err = put_other(c, other);
	}
	c->insns += stretch->insns;
	return err;
}

int hf_collector_put_known(struct hf_collector *c, const struct hf_event *ev, size_t n,
			   const struct hf_stretch *stretch, size_t count)
{
	size_t at = 0;
	int err = 0;

	for (; count && !err; count--, stretch++) {
		err = hf_collector_put(c, ev + at, stretch->at - at);
		if (!err)
			err = put_stretch(c, ev + stretch->at, stretch);
		at = stretch->at + stretch->events;
	}
	return err ? err : hf_collector_put(c, ev + at, n - at);
}

void hf_collector_cut(struct hf_collector *c)
{
	c->cuts++;
}

/* A source that tells of accesses tells of those of attempts too. */
int hf_collector_end(struct hf_collector *c)
{
	int err = cut(c);

	if (!err)
		err = hf_rare_collector_end(&c->rare, c->insns);
	for (unsigned i = 0; i < KINDS && !err; i++)
		err = hf_words_collector_end(&c->words[i], c->words[i].any || c->words[i % ATTEMPTS].any);
	return err ? err : hf_registers_collector_end(&c->registers);
}

void hf_collector_keep(struct hf_collector *c, struct hf_keep *k)
{
	HF_KEEP(k, c->insns, HF_COUNT_MAX);
	HF_KEEP(k, c->cuts, HF_COUNT_MAX);
	HF_KEEP(k, c->attempt, ATTEMPTS);
	hf_keep_check(k, c->attempt == 0 || c->attempt == ATTEMPTS);
	hf_rare_collector_keep(&c->rare, k);
	for (unsigned i = 0; i < KINDS; i++)
		hf_words_collector_keep(&c->words[i], k);
	hf_registers_collector_keep(&c->registers, k);
	hf_keep_check(k, c->rare.writer.last <= c->insns);
}
