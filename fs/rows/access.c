/* SPDX-License-Identifier: Apache-2.0 */
/* access: accesses to memory by instructions that retired. register: registers that they read and wrote. */
#include "codecs/listing/listing.h"
#include "fs/rows/events.h"

#include <string.h>

/* ---- access ---- */

enum { KIND = HF_AT_ORDINAL + 1, ADDRESS, SIZE, DATA, TAG, TOUCHES };

static const struct hf_column access_columns[] = {
	HF_HART_COLUMNS,
	HF_ORDINAL_COLUMN,
	[KIND] = {"kind", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[ADDRESS] = {"address", HF_COLUMN_ASKED | HF_COLUMN_LISTED | HF_COLUMN_AMONG},
	[SIZE] = {"size", HF_COLUMN_ASKED | HF_COLUMN_AMONG},
	[DATA] = {"data", HF_COLUMN_ANY},
	[TAG] = {"tag", HF_COLUMN_ASKED},
	[TOUCHES] = {"touches", HF_COLUMN_HIDDEN | HF_COLUMN_ASKED | HF_COLUMN_LISTED},
};

/* The first byte of the access in the range that is asked for; NULL if there is none. */
static void put_touches(const struct hf_rows *rows, const struct hf_ev_mem *mem, struct hf_row *row)
{
	const uint64_t last = mem->address + (mem->size ? mem->size - 1 : 0);
	int64_t low, high;
	uint64_t at;

	hf_rows_range(rows, TOUCHES, &low, &high);
	at = mem->address;
	/* An access that reaches from the lower half into the upper one, or around, has bytes on both sides. */
	if ((int64_t)at < low || (int64_t)at > high)
		at = (uint64_t)low;
	if (at - mem->address <= last - mem->address)
		hf_row_number(rows, row, TOUCHES, at);
}

static bool put_access(const struct hf_rows *rows, const struct hf_rows_at *at, struct hf_row *row)
{
	static const char *const kinds[] = {"?", "R", "W", "RW"};
	const struct hf_ev_mem *mem = &at->ev->mem;

	if (at->attempted)
		return false;
	hf_row_word(rows, row, KIND, kinds[at->ev->flags & (HF_EVF_READ | HF_EVF_WRITE)]);
	hf_row_number(rows, row, SIZE, mem->size);
	if (mem->tag)
		hf_row_number(rows, row, TAG, mem->tag);
	if (!(at->ev->flags & HF_EVF_NO_ADDRESS)) {
		hf_row_number(rows, row, ADDRESS, mem->address);
		if (rows->ask->ranged >> TOUCHES & 1)
			put_touches(rows, mem, row);
	}
	if (at->ev->words)
		hf_row_value(rows, row, DATA, at, mem->data, at->ev->words - 1u);
	return true;
}

/* An access that begins in a range touches it. */
static void ask_access(const struct hf_rows *rows, struct hf_question *question)
{
	const char *kind = rows->ask->equal[KIND];
	const enum hf_question_kind asked = kind && *kind == 'W'		     ? HF_ASK_WRITE
					    : kind && strcmp(kind, "R") == 0 ? HF_ASK_READ
									       : HF_ASK_ACCESS;

	hf_rows_ask_range(rows, rows->ask->ranged >> TOUCHES & 1 ? TOUCHES : ADDRESS, asked, question);
}

static const struct hf_rows_events access_how = {
	.kinds = 1u << HF_EVENT_MEM, .put = put_access, .ask = ask_access};

HF_EVENT_TABLE(access, 0, access_columns, access_how);

/* ---- register ---- */

enum { NAME = HF_AT_ORDINAL + 1, ROLE, VALUE };

static const struct hf_column register_columns[] = {
	HF_HART_COLUMNS,
	HF_ORDINAL_COLUMN,
	[NAME] = {"name", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[ROLE] = {"role", HF_COLUMN_TEXT | HF_COLUMN_ASKED | HF_COLUMN_LISTED},
	[VALUE] = {"value", HF_COLUMN_ANY},
};

static bool put_register(const struct hf_rows *rows, const struct hf_rows_at *at, struct hf_row *row)
{
	static const char *const roles[HF_REG_ROLE_COUNT] = {"?", "known", "read", "written"};
	const struct hf_ev_reg *reg = &at->ev->reg;
	uint8_t name[64];

	if (at->attempted || reg->class == HF_REG_ZA_INDEX)
		return false;
	if (hf_row_wants(rows, NAME))
		hf_row_copy(rows, row, NAME, (char *)name,
			    (size_t)(hf_listing_put_register_name(name, at->ev) - name));
	hf_row_word(rows, row, ROLE, roles[reg->role < HF_REG_ROLE_COUNT ? reg->role : 0]);
	hf_row_value(rows, row, VALUE, at, reg->value, at->ev->size);
	return true;
}

/* What is kept of registers are those that were written. */
static void ask_register(const struct hf_rows *rows, struct hf_question *question)
{
	const char *role = rows->ask->equal[ROLE];

	if (role && strcmp(role, "written") == 0)
		question->term[question->count++] =
			(struct hf_find_term){.kind = HF_ASK_REGISTER, .text = (char *)rows->ask->equal[NAME]};
}

static const struct hf_rows_events register_how = {
	.kinds = 1u << HF_EVENT_REG, .put = put_register, .ask = ask_register};

HF_EVENT_TABLE(register, 0, register_columns, register_how);
