/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/profile/sources.h"
#include "codecs/base/search.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 256 };

static size_t slot_of(const struct hf_sources *sources, const char *name, uint32_t size)
{
	uint64_t hash = size;

	for (uint32_t i = 0; i < size; i++)
		hash = (hash ^ (uint8_t)name[i]) * UINT64_C(0x100000001b3);
	return (hash ^ hash >> 29) & sources->slot_mask;
}

static void fill_slot(struct hf_sources *sources, uint32_t number)
{
	const struct hf_source_file *file = &sources->file[number];
	size_t at = slot_of(sources, file->name, file->size);

	while (sources->slot[at])
		at = (at + 1) & sources->slot_mask;
	sources->slot[at] = number;
}

/* Slots for twice as many files as there is room for. */
static int grow(struct hf_sources *sources)
{
	const size_t slots = sources->slot_mask ? 2 * (sources->slot_mask + 1) : FIRST_SLOTS;
	struct hf_source_file *file = realloc(sources->file, slots / 2 * sizeof *file);
	uint32_t *slot;

	if (!file)
		return HF_ERR_NOMEM;
	sources->file = file;
	slot = calloc(slots, sizeof *slot);
	if (!slot)
		return HF_ERR_NOMEM;
	free(sources->slot);
	sources->slot = slot;
	sources->slot_mask = slots - 1;
	for (uint32_t i = 1; i < sources->file_count; i++)
		fill_slot(sources, i);
	if (!sources->file_count)
		sources->file[sources->file_count++] = (struct hf_source_file){"", 0};
	return 0;
}

int hf_sources_number(struct hf_sources *sources, const char *name, uint32_t size, uint32_t *ret_number)
{
	size_t at;
	int err = sources->file_count >= (sources->slot_mask + 1) / 2 ? grow(sources) : 0;

	if (err)
		return err;
	for (at = slot_of(sources, name, size); sources->slot[at]; at = (at + 1) & sources->slot_mask) {
		const struct hf_source_file *file = &sources->file[sources->slot[at]];

		if (file->size == size && !memcmp(file->name, name, size))
			break;
	}
	if (!sources->slot[at]) {
		sources->file[sources->file_count] = (struct hf_source_file){name, size};
		sources->slot[at] = (uint32_t)sources->file_count++;
	}
	*ret_number = sources->slot[at];
	return 0;
}

int hf_sources_init(struct hf_sources *sources, const struct hf_profiled *of, bool paths)
{
	const struct hf_counts *counts = of->counts;
	struct hf_line at = {0};
	uint32_t file = 0;
	int err;

	*sources = (struct hf_sources){.any = of->symbols && hf_symbols_have_lines(of->symbols)};
	sources->row = calloc(counts->n + 1, sizeof *sources->row);
	err = sources->row ? grow(sources) : HF_ERR_NOMEM;
	for (size_t i = 0; !err && sources->any && i < counts->n; i++) {
		const uint64_t pc = counts->row[i].pc;

		if (pc < at.start || pc >= at.end) {
			hf_symbols_line_at(of->symbols, pc, &at);
			if (at.line)
				err = hf_sources_number(sources, paths ? at.path : at.file,
							paths ? at.path_size : at.file_size, &file);
		}
		if (at.line)
			sources->row[i] = (struct hf_source_place){file, at.line};
	}
	return err;
}

void hf_sources_free(struct hf_sources *sources)
{
	free(sources->row);
	free(sources->file);
	free(sources->slot);
	*sources = (struct hf_sources){0};
}

size_t hf_profile_row_at(const struct hf_profiled *of, uint64_t pc)
{
	return pc ? HF_COUNT_UP_TO(of->counts->row, of->counts->n, pc, pc - 1) : 0;
}
