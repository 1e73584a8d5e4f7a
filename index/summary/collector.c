/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/collector.h"

#include "codecs/base/array.h"
#include "index/summary/keys.h"
#include "index/summary/rare.h"
#include "index/summary/registers.h"
#include "index/summary/units.h"
#include "index/summary/words.h"

#include <string.h>

enum { WRITES, READS, ATTEMPTS /* behind these, the same of them */, KINDS = 4, RECENT = 256 };
/* A filter of a group: its most bytes, and its finest level. */
enum { FILTER_BYTES = 256, FILTER_LEVEL = 9 };

/* Memory that the present chunk touches. */
struct words {
	struct hf_address_set addresses; /* those not yet moved to: */
	struct hf_units units;
	unsigned least; /* finest level */
	bool known;	/* the hart has such accesses */
};

struct filter {
	struct hf_address_set addresses;
	unsigned level;
	bool unknown;
};

struct rare_event {
	uint32_t key;
	uint64_t ordinal;
};

struct hf_collector {
	struct hf_run_table_room room;
	struct hf_group_writer *writer;
	struct words words[KINDS];
	struct filter filter[2];
	struct hf_raw section[HF_SECTIONS]; /* of the present group */
	bool any[HF_SECTIONS];		    /* it has more than empty sets */
	struct hf_keys rare, registers;
	struct rare_event *events; /* of the present chunk */
	size_t event_count;
	uint8_t *written; /* a bit for each register */
	size_t written_room;
	bool registers_known;
	struct {
		uint64_t key, chunk;
	} recent[RECENT]; /* registers of this chunk that were met, as a cache: key plus 1, and the chunk */
	uint64_t chunk;	  /* the present one */
	uint64_t first;	  /* ordinal of its first instruction */
	uint64_t insns;
	uint64_t cuts;	  /* chunks that ended since the last retired instruction */
	unsigned attempt; /* ATTEMPTS if accesses are now those of an attempt, else 0 */
};

int hf_collector_new(const struct hf_run_table_room *room, struct hf_group_writer *writer,
		     struct hf_collector **ret_collector)
{
	struct hf_collector *c = calloc(1, sizeof *c);
	int err = 0;

	*ret_collector = c;
	if (!c)
		return HF_ERR_NOMEM;
	c->room = room ? *room : hf_run_table_room_default;
	c->writer = writer;
	for (unsigned i = 0; i < KINDS && !err; i++) {
		c->words[i].least = i & READS ? HF_WORDS_LINE : HF_WORDS_WORD;
		err = hf_address_set_init(&c->words[i].addresses);
	}
	for (unsigned i = 0; i < 2 && !err; i++) {
		c->filter[i].level = FILTER_LEVEL;
		err = hf_address_set_init(&c->filter[i].addresses);
	}
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
	for (unsigned i = 0; i < KINDS; i++) {
		hf_address_set_fini(&c->words[i].addresses);
		hf_units_free(&c->words[i].units);
	}
	for (unsigned i = 0; i < 2; i++)
		hf_address_set_fini(&c->filter[i].addresses);
	for (unsigned i = 0; i < HF_SECTIONS; i++)
		free(c->section[i].p);
	hf_keys_free(&c->rare);
	hf_keys_free(&c->registers);
	free(c->events);
	free(c->written);
	free(c);
}

/* ---- memory ---- */

static int empty(struct words *w)
{
	const struct hf_range *ranges;
	size_t n;
	int err = hf_address_set_take(&w->addresses, &ranges, &n);

	return err ? err : hf_units_add(&w->units, ranges, n);
}

static int add_words(struct words *w, uint64_t first, uint64_t last)
{
	int err = 0;

	while (!err && !hf_address_set_add(&w->addresses, first >> w->least, last >> w->least))
		err = empty(w);
	return err;
}

static int put_words(struct words *w, const struct hf_event *mem)
{
	/* An access without a size counts as 1 byte. */
	const uint64_t first = mem->mem.address, last = first + (mem->mem.size ? mem->mem.size - 1 : 0);
	int err;

	w->known = true;
	if (mem->flags & HF_EVF_NO_ADDRESS) {
		w->units.unknown = true;
		return 0;
	}
	if (last >= first)
		return add_words(w, first, last);
	/* It wraps around at the end of memory. */
	err = add_words(w, first, UINT64_MAX);
	return err ? err : add_words(w, 0, last);
}

/* The same, fast, if it is close to the last one; else false, and nothing was done. */
static inline bool put_words_again(struct words *w, const struct hf_event *mem)
{
	const uint64_t first = mem->mem.address, last = first + mem->mem.size - 1;
	const uint64_t block = w->addresses.last->number;

	if (mem->flags & HF_EVF_NO_ADDRESS || last < first || first >> (w->least + 6) != block ||
	    last >> (w->least + 6) != block)
		return false;
	return hf_address_set_add(&w->addresses, first >> w->least, last >> w->least);
}

static int put_access(struct hf_collector *c, const struct hf_event *ev)
{
	/* If the source does not tell whether it is a read or a write, it counts as both. */
	const bool either = !(ev->flags & (HF_EVF_READ | HF_EVF_WRITE));
	int err = 0;

	if (ev->flags & HF_EVF_WRITE || either)
		err = put_words(&c->words[c->attempt + WRITES], ev);
	if (!err && (ev->flags & HF_EVF_READ || either))
		err = put_words(&c->words[c->attempt + READS], ev);
	return err;
}

static int coarsen_filter(struct filter *f, unsigned level)
{
	const unsigned by = level - f->level;
	const struct hf_range *range;
	size_t n;
	int err = hf_address_set_take(&f->addresses, &range, &n);

	f->level = level;
	for (size_t i = 0; i < n && !err; i++)
		if (!hf_address_set_add(&f->addresses, range[i].first >> by, range[i].last >> by))
			err = HF_ERR_BUG;
	return err;
}

/* Adds the chunk's set to the filter, as coarse as it is. */
static int add_to_filter(struct filter *f, const struct hf_units *u)
{
	int err = u->n && u->level > f->level ? coarsen_filter(f, u->level) : 0;

	f->unknown |= u->unknown;
	for (size_t i = 0; i < u->n && !err;) {
		const unsigned by = f->level - u->level;

		if (hf_address_set_add(&f->addresses, u->range[i].first >> by, u->range[i].last >> by))
			i++;
		else
			err = coarsen_filter(f, f->level < 60 ? f->level + 3 : HF_UNITS_ALL);
	}
	return err;
}

static int put_sets(struct hf_collector *c, unsigned kind, size_t most)
{
	struct words *w = &c->words[kind];
	struct hf_units *const sets[2] = {&w[0].units, &w[1].units};
	int err = 0;

	for (unsigned i = 0; i < 2 && !err; i++) {
		err = empty(&w[i]);
		sets[i]->level = w[i].least;
	}
	if (err)
		return err;
	hf_units_fit(sets, most);
	for (unsigned i = 0; i < 2 && !err; i++) {
		const unsigned section = HF_SECTION_WRITES + kind + i;

		hf_units_code(sets[i], &c->section[section]);
		c->any[section] |= sets[i]->n || sets[i]->unknown;
		err = kind ? 0 : add_to_filter(&c->filter[i], sets[i]);
		sets[i]->n = 0;
		sets[i]->unknown = false;
	}
	return err;
}

static int put_filter(struct hf_collector *c, unsigned kind)
{
	struct filter *f = &c->filter[kind];
	struct hf_units units = {.level = f->level, .unknown = f->unknown}, none = {0};
	struct hf_units *const sets[2] = {&units, &none};
	const struct hf_range *range;
	size_t n;
	int err = hf_address_set_take(&f->addresses, &range, &n);

	if (!err)
		err = hf_units_add(&units, range, n);
	if (!err) {
		hf_units_fit(sets, FILTER_BYTES);
		hf_units_code(&units, &c->section[HF_SECTION_FILTERS]);
	}
	hf_units_free(&units);
	f->level = FILTER_LEVEL;
	f->unknown = false;
	return err;
}

/* ---- rare events ---- */

static int add_rare(struct hf_collector *c, enum hf_rare_kind kind, unsigned detail, uint64_t value)
{
	const uint64_t a = (uint64_t)kind << HF_RARE_DETAIL_BITS | detail;
	const bool maybe = c->rare.count >= c->room.keys;
	uint32_t key;
	int err = hf_array_room(&c->events, c->event_count, sizeof *c->events);

	if (!err)
		err = hf_keys_find(&c->rare, a, maybe ? 0 : value, maybe, &key);
	if (!err)
		c->events[c->event_count++] =
			(struct rare_event){.key = key, .ordinal = c->insns ? c->insns - 1 : 0};
	return err;
}

static int add_trap(struct hf_collector *c, const struct hf_event *ev)
{
	const unsigned which = ev->flags & HF_EVF_ASYNC ? HF_RARE_INTERRUPT : HF_RARE_EXCEPTION;

	return ev->flags & HF_EVF_CAUSE ? add_rare(c, HF_RARE_TRAP, which, ev->trap.cause)
					: add_rare(c, HF_RARE_TRAP, which + HF_RARE_UNKNOWN_CAUSE, 0);
}

static int add_context(struct hf_collector *c, const struct hf_event *ev)
{
	const struct hf_ev_context *x = &ev->context;
	const uint32_t values[] = {x->hw, x->pid, x->tid, x->asid, x->vmid, x->mode, x->vlen, x->isa, ev->state};
	int err = add_rare(c, HF_RARE_CONTEXT, HF_RARE_CONTEXT_ALL, 0);

	for (unsigned i = 0; i < sizeof values / sizeof *values && !err; i++)
		if (ev->fields & 1u << i)
			err = add_rare(c, HF_RARE_CONTEXT, 1 + i, values[i]);
	return err;
}

static int put_rare(struct hf_collector *c, const struct hf_event *ev)
{
	switch (ev->kind) {
	case HF_EVENT_ATTEMPT:
		return add_rare(c, HF_RARE_ATTEMPT, 0, 0);
	case HF_EVENT_TRAP:
		return add_trap(c, ev);
	case HF_EVENT_TRAP_RETURN:
		return add_rare(c, HF_RARE_TRAP_RETURN, 0, 0);
	case HF_EVENT_CONTEXT:
		return add_context(c, ev);
	case HF_EVENT_TIMESTAMP:
		return add_rare(c, HF_RARE_TIMESTAMP, (ev->flags & HF_EVF_NO_TIME) != 0, 0);
	case HF_EVENT_CYCLES:
		return add_rare(c, HF_RARE_CYCLES, (ev->flags & HF_EVF_NO_TIME) != 0, 0);
	case HF_EVENT_MARKER:
		return add_rare(c, HF_RARE_MARKER, ev->what < HF_MARKERS ? ev->what : 0, ev->marker.number);
	case HF_EVENT_DISCONTINUITY:
		return add_rare(c, HF_RARE_DISCONTINUITY, (ev->flags & HF_EVF_UNTRACED) != 0, 0);
	case HF_EVENT_GAP:
		return add_rare(c, HF_RARE_GAP, 0, ev->code);
	case HF_EVENT_DOUBT:
		return add_rare(c, HF_RARE_DOUBT, 0, ev->code);
	default:
		return 0;
	}
}

static unsigned kind_of(const struct hf_collector *c, const struct rare_event *ev)
{
	return (unsigned)(c->rare.key[ev->key].a >> HF_RARE_DETAIL_BITS);
}

/* Bits of the kinds of which only the number of events is kept: the most frequent ones, so that the others fit at 2
 * bytes an event. */
static unsigned find_blocks(const struct hf_collector *c)
{
	size_t n[HF_RARE_KINDS] = {0}, all = c->event_count;
	unsigned blocks = 0;

	if (2 * all <= c->room.rare)
		return 0;
	for (size_t i = 0; i < c->event_count; i++)
		n[kind_of(c, &c->events[i])]++;
	while (2 * all > c->room.rare) {
		unsigned most = 0;

		for (unsigned kind = 1; kind < HF_RARE_KINDS; kind++)
			most = n[kind] > n[most] ? kind : most;
		blocks |= 1u << most;
		all -= n[most];
		n[most] = 0;
	}
	return blocks;
}

/* How many keys the events of these kinds have. If there is no room for more keys, events lose their values. */
static int count_blocks(struct hf_collector *c, unsigned blocks, uint32_t *ret_keys)
{
	uint32_t keys = 0;
	int err = 0;

	for (size_t i = 0; i < c->event_count; i++)
		keys += blocks >> kind_of(c, &c->events[i]) & 1 && !c->rare.key[c->events[i].key].count++;
	*ret_keys = keys;
	if (4 * keys <= c->room.rare)
		return 0;
	*ret_keys = 0;
	for (size_t i = 0; i < c->event_count && !err; i++) {
		struct rare_event *ev = &c->events[i];

		if (!(blocks >> kind_of(c, ev) & 1))
			continue;
		c->rare.key[ev->key].count = 0;
		err = hf_keys_find(&c->rare, c->rare.key[ev->key].a, 0, true, &ev->key);
	}
	for (size_t i = 0; i < c->event_count && !err; i++)
		*ret_keys += blocks >> kind_of(c, &c->events[i]) & 1 && !c->rare.key[c->events[i].key].count++;
	return err;
}

static int put_events(struct hf_collector *c, uint64_t insns)
{
	struct hf_raw *raw = &c->section[HF_SECTION_RARE];
	const unsigned blocks = find_blocks(c);
	uint64_t last = c->first;
	uint32_t keys = 0;
	size_t exact = 0;
	int err = blocks ? count_blocks(c, blocks, &keys) : 0;

	if (c->chunk % HF_GROUP_CHUNKS == 0)
		hf_raw_number(raw, c->first);
	for (size_t i = 0; i < c->event_count; i++)
		exact += !(blocks >> kind_of(c, &c->events[i]) & 1);
	hf_raw_number(raw, insns);
	hf_raw_number(raw, exact);
	hf_raw_number(raw, keys);
	c->any[HF_SECTION_RARE] |= c->event_count != 0;
	for (size_t i = 0; i < c->event_count; i++) {
		hf_keys_note(&c->rare, c->events[i].key, c->chunk / HF_GROUP_CHUNKS, 1);
		if (!(blocks >> kind_of(c, &c->events[i]) & 1))
			hf_raw_number(raw, c->events[i].key);
	}
	for (size_t i = 0; i < c->event_count; i++) {
		struct hf_key *key = &c->rare.key[c->events[i].key];

		if (!(blocks >> kind_of(c, &c->events[i]) & 1)) {
			hf_raw_number(raw, c->events[i].ordinal - last);
			last = c->events[i].ordinal;
		} else if (key->count) {
			hf_raw_number(&c->section[HF_SECTION_KEYS], c->events[i].key);
			hf_raw_number(&c->section[HF_SECTION_KEYS], key->count);
			key->count = 0;
		}
	}
	hf_raw_bytes(raw, c->section[HF_SECTION_KEYS].p, c->section[HF_SECTION_KEYS].n);
	c->section[HF_SECTION_KEYS].n = 0;
	c->event_count = 0;
	return err;
}

/* ---- registers ---- */

static int put_register(struct hf_collector *c, const struct hf_event *reg)
{
	const uint64_t a = (uint64_t)reg->reg.class << HF_REGISTERS_NUMBER_BITS | reg->reg.number;
	const uint64_t what = reg->reg.role == HF_REG_DESTINATION ? HF_REGISTERS_WRITTEN : HF_REGISTERS_STATED;
	const uint64_t known = (a << 1 | what) + 1;
	const unsigned at = (unsigned)(a ^ a >> HF_REGISTERS_NUMBER_BITS << 5 ^ what << 7) % RECENT;
	uint32_t key;
	int err;

	if (reg->reg.role != HF_REG_DESTINATION && reg->reg.role != HF_REG_STATE)
		return 0;
	if (c->recent[at].key == known && c->recent[at].chunk == c->chunk)
		return 0;
	c->registers_known = true;
	c->recent[at].key = known;
	c->recent[at].chunk = c->chunk;
	err = hf_keys_find(&c->registers, a, what, false, &key);
	if (err)
		return err;
	if (key / 8 >= c->written_room) {
		const size_t room = 2 * c->written_room + key / 8 + 16;
		uint8_t *bigger = realloc(c->written, room);

		if (!bigger)
			return HF_ERR_NOMEM;
		memset(bigger + c->written_room, 0, room - c->written_room);
		c->written = bigger;
		c->written_room = room;
	}
	if (c->written[key / 8] >> key % 8 & 1)
		return 0;
	c->written[key / 8] |= (uint8_t)(1u << key % 8);
	hf_keys_note(&c->registers, key, c->chunk / HF_GROUP_CHUNKS, 1);
	return 0;
}

static void put_written(struct hf_collector *c)
{
	struct hf_raw *raw = &c->section[HF_SECTION_REGISTERS];
	size_t n = c->written_room;

	while (n && !c->written[n - 1])
		n--;
	hf_raw_number(raw, n);
	hf_raw_bytes(raw, c->written, n);
	c->any[HF_SECTION_REGISTERS] |= n != 0;
	if (n)
		memset(c->written, 0, n);
}

/* ---- chunks ---- */

static int end_group(struct hf_collector *c, uint64_t group, bool last)
{
	int err = put_filter(c, WRITES);

	if (!err)
		err = put_filter(c, READS);
	for (unsigned i = HF_SECTION_WRITES; i <= HF_SECTION_REGISTERS && !err; i++) {
		c->section[i].n = c->any[i] ? c->section[i].n : 0;
		c->any[i] = false;
		err = hf_group_write(c->writer, group, i, &c->section[i]);
	}
	if (!err && (last || group % HF_GROUP_FILTERS == HF_GROUP_FILTERS - 1))
		err = hf_group_write(c->writer, group / HF_GROUP_FILTERS, HF_SECTION_FILTERS,
				     &c->section[HF_SECTION_FILTERS]);
	return err;
}

/* Ends the present chunk, which has so many instructions. */
static int end_chunk(struct hf_collector *c, uint64_t insns)
{
	int err = put_sets(c, WRITES, c->room.sets);

	if (!err)
		err = put_sets(c, ATTEMPTS, c->room.attempts);
	if (!err)
		err = put_events(c, insns);
	put_written(c);
	c->chunk++;
	c->first += insns;
	return err || c->chunk % HF_GROUP_CHUNKS ? err : end_group(c, c->chunk / HF_GROUP_CHUNKS - 1, false);
}

/* What follows an instruction belongs to it, also if its chunk ends between. */
int hf_collector_settle(struct hf_collector *c)
{
	int err = 0;

	for (; c->cuts && !err; c->cuts--)
		err = end_chunk(c, c->insns - c->first);
	return err;
}

/* Any event but a retired instruction. */
static int put_other(struct hf_collector *c, const struct hf_event *ev)
{
	switch (ev->kind) {
	case HF_EVENT_MEM:
		return put_access(c, ev);
	case HF_EVENT_REG:
		return c->attempt ? 0 : put_register(c, ev);
	case HF_EVENT_ATTEMPT:
		c->attempt = ATTEMPTS;
		return put_rare(c, ev);
	default:
		return put_rare(c, ev);
	}
}

int hf_collector_put(struct hf_collector *c, const struct hf_event *ev, size_t n)
{
	const struct hf_event *const end = ev + n;
	int err = 0;

	while (ev < end && !err) {
		const struct hf_event *const first = ev;

		if (ev->kind == HF_EVENT_INSN && c->cuts)
			err = hf_collector_settle(c);
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

/* Of a stretch only the attachments of its instructions matter. */
static int put_stretch(struct hf_collector *c, const struct hf_event *ev, const struct hf_stretch *stretch)
{
	int err = c->cuts ? hf_collector_settle(c) : 0;

	c->attempt = 0;
	for (uint32_t left = stretch->others; left && !err; left &= left - 1) {
		const struct hf_event *other = &ev[__builtin_ctz(left)];
		const unsigned kind = other->flags & HF_EVF_WRITE ? WRITES : READS;

		/* Most are an access to recently touched memory. */
		if (other->kind != HF_EVENT_MEM || !(other->flags & (HF_EVF_READ | HF_EVF_WRITE)) ||
		    (other->flags & (HF_EVF_READ | HF_EVF_WRITE)) == (HF_EVF_READ | HF_EVF_WRITE) ||
		    !put_words_again(&c->words[kind], other))
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

/* A source that tells accesses also tells those of attempts. */
static unsigned known_bits(const struct hf_collector *c)
{
	unsigned known = c->registers_known ? 1u << KINDS : 0;

	for (unsigned i = 0; i < KINDS; i++)
		known |= c->words[i].known || c->words[i % ATTEMPTS].known ? 1u << i : 0;
	return known;
}

int hf_collector_put_keys(struct hf_collector *c)
{
	struct hf_raw *raw = &c->section[HF_SECTION_KEYS];

	hf_raw_number(raw, known_bits(c));
	hf_keys_code(&c->rare, raw);
	hf_keys_code(&c->registers, raw);
	return hf_group_write(c->writer, 0, HF_SECTION_KEYS, raw);
}

void hf_collector_resume(struct hf_collector *c, uint64_t chunk, uint64_t insns, struct hf_group_keys *keys)
{
	for (unsigned i = 0; i < KINDS; i++)
		c->words[i].known = keys->known >> i & 1;
	c->registers_known = keys->known >> KINDS & 1;
	c->rare = keys->rare;
	c->registers = keys->registers;
	*keys = (struct hf_group_keys){0};
	c->chunk = chunk;
	c->first = c->insns = insns;
}

int hf_collector_end(struct hf_collector *c)
{
	int err = hf_collector_settle(c);

	if (!err && c->chunk % HF_GROUP_CHUNKS)
		err = end_group(c, c->chunk / HF_GROUP_CHUNKS, true);
	else if (!err)
		err = hf_group_write(c->writer, c->chunk / HF_GROUP_CHUNKS / HF_GROUP_FILTERS, HF_SECTION_FILTERS,
				     &c->section[HF_SECTION_FILTERS]);
	return err ? err : hf_collector_put_keys(c);
}
