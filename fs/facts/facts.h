/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one record of what is known of a version of a capture: names, sizes, why a view is missing, why all of it failed.
 * Directories, attributes, info.json and the catalogue's row are made from it. Facts come from the index (open_facts.c)
 * or the catalogue (catalogue_use.c). They do not change, and outlive the opened capture.
 */
#ifndef HF_FS_FACTS_H
#define HF_FS_FACTS_H

#include "fs/base/chunk_cache.h"
#include "index/catalogue/catalogue.h"
#include "index/index.h"

#include <stdatomic.h>

struct hf_capture;

/* One view of one hart. */
struct hf_facts_view {
	uint64_t size;  /* HF_NOWHERE: it does not exist */
	uint64_t owner; /* of its chunks in the cache */
};

struct hf_facts_hart {
	struct hf_index_hart info;
	struct hf_facts_view *view; /* one for each number, HF_VIEW_ALL */
	char *no_program;           /* why this hart alone has no program.elf; NULL: it has one, or no hart has */
};

/* All that is known of one version of a capture. */
struct hf_facts {
	atomic_uint refs;
	uint64_t version;
	uint64_t content;             /* hf_node_key.content of its files; not 0 */
	struct hf_diag failure;       /* code 0, or why the capture could not be indexed: then nothing else is set */
	char *complaint;              /* failure or undecoded in better words than the code's; or NULL */
	struct hf_known known;
	uint64_t stream_owner, merged_owner, text_owner[HF_TEXTS]; /* in the cache */
	/* What the catalogue does not have. */
	const char **refusal;         /* for each number: why there is no such view; NULL: there is, or no encoder */
	uint64_t index_size;          /* bytes of its files, as info.json has it */
	size_t hart_count;            /* without the records */
	struct hf_facts_hart *hart;   /* hart_count, and then the records if has_records */
	bool has_records;
	bool recalled;                /* from the catalogue, until the index is opened; refusal is NULL */
};

/* Empty facts, with one reference; NULL: out of memory. */
struct hf_facts *hf_facts_new(struct hf_capture *capture, uint64_t version);
/* Whether the capture could not be indexed, or nothing of it decoded. */
bool hf_facts_has_failed(const struct hf_facts *facts);
/* Why, in words. */
void hf_facts_failure(const struct hf_facts *facts, char *buf, size_t size);
struct hf_facts *hf_facts_ref(struct hf_facts *facts);
void hf_facts_unref(struct hf_facts *facts);
/* Whether they give the same names and sizes. */
bool hf_facts_same(const struct hf_facts *a, const struct hf_facts *b);
/* Whether two indexes tell the same of a hart. */
bool hf_facts_same_hart(const struct hf_index_hart *a, const struct hf_index_hart *b);
/* Drops the blocks that the cache has of them. */
void hf_facts_forget(const struct hf_facts *facts, struct hf_cache *cache);
/* NULL if there is no such hart. HF_HART_RECORDS is one. */
const struct hf_facts_hart *hf_facts_hart(const struct hf_facts *facts, uint32_t id);

/* Of all harts together. */
struct hf_facts_sum {
	uint64_t insns, attempts;
	struct hf_told told;
};
struct hf_facts_sum hf_facts_sum(const struct hf_facts *facts);

/* A number for the texts of info.json and errors.txt, as content is for the views. */
uint64_t hf_facts_text(const struct hf_facts *facts);

#endif
