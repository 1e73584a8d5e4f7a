/* SPDX-License-Identifier: Apache-2.0 */
/* The registers of a summary: which chunks write one. */
#include "fs/find/list_sets.h"

#include "index/summary/registers.h"

static uint32_t serves(const struct hf_predicates *predicates)
{
	return hf_find_predicates_listed(predicates, predicates->reg);
}

/* The registers that one term is about. */
struct naming {
	const struct hf_find_ask *ask;
	unsigned term;
	struct hf_chunk_set *set; /* of chunks that write one of them */
};

/* More than those of an Advanced SIMD register, whose name is another one. */
enum { VECTOR_BYTES = 256 };

/* A vector register has a name for each of its sizes. */
static bool is_named(const struct naming *n, uint8_t class, uint16_t number)
{
	struct hf_event ev = {.kind = HF_EVENT_REG,
			      .reg = {.class = class, .number = number, .role = HF_REG_DESTINATION}};

	if (hf_predicates_of_register(n->ask->predicates, n->term, &ev))
		return true;
	ev.size = VECTOR_BYTES;
	return hf_predicates_of_register(n->ask->predicates, n->term, &ev);
}

static int add_register(void *ctx, enum hf_registers_what what, uint8_t class, uint16_t number,
			const struct hf_chunk_set *set)
{
	const struct naming *n = ctx;

	if (what == HF_REGISTERS_WRITTEN && is_named(n, class, number))
		hf_chunk_set_join(n->set, set);
	return 0;
}

static int add_term(const struct hf_find_ask *ask, unsigned term, struct hf_chunk_set *set)
{
	struct naming naming = {.ask = ask, .term = term, .set = set};
	const int err = hf_registers_each(ask->summary, ask->hart, add_register, &naming);

	/* The trace tells of no register at all. */
	return err == HF_ERR_UNSUPPORTED ? 0 : err;
}

static int count(const struct hf_find_ask *ask, uint64_t *counts, bool *exact)
{
	return hf_find_count_sets(ask, serves(ask->predicates), add_term, counts, exact);
}

const struct hf_find_list hf_find_list_registers = {.name = "registers", .serves = serves, .count = count};
