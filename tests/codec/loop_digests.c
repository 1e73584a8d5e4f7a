/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Digests of the events of every sample (index/base/digest.h): the same with stretches and without, whatever comes at a
 * time; those of parts make that of the whole, and what is taken away leaves the rest; an event that is another shows.
 * What was done before a place (index/base/prefix_digest.h): the same with stretches and without.
 * Stretches themselves (codecs/stretch.h): the same serial is the same events.
 */
#include "index/base/digest.h"
#include "index/base/prefix_digest.h"
#include "tests/codec/loops.h"

#include <stdlib.h>
#include <string.h>

#define STEP_MAX 4096u

static struct hf_digest plain(const struct hf_event *ev, size_t n, size_t step)
{
	struct hf_digester d;

	hf_digester_begin(&d);
	for (size_t some; n; n -= some, ev += some) {
		some = n < step ? n : step;
		hf_digester_put(&d, ev, some);
	}
	return hf_digester_end(&d);
}

/* Accesses alone. */
static struct hf_prefix_digest plain_prefix(const struct hf_event *ev, size_t n)
{
	struct hf_prefix_digester p;

	hf_prefix_digester_begin(&p, &hf_prefix_digest_none, 0);
	hf_prefix_digester_put_accesses(&p, ev, n);
	return hf_prefix_digester_end(&p);
}

/* By what is remembered of stretches. */
static struct hf_digest known(const struct hf_event *ev, size_t n, size_t step, bool few,
			      struct hf_prefix_digest *ret_prefix)
{
	static struct hf_stretch stretch[STEP_MAX / 2];
	struct hf_digest_memo *memo = calloc(1, sizeof *memo);
	struct hf_stretch_finder *finder;
	struct hf_prefix_digester p;
	struct hf_digester d;

	CHECK(memo);
	CHECK_EQ(hf_stretch_finder_new(few, &finder), 0);
	hf_digester_begin(&d);
	hf_prefix_digester_begin(&p, &hf_prefix_digest_none, 0);
	for (size_t some; n; n -= some, ev += some) {
		size_t at = 0, count;

		some = n < step ? n : step;
		count = hf_stretch_find(finder, ev, some, stretch);
		for (size_t i = 0; i < count; i++) {
			hf_digester_put(&d, ev + at, stretch[i].at - at);
			hf_prefix_digester_put_accesses(&p, ev + at, stretch[i].at - at);
			hf_digester_put_stretch(&d, memo, ev + stretch[i].at, &stretch[i]);
			hf_prefix_digester_put_stretch(&p, ev + stretch[i].at, &stretch[i]);
			at = stretch[i].at + stretch[i].events;
		}
		hf_digester_put(&d, ev + at, some - at);
		hf_prefix_digester_put_accesses(&p, ev + at, some - at);
	}
	hf_stretch_finder_free(finder);
	free(memo);
	*ret_prefix = hf_prefix_digester_end(&p);
	return hf_digester_end(&d);
}

static bool equal(struct hf_digest a, struct hf_digest b)
{
	return hf_digest_equal(&a, &b);
}

static uint64_t insns_of(const struct hf_event *ev, size_t n)
{
	uint64_t insns = 0;

	for (size_t i = 0; i < n; i++)
		insns += ev[i].kind == HF_EVENT_INSN;
	return insns;
}

/* In front of an instruction. */
static void check_parts(const struct hf_events *all, size_t at, const struct hf_digest *whole)
{
	struct hf_digest first, second;
	uint64_t insns;

	while (at < all->n && all->ev[at].kind != HF_EVENT_INSN)
		at++;
	insns = insns_of(all->ev, at);
	first = plain(all->ev, at, 1000);
	second = plain(all->ev + at, all->n - at, 1000);
	CHECK(equal(hf_digest_join(&first, insns, &second), *whole));
	CHECK(equal(hf_digest_behind(&first, insns, whole), second));
}

/* Each bit of an event, but those of an instruction that have no meaning. */
static void check_changes(struct hf_events *all, size_t at, const struct hf_digest *whole)
{
	struct hf_event *ev = &all->ev[at];
	uint8_t *bytes = (uint8_t *)ev;

	if (ev->kind == HF_EVENT_INSN)
		CHECK(!ev->any && !ev->size);
	for (size_t bit = 8; bit < 8 * sizeof *ev; bit++) {
		const bool target = bit >= 128 && bit < 192;

		if (ev->kind == HF_EVENT_INSN && ((bit >= 16 && bit < 64) || (target && !(ev->flags & HF_EVF_TAKEN))))
			continue;
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		CHECK(!equal(plain(all->ev, all->n, 4096), *whole));
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

static void check_stretch(const struct hf_event *ev, const struct hf_stretch *s, const struct hf_event *as)
{
	uint64_t pc = ev->insn.pc;
	unsigned insns = 0;

	CHECK(s->serial && s->place < HF_STRETCH_PLACES && s->events >= 2 && s->events <= HF_STRETCH_EVENTS);
	for (unsigned i = 0; i < s->events; i++) {
		const bool insn = ev[i].kind == HF_EVENT_INSN;

		CHECK_EQ(insn, !(s->others >> i & 1));
		CHECK_EQ(memcmp(&ev[i], &as[i], 8), 0);
		CHECK_EQ(ev[i].word[2], as[i].word[2]);
		if (!insn) {
			CHECK(ev[i].kind == HF_EVENT_MEM || ev[i].kind == HF_EVENT_REG);
			continue;
		}
		CHECK_EQ(ev[i].insn.pc, pc);
		CHECK_EQ(as[i].insn.pc, pc);
		CHECK(i == s->last || (ev[i].insn.flow == HF_FLOW_PLAIN && !ev[i].flags));
		if (ev[i].flags & HF_EVF_TAKEN)
			CHECK_EQ(ev[i].insn.target, as[i].insn.target);
		pc += ev[i].insn.size;
		insns++;
	}
	CHECK_EQ(insns, s->insns);
}

/* Events of the first one of each serial, and of all that have it. */
static void check_stretches(const struct hf_events *all, bool few)
{
	static struct hf_stretch stretch[STEP_MAX / 2];
	struct hf_stretch_finder *finder;
	struct {
		uint64_t serial;
		const struct hf_event *ev;
	} *seen = calloc(HF_STRETCH_PLACES, sizeof *seen);

	CHECK(seen);
	CHECK_EQ(hf_stretch_finder_new(few, &finder), 0);
	for (size_t at = 0; at < all->n; at += STEP_MAX) {
		const size_t n = all->n - at < STEP_MAX ? all->n - at : STEP_MAX;
		const size_t count = hf_stretch_find(finder, all->ev + at, n, stretch);
		size_t end = 0;

		for (size_t i = 0; i < count; i++) {
			const struct hf_stretch *s = &stretch[i];
			const struct hf_event *ev = all->ev + at + s->at;

			CHECK(s->at >= end);
			CHECK(s->place < (few ? HF_STRETCH_FEW : HF_STRETCH_PLACES));
			end = (size_t)s->at + s->events;
			CHECK(end <= n);
			if (seen[s->place].serial != s->serial) {
				CHECK(seen[s->place].serial < s->serial);
				seen[s->place].serial = s->serial;
				seen[s->place].ev = ev;
			}
			check_stretch(ev, s, seen[s->place].ev);
		}
	}
	hf_stretch_finder_free(finder);
	free(seen);
}

static void check_hart(const struct sample *s, uint32_t hart)
{
	struct hf_events all = sample_all(s, hart, 512);
	const struct hf_digest whole = plain(all.ev, all.n, 4096);
	const struct hf_prefix_digest before = plain_prefix(all.ev, all.n);
	static const size_t steps[] = {1, 50, 1000, STEP_MAX};

	sample_about("%s hart %u", s->name, hart);
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		struct hf_prefix_digest prefix;

		CHECK(equal(plain(all.ev, all.n, steps[i]), whole));
		CHECK(equal(known(all.ev, all.n, steps[i], i % 2, &prefix), whole));
		CHECK(!memcmp(&prefix, &before, sizeof prefix));
	}
	for (size_t i = 0; i < 4; i++)
		check_parts(&all, all.n * i / 4, &whole);
	if (all.n < 5000)
		for (size_t i = 0; i < 4 && all.n; i++)
			check_changes(&all, (all.n - 1) * i / 4, &whole);
	check_stretches(&all, false);
	check_stretches(&all, true);
	hf_events_free(&all);
}

static void check(struct sample *s)
{
	for (size_t h = 0; h < s->hart_count; h++)
		check_hart(s, s->harts[h]);
}

void loop_digests(struct samples *all)
{
	samples_each(all, check);
}
