/* SPDX-License-Identifier: Apache-2.0 */
/* Questions that tests ask a summary, made of those of the product. */
#ifndef HF_TEST_SUMMARYTEST_H
#define HF_TEST_SUMMARYTEST_H

#include "codecs/base/err.h"
#include "index/summary/rare.h"
#include "index/summary/registers.h"
#include "index/summary/summary_internal.h"

/* Of hits: how many events there are, how many of them may be of another value, and the hit with that number. */
struct hf_rare_counted {
	uint64_t count, maybe, n;
	struct hf_rare_hit nth; /* without events: there is none */
};

static inline int hf_rare_count_hit(void *ctx, const struct hf_rare_hit *hit)
{
	struct hf_rare_counted *c = ctx;

	if (!c->nth.count && c->n < c->count + hit->count)
		c->nth = *hit;
	c->count += hit->count;
	c->maybe += hit->maybe ? hit->count : 0;
	return 0;
}

static inline int hf_rare_counted_of(struct hf_rare *rare, uint64_t n, struct hf_rare_counted *ret_counted)
{
	*ret_counted = (struct hf_rare_counted){.n = n};
	return hf_rare_each(rare, hf_rare_count_hit, ret_counted);
}

struct hf_register_asked {
	enum hf_registers_what what;
	uint8_t class;
	uint16_t number;
	struct hf_chunk_set *set;
};

static inline int hf_register_take(void *ctx, enum hf_registers_what what, uint8_t class, uint16_t number,
				   const struct hf_chunk_set *set)
{
	const struct hf_register_asked *a = ctx;

	if (what == a->what && class == a->class && number == a->number)
		hf_chunk_set_join(a->set, set);
	return 0;
}

/* The chunks in which the register has such a value. Nothing is to be freed after an error. */
static inline int hf_registers_find(struct hf_summary *summary, uint32_t hart, enum hf_registers_what what, uint8_t class,
				    uint16_t number, struct hf_chunk_set *ret_set)
{
	const struct hf_summary_hart *h = hf_summary_find_hart(summary, hart);
	struct hf_register_asked a = {.what = what, .class = class, .number = number, .set = ret_set};
	int err = h ? hf_chunk_set_init(ret_set, h->chunks) : HF_ERR_NOT_FOUND;

	if (!err)
		err = hf_registers_each(summary, hart, hf_register_take, &a);
	if (err && h)
		hf_chunk_set_free(ret_set);
	return err;
}

#endif
