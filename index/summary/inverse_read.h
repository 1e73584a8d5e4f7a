/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks an inverted index of a summary. No bytes of it are believed. Internal to index/.
 */
#ifndef HF_INDEX_SUMMARY_INVERSE_READ_H
#define HF_INDEX_SUMMARY_INVERSE_READ_H

#include "index/summary/inverse.h"
#include "index/summary/summary_tables.h"
#include "index/table/row.h"

struct hf_summary;

/* A key of one of the spans, with its list. */
struct hf_inverse_found {
	struct hf_inverse_key key;
	uint64_t span;		    /* its number */
	struct hf_list_facts facts; /* of places, at the level of the key */
	uint64_t slot, place, list, list_size;
};

/* HF_NOTE_SPAN goes on with the next span; another positive number ends the look-up, a negative error too. */
#define HF_NOTE_SPAN 2
typedef int (*hf_inverse_fn)(void *ctx, const struct hf_inverse_found *found);

struct hf_inverse_question {
	enum hf_inverse_part part;
	uint64_t first, last;	   /* keys that may lie in there (hf_inverse_ops.range): also others come */
	hf_inverse_shift_fn shift; /* as hf_inverse_ops has it, of keys of any level up to HF_INVERSE_LEVEL_MAX */
	bool places;		   /* places of level 0 are chunks: those of the hart */
	bool windowed;		   /* then: spans without a chunk in [low, high) are passed over */
	uint64_t low, high;
};

/* HF_ERR_NOT_FOUND: there is no such hart. HF_ERR_STATE. */
int hf_inverse_head(struct hf_summary *summary, uint32_t hart, enum hf_inverse_part part,
		    struct hf_inverse_head *ret_head);
/* In the order of spans and keys. */
int hf_inverse_find(struct hf_summary *summary, uint32_t hart, const struct hf_inverse_question *question,
		    hf_inverse_fn fn, void *ctx);
/* bytes: to be freed, once list is not used any more, in any case. */
int hf_inverse_list(struct hf_summary *summary, enum hf_inverse_part part, const struct hf_inverse_found *found,
		    struct hf_list *ret_list, uint8_t **ret_bytes);
/* The same as hf_summary_list_by is of hf_summary_list. */
struct hf_list_reader;
int hf_inverse_list_by(struct hf_summary *summary, struct hf_list_reader *reader, enum hf_inverse_part part,
		       const struct hf_inverse_found *found, struct hf_list *ret_list);

/* The shift of the parts about memory; that of the others is hf_inverse_level. */
unsigned hf_words_shift(const struct hf_inverse_key *key);

#endif
