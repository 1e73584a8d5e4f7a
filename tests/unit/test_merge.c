/* SPDX-License-Identifier: Apache-2.0 */
/* Listings merged by time: the runs of made-up harts against a plain sort, from every place, and damaged tables. */
#include "index/read/merge.h"

#include "index/read/times.h"
#include "index/store/memdir.h"
#include "index/store/store.h"
#include "tests/lib/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HARTS = 6, LINES = 400 };

/* A line with a time, or the first run of a hart. */
struct piece {
	bool timed, back;
	uint64_t time, from, to;
	uint32_t hart;
	size_t place;
};

struct model {
	struct hf_store_dir dir;
	struct hf_part part;
	struct hf_store *store;
	struct hf_view_hart harts[HARTS];
	struct piece piece[HARTS * (LINES + 1)];
	size_t count, timed_harts;
};

static uint64_t seed;

static uint64_t draw(uint64_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (seed >> 33) % below;
}

/* In memory, as of a build whose directory cannot be written. */
static void open_store(struct model *m)
{
	m->dir = (struct hf_store_dir){.fd = -1, .into = HF_INTO_MEMORY};
	CHECK_EQ(hf_memdir_new(-1, UINT64_MAX, &m->dir.memory), 0);
	CHECK_EQ(hf_part_open(&m->dir, "0.listing.hfv", &m->part), 0);
	CHECK_EQ(hf_store_open_part(&m->part, HF_DB_VIEW, &m->store), 0);
}

static void close_store(struct model *m)
{
	hf_store_close(m->store);
	hf_part_close(&m->part);
	hf_memdir_free(m->dir.memory);
}

static void add_piece(struct model *m, const struct piece *piece)
{
	struct piece *before = m->count ? &m->piece[m->count - 1] : NULL;

	if (before && before->hart == piece->hart) {
		before->to = piece->from;
		/* A listing may begin with a time. */
		if (before->to == before->from)
			m->count--;
	}
	m->piece[m->count++] = *piece;
}

/* Rows end at chunks, and anywhere else. */
static void put_row(struct model *m, uint64_t slot, uint64_t *chunk, uint64_t *number, struct hf_times_writer *w)
{
	if (w->row.n)
		CHECK_EQ(hf_store_put(m->store, &hf_table_view_time, hf_times_key(hf_row_id(slot, *chunk), (*number)++), &w->row), 0);
	w->row.n = 0;
	if (*number == 64 || draw(2)) {
		*chunk += 1 + draw(3);
		*number = 0;
	}
}

/* step: of times; some fall by up to fall. */
static void make_hart(struct model *m, uint64_t slot, uint32_t id, size_t lines, uint64_t step, uint64_t fall)
{
	static struct hf_times_writer w;
	uint64_t time = draw(50), most = 0, at = draw(2) * draw(100), chunk = draw(3), number = 0;
	bool known = false, behind = false;

	w = (struct hf_times_writer){0};
	add_piece(m, &(struct piece){.hart = id, .to = at});
	for (size_t i = 0; i < lines; i++) {
		const bool back = known && time < most;

		hf_times_put(&w, at, time);
		if (!known || time > most || (back && !behind))
			add_piece(m, &(struct piece){.timed = true,
						     .back = back,
						     .time = back ? most : time,
						     .from = at,
						     .hart = id,
						     .place = i});
		behind = back || (behind && time == most);
		most = !known || time > most ? time : most;
		known = true;
		at += 1 + draw(200);
		time = fall && !draw(20) ? time - (time < fall ? time : fall) : time + draw(step);
		if (!draw(10))
			put_row(m, slot, &chunk, &number, &w);
	}
	put_row(m, slot, &chunk, &number, &w);
	m->timed_harts += lines > 0;
	if (!lines)
		at = id % 2 ? 0 : 1000;
	m->piece[m->count - 1].to = at;
	m->count -= m->piece[m->count - 1].from == at;
	m->harts[slot] = (struct hf_view_hart){.slot = slot, .size = at, .chunks = chunk + 4, .id = id};
	CHECK_EQ(hf_store_put(m->store, &hf_table_view_hart, slot, &m->harts[slot]), 0);
}

static int compare(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->timed != y->timed)
		return x->timed - y->timed;
	if (x->timed && x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->hart != y->hart)
		return x->hart < y->hart ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

static void check_run(const struct hf_merge_run *run, const struct piece *want, const struct piece *before)
{
	char head[64] = "";

	if (!want->timed || want->back || !before || before->hart != want->hart)
		snprintf(head, sizeof head, "# hart %u%s\n", want->hart,
			 !want->timed ? " time unknown" : want->back ? " time goes back" : "");
	CHECK_EQ(run->hart, want->hart);
	CHECK_EQ(run->from, want->from);
	CHECK_EQ(run->to, want->to);
	CHECK_EQ(run->head_size, strlen(head));
	CHECK(!memcmp(run->head, head, run->head_size));
}

/* All runs from the start, and the offsets at which they begin. */
static void check_all(const struct model *m, uint64_t *offset)
{
	struct hf_merge_run run;
	struct hf_merge *merge;

	CHECK_EQ(hf_merge_new(m->store, NULL, m->harts, HARTS, &merge), 0);
	offset[0] = 0;
	for (size_t i = 0; i < m->count; i++) {
		CHECK_EQ(hf_merge_next(merge, &run), 0);
		check_run(&run, &m->piece[i], i ? &m->piece[i - 1] : NULL);
		CHECK_EQ(run.offset, offset[i]);
		offset[i + 1] = offset[i] + run.head_size + (run.to - run.from);
	}
	CHECK_EQ(hf_merge_next(merge, &run), HF_NOTE_END);
	hf_merge_free(merge);
}

/* From the place before an offset on the same runs come. */
static void check_seek(const struct model *m, const uint64_t *offset, uint64_t at)
{
	struct hf_merge_run run;
	struct hf_merge *merge;
	size_t i = 0;

	CHECK_EQ(hf_merge_new(m->store, NULL, m->harts, HARTS, &merge), 0);
	CHECK_EQ(hf_merge_seek(merge, at), 0);
	CHECK_EQ(hf_merge_next(merge, &run), 0);
	CHECK(run.offset <= at);
	while (offset[i] != run.offset)
		CHECK(++i < m->count);
	for (; i < m->count; i++) {
		check_run(&run, &m->piece[i], i ? &m->piece[i - 1] : NULL);
		CHECK_EQ(run.offset, offset[i]);
		CHECK_EQ(hf_merge_next(merge, &run), i + 1 < m->count ? 0 : HF_NOTE_END);
	}
	hf_merge_free(merge);
}

static void check_places(const struct model *m, const uint64_t *offset)
{
	uint64_t size;

	CHECK_EQ(hf_merge_write(m->store), 0);
	CHECK_EQ(hf_merge_size(m->store, &size), 0);
	if (m->timed_harts < 2) {
		struct hf_view_times *times = malloc(sizeof *times);

		CHECK_EQ(size, HF_NOWHERE);
		CHECK_EQ(hf_store_find(m->store, &hf_table_view_time, HF_SEEK_FROM, 0, NULL, times), HF_NOTE_END);
		free(times);
		return;
	}
	CHECK_EQ(size, offset[m->count]);
	for (unsigned i = 0; i < 20; i++)
		check_seek(m, offset, draw(size));
	check_seek(m, offset, size - 1);
}

static void round_trip(uint64_t with, size_t most)
{
	static struct model m;
	static uint64_t offset[HARTS * (LINES + 1) + 1];

	seed = with;
	m = (struct model){0};
	open_store(&m);
	for (uint64_t slot = 0; slot < HARTS; slot++)
		/* Ids are in another order than slots. */
		make_hart(&m, slot, (uint32_t)(slot * 5 % 7 * 10), draw(3) ? draw(most) : 0, 1 + draw(50), draw(2) * 300);
	qsort(m.piece, m.count, sizeof *m.piece, compare);
	check_all(&m, offset);
	check_places(&m, offset);
	close_store(&m);
}

/* Times that differ where 64 bits end. */
static void check_large(void)
{
	static struct hf_times_writer w;
	struct hf_times_reader reader;
	struct hf_time_line line;
	const uint64_t time[] = {0, UINT64_MAX - 1, UINT64_MAX, UINT64_MAX, 0, UINT64_MAX};

	w = (struct hf_times_writer){0};
	for (size_t i = 0; i < sizeof time / sizeof *time; i++)
		hf_times_put(&w, 10 * i, time[i]);
	hf_times_begin(&reader, &w.row, w.row.data, w.row.n);
	for (size_t i = 0; i < 3; i++) {
		CHECK_EQ(hf_times_next(&reader, &line), 0);
		CHECK_EQ(line.offset, 10 * i);
		CHECK_EQ(line.time, time[i]);
		CHECK(!line.back);
	}
	CHECK_EQ(hf_times_next(&reader, &line), 0);
	CHECK_EQ(line.offset, 40);
	CHECK(line.back);
	CHECK_EQ(hf_times_next(&reader, &line), HF_NOTE_END);
}

int main(void)
{
	for (uint64_t i = 0; i < 300; i++)
		round_trip(i, i % 3 ? 12 : LINES);
	check_large();
	return 0;
}
