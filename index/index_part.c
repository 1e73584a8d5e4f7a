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

static int prepare_all(struct hf_index_part *p)
{
	int err;

	if ((err = hf_db_prepare(p->db, "INSERT INTO chunk VALUES (?,?,?,?,?,?,?,?,?)", &p->add_chunk)) ||
	    (err = hf_db_prepare(p->db, "INSERT INTO point VALUES (?,?,?,?,?,?)", &p->add_point)) ||
	    (err = hf_db_prepare(p->db, "INSERT INTO window VALUES (?,?)", &p->add_window)) ||
	    (err = hf_db_prepare(p->db, "INSERT INTO problem VALUES (?,?,?,?,?,?,?,?,?,?)", &p->add_problem)))
		return err;
	return hf_db_prepare(p->db, "INSERT OR REPLACE INTO hart VALUES (?,?,?,?,?,?)", &p->add_hart);
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
		err = hf_index_meta_read(p->db, &p->meta);
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
	    (err = hf_index_meta_write(part->db, &part->meta)))
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

static int read_row(sqlite3_stmt *stmt, struct hf_chunk_row *row)
{
	struct hf_chunk *c = &row->chunk;
	int err;

	if ((err = hf_col_u64(stmt, 0, HF_COUNT_MAX, &c->ordinal)) ||
	    (err = hf_col_u64(stmt, 1, HF_COUNT_MAX, &c->stream_offset)) ||
	    (err = hf_col_u64(stmt, 2, HF_COUNT_MAX, &c->discard)))
		return err;
	return hf_col_blob(stmt, 3, c->entry, sizeof c->entry, &c->entry_size);
}

/* The sums of a hart's chunks before id. */
static int sum_before(struct hf_index_part *p, uint64_t id, uint64_t *ret_attempts, uint64_t *ret_events)
{
	const uint64_t range[2] = {id & ~HF_NUMBER_MAX, id};
	sqlite3_stmt *stmt;
	int err = hf_db_prepare(p->db,
				"SELECT coalesce(sum(attempts), 0), coalesce(sum(events), 0) FROM chunk"
				" WHERE id >= ? AND id < ?",
				&stmt);

	if (err)
		return err;
	hf_db_bind(stmt, 2, range);
	err = hf_db_step(stmt);
	if (!err)
		err = hf_col_u64(stmt, 0, HF_COUNT_MAX, ret_attempts);
	if (!err)
		err = hf_col_u64(stmt, 1, HF_COUNT_MAX, ret_events);
	sqlite3_finalize(stmt);
	return err > 0 ? HF_ERR_STATE : err;
}

/*
 * The first hart's run finds the other harts, the points and the damage: if it is to be ended again, so are the
 * notes. Points stay, they are found again as they are; of harts the ids stay, for a decoder that is entered late
 * does not see all.
 */
static int cut_others(struct hf_index_part *p, uint64_t id)
{
	const uint64_t slot = id >> HF_NUMBER_BITS;
	int err = hf_db_run1(p->db, "DELETE FROM problem WHERE chunk >= ?", id);

	if (!err && !slot)
		err = hf_db_run(p->db, "DELETE FROM problem WHERE chunk IS NULL");
	if (!err)
		err = hf_db_run1(p->db, "UPDATE hart SET insns = 0, attempts = 0, events = 0, chunks = 0 WHERE slot >= ?",
				 slot);
	return err ? err : hf_index_image_cut(p->db, slot + 1);
}

int hf_index_part_cut(struct hf_index_part *part, uint64_t id, struct hf_chunk_row *ret_row, uint64_t *ret_attempts,
		      uint64_t *ret_events)
{
	sqlite3_stmt *stmt;
	int err = hf_db_prepare(part->db, "SELECT ordinal, stream_offset, discard, entry FROM chunk WHERE id = ?", &stmt);

	if (err)
		return err;
	*ret_row = (struct hf_chunk_row){.chunk.number = id & HF_NUMBER_MAX};
	hf_db_bind(stmt, 1, &id);
	err = hf_db_step(stmt);
	if (!err)
		err = read_row(stmt, ret_row);
	sqlite3_finalize(stmt);
	if (err)
		return err > 0 ? HF_ERR_STATE : err;
	if ((err = hf_db_run1(part->db, "DELETE FROM chunk WHERE id >= ?", id)) || (err = cut_others(part, id)) ||
	    (err = sum_before(part, id, ret_attempts, ret_events)))
		return err;
	return count_rows(part);
}

int hf_index_part_restart(struct hf_index_part *part)
{
	part->problems = part->file_problems = 0;
	return hf_db_run(part->db, "DELETE FROM problem; DELETE FROM hart; DELETE FROM image");
}

int hf_index_part_add_chunk(struct hf_index_part *part, uint64_t slot, const struct hf_chunk_row *row)
{
	const struct hf_chunk *c = &row->chunk;
	const uint64_t values[8] = {hf_row_id(slot, c->number), c->ordinal, c->stream_offset, c->pc, c->events,
				    row->attempts, row->problems, c->discard};

	hf_db_bind(part->add_chunk, 8, values);
	sqlite3_bind_blob(part->add_chunk, 9, c->entry_size ? (const void *)c->entry : "", (int)c->entry_size,
			  SQLITE_STATIC);
	return hf_db_exec(part->add_chunk);
}

static int add_window(struct hf_index_part *p, const struct hf_point *point, const uint8_t *window)
{
	uint8_t packed[ZSTD_COMPRESSBOUND(HF_WINDOW_MAX)];
	size_t n;

	if (point->window_size > HF_WINDOW_MAX)
		return HF_ERR_BUG;
	n = ZSTD_compressCCtx(p->zstd, packed, sizeof packed, window, point->window_size, WINDOW_LEVEL);
	if (ZSTD_isError(n))
		return HF_ERR_NOMEM;
	hf_db_bind(p->add_window, 1, &point->out_offset);
	sqlite3_bind_blob(p->add_window, 2, packed, (int)n, SQLITE_STATIC);
	return hf_db_exec(p->add_window);
}

bool hf_index_part_wants_point(const struct hf_index_part *part, const struct hf_point *point)
{
	/* A block without bytes is never looked for, one of an earlier build is there already. */
	return point->out_size && point->out_offset >= part->known_end;
}

int hf_index_part_add_point(struct hf_index_part *part, const struct hf_point *point, const uint8_t *window)
{
	const uint64_t values[6] = {point->out_offset, point->out_size, point->in_offset, point->in_size,
				    point->bits,       point->window_size};
	int err;

	if (!hf_index_part_wants_point(part, point))
		return 0;
	hf_db_bind(part->add_point, 6, values);
	err = hf_db_exec(part->add_point);
	if (!err && point->window_size)
		err = add_window(part, point, window);
	if (!err)
		part->known_end = point->out_offset + point->out_size;
	return err;
}

static int insert_problem(struct hf_index_part *p, uint64_t id, uint64_t chunk, const struct hf_index_problem *problem)
{
	sqlite3_stmt *add = p->add_problem;

	sqlite3_bind_int64(add, 1, (sqlite3_int64)id);
	if (chunk == HF_NOWHERE)
		sqlite3_bind_null(add, 2);
	else
		sqlite3_bind_int64(add, 2, (sqlite3_int64)chunk);
	sqlite3_bind_int64(add, 3, problem->hart);
	if (problem->has_ordinal)
		sqlite3_bind_int64(add, 4, (sqlite3_int64)problem->ordinal);
	else
		sqlite3_bind_null(add, 4);
	sqlite3_bind_int64(add, 5, problem->fatal);
	hf_bind_diag(add, 6, &problem->diag);
	sqlite3_bind_int64(add, 10, (sqlite3_int64)problem->bytes);
	return hf_db_exec(add);
}

int hf_index_part_add_problem(struct hf_index_part *part, uint64_t chunk, const struct hf_index_problem *problem)
{
	const bool of_file = chunk == HF_NOWHERE;
	uint64_t *count = of_file ? &part->file_problems : &part->problems;
	const uint64_t max = of_file ? HF_FILE_PROBLEMS : HF_INDEX_PROBLEM_MAX - HF_FILE_PROBLEMS;

	if ((*count)++ >= max)
		return 0;
	return insert_problem(part, (of_file ? FILE_PROBLEM_ID : 0) + *count, chunk, problem);
}

int hf_index_part_first_problem(struct hf_index_part *part, struct hf_index_problem *ret_problem)
{
	sqlite3_stmt *stmt;
	uint64_t hart = 0;
	int err = hf_db_prepare(part->db, "SELECT hart, code, space, offset, detail FROM problem"
				" WHERE chunk IS NOT NULL ORDER BY id LIMIT 1", &stmt);

	if (err)
		return err;
	*ret_problem = (struct hf_index_problem){.hart = 0};
	err = hf_db_step(stmt);
	if (!err)
		err = hf_col_u64(stmt, 0, UINT32_MAX, &hart);
	if (!err)
		err = hf_col_diag(stmt, 1, &ret_problem->diag);
	ret_problem->hart = (uint32_t)hart;
	sqlite3_finalize(stmt);
	return err;
}

int hf_index_part_set_cause(struct hf_index_part *part, const struct hf_index_problem *problem)
{
	int err = hf_db_run1(part->db, "DELETE FROM problem WHERE id = ?", CAUSE_ID);

	if (!err)
		err = count_rows(part);
	if (!err)
		err = insert_problem(part, CAUSE_ID, HF_NOWHERE, problem);
	part->file_problems++;
	return err;
}

int hf_index_part_set_hart(struct hf_index_part *part, uint64_t slot, const struct hf_index_hart *hart)
{
	const uint64_t values[6] = {slot, hart->id, hart->insns, hart->attempts, hart->events, hart->chunks};

	if (slot > HF_SLOT_RECORDS)
		return HF_ERR_LIMIT;
	hf_db_bind(part->add_hart, 6, values);
	return hf_db_exec(part->add_hart);
}

int hf_index_part_drop_hart(struct hf_index_part *part, uint64_t slot)
{
	int err = hf_db_run1(part->db, "DELETE FROM hart WHERE slot = ?", slot);

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

int hf_index_part_hart(struct hf_index_part *part, uint64_t slot, uint64_t *ret_slot, struct hf_index_hart *ret_hart)
{
	sqlite3_stmt *stmt;
	int err = hf_db_prepare(
		part->db, "SELECT " HF_INDEX_HART_COLUMNS " FROM hart WHERE slot >= ? ORDER BY slot LIMIT 1", &stmt);

	if (err)
		return err;
	hf_db_bind(stmt, 1, &slot);
	err = hf_db_step(stmt);
	if (!err)
		err = hf_index_hart_read(stmt, ret_slot, ret_hart);
	sqlite3_finalize(stmt);
	return err;
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
		err = hf_index_meta_write(part->db, &part->meta);
	if (!err)
		err = hf_db_finish(part->db);
	close_db(part);
	return err;
}
