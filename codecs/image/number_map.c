/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/image/number_map.h"

#include <stdlib.h>

uint32_t hf_number_map_get(const struct hf_number_map *numbers, uint64_t key)
{
	HF_HASH_EACH(&numbers->map, hf_hash_of(key, 0), i)
	if (numbers->row[i].key == key)
		return numbers->row[i].value;
	return 0;
}

int hf_number_map_add(struct hf_number_map *numbers, uint64_t key, uint32_t value)
{
	int err = hf_hash_map_add_row(&numbers->map, hf_hash_of(key, 0), &numbers->row, sizeof *numbers->row);

	if (!err)
		numbers->row[numbers->map.count - 1] = (struct hf_number_map_row){key, value};
	return err;
}

void hf_number_map_free(struct hf_number_map *numbers)
{
	free(numbers->row);
	hf_hash_map_free(&numbers->map);
	*numbers = (struct hf_number_map){.row = NULL};
}
