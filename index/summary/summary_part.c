/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/summary_part.h"

#include "index/summary/checkpoint.h"
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

/* ---- what an earlier build left ---- */

static int resume(struct hf_summary_part *part, const struct hf_chunk_limits *limits)
{
	struct hf_summary_meta meta;
	int err = hf_store_open_part(&part->file, HF_DB_SUMMARY, &part->store);

	if (!err)
		err = hf_store_meta(part->store, &hf_table_summary_meta, &meta);
	if (!err && (!hf_identity_equal(&meta.identity, &part->identity) || meta.version != HF_SUMMARY_VERSION ||
		     !hf_chunk_limits_equal(&meta.limits, limits)))
		err = HF_ERR_STATE;
	part->resumed = !err;
	part->complete = !err && meta.complete;
	return err;
}

int hf_summary_part_hart(struct hf_summary_part *part, uint64_t slot, struct hf_summary_hart *ret_hart)
{
	return hf_store_find(part->store, &hf_table_summary_hart, HF_SEEK_AT, slot, NULL, ret_hart);
}

int hf_summary_part_has_hart(struct hf_summary_part *part, uint64_t slot)
{
	struct hf_summary_hart hart;
	int err = part->resumed ? hf_summary_part_hart(part, slot, &hart) : (int)HF_NOTE_END;

	return err < 0 ? err : !err;
}

bool hf_summary_part_checkpoint(struct hf_summary_part *part, uint32_t id, struct hf_summary_hart *ret_hart)
{
	return part->resumed && !hf_summary_part_hart(part, HF_SLOT_CHECKPOINT, ret_hart) && ret_hart->id == id;
}

/* ---- opening and closing ---- */

int hf_summary_part_reset(struct hf_summary_part *part, const struct hf_chunk_limits *limits)
{
	int err;

	close_store(part);
	part->resumed = part->complete = false;
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
	err = hf_part_is_empty(&part->file) || hf_part_journaled(&part->file) < 0 ? HF_ERR_STATE : resume(part, limits);
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

/* ---- making ---- */

static int drop_checkpoint(struct hf_summary_part *part)
{
	int err = 0;

	for (unsigned i = 0; i < HF_TABLES_MOST && !err; i++)
		if (tables[i] && i != HF_TABLE_HART)
			err = hf_store_cut(part->store, tables[i], hf_row_id(HF_SLOT_CHECKPOINT, 0),
					   hf_row_id(HF_SLOT_CHECKPOINT, HF_NUMBER_MAX));
	return err ? err : hf_store_cut(part->store, &hf_table_summary_hart, HF_SLOT_CHECKPOINT, HF_SLOT_CHECKPOINT);
}

int hf_summary_part_put(struct hf_summary_part *part, enum hf_table_id table, uint64_t key, const void *row)
{
	if (!tables[table])
		return HF_ERR_BUG;
	if (table == HF_TABLE_HART && key == HF_SLOT_CHECKPOINT && !((const struct hf_summary_hart *)row)->chunks)
		return drop_checkpoint(part);
	return hf_store_put(part->store, tables[table], key, row);
}

int hf_summary_part_finish(struct hf_summary_part *part, const struct hf_chunk_limits *limits)
{
	int err = part->complete ? 0 : write_meta(part, limits, true);

	if (!err)
		err = hf_store_finish(part->store);
	close_store(part);
	return err;
}
