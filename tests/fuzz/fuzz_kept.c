/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is kept of a summary in the making (index/summary/keep.h), as hostile input. The first byte: after so many events
 * the state is saved. The second byte: so many changes to its bytes follow, each a place (2 bytes) and a value. Then events
 * (tests/lib/fuzzevents.h), with a chunk for each 16.
 *
 * Without a change: who loads the state and goes on makes the same rows as who was never interrupted, and saves the same
 * bytes. With changes: an error, or a state with which one can go on, whatever it says then.
 */
#include "codecs/base/err.h"
#include "index/summary/call_write.h"
#include "index/summary/collector.h"
#include "tests/lib/fuzz.h"
#include "tests/lib/fuzzevents.h"

#include <string.h>

enum { EVENTS_MOST = 300, CHUNK = 16, CHANGE = 3, STATE_MOST = 1 << 17, CHUNKS_MOST = 64 };

struct maker {
	struct hf_run_cutter *cutter;
	struct hf_group_writer *groups;
	struct hf_run_table *table;
	struct hf_span_writer *writer;
	struct hf_call_writer *calls;
	struct hf_collector *collector;
	uint64_t insns, rows;
};

struct bytes {
	size_t n, at;
	uint8_t p[STATE_MOST];
};

/* ---- the parts, as the stage has them ---- */

static int add_row(void *ctx, const struct hf_table *table, uint64_t number, const void *row)
{
	static uint8_t bytes[sizeof(struct hf_summary_section) + 256];
	uint64_t *hash = ctx;
	const size_t n = hf_row_size(table, row);

	MUST(n <= sizeof bytes);
	hf_row_save(table, row, bytes);
	*hash = (*hash ^ number ^ (uint64_t)table->id << 60) * UINT64_C(0x9e3779b97f4a7c15);
	for (size_t i = 0; i < n; i++)
		*hash = (*hash ^ bytes[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return 0;
}

static int put_run(void *ctx, const struct hf_run *run)
{
	struct maker *m = ctx;
	int err = hf_run_table_put(m->table, run);

	m->insns += run->insns;
	if (err != HF_ERR_LIMIT)
		return err;
	err = hf_span_writer_put(m->writer, m->table);
	return err ? err : hf_run_table_put(m->table, run);
}

static void maker_begin(struct maker *m)
{
	static const struct hf_run_table_room room = {
		.runs = 9, .code = HF_RUN_BYTES, .sets = 12, .attempts = 6, .rare = 8, .keys = 4};
	static const struct hf_call_room call_room = {.nodes = 8, .depth = 3, .frames = 40};

	*m = (struct maker){0};
	MUST(hf_run_cutter_new(put_run, m, &m->cutter) == 0);
	MUST(hf_group_writer_new(add_row, &m->rows, &m->groups) == 0);
	MUST(hf_run_table_new(&room, m->groups, &m->table) == 0);
	MUST(hf_collector_new(&room, m->groups, &m->collector) == 0);
	MUST(hf_span_writer_new(add_row, &m->rows, &m->writer) == 0);
	MUST(hf_call_writer_new(&call_room, add_row, &m->rows, &m->calls) == 0);
	hf_run_cutter_watch(m->cutter, &hf_call_writer_calls(m->calls)->watch);
}

static void maker_end(struct maker *m)
{
	hf_run_cutter_free(m->cutter);
	hf_run_table_free(m->table);
	hf_span_writer_free(m->writer);
	hf_call_writer_free(m->calls);
	hf_collector_free(m->collector);
	hf_group_writer_free(m->groups);
}

static void keep_all(struct maker *m, struct hf_keep *k)
{
	HF_KEEP(k, m->insns, INT64_MAX);
	hf_run_cutter_keep(m->cutter, k);
	hf_run_table_keep(m->table, k);
	hf_span_writer_keep(m->writer, k);
	hf_call_writer_keep(m->calls, CHUNKS_MOST, k);
	hf_collector_keep(m->collector, k);
}

/* Events first to n of the hart, with its end or not. What was loaded may be too much for the tables of a summary. */
static int feed(struct maker *m, const struct hf_event *ev, size_t first, size_t n, bool whole)
{
	struct hf_summary_hart hart = {0};
	int err = 0;

	for (size_t at = first; at < n && !err; at++) {
		err = hf_run_cutter_put(m->cutter, ev + at, 1);
		if (!err)
			err = hf_collector_put(m->collector, ev + at, 1);
		if (!err && (at + 1) % CHUNK == 0) {
			err = hf_run_cutter_cut(m->cutter);
			if (!err)
				err = hf_run_table_cut(m->table);
			hf_collector_cut(m->collector);
			hf_calls_next_chunk(hf_call_writer_calls(m->calls));
		}
	}
	if (err || !whole)
		return err;
	if ((err = hf_run_cutter_cut(m->cutter)) || (err = hf_run_table_cut(m->table)) ||
	    (err = hf_span_writer_put(m->writer, m->table)) || (err = hf_run_table_end(m->table)) ||
	    (err = hf_span_writer_end(m->writer, m->cutter, &hart)) || (err = hf_call_writer_end(m->calls, m->insns)))
		return err;
	hf_collector_cut(m->collector);
	return hf_collector_end(m->collector);
}

/* ---- to memory and back ---- */

static int move_out(void *ctx, uint8_t *p, size_t n, size_t *ret_n)
{
	struct bytes *to = ctx;

	*ret_n = n;
	if (n > sizeof to->p - to->n)
		return HF_ERR_LIMIT;
	memcpy(to->p + to->n, p, n);
	to->n += n;
	return 0;
}

static int move_in(void *ctx, uint8_t *p, size_t n, size_t *ret_n)
{
	struct bytes *from = ctx;

	*ret_n = n < from->n - from->at ? n : from->n - from->at;
	memcpy(p, from->p + from->at, *ret_n);
	from->at += *ret_n;
	return 0;
}

static int keep(struct maker *m, bool load, struct bytes *bytes)
{
	static struct hf_keep k;

	bytes->n = load ? bytes->n : 0;
	bytes->at = 0;
	hf_keep_begin(&k, load, load ? move_in : move_out, bytes);
	keep_all(m, &k);
	return hf_keep_end(&k);
}

/* ---- what must hold ---- */

static void try_same(struct bytes *state, const struct hf_event *ev, size_t first, size_t n, uint64_t rows)
{
	static struct bytes again;
	struct maker whole, m;

	maker_begin(&whole);
	MUST(feed(&whole, ev, 0, n, true) == 0);
	maker_begin(&m);
	MUST(keep(&m, true, state) == 0);
	MUST(keep(&m, false, &again) == 0);
	MUST(again.n == state->n && memcmp(again.p, state->p, again.n) == 0);
	m.rows = rows;
	MUST(feed(&m, ev, first, n, true) == 0);
	MUST(m.rows == whole.rows && m.insns == whole.insns);
	maker_end(&m);
	maker_end(&whole);
}

static void try_changed(struct bytes *state, const struct hf_event *ev, size_t first, size_t n)
{
	struct maker m;
	int err;

	maker_begin(&m);
	err = keep(&m, true, state);
	MUST(err == 0 || err == HF_ERR_STATE);
	if (!err)
		err = feed(&m, ev, first, n, true);
	MUST(err == 0 || err == HF_ERR_STATE || err == HF_ERR_LIMIT);
	maker_end(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct hf_event ev[EVENTS_MOST];
	static struct bytes state;
	size_t n = 0, first, changes;
	uint64_t pc = 0x100, rows;
	const uint8_t *change;
	struct maker m;

	if (size < 2 || size < 2 + (size_t)CHANGE * data[1])
		return 0;
	changes = data[1];
	change = data + 2;
	for (const uint8_t *p = change + CHANGE * changes;
	     n < EVENTS_MOST && (size_t)(data + size - p) >= HF_FUZZ_EVENT_BYTES; p += HF_FUZZ_EVENT_BYTES)
		ev[n++] = hf_fuzz_event(p, &pc);
	first = data[0] < n ? data[0] : n;
	maker_begin(&m);
	MUST(feed(&m, ev, 0, first, false) == 0);
	rows = m.rows;
	MUST(keep(&m, false, &state) == 0);
	maker_end(&m);
	if (!changes)
		try_same(&state, ev, first, n, rows);
	for (size_t i = 0; i < changes; i++, change += CHANGE)
		state.p[(change[0] | change[1] << 8) % state.n] = change[2];
	if (changes)
		try_changed(&state, ev, first, n);
	return 0;
}
