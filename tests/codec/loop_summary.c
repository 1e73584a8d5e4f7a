/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The summary of every sample (index/summary/summary.h), built with chunks of several sizes, with much memory and with so
 * little that it has many spans: what it says of every pc is what counting the events says, chunk by chunk. The same of
 * intervals of ranges (index/answer/intervals.h), and of where every n-th instruction of a mode is (index/answer/mode_marks.h), also
 * without it.
 */
#include "index/answer/intervals.h"
#include "index/answer/mode_marks.h"
#include "index/index.h"
#include "index/summary/run_table.h"
#include "index/summary/summary.h"
#include "index/summary/summary_tree.h"
#include "tests/codec/loops.h"

#include <fcntl.h>
#include <unistd.h>

static const uint64_t chunk_insns[] = {3, 7, 1000};
static const struct hf_run_table_room little = {
	.runs = 40, .code = HF_RUN_BYTES + 2000, .sets = 40, .attempts = 20, .rare = 30, .keys = 8};

/* How often one instruction was executed in one chunk. */
struct item {
	uint64_t pc, chunk, count;
	uint32_t opcode;
};

struct items {
	struct item *item;
	size_t n, cap;
};

static void add(struct items *items, uint64_t pc, uint32_t opcode, uint64_t chunk, uint64_t count)
{
	if (items->n == items->cap) {
		items->cap = items->cap ? 2 * items->cap : 256;
		items->item = realloc(items->item, items->cap * sizeof *items->item);
		CHECK(items->item);
	}
	items->item[items->n++] = (struct item){.pc = pc, .opcode = opcode, .chunk = chunk, .count = count};
}

static int compare(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->pc != y->pc)
		return x->pc < y->pc ? -1 : 1;
	if (x->opcode != y->opcode)
		return x->opcode < y->opcode ? -1 : 1;
	return (x->chunk > y->chunk) - (x->chunk < y->chunk);
}

/* One item for each instruction and chunk, in their order. */
static void put_together(struct items *items)
{
	size_t n = 0;

	if (items->n)
		qsort(items->item, items->n, sizeof *items->item, compare);
	for (size_t i = 0; i < items->n; i++)
		if (n && !compare(&items->item[n - 1], &items->item[i]))
			items->item[n - 1].count += items->item[i].count;
		else
			items->item[n++] = items->item[i];
	items->n = n;
}

/* By brute force: all events, and the chunks that the index has. */
static struct items count_events(const struct sample *s, struct hf_index *index, const struct hf_index_hart *hart)
{
	struct hf_events all = sample_all(s, hart->id, 512);
	struct hf_chunk chunk = {.number = UINT64_MAX};
	struct items items = {0};
	uint64_t ordinal = 0, end = 0;

	for (size_t i = 0; i < all.n; i++) {
		const struct hf_event *ev = &all.ev[i];

		if (ev->kind != HF_EVENT_INSN)
			continue;
		if (ordinal >= end) {
			CHECK_EQ(hf_index_chunk_of(index, hart->id, ordinal, &chunk), 0);
			end = chunk.ordinal + chunk.insns;
		}
		add(&items, ev->insn.pc, ev->insn.opcode, chunk.number, 1);
		ordinal++;
	}
	CHECK_EQ(ordinal, hart->insns);
	hf_events_free(&all);
	put_together(&items);
	return items;
}

struct asking {
	struct hf_summary *summary;
	uint64_t first, end;
	struct items items;
	struct hf_summary_book book;
};

/* Those of its instructions that begin in the range. */
static void add_run(struct asking *a, const struct hf_summary_run *run, const struct hf_posting *posting)
{
	uint64_t pc = run->run.key.first;
	uint32_t opcode;
	unsigned size;

	for (uint32_t at = 0; (size = hf_run_opcode(&run->run, at, &opcode)); at += size, pc += size)
		if (pc >= a->first && pc < a->end)
			add(&a->items, pc, opcode, posting->chunk, posting->count);
}

static int note_run(void *ctx, const struct hf_summary_run *run)
{
	uint8_t *wanted = ctx;

	CHECK(!wanted[run->number] && run->count >= run->chunks && run->chunks && run->end - run->first >= run->chunks);
	wanted[run->number] = 1;
	return 0;
}

static int take(void *ctx, uint64_t run, const struct hf_posting *posting, size_t n)
{
	struct asking *a = ctx;

	CHECK(n);
	for (size_t i = 0; i < n; i++)
		add_run(a, &a->book.run[run], &posting[i]);
	return 0;
}

static void check_range(struct hf_summary *summary, uint32_t hart, const struct items *want, uint64_t first,
			uint64_t end)
{
	struct asking a = {.summary = summary, .first = first, .end = end};
	size_t at = 0, n = 0;

	uint8_t *wanted = calloc((size_t)hf_summary_run_count(summary, hart) + 1, 1);

	CHECK(wanted);
	CHECK_EQ(hf_summary_book_load(summary, hart, &a.book), 0);
	CHECK_EQ(hf_summary_runs(summary, hart, first, end, note_run, wanted), 0);
	CHECK_EQ(hf_summary_postings(summary, hart, 0, UINT64_MAX, wanted, take, &a), 0);
	free(wanted);
	hf_summary_book_free(&a.book);
	put_together(&a.items);
	while (at < want->n && want->item[at].pc < first)
		at++;
	for (; at < want->n && want->item[at].pc < end; at++, n++) {
		CHECK(n < a.items.n);
		CHECK(compare(&want->item[at], &a.items.item[n]) == 0);
		CHECK_EQ(want->item[at].count, a.items.item[n].count);
	}
	CHECK_EQ(n, a.items.n);
	free(a.items.item);
}

/* Of the pc of that item, and of one that nobody executed. */
static void check_count(struct hf_summary *summary, uint32_t hart, const struct items *want, size_t i)
{
	const uint64_t pc = want->item[i].pc;
	uint64_t count, sum = 0;

	while (i && want->item[i - 1].pc == pc)
		i--;
	for (; i < want->n && want->item[i].pc == pc; i++)
		sum += want->item[i].count;
	CHECK_EQ(hf_summary_count(summary, hart, pc, &count), 0);
	CHECK_EQ(count, sum);
	CHECK_EQ(hf_summary_count(summary, hart, pc | 1, &count), 0);
	CHECK_EQ(count, 0);
}

/* ---- intervals ---- */

/* By brute force; chunk is the number of the interval. */
static struct items count_intervals(const struct hf_events *all, const uint64_t *at, uint64_t count)
{
	struct items items = {0};
	uint64_t ordinal = 0, number = 0;

	for (size_t i = 0; i < all->n; i++) {
		const struct hf_event *ev = &all->ev[i];

		if (ev->kind != HF_EVENT_INSN)
			continue;
		while (number < count && ordinal >= at[number + 1])
			number++;
		if (ordinal >= at[0] && number < count)
			add(&items, ev->insn.pc, ev->insn.opcode, number, 1);
		ordinal++;
	}
	put_together(&items);
	return items;
}

struct hearing {
	struct items items;
	const struct hf_run *run;
	bool waiting; /* for an interval in which it was executed */
};

static int hear_run(void *ctx, const struct hf_run *run)
{
	struct hearing *hearing = ctx;

	CHECK(!hearing->waiting);
	hearing->waiting = true;
	hearing->run = run;
	return 0;
}

static int add_interval(void *ctx, uint64_t number, uint64_t count)
{
	struct hearing *hearing = ctx;
	const struct hf_run *run = hearing->run;
	uint64_t pc = run->key.first;
	uint32_t opcode;
	unsigned size;

	CHECK(count);
	hearing->waiting = false;
	for (uint32_t at = 0; (size = hf_run_opcode(run, at, &opcode)); at += size, pc += size)
		add(&hearing->items, pc, opcode, number, count);
	return 0;
}

static void check_range_of(const struct hf_cursor *like, struct hf_summary *summary,
			   const struct items *want, const struct hf_intervals *range)
{
	struct hf_cursor cursor = *like;
	struct hf_intervals intervals = *range;
	struct hearing hearing = {.run = NULL};
	struct items *items = &hearing.items;
	struct hf_diag diag;

	intervals.cursor = &cursor;
	intervals.summary = summary;
	intervals.run = hear_run;
	intervals.put = add_interval;
	intervals.ctx = &hearing;
	CHECK_EQ(hf_intervals_each(&intervals, &diag), 0);
	cursor.src->until = 0;
	hf_cursor_fini(&cursor);
	CHECK(!hearing.waiting);
	put_together(items);
	CHECK_EQ(items->n, want->n);
	for (size_t i = 0; i < items->n; i++) {
		CHECK(compare(&items->item[i], &want->item[i]) == 0);
		CHECK_EQ(items->item[i].count, want->item[i].count);
	}
	free(items->item);
}

static void check_sampled(struct hf_index *index, struct hf_summary *summary, uint32_t hart, uint64_t first, uint64_t end)
{
	struct hf_summary_tree *tree, *part;
	uint64_t sum = 0;

	CHECK_EQ(hf_summary_tree_load(summary, hart, &tree), 0);
	CHECK_EQ(hf_summary_tree_sample(summary, index, tree, first, end, &part), 0);
	for (uint32_t i = 0; i < part->count; i++)
		sum += part->nodes[i].own;
	CHECK_EQ(sum, end - first);
	CHECK(part->count <= tree->count);
	hf_summary_tree_free(part);
	hf_summary_tree_free(tree);
}

static void check_intervals(const struct sample *s, struct hf_index *index, struct hf_summary *summary,
			    const struct hf_index_hart *hart)
{
	const uint64_t n = hart->insns;
	/* From, to, in steps of so many; of more and more; or all at once. */
	const struct {
		uint64_t first, end, step, grow;
	} ranges[] = {{0, n, n + 1, 0},		 {n / 3, n - n / 4, n + 1, 0},
		      {n / 5, n, n / 13 + 1, 0}, {n / 2, n / 2 + (n > 1), 1, 0},
		      {0, n < 50 ? n : 50, 2, 0}, {n / 7, n - n / 9, 1, 3}};
	struct hf_events all = sample_all(s, hart->id, 512);
	const struct hf_cursor cursor = {
		.stream = s->stream, .src = s->src, .index = index, .hart = hart->id};

	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
		const uint64_t first = ranges[i].first, end = ranges[i].end;
		uint64_t *at = malloc((size_t)(end - first + 2) * sizeof *at), step = ranges[i].step;
		struct hf_intervals range = {.at = at};
		struct items want;

		CHECK(at);
		at[0] = first;
		for (; at[range.count] < end; step += ranges[i].grow, range.count++)
			at[range.count + 1] = step < end - at[range.count] ? at[range.count] + step : end;
		/* Nothing is an interval too. */
		if (!range.count)
			at[++range.count] = end;
		want = count_intervals(&all, at, range.count);
		check_range_of(&cursor, summary, &want, &range);
		check_range_of(&cursor, NULL, &want, &range);
		range.entered = range.own_source = true;
		check_range_of(&cursor, summary, &want, &range);
		free(at);
		if (first < end)
			check_sampled(index, summary, hart->id, first, end);
		free(want.item);
	}
	hf_events_free(&all);
}

/* ---- modes ---- */

static void check_marks_of(const struct hf_events *all, const struct hf_mode_marks *marks)
{
	uint64_t insns[HF_MODE_COUNT] = {0}, ordinal = 0, seen = 0;
	struct hf_mode_marks mine = *marks;
	struct hf_cursor cursor = *marks->cursor;
	struct hf_mode_marked marked;
	struct hf_diag diag;
	size_t n = 0;

	mine.cursor = &cursor;
	CHECK_EQ(hf_mode_marks_find(&mine, &marked, &diag), 0);
	for (size_t i = 0; i < all->n; i++) {
		const unsigned mode = all->ev[i].insn.mode;

		if (all->ev[i].kind != HF_EVENT_INSN)
			continue;
		if (ordinal >= marks->first && ordinal < marks->end) {
			insns[mode]++;
			if (marks->modes >> mode & 1 && seen++ % marks->every == 0) {
				CHECK(n < marked.count);
				CHECK_EQ(marked.mark[n++], ordinal);
			}
		}
		ordinal++;
	}
	CHECK_EQ(n, marked.count);
	for (unsigned mode = 0; mode < HF_MODE_COUNT; mode++)
		CHECK_EQ(insns[mode], marked.insns[mode]);
	hf_mode_marked_free(&marked);
	hf_cursor_fini(&cursor);
}

static void check_marks(const struct sample *s, struct hf_index *index, struct hf_summary *summary,
			const struct hf_index_hart *hart)
{
	const uint64_t n = hart->insns, ranges[][2] = {{0, n}, {n / 3, n - n / 4}, {n / 2, n / 2}, {n / 2, n / 2 + (n > 1)}},
		       every[] = {1, 3, 50, n + 1};
	struct hf_events all = sample_all(s, hart->id, 512);
	struct hf_cursor cursor = {.stream = s->stream, .src = s->src, .index = index, .hart = hart->id};
	uint64_t met = 0;

	for (size_t i = 0; i < all.n; i++)
		met |= all.ev[i].kind == HF_EVENT_INSN ? UINT64_C(1) << all.ev[i].insn.mode : 0;
	for (size_t i = 0; i < 16; i++) {
		/* One of those that there are, all, and none. */
		const uint64_t modes[] = {met & -met, met & (met - 1), met, 0};
		struct hf_mode_marks marks = {.cursor = &cursor,
					      .summary = summary,
					      .first = ranges[i % 4][0],
					      .end = ranges[i % 4][1],
					      .every = every[i / 4]};

		for (size_t k = 0; k < 4; k++) {
			marks.modes = modes[k];
			marks.summary = summary;
			check_marks_of(&all, &marks);
			marks.summary = NULL;
			check_marks_of(&all, &marks);
		}
	}
	hf_events_free(&all);
}

static void check_hart(const struct sample *s, struct hf_index *index, struct hf_summary *summary,
		       const struct hf_index_hart *hart)
{
	struct items want = count_events(s, index, hart);
	const size_t step = want.n / 100 + 1;

	check_range(summary, hart->id, &want, 0, UINT64_MAX);
	for (size_t i = 0; i < want.n; i += step) {
		const uint64_t pc = want.item[i].pc;

		check_range(summary, hart->id, &want, pc, pc + 1);
		check_count(summary, hart->id, &want, i);
		check_range(summary, hart->id, &want, pc + 1, pc + 1 + 64 * (i % 9));
	}
	free(want.item);
	check_intervals(s, index, summary, hart);
	check_marks(s, index, summary, hart);
}

static void check_built(const struct sample *s, const struct hf_build *build)
{
	const struct hf_index_hart *harts;
	struct hf_summary *summary;
	struct hf_index *index;
	size_t n;

	CHECK_EQ(hf_index_open(build->dirfd, &build->identity, &index), 0);
	n = hf_index_harts(index, &harts);
	if (!hf_summary_is_wanted(index)) {
		CHECK_EQ(hf_summary_open(build->dirfd, &build->identity, &summary), HF_ERR_NOT_FOUND);
		hf_index_close(index);
		return;
	}
	CHECK_EQ(hf_summary_open(build->dirfd, &build->identity, &summary), 0);
	CHECK(hf_summary_fits(summary, index));
	CHECK_EQ(hf_summary_check(summary), 0);
	for (size_t i = 0; i < n; i++)
		check_hart(s, index, summary, &harts[i]);
	CHECK(!hf_summary_is_damaged(summary));
	hf_summary_close(summary);
	hf_index_close(index);
}

static char base[] = "/tmp/hartfs-summary-XXXXXX";
static unsigned directory;

static void check_with(const struct sample *s, uint64_t insns, const struct hf_run_table_room *room)
{
	const struct hf_chunk_limits limits = {.insns = insns};
	struct hf_build build = {.file = s->src, .setup = s->setup, .limits = &limits, .summary = true, .room = room};
	struct hf_diag diag;
	char dir[64];

	sample_about("%s, chunks of %llu%s", s->name, (unsigned long long)insns, room ? ", little memory" : "");
	snprintf(dir, sizeof dir, "%s/%u", base, directory++);
	CHECK_EQ(mkdir(dir, 0700), 0);
	build.dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(build.dirfd >= 0);
	CHECK_EQ(hf_identity_of(s->src, 0, &build.identity, &diag), 0);
	CHECK_EQ(hf_build_run(&build, &diag), 0);
	check_built(s, &build);
	close(build.dirfd);
}

static void check(struct sample *s)
{
	for (size_t i = 0; i < sizeof chunk_insns / sizeof *chunk_insns; i++) {
		check_with(s, chunk_insns[i], NULL);
		check_with(s, chunk_insns[i], &little);
	}
}

void loop_summary(struct samples *all)
{
	char command[64];

	CHECK(mkdtemp(base));
	samples_each(all, check);
	snprintf(command, sizeof command, "rm -rf %s", base);
	CHECK_EQ(system(command), 0);
}
