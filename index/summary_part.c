/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary_part.h"

#include "index/packs.h"
#include "index/summary.h"

static const struct hf_table *const tables[HF_TABLES_MOST] = {
	[HF_TABLE_HART] = &hf_table_summary_hart,	[HF_TABLE_SPAN] = &hf_table_summary_span,
	[HF_TABLE_CONTEXT] = &hf_table_summary_context, [HF_TABLE_PAGE] = &hf_table_summary_page,
	[HF_TABLE_LIST] = &hf_table_summary_piece,	[HF_TABLE_CALLS] = &hf_table_summary_calls,
	[HF_TABLE_NODE] = &hf_table_summary_node,	[HF_TABLE_STACK] = &hf_table_summary_stack,
	[HF_TABLE_INVERSE] = &hf_table_inverse,		[HF_TABLE_INVERSE_SPAN] = &hf_table_inverse_span,
	[HF_TABLE_INVERSE_PAGE] = &hf_table_inverse_page, [HF_TABLE_INVERSE_LIST] = &hf_table_inverse_list,
};

bool hf_summary_part_is_possible(int dirfd)
{
	bool own = false;

	return !hf_packs_of(dirfd, &own) || !own;
}

static int write_meta(const struct hf_summary_part *part, const struct hf_identity *identity,
		      const struct hf_chunk_limits *limits, bool complete)
{
	const struct hf_summary_meta meta = {
		.complete = complete, .identity = *identity, .version = HF_SUMMARY_VERSION, .limits = *limits};

	return hf_store_set_meta(part->store, &hf_table_summary_meta, &meta);
}

static void close_store(struct hf_summary_part *part)
{
	hf_store_close(part->store);
	part->store = NULL;
}

int hf_summary_part_open(struct hf_summary_part *part, int dirfd, const struct hf_identity *identity,
			 const struct hf_chunk_limits *limits)
{
	char name[HF_FILE_NAME_SIZE];
	int err;

	*part = (struct hf_summary_part){.file.fd = -1};
	hf_index_file_name_summary(identity, name);
	err = hf_part_open(dirfd, name, &part->file);
	if (err)
		return err;
	if (!(err = hf_part_reset(&part->file)) &&
	    !(err = hf_store_open_part(&part->file, HF_DB_SUMMARY, &part->store)))
		err = write_meta(part, identity, limits, false);
	if (err)
		hf_summary_part_close(part);
	return err;
}

void hf_summary_part_close(struct hf_summary_part *part)
{
	close_store(part);
	hf_part_close(&part->file);
}

int hf_summary_part_put(struct hf_summary_part *part, enum hf_table_id table, uint64_t key, const void *row)
{
	return tables[table] ? hf_store_put(part->store, tables[table], key, row) : HF_ERR_BUG;
}

int hf_summary_part_commit(struct hf_summary_part *part)
{
	return hf_store_commit(part->store);
}

int hf_summary_part_finish(struct hf_summary_part *part, const struct hf_identity *identity,
			   const struct hf_chunk_limits *limits)
{
	int err = write_meta(part, identity, limits, true);

	if (!err)
		err = hf_store_finish(part->store);
	close_store(part);
	return err;
}
