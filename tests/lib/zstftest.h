/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .zstf containers of streams made here, and all events of them: front to back through a growing source, and chunk by
 * chunk through an index.
 */
#ifndef HF_TEST_ZSTFTEST_H
#define HF_TEST_ZSTFTEST_H

#include "fs/stream/block_source.h"
#include "tests/lib/stftest.h"

#define HF_ZT_FEATURES (HF_STF_FEATURE_EVENT64 | HF_STF_FEATURE_RV64)
#define HF_ZT_MANY (HF_ZT_FEATURES | HF_STF_FEATURE_MULTI_CORE)
#define HF_ZT_START 0x1000
#define HF_ZT_CHUNKS 8
#define HF_ZT_PER_CHUNK 20

/* A directory for indexes, removed at exit. */
void hf_zt_init(void);
void hf_zt_fini(void);

/* A stream cut into chunks; cut[i] is where chunk i begins, pc[i] where the flow is there. */
struct hf_zt_cut {
	struct hf_walk_bytes stream;
	size_t count;
	size_t cut[HF_ZT_CHUNKS + 1];
	uint64_t pc[HF_ZT_CHUNKS];
	struct hf_walk_bytes file;
};

/* Appends one group of the kind that i says, at pc; returns where the flow goes on. */
uint64_t hf_zt_put_group(struct hf_walk_bytes *b, unsigned i, uint64_t pc);
/* HF_ZT_CHUNKS chunks of HF_ZT_PER_CHUNK instructions, on harts hw threads in turns. */
struct hf_zt_cut hf_zt_make(unsigned harts);
/* Makes the file. */
void hf_zt_pack(struct hf_zt_cut *c);
void hf_zt_drop(struct hf_zt_cut *c);
uint64_t hf_zt_table_at(const struct hf_zt_cut *c);
/* File offsets of chunk i and of its pc in the table. */
uint64_t hf_zt_chunk_at(const struct hf_zt_cut *c, size_t i);
uint64_t hf_zt_pc_at(const struct hf_zt_cut *c, size_t i);

/* A growing source over a .zstf. */
struct hf_src *hf_zt_grow(struct hf_src *file);
/* All events through it, batch at a time, in reads of most bytes. */
struct hf_events hf_zt_growing_events(struct hf_src *file, uint32_t hart, size_t batch, size_t most);
/* The same, which must not depend on either. */
struct hf_events hf_zt_all_events(struct hf_src *file, uint32_t hart);

/* A file with an index of chunks of so many instructions. */
struct hf_zt_served {
	struct hf_index *index;
	struct hf_cache *cache;
	struct hf_src *file, *src;
	struct hf_stream *stream;
};
void hf_zt_serve(struct hf_zt_served *s, const struct hf_walk_bytes *file, uint64_t insns);
void hf_zt_stop(struct hf_zt_served *s);
/* Every chunk of the hart, each entered by itself. */
struct hf_events hf_zt_served_events(struct hf_zt_served *s, uint32_t hart);
/* That gives what is wanted of each hart, with chunks of several sizes. */
void hf_zt_check_entries(const struct hf_walk_bytes *file, const struct hf_events *want, size_t harts);

#endif
