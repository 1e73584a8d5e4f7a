/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/summary_part.h"

#include "index/summary/summary.h"

static const struct hf_table *const tables[HF_TABLES_MOST] = {
	[HF_TABLE_HART] = &hf_table_summary_hart,	[HF_TABLE_SPAN] = &hf_table_summary_span,
	[HF_TABLE_CONTEXT] = &hf_table_summary_context, [HF_TABLE_PAGE] = &hf_table_summary_page,
	[HF_TABLE_SECTION] = &hf_table_summary_section, [HF_TABLE_CALLS] = &hf_table_summary_calls,
	[HF_TABLE_NODE] = &hf_table_summary_node,	[HF_TABLE_STACK] = &hf_table_summary_stack,
};

bool hf_summary_part_is_possible(const struct hf_store_dir *dir)
{
	return dir->into != HF_INTO_PACKS;
}

static int write_meta(const struct hf_summary_part *part, const struct hf_chunk_limits *limits, bool complete)
{
	const struct hf_summary_meta meta = {
		.complete = complete, .identity = part->identity, .version = HF_SUMMARY_VERSION, .limits = *limits};

	return hf_store_set_meta(part->store, &hf_table_summary_meta, &meta);
}

static void close_store(struct hf_summary_part *part)
{
	hf_store_close(part->store);
	part->store = NULL;
}

/* A file that survives an interruption. */
static bool can_keep(const struct hf_summary_part *part)
{
	return hf_part_journaled(&part->file) >= 0;
}

/* ---- what an earlier build left ---- */

static int has_row(struct hf_summary_part *part, uint64_t table, uint64_t key)
{
	uint64_t number;
	int err = tables[table] ? 0 : HF_ERR_STATE;

	/* Of rows that are bytes alone the first column is no number. */
	if (!err)
		err = hf_store_number(part->store, tables[table], key, &number);
	return err == HF_NOTE_END ? 0 : err && !(err == HF_ERR_STATE && tables[table]) ? err : 1;
}

static int look_at_state(struct hf_summary_part *part)
{
	int err = hf_summary_state_read(part->file.dirfd, &part->identity, &part->place, NULL, NULL);

	/* Harts that are whole need none. */
	if (err == HF_ERR_NOT_FOUND)
		return 0;
	/* Whatever it is, the summary can be made without it. */
	if (err)
		return err == HF_ERR_NOMEM ? err : HF_ERR_STATE;
	part->rows = part->place.rows;
	part->last_table = part->place.table;
	part->last_key = part->place.key;
	/* They were put one after the other. */
	err = part->rows ? has_row(part, part->last_table, part->last_key) : 1;
	part->has_state = err == 1;
	return err < 0 ? err : err ? 0 : HF_ERR_STATE;
}

static int resume(struct hf_summary_part *part, const struct hf_chunk_limits *limits)
{
	struct hf_summary_meta meta;
	int err = hf_store_open_part(&part->file, HF_DB_SUMMARY, &part->store);

	if (!err)
		err = hf_store_meta(part->store, &hf_table_summary_meta, &meta);
	if (!err && (!hf_identity_equal(&meta.identity, &part->identity) || meta.version != HF_SUMMARY_VERSION ||
		     !hf_chunk_limits_equal(&meta.limits, limits)))
		err = HF_ERR_STATE;
	if (!err && !meta.complete)
		err = look_at_state(part);
	part->resumed = part->again = !err;
	part->complete = !err && meta.complete;
	return err;
}

int hf_summary_part_has_hart(struct hf_summary_part *part, uint64_t slot)
{
	return part->resumed ? has_row(part, HF_TABLE_HART, slot) : 0;
}

int hf_summary_part_hart(struct hf_summary_part *part, uint64_t slot, struct hf_summary_hart *ret_hart)
{
	return hf_store_find(part->store, &hf_table_summary_hart, HF_SEEK_AT, slot, NULL, ret_hart);
}

int hf_summary_part_load(struct hf_summary_part *part, uint64_t slot, hf_summary_keep_fn fn, void *ctx)
{
	struct hf_summary_place place;

	if (!part->has_state || part->place.slot != slot)
		return HF_NOTE_END;
	return hf_summary_state_read(part->file.dirfd, &part->identity, &place, fn, ctx);
}

/* ---- opening and closing ---- */

int hf_summary_part_reset(struct hf_summary_part *part, const struct hf_chunk_limits *limits)
{
	int err;

	close_store(part);
	part->resumed = part->complete = part->has_state = part->again = part->written = false;
	part->rows = part->last_table = part->last_key = 0;
	if (can_keep(part))
		hf_summary_state_remove(part->file.dirfd, &part->identity);
	err = hf_part_reset(&part->file);
	if (!err)
		err = hf_store_open_part(&part->file, HF_DB_SUMMARY, &part->store);
	return err ? err : write_meta(part, limits, false);
}

int hf_summary_part_open(struct hf_summary_part *part, const struct hf_store_dir *dir,
			 const struct hf_identity *identity, const struct hf_chunk_limits *limits)
{
	char name[HF_FILE_NAME_SIZE];
	int err;

	*part = (struct hf_summary_part){.file.fd = -1, .identity = *identity};
	hf_index_file_name_summary(identity, name);
	err = hf_part_open(dir, name, &part->file);
	if (err)
		return err;
	err = hf_part_is_empty(&part->file) || !can_keep(part) ? HF_ERR_STATE : resume(part, limits);
	if (err == HF_ERR_STATE)
		err = hf_summary_part_reset(part, limits);
	if (err)
		hf_summary_part_close(part);
	return err;
}

void hf_summary_part_close(struct hf_summary_part *part)
{
	close_store(part);
	hf_part_close(&part->file);
}

void hf_summary_part_remove(struct hf_summary_part *part)
{
	if (can_keep(part))
		hf_summary_state_remove(part->file.dirfd, &part->identity);
	hf_part_remove(&part->file);
}

int hf_summary_part_publish(struct hf_summary_part *part)
{
	int err = hf_part_publish(&part->file);

	if (!err && can_keep(part))
		hf_summary_state_remove(part->file.dirfd, &part->identity);
	return err;
}

/* ---- making ---- */

int hf_summary_part_put(struct hf_summary_part *part, enum hf_table_id table, uint64_t key, const void *row)
{
	int err = tables[table] ? 0 : HF_ERR_BUG;

	part->rows++;
	part->last_table = table;
	part->last_key = key;
	/* Where one is missing, so are all behind it. */
	if (!err && part->again) {
		err = has_row(part, table, key);
		part->again = err == 1;
	}
	if (err < 0)
		return err;
	return part->again ? 0 : hf_store_put(part->store, tables[table], key, row);
}

void hf_summary_part_keep(struct hf_summary_part *part, const struct hf_summary_place *place, hf_summary_keep_fn fn,
			  void *ctx)
{
	struct hf_summary_place full = *place;

	if (!can_keep(part))
		return;
	full.rows = part->rows;
	full.table = part->last_table;
	full.key = part->last_key;
	part->written = hf_summary_state_write(part->file.dirfd, &part->identity, &full, fn, ctx) == 0;
	/* The index goes on without it, so that the one before is of no use. */
	if (!part->written)
		hf_summary_state_remove(part->file.dirfd, &part->identity);
}

int hf_summary_part_commit(struct hf_summary_part *part)
{
	int err = hf_store_commit(part->store);

	if (!err && part->written && hf_summary_state_publish(part->file.dirfd, &part->identity))
		hf_summary_state_remove(part->file.dirfd, &part->identity);
	part->written = false;
	return err;
}

int hf_summary_part_finish(struct hf_summary_part *part, const struct hf_chunk_limits *limits)
{
	int err = part->complete ? 0 : write_meta(part, limits, true);

	if (!err)
		err = hf_store_finish(part->store);
	close_store(part);
	return err;
}
