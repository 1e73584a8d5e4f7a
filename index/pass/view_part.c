/* SPDX-License-Identifier: Apache-2.0 */
#include "index/pass/view_part.h"

#include "codecs/base/errors.h"
#include "index/read/merge.h"

#include <stdio.h>
#include <stdlib.h>

static void fill_meta(const struct hf_view_part *part, const struct hf_identity *identity,
		      const struct hf_chunk_limits *limits, bool complete, struct hf_view_meta *meta)
{
	*meta = (struct hf_view_meta){
		.complete = complete, .identity = *identity, .version = part->key->ops->version, .limits = *limits};
	snprintf(meta->view, sizeof meta->view, "%s", part->key->ops->view);
	snprintf(meta->params, sizeof meta->params, "%s", part->key->params);
}

static int write_meta(const struct hf_view_part *part, const struct hf_identity *identity,
		      const struct hf_chunk_limits *limits, bool complete)
{
	struct hf_view_meta *meta = malloc(sizeof *meta);
	int err;

	if (!meta)
		return HF_ERR_NOMEM;
	fill_meta(part, identity, limits, complete, meta);
	err = hf_store_set_meta(part->store, &hf_table_view_meta, meta);
	free(meta);
	return err;
}

static int check_meta(struct hf_view_part *part, const struct hf_identity *identity,
		      const struct hf_chunk_limits *limits)
{
	struct hf_view_meta *meta = calloc(1, sizeof *meta);
	int err;

	if (!meta)
		return HF_ERR_NOMEM;
	err = hf_store_meta(part->store, &hf_table_view_meta, meta);
	if (!err && (!hf_view_meta_fits(meta, identity, part->key) || !hf_chunk_limits_equal(&meta->limits, limits)))
		err = HF_ERR_STATE;
	part->complete = meta->complete;
	free(meta);
	return err;
}

static int find_last(struct hf_view_part *part)
{
	struct hf_view_chunk chunk;
	uint64_t key;
	int err = hf_store_find(part->store, &hf_table_view_chunk, HF_SEEK_BACK, HF_COUNT_MAX, &key, &chunk);

	part->has_last = err == 0;
	if (!err)
		part->last = hf_row_id(key >> HF_NUMBER_BITS, chunk.chunk);
	return err < 0 ? err : 0;
}

static void close_store(struct hf_view_part *part)
{
	hf_store_close(part->store);
	part->store = NULL;
}

static int open_store(struct hf_view_part *part)
{
	return hf_store_open_part(&part->file, HF_DB_VIEW, &part->store);
}

int hf_view_part_reset(struct hf_view_part *part, const struct hf_identity *identity,
		       const struct hf_chunk_limits *limits)
{
	int err;

	close_store(part);
	hf_view_join_clear(&part->join);
	part->complete = part->has_last = false;
	if ((err = hf_part_reset(&part->file)) || (err = open_store(part)))
		return err;
	return write_meta(part, identity, limits, false);
}

static int resume(struct hf_view_part *part, const struct hf_identity *identity,
		     const struct hf_chunk_limits *limits)
{
	int err = open_store(part);

	if (!err)
		err = check_meta(part, identity, limits);
	return err ? err : find_last(part);
}

int hf_view_part_open(struct hf_view_part *part, int dirfd, const struct hf_identity *identity,
		      const struct hf_view_key *key, const struct hf_chunk_limits *limits)
{
	char name[HF_FILE_NAME_SIZE];
	int err;

	*part = (struct hf_view_part){
		.key = key, .file.fd = -1, .join.joins = !(key->ops->flags & HF_ENC_COUNTS)};
	if (strlen(key->params) >= HF_PARAMS_MAX)
		return HF_ERR_LIMIT;
	err = hf_index_file_name_view(identity, key, name);
	if (!err)
		err = hf_part_open(dirfd, name, &part->file);
	if (err)
		return err;
	if (hf_part_is_empty(&part->file))
		err = hf_view_part_reset(part, identity, limits);
	else
		err = resume(part, identity, limits);
	if (err == HF_ERR_STATE)
		err = hf_view_part_reset(part, identity, limits);
	if (err)
		hf_view_part_close(part);
	return err;
}

void hf_view_part_close(struct hf_view_part *part)
{
	close_store(part);
	hf_view_join_fini(&part->join);
	hf_part_close(&part->file);
}

static int set_incomplete(struct hf_view_part *part)
{
	struct hf_view_meta *meta = calloc(1, sizeof *meta);
	int err = meta ? hf_store_meta(part->store, &hf_table_view_meta, meta) : HF_ERR_NOMEM;

	if (!err) {
		meta->complete = part->complete = false;
		err = hf_store_set_meta(part->store, &hf_table_view_meta, meta);
	}
	free(meta);
	return err;
}

/* The state of the hart's times behind the stored ones. */
static int find_times(struct hf_view_part *part, uint64_t slot)
{
	struct hf_view_times *row = malloc(sizeof *row);
	struct hf_times_reader reader;
	struct hf_time_line line;
	uint64_t key;
	int err = HF_ERR_NOMEM;

	part->times = (struct hf_times_state){0};
	if (row)
		err = hf_store_find(part->store, &hf_table_view_time, HF_SEEK_BACK,
				    hf_times_key(hf_row_id(slot + 1, 0), 0) - 1, &key, row);
	if (!err && key >> HF_TIMES_KEY_BITS == slot) {
		hf_times_begin(&reader, row, row->data, row->n);
		while (!err)
			err = hf_times_next(&reader, &line);
		part->times = reader.state;
	}
	free(row);
	return err < 0 ? err : 0;
}

static int cut_times(struct hf_view_part *part, uint64_t id)
{
	int err = hf_store_cut(part->store, &hf_table_view_time, hf_times_key(id, 0), HF_COUNT_MAX);

	return err ? err : find_times(part, id >> HF_NUMBER_BITS);
}

int hf_view_part_start(struct hf_view_part *part, uint64_t id, uint64_t *ret_id)
{
	return hf_view_join_start(part->store, id, ret_id);
}

int hf_view_part_cut(struct hf_view_part *part, uint64_t id)
{
	int err = hf_view_join_cut(&part->join, part->store, id, &part->resume);

	if (!err)
		err = set_incomplete(part);
	if (!err)
		err = cut_times(part, id);
	return err ? err : hf_store_cut(part->store, &hf_table_view_hart, id >> HF_NUMBER_BITS, HF_COUNT_MAX);
}

int hf_view_part_add_chunk(struct hf_view_part *part, uint64_t id, const struct hf_view_chunk *chunk)
{
	return chunk->size > HF_VIEW_CHUNK_MAX ? HF_ERR_CHUNK_LIMIT : hf_view_join_add(&part->join, id, chunk);
}

int hf_view_part_add_times(struct hf_view_part *part, uint64_t id, uint64_t number, const struct hf_view_times *times)
{
	return number >> HF_TIMES_ROWS_BITS
		       ? HF_ERR_CHUNK_LIMIT
		       : hf_store_put(part->store, &hf_table_view_time, hf_times_key(id, number), times);
}

void hf_view_part_add_hart(struct hf_view_part *part, uint64_t slot, uint32_t hart, uint64_t size, uint64_t chunks)
{
	const struct hf_view_hart row = {.slot = slot, .id = hart, .size = size, .chunks = chunks};

	hf_view_join_end(&part->join, &row);
}

int hf_view_part_settle(struct hf_view_part *part, uint64_t id)
{
	return hf_view_join_settle(&part->join, part->store, id);
}

int hf_view_part_commit(struct hf_view_part *part)
{
	int err = hf_view_join_write(&part->join, part->store);

	return err ? err : hf_store_commit(part->store);
}

int hf_view_part_finish(struct hf_view_part *part, const struct hf_identity *identity,
			const struct hf_chunk_limits *limits)
{
	int err = part->join.waiting_count || part->join.has_end ? HF_ERR_BUG : 0;

	if (!err && part->key->ops->flags & HF_ENC_TIMES)
		err = hf_merge_write(part->store);
	if (!err)
		err = write_meta(part, identity, limits, true);
	if (!err)
		err = hf_store_finish(part->store);
	close_store(part);
	return err;
}
