/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any rows of the tables time and merge of a view: the runs that come out are within the harts' views, in order, and each
 * byte of them is in at most one; or the tables are refused. Going on from any place gives no others than that place
 * promises.
 *
 * The input is rows: u8 table and hart; u8 chunk; u8 number; u8 size, s; u64 of the table's numbers; bytes[s].
 */
#include "index/read/merge.h"
#include "index/read/times.h"
#include "index/store/memdir.h"
#include "index/store/store.h"
#include "tests/lib/fuzz.h"

#include <string.h>

enum { HARTS = 4, HEAD = 12, ROWS_BYTES = 2048, RUNS_MAX = 1 << 16 };
static const uint64_t sizes[HARTS] = {4096, 0, 1 << 20, HF_COUNT_MAX / 8};

static void put_row(struct hf_store *store, const uint8_t *p, size_t n)
{
	static struct hf_view_times times;
	static struct hf_view_merge place;
	const uint64_t slot = p[0] >> 1 & 3;
	uint64_t number;

	memcpy(&number, p + 4, sizeof number);
	number &= HF_COUNT_MAX;
	if (p[0] & 1) {
		place = (struct hf_view_merge){.last = p[1] % (HARTS + 1), .n = (uint32_t)n};
		memcpy(place.data, p + HEAD, n);
		MUST(!hf_store_put(store, &hf_table_view_merge, number, &place));
		return;
	}
	times = (struct hf_view_times){.offset = p[0] & 8 ? number : p[1],
				       .before = p[0] & 16 ? number : 0,
				       .known = p[0] & 32,
				       .behind = p[0] & 64,
				       .n = (uint32_t)n};
	memcpy(times.data, p + HEAD, n);
	MUST(!hf_store_put(store, &hf_table_view_time, hf_times_key(hf_row_id(slot, p[1]), p[2] & 63), &times));
}

static void read_runs(struct hf_merge *merge)
{
	uint64_t at[HARTS] = {0}, end = 0;
	struct hf_merge_run run;
	int err = 0;

	for (unsigned i = 0; i < RUNS_MAX && !err; i++) {
		err = hf_merge_next(merge, &run);
		if (err)
			break;
		MUST(run.hart < HARTS && run.from < run.to && run.to <= sizes[run.hart]);
		MUST(run.from >= at[run.hart] && (!i || run.offset == end));
		MUST(run.head_size < sizeof run.head);
		at[run.hart] = run.to;
		end = run.offset + run.head_size + (run.to - run.from);
	}
	MUST(!err || err == HF_NOTE_END || err == HF_ERR_STATE);
}

static void read_all(struct hf_store *store, const struct hf_view_hart *harts)
{
	static const uint64_t from[] = {0, 1, 255, 1 << 16, HF_COUNT_MAX};
	struct hf_merge *merge;
	uint64_t size;
	int err = hf_merge_size(store, &size);

	MUST(!err || err == HF_ERR_STATE);
	for (size_t i = 0; i <= sizeof from / sizeof *from; i++) {
		MUST(!hf_merge_new(store, NULL, harts, HARTS, &merge));
		err = i ? hf_merge_seek(merge, from[i - 1]) : 0;
		MUST(!err || err == HF_ERR_STATE);
		if (!err)
			read_runs(merge);
		hf_merge_free(merge);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct hf_view_hart harts[HARTS];
	struct hf_store_dir dir = {.fd = -1, .into = HF_INTO_MEMORY};
	struct hf_store *store;
	struct hf_part part;
	int err;

	if (n > ROWS_BYTES)
		return 0;
	MUST(!hf_memdir_new(-1, UINT64_MAX, &dir.memory));
	MUST(!hf_part_open(&dir, "0.listing.hfv", &part));
	MUST(!hf_store_open_part(&part, HF_DB_VIEW, &store));
	for (uint32_t i = 0; i < HARTS; i++) {
		harts[i] = (struct hf_view_hart){.slot = i, .id = i, .size = sizes[i], .chunks = 256};
		MUST(!hf_store_put(store, &hf_table_view_hart, i, &harts[i]));
	}
	for (size_t size; n >= HEAD && (size = data[3]) <= n - HEAD; data += HEAD + size, n -= HEAD + size)
		put_row(store, data, size);
	read_all(store, harts);
	/* And with the places that belong to these times. */
	err = hf_merge_write(store);
	MUST(!err || err == HF_ERR_STATE);
	if (!err)
		read_all(store, harts);
	hf_store_close(store);
	hf_part_close(&part);
	hf_memdir_free(dir.memory);
	return 0;
}
