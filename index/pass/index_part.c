/* SPDX-License-Identifier: Apache-2.0 */
#include "index/pass/index_part.h"

#include <stdlib.h>
#include <sys/stat.h>

/* Ids of problems of the whole file begin here, behind those of all events. */
#define FILE_PROBLEM_ID (UINT64_C(1) << 40)
/* The id of the likely cause of all others: before them. */
#define CAUSE_ID 0

/* At this zstd level a window takes a kilobyte or two, and a hundredth of the time of an index. */
#define WINDOW_LEVEL 9

static void close_store(struct hf_index_part *p)
{
	hf_store_close(p->store);
	p->store = NULL;
}

/* Sums over a range of chunks. */
struct sums {
	uint64_t attempts, events, problems;
	struct hf_told told;
};

static int sum_chunks(struct hf_index_part *p, uint64_t first, uint64_t end, struct sums *ret_sums)
{
	struct hf_chunk chunk;
	uint64_t id = first;
	int err = 0;

	*ret_sums = (struct sums){0};
	for (; !(err = hf_store_find(p->store, &hf_table_chunk, HF_SEEK_FROM, id, &id, &chunk)) && id < end; id++) {
		ret_sums->attempts += chunk.attempts;
		ret_sums->events += chunk.events;
		ret_sums->problems += chunk.problems;
		hf_told_add(&ret_sums->told, &chunk.told);
	}
	return err < 0 ? err : 0;
}

static int count_problems(struct hf_index_part *p)
{
	struct hf_index_problem problem;
	int err = 0;

	p->file_problems = 0;
	for (uint64_t id = 0; !(err = hf_store_find(p->store, &hf_table_problem, HF_SEEK_FROM, id, &id, &problem)); id++)
		p->file_problems += problem.chunk == HF_NOWHERE;
	return err < 0 ? err : 0;
}

static int count_points(struct hf_index_part *p)
{
	struct hf_point point;
	int err = 0;

	p->holes = p->known_end = 0;
	for (uint64_t at = 0; !(err = hf_store_find(p->store, &hf_table_point, HF_SEEK_FROM, at, &at, &point)); at++) {
		p->holes += !!(point.bits & HF_POINT_DAMAGED);
		p->known_end = at + point.out_size;
	}
	return err < 0 ? err : 0;
}

/* Counts what the tables hold, to have it in memory. */
static int count_rows(struct hf_index_part *p)
{
	struct sums sums;
	int err;

	if ((err = sum_chunks(p, 0, HF_COUNT_MAX, &sums)) || (err = count_problems(p)) || (err = count_points(p)))
		return err;
	/* If there are no harts, no chunk counts the problems. */
	p->problems = sums.problems < p->meta.problems ? p->meta.problems : sums.problems;
	return 0;
}

static int open_db(struct hf_index_part *p, const struct hf_identity *identity, const struct hf_chunk_limits *limits)
{
	int err = hf_store_open_part(&p->file, HF_DB_INDEX, &p->store);

	if (!err)
		err = hf_store_meta(p->store, &hf_table_index_meta, &p->meta);
	if (!err && (!hf_identity_equal(&p->meta.identity, identity) ||
		     (!p->meta.complete && !hf_chunk_limits_equal(&p->meta.limits, limits))))
		err = HF_ERR_STATE;
	if (!err && !p->meta.complete)
		err = count_rows(p);
	return err;
}

int hf_index_part_reset(struct hf_index_part *part, const struct hf_identity *identity,
			const struct hf_chunk_limits *limits)
{
	int err;

	close_store(part);
	part->meta = (struct hf_index_meta){.identity = *identity, .limits = *limits};
	part->problems = part->file_problems = part->known_end = part->holes = 0;
	err = hf_part_reset(&part->file);
	if (!err)
		err = hf_store_open_part(&part->file, HF_DB_INDEX, &part->store);
	return err ? err : hf_index_part_write_meta(part);
}

int hf_index_part_open(struct hf_index_part *part, const struct hf_store_dir *dir, const struct hf_identity *identity,
		       const struct hf_chunk_limits *limits)
{
	char name[HF_FILE_NAME_SIZE];
	int err;

	*part = (struct hf_index_part){.file.fd = -1};
	hf_index_file_name_index(identity, name);
	err = hf_part_open(dir, name, &part->file);
	if (err)
		return err;
	part->zstd = ZSTD_createCCtx();
	if (!part->zstd)
		err = HF_ERR_NOMEM;
	else if (hf_part_is_empty(&part->file))
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
	close_store(part);
	ZSTD_freeCCtx(part->zstd);
	part->zstd = NULL;
	hf_part_close(&part->file);
}

int hf_index_part_last(struct hf_index_part *part, uint64_t most, uint64_t *ret_id)
{
	struct hf_chunk chunk;

	return hf_store_find(part->store, &hf_table_chunk, HF_SEEK_BACK, most, ret_id, &chunk);
}

/* Removes problems in or behind that chunk, and (of_file) those of the whole file. */
static int cut_problems(struct hf_index_part *p, uint64_t chunk, bool of_file)
{
	struct hf_index_problem problem;
	int err = 0;

	for (uint64_t id = 0;
	     !err && !(err = hf_store_find(p->store, &hf_table_problem, HF_SEEK_FROM, id, &id, &problem)); id++)
		if (problem.chunk == HF_NOWHERE ? of_file : problem.chunk >= chunk)
			err = hf_store_cut(p->store, &hf_table_problem, id, id);
	return err < 0 ? err : 0;
}

/*
 * The first hart's run finds the other harts, points, damage and notes. If it must end again, damage and notes are
 * removed. Points stay, for they are found again unchanged. Ids of harts stay: a decoder that enters late does not see
 * all.
 */
static int cut_others(struct hf_index_part *p, uint64_t id)
{
	const uint64_t first = id >> HF_NUMBER_BITS;
	struct hf_index_hart hart = {0};
	int err = cut_problems(p, id, !first);

	for (uint64_t slot = first;
	     !err && !(err = hf_store_find(p->store, &hf_table_hart, HF_SEEK_FROM, slot, &slot, &hart)); slot++)
		err = hf_store_put(p->store, &hf_table_hart, slot, &(struct hf_index_hart){.id = hart.id});
	return err < 0 ? err : hf_index_image_cut(p->store, first + 1);
}

int hf_index_part_cut(struct hf_index_part *part, uint64_t id, struct hf_run_start *ret_start)
{
	struct sums before;
	int err;

	*ret_start = (struct hf_run_start){0};
	err = hf_store_find(part->store, &hf_table_chunk, HF_SEEK_AT, id, NULL, &ret_start->chunk);
	if (err)
		return err > 0 ? HF_ERR_STATE : err;
	/* Only the start and entry of the chunk count: the rest is counted again. */
	ret_start->chunk.number = id & HF_NUMBER_MAX;
	ret_start->chunk.pc = ret_start->chunk.events = ret_start->chunk.attempts = ret_start->chunk.problems = 0;
	ret_start->chunk.told = (struct hf_told){0};
	if ((err = hf_store_cut(part->store, &hf_table_chunk, id, HF_COUNT_MAX)) || (err = cut_others(part, id)) ||
	    (err = sum_chunks(part, id & ~HF_NUMBER_MAX, id, &before)))
		return err;
	ret_start->attempts = before.attempts;
	ret_start->events = before.events;
	ret_start->told = before.told;
	return count_rows(part);
}

int hf_index_part_restart(struct hf_index_part *part)
{
	int err = hf_store_cut(part->store, &hf_table_problem, 0, HF_COUNT_MAX);

	part->problems = part->file_problems = 0;
	if (!err)
		err = hf_index_part_drop_harts(part);
	return err ? err : hf_index_image_cut(part->store, 0);
}

int hf_index_part_add_chunk(struct hf_index_part *part, uint64_t slot, const struct hf_chunk *chunk)
{
	return hf_store_put(part->store, &hf_table_chunk, hf_row_id(slot, chunk->number), chunk);
}

static int add_window(struct hf_index_part *p, const struct hf_point *point, const uint8_t *window)
{
	struct hf_packed_window packed;
	size_t n;

	if (point->window_size > HF_WINDOW_MAX)
		return HF_ERR_BUG;
	n = ZSTD_compressCCtx(p->zstd, packed.data, sizeof packed.data, window, point->window_size, WINDOW_LEVEL);
	if (ZSTD_isError(n))
		return HF_ERR_NOMEM;
	packed.size = (uint32_t)n;
	return hf_store_put(p->store, &hf_table_window, point->out_offset, &packed);
}

bool hf_index_part_wants_point(const struct hf_index_part *part, const struct hf_point *point)
{
	/* Nobody looks for a block without bytes; one of an earlier build is stored already. */
	return point->out_size && point->out_offset >= part->known_end;
}

int hf_index_part_add_point(struct hf_index_part *part, const struct hf_point *point, const uint8_t *window)
{
	int err;

	if (!hf_index_part_wants_point(part, point))
		return 0;
	err = hf_store_put(part->store, &hf_table_point, point->out_offset, point);
	if (!err && point->window_size)
		err = add_window(part, point, window);
	if (!err) {
		part->known_end = point->out_offset + point->out_size;
		part->holes += !!(point->bits & HF_POINT_DAMAGED);
	}
	return err;
}

int hf_index_part_add_problem(struct hf_index_part *part, const struct hf_index_problem *problem)
{
	const bool of_file = problem->chunk == HF_NOWHERE;
	uint64_t *count = of_file ? &part->file_problems : &part->problems;
	const uint64_t max = of_file ? HF_FILE_PROBLEMS : HF_INDEX_PROBLEM_MAX - HF_FILE_PROBLEMS;

	if ((*count)++ >= max)
		return 0;
	return hf_store_put(part->store, &hf_table_problem, (of_file ? FILE_PROBLEM_ID : 0) + *count, problem);
}

int hf_index_part_first_problem(struct hf_index_part *part, struct hf_index_problem *ret_problem)
{
	int err = 0;

	for (uint64_t id = 0;
	     !(err = hf_store_find(part->store, &hf_table_problem, HF_SEEK_FROM, id, &id, ret_problem)); id++)
		if (ret_problem->chunk != HF_NOWHERE && hf_err_class(ret_problem->diag.code) != HF_CLASS_lost)
			return 0;
	return err;
}

int hf_index_part_set_cause(struct hf_index_part *part, const struct hf_index_problem *problem)
{
	struct hf_index_problem earlier;
	int err = hf_store_find(part->store, &hf_table_problem, HF_SEEK_AT, CAUSE_ID, NULL, &earlier);

	if (err < 0)
		return err;
	part->file_problems += err == HF_NOTE_END;
	return hf_store_put(part->store, &hf_table_problem, CAUSE_ID, problem);
}

int hf_index_part_set_hart(struct hf_index_part *part, uint64_t slot, const struct hf_index_hart *hart)
{
	return slot > HF_SLOT_RECORDS ? HF_ERR_LIMIT : hf_store_put(part->store, &hf_table_hart, slot, hart);
}

int hf_index_part_drop_hart(struct hf_index_part *part, uint64_t slot)
{
	int err = hf_store_cut(part->store, &hf_table_hart, slot, slot);

	return err ? err : hf_index_image_drop(part->store, slot);
}

int hf_index_part_drop_harts(struct hf_index_part *part)
{
	return hf_store_cut(part->store, &hf_table_hart, 0, HF_COUNT_MAX);
}

int hf_index_part_set_image(struct hf_index_part *part, uint64_t slot, uint64_t events, const struct hf_image *image)
{
	return hf_index_image_put(part->store, part->zstd, slot, events, image);
}

int hf_index_part_image(struct hf_index_part *part, uint64_t slot, uint64_t *ret_events, struct hf_image **ret_image)
{
	int err = hf_index_image_get(part->store, slot, ret_events, ret_image);

	return err > 0 ? HF_ERR_STATE : err;
}

int hf_index_part_hart(struct hf_index_part *part, uint64_t slot, struct hf_index_hart *ret_hart)
{
	int err = hf_store_find(part->store, &hf_table_hart, HF_SEEK_FROM, slot, &ret_hart->slot, ret_hart);

	return !err && ret_hart->slot > HF_SLOT_RECORDS ? HF_ERR_STATE : err;
}

int hf_index_part_write_meta(struct hf_index_part *part)
{
	return hf_store_set_meta(part->store, &hf_table_index_meta, &part->meta);
}

int hf_index_part_commit(struct hf_index_part *part)
{
	return hf_store_commit(part->store);
}

int hf_index_part_finish(struct hf_index_part *part)
{
	int err;

	/* An earlier build finished it and did not publish it. */
	if (part->meta.complete) {
		close_store(part);
		return 0;
	}
	part->meta.complete = true;
	part->meta.problems = part->problems + part->file_problems;
	part->meta.holes = part->holes;
	err = hf_index_part_write_meta(part);
	if (!err)
		err = hf_store_finish(part->store);
	close_store(part);
	return err;
}
