/* SPDX-License-Identifier: Apache-2.0 */
#include "index/index_part.h"

#include <stdlib.h>
#include <sys/stat.h>

/* Ids of problems of the file as such: behind those of all events. */
#define FILE_PROBLEM_ID (UINT64_C(1) << 40)
/* Of what is likely behind all others: before them. */
#define CAUSE_ID 0

/* What is left of a window is a kilobyte or two at this level; it takes a hundredth of the time of an index. */
#define WINDOW_LEVEL 9

/* A window, compressed. */
struct window {
	uint32_t size;
	uint8_t data[ZSTD_COMPRESSBOUND(HF_WINDOW_MAX)];
};
static const struct hf_column window_columns[] = {HF_COLUMN_BYTES(window, data, size)};
static const struct hf_table window_table = HF_TABLE("window", window_columns);

static int prepare_all(struct hf_index_part *p)
{
	int err;

	if ((err = hf_row_prepare(p->db, &hf_table_chunk, false, &p->add_chunk)) ||
	    (err = hf_row_prepare(p->db, &hf_table_point, false, &p->add_point)) ||
	    (err = hf_row_prepare(p->db, &window_table, false, &p->add_window)) ||
	    (err = hf_row_prepare(p->db, &hf_table_problem, false, &p->add_problem)))
		return err;
	return hf_row_prepare(p->db, &hf_table_hart, true, &p->add_hart);
}

static void close_db(struct hf_index_part *p)
{
	sqlite3_finalize(p->add_chunk);
	sqlite3_finalize(p->add_point);
	sqlite3_finalize(p->add_window);
	sqlite3_finalize(p->add_problem);
	sqlite3_finalize(p->add_hart);
	p->add_chunk = p->add_point = p->add_window = p->add_problem = p->add_hart = NULL;
	hf_db_close(p->db);
	p->db = NULL;
}

/* The number sql gives, 0 for none. */
static int number(struct hf_index_part *p, const char *sql, uint64_t *ret_value)
{
	int err;

	*ret_value = 0;
	err = hf_db_number(p->db, sql, ret_value);
	return err > 0 ? 0 : err;
}

/* What is kept in memory of what the tables hold. */
static int count_rows(struct hf_index_part *p)
{
	uint64_t highest;
	int err;

	if ((err = number(p, "SELECT sum(problems) FROM chunk", &p->problems)) ||
	    (err = number(p, "SELECT count(*) FROM problem WHERE chunk IS NULL", &p->file_problems)) ||
	    (err = number(p, "SELECT max(out_offset) FROM point", &highest)) ||
	    (err = number(p, "SELECT out_offset + out_size FROM point ORDER BY out_offset DESC LIMIT 1",
			  &p->known_end)))
		return err;
	/* Of a stream without harts, whose problems no chunk counts. */
	if (p->problems < p->meta.problems)
		p->problems = p->meta.problems;
	return p->known_end < highest ? HF_ERR_STATE : 0;
}

static int open_db(struct hf_index_part *p, const struct hf_identity *identity, const struct hf_chunk_limits *limits)
{
	int err = hf_db_open_part(p->file.fd, p->file.dirfd, p->file.part, HF_DB_INDEX, &p->db);

	if (!err)
		err = hf_meta_read(p->db, &hf_table_index_meta, &p->meta);
	if (!err && (!hf_identity_equal(&p->meta.identity, identity) ||
		     (!p->meta.complete && !hf_chunk_limits_equal(&p->meta.limits, limits))))
		err = HF_ERR_STATE;
	if (!err)
		err = prepare_all(p);
	if (!err && !p->meta.complete)
		err = count_rows(p);
	return err;
}

int hf_index_part_reset(struct hf_index_part *part, const struct hf_identity *identity,
			const struct hf_chunk_limits *limits)
{
	int err;

	close_db(part);
	part->meta = (struct hf_index_meta){.identity = *identity, .limits = *limits};
	part->problems = part->file_problems = part->known_end = 0;
	if ((err = hf_part_reset(&part->file)) ||
	    (err = hf_db_open_part(part->file.fd, part->file.dirfd, part->file.part, HF_DB_INDEX, &part->db)) ||
	    (err = hf_index_part_write_meta(part)))
		return err;
	return prepare_all(part);
}

int hf_index_part_open(struct hf_index_part *part, int dirfd, const struct hf_identity *identity,
		       const struct hf_chunk_limits *limits)
{
	char name[HF_FILE_NAME_SIZE];
	int err;

	*part = (struct hf_index_part){.file.fd = -1};
	hf_index_file_name_index(identity, name);
	err = hf_part_open(dirfd, name, &part->file);
	if (err)
		return err;
	part->zstd = ZSTD_createCCtx();
	if (!part->zstd)
		err = HF_ERR_NOMEM;
	else if (hf_db_look(part->file.fd, HF_DB_INDEX) == HF_LOOK_EMPTY)
		err = hf_index_part_reset(part, identity, limits);
	else
		err = open_db(part, identity, limits);
	if (err == HF_ERR_STATE)
		err = hf_index_part_reset(part, identity, limits);
	if (err)
		hf_index_part_close(part);
	return err;
}

void hf_index_part_close(struct hf_index_part *part)
{
	close_db(part);
	ZSTD_freeCCtx(part->zstd);
	part->zstd = NULL;
	hf_part_close(&part->file);
}

int hf_index_part_last(struct hf_index_part *part, uint64_t *ret_id)
{
	return hf_db_number(part->db, "SELECT max(id) FROM chunk", ret_id);
}

/* The sums of a hart's chunks before id. */
static int sum_before(struct hf_index_part *p, uint64_t id, struct hf_run_start *start)
{
	static const struct hf_column sums[] = {HF_COLUMN_COUNT(hf_run_start, attempts),
						HF_COLUMN_COUNT(hf_run_start, events)};
	static const struct hf_table table =
		HF_TABLE("(SELECT 0, coalesce(sum(attempts), 0), coalesce(sum(events), 0) FROM chunk"
			 " WHERE id >= ? AND id < ?)",
			 sums);
	const uint64_t range[2] = {id & ~HF_NUMBER_MAX, id};

	return hf_row_get(p->db, &table, "", 2, range, NULL, start);
}

/*
 * The first hart's run finds the other harts, the points and the damage: if it is to be ended again, so are the
 * notes. Points stay, they are found again as they are; of harts the ids stay, for a decoder that is entered late
 * does not see all.
 */
static int cut_others(struct hf_index_part *p, uint64_t id)
{
	const uint64_t slot = id >> HF_NUMBER_BITS;
	int err = hf_db_run_with(p->db, "DELETE FROM problem WHERE chunk >= ?", 1, &id);

	if (!err && !slot)
		err = hf_db_run(p->db, "DELETE FROM problem WHERE chunk IS NULL");
	if (!err)
		err = hf_db_run_with(p->db,
				     "UPDATE hart SET insns = 0, attempts = 0, events = 0, chunks = 0 WHERE slot >= ?",
				     1, &slot);
	return err ? err : hf_index_image_cut(p->db, slot + 1);
}

int hf_index_part_cut(struct hf_index_part *part, uint64_t id, struct hf_run_start *ret_start)
{
	int err;

	*ret_start = (struct hf_run_start){0};
	err = hf_row_get(part->db, &hf_table_chunk, "WHERE id = ?", 1, &id, NULL, &ret_start->chunk);
	if (err)
		return err > 0 ? HF_ERR_STATE : err;
	/* Of the row only where it begins, and how it is entered: the rest is counted again. */
	ret_start->chunk.number = id & HF_NUMBER_MAX;
	ret_start->chunk.pc = ret_start->chunk.events = ret_start->chunk.attempts = ret_start->chunk.problems = 0;
	if ((err = hf_db_run_with(part->db, "DELETE FROM chunk WHERE id >= ?", 1, &id)) ||
	    (err = cut_others(part, id)) || (err = sum_before(part, id, ret_start)))
		return err;
	return count_rows(part);
}

int hf_index_part_restart(struct hf_index_part *part)
{
	part->problems = part->file_problems = 0;
	return hf_db_run(part->db, "DELETE FROM problem; DELETE FROM hart; DELETE FROM image");
}

int hf_index_part_add_chunk(struct hf_index_part *part, uint64_t slot, const struct hf_chunk *chunk)
{
	return hf_row_put(part->add_chunk, &hf_table_chunk, hf_row_id(slot, chunk->number), chunk);
}

static int add_window(struct hf_index_part *p, const struct hf_point *point, const uint8_t *window)
{
	struct window packed;
	size_t n;

	if (point->window_size > HF_WINDOW_MAX)
		return HF_ERR_BUG;
	n = ZSTD_compressCCtx(p->zstd, packed.data, sizeof packed.data, window, point->window_size, WINDOW_LEVEL);
	if (ZSTD_isError(n))
		return HF_ERR_NOMEM;
	packed.size = (uint32_t)n;
	return hf_row_put(p->add_window, &window_table, point->out_offset, &packed);
}

bool hf_index_part_wants_point(const struct hf_index_part *part, const struct hf_point *point)
{
	/* A block without bytes is never looked for, one of an earlier build is there already. */
	return point->out_size && point->out_offset >= part->known_end;
}

int hf_index_part_add_point(struct hf_index_part *part, const struct hf_point *point, const uint8_t *window)
{
	int err;

	if (!hf_index_part_wants_point(part, point))
		return 0;
	err = hf_row_put(part->add_point, &hf_table_point, point->out_offset, point);
	if (!err && point->window_size)
		err = add_window(part, point, window);
	if (!err)
		part->known_end = point->out_offset + point->out_size;
	return err;
}

int hf_index_part_add_problem(struct hf_index_part *part, const struct hf_index_problem *problem)
{
	const bool of_file = problem->chunk == HF_NOWHERE;
	uint64_t *count = of_file ? &part->file_problems : &part->problems;
	const uint64_t max = of_file ? HF_FILE_PROBLEMS : HF_INDEX_PROBLEM_MAX - HF_FILE_PROBLEMS;

	if ((*count)++ >= max)
		return 0;
	return hf_row_put(part->add_problem, &hf_table_problem, (of_file ? FILE_PROBLEM_ID : 0) + *count, problem);
}

int hf_index_part_first_problem(struct hf_index_part *part, struct hf_index_problem *ret_problem)
{
	return hf_row_get(part->db, &hf_table_problem, "WHERE chunk IS NOT NULL ORDER BY id LIMIT 1", 0, NULL, NULL,
			  ret_problem);
}

int hf_index_part_set_cause(struct hf_index_part *part, const struct hf_index_problem *problem)
{
	const uint64_t id = CAUSE_ID;
	int err = hf_db_run_with(part->db, "DELETE FROM problem WHERE id = ?", 1, &id);

	if (!err)
		err = count_rows(part);
	if (!err)
		err = hf_row_put(part->add_problem, &hf_table_problem, id, problem);
	part->file_problems++;
	return err;
}

int hf_index_part_set_hart(struct hf_index_part *part, uint64_t slot, const struct hf_index_hart *hart)
{
	return slot > HF_SLOT_RECORDS ? HF_ERR_LIMIT : hf_row_put(part->add_hart, &hf_table_hart, slot, hart);
}

int hf_index_part_drop_hart(struct hf_index_part *part, uint64_t slot)
{
	int err = hf_db_run_with(part->db, "DELETE FROM hart WHERE slot = ?", 1, &slot);

	return err ? err : hf_index_image_drop(part->db, slot);
}

int hf_index_part_set_image(struct hf_index_part *part, uint64_t slot, uint64_t events, const struct hf_image *image)
{
	return hf_index_image_put(part->db, part->zstd, slot, events, image);
}

int hf_index_part_image(struct hf_index_part *part, uint64_t slot, uint64_t *ret_events, struct hf_image **ret_image)
{
	int err = hf_index_image_get(part->db, slot, ret_events, ret_image);

	return err > 0 ? HF_ERR_STATE : err;
}

int hf_index_part_hart(struct hf_index_part *part, uint64_t slot, struct hf_index_hart *ret_hart)
{
	int err = hf_row_get(part->db, &hf_table_hart, "WHERE slot >= ? ORDER BY slot LIMIT 1", 1, &slot,
			     &ret_hart->slot, ret_hart);

	return !err && ret_hart->slot > HF_SLOT_RECORDS ? HF_ERR_STATE : err;
}

int hf_index_part_write_meta(struct hf_index_part *part)
{
	return hf_meta_write(part->db, &hf_table_index_meta, &part->meta);
}

int hf_index_part_commit(struct hf_index_part *part)
{
	int err = hf_db_commit(part->db, hf_part_journaled(&part->file));

	return err ? err : hf_part_count(&part->file);
}

static_assert(HF_POINT_DAMAGED == 1073741824, "as the statement below has it");

int hf_index_part_finish(struct hf_index_part *part)
{
	int err;

	/* By an earlier build, which did not come to publish it. */
	if (part->meta.complete) {
		close_db(part);
		return 0;
	}
	part->meta.complete = true;
	part->meta.problems = part->problems + part->file_problems;
	err = number(part, "SELECT count(*) FROM point WHERE bits & 1073741824", &part->meta.holes);
	if (!err)
		err = hf_index_part_write_meta(part);
	if (!err)
		err = hf_db_finish(part->db);
	close_db(part);
	return err;
}
