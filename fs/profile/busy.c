/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/profile/busy.h"

#include <stdlib.h>

/* The number of its function, perhaps a new one; HF_BUSY_FUNCTIONS: there is no room. */
static int find(struct hf_busy *busy, const struct hf_symbols *symbols, uint64_t pc, uint32_t *ret_number)
{
	const struct hf_symbol *symbol = symbols ? hf_symbols_at(symbols, pc) : NULL;
	const uint64_t start = symbol ? symbol->start : pc & ~UINT64_C(0xfff);
	const uint32_t hash = hf_hash_of(start, 0);
	int err;

	HF_HASH_EACH(&busy->map, hash, i)
	if (busy->function[i].start == start && busy->function[i].symbol == symbol) {
		*ret_number = i;
		return 0;
	}
	*ret_number = busy->count;
	if (busy->count == HF_BUSY_FUNCTIONS) {
		busy->full = true;
		return 0;
	}
	err = hf_hash_map_add_row(&busy->map, hash, &busy->function, sizeof *busy->function);
	if (!err)
		busy->function[busy->count++] = (struct hf_busy_function){.start = start, .symbol = symbol};
	return err;
}

int hf_busy_find(struct hf_busy *busy, const struct hf_symbols *symbols, uint64_t pc,
		 struct hf_busy_function **ret_function)
{
	int err = busy->count && pc == busy->last_pc ? 0 : find(busy, symbols, pc, &busy->last);

	if (err)
		return err;
	busy->last_pc = pc;
	*ret_function = busy->last == HF_BUSY_FUNCTIONS ? NULL : &busy->function[busy->last];
	return 0;
}

void hf_busy_free(struct hf_busy *busy)
{
	free(busy->function);
	hf_hash_map_free(&busy->map);
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
