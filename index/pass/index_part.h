/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decode index while it is being built. Rows go in in order; a commit keeps what was added so far, and whoever
 * comes after an interruption cuts it back to the start of its last chunk and goes on. Internal to index/.
 */
#ifndef HF_INDEX_INDEX_PART_H
#define HF_INDEX_INDEX_PART_H

#include "index/read/image.h"
#include "index/table/index_tables.h"

/* Of the problems that are stored the last so many are for those of the file as such. */
#define HF_FILE_PROBLEMS 256

struct hf_index_part {
	struct hf_part file;
	struct hf_store *store;
	struct hf_index_meta meta;
	uint64_t problems;	/* of events, stored and not */
	uint64_t file_problems; /* of the file as such, stored and not */
	uint64_t known_end;	/* the stream up to here has its points stored */
	uint64_t holes;		/* of these, with HF_POINT_DAMAGED */
	ZSTD_CCtx *zstd;
};

/* Where a run begins if not at the first event: a chunk that was cut off, and what its hart had before it. */
struct hf_run_start {
	struct hf_chunk chunk;
	uint64_t attempts, events;
};

/* Locks, and opens or creates. part->meta is what an earlier build left (stream of its codec and so on), or, after
 * hf_index_part_reset, only identity and limits. HF_ERR_BUSY. */
int hf_index_part_open(struct hf_index_part *part, int dirfd, const struct hf_identity *identity,
		       const struct hf_chunk_limits *limits);
/* Throws away what was there. */
int hf_index_part_reset(struct hf_index_part *part, const struct hf_identity *identity,
			const struct hf_chunk_limits *limits);
/* Without removing anything but an empty file. */
void hf_index_part_close(struct hf_index_part *part);

/* The id of the last chunk at or before most, or HF_NOTE_END. */
int hf_index_part_last(struct hf_index_part *part, uint64_t most, uint64_t *ret_id);
/* Removes that chunk and all that came with or after it; gives it back, and what its hart had before it. */
int hf_index_part_cut(struct hf_index_part *part, uint64_t id, struct hf_run_start *ret_start);

/* Where there is no chunk to go back to: removes all but the points. */
int hf_index_part_restart(struct hf_index_part *part);

int hf_index_part_add_chunk(struct hf_index_part *part, uint64_t slot, const struct hf_chunk *chunk);
/* Whether it is not there already, and not useless. */
bool hf_index_part_wants_point(const struct hf_index_part *part, const struct hf_point *point);
int hf_index_part_add_point(struct hf_index_part *part, const struct hf_point *point, const uint8_t *window);
int hf_index_part_add_problem(struct hf_index_part *part, const struct hf_index_problem *problem);
/* The first problem that an event told: 0, or HF_NOTE_END if none did. */
int hf_index_part_first_problem(struct hf_index_part *part, struct hf_index_problem *ret_problem);
/* Puts one of the file as such before all others, in the place of an earlier one. */
int hf_index_part_set_cause(struct hf_index_part *part, const struct hf_index_problem *problem);

/* Harts: chunks is 0 for one that is known and not walked yet. */
int hf_index_part_set_hart(struct hf_index_part *part, uint64_t slot, const struct hf_index_hart *hart);
/* With its image. */
int hf_index_part_drop_hart(struct hf_index_part *part, uint64_t slot);
int hf_index_part_drop_harts(struct hf_index_part *part);
/* The first hart at or behind slot, or HF_NOTE_END. */
int hf_index_part_hart(struct hf_index_part *part, uint64_t slot, struct hf_index_hart *ret_hart);

/* The code of the hart's first so many events. */
int hf_index_part_set_image(struct hf_index_part *part, uint64_t slot, uint64_t events, const struct hf_image *image);
/* As it was stored last: HF_ERR_STATE if it is not there. */
int hf_index_part_image(struct hf_index_part *part, uint64_t slot, uint64_t *ret_events, struct hf_image **ret_image);

int hf_index_part_write_meta(struct hf_index_part *part);
int hf_index_part_commit(struct hf_index_part *part);
/* Writes meta as complete and closes the database; the file stays locked until it is published and closed. */
int hf_index_part_finish(struct hf_index_part *part);

#endif
