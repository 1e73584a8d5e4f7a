/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists while they grow, many of them in one piece of memory: where something happened, and how often at each place.
 * Places come in their order; they are chunks or ordinals. Internal to index/.
 */
#ifndef HF_INDEX_SUMMARY_GROWING_H
#define HF_INDEX_SUMMARY_GROWING_H

#include "index/summary/keep.h"
#include "index/summary/list.h"

#include <stdbool.h>

/* The memory of the lists. */
struct hf_growing_lists {
	uint8_t *bytes;
	uint32_t size, room;
};

/* One of them. */
struct hf_growing {
	uint64_t place, pending;  /* the last one, and how often there: at least once */
	uint64_t count, postings; /* of the places before it, which are in the list */
	uint64_t listed;	  /* the place behind the last one of these */
	uint32_t first, last, at; /* blocks, and where the last one goes on; 0: there is none */
};

/* HF_ERR_NOMEM. */
int hf_growing_init(struct hf_growing_lists *lists, uint32_t room);
void hf_growing_fini(struct hf_growing_lists *lists);
void hf_growing_clear(struct hf_growing_lists *lists);

/* Whether a place can be added to any list, whatever it is. */
bool hf_growing_has_room(const struct hf_growing_lists *lists);
/* A new list, of no place yet, in which no place is before base. */
static inline void hf_growing_begin(struct hf_growing *list, uint64_t base)
{
	*list = (struct hf_growing){.place = base, .listed = base};
}
/* count more at a place, which is not before the last one. There must be room. */
void hf_growing_add(struct hf_growing_lists *lists, struct hf_growing *list, uint64_t place, uint64_t count);

/* How many places it has, and the sum of their counts. */
static inline uint64_t hf_growing_postings(const struct hf_growing *list)
{
	return list->postings + 1;
}
static inline uint64_t hf_growing_total(const struct hf_growing *list)
{
	return list->count + list->pending;
}

/* Reads as many as it has. base as above. */
struct hf_growing_reader {
	const uint8_t *bytes;
	const struct hf_growing *list;
	uint32_t block, at;
	uint64_t left, place;
};
void hf_growing_read(const struct hf_growing_lists *lists, const struct hf_growing *list, uint64_t base,
		     struct hf_growing_reader *ret_reader);
void hf_growing_next(struct hf_growing_reader *reader, struct hf_posting *ret_posting);
/*
 * To a file and back. First of all lists what they take together, which are then empty, with so much room; of each list
 * its places, from base on, of which none may be behind last; at last, whether they take as much.
 */
struct hf_growing_kept {
	uint64_t size, room;
};
void hf_growing_keep_begin(struct hf_growing_lists *lists, uint32_t most, struct hf_growing_kept *kept, struct hf_keep *keep);
void hf_growing_keep(struct hf_growing_lists *lists, struct hf_growing *list, uint64_t base, uint64_t last,
		     struct hf_keep *keep);
void hf_growing_keep_end(struct hf_growing_lists *lists, const struct hf_growing_kept *kept, struct hf_keep *keep);
/* The whole list, coded. HF_ERR_NOMEM. */
int hf_growing_code(const struct hf_growing_lists *lists, const struct hf_growing *list,
		    const struct hf_list_facts *facts, struct hf_list_writer *writer);

#endif
