/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/profile/busy.h"

#include <stdlib.h>

enum { SLOTS = 2 * HF_BUSY_FUNCTIONS, FIRST_ROOM = 64 };

static int make_room(struct hf_busy *busy)
{
	struct hf_busy_function *more;

	if (!busy->slot)
		busy->slot = calloc(SLOTS, sizeof *busy->slot);
	if (!busy->slot)
		return HF_ERR_NOMEM;
	if (busy->count < FIRST_ROOM ? busy->count != 0 : (busy->count & (busy->count - 1)) != 0)
		return 0;
	more = realloc(busy->function, (busy->count ? 2 * (size_t)busy->count : FIRST_ROOM) * sizeof *more);
	if (!more)
		return HF_ERR_NOMEM;
	busy->function = more;
	return 0;
}

/* The number of its function, perhaps a new one; HF_BUSY_FUNCTIONS: there is no room. */
static int find(struct hf_busy *busy, const struct hf_symbols *symbols, uint64_t pc, uint32_t *ret_number)
{
	const struct hf_symbol *symbol = symbols ? hf_symbols_at(symbols, pc) : NULL;
	const uint64_t start = symbol ? symbol->start : pc & ~UINT64_C(0xfff);
	size_t at = start * UINT64_C(0x9e3779b97f4a7c15) >> 49;
	int err = make_room(busy);

	if (err)
		return err;
	for (; busy->slot[at]; at = (at + 1) % SLOTS) {
		const struct hf_busy_function *function = &busy->function[busy->slot[at] - 1];

		if (function->start == start && function->symbol == symbol)
			break;
	}
	if (!busy->slot[at] && busy->count == HF_BUSY_FUNCTIONS) {
		busy->full = true;
		*ret_number = HF_BUSY_FUNCTIONS;
		return 0;
	}
	if (!busy->slot[at]) {
		busy->function[busy->count] = (struct hf_busy_function){.start = start, .symbol = symbol};
		busy->slot[at] = ++busy->count;
	}
	*ret_number = busy->slot[at] - 1;
	return 0;
}

int hf_busy_find(struct hf_busy *busy, const struct hf_symbols *symbols, uint64_t pc,
		 struct hf_busy_function **ret_function)
{
	int err = busy->slot && pc == busy->last_pc ? 0 : find(busy, symbols, pc, &busy->last);

	if (err)
		return err;
	busy->last_pc = pc;
	*ret_function = busy->last == HF_BUSY_FUNCTIONS ? NULL : &busy->function[busy->last];
	return 0;
}

void hf_busy_free(struct hf_busy *busy)
{
	free(busy->function);
	free(busy->slot);
	*busy = (struct hf_busy){0};
}

const struct hf_busy_function *hf_busy_most(const struct hf_busy *busy, uint64_t first, uint64_t last, uint32_t part)
{
	const struct hf_busy_function *most = NULL;
	float n = 0;

	for (uint32_t i = 0; i < busy->count && !busy->full; i++) {
		const struct hf_busy_function *f = &busy->function[i];
		const float insns = part == HF_BUSY_PARTS ? f->all : f->part[part];

		if (f->start < first || f->start > last || insns < n || insns <= 0)
			continue;
		if (insns > n || f->start < most->start)
			most = f;
		n = insns;
	}
	return most;
}
