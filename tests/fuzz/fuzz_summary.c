/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Summaries as hostile input. The low two bits of the first byte choose:
 * 0: a set of units of memory (index/summary/units.h), asked for a place, which the first two bytes tell.
 * 1: a page: number of runs (a byte), then its bytes, not compressed. With 4, 8 or 12 more it is of nodes of calls, of
 *    stacks or of nodes with cycles: the number of the first one, and how many there are (a byte each).
 *    With 16 more they are keys of rare events or registers.
 * 2: changes to a valid file (tests/lib/dbfuzz.h), with the flags of that in the same byte.
 * 3: events, in slivers: however they are cut, the same runs and the same rows of all else come of them, and however
 *    chunks are, the same calls.
 */
#include "index/store/file.h"
#include "index/summary/call_page.h"
#include "index/summary/calls.h"
#include "index/summary/collector.h"
#include "index/summary/keys.h"
#include "index/summary/page.h"
#include "index/summary/rare.h"
#include "index/summary/registers.h"
#include "index/summary/summary.h"
#include "index/summary/summary_tree.h"
#include "index/summary/words_pages.h"
#include "tests/lib/check.h"
#include "tests/lib/dbfuzz.h"
#include "tests/lib/fuzzevents.h"
#include "tests/lib/indextest.h"
#include "tests/registry/toy.h"

enum { WHAT = 3, KEYS = 16, EVENTS_MOST = 256, SLIVER = 3 };

static bool is_answer(int err)
{
	return err == 0 || err == HF_NOTE_END || err == HF_ERR_STATE;
}

/* Ranges in their order, with something between each two; a question is answered as they say. */
static void try_units(const uint8_t *data, size_t size)
{
	const uint8_t *p = data + 2, *const end = data + size;
	struct hf_units_reader reader, again;
	struct hf_range range;
	uint64_t next = 0, n = 0;
	bool touches = false;
	int err;

	if (size < 3)
		return;
	err = hf_units_open(&reader, &p, end);
	MUST(is_answer(err) && (err || (p > data && p <= end)));
	if (err)
		return;
	again = reader;
	for (; !(err = hf_units_next(&reader, &range)); n++) {
		MUST(range.first <= range.last && (!n || range.first > next));
		touches |= range.first <= data[1] * UINT64_C(64) + 7 && range.last >= data[0] * UINT64_C(64);
		next = range.last;
	}
	MUST(is_answer(err));
	if (err == HF_NOTE_END && data[0] <= data[1])
		MUST(hf_units_touch(&again, data[0] * UINT64_C(64), data[1] * UINT64_C(64) + 7) == touches);
}

static void try_keys(const uint8_t *data, size_t size)
{
	const uint8_t *p = data;
	struct hf_keys keys = {0}, again = {0};
	struct hf_raw raw = {0};
	const int err = hf_keys_read(&keys, &p, data + size);

	MUST(is_answer(err));
	if (!err) {
		hf_keys_code(&keys, &raw);
		p = raw.p;
		MUST(!raw.err && hf_keys_read(&again, &p, raw.p + raw.n) == 0 && again.count == keys.count);
	}
	hf_keys_free(&keys);
	hf_keys_free(&again);
	free(raw.p);
}

static void try_page(const uint8_t *data, size_t size)
{
	static struct hf_page_writer w;
	struct hf_page_facts facts = {.first = 0x1000, .base = 2};
	struct hf_page_reader reader;
	struct hf_page_run run;
	int err;

	if (!size || size > HF_PAGE_FULL)
		return;
	facts.runs = data[0];
	hf_page_open(&reader, data + 1, size - 1, &facts);
	hf_page_begin(&w, facts.base);
	while (!(err = hf_page_next(&reader, &run))) {
		MUST(run.run.insns && run.run.insns <= HF_RUN_INSNS && run.run.bytes <= HF_RUN_BYTES);
		MUST(run.run.key.last >= run.run.key.first && run.chunks && run.chunks <= run.count);
		if (w.n < HF_PAGE_FULL)
			hf_page_put(&w, &run);
	}
	MUST(is_answer(err));
}

/* Nodes that can be read can be written, and are the same then. */
static void try_nodes(const uint8_t *data, size_t size, bool timed)
{
	static struct hf_call_page_writer w;
	static struct hf_call_page_reader reader, again;
	struct hf_call_node node, same;
	int err;

	hf_call_page_open(&reader, data + 2, size - 2, data[0], data[1]);
	hf_call_page_begin(&w, data[0]);
	for (uint64_t n = data[0]; !(err = hf_call_page_next_node(&reader, timed, &node)); n++) {
		MUST(node.kind < HF_CALL_KINDS && (node.parent == HF_CALL_NO_NODE || node.parent < n));
		MUST(node.first <= node.last && node.last <= INT64_MAX);
		hf_call_page_put_node(&w, &node, timed);
	}
	MUST(is_answer(err));
	hf_call_page_open(&again, w.bytes, w.n, data[0], w.count);
	hf_call_page_open(&reader, data + 2, size - 2, data[0], data[1]);
	for (uint64_t i = 0; i < w.count; i++) {
		MUST(hf_call_page_next_node(&again, timed, &same) == 0);
		MUST(hf_call_page_next_node(&reader, timed, &node) == 0);
		MUST(memcmp(&node, &same, sizeof node) == 0);
	}
	MUST(hf_call_page_next_node(&again, timed, &same) == HF_NOTE_END);
}

static void try_stacks(const uint8_t *data, size_t size)
{
	static struct hf_call_page_writer w;
	static struct hf_call_page_reader reader;
	const struct hf_call_stacked *stack;
	int err;

	hf_call_page_open(&reader, data + 2, size - 2, data[0], data[1]);
	hf_call_page_begin(&w, data[0]);
	while (!(err = hf_call_page_next_stack(&reader, &stack))) {
		MUST(stack->count <= HF_CALL_DEPTH + 1);
		for (uint32_t i = 0; i < stack->count; i++)
			MUST(stack->pieces[i].node < HF_CALL_NODES && stack->pieces[i].refused <= HF_CALL_DEPTH + 1);
		if (w.n < HF_CALL_PAGE_FULL)
			hf_call_page_put_stack(&w, stack);
	}
	MUST(is_answer(err));
	hf_call_page_open(&reader, w.bytes, w.n, data[0], w.count);
	while (!(err = hf_call_page_next_stack(&reader, &stack)))
		;
	MUST(err == HF_NOTE_END);
}

static void try_pages(unsigned what, const uint8_t *data, size_t size)
{
	if (what == 0)
		try_page(data, size);
	else if (size < 2)
		return;
	else if (what == 2)
		try_stacks(data, size);
	else
		try_nodes(data, size, what == 3);
}

/* ---- a file ---- */

static struct hf_ixtest t;
static char name[HF_FILE_NAME_SIZE];
static struct hf_walk_bytes valid;

static void clean_up(void)
{
	hf_bytes_free(&valid);
	hf_ixtest_fini(&t);
}

static void set_up(void)
{
	hf_ixtest_init(&t);
	atexit(clean_up);
	t.summary = true;
	hf_ixtest_limit(&t, 10);
	hf_ixtest_capture(&t, 150, 2, HF_STREAM_HARTS | HF_STREAM_MANY, 1);
	hf_ixtest_build(&t);
	hf_index_file_name_summary(&t.identity, name);
	valid = hf_bytes_load(t.dir, name);
}

static int look(void *ctx, const struct hf_summary_run *run)
{
	const struct hf_summary *summary = ctx;

	(void)summary;
	MUST(run->count && run->chunks <= run->count && run->first < run->end);
	return 0;
}

static int look_at_postings(void *ctx, uint64_t run, const struct hf_posting *posting, size_t n)
{
	const uint64_t *runs = ctx;
	uint64_t chunk = 2;

	MUST(run < *runs && n && n <= 64);
	for (size_t i = 0; i < n; i++) {
		MUST(posting[i].count && posting[i].chunk >= chunk && posting[i].chunk < 12);
		chunk = posting[i].chunk + 1;
	}
	return 0;
}

static void try_runs(struct hf_summary *summary, uint32_t hart)
{
	uint64_t runs = hf_summary_run_count(summary, hart);
	struct hf_summary_book book;
	int err = hf_summary_runs(summary, hart, 0, UINT64_MAX, look, summary);

	MUST(err == HF_ERR_NOT_FOUND || is_answer(err));
	err = hf_summary_postings(summary, hart, 2, 12, NULL, look_at_postings, &runs);
	MUST(err == HF_ERR_NOT_FOUND || is_answer(err));
	err = runs < 1u << 20 ? hf_summary_book_load(summary, hart, &book) : 1;
	MUST(err == 1 || err == HF_ERR_NOT_FOUND || is_answer(err));
	if (err != 1)
		hf_summary_book_free(&book);
}

static int look_at_stack(void *ctx, uint64_t chunk, const struct hf_summary_stack *stack)
{
	const struct hf_summary_tree *tree = ctx;

	MUST(chunk < 20);
	for (uint32_t i = 0; i < stack->count; i++)
		MUST(stack->nodes[i] < tree->count);
	return 0;
}

static void look_at_each_stack(struct hf_summary *summary, struct hf_summary_tree *tree)
{
	int err = tree ? hf_summary_each_stack(summary, tree, 1, 15, look_at_stack, tree) : HF_ERR_NOT_FOUND;

	MUST(err == HF_ERR_NOT_FOUND || is_answer(err));
}

static void look_at_calls(struct hf_summary *summary, uint32_t hart)
{
	static struct hf_summary_stack stack;
	struct hf_summary_tree *tree;
	int err = hf_summary_tree_load(summary, hart, &tree);

	MUST(err == HF_ERR_NOT_FOUND || is_answer(err));
	for (uint64_t chunk = 0; !err && chunk < 20; chunk++) {
		err = hf_summary_stack_at(summary, tree, chunk, &stack);
		MUST(err == HF_ERR_NOT_FOUND || is_answer(err));
		for (uint32_t i = 0; !err && i < stack.count; i++)
			MUST(stack.nodes[i] < tree->count);
	}
	if (!err || err == HF_ERR_NOT_FOUND)
		look_at_each_stack(summary, tree);
	hf_summary_tree_free(tree);
}

static bool is_set(int err, struct hf_chunk_set *set)
{
	uint64_t chunk = 0;

	if (!err) {
		MUST(!set->count == !hf_chunk_set_next(set, 0, &chunk));
		hf_chunk_set_free(set);
	}
	return err == HF_ERR_NOT_FOUND || err == HF_ERR_UNSUPPORTED || is_answer(err);
}

static void try_rare(struct hf_summary *summary, uint32_t hart, enum hf_rare_kind kind)
{
	const struct hf_rare_question q = {.kind = kind, .any_detail = true, .any_value = true};
	struct hf_rare_hit hit;
	struct hf_rare *rare;
	int err = hf_rare_find(summary, hart, &q, &rare);

	MUST(err == HF_ERR_NOT_FOUND || is_answer(err));
	if (err)
		return;
	for (uint64_t n = 0, step = 0; step < 100; step++, n += hit.count) {
		err = hf_rare_nth(rare, n, &hit);
		MUST(is_answer(err));
		if (err)
			break;
		MUST(hit.count && hit.last >= hit.first && hit.before <= n);
	}
	MUST(is_answer(hf_rare_next(rare, 50, &hit)) && is_answer(hf_rare_previous(rare, 50, &hit)));
	hf_rare_free(rare);
}

static void try_places(struct hf_summary *summary, uint32_t hart)
{
	struct hf_chunk_set set, unknown;
	struct hf_words_pages pages;
	int err;

	for (unsigned kind = 0; kind < HF_RARE_KINDS; kind++)
		try_rare(summary, hart, kind);
	for (unsigned what = HF_WORDS_WRITES; what <= HF_WORDS_ATTEMPT_READS; what++) {
		err = hf_words_find(summary, hart, what, 0x1000, 0x3000, &set, &unknown);
		if (!err)
			hf_chunk_set_free(&unknown);
		MUST(is_set(err, &set));
		err = hf_words_pages_count(summary, hart, what, 2, 12, &pages);
		MUST(err == HF_ERR_NOT_FOUND || err == HF_ERR_UNSUPPORTED || is_answer(err));
		for (size_t i = 0; !err && i < pages.count; i++)
			MUST(pages.page[i].chunks && pages.page[i].chunks <= 10);
		if (!err)
			hf_words_pages_free(&pages);
	}
	err = hf_registers_find(summary, hart, HF_REGISTERS_WRITTEN, HF_REG_INTEGER, 1, &set);
	MUST(is_set(err, &set));
}

static void try_file(unsigned mode, const uint8_t *data, size_t size)
{
	static bool ready;
	struct hf_run_context context;
	struct hf_summary *summary;
	int err;

	if (!ready)
		set_up();
	ready = true;
	hf_ixtest_clear(&t);
	db_fuzz_store(t.dirfd, name, &valid, mode | DB_FUZZ_CHANGES, data, size);
	err = hf_summary_open(t.dirfd, &t.identity, &summary);
	MUST(err == 0 || err == HF_ERR_NOT_FOUND);
	if (err)
		return;
	for (uint32_t hart = 0; hart < 2; hart++) {
		try_runs(summary, hart);
		err = hf_summary_context(summary, hart, 0, &context);
		MUST(err == HF_ERR_NOT_FOUND || is_answer(err));
		look_at_calls(summary, hart);
		try_places(summary, hart);
	}
	MUST(is_answer(hf_summary_check(summary)));
	hf_summary_close(summary);
}

/* ---- events ---- */

struct sum {
	uint64_t hash, insns;
};

static int add(void *ctx, const struct hf_run *run)
{
	struct sum *sum = ctx;
	uint32_t opcode, n = 0;
	unsigned size;

	for (uint32_t at = 0; (size = hf_run_opcode(run, at, &opcode)); at += size, n++)
		sum->hash = (sum->hash ^ opcode) * UINT64_C(0x9e3779b97f4a7c15);
	MUST(n == run->insns);
	sum->hash = (sum->hash ^ run->key.first ^ run->key.last << 20) * UINT64_C(0x9e3779b97f4a7c15);
	sum->hash ^= (uint64_t)run->key.entered << 60 ^ (uint64_t)run->key.ended << 56 ^ run->key.context;
	sum->insns += run->insns;
	return 0;
}

static struct sum cut(const struct hf_event *ev, size_t n, size_t sliver)
{
	struct hf_run_cutter *cutter;
	struct sum sum = {0};

	MUST(hf_run_cutter_new(add, &sum, &cutter) == 0);
	for (size_t at = 0; at < n; at += sliver)
		MUST(hf_run_cutter_put(cutter, ev + at, sliver < n - at ? sliver : n - at) == 0);
	MUST(hf_run_cutter_cut(cutter) == 0);
	hf_run_cutter_free(cutter);
	return sum;
}

static int take_stack(void *ctx, const struct hf_call_stack *stack)
{
	static struct hf_call_stacked stacked;
	uint64_t *stacks = ctx;

	hf_call_stacked_of(stack, &stacked);
	MUST(stacked.count <= stack->depth + 1);
	++*stacks;
	return 0;
}

static int drop_run(void *ctx, const struct hf_run *run)
{
	(void)ctx;
	(void)run;
	return 0;
}

/* Calls, with chunks of so many events: the nodes, and the sum of what was executed. */
static struct sum call(const struct hf_event *ev, size_t n, size_t chunk, uint64_t insns)
{
	const struct hf_call_room room = {.nodes = 8, .depth = 3, .frames = 40};
	struct hf_run_cutter *cutter;
	struct hf_calls *calls;
	struct sum sum = {0};
	uint64_t stacks = 0, chunks = 1;

	MUST(hf_run_cutter_new(drop_run, NULL, &cutter) == 0);
	MUST(hf_calls_new(&room, take_stack, &stacks, &calls) == 0);
	hf_run_cutter_watch(cutter, &calls->watch);
	for (size_t at = 0; at < n; at += chunk, chunks++) {
		MUST(hf_run_cutter_put(cutter, ev + at, chunk < n - at ? chunk : n - at) == 0);
		MUST(hf_run_cutter_cut(cutter) == 0);
		hf_calls_next_chunk(calls);
	}
	MUST(hf_calls_end(calls, insns) == 0 && stacks == chunks);
	for (uint32_t i = 0; i < calls->tree.count; i++) {
		const struct hf_call_node *node = &calls->tree.nodes[i];

		sum.hash = (sum.hash ^ node->function ^ node->calls << 8 ^ node->own << 16 ^ node->first << 24) *
			   UINT64_C(0x9e3779b97f4a7c15);
		sum.hash ^= node->last ^ node->cycles << 16 ^ (uint64_t)node->parent << 48 ^ node->context << 8;
		sum.insns += node->own;
	}
	hf_calls_free(calls);
	hf_run_cutter_free(cutter);
	return sum;
}

/* ---- and their places ---- */

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

/* With little room, and a chunk for each 16 events. */
static uint64_t collect(const struct hf_event *ev, size_t n, size_t sliver)
{
	static const struct hf_run_table_room room = {.sets = 12, .attempts = 6, .rare = 8, .keys = 4};
	struct hf_group_writer *writer;
	struct hf_collector *collector;
	uint64_t hash = 0;

	MUST(hf_group_writer_new(add_row, &hash, &writer) == 0);
	MUST(hf_collector_new(&room, writer, &collector) == 0);
	for (size_t at = 0; at < n; at++) {
		if (at && at % 16 == 0)
			hf_collector_cut(collector);
		if (at % sliver == 0 || at % 16 == 0) {
			const size_t to_cut = 16 - at % 16, to_sliver = sliver - at % sliver;
			const size_t some = to_cut < to_sliver ? to_cut : to_sliver;

			MUST(hf_collector_put(collector, ev + at, some < n - at ? some : n - at) == 0);
		}
	}
	hf_collector_cut(collector);
	MUST(hf_collector_end(collector) == 0);
	hf_collector_free(collector);
	hf_group_writer_free(writer);
	return hash;
}

static void try_events(const uint8_t *data, size_t size)
{
	static struct hf_event ev[EVENTS_MOST];
	struct sum whole, calls;
	uint64_t pc = 0x100, insns = 0;
	size_t n = 0;

	for (; n < EVENTS_MOST && (n + 1) * HF_FUZZ_EVENT_BYTES <= size; n++) {
		ev[n] = hf_fuzz_event(data + n * HF_FUZZ_EVENT_BYTES, &pc);
		insns += ev[n].kind == HF_EVENT_INSN;
	}
	whole = cut(ev, n, EVENTS_MOST);
	MUST(whole.insns == insns);
	for (size_t sliver = 1; sliver <= SLIVER; sliver += 2)
		MUST(cut(ev, n, sliver).hash == whole.hash);
	calls = call(ev, n, EVENTS_MOST, insns);
	MUST(calls.insns == insns);
	for (size_t chunk = 1; chunk <= SLIVER; chunk += 2)
		MUST(call(ev, n, chunk, insns).hash == calls.hash);
	MUST(collect(ev, n, EVENTS_MOST) == collect(ev, n, SLIVER));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	switch (data[0] & WHAT) {
	case 0:
		try_units(data + 1, size - 1);
		break;
	case 1:
		if (data[0] & KEYS)
			try_keys(data + 1, size - 1);
		else
			try_pages(data[0] >> 2 & 3, data + 1, size - 1);
		break;
	case 2:
		try_file(data[0], data + 1, size - 1);
		break;
	default:
		try_events(data + 1, size - 1);
	}
	return 0;
}
