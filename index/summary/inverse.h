/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An inverted index while it is collected: for each key, a list of the places where it occurs. The parts of a summary
 * besides runs are made of such (rare.h, words.h, registers.h); what a key and a place are is their business. It has so
 * much memory: when that is full, it becomes a span, as runs do, or is made coarser. Internal to index/.
 */
#ifndef HF_INDEX_SUMMARY_INVERSE_H
#define HF_INDEX_SUMMARY_INVERSE_H

#include "index/summary/growing.h"
#include "index/summary/inverse_order.h"

/* In the tables: a number of the schema. */
enum hf_inverse_part {
	HF_INVERSE_RARE,
	HF_INVERSE_WRITES,
	HF_INVERSE_READS,
	HF_INVERSE_ATTEMPT_WRITES,
	HF_INVERSE_ATTEMPT_READS,
	HF_INVERSE_REGISTERS,
	HF_INVERSE_PARTS
};

/* A part's number in the ids of its rows. */
#define HF_INVERSE_PART_SHIFT 32

/* Keys that one span can have, and bytes of their lists. Then 12 MiB, of which what is not used costs nothing.
 * credit: bytes that a part of a hart may have whatever its instructions are; coarse: a span that is coarse ends after
 * so many instructions, 0: it does not (inverse_span.h). */
struct hf_inverse_room {
	uint32_t keys, lists, credit, coarse;
};
extern const struct hf_inverse_room hf_inverse_room_default;

struct hf_inverse_entry {
	struct hf_inverse_key key;
	struct hf_growing list; /* of places, which the level may have made coarser too */
};

struct hf_inverse {
	struct hf_inverse_room room;
	struct hf_inverse_entry *entries;
	uint32_t *slots, slot_mask; /* number of an entry plus 1, or 0 */
	uint32_t count;
	struct hf_growing_lists lists;
};

/* Places of a level count so many of level 0: 1 << this. */
typedef unsigned (*hf_inverse_shift_fn)(const struct hf_inverse_key *key);
/* That of parts whose levels are shifts. */
unsigned hf_inverse_level(const struct hf_inverse_key *key);

int hf_inverse_new(const struct hf_inverse_room *room, struct hf_inverse **ret_inverse);
void hf_inverse_free(struct hf_inverse *inverse);
/* count more at a place, which is not before the last one of that key; 0: at least one, so that putting it again is no
 * more. *ret_added: by how much the sum of all counts grew. base: no place of the list is before it. HF_ERR_LIMIT:
 * there is no room, and nothing has changed. */
int hf_inverse_put(struct hf_inverse *inverse, const struct hf_inverse_key *key, uint64_t base, uint64_t place,
		   uint64_t count, uint64_t *ret_added);
/* *ret_order, for free(): the numbers of the entries, in the order of their keys. */
int hf_inverse_sort(const struct hf_inverse *inverse, uint32_t **ret_order);
void hf_inverse_clear(struct hf_inverse *inverse);

/*
 * To a file and back, into an empty one. is_key: whether a key can be. base and last: of places, at level 0.
 * *ret_total: the sum of all counts.
 */
struct hf_inverse_kept {
	bool (*is_key)(const struct hf_inverse_key *key);
	hf_inverse_shift_fn shift;
	uint64_t base, last;
};
void hf_inverse_keep(struct hf_inverse *inverse, const struct hf_inverse_kept *kept, struct hf_keep *keep,
		     uint64_t *ret_total);

/*
 * Makes it coarser: fn changes a key, and places of its list are shifted as the new level says. Lists of keys that
 * become the same become one: of counted ones counts are added up. base: of the lists as they are at level 0. Takes 16
 * bytes a posting of the longest list that comes of it, meanwhile, and as much memory again as it has. *ret_total: the
 * sum of all counts.
 */
typedef void (*hf_inverse_map_fn)(void *ctx, struct hf_inverse_key *key);
struct hf_inverse_mapping {
	hf_inverse_map_fn fn;
	void *ctx;
	hf_inverse_shift_fn shift;
	uint64_t base;
	bool counted;
};
int hf_inverse_map(struct hf_inverse *inverse, const struct hf_inverse_mapping *mapping, uint64_t *ret_total);

#endif
