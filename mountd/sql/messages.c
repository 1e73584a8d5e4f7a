/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/sql/messages.h"

#include <string.h>

/* ---- requests ---- */

int64_t hf_request_among(const struct hf_request *request, unsigned column, uint32_t i)
{
	struct hf_in in = {request->among[column].numbers + 8 * (size_t)i, request->among[column].numbers + 8 * (size_t)i + 8,
			   false};

	return (int64_t)hf_in_u64(&in);
}

static void write_conditions(struct hf_out *out, const struct hf_request *request, unsigned column)
{
	if (request->ranged >> column & 1) {
		hf_out_u32(out, column);
		hf_out_u32(out, HF_COND_RANGE);
		hf_out_u64(out, (uint64_t)request->range[column].first);
		hf_out_u64(out, (uint64_t)request->range[column].last);
	}
	if (request->among[column].numbers) {
		hf_out_u32(out, column);
		hf_out_u32(out, HF_COND_AMONG);
		hf_out_u32(out, request->among[column].count);
		hf_out_bytes(out, request->among[column].numbers, 8 * (size_t)request->among[column].count);
	}
	if (request->equal[column]) {
		hf_out_u32(out, column);
		hf_out_u32(out, HF_COND_EQUAL);
		hf_out_text(out, request->equal[column], strlen(request->equal[column]));
	}
}

static void write_open(struct hf_out *out, const struct hf_request *request)
{
	uint32_t count = 0;

	for (unsigned i = 0; i < HF_PROTOCOL_COLUMNS; i++)
		count += (request->ranged >> i & 1) + (request->equal[i] != NULL) + (request->among[i].numbers != NULL);
	hf_out_u32(out, request->table);
	hf_out_u32(out, request->columns);
	hf_out_u32(out, request->flags);
	hf_out_u32(out, request->rows);
	hf_out_u32(out, count);
	for (unsigned i = 0; i < HF_PROTOCOL_COLUMNS; i++)
		write_conditions(out, request, i);
}

void hf_request_write(struct hf_out *out, const struct hf_request *request)
{
	hf_out_begin(out, request->message);
	if (request->message == HF_MESSAGE_OPEN)
		write_open(out, request);
	if (request->message == HF_MESSAGE_NEXT || request->message == HF_MESSAGE_CLOSE)
		hf_out_u32(out, request->cursor);
	if (request->message == HF_MESSAGE_NEXT)
		hf_out_u32(out, request->rows);
}

static void read_among(struct hf_in *in, struct hf_request *request, unsigned column)
{
	const uint32_t count = hf_in_u32(in);

	in->bad |= !count || count > HF_PROTOCOL_AMONG;
	request->among[column].count = count;
	request->among[column].numbers = in->bad ? NULL : hf_in_bytes(in, 8 * (size_t)count);
}

static void read_condition(struct hf_in *in, struct hf_request *request)
{
	const uint32_t column = hf_in_u32(in), kind = hf_in_u32(in);
	size_t size;

	if (in->bad || column >= HF_PROTOCOL_COLUMNS) {
		in->bad = true;
	} else if (kind == HF_COND_RANGE && !(request->ranged >> column & 1)) {
		request->ranged |= 1u << column;
		request->range[column].first = (int64_t)hf_in_u64(in);
		request->range[column].last = (int64_t)hf_in_u64(in);
	} else if (kind == HF_COND_EQUAL && !request->equal[column]) {
		request->equal[column] = hf_in_text(in, &size);
	} else if (kind == HF_COND_AMONG && !request->among[column].numbers) {
		read_among(in, request, column);
	} else {
		in->bad = true;
	}
}

static void read_open(struct hf_in *in, struct hf_request *request)
{
	uint32_t count;

	request->table = hf_in_u32(in);
	request->columns = hf_in_u32(in);
	request->flags = hf_in_u32(in);
	request->rows = hf_in_u32(in);
	count = hf_in_u32(in);
	in->bad |= request->columns >> HF_PROTOCOL_COLUMNS || request->flags & ~HF_OPEN_FLAGS ||
		   count > 3 * HF_PROTOCOL_COLUMNS;
	for (uint32_t i = 0; i < count && !in->bad; i++)
		read_condition(in, request);
}

bool hf_request_read(uint32_t message, const uint8_t *bytes, size_t size, struct hf_request *ret_request)
{
	struct hf_in in = {bytes, bytes + size, false};
	struct hf_request *request = ret_request;

	*request = (struct hf_request){.message = (enum hf_message)message, .rows = 1};
	switch (message) {
	case HF_MESSAGE_OPEN:
		read_open(&in, request);
		break;
	case HF_MESSAGE_NEXT:
		request->cursor = hf_in_u32(&in);
		request->rows = hf_in_u32(&in);
		break;
	case HF_MESSAGE_CLOSE:
		request->cursor = hf_in_u32(&in);
		break;
	case HF_MESSAGE_CANCEL:
		break;
	default:
		in.bad = true;
	}
	return hf_in_ends(&in) && request->rows && request->rows <= HF_PROTOCOL_ROWS;
}

/* ---- the schema ---- */

void hf_schema_begin(struct hf_out *out, uint32_t tables)
{
	hf_out_begin(out, HF_MESSAGE_HELLO);
	hf_out_u32(out, HF_PROTOCOL_MAGIC);
	hf_out_u32(out, HF_PROTOCOL_VERSION);
	hf_out_u32(out, tables);
}

void hf_schema_add_table(struct hf_out *out, const char *name, uint32_t flags, uint32_t columns)
{
	hf_out_text(out, name, strlen(name));
	hf_out_u32(out, flags);
	hf_out_u32(out, columns);
}

void hf_schema_add_column(struct hf_out *out, const char *name, uint32_t flags)
{
	hf_out_text(out, name, strlen(name));
	hf_out_u32(out, flags);
}

/* A name becomes a part of SQL. */
static const char *read_name(struct hf_in *in)
{
	size_t size;
	const char *name = hf_in_text(in, &size);

	in->bad |= !size || size > 32 || strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != size ||
		   (*name >= '0' && *name <= '9');
	return name;
}

static void read_table(struct hf_in *in, struct hf_schema_table *table)
{
	table->name = read_name(in);
	table->flags = hf_in_u32(in);
	table->count = hf_in_u32(in);
	in->bad |= !table->count || table->count > HF_PROTOCOL_COLUMNS;
	in->bad |= table->flags & HF_TAB_HART && table->count < 2;
	for (uint32_t i = 0; i < table->count && !in->bad; i++) {
		table->column[i].name = read_name(in);
		table->column[i].flags = hf_in_u32(in);
		for (uint32_t k = 0; k < i; k++)
			in->bad |= strcmp(table->column[k].name, table->column[i].name) == 0;
	}
}

bool hf_schema_read(const uint8_t *bytes, size_t size, struct hf_schema *ret_schema, uint32_t *ret_version)
{
	struct hf_in in = {bytes, bytes + size, false};
	struct hf_schema *schema = ret_schema;

	*ret_version = 0;
	schema->count = 0;
	if (hf_in_u32(&in) != HF_PROTOCOL_MAGIC)
		return false;
	*ret_version = hf_in_u32(&in);
	schema->count = hf_in_u32(&in);
	if (in.bad || *ret_version != HF_PROTOCOL_VERSION || !schema->count || schema->count > HF_PROTOCOL_TABLES)
		return false;
	for (uint32_t i = 0; i < schema->count && !in.bad; i++) {
		read_table(&in, &schema->table[i]);
		for (uint32_t k = 0; k < i; k++)
			in.bad |= strcmp(schema->table[k].name, schema->table[i].name) == 0;
	}
	return hf_in_ends(&in);
}

/* ---- rows ---- */

bool hf_answer_head(struct hf_in *in, struct hf_answer_head *ret_head)
{
	ret_head->cursor = hf_in_u32(in);
	ret_head->flags = hf_in_u32(in);
	ret_head->count = hf_in_u32(in);
	in->bad |= ret_head->flags & ~HF_ROWS_END || ret_head->count > HF_PROTOCOL_ROWS;
	/* One with no rows says that there will be some, or never. */
	return !in->bad;
}

static void read_cell(struct hf_in *in, struct hf_cell *cell)
{
	cell->type = hf_in_u8(in);
	switch (cell->type) {
	case HF_CELL_NULL:
		break;
	case HF_CELL_NUMBER:
		cell->number = (int64_t)hf_in_u64(in);
		break;
	case HF_CELL_TEXT:
		cell->text = hf_in_text(in, &cell->size);
		break;
	default:
		in->bad = true;
	}
}

bool hf_answer_row(struct hf_in *in, uint32_t columns, int64_t *ret_id, struct hf_cell cell[HF_PROTOCOL_COLUMNS])
{
	*ret_id = (int64_t)hf_in_u64(in);
	for (unsigned i = 0; i < HF_PROTOCOL_COLUMNS; i++) {
		cell[i].type = HF_CELL_NULL;
		if (columns >> i & 1)
			read_cell(in, &cell[i]);
	}
	return !in->bad;
}

/* ---- failures ---- */

void hf_failed_write(struct hf_out *out, uint32_t failure, const char *text)
{
	const size_t size = strlen(text);

	hf_out_begin(out, HF_MESSAGE_FAILED);
	hf_out_u32(out, failure);
	hf_out_text(out, text, size < 4096 ? size : 4096);
}

bool hf_failed_read(const uint8_t *bytes, size_t size, uint32_t *ret_failure, const char **ret_text)
{
	struct hf_in in = {bytes, bytes + size, false};
	size_t text_size;

	*ret_failure = hf_in_u32(&in);
	*ret_text = hf_in_text(&in, &text_size);
	return hf_in_ends(&in);
}
