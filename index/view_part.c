/* SPDX-License-Identifier: Apache-2.0 */
#include "index/view_part.h"

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
	err = hf_meta_write(part->db, &hf_table_view_meta, meta);
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
	err = hf_meta_read(part->db, &hf_table_view_meta, meta);
	if (!err && (!hf_view_meta_fits(meta, identity, part->key) || !hf_chunk_limits_equal(&meta->limits, limits)))
		err = HF_ERR_STATE;
	part->complete = meta->complete;
	free(meta);
	return err;
}

static int prepare(struct hf_view_part *part)
{
	int err = hf_db_number(part->db, "SELECT max(id) FROM chunk", &part->last);

	if (err < 0)
		return err;
	part->has_last = err == 0;
	return hf_row_prepare(part->db, &hf_table_view_chunk, false, &part->add_chunk);
}

static void close_db(struct hf_view_part *part)
{
	sqlite3_finalize(part->add_chunk);
	part->add_chunk = NULL;
	hf_db_close(part->db);
	part->db = NULL;
}

static int open_db(struct hf_view_part *part)
{
	return hf_db_open_part(part->file.fd, part->file.dirfd, part->file.part, HF_DB_VIEW, &part->db);
}

int hf_view_part_reset(struct hf_view_part *part, const struct hf_identity *identity,
		       const struct hf_chunk_limits *limits)
{
	int err;

	close_db(part);
	part->complete = part->has_last = false;
	if ((err = hf_part_reset(&part->file)) || (err = open_db(part)) ||
	    (err = write_meta(part, identity, limits, false)))
		return err;
	return prepare(part);
}

static int resume_db(struct hf_view_part *part, const struct hf_identity *identity,
		     const struct hf_chunk_limits *limits)
{
	int err = open_db(part);

	if (!err)
		err = check_meta(part, identity, limits);
	return err ? err : prepare(part);
}

int hf_view_part_open(struct hf_view_part *part, int dirfd, const struct hf_identity *identity,
		      const struct hf_view_key *key, const struct hf_chunk_limits *limits)
{
	char name[HF_FILE_NAME_SIZE];
	int err;

	*part = (struct hf_view_part){.key = key, .file.fd = -1};
	if (strlen(key->params) >= HF_PARAMS_MAX)
		return HF_ERR_LIMIT;
	err = hf_index_file_name_view(identity, key, name);
	if (!err)
		err = hf_part_open(dirfd, name, &part->file);
	if (err)
		return err;
	if (hf_db_look(part->file.fd, HF_DB_VIEW) == HF_LOOK_EMPTY)
		err = hf_view_part_reset(part, identity, limits);
	else
		err = resume_db(part, identity, limits);
	if (err == HF_ERR_STATE)
		err = hf_view_part_reset(part, identity, limits);
	if (err)
		hf_view_part_close(part);
	return err;
}

void hf_view_part_close(struct hf_view_part *part)
{
	close_db(part);
	hf_part_close(&part->file);
}

int hf_view_part_cut(struct hf_view_part *part, uint64_t id)
{
	const uint64_t slot = id >> HF_NUMBER_BITS;
	int err = hf_row_get(part->db, &hf_table_view_chunk, "WHERE id = ?", 1, &id, NULL, &part->resume);

	if (err)
		return err;
	part->complete = false;
	err = hf_db_run(part->db, "UPDATE meta SET complete = 0");
	if (!err)
		err = hf_db_run_with(part->db, "DELETE FROM chunk WHERE id >= ?", 1, &id);
	return err ? err : hf_db_run_with(part->db, "DELETE FROM hart WHERE slot >= ?", 1, &slot);
}

int hf_view_part_add_chunk(struct hf_view_part *part, uint64_t id, const struct hf_view_chunk *chunk)
{
	return chunk->size > HF_VIEW_CHUNK_MAX ? HF_ERR_CHUNK_LIMIT
					       : hf_row_put(part->add_chunk, &hf_table_view_chunk, id, chunk);
}

int hf_view_part_add_hart(struct hf_view_part *part, uint64_t slot, uint32_t hart, uint64_t size, uint64_t chunks)
{
	const struct hf_view_hart row = {.id = hart, .size = size, .chunks = chunks};

	return hf_row_replace(part->db, &hf_table_view_hart, slot, &row);
}

int hf_view_part_commit(struct hf_view_part *part)
{
	int err = hf_db_commit(part->db, hf_part_journaled(&part->file));

	return err ? err : hf_part_count(&part->file);
}

int hf_view_part_finish(struct hf_view_part *part, const struct hf_identity *identity,
			const struct hf_chunk_limits *limits)
{
	int err = write_meta(part, identity, limits, true);

	if (!err)
		err = hf_db_finish(part->db);
	close_db(part);
	return err;
}
