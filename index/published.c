/* SPDX-License-Identifier: Apache-2.0 */
#include "index/published.h"

#include "index/fault.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* The first column behind the key. */
enum { COUNTER = 1 };

int hf_published_open(struct hf_published *file, int dirfd, enum hf_db_kind kind)
{
	struct stat st;
	int err;

	pthread_mutex_init(&file->lock, NULL);
	file->dirfd = dirfd;
	err = hf_index_file_open(dirfd, file->name, &file->fd);
	if (!err && fstat(file->fd, &st) < 0)
		err = hf_fault_set_fd("reading", file->fd, errno);
	if (err)
		return err;
	file->file_size = (uint64_t)st.st_size;
	err = hf_db_open(file->fd, kind, &file->db);
	/* The row behind a chunk says where it ends. */
	return err ? err
		   : hf_db_prepare(file->db, "SELECT * FROM chunk WHERE id BETWEEN ?1 AND ?1 + 1 ORDER BY id",
				   &file->chunk);
}

void hf_published_close(struct hf_published *file)
{
	sqlite3_finalize(file->chunk);
	hf_db_close(file->db);
	if (file->fd >= 0)
		close(file->fd);
	pthread_mutex_destroy(&file->lock);
}

uint64_t hf_published_memory(struct hf_published *file)
{
	uint64_t bytes;

	pthread_mutex_lock(&file->lock);
	bytes = hf_db_memory(file->db);
	pthread_mutex_unlock(&file->lock);
	return bytes;
}

int hf_published_noted(struct hf_published *file, int err)
{
	if (err == HF_ERR_STATE)
		file->damaged = true;
	return err;
}

/* Steps to the row of the chunk, which must be there: the statement is to be reset in any case. */
static int step_to(struct hf_published *file, uint64_t id)
{
	uint64_t got;
	int err;

	hf_db_bind(file->chunk, 1, &id);
	err = hf_db_step(file->chunk);
	if (!err)
		err = hf_col_u64(file->chunk, 0, UINT64_MAX, &got);
	return err > 0 || (!err && got != id) ? HF_ERR_STATE : err;
}

int hf_published_chunk(struct hf_published *file, const struct hf_table *table, uint64_t slot, uint64_t number,
		       uint64_t count, uint64_t total, void *ret_chunk, uint64_t *ret_end)
{
	uint64_t start;
	int err = step_to(file, hf_row_id(slot, number));

	*ret_end = total;
	if (!err)
		err = hf_col_u64(file->chunk, COUNTER, total, &start);
	if (!err)
		err = hf_row_read(file->chunk, table, NULL, ret_chunk);
	if (!err && number + 1 < count) {
		err = hf_db_step(file->chunk);
		if (!err)
			err = hf_col_u64(file->chunk, COUNTER, total, ret_end);
	}
	sqlite3_reset(file->chunk);
	if (err)
		return err > 0 ? HF_ERR_STATE : err;
	return *ret_end < start || (number == 0 && start != 0) ? HF_ERR_STATE : 0;
}

static int counter_of(struct hf_published *file, uint64_t id, uint64_t *ret_counter)
{
	int err = step_to(file, id);

	if (!err)
		err = hf_col_u64(file->chunk, COUNTER, HF_COUNT_MAX, ret_counter);
	sqlite3_reset(file->chunk);
	return err;
}

/* Chunks are nearly even in most traces, so that the first guess hits; bisection bounds the cost in the others. */
#define GUESSES 4

static uint64_t guess(uint64_t low, uint64_t high, double share)
{
	const uint64_t at = low + (uint64_t)(share * (double)(high - low));

	return at <= low ? low + 1 : at >= high ? high - 1 : at;
}

int hf_published_search(struct hf_published *file, uint64_t slot, uint64_t count, uint64_t total, uint64_t target,
			uint64_t *ret_number)
{
	uint64_t low = 0, high = count, from = 0, to = total;

	if (!count || target >= total)
		return HF_ERR_NOT_FOUND;
	for (unsigned round = 0; high - low > 1; round++) {
		uint64_t at = low + (high - low) / 2, counter;
		int err;

		if (round < GUESSES)
			at = guess(low, high, (double)(target - from) / (double)(to - from));
		err = counter_of(file, hf_row_id(slot, at), &counter);
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
