/* SPDX-License-Identifier: Apache-2.0 */
/* The tables: one module, for each table that the server has. */
#include "mountd/sql/client.h"
#include "mountd/sql/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows that are asked for at first, and then twice as many each time. */
#define ROWS_AT_FIRST 16u

/* What a module is registered with. */
struct module {
	struct hf_client *client;
	const struct hf_schema_table *table;
};

struct table {
	sqlite3_vtab base;
	struct hf_client *client;
	const struct hf_schema_table *table;
};

struct cursor {
	sqlite3_vtab_cursor base;
	struct hf_request request; /* without texts, once it was sent; numbers are its own */
	uint64_t generation;
	uint32_t number;
	bool open, end; /* the server has it; the row at hand is behind the last one */
	uint32_t left;	/* rows in the answer that are still to come */
	uint8_t *bytes; /* owned: of the answer */
	size_t room;
	struct hf_in in;
	int64_t id;
	struct hf_cell cell[HF_PROTOCOL_COLUMNS];
};

static int fail(struct table *table, enum hf_child_result result)
{
	/* SQLite has its own words for that. */
	if (result == HF_CHILD_INTERRUPTED)
		return SQLITE_INTERRUPT;
	sqlite3_free(table->base.zErrMsg);
	table->base.zErrMsg = sqlite3_mprintf("%s", table->client->child.words);
	return result == HF_CHILD_DIED ? SQLITE_IOERR : SQLITE_ERROR;
}

/* ---- tables ---- */

static char *declaration(const struct hf_schema_table *table)
{
	sqlite3_str *text = sqlite3_str_new(NULL);

	sqlite3_str_appendf(text, "CREATE TABLE x(");
	for (uint32_t i = 0; i < table->count; i++) {
		const unsigned flags = table->column[i].flags;

		sqlite3_str_appendf(text, "%s\"%s\"%s%s", i ? ", " : "", table->column[i].name,
				    flags & HF_COL_ANY	  ? ""
				    : flags & HF_COL_TEXT ? " TEXT"
							  : " INTEGER",
				    flags & HF_COL_HIDDEN ? " HIDDEN" : "");
	}
	sqlite3_str_appendf(text, ")");
	return sqlite3_str_finish(text);
}

static int connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **ret_vtab, char **ret_error)
{
	const struct module *module = aux;
	struct table *table = sqlite3_malloc(sizeof *table);
	char *text = declaration(module->table);
	int err = table && text ? sqlite3_declare_vtab(db, text) : SQLITE_NOMEM;

	(void)argc;
	(void)argv;
	(void)ret_error;
	sqlite3_free(text);
	if (err) {
		sqlite3_free(table);
		return err;
	}
	/* It reads files: not for what a database that somebody sends has in its views and triggers. */
	sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
	*table = (struct table){.client = module->client, .table = module->table};
	*ret_vtab = &table->base;
	return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *vtab)
{
	sqlite3_free(vtab);
	return SQLITE_OK;
}

/* As the table of captures has it, which indexes none: so far nobody knows of one that is not. */
static bool has_one_hart(void *ctx, const char *capture)
{
	struct hf_client *client = ctx;
	const struct hf_schema *schema = &client->child.schema;
	const struct hf_schema_table *table = NULL;
	struct hf_request request = {.message = HF_MESSAGE_OPEN, .rows = 1, .equal = {capture}};
	struct hf_cell cell[HF_PROTOCOL_COLUMNS];
	struct hf_answer_head head;
	struct hf_in in;
	int harts;
	int64_t id;

	for (uint32_t i = 0; i < schema->count && !table; i++)
		table = strcmp(schema->table[i].name, "capture") == 0 ? &schema->table[i] : NULL;
	harts = table ? hf_plan_column(table, "harts", strlen("harts")) : -1;
	if (harts < 0 || hf_child_start(&client->child))
		return false;
	request.table = (uint32_t)(table - schema->table);
	request.columns = 1u << harts;
	if (hf_child_ask(&client->child, &request, &head, &in))
		return false;
	if (!(head.flags & HF_ROWS_END))
		hf_child_close_cursor(&client->child, client->child.generation, head.cursor);
	return head.count && hf_answer_row(&in, request.columns, &id, cell) && cell[harts].type == HF_CELL_NUMBER &&
	       cell[harts].number == 1;
}

static int best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	struct table *table = (struct table *)vtab;
	const struct hf_plan_known known = {
		.has_capture = table->client->alone, .has_one_hart = has_one_hart, .ctx = table->client};

	return hf_plan_choose(table->table, &known, info);
}

/* ---- rows ---- */

static int open_cursor(sqlite3_vtab *vtab, sqlite3_vtab_cursor **ret_cursor)
{
	struct cursor *cursor = sqlite3_malloc(sizeof *cursor);

	(void)vtab;
	if (!cursor)
		return SQLITE_NOMEM;
	memset(cursor, 0, sizeof *cursor);
	*ret_cursor = &cursor->base;
	return SQLITE_OK;
}

static void finish(struct cursor *cursor)
{
	struct table *table = (struct table *)cursor->base.pVtab;

	if (cursor->open)
		hf_child_close_cursor(&table->client->child, cursor->generation, cursor->number);
	cursor->open = false;
	cursor->end = true;
	cursor->left = 0;
	hf_plan_free(&cursor->request);
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;

	finish(cursor);
	free(cursor->bytes);
	sqlite3_free(cursor);
	return SQLITE_OK;
}

/* The answer is the cursor's, as others may ask before it was read to its end. */
static int keep_answer(struct cursor *cursor, const struct hf_answer_head *head, const struct hf_in *in)
{
	const size_t size = (size_t)(in->end - in->p);

	if (size > cursor->room) {
		uint8_t *bigger = realloc(cursor->bytes, size);

		if (!bigger)
			return SQLITE_NOMEM;
		cursor->bytes = bigger;
		cursor->room = size;
	}
	cursor->in = (struct hf_in){0};
	if (size) {
		memcpy(cursor->bytes, in->p, size);
		cursor->in = (struct hf_in){cursor->bytes, cursor->bytes + size, false};
	}
	cursor->left = head->count;
	cursor->number = head->cursor;
	cursor->open = !(head->flags & HF_ROWS_END);
	return SQLITE_OK;
}

static int ask(struct cursor *cursor)
{
	struct table *table = (struct table *)cursor->base.pVtab;
	struct hf_child *child = &table->client->child;
	struct hf_answer_head head;
	struct hf_in in;
	enum hf_child_result result = hf_child_ask(child, &cursor->request, &head, &in);

	if (result) {
		cursor->open = false;
		return fail(table, result);
	}
	return keep_answer(cursor, &head, &in);
}

static int next(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;
	struct table *table = (struct table *)base->pVtab;
	struct hf_child *child = &table->client->child;
	bool empty = false;
	int err = SQLITE_OK;

	while (!err && !cursor->left && cursor->open) {
		/* SQLite looks only between two rows, and there may be none for ever. */
		if (empty && child->interrupted(child->ctx))
			return SQLITE_INTERRUPT;
		if (cursor->generation != child->generation || !child->pid) {
			cursor->open = false;
			snprintf(child->words, sizeof child->words, "hartfs serve ended");
			return fail(table, HF_CHILD_DIED);
		}
		cursor->request.message = HF_MESSAGE_NEXT;
		cursor->request.cursor = cursor->number;
		cursor->request.rows =
			cursor->request.rows < HF_PROTOCOL_ROWS / 2 ? 2 * cursor->request.rows : HF_PROTOCOL_ROWS;
		err = ask(cursor);
		empty = true;
	}
	cursor->end = !cursor->left;
	if (err || cursor->end)
		return err;
	cursor->left--;
	if (hf_answer_row(&cursor->in, cursor->request.columns, &cursor->id, cursor->cell))
		return SQLITE_OK;
	finish(cursor);
	snprintf(child->words, sizeof child->words, "hartfs serve sent what is no row");
	return fail(table, HF_CHILD_DIED);
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *plan, int argc, sqlite3_value **argv)
{
	struct cursor *cursor = (struct cursor *)base;
	struct table *table = (struct table *)base->pVtab;
	struct hf_child *child = &table->client->child;
	struct hf_request *request = &cursor->request;
	enum hf_child_result result;
	int err;

	finish(cursor);
	if (!hf_plan_read(table->table, plan ? plan : "", number, argv, argc, request))
		return SQLITE_OK;
	if (!request->rows)
		request->rows = ROWS_AT_FIRST;
	result = hf_child_start(child);
	if (result)
		return fail(table, result);
	request->table = (uint32_t)(table->table - child->schema.table);
	cursor->generation = child->generation;
	err = ask(cursor);
	return err ? err : next(base);
}

static int at_end(sqlite3_vtab_cursor *base)
{
	return ((struct cursor *)base)->end;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int number)
{
	const struct hf_cell *cell = &((struct cursor *)base)->cell[number];

	if (cell->type == HF_CELL_NUMBER)
		sqlite3_result_int64(context, cell->number);
	else if (cell->type == HF_CELL_TEXT)
		sqlite3_result_text(context, cell->text, (int)cell->size, SQLITE_TRANSIENT);
	return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret_id)
{
	*ret_id = ((struct cursor *)base)->id;
	return SQLITE_OK;
}

/* Without xCreate: each is there by its name. */
static const sqlite3_module methods = {
	.iVersion = 1,
	.xCreate = connect, /* the same: so a table is there without being created, too */
	.xConnect = connect,
	.xBestIndex = best_index,
	.xDisconnect = disconnect,
	.xDestroy = disconnect,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = filter,
	.xNext = next,
	.xEof = at_end,
	.xColumn = column,
	.xRowid = rowid,
};

static void free_module(void *aux)
{
	struct module *module = aux;

	hf_client_put(module->client);
	free(module);
}

int hf_tables_register(struct hf_client *client)
{
	const struct hf_schema *schema = &client->child.schema;
	int err = SQLITE_OK;

	for (uint32_t i = 0; !err && i < schema->count; i++) {
		struct module *module = malloc(sizeof *module);

		if (!module)
			return SQLITE_NOMEM;
		*module = (struct module){client, &schema->table[i]};
		client->refs++;
		/* Also calls free_module if it fails. */
		err = sqlite3_create_module_v2(client->db, schema->table[i].name, &methods, module, free_module);
	}
	client->registered = !err;
	return err;
}

int hf_tables_show(struct hf_client *client)
{
	const struct hf_schema *schema = &client->child.schema;
	int err = SQLITE_OK;

	for (uint32_t i = 0; !err && i < schema->count; i++) {
		char *text = sqlite3_mprintf("CREATE VIRTUAL TABLE main.\"%w\" USING \"%w\"", schema->table[i].name,
					     schema->table[i].name);

		err = text ? sqlite3_exec(client->db, text, NULL, NULL, NULL) : SQLITE_NOMEM;
		sqlite3_free(text);
	}
	return err;
}
