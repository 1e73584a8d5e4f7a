/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers by numbers, as many as fit. A zeroed one is empty. */
#ifndef HF_IMAGE_NUMBER_MAP_H
#define HF_IMAGE_NUMBER_MAP_H

#include "codecs/base/hash_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hf_number_map {
	struct hf_number_map_row {
		uint64_t key;
		uint32_t value;
	} * row;
	struct hf_hash_map map;
};

/* The value of key; 0 if there is none. */
uint32_t hf_number_map_get(const struct hf_number_map *numbers, uint64_t key);
/* key must be new, value not 0. HF_ERR_NOMEM. */
int hf_number_map_add(struct hf_number_map *numbers, uint64_t key, uint32_t value);
void hf_number_map_free(struct hf_number_map *numbers);

#endif
