/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/registers_collect.h"

#include "index/summary/registers.h"

static void range(const struct hf_inverse_key *key, uint64_t *ret_first, uint64_t *ret_last)
{
	*ret_first = *ret_last = key->a;
}

static void make_coarser(void *ctx, struct hf_inverse_key *key)
{
	key->level = (uint8_t)((const struct hf_registers_collector *)ctx)->level;
}

static int coarsen(void *ctx)
{
	struct hf_registers_collector *c = ctx;
	int err;

	if (c->level >= HF_REGISTERS_LEVEL_MAX)
		return 0;
	c->level += HF_REGISTERS_LEVEL_STEP;
	err = hf_inverse_writer_map(&c->writer, make_coarser, c);
	return err ? err : 1;
}

static void begin(void *ctx)
{
	((struct hf_registers_collector *)ctx)->level = 0;
}

static bool is_level(unsigned level)
{
	return level <= HF_REGISTERS_LEVEL_MAX && level % HF_REGISTERS_LEVEL_STEP == 0;
}

static bool is_key(const struct hf_inverse_key *key)
{
	return is_level(key->level);
}

static const struct hf_inverse_ops ops = {.part = HF_INVERSE_REGISTERS,
					  .insns_a_byte = 128,
					  .shift = hf_inverse_level,
					  .coarsen = coarsen,
					  .is_key = is_key,
					  .range = range,
					  .begin = begin};

int hf_registers_collector_init(struct hf_registers_collector *c, const struct hf_inverse_room *room,
				hf_summary_row_fn put, void *ctx)
{
	return hf_inverse_writer_init(&c->writer, &ops, c, room, put, ctx);
}

void hf_registers_collector_fini(struct hf_registers_collector *c)
{
	hf_inverse_writer_fini(&c->writer);
}

static int add(struct hf_registers_collector *c, uint64_t a, uint64_t what)
{
	int err;

	for (;;) {
		const struct hf_inverse_key key = {.a = a, .b = what, .level = (uint8_t)c->level};

		err = hf_inverse_writer_put(&c->writer, &key, c->chunk, 0);
		if (err != HF_ERR_LIMIT)
			return err;
		err = hf_inverse_writer_make_room(&c->writer);
		if (err)
			return err;
	}
}

int hf_registers_collector_put(struct hf_registers_collector *c, const struct hf_event *reg)
{
	const uint64_t a = (uint64_t)reg->reg.class << HF_REGISTERS_NUMBER_BITS | reg->reg.number;
	const uint64_t what = reg->reg.role == HF_REG_DESTINATION ? HF_REGISTERS_WRITTEN : HF_REGISTERS_STATED;
	const uint64_t known = (a << 1 | what) + 1;
	const unsigned at = (unsigned)(a ^ a >> HF_REGISTERS_NUMBER_BITS << 5 ^ what << 7) % HF_REGISTERS_RECENT;

	if (reg->reg.role != HF_REG_DESTINATION && reg->reg.role != HF_REG_STATE)
		return 0;
	if (c->recent[at].key == known && c->recent[at].chunk == c->chunk)
		return 0;
	c->any = true;
	c->recent[at].key = known;
	c->recent[at].chunk = c->chunk;
	return add(c, a, what);
}

void hf_registers_collector_cut(struct hf_registers_collector *c, uint64_t chunks, uint64_t insns)
{
	c->writer.insns = insns;
	c->chunk += chunks;
}

int hf_registers_collector_end(struct hf_registers_collector *c)
{
	return hf_inverse_writer_end(&c->writer, c->any);
}

void hf_registers_collector_keep(struct hf_registers_collector *c, struct hf_keep *k)
{
	HF_KEEP(k, c->level, HF_REGISTERS_LEVEL_MAX);
	HF_KEEP(k, c->chunk, HF_COUNT_MAX);
	HF_KEEP(k, c->any, 1);
	/* A span may have begun since the register was put: what is not to come again is in the one before it. */
	for (unsigned i = 0; i < HF_REGISTERS_RECENT; i++) {
		HF_KEEP(k, c->recent[i].key, UINT64_MAX);
		HF_KEEP(k, c->recent[i].chunk, UINT64_MAX);
	}
	hf_inverse_writer_keep(&c->writer, k);
	hf_keep_check(k, is_level(c->level) && c->writer.last <= c->chunk);
}
