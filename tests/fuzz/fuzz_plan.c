/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries of the extension for SQLite, of a table whose server is here: what the planner leaves to the server and what
 * to SQLite gives the rows that a table of SQLite's own gives, in the order that was asked for. The input is read as a
 * query, a byte each for what stands next.
 */
#include <sqlite3.h>

/* Of the library itself: behind the next header they are the extension's pointers, which these get. */
static int open_database(sqlite3 **ret_db, void (*extension)(void))
{
	int err = sqlite3_auto_extension(extension);

	return err ? err : sqlite3_open(":memory:", ret_db);
}

#include "mountd/sql/client.h"
#include "tests/lib/fuzz.h"

#include <string.h>

SQLITE_EXTENSION_INIT1

enum { CAPTURE, HART, ORDINAL, PC, NAME, WORDS, OFFSET, VALUE, COLUMNS };
enum { ROWS = 60, CURSORS = 64, QUERY_MAX = 4096 };

static struct hf_schema_table table = {"t",
				       HF_TAB_HART | HF_TAB_ORDERED,
				       COLUMNS,
				       {[CAPTURE] = {"capture", HF_COL_TEXT | HF_COL_ASKED | HF_COL_NEEDED},
					[HART] = {"hart", HF_COL_ASKED},
					[ORDINAL] = {"ordinal", HF_COL_ASKED | HF_COL_ORDER},
					[PC] = {"pc", HF_COL_ASKED | HF_COL_LISTED | HF_COL_AMONG},
					[NAME] = {"name", HF_COL_TEXT | HF_COL_ASKED | HF_COL_LISTED},
					[WORDS] = {"words", HF_COL_TEXT},
					[OFFSET] = {"offs", HF_COL_ASKED | HF_COL_AMONG},
					[VALUE] = {"value", HF_COL_ANY}}};
static const struct hf_schema_table captures = {
	"capture", 0, 2, {{"capture", HF_COL_TEXT | HF_COL_ASKED}, {"harts", HF_COL_ASKED}}};

/* Of capture 0, one hart; 1, two harts. By hart and ordinal. */
static struct row {
	struct hf_cell cell[COLUMNS];
} rows[ROWS];
static struct {
	bool open;
	struct hf_request request;
	unsigned row[ROWS], count, given;
} cursors[CURSORS];
static struct hf_client client;
static struct hf_out out = {.most = HF_REPLY_MOST}, asked = {.most = HF_REQUEST_MOST};
static bool refused; /* as no capture was named */

/* ---- the server ---- */

enum hf_child_result hf_child_start(struct hf_child *child)
{
	child->pid = 1;
	return HF_CHILD_OK;
}

void hf_child_close_cursor(struct hf_child *child, uint64_t generation, uint32_t cursor)
{
	MUST(generation == child->generation && cursor < CURSORS && cursors[cursor].open);
	cursors[cursor].open = false;
}

void hf_client_put(void *aux)
{
	(void)aux;
}

HF_NO_COVERAGE static bool meets(const struct row *row, const struct hf_request *request)
{
	for (unsigned i = 0; i < COLUMNS; i++) {
		const struct hf_cell *cell = &row->cell[i];
		bool among = !request->among[i].numbers;

		for (uint32_t k = 0; k < request->among[i].count; k++)
			among |= cell->type == HF_CELL_NUMBER && cell->number == hf_request_among(request, i, k);
		if (!among || (request->ranged >> i & 1 &&
			       (cell->type != HF_CELL_NUMBER || cell->number < request->range[i].first ||
				cell->number > request->range[i].last)))
			return false;
		if (request->equal[i] && (cell->type != HF_CELL_TEXT || strcmp(cell->text, request->equal[i]) != 0))
			return false;
	}
	return true;
}

/* Of the table of captures a number of harts is all that is asked. */
HF_NO_COVERAGE static enum hf_child_result tell_harts(const struct hf_request *request, struct hf_answer_head *ret_head,
						      struct hf_in *ret_in)
{
	const char *name = request->equal[0] ? request->equal[0] : "a";

	hf_out_begin(&out, HF_MESSAGE_ROWS);
	hf_out_u64(&out, 0);
	hf_out_u8(&out, HF_CELL_NUMBER);
	hf_out_u64(&out, *name == 'a' ? 1 : 2);
	*ret_head = (struct hf_answer_head){.flags = HF_ROWS_END,
					    .count = strcmp(name, "a") == 0 || strcmp(name, "b") == 0};
	*ret_in = (struct hf_in){out.p + HF_MESSAGE_HEAD, out.p + out.n, false};
	return HF_CHILD_OK;
}

HF_NO_COVERAGE static enum hf_child_result open_cursor(struct hf_child *child, const struct hf_request *request,
						       uint32_t *ret)
{
	const char *capture = request->equal[CAPTURE] ? request->equal[CAPTURE] : client.alone ? "a" : NULL;
	uint32_t n = 0;

	if (!capture) {
		refused = true;
		snprintf(child->words, sizeof child->words, "of which capture?");
		return HF_CHILD_FAILED;
	}
	while (n < CURSORS && cursors[n].open)
		n++;
	MUST(n < CURSORS);
	*ret = n;
	memset(&cursors[n], 0, sizeof cursors[n]);
	cursors[n].open = true;
	cursors[n].request = *request;
	for (unsigned i = 0; i < ROWS; i++) {
		const unsigned at = request->flags & HF_OPEN_REVERSE ? ROWS - 1 - i : i;

		if (strcmp(rows[at].cell[CAPTURE].text, capture) == 0 && (!client.alone || *capture == 'a') &&
		    meets(&rows[at], request))
			cursors[n].row[cursors[n].count++] = at;
		MUST(!(request->flags & HF_OPEN_ONE_HART) || *capture == 'a' || !cursors[n].count);
	}
	return HF_CHILD_OK;
}

HF_NO_COVERAGE static void put_row(unsigned number, uint32_t columns)
{
	hf_out_u64(&out, number);
	for (unsigned i = 0; i < COLUMNS; i++) {
		const struct hf_cell *cell = &rows[number].cell[i];

		if (!(columns >> i & 1))
			continue;
		hf_out_u8(&out, (uint8_t)cell->type);
		if (cell->type == HF_CELL_NUMBER)
			hf_out_u64(&out, (uint64_t)cell->number);
		else if (cell->type == HF_CELL_TEXT)
			hf_out_text(&out, cell->text, strlen(cell->text));
	}
}

enum hf_child_result hf_child_ask(struct hf_child *child, const struct hf_request *request,
				  struct hf_answer_head *ret_head, struct hf_in *ret_in)
{
	struct hf_request sent;
	uint32_t number = request->cursor, n = 0;

	hf_request_write(&asked, request);
	MUST(!asked.failed &&
	     hf_request_read(request->message, asked.p + HF_MESSAGE_HEAD, asked.n - HF_MESSAGE_HEAD, &sent));
	if (sent.message == HF_MESSAGE_OPEN && sent.table == 1)
		return tell_harts(&sent, ret_head, ret_in);
	if (sent.message == HF_MESSAGE_OPEN && open_cursor(child, &sent, &number))
		return HF_CHILD_FAILED;
	MUST(number < CURSORS && cursors[number].open);
	hf_out_begin(&out, HF_MESSAGE_ROWS);
	for (; n < sent.rows && cursors[number].given < cursors[number].count; n++, cursors[number].given++)
		put_row(cursors[number].row[cursors[number].given], cursors[number].request.columns);
	MUST(!out.failed);
	cursors[number].open = cursors[number].given < cursors[number].count;
	*ret_head = (struct hf_answer_head){number, cursors[number].open ? 0 : HF_ROWS_END, n};
	*ret_in = (struct hf_in){out.p + HF_MESSAGE_HEAD, out.p + out.n, false};
	return HF_CHILD_OK;
}

static bool is_interrupted(void *ctx)
{
	(void)ctx;
	return false;
}

/* ---- both tables ---- */

static int take_api(sqlite3 *db, char **ret_error, const sqlite3_api_routines *api)
{
	(void)db;
	(void)ret_error;
	SQLITE_EXTENSION_INIT2(api);
	return SQLITE_OK;
}

static void run(const char *text)
{
	MUST(sqlite3_exec(client.db, text, NULL, NULL, NULL) == SQLITE_OK);
}

static void set_row(unsigned i)
{
	static const char *const names[] = {"addi", "Addi", "beq", "a_i", "", "lw%"}, *const words[] = {"a b", "A B",
													"x", "7"};
	struct hf_cell *cell = rows[i].cell;
	const bool first = i < ROWS / 3;
	const int64_t number[COLUMNS] = {[HART] = first ? 0 : i / (ROWS / 3) - 1,
					 [ORDINAL] = i % (ROWS / 3),
					 [PC] = i % 7,
					 [OFFSET] = i % 5 == 4	 ? INT64_MIN
						    : i % 5 == 3 ? INT64_MAX
								 : i % 5 - 1,
					 [VALUE] = i % 4};
	char text[512];

	for (unsigned k = 0; k < COLUMNS; k++)
		cell[k] = (struct hf_cell){.type = HF_CELL_NUMBER, .number = number[k]};
	cell[CAPTURE] = (struct hf_cell){.type = HF_CELL_TEXT, .text = first ? "a" : "b"};
	cell[NAME] = (struct hf_cell){.type = i % 11 == 3 ? HF_CELL_NULL : HF_CELL_TEXT, .text = names[i % 6]};
	cell[WORDS] = (struct hf_cell){.type = HF_CELL_TEXT, .text = words[i % 4]};
	if (i % 6 == 1)
		cell[OFFSET].type = HF_CELL_NULL;
	if (i % 3 == 1)
		cell[VALUE] = (struct hf_cell){.type = HF_CELL_TEXT, .text = words[i % 4]};
	snprintf(text, sizeof text, "INSERT INTO p VALUES ('%s'", cell[CAPTURE].text);
	for (unsigned k = 1; k < COLUMNS; k++) {
		const size_t n = strlen(text);

		if (cell[k].type == HF_CELL_NULL)
			snprintf(text + n, sizeof text - n, ", NULL");
		else if (cell[k].type == HF_CELL_TEXT)
			snprintf(text + n, sizeof text - n, ", '%s'", cell[k].text);
		else if (cell[k].number == INT64_MIN)
			snprintf(text + n, sizeof text - n, ", -9223372036854775807 - 1");
		else
			snprintf(text + n, sizeof text - n, ", %lld", (long long)cell[k].number);
	}
	strcat(text, ")");
	run(text);
}

static void set_up(void)
{
	MUST(open_database(&client.db, (void (*)(void))take_api) == SQLITE_OK && sqlite3_api);
	client.child.interrupted = is_interrupted;
	client.child.schema = (struct hf_schema){.count = 2, .table = {table, captures}};
	run("CREATE TABLE p(capture TEXT, hart INTEGER, ordinal INTEGER, pc INTEGER, name TEXT, words TEXT, offs "
	    "INTEGER, "
	    "value); CREATE TABLE k(n); INSERT INTO k VALUES (0), (3), (3), (5), ('3'), (NULL), ('addi')");
	for (unsigned i = 0; i < ROWS; i++)
		set_row(i);
	run("CREATE VIEW alone AS SELECT * FROM p WHERE capture = 'a'");
	MUST(hf_tables_register(&client) == SQLITE_OK);
}

/* ---- queries ---- */

struct input {
	const uint8_t *p, *end;
};

static unsigned pick(struct input *in, unsigned count)
{
	return in->p < in->end ? *in->p++ % count : 0;
}

static const char *value_of(struct input *in)
{
	static const char *const values[] = {"'a'",
					     "0",
					     "1",
					     "3",
					     "'b'",
					     "'addi'",
					     "'ADDI'",
					     "5",
					     "NULL",
					     "1.5",
					     "4.0",
					     "'3'",
					     "'a%'",
					     "'%_i%'",
					     "-1",
					     "9223372036854775807",
					     "(-9223372036854775807 - 1)",
					     "1e300",
					     "x'61'",
					     "('a' || char(0))",
					     "(SELECT 3)",
					     "(SELECT 'a')",
					     "(SELECT NULL)",
					     "9223372036854775808.0",
					     "''",
					     "12",
					     "'\303\244%'",
					     "'x'"};

	return values[pick(in, sizeof values / sizeof *values)];
}

static void add(char *to, const char *text)
{
	MUST(strlen(to) + strlen(text) < QUERY_MAX);
	strcat(to, text);
}

static void add_condition(struct input *in, char *to)
{
	static const char *const ops[] = {
		" = ", " < ", " <= ", " > ", " >= ", " <> ", " LIKE ", " IS ", " IS NOT ", " GLOB "};
	const unsigned op = pick(in, 14);

	add(to, table.column[pick(in, COLUMNS)].name);
	if (op == 13) {
		add(to, " = n");
	} else if (op == 12) {
		add(to, " COLLATE NOCASE = ");
		add(to, value_of(in));
	} else if (op == 11) {
		add(to, " IN (SELECT n FROM k)");
	} else if (op == 10) {
		add(to, " IN (");
		for (unsigned n = pick(in, 5); n; n--, add(to, ", "))
			add(to, value_of(in));
		add(to, value_of(in));
		add(to, ")");
	} else {
		add(to, ops[op]);
		add(to, value_of(in));
	}
}

/* @: the table. *ret_ordered: columns of the result by which it is in order. */
static void make_query(struct input *in, char *to, unsigned *ret_ordered, bool *ret_limited)
{
	static const char *const ends[] = {"count(*)", "1",	      "*",	    "max(ordinal), min(pc)",
					   "name",     "hart, value", "count(name)"};
	static const char *const first[] = {"capture = 'a' AND ", "capture = 'b' AND ", "",
					    "capture = (SELECT 'b') AND "};
	char order[512] = "", select[512] = "";
	const unsigned end = pick(in, 7), keys = end == 0 || end == 3 || end == 6 ? 0 : pick(in, 4);

	for (unsigned i = 0; i < keys; i++) {
		static const uint8_t wanted[] = {HART, ORDINAL, CAPTURE, PC, NAME, OFFSET, VALUE, HART, ORDINAL};
		const char *name = table.column[wanted[pick(in, sizeof wanted)]].name;

		snprintf(order + strlen(order), sizeof order - strlen(order), "%s%s%s", i ? ", " : " ORDER BY ", name,
			 pick(in, 2) ? " DESC" : "");
		snprintf(select + strlen(select), sizeof select - strlen(select), "%s, ", name);
	}
	*ret_ordered = keys;
	snprintf(to, QUERY_MAX, "SELECT %s%s FROM @ AS x%s WHERE ", select, ends[end], pick(in, 4) == 3 ? ", k" : "");
	add(to, first[pick(in, 4)]);
	for (unsigned n = pick(in, 5); n; n--) {
		add_condition(in, to);
		add(to, pick(in, 6) == 5 ? " OR " : " AND ");
	}
	add(to, strstr(to, " = n") ? "EXISTS (SELECT 1 FROM k)" : "1");
	add(to, order);
	*ret_limited = pick(in, 3) == 2;
	if (*ret_limited) {
		const char *limits[] = {" LIMIT 3",
					" LIMIT 0",
					" LIMIT -1",
					" LIMIT 7 OFFSET 2",
					" LIMIT -1 OFFSET 18",
					" LIMIT 1 OFFSET -1",
					" LIMIT 9223372036854775807 OFFSET 5"};

		add(to, limits[pick(in, 7)]);
	}
}

struct result {
	int err;
	uint64_t count, in_order, all; /* hashes of what is in order, and of rows in any order */
};

HF_NO_COVERAGE static uint64_t mix(uint64_t hash, sqlite3_stmt *statement, int i)
{
	const char *text = (const char *)sqlite3_column_text(statement, i);

	hash = (hash ^ (uint64_t)sqlite3_column_type(statement, i)) * 0x100000001b3u;
	for (; text && *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
	return hash * 0x9e3779b97f4a7c15u ^ hash >> 29;
}

HF_NO_COVERAGE static struct result ask(const char *query, const char *from, unsigned ordered)
{
	struct result result = {.in_order = 1};
	char text[QUERY_MAX + 16];
	sqlite3_stmt *statement;

	snprintf(text, sizeof text, "%.*s%s%s", (int)strcspn(query, "@"), query, from, strchr(query, '@') + 1);
	result.err = sqlite3_prepare_v2(client.db, text, -1, &statement, NULL);
	while (!result.err && (result.err = sqlite3_step(statement)) == SQLITE_ROW) {
		uint64_t row = 1;

		result.err = 0;
		result.count++;
		for (int i = 0; i < sqlite3_column_count(statement); i++) {
			row = mix(row, statement, i);
			if (i < (int)ordered)
				result.in_order = mix(result.in_order, statement, i);
		}
		result.all += row;
	}
	sqlite3_finalize(statement);
	return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct input in = {bytes, bytes + n};
	char query[QUERY_MAX];
	struct result ours, plain;
	unsigned ordered;
	bool limited;

	if (!client.db)
		set_up();
	if (n > 100)
		return 0;
	client.alone = pick(&in, 3) == 2;
	refused = false;
	make_query(&in, query, &ordered, &limited);
	ours = ask(query, "t", ordered);
	plain = ask(query, client.alone ? "alone" : "p", ordered);
	for (unsigned i = 0; i < CURSORS; i++)
		MUST(!cursors[i].open);
	if (ours.err != SQLITE_DONE && (refused || ours.err == plain.err))
		return 0;
	if (ours.err != plain.err || ours.count != plain.count || ours.in_order != plain.in_order ||
	    (!limited && ours.all != plain.all))
		fprintf(stderr, "alone %d, of a table %d, %lu rows, ours %d, %lu rows: %s\n%s\n", client.alone,
			plain.err, plain.count, ours.err, ours.count, query, sqlite3_errmsg(client.db));
	MUST(ours.err == plain.err && ours.count == plain.count && ours.in_order == plain.in_order);
	MUST(limited || ours.all == plain.all);
	return 0;
}
