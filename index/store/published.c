/* SPDX-License-Identifier: Apache-2.0 */
#include "index/store/published.h"
#include "index/base/lock.h"

int hf_published_open(struct hf_published *file, const struct hf_store_dir *dir, enum hf_db_kind kind)
{
	pthread_mutex_init(&file->lock, NULL);
	file->dir = dir;
	return hf_store_open(dir, file->name, kind, &file->store);
}

void hf_published_close(struct hf_published *file)
{
	hf_store_close(file->store);
	pthread_mutex_destroy(&file->lock);
}

void hf_published_remove(const struct hf_published *file)
{
	hf_index_file_drop_open(file->dir, file->name, hf_store_fd(file->store));
}

uint64_t hf_published_memory(struct hf_published *file)
{
	HF_LOCKED(&file->lock);
	return hf_store_memory(file->store);
}

int hf_published_noted(struct hf_published *file, int err)
{
	if (err == HF_ERR_STATE)
		file->damaged = true;
	return err;
}

/* What counts up, of a chunk that must be there. */
static int counter_of(struct hf_published *file, const struct hf_table *table, uint64_t id, uint64_t max,
		      uint64_t *ret_counter)
{
	int err = hf_store_number(file->store, table, id, ret_counter);

	return err > 0 || (!err && *ret_counter > max) ? HF_ERR_STATE : err;
}

int hf_published_chunk(struct hf_published *file, const struct hf_table *table, uint64_t slot, uint64_t number,
		       uint64_t count, uint64_t total, void *ret_chunk, uint64_t *ret_end)
{
	const uint64_t id = hf_row_id(slot, number);
	uint64_t start;
	int err = hf_store_find(file->store, table, HF_SEEK_AT, id, NULL, ret_chunk);

	*ret_end = total;
	/* The row behind a chunk says where it ends. */
	if (!err && number + 1 < count)
		err = counter_of(file, table, id + 1, total, ret_end);
	if (err)
		return err > 0 ? HF_ERR_STATE : err;
	start = hf_column_number(table->column, ret_chunk);
	return start > total || *ret_end < start || (number == 0 && start != 0) ? HF_ERR_STATE : 0;
}

/* Chunks are nearly even in most traces, so that the first guess hits; bisection bounds the cost in the others. */
#define GUESSES 4

static uint64_t guess(uint64_t low, uint64_t high, double share)
{
	const uint64_t at = low + (uint64_t)(share * (double)(high - low));

	return at <= low ? low + 1 : at >= high ? high - 1 : at;
}

/* What counts up, of chunk *at or, if that is not known at once, of one between low and that: then it is *at. */
static int look_near(struct hf_published *file, const struct hf_table *table, uint64_t slot, uint64_t low, uint64_t *at,
		     uint64_t *ret_counter)
{
	uint64_t id;
	int err = hf_store_number_near(file->store, table, hf_row_id(slot, *at), &id, ret_counter);

	if (err)
		return err > 0 ? HF_ERR_STATE : err;
	if (id <= hf_row_id(slot, low))
		return counter_of(file, table, hf_row_id(slot, *at), HF_COUNT_MAX, ret_counter);
	*at = id & HF_NUMBER_MAX;
	return 0;
}

int hf_published_search(struct hf_published *file, const struct hf_table *table, uint64_t slot, uint64_t count,
			uint64_t total, uint64_t target, uint64_t *ret_number)
{
	uint64_t low = 0, high = count, from = 0, to = total;

	if (!count || target >= total)
		return HF_ERR_NOT_FOUND;
	for (unsigned round = 0; high - low > 1; round++) {
		uint64_t at = low + (high - low) / 2, counter;
		int err;

		if (round < GUESSES)
			at = guess(low, high, (double)(target - from) / (double)(to - from));
		err = look_near(file, table, slot, low, &at, &counter);
		if (err)
			return err;
		if (counter < from || counter > to)
			return HF_ERR_STATE;
		if (counter <= target) {
			low = at;
			from = counter;
		} else {
			high = at;
			to = counter;
		}
	}
	*ret_number = low;
	return 0;
}
