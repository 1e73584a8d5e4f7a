/* SPDX-License-Identifier: Apache-2.0 */
/* stack: in which calls an instruction was executed. */
#include "fs/rows/summed.h"

#include "index/answer/stack.h"

#include <stdlib.h>

enum { ORDINAL = HF_AT_FIRST, LEVEL, KIND, ADDRESS, PC, SYMBOL, OFFSET, FILE_NAME, LINE };

static const struct hf_column columns[] = {
	HF_HART_COLUMNS,
	[ORDINAL] = {"ordinal", HF_COLUMN_HIDDEN | HF_COLUMN_ASKED | HF_COLUMN_ORDER | HF_COLUMN_NEEDED},
	[LEVEL] = {"level", HF_COLUMN_ASKED},
	[KIND] = {"kind", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[ADDRESS] = {"address", HF_COLUMN_ASKED},
	[PC] = {"pc", HF_COLUMN_ASKED},
	[SYMBOL] = {"symbol", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[OFFSET] = {"offset", HF_COLUMN_ASKED},
	[FILE_NAME] = {"file", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[LINE] = {"line", HF_COLUMN_ASKED},
};

static bool go_on(void *ctx, uint64_t chunk)
{
	(void)chunk;
	return !hf_rows_are_stopped(ctx);
}

static int read_stack(struct hf_rows *rows, uint64_t ordinal, struct hf_stack *stack)
{
	struct hf_rows_hart *hart = rows->hart;
	struct hf_stacks *stacks;
	int err = hf_stacks_new(&hart->cursor, hf_rows_hart_summary(hart), &stacks);

	if (err)
		return err;
	err = hf_stacks_at(stacks, ordinal, go_on, rows, stack);
	hf_stacks_free(stacks);
	if (err == HF_ERR_STATE && hart->summary) {
		hf_rows_hart_drop_index(hart);
		return read_stack(rows, ordinal, stack);
	}
	return err;
}

static int begin(struct hf_rows *rows, void **ret_own, size_t *ret_count)
{
	struct hf_stack *stack;
	int64_t first, last;
	int err;

	hf_rows_range(rows, ORDINAL, &first, &last);
	if (first != last)
		return hf_rows_fail(rows, HF_ERR_UNSUPPORTED, "at which instruction? FROM stack('boot/run.stf', 0, 1000)");
	*ret_own = NULL;
	*ret_count = 0;
	if (first < 0 || (uint64_t)first >= rows->hart->info.insns)
		return 0;
	stack = malloc(sizeof *stack);
	err = stack ? read_stack(rows, (uint64_t)first, stack) : HF_ERR_NOMEM;
	if (err) {
		free(stack);
		return err;
	}
	*ret_own = stack;
	*ret_count = stack->count;
	return 0;
}

static void put(const struct hf_rows *rows, void *own, size_t i, struct hf_row *row)
{
	static const char *const kinds[HF_CALL_KINDS] = {"?", "root", "function", "trap", "interrupt"};
	const struct hf_stack_frame *frame = &((const struct hf_stack *)own)->frame[i];

	hf_row_number(rows, row, ORDINAL, (uint64_t)rows->ask->range[ORDINAL].first);
	hf_row_number(rows, row, LEVEL, i);
	hf_row_word(rows, row, KIND, kinds[frame->kind]);
	if (frame->function != HF_CALL_UNKNOWN && frame->kind != HF_CALL_BEYOND)
		hf_row_number(rows, row, ADDRESS, frame->function);
	if (!frame->has_pc)
		return;
	hf_row_number(rows, row, PC, frame->pc);
	hf_row_place(rows, row, SYMBOL, frame->pc);
}

static const struct hf_rows_list how = {.begin = begin, .put = put};

HF_LIST_TABLE(stack, HF_TABLE_HART, columns, how);
