/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/words_collect.h"

#include "index/summary/inverse_read.h"
#include "index/summary/words.h"

static const uint8_t levels[] = {HF_WORDS_WORD, HF_WORDS_LINE, HF_WORDS_PAGE, HF_WORDS_MIB, HF_WORDS_GIB, HF_WORDS_ALL};

/* A key: first unit, units behind it, level. */

static uint64_t unit_of(uint64_t address, unsigned level)
{
	return level < 64 ? address >> level : 0;
}

static void range(const struct hf_inverse_key *key, uint64_t *ret_first, uint64_t *ret_last)
{
	const unsigned level = key->level;

	*ret_first = level < HF_WORDS_UNKNOWN ? key->a << level : 0;
	*ret_last = level < HF_WORDS_UNKNOWN ? ((key->a + key->b) << level) + ((UINT64_C(1) << level) - 1) : UINT64_MAX;
}

static void make_coarser(void *ctx, struct hf_inverse_key *key)
{
	const struct hf_words_collector *c = ctx;
	const unsigned by = c->level - key->level;

	if (key->level >= c->level || key->level == HF_WORDS_UNKNOWN)
		return;
	key->b = unit_of(key->a + key->b, by);
	key->a = unit_of(key->a, by);
	if (c->level == HF_WORDS_ALL)
		key->a = key->b = 0;
	key->b -= key->a;
	key->level = (uint8_t)c->level;
}

static int coarsen(void *ctx)
{
	struct hf_words_collector *c = ctx;
	size_t i = 0;
	int err;

	while (levels[i] <= c->level && c->level != HF_WORDS_ALL)
		i++;
	if (c->level == HF_WORDS_ALL)
		return 0;
	c->level = levels[i];
	err = hf_inverse_writer_map(&c->writer, make_coarser, c);
	return err ? err : 1;
}

static void begin(void *ctx)
{
	struct hf_words_collector *c = ctx;

	c->level = c->least;
}

static bool is_level(unsigned level)
{
	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
		if (levels[i] == level)
			return true;
	return false;
}

static bool is_key(const struct hf_inverse_key *key)
{
	return is_level(key->level) || key->level == HF_WORDS_UNKNOWN;
}

#define OPS(what, insns)                   \
	[what] = {.part = (what),          \
		  .insns_a_byte = (insns), \
		  .shift = hf_words_shift, \
		  .coarsen = coarsen,      \
		  .is_key = is_key,        \
		  .range = range,          \
		  .begin = begin}
static const struct hf_inverse_ops ops[HF_INVERSE_PARTS] = {
	OPS(HF_INVERSE_WRITES, 32),
	OPS(HF_INVERSE_READS, 32),
	OPS(HF_INVERSE_ATTEMPT_WRITES, 256),
	OPS(HF_INVERSE_ATTEMPT_READS, 256),
};
#undef OPS

int hf_words_collector_init(struct hf_words_collector *c, enum hf_inverse_part part, const struct hf_inverse_room *room,
			    hf_summary_row_fn put, void *ctx)
{
	int err = hf_touched_init(&c->touched);

	c->least = part == HF_INVERSE_READS || part == HF_INVERSE_ATTEMPT_READS ? HF_WORDS_LINE : HF_WORDS_WORD;
	c->level = c->least;
	return err ? err : hf_inverse_writer_init(&c->writer, &ops[part], c, room, put, ctx);
}

void hf_words_collector_fini(struct hf_words_collector *c)
{
	hf_touched_fini(&c->touched);
	hf_inverse_writer_fini(&c->writer);
}

/* ---- out of the set ---- */

/* level: of the range. The summary may have become coarser since, but not that fine again. */
static int put_range(struct hf_words_collector *c, const struct hf_range *units, unsigned level)
{
	int err;

	for (;;) {
		struct hf_inverse_key key = {
			.a = units->first, .b = units->last - units->first, .level = (uint8_t)level};

		make_coarser(c, &key);
		err = hf_inverse_writer_put(&c->writer, &key, c->chunk, 0);
		if (err != HF_ERR_LIMIT)
			return err;
		err = hf_inverse_writer_make_room(&c->writer);
		if (err)
			return err;
	}
}

static int empty(struct hf_words_collector *c)
{
	const unsigned level = c->level;
	const struct hf_range *ranges;
	size_t n = 0;
	int err = hf_touched_take(&c->touched, &ranges, &n);

	for (size_t i = 0; i < n && !err; i++)
		err = put_range(c, &ranges[i], level);
	return err;
}

/* ---- into it ---- */

static int add(struct hf_words_collector *c, uint64_t first, uint64_t last)
{
	int err = 0;

	while (!err && !hf_touched_add(&c->touched, unit_of(first, c->level), unit_of(last, c->level)))
		err = empty(c);
	return err;
}

int hf_words_collector_put(struct hf_words_collector *c, const struct hf_event *mem)
{
	const uint64_t first = mem->mem.address, last = first + (mem->mem.size ? mem->mem.size - 1 : 0);
	int err;

	c->any = true;
	if (mem->flags & HF_EVF_NO_ADDRESS)
		return put_range(c, &(struct hf_range){0}, HF_WORDS_UNKNOWN);
	if (last >= first)
		return add(c, first, last);
	/* It goes on at the other end of memory. */
	err = add(c, first, UINT64_MAX);
	return err ? err : add(c, 0, last);
}

int hf_words_collector_cut(struct hf_words_collector *c, uint64_t chunks, uint64_t insns)
{
	int err;

	c->writer.insns = insns;
	err = empty(c);
	c->chunk += chunks;
	return err ? err : hf_inverse_writer_cut(&c->writer, c->level > c->least);
}

int hf_words_collector_end(struct hf_words_collector *c, bool known)
{
	return hf_inverse_writer_end(&c->writer, known);
}

void hf_words_collector_keep(struct hf_words_collector *c, struct hf_keep *k)
{
	HF_KEEP(k, c->level, HF_WORDS_ALL);
	HF_KEEP(k, c->chunk, HF_COUNT_MAX);
	HF_KEEP(k, c->any, 1);
	hf_touched_keep(&c->touched, k);
	hf_inverse_writer_keep(&c->writer, k);
	hf_keep_check(k, is_level(c->level) && c->level >= c->least && c->writer.last <= c->chunk);
}
