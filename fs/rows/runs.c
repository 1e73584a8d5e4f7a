/* SPDX-License-Identifier: Apache-2.0 */
/* run: straight pieces of code, as the summary has them. */
#include "codecs/base/array.h"
#include "fs/rows/summed.h"

#include <stdlib.h>
#include <string.h>

/* Rows of the table, of a hart, at most; 56 bytes each. */
#define RUNS_MOST (1u << 19)

enum {
	FIRST = HF_AT_FIRST,
	LAST,
	INSTRUCTIONS,
	COUNT,
	CHUNKS,
	MODE,
	ENTERED,
	ENDED,
	CONTEXT,
	SYMBOL,
	OFFSET,
	FILE_NAME,
	LINE
};

static const struct hf_column columns[] = {
	HF_HART_COLUMNS,
	[FIRST] = {"first", HF_COLUMN_ASKED},
	[LAST] = {"last", HF_COLUMN_ASKED},
	[INSTRUCTIONS] = {"instructions", HF_COLUMN_ASKED},
	[COUNT] = {"count", HF_COLUMN_ASKED},
	[CHUNKS] = {"chunks", HF_COLUMN_ASKED},
	[MODE] = {"mode", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[ENTERED] = {"entered", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[ENDED] = {"ended", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[CONTEXT] = {"context", HF_COLUMN_ASKED},
	[SYMBOL] = {"symbol", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[OFFSET] = {"offset", HF_COLUMN_ASKED},
	[FILE_NAME] = {"file", HF_COLUMN_TEXT | HF_COLUMN_ASKED},
	[LINE] = {"line", HF_COLUMN_ASKED},
};

struct run {
	struct hf_run_key key;
	uint64_t hash, count, chunks;
	uint32_t insns;
};

struct runs {
	struct run *run;
	size_t n, room;
};

static int add_run(void *ctx, const struct hf_summary_run *from)
{
	struct runs *runs = ctx;
	int err = runs->n < RUNS_MOST ? hf_array_reserve(&runs->run, runs->n + 1, &runs->room, sizeof *runs->run)
				      : HF_ERR_LIMIT;

	if (!err)
		runs->run[runs->n++] = (struct run){.key = from->run.key,
						    .hash = from->run.hash,
						    .count = from->count,
						    .chunks = from->chunks,
						    .insns = from->run.insns};
	return err;
}

static int by_key(const void *a, const void *b)
{
	const struct run *x = a, *y = b;
	const uint64_t xs[] = {x->key.first, x->key.last,    x->key.context, x->key.mode,
			       x->key.isa,   x->key.entered, x->key.ended,   x->hash};
	const uint64_t ys[] = {y->key.first, y->key.last,    y->key.context, y->key.mode,
			       y->key.isa,   y->key.entered, y->key.ended,   y->hash};

	for (size_t i = 0; i < sizeof xs / sizeof xs[0]; i++)
		if (xs[i] != ys[i])
			return xs[i] < ys[i] ? -1 : 1;
	return 0;
}

/* The same run may come once for each span of the hart. */
static void merge(struct runs *runs)
{
	size_t kept = 0;

	if (runs->n)
		qsort(runs->run, runs->n, sizeof *runs->run, by_key);
	for (size_t i = 0; i < runs->n; i++) {
		if (kept && by_key(&runs->run[kept - 1], &runs->run[i]) == 0) {
			runs->run[kept - 1].count += runs->run[i].count;
			runs->run[kept - 1].chunks += runs->run[i].chunks;
		} else {
			runs->run[kept++] = runs->run[i];
		}
	}
	runs->n = kept;
}

static int begin(struct hf_rows *rows, void **ret_own, size_t *ret_count)
{
	struct hf_summary *summary = hf_rows_hart_summary(rows->hart);
	struct runs runs = {0};
	int err;

	if (!summary)
		return hf_rows_fail(rows, HF_ERR_UNSUPPORTED,
				    "%s: hart %u has no summary, which alone has runs: it was not wanted, or the hart has "
				    "but one chunk, or the capture is smaller than --pack-below",
				    rows->path, rows->hart->info.id);
	err = hf_summary_runs(summary, rows->hart->info.id, 0, UINT64_MAX, add_run, &runs);
	if (err == HF_ERR_LIMIT)
		hf_rows_fail(rows, err, "%s: hart %u has more than %u runs", rows->path, rows->hart->info.id, RUNS_MOST);
	if (err == HF_ERR_STATE)
		hf_rows_hart_drop_index(rows->hart);
	if (err) {
		free(runs.run);
		return err;
	}
	merge(&runs);
	*ret_own = runs.run;
	*ret_count = runs.n;
	return 0;
}

static void put(const struct hf_rows *rows, void *own, size_t i, struct hf_row *row)
{
	static const char *const entered[HF_ENTERED_COUNT] = {"sequence", "jump", "call", "return", "trap", "other"};
	static const char *const ended[HF_ENDED_COUNT] = {"taken", "trap", "limit", "loss", "change"};
	const struct run *run = (const struct run *)own + i;

	hf_row_number(rows, row, FIRST, run->key.first);
	hf_row_number(rows, row, LAST, run->key.last);
	hf_row_number(rows, row, INSTRUCTIONS, run->insns);
	hf_row_number(rows, row, COUNT, run->count);
	hf_row_number(rows, row, CHUNKS, run->chunks);
	hf_row_mode(rows, row, MODE, run->key.mode);
	hf_row_word(rows, row, ENTERED, run->key.entered < HF_ENTERED_COUNT ? entered[run->key.entered] : "?");
	hf_row_word(rows, row, ENDED, run->key.ended < HF_ENDED_COUNT ? ended[run->key.ended] : "?");
	hf_row_number(rows, row, CONTEXT, run->key.context);
	hf_row_place(rows, row, SYMBOL, run->key.first);
}

static const struct hf_rows_list how = {.begin = begin, .put = put};

HF_LIST_TABLE(run, HF_TABLE_HART | HF_TABLE_SUMMED, columns, how);
