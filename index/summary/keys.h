/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys with numbers in the order of their first occurrence: kinds of rare events with their values; registers. Internal
 * to index/.
 */
#ifndef HF_INDEX_SUMMARY_KEYS_H
#define HF_INDEX_SUMMARY_KEYS_H

#include "codecs/base/hash_map.h"
#include "index/summary/group.h"

struct hf_key {
	uint64_t a, b; /* kind << 8 | detail, value; class << 16 | number, enum hf_registers_what */
	bool maybe;    /* of any value: there were too many */
	uint64_t total;
	uint64_t first, last; /* groups */
	uint32_t count;	      /* in the present chunk */
};

struct hf_keys {
	struct hf_key *key;
	uint32_t count, recent;
	struct hf_hash_map map;
};

/* Finds or adds the key. A zeroed table is empty. HF_ERR_NOMEM. */
int hf_keys_find(struct hf_keys *keys, uint64_t a, uint64_t b, bool maybe, uint32_t *ret_number);
/* Notes that the key occurs in that group. */
void hf_keys_note(struct hf_keys *keys, uint32_t number, uint64_t group, uint64_t count);
void hf_keys_free(struct hf_keys *keys);
void hf_keys_code(const struct hf_keys *keys, struct hf_raw *raw);
/* Reads what hf_keys_code made, at *p, which goes behind it. keys is empty. HF_ERR_STATE, HF_ERR_NOMEM. */
int hf_keys_read(struct hf_keys *keys, const uint8_t **p, const uint8_t *end);
/* To a file and back. */
void hf_keys_keep(struct hf_keys *keys, struct hf_keep *keep);

#endif
