/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A published decode index, opened: which events each chunk of each hart holds and how to enter it. It is read-only and
 * may be used by any number of threads.
 */
#ifndef HF_INDEX_DECODE_INDEX_H
#define HF_INDEX_DECODE_INDEX_H

#include "codecs/image/collect.h"
#include "index/base/chunk.h"
#include "index/base/hart.h"
#include "index/base/identity.h"
#include "index/base/limits.h"

struct hf_index;

/* HF_ERR_NOT_FOUND: there is no complete and valid index of that identity; a damaged, newer or foreign file counts as
 * none. Or HF_ERR_NOMEM, HF_ERR_IO. dirfd: the index directory. */
int hf_index_open(int dirfd, const struct hf_identity *identity, struct hf_index **ret_index);
void hf_index_close(struct hf_index *index);
/* Whether a call has met damage: a page with a wrong checksum, or a row that makes no sense. */
bool hf_index_is_damaged(const struct hf_index *index);
/* Removes its file, unless another one has the name by now. The open index can still be used. */
void hf_index_remove(const struct hf_index *index);

/* Its name in the index directory. */
const char *hf_index_name(const struct hf_index *index);
const struct hf_box *hf_index_box(const struct hf_index *index);     /* NULL: plain bytes */
const struct hf_codec *hf_index_codec(const struct hf_index *index); /* NULL: the stream could not be opened */
uint64_t hf_index_stream_size(const struct hf_index *index);	     /* good decompressed bytes */
/* The damage behind the last good byte: 0, or the error with its place. */
int hf_index_damage(const struct hf_index *index, struct hf_diag *diag);
/* Whether blocks before it are damaged too (HF_POINT_DAMAGED). */
bool hf_index_has_holes(const struct hf_index *index);
/* By id, without HF_HART_RECORDS, whose chunks are found like those of a hart. */
size_t hf_index_harts(const struct hf_index *index, const struct hf_index_hart **ret_harts);
/* HF_HART_RECORDS, or NULL if the capture has no records.txt. */
const struct hf_index_hart *hf_index_records(const struct hf_index *index);
/* The first hart in a slot at or behind from, the records among them; NULL if there is none. */
const struct hf_index_hart *hf_index_next_slot(const struct hf_index *index, uint64_t from);
size_t hf_index_problem_count(const struct hf_index *index);
/* The i-th problem: those of events in their order, then those of the whole file. HF_ERR_NOT_FOUND for those beyond
 * HF_INDEX_PROBLEM_MAX, which are only counted. */
int hf_index_problem_at(const struct hf_index *index, size_t i, struct hf_index_problem *ret_problem);
/* If that retired instruction may be wrong, because back of a later gap or doubt reaches it: the ordinal at which that
 * is. HF_NOWHERE: no stored problem reaches it. */
uint64_t hf_index_doubt(const struct hf_index *index, uint32_t hart, uint64_t ordinal);

int hf_index_chunk(struct hf_index *index, uint32_t hart, uint64_t number, struct hf_chunk *ret_chunk);
/* The chunk that holds the retired instruction ordinal. */
int hf_index_chunk_of(struct hf_index *index, uint32_t hart, uint64_t ordinal, struct hf_chunk *ret_chunk);

/* The code that the hart executed, for the caller to free. If not all of it, hf_image_refuses says why. Takes memory
 * and time in proportion to the code. */
int hf_index_image(struct hf_index *index, uint32_t hart, struct hf_image **ret_image);

/* The limits of its chunks. */
const struct hf_chunk_limits *hf_index_limits(const struct hf_index *index);

/* The point of the block that holds stream offset (a container only), and its window (window[HF_WINDOW_MAX]). */
int hf_index_point_of(struct hf_index *index, uint64_t offset, struct hf_point *ret_point);
int hf_index_window(struct hf_index *index, const struct hf_point *point, uint8_t *window);

/* Its present bytes of memory. They grow with use, up to a few hundred KiB plus the problems. */
uint64_t hf_index_memory(struct hf_index *index);
/* Bytes of its file, for info.json and budgets; of an index in a pack those of its unpacked sheet. */
uint64_t hf_index_file_size(const struct hf_index *index);

#endif
