/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/registers.h"

#include "index/summary/chunk_set_read.h"
#include "index/summary/registers_collect.h"

struct asking {
	struct hf_summary *summary;
	uint64_t a, b;
	struct hf_chunk_set *set;
};

static int take(void *ctx, const struct hf_inverse_found *found)
{
	struct asking *a = ctx;

	if (found->key.a != a->a || found->key.b != a->b)
		return 0;
	if (found->key.level > HF_REGISTERS_LEVEL_MAX)
		return HF_ERR_STATE;
	if (found->key.level > a->set->level)
		a->set->level = found->key.level;
	return hf_chunk_set_add_list(a->set, a->summary, NULL, HF_INVERSE_REGISTERS, found, found->key.level);
}

int hf_registers_find(struct hf_summary *summary, uint32_t hart, enum hf_registers_what what, uint8_t class,
		      uint16_t number, struct hf_chunk_set *ret_set)
{
	struct asking a = {.summary = summary,
			   .a = (uint64_t) class << HF_REGISTERS_NUMBER_BITS | number,
			   .b = what,
			   .set = ret_set};
	const struct hf_inverse_question question = {
		.part = HF_INVERSE_REGISTERS, .first = a.a, .last = a.a, .shift = hf_inverse_level, .places = true};
	struct hf_inverse_head head;
	int err = hf_chunk_set_begin(ret_set, summary, hart);

	if (!err)
		err = hf_inverse_head(summary, hart, HF_INVERSE_REGISTERS, &head);
	if (!err && !head.known)
		err = HF_ERR_UNSUPPORTED;
	if (!err)
		err = hf_inverse_find(summary, hart, &question, take, &a);
	if (err)
		hf_chunk_set_free(ret_set);
	return err;
}

struct each {
	hf_registers_fn fn;
	void *ctx;
};

static int hear(void *ctx, const struct hf_inverse_found *found)
{
	const struct each *each = ctx;
	const uint64_t class = found->key.a >> HF_REGISTERS_NUMBER_BITS;

	if (class >= HF_REG_CLASS_COUNT || found->key.b > HF_REGISTERS_STATED)
		return HF_ERR_STATE;
	return each->fn(each->ctx, (enum hf_registers_what)found->key.b, (uint8_t)class, (uint16_t)found->key.a);
}

int hf_registers_each(struct hf_summary *summary, uint32_t hart, hf_registers_fn fn, void *ctx)
{
	const struct hf_inverse_question question = {
		.part = HF_INVERSE_REGISTERS, .last = UINT64_MAX, .shift = hf_inverse_level, .places = true};
	struct hf_inverse_head head;
	int err = hf_inverse_head(summary, hart, HF_INVERSE_REGISTERS, &head);

	if (!err && !head.known)
		err = HF_ERR_UNSUPPORTED;
	return err ? err : hf_inverse_find(summary, hart, &question, hear, &(struct each){fn, ctx});
}
