/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decode index while it is built. Rows are added in order; a commit keeps those so far. After an interruption the
 * next build cuts it back to the start of its last chunk and goes on. Internal to index/.
 */
#ifndef HF_INDEX_INDEX_PART_H
#define HF_INDEX_INDEX_PART_H

#include "index/read/image.h"
#include "index/table/index_tables.h"

/* So many of HF_INDEX_PROBLEM_MAX are for problems of the whole file. */
#define HF_FILE_PROBLEMS 256

struct hf_index_part {
	struct hf_part file;
	struct hf_store *store;
	struct hf_index_meta meta;
	uint64_t problems;	/* of events, stored and not */
	uint64_t file_problems; /* of the whole file, stored and not */
	uint64_t known_end;	/* points of the stream up to here are stored */
	uint64_t holes;		/* of these, with HF_POINT_DAMAGED */
	ZSTD_CCtx *zstd;
};

/* Where a resumed run begins: the chunk that was cut off, and sums of its hart before it. */
struct hf_run_start {
	struct hf_chunk chunk;
	uint64_t attempts, events;
	struct hf_told told;
};

/* Locks it, and opens or creates it. part->meta is what an earlier build left, or, as after hf_index_part_reset, only
 * identity and limits. HF_ERR_BUSY. */
int hf_index_part_open(struct hf_index_part *part, const struct hf_store_dir *dir, const struct hf_identity *identity,
		       const struct hf_chunk_limits *limits);
/* Removes all rows. */
int hf_index_part_reset(struct hf_index_part *part, const struct hf_identity *identity,
			const struct hf_chunk_limits *limits);
/* Removes the file only if it is empty. */
void hf_index_part_close(struct hf_index_part *part);

/* The id of the last chunk at or before most, or HF_NOTE_END. */
int hf_index_part_last(struct hf_index_part *part, uint64_t most, uint64_t *ret_id);
/* Removes that chunk and all that came with or after it; *ret_start: the chunk, with sums of its hart before it. */
int hf_index_part_cut(struct hf_index_part *part, uint64_t id, struct hf_run_start *ret_start);

/* If there is no chunk to cut back to: removes all but the points. */
int hf_index_part_restart(struct hf_index_part *part);

int hf_index_part_add_chunk(struct hf_index_part *part, uint64_t slot, const struct hf_chunk *chunk);
/* Whether the point is neither stored already nor useless. */
bool hf_index_part_wants_point(const struct hf_index_part *part, const struct hf_point *point);
int hf_index_part_add_point(struct hf_index_part *part, const struct hf_point *point, const uint8_t *window);
int hf_index_part_add_problem(struct hf_index_part *part, const struct hf_index_problem *problem);
/* The first problem of an event, or HF_NOTE_END. */
int hf_index_part_first_problem(struct hf_index_part *part, struct hf_index_problem *ret_problem);
/* Puts a problem of the whole file before all others, replacing an earlier one. */
int hf_index_part_set_cause(struct hf_index_part *part, const struct hf_index_problem *problem);

/* Harts. chunks is 0 if it is known but not decoded yet. */
int hf_index_part_set_hart(struct hf_index_part *part, uint64_t slot, const struct hf_index_hart *hart);
/* With its image. */
int hf_index_part_drop_hart(struct hf_index_part *part, uint64_t slot);
int hf_index_part_drop_harts(struct hf_index_part *part);
/* The first hart at or behind slot, or HF_NOTE_END. */
int hf_index_part_hart(struct hf_index_part *part, uint64_t slot, struct hf_index_hart *ret_hart);

/* Stores the code of the first events of the hart. */
int hf_index_part_set_image(struct hf_index_part *part, uint64_t slot, uint64_t events, const struct hf_image *image);
/* The code that was stored last; HF_ERR_STATE: there is none. */
int hf_index_part_image(struct hf_index_part *part, uint64_t slot, uint64_t *ret_events, struct hf_image **ret_image);

int hf_index_part_write_meta(struct hf_index_part *part);
int hf_index_part_commit(struct hf_index_part *part);
/* Writes meta as complete and closes the database; the file stays locked until it is published and closed. */
int hf_index_part_finish(struct hf_index_part *part);

#endif
