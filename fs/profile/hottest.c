/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/profile/hottest.h"

#include <stdlib.h>

/* The number of its function, perhaps a new one; HF_HOTTEST_FUNCTIONS: there is no room. */
static int find(struct hf_hottest *hottest, const struct hf_symbols *symbols, uint64_t pc, uint32_t *ret_number)
{
	const struct hf_symbol *symbol = symbols ? hf_symbols_at(symbols, pc) : NULL;
	const uint64_t start = symbol ? symbol->start : pc & ~UINT64_C(0xfff);
	const uint32_t hash = hf_hash_of(start, 0);
	int err;

	HF_HASH_EACH(&hottest->map, hash, i)
	if (hottest->function[i].start == start && hottest->function[i].symbol == symbol) {
		*ret_number = i;
		return 0;
	}
	*ret_number = hottest->count;
	if (hottest->count == HF_HOTTEST_FUNCTIONS) {
		hottest->full = true;
		return 0;
	}
	err = hf_hash_map_add_row(&hottest->map, hash, &hottest->function, sizeof *hottest->function);
	if (!err)
		hottest->function[hottest->count++] = (struct hf_hottest_function){.start = start, .symbol = symbol};
	return err;
}

int hf_hottest_find(struct hf_hottest *hottest, const struct hf_symbols *symbols, uint64_t pc,
		    struct hf_hottest_function **ret_function)
{
	int err = hottest->count && pc == hottest->last_pc ? 0 : find(hottest, symbols, pc, &hottest->last);

	if (err)
		return err;
	hottest->last_pc = pc;
	*ret_function = hottest->last == HF_HOTTEST_FUNCTIONS ? NULL : &hottest->function[hottest->last];
	return 0;
}

void hf_hottest_free(struct hf_hottest *hottest)
{
	free(hottest->function);
	hf_hash_map_free(&hottest->map);
	*hottest = (struct hf_hottest){0};
}

const struct hf_hottest_function *hf_hottest_get(const struct hf_hottest *hottest, uint64_t first, uint64_t last,
						 uint32_t part)
{
	const struct hf_hottest_function *most = NULL;
	float n = 0;

	for (uint32_t i = 0; i < hottest->count && !hottest->full; i++) {
		const struct hf_hottest_function *f = &hottest->function[i];
		const float insns = part == HF_HOTTEST_PARTS ? f->all : f->part[part];

		if (f->start < first || f->start > last || insns < n || insns <= 0)
			continue;
		if (insns > n || f->start < most->start)
			most = f;
		n = insns;
	}
	return most;
}
