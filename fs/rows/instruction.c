/* SPDX-License-Identifier: Apache-2.0 */
/* instruction: those that retired. */
#include "fs/profile/texts.h"
#include "fs/rows/events.h"

#include <string.h>

enum {
	MODE = HF_AT_ORDINAL + 1,
	PC,
	OPCODE,
	SIZE,
	MNEMONIC,
	TEXT,
	SYMBOL,
	OFFSET,
	FILE_NAME,
	LINE,
	FLOW,
	TAKEN,
	TARGET,
	DOUBT,
	COLUMNS
};

static const struct hf_column columns[] = {
	HF_HART_COLUMNS,
	HF_ORDINAL_COLUMN,
	[MODE] = {"mode", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[PC] = {"pc", HF_COLUMN_ASKED | HF_COLUMN_LISTED | HF_COLUMN_AMONG},
	[OPCODE] = {"opcode", HF_COLUMN_ASKED | HF_COLUMN_LISTED},
	[SIZE] = {"size", 0},
	[MNEMONIC] = {"mnemonic", HF_COLUMN_TEXT | HF_COLUMN_ASKED | HF_COLUMN_LISTED},
	[TEXT] = {"text", HF_COLUMN_TEXT},
	[SYMBOL] = {"symbol", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[OFFSET] = {"offset", HF_COLUMN_ASKED | HF_COLUMN_AMONG},
	[FILE_NAME] = {"file", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[LINE] = {"line", HF_COLUMN_ASKED | HF_COLUMN_AMONG},
	[FLOW] = {"flow", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[TAKEN] = {"taken", HF_COLUMN_ASKED},
	[TARGET] = {"target", HF_COLUMN_ASKED | HF_COLUMN_AMONG},
	[DOUBT] = {"doubt", 0},
};

static void put_doubt(const struct hf_rows *rows, const struct hf_rows_at *at, struct hf_row *row)
{
	uint64_t doubt;

	if (!hf_row_wants(rows, DOUBT))
		return;
	doubt = hf_index_doubt(rows->hart->open->index, rows->hart->info.id, at->ordinal);
	if (doubt != HF_NOWHERE)
		hf_row_number(rows, row, DOUBT, doubt);
}

static bool put(const struct hf_rows *rows, const struct hf_rows_at *at, struct hf_row *row)
{
	const struct hf_ev_insn *insn = &at->ev->insn;
	const bool taken = at->ev->flags & HF_EVF_TAKEN;

	hf_row_number(rows, row, PC, insn->pc);
	hf_row_number(rows, row, OPCODE, insn->opcode);
	if (!hf_row_is_asked(rows, row, PC) || !hf_row_is_asked(rows, row, OPCODE))
		return false;
	hf_row_mode(rows, row, MODE, insn->mode);
	hf_row_number(rows, row, SIZE, insn->size);
	hf_row_word(rows, row, FLOW, hf_profile_flow_name(insn->flow));
	hf_row_code(rows, row, MNEMONIC, insn->opcode, insn->size, insn->isa);
	hf_row_place(rows, row, SYMBOL, insn->pc);
	if (taken)
		hf_row_number(rows, row, TARGET, insn->target);
	if (taken || hf_event_is_not_taken(at->ev))
		hf_row_number(rows, row, TAKEN, taken);
	put_doubt(rows, at, row);
	return true;
}

/* The symbols of a capture are what listings name; a list knows the places of one. */
static void ask(const struct hf_rows *rows, struct hf_question *question)
{
	const char *mnemonic = rows->ask->equal[MNEMONIC];
	int64_t first, last;

	hf_rows_range(rows, OPCODE, &first, &last);
	hf_rows_ask_range(rows, PC, HF_ASK_PC, question);
	if (first == last && first >= 0 && first <= UINT32_MAX)
		question->term[question->count++] =
			(struct hf_find_term){.kind = HF_ASK_OPCODE, .opcode = (uint32_t)first, .mask = UINT32_MAX};
	if (mnemonic)
		question->term[question->count++] =
			(struct hf_find_term){.kind = HF_ASK_MNEMONIC, .text = (char *)mnemonic};
	if (rows->ask->range[TAKEN].first == 1 && rows->ask->ranged >> TAKEN & 1)
		question->term[question->count++] = (struct hf_find_term){.kind = HF_ASK_TAKEN};
}

static const struct hf_rows_events how = {.kinds = 1u << HF_EVENT_INSN, .put = put, .ask = ask};

HF_EVENT_TABLE(instruction, 0, columns, how);
