/* SPDX-License-Identifier: Apache-2.0 */
/* The registers of a summary: which chunks write one. */
#include "fs/find/plan.h"

#include "index/summary/registers.h"

/* Of a value alone every register may be an answer. */
static uint32_t serves(const struct hf_terms *terms)
{
	uint32_t bits = 0;

	for (uint32_t left = terms->reg; left; left &= left - 1)
		if (terms->question->term[__builtin_ctz(left)].kind != HF_ASK_VALUE)
			bits |= left & -left;
	return bits;
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

	if (hf_terms_of_register(n->ask->terms, n->term, &ev))
		return true;
	ev.size = VECTOR_BYTES;
	return hf_terms_of_register(n->ask->terms, n->term, &ev);
}

static int add_register(void *ctx, enum hf_registers_what what, uint8_t class, uint16_t number)
{
	struct naming *n = ctx;
	struct hf_chunk_set set;
	uint64_t chunk = 0;
	int err;

	if (what != HF_REGISTERS_WRITTEN || !is_named(n, class, number))
		return 0;
	err = hf_registers_find(n->ask->summary, n->ask->hart, what, class, number, &set);
	if (err)
		return err;
	while (hf_chunk_set_next(&set, chunk, &chunk))
		hf_chunk_set_add(n->set, chunk++, 1);
	hf_chunk_set_free(&set);
	return 0;
}

/* All terms must hold of one instruction, so each has to be possible in its chunk. Of how many is not known. */
static int count(const struct hf_find_ask *ask, uint64_t *counts, bool *exact)
{
	const uint64_t n = ask->high - ask->low;
	int err = 0;

	*exact = false;
	for (uint64_t i = 0; i < n; i++)
		counts[i] = UINT64_MAX;
	for (uint32_t left = serves(ask->terms); left && !err; left &= left - 1) {
		struct naming naming = {.ask = ask, .term = (unsigned)__builtin_ctz(left)};
		struct hf_chunk_set set;

		naming.set = &set;
		err = hf_chunk_set_init(&set, ask->high);
		if (!err)
			err = hf_registers_each(ask->summary, ask->hart, add_register, &naming);
		/* The trace tells of no register at all. */
		err = err == HF_ERR_UNSUPPORTED ? 0 : err;
		for (uint64_t i = 0; !err && i < n; i++)
			if (!hf_chunk_set_has(&set, ask->low + i))
				counts[i] = 0;
		hf_chunk_set_free(&set);
	}
	return err;
}

const struct hf_find_list hf_find_list_registers = {.name = "registers", .serves = serves, .count = count};
