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
	err = hf_view_meta_write(part->db, meta);
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
	err = hf_view_meta_read(part->db, meta);
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
	return hf_db_prepare(part->db, "INSERT INTO chunk VALUES (?,?,?,?)", &part->add_chunk);
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
	sqlite3_stmt *stmt;
	int err = hf_db_prepare(part->db, "SELECT offset, entry FROM chunk WHERE id = ?", &stmt);

	if (err)
		return err;
	hf_db_bind(stmt, 1, &id);
	err = hf_db_step(stmt);
	if (!err)
		err = hf_col_u64(stmt, 0, HF_COUNT_MAX, &part->resume.offset);
	if (!err)
		err = hf_col_blob(stmt, 1, part->resume.entry, sizeof part->resume.entry,
				  &part->resume.entry_size);
	sqlite3_finalize(stmt);
	if (err)
		return err;
	part->complete = false;
	err = hf_db_run(part->db, "UPDATE meta SET complete = 0");
	if (!err)
		err = hf_db_run1(part->db, "DELETE FROM chunk WHERE id >= ?", id);
	return err ? err : hf_db_run1(part->db, "DELETE FROM hart WHERE slot >= ?", id >> HF_NUMBER_BITS);
}

int hf_view_part_add_chunk(struct hf_view_part *part, uint64_t id, const struct hf_view_row *row)
{
	const uint64_t values[3] = {id, row->offset, row->checksum};

	if (row->size > HF_VIEW_CHUNK_MAX)
		return HF_ERR_CHUNK_LIMIT;
	hf_db_bind(part->add_chunk, 3, values);
	sqlite3_bind_blob(part->add_chunk, 4, row->entry_size ? (const void *)row->entry : "", (int)row->entry_size,
			  SQLITE_STATIC);
	return hf_db_exec(part->add_chunk);
}

int hf_view_part_add_hart(struct hf_view_part *part, uint64_t slot, uint32_t hart, uint64_t size, uint64_t chunks)
{
	const uint64_t values[4] = {slot, hart, size, chunks};
	sqlite3_stmt *stmt;
	int err = hf_db_prepare(part->db, "INSERT INTO hart VALUES (?,?,?,?)", &stmt);

	if (err)
		return err;
	hf_db_bind(stmt, 4, values);
	err = hf_db_exec(stmt);
	sqlite3_finalize(stmt);
	return err;
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
