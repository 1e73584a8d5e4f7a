/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows from which a summary goes on (index/summary/checkpoint.h), as hostile input. The first byte: so many changes to the
 * bytes of these rows follow, each which row, a place in it (2 bytes) and a value. Then events (tests/lib/fuzzevents.h), with a
 * chunk for each 16; a checkpoint is before the first instruction of the fifth.
 *
 * Without a change: who goes on from there makes the same rows as who was never interrupted. With changes: an error, or
 * makers that can go on, whatever they say then.
 */
#include "index/base/limits.h"
#include "index/summary/checkpoint.h"
#include "index/summary/summary_part.h"
#include "tests/lib/fuzz.h"
#include "tests/lib/fuzzevents.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EVENTS_MOST = 300, CHUNK = 16, CHANGE = 4, BEFORE = 4 };

struct maker {
	struct hf_summary_makers m; /* first */
	uint64_t insns, rows;
	struct hf_summary_part *part; /* where rows go; NULL: nowhere */
	const uint8_t *change;	      /* to them */
	unsigned changes, row;
};

static void change_row(struct maker *m, uint8_t *row, size_t n)
{
	for (unsigned i = 0; i < m->changes; i++) {
		const uint8_t *c = m->change + (size_t)i * CHANGE;

		if (c[0] == m->row)
			row[(c[1] << 8 | c[2]) % n] = c[3];
	}
	m->row++;
}

static int add_row(void *ctx, const struct hf_table *table, uint64_t number, const void *row)
{
	static uint8_t bytes[sizeof(struct hf_summary_section) + 256];
	static union {
		struct hf_summary_section section;
		struct hf_summary_page page;
		uint8_t bytes[1];
	} changed;
	struct maker *m = ctx;
	const size_t n = hf_row_size(table, row), used = hf_row_used(table, row);

	MUST(n <= sizeof bytes && used <= sizeof changed);
	hf_row_save(table, row, bytes);
	m->rows = (m->rows ^ number ^ (uint64_t)table->id << 60) * UINT64_C(0x9e3779b97f4a7c15);
	for (size_t i = 0; i < n; i++)
		m->rows = (m->rows ^ bytes[i]) * UINT64_C(0x9e3779b97f4a7c15);
	if (!m->part)
		return 0;
	memcpy(changed.bytes, row, used);
	change_row(m, changed.bytes, used);
	/* A blob that is longer than can be is a bug of who puts it. */
	if (hf_row_used(table, changed.bytes) != used)
		memcpy(changed.bytes, row, used);
	return hf_summary_part_put(m->part, table->id,
				   table->id == HF_TABLE_HART ? HF_SLOT_CHECKPOINT : hf_row_id(HF_SLOT_CHECKPOINT, number),
				   changed.bytes);
}

static int put_run(void *ctx, const struct hf_run *run)
{
	struct maker *m = ctx;
	int err = hf_run_table_put(m->m.table, run);

	m->insns += run->insns;
	if (err != HF_ERR_LIMIT)
		return err;
	err = hf_span_writer_put(m->m.spans, m->m.table);
	hf_run_table_reset(m->m.table);
	return err ? err : hf_run_table_put(m->m.table, run);
}

static void maker_begin(struct maker *m)
{
	static const struct hf_run_table_room room = {
		.runs = 9, .code = HF_RUN_BYTES, .sets = 12, .attempts = 6, .rare = 8, .keys = 4};
	static const struct hf_call_room call_room = {.nodes = 8, .depth = 3, .frames = 40};

	*m = (struct maker){0};
	MUST(hf_run_cutter_new(put_run, m, &m->m.cutter) == 0);
	MUST(hf_group_writer_new(add_row, m, &m->m.groups) == 0);
	MUST(hf_run_table_new(&room, m->m.groups, &m->m.table) == 0);
	MUST(hf_collector_new(&room, m->m.groups, &m->m.collector) == 0);
	MUST(hf_span_writer_new(add_row, m, &m->m.spans) == 0);
	MUST(hf_call_writer_new(&call_room, add_row, m, &m->m.calls) == 0);
	hf_run_cutter_watch(m->m.cutter, &m->m.calls->calls->watch);
}

static void maker_end(struct maker *m)
{
	hf_run_cutter_free(m->m.cutter);
	hf_run_table_free(m->m.table);
	hf_span_writer_free(m->m.spans);
	hf_call_writer_free(m->m.calls);
	hf_collector_free(m->m.collector);
	hf_group_writer_free(m->m.groups);
}

/* Few chunks before a place for checkpoints. */
static void begin_late(struct maker *m)
{
	struct hf_group_keys keys = {0};

	maker_begin(m);
	m->m.table->chunk = m->m.table->first_chunk = HF_CHECKPOINT_CHUNKS - BEFORE;
	hf_collector_resume(m->m.collector, HF_CHECKPOINT_CHUNKS - BEFORE, 0, &keys);
	hf_call_page_begin(&m->m.calls->page, HF_CHECKPOINT_CHUNKS - BEFORE);
}

/* Events first to n of the hart. What was loaded may be too much for the tables of a summary. */
static int feed(struct maker *m, const struct hf_event *ev, size_t first, size_t n)
{
	int err = 0;

	for (size_t at = first; at < n && !err; at++) {
		err = hf_run_cutter_put(m->m.cutter, ev + at, 1);
		if (!err)
			err = hf_collector_put(m->m.collector, ev + at, 1);
		if (!err && (at + 1) % CHUNK == 0) {
			err = hf_run_cutter_cut(m->m.cutter);
			if (!err)
				err = hf_run_table_cut(m->m.table);
			hf_collector_cut(m->m.collector);
			hf_calls_next_chunk(m->m.calls->calls);
		}
	}
	return err;
}

static int end_hart(struct maker *m)
{
	struct hf_summary_hart hart = {0};
	int err;

	if ((err = hf_run_cutter_cut(m->m.cutter)) || (err = hf_run_table_cut(m->m.table)) ||
	    (err = hf_span_writer_put(m->m.spans, m->m.table)) || (err = hf_run_table_end(m->m.table)) ||
	    (err = hf_span_writer_end(m->m.spans, m->m.cutter, &hart)) || (err = hf_call_writer_end(m->m.calls, m->insns)))
		return err;
	hf_collector_cut(m->m.collector);
	return hf_collector_end(m->m.collector);
}

/* The rows of a checkpoint, if there can be one. */
static bool put_checkpoint(struct maker *m, struct hf_summary_part *part, struct hf_summary_hart *hart)
{
	*hart = (struct hf_summary_hart){.id = 7, .insns = m->insns, .chunks = HF_CHECKPOINT_CHUNKS};
	MUST(hf_collector_settle(m->m.collector) == 0);
	if (!hf_checkpoint_is_possible(&m->m))
		return false;
	MUST(hf_call_writer_flush(m->m.calls) == 0);
	m->part = part;
	MUST(hf_checkpoint_put(&m->m, hart) == 0);
	MUST(add_row(m, &hf_table_summary_hart, 0, hart) == 0);
	m->part = NULL;
	return true;
}

/* From the rows of `from`, which goes on too. */
static void go_on(struct maker *from, struct hf_summary_part *part, const struct hf_event *ev, size_t first, size_t n)
{
	struct hf_summary_hart hart;
	struct maker m;
	int err = hf_store_find(part->store, &hf_table_summary_hart, HF_SEEK_AT, HF_SLOT_CHECKPOINT, NULL, &hart);

	maker_begin(&m);
	if (!err)
		err = hf_checkpoint_load(&m.m, part->store, &hart);
	MUST(from->changes ? err <= 0 : !err);
	if (!err) {
		m.insns = hart.insns;
		m.rows = from->rows = 0;
		err = feed(&m, ev, first, n);
		MUST(feed(from, ev, first, n) == 0 && end_hart(from) == 0);
		if (!err)
			err = end_hart(&m);
		MUST(from->changes || (!err && m.rows == from->rows));
	}
	maker_end(&m);
}

static void try_events(const struct hf_event *ev, size_t n, const uint8_t *change, unsigned changes)
{
	const struct hf_identity identity = {.size = 1};
	struct hf_summary_part part;
	struct hf_summary_hart hart;
	char dir[] = "/tmp/hartfs-checkpoint-XXXXXX";
	size_t first = (size_t)BEFORE * CHUNK;
	struct maker m;
	struct hf_store_dir at;
	int fd;

	while (first < n && ev[first].kind != HF_EVENT_INSN)
		first++;
	if (first >= n || first >= (BEFORE + 1) * (size_t)CHUNK)
		return;
	MUST(mkdtemp(dir) && (fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) >= 0);
	at = (struct hf_store_dir){.fd = fd};
	MUST(hf_summary_part_open(&part, &at, &identity, &hf_chunk_limits_default) == 0);
	begin_late(&m);
	m.change = change;
	m.changes = changes;
	MUST(feed(&m, ev, 0, first) == 0);
	if (put_checkpoint(&m, &part, &hart))
		go_on(&m, &part, ev, first, n);
	maker_end(&m);
	hf_part_remove(&part.file);
	hf_summary_part_close(&part);
	close(fd);
	MUST(rmdir(dir) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct hf_event ev[EVENTS_MOST];
	const unsigned changes = size ? data[0] & 7 : 0;
	const size_t head = 1 + (size_t)changes * CHANGE;
	uint64_t pc = 0x100;
	size_t n = 0;

	if (size < head)
		return 0;
	for (; n < EVENTS_MOST && head + (n + 1) * HF_FUZZ_EVENT_BYTES <= size; n++)
		ev[n] = hf_fuzz_event(data + head + n * HF_FUZZ_EVENT_BYTES, &pc);
	try_events(ev, n, data + 1, changes);
	return 0;
}
