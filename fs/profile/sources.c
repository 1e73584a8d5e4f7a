/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/profile/sources.h"
#include "codecs/base/array.h"
#include "codecs/base/search.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

int hf_sources_number(struct hf_sources *sources, const char *name, uint32_t size, uint32_t *ret_number)
{
	const uint32_t hash = (uint32_t)XXH3_64bits(name, size);
	int err;

	HF_HASH_EACH(&sources->map, hash, i)
	if (sources->file[i].size == size && !memcmp(sources->file[i].name, name, size)) {
		*ret_number = i;
		return 0;
	}
	*ret_number = (uint32_t)sources->file_count;
	err = hf_array_room(&sources->file, *ret_number, sizeof *sources->file);
	if (!err)
		err = hf_hash_map_add(&sources->map, hash, *ret_number);
	if (!err)
		sources->file[sources->file_count++] = (struct hf_source_file){name, size};
	return err;
}

int hf_sources_init(struct hf_sources *sources, const struct hf_profiled *of, bool paths)
{
	const struct hf_counts *counts = of->counts;
	struct hf_line at = {0};
	uint32_t file = 0;
	int err;

	*sources = (struct hf_sources){.any = of->symbols && hf_symbols_have_lines(of->symbols)};
	sources->row = calloc(counts->n + 1, sizeof *sources->row);
	err = sources->row ? hf_array_room(&sources->file, 0, sizeof *sources->file) : HF_ERR_NOMEM;
	if (!err)
		sources->file[sources->file_count++] = (struct hf_source_file){"", 0};
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
	hf_hash_map_free(&sources->map);
	*sources = (struct hf_sources){0};
}

size_t hf_profile_row_at(const struct hf_profiled *of, uint64_t pc)
{
	return pc ? HF_COUNT_UP_TO(of->counts->row, of->counts->n, pc, pc - 1) : 0;
}
