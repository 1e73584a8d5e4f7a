/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/rows/probe.h"

#include "fs/find/walk.h"

#include <stdlib.h>

/* What put returns when there is nothing left to look for. */
enum { FOUND_ALL = HF_NOTE_END + 1 };

struct probe {
	const struct hf_terms *terms;
	uint32_t missing; /* bits of terms */
};

static int put(void *ctx, const struct hf_event *ev)
{
	struct probe *p = ctx;
	uint32_t bits = p->missing;

	bits &= ev->kind == HF_EVENT_MEM ? p->terms->access : ev->kind == HF_EVENT_REG ? p->terms->reg : 0;
	for (; bits; bits &= bits - 1) {
		const unsigned term = (unsigned)__builtin_ctz(bits);

		if ((ev->kind == HF_EVENT_MEM ? hf_terms_of_access(p->terms, term, ev)
					      : hf_terms_of_register(p->terms, term, ev)) != HF_NO)
			p->missing &= ~(1u << term);
	}
	return p->missing ? 0 : FOUND_ALL;
}

bool hf_rows_probe_is_useful(const struct hf_terms *terms)
{
	return terms && (terms->access | terms->reg);
}

int hf_rows_probe(struct hf_cursor *cursor, uint64_t number, const struct hf_terms *terms, bool *ret_may)
{
	struct probe probe = {.terms = terms, .missing = terms->access | terms->reg};
	struct hf_walk *walk = malloc(sizeof *walk);
	int err;

	if (!walk)
		return HF_ERR_NOMEM;
	walk->cursor = cursor;
	walk->begin = NULL;
	walk->context = NULL;
	walk->put = put;
	walk->ctx = &probe;
	err = hf_walk_chunk(walk, number);
	free(walk);
	*ret_may = err == FOUND_ALL;
	return err == FOUND_ALL ? 0 : err;
}
