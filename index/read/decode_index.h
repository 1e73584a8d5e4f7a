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

/* 0, HF_ERR_NOT_FOUND if there is no complete and valid index of that identity, or HF_ERR_NOMEM/IO. A damaged, newer
 * or foreign file counts as not found. dirfd: the index directory. */
int hf_index_open(int dirfd, const struct hf_identity *identity, struct hf_index **ret_index);
void hf_index_close(struct hf_index *index);
/* Whether anything that was asked of it has met damage, a page without its checksum or a row that cannot be. */
bool hf_index_is_damaged(const struct hf_index *index);
/* Removes its file, if that still stands under its name. It can be used as before. */
void hf_index_remove(const struct hf_index *index);

/* Its name in the index directory. */
const char *hf_index_name(const struct hf_index *index);
const struct hf_box *hf_index_box(const struct hf_index *index);     /* NULL: plain bytes */
const struct hf_codec *hf_index_codec(const struct hf_index *index); /* NULL: the stream could not be opened */
uint64_t hf_index_stream_size(const struct hf_index *index);	     /* good decompressed bytes */
/* The damage behind the last good byte: 0 or the error with its place. */
int hf_index_damage(const struct hf_index *index, struct hf_diag *diag);
/* Whether blocks before it are damaged too (HF_POINT_DAMAGED). */
bool hf_index_has_holes(const struct hf_index *index);
/* By id. HF_HART_RECORDS is not among them, though its chunks are found like those of any hart. */
size_t hf_index_harts(const struct hf_index *index, const struct hf_index_hart **ret_harts);
/* HF_HART_RECORDS, or NULL if the capture has no records.txt. */
const struct hf_index_hart *hf_index_records(const struct hf_index *index);
/* The first hart in a slot at or behind from, the records among them; NULL if there is none. */
const struct hf_index_hart *hf_index_next_slot(const struct hf_index *index, uint64_t from);
size_t hf_index_problem_count(const struct hf_index *index);
/* The i-th problem: those of the events in their order, then those of the file as such. HF_ERR_NOT_FOUND for problems
 * beyond HF_INDEX_PROBLEM_MAX, which are only counted. */
int hf_index_problem_at(const struct hf_index *index, size_t i, struct hf_index_problem *ret_problem);
/* Behind which retired instruction the gap or doubt stands whose back reaches that one, so that it may be wrong; HF_NOWHERE:
 * there is none among the problems that are stored. */
uint64_t hf_index_doubt(const struct hf_index *index, uint32_t hart, uint64_t ordinal);

int hf_index_chunk(struct hf_index *index, uint32_t hart, uint64_t number, struct hf_chunk *ret_chunk);
/* The chunk that holds the retired instruction ordinal. */
int hf_index_chunk_of(struct hf_index *index, uint32_t hart, uint64_t ordinal, struct hf_chunk *ret_chunk);

/* The code that the hart executed, for the caller to free: all of it, or hf_image_refuses says why not. Takes memory
 * and time in proportion to the code. */
int hf_index_image(struct hf_index *index, uint32_t hart, struct hf_image **ret_image);

/* What its chunks were cut by. */
const struct hf_chunk_limits *hf_index_limits(const struct hf_index *index);

/* The point of the block that holds stream offset (a container only), and its window (window[HF_WINDOW_MAX]). */
int hf_index_point_of(struct hf_index *index, uint64_t offset, struct hf_point *ret_point);
int hf_index_window(struct hf_index *index, const struct hf_point *point, uint8_t *window);

/* Bytes of memory that it holds now: it grows while it is used, up to a few hundred KiB and what the problems take. */
uint64_t hf_index_memory(struct hf_index *index);
/* Bytes of its file, for info.json and budgets; or of its rows, if it is in a pack. */
uint64_t hf_index_file_size(const struct hf_index *index);

#endif
