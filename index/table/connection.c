/* SPDX-License-Identifier: Apache-2.0 */
#include "index/table/connection.h"

struct hf_db_table *hf_connection_table(struct hf_connection *c, enum hf_db_kind kind, const struct hf_table *table,
					uint64_t part)
{
	struct hf_db_table *t = &c->table[kind == HF_DB_VIEW][table->id];

	t->db = c->db;
	t->table = table;
	t->in_pack = !part ? NULL : kind == HF_DB_VIEW ? "view_" : "";
	t->part = part;
	return t;
}

void hf_connection_share(struct hf_connection *c)
{
	c->scratch.decompress = ZSTD_createDCtx();
}

void hf_connection_close(struct hf_connection *c)
{
	for (size_t i = 0; i < 2 * HF_TABLES_MOST; i++)
		hf_db_table_close(&c->table[i / HF_TABLES_MOST][i % HF_TABLES_MOST]);
	hf_row_scratch_free(&c->scratch);
	hf_db_close(c->db);
	*c = (struct hf_connection){.db = NULL};
}
