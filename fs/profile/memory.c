/* SPDX-License-Identifier: Apache-2.0 */
/* memory.txt: which pages of memory were read and written, by which functions; of what is long, in how many chunks. */
#include "codecs/base/hash_map.h"
#include "fs/profile/parallel_pair.h"
#include "fs/profile/texts.h"
#include "index/summary/words_pages.h"

#include <inttypes.h>
#include <stdlib.h>

enum { PAGE_BITS = 12 };

/* Pairs of a page and a function that are told apart. */
#define PAIRS_MAX (UINT32_C(1) << 19)
/* An access that touches more pages counts in none of them. */
#define PAGES_MAX 256u

/* What stands in a row instead of a page. */
enum place { IN_PAGE, IN_UNKNOWN, IN_MANY, IN_OTHERS };

struct pair {
	uint64_t page;			/* number */
	const struct hf_symbol *symbol; /* NULL: code in none */
	uint64_t reads, writes;
	uint8_t place;
	uint64_t all; /* of the page, for the order */
};

struct table {
	const struct hf_profiled *of;
	struct pair *pair;
	size_t count;
	struct hf_hash_map map;
	const struct hf_symbol *symbol; /* of the instruction at hand */
	bool retired;			/* it did */
	bool any;			/* there was an access */
};

/* ---- counting ---- */

static bool is_same(const struct pair *a, const struct pair *b)
{
	return a->page == b->page && a->place == b->place && a->symbol == b->symbol;
}

static int find_pair(struct table *t, const struct pair *key, struct pair **ret_pair)
{
	const uint32_t hash = hf_hash_of(key->page * 4 + key->place, (uintptr_t)key->symbol >> 4);
	int err;

	HF_HASH_EACH(&t->map, hash, i)
	if (is_same(*ret_pair = &t->pair[i], key))
		return 0;
	err = hf_hash_map_add_row(&t->map, hash, &t->pair, sizeof *t->pair);
	if (err)
		return err;
	*ret_pair = &t->pair[t->count++];
	**ret_pair = *key;
	return 0;
}

static int add(struct table *t, uint8_t place, uint64_t page, uint8_t flags)
{
	const bool full = t->count >= PAIRS_MAX;
	const struct pair key = {
		.page = full ? 0 : page, .symbol = full ? NULL : t->symbol, .place = full ? IN_OTHERS : place};
	struct pair *pair;
	int err = find_pair(t, &key, &pair);

	if (err)
		return err;
	pair->reads += (flags & HF_EVF_READ) != 0;
	pair->writes += (flags & HF_EVF_WRITE) != 0;
	return 0;
}

static int add_access(struct table *t, const struct hf_event *ev)
{
	const uint64_t address = ev->mem.address, last = address + (ev->mem.size ? ev->mem.size - 1 : 0);
	const uint64_t page = address >> PAGE_BITS, pages = ((last >> PAGE_BITS) - page) & (UINT64_MAX >> PAGE_BITS);
	int err = 0;

	t->any = true;
	if (ev->flags & HF_EVF_NO_ADDRESS)
		return add(t, IN_UNKNOWN, 0, ev->flags);
	if (pages >= PAGES_MAX)
		return add(t, IN_MANY, 0, ev->flags);
	for (uint64_t i = 0; i <= pages && !err; i++)
		err = add(t, IN_PAGE, (page + i) & (UINT64_MAX >> PAGE_BITS), ev->flags);
	return err;
}

/* *left: instructions to come. HF_NOTE_END: the one behind the last was met. */
static int take_events(struct table *t, const struct hf_event *ev, size_t n, uint64_t *left)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		if (ev[i].kind == HF_EVENT_INSN) {
			if (!(*left)--)
				return HF_NOTE_END;
			t->retired = true;
			t->symbol = t->of->symbols ? hf_symbols_at(t->of->symbols, ev[i].insn.pc) : NULL;
		} else if (ev[i].kind == HF_EVENT_ATTEMPT) {
			t->retired = false;
		} else if (ev[i].kind == HF_EVENT_MEM && t->retired) {
			err = add_access(t, &ev[i]);
		}
	}
	return err;
}

static int decode(struct table *t)
{
	const struct hf_profile_source *source = t->of->source;
	struct hf_cursor cursor = hf_profile_cursor(source);
	struct hf_event ev[HF_CURSOR_BATCH];
	uint64_t left = source->end - source->first;
	struct hf_diag diag;
	size_t n;
	int err;

	if (source->first) {
		err = hf_cursor_seek(&cursor, source->first, ev, &diag);
		if (!err)
			err = take_events(t, ev, 1, &left);
	} else {
		err = hf_cursor_enter(&cursor, 0, &diag);
	}
	while (!err) {
		if (!cursor.left) {
			err = source->stop(source->ctx) ? HF_ERR_CANCELLED : hf_cursor_advance(&cursor, &diag);
			continue;
		}
		err = hf_cursor_take(&cursor, ev, HF_CURSOR_BATCH, &n, &diag);
		if (!err)
			err = take_events(t, ev, n, &left);
	}
	hf_cursor_fini(&cursor);
	return err == HF_NOTE_END ? 0 : err;
}

/* ---- accesses ---- */

static int by_page(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->place != y->place)
		return x->place - y->place;
	if (x->page != y->page)
		return x->page < y->page ? -1 : 1;
	if (x->symbol != y->symbol && (!x->symbol || !y->symbol))
		return !x->symbol - !y->symbol;
	return !x->symbol ? 0 : x->symbol->start < y->symbol->start ? -1 : x->symbol->start > y->symbol->start;
}

/* Pages with most accesses first, and of each the functions with most. */
static int by_count(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	const uint64_t m = x->reads + x->writes, n = y->reads + y->writes;

	if (x->all != y->all)
		return x->all > y->all ? -1 : 1;
	if (x->place != y->place || x->page != y->page || m == n)
		return by_page(a, b);
	return m > n ? -1 : 1;
}

/* The pairs of one page are [i, returned). */
static size_t end_of_page(const struct table *t, size_t i)
{
	size_t end = i + 1;

	while (end < t->count && t->pair[end].page == t->pair[i].page && t->pair[end].place == t->pair[i].place)
		end++;
	return end;
}

static void put_row(const struct pair *pair, uint64_t reads, uint64_t writes, struct hf_sink *sink)
{
	static const char *const places[] = {[IN_UNKNOWN] = "?", [IN_MANY] = "(many-pages)", [IN_OTHERS] = "(others)"};

	hf_sink_printf(sink, "%14" PRIu64 " %14" PRIu64 " ", reads, writes);
	if (pair->place == IN_PAGE)
		hf_sink_printf(sink, "%016" PRIx64 " ", pair->page << PAGE_BITS);
	else
		hf_sink_printf(sink, "%16s ", places[pair->place]);
}

static void put_page(const struct table *t, size_t i, size_t end, struct hf_sink *sink)
{
	uint64_t reads = 0, writes = 0;

	for (size_t k = i; k < end; k++) {
		reads += t->pair[k].reads;
		writes += t->pair[k].writes;
	}
	put_row(&t->pair[i], reads, writes, sink);
	hf_sink_printf(sink, "(all)\n");
	for (size_t k = i; k < end; k++) {
		const struct hf_symbol *symbol = t->pair[k].symbol;

		put_row(&t->pair[k], t->pair[k].reads, t->pair[k].writes, sink);
		hf_sink_write(sink, symbol ? symbol->name : "?", symbol ? symbol->name_size : 1);
		hf_sink_printf(sink, "\n");
	}
}

static void sort(struct table *t)
{
	if (t->count)
		qsort(t->pair, t->count, sizeof *t->pair, by_page);
	for (size_t i = 0, end; i < t->count; i = end) {
		uint64_t all = 0;

		end = end_of_page(t, i);
		for (size_t k = i; k < end; k++)
			all += t->pair[k].reads + t->pair[k].writes;
		for (size_t k = i; k < end; k++)
			t->pair[k].all = all;
	}
	if (t->count)
		qsort(t->pair, t->count, sizeof *t->pair, by_count);
}

static int put_accesses(const struct hf_profiled *of, struct hf_sink *sink)
{
	struct table t = {.of = of};
	int err = decode(&t);

	if (!err) {
		sort(&t);
		hf_sink_printf(sink,
			       t.any ? "# accesses of the instructions that retired, in each page of 4096 bytes; one "
				       "that lies in two pages counts in both\n"
				     : "# the trace tells of no access of these instructions\n");
		hf_sink_printf(sink, "#        reads         writes page             function\n");
	}
	for (size_t i = 0, end; !err && i < t.count; i = end) {
		end = end_of_page(&t, i);
		put_page(&t, i, end, sink);
	}
	free(t.pair);
	hf_hash_map_free(&t.map);
	return err;
}

/* ---- chunks ---- */

struct touched {
	uint64_t first, last, reads, writes; /* chunks */
	bool unknown;
};

static int by_range(const void *a, const void *b)
{
	const struct touched *x = a, *y = b;

	if (x->unknown != y->unknown)
		return x->unknown - y->unknown;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->last < y->last ? -1 : x->last > y->last;
}

static int by_chunks(const void *a, const void *b)
{
	const struct touched *x = a, *y = b;
	const uint64_t m = x->reads + x->writes, n = y->reads + y->writes;

	return m != n ? (m > n ? -1 : 1) : by_range(a, b);
}

static size_t join(const struct hf_words_pages *reads, const struct hf_words_pages *writes, struct touched *touched)
{
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < reads->count; i++)
		touched[n++] = (struct touched){.first = reads->page[i].first,
						.last = reads->page[i].last,
						.unknown = reads->page[i].unknown,
						.reads = reads->page[i].chunks};
	for (size_t i = 0; i < writes->count; i++)
		touched[n++] = (struct touched){.first = writes->page[i].first,
						.last = writes->page[i].last,
						.unknown = writes->page[i].unknown,
						.writes = writes->page[i].chunks};
	if (n)
		qsort(touched, n, sizeof *touched, by_range);
	for (size_t i = 0; i < n; i++) {
		if (!kept || by_range(&touched[kept - 1], &touched[i]) != 0) {
			touched[kept++] = touched[i];
			continue;
		}
		touched[kept - 1].reads += touched[i].reads;
		touched[kept - 1].writes += touched[i].writes;
	}
	if (kept)
		qsort(touched, kept, sizeof *touched, by_chunks);
	return kept;
}

static void put_touched(const struct touched *touched, size_t n, struct hf_sink *sink)
{
	hf_sink_printf(sink, "#    read in     written in first            last\n");
	for (size_t i = 0; i < n; i++) {
		hf_sink_printf(sink, "%12" PRIu64 " %14" PRIu64 " ", touched[i].reads, touched[i].writes);
		if (touched[i].unknown)
			hf_sink_printf(sink, "%16s %16s\n", "?", "?");
		else
			hf_sink_printf(sink, "%016" PRIx64 " %016" PRIx64 "\n", touched[i].first, touched[i].last);
	}
}

/* The chunks in which the instructions are: [*ret_first, *ret_end). */
static int find_chunks(const struct hf_profile_source *source, uint64_t *ret_first, uint64_t *ret_end)
{
	struct hf_chunk chunk;
	int err = hf_index_chunk_of(source->open->index, source->hart, source->first, &chunk);

	*ret_first = chunk.number;
	if (!err)
		err = hf_index_chunk_of(source->open->index, source->hart, source->end - 1, &chunk);
	*ret_end = chunk.number + 1;
	return err;
}

/* In how many of the chunks [first, end) there were accesses of one kind. */
struct kind {
	const struct hf_profile_source *source;
	enum hf_words_what what;
	uint64_t first, end;
	bool known; /* else the source tells of none */
	struct hf_words_pages pages;
};

static int count_kind(void *ctx)
{
	struct kind *kind = ctx;
	const struct hf_profile_source *source = kind->source;
	int err = hf_words_pages_count(source->summary, source->hart, kind->what, kind->first, kind->end, &kind->pages);

	kind->known = !err;
	return err == HF_ERR_UNSUPPORTED ? 0 : err;
}

static int put_kinds(const struct kind *reads, const struct kind *writes, struct hf_sink *sink)
{
	const uint64_t left_out = reads->pages.left_out + writes->pages.left_out;
	struct touched *touched;

	if (!reads->known && !writes->known) {
		hf_sink_printf(sink, "# the trace tells of no accesses\n");
		return 0;
	}
	hf_sink_printf(sink,
		       "# in how many of the %" PRIu64
		       " chunks that have these instructions memory was read and written: "
		       "accesses are not counted, nor by whom\n",
		       reads->end - reads->first);
	if (left_out)
		hf_sink_printf(sink, "# left out: %" PRIu64 " ranges of memory, as there are too many\n", left_out);
	touched = malloc((reads->pages.count + writes->pages.count + 1) * sizeof *touched);
	if (touched)
		put_touched(touched, join(&reads->pages, &writes->pages, touched), sink);
	free(touched);
	return touched ? 0 : HF_ERR_NOMEM;
}

static int put_chunks(const struct hf_profiled *of, struct hf_sink *sink)
{
	struct kind reads = {.source = of->source, .what = HF_WORDS_READS}, writes;
	int err = find_chunks(of->source, &reads.first, &reads.end);

	writes = reads;
	writes.what = HF_WORDS_WRITES;
	if (!err)
		err = hf_profile_parallel_pair(of->source, count_kind, &writes, &reads);
	if (!err)
		err = put_kinds(&reads, &writes, sink);
	hf_words_pages_free(&reads.pages);
	hf_words_pages_free(&writes.pages);
	return err;
}

int hf_profile_memory(const struct hf_profiled *of, struct hf_sink *sink)
{
	int err;

	hf_profile_put_head(of, sink);
	err = of->source->decodes ? put_accesses(of, sink) : put_chunks(of, sink);
	return err ? err : sink->err;
}
