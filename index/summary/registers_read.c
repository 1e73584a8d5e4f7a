/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/registers.h"

#include "index/summary/group_read.h"

#include <stdlib.h>

/* Adds the chunks of a group to the set of each register. */
static int take_group(struct hf_group_reader *r, uint64_t group, struct hf_chunk_set *sets, uint32_t count)
{
	uint64_t bytes;
	int err = hf_group_read(r, group, HF_SECTION_REGISTERS);

	if (err)
		return err == HF_NOTE_END ? 0 : err;
	for (uint64_t chunk = group * HF_GROUP_CHUNKS; r->at < r->end; chunk++) {
		err = hf_group_number(r, &bytes);
		if (err || bytes > (size_t)(r->end - r->at) || chunk >= r->hart->chunks)
			return HF_ERR_STATE;
		for (uint64_t i = 0; i < 8 * bytes; i++) {
			if (!(r->at[i / 8] >> i % 8 & 1))
				continue;
			if (i >= count)
				return HF_ERR_STATE;
			hf_chunk_set_add(&sets[i], chunk, 1);
		}
		r->at += bytes;
	}
	return 0;
}

static int tell(const struct hf_keys *keys, const struct hf_chunk_set *sets, hf_registers_fn fn, void *ctx)
{
	int err = 0;

	for (uint32_t i = 0; i < keys->count && !err; i++) {
		const uint64_t class = keys->key[i].a >> HF_REGISTERS_NUMBER_BITS;

		if (class >= HF_REG_CLASS_COUNT || keys->key[i].b > HF_REGISTERS_STATED)
			return HF_ERR_STATE;
		err = fn(ctx, (enum hf_registers_what)keys->key[i].b, (uint8_t)class, (uint16_t)keys->key[i].a, &sets[i]);
	}
	return err;
}

static int each(struct hf_group_reader *r, const struct hf_keys *keys, hf_registers_fn fn, void *ctx)
{
	struct hf_chunk_set *sets = calloc((size_t)keys->count + 1, sizeof *sets);
	int err = sets ? 0 : HF_ERR_NOMEM;

	for (uint32_t i = 0; i < keys->count && !err; i++)
		err = hf_chunk_set_init(&sets[i], r->hart->chunks);
	for (uint64_t group = 0; group < r->groups && !err; group++)
		err = take_group(r, group, sets, keys->count);
	if (!err)
		err = tell(keys, sets, fn, ctx);
	for (uint32_t i = 0; i < keys->count && sets; i++)
		hf_chunk_set_free(&sets[i]);
	free(sets);
	return err;
}

int hf_registers_each(struct hf_summary *summary, uint32_t hart, hf_registers_fn fn, void *ctx)
{
	struct hf_group_keys keys = {0};
	struct hf_group_reader reader;
	int err = hf_group_reader_open(summary, hart, &reader);

	if (!err)
		err = hf_group_read_keys(&reader, &keys);
	if (!err && !(keys.known >> HF_KNOWN_REGISTERS & 1))
		err = HF_ERR_UNSUPPORTED;
	if (!err)
		err = each(&reader, &keys.registers, fn, ctx);
	hf_group_keys_free(&keys);
	hf_group_reader_close(&reader);
	return hf_published_noted(&summary->file, err);
}
