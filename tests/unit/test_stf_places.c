/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a .zstf says of the places between its chunks, start pc and number of instructions: where that is wrong there is
 * a note, the same one however decoding was entered.
 */
#include "codecs/stf/errors.h"
#include "tests/lib/zstftest.h"

struct note {
	int code;
	uint64_t at;
	uint64_t part;
};

/* Takes the notes about the file out of the list and compares them with those that belong there. */
static size_t take_notes(struct hf_events *list, const struct note *notes, size_t count, size_t first)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->n; i++) {
		const struct hf_event *ev = &list->ev[i];

		if (ev->kind != HF_EVENT_NOTE) {
			list->ev[kept++] = *ev;
			continue;
		}
		CHECK(first < count);
		CHECK_EQ((int)ev->code, -notes[first].code);
		CHECK_EQ(ev->flags, HF_EVF_FILE);
		CHECK_EQ(ev->loss.offset, notes[first].at);
		CHECK_EQ(ev->loss.detail, notes[first].part);
		CHECK_EQ(ev->loss.bytes, 0);
		first++;
	}
	list->n = kept;
	return first;
}

/* The container has these notes, all on the one hart, and besides what its stream says. */
static void check_notes(struct hf_zt_cut *c, const struct note *notes, size_t count)
{
	struct hf_events plain = hf_stft_decode(&c->stream, 0), list;
	struct hf_src *file;

	CHECK_EQ(hf_src_memory_new(c->file.p, c->file.n, &file), 0);
	list = hf_zt_all_events(file, 0);
	hf_zt_check_entries(&c->file, &list, 1);
	CHECK_EQ(take_notes(&list, notes, count, 0), count);
	hf_events_check_same(&plain, &list, "without the notes");
	hf_events_free(&plain);
	hf_events_free(&list);
	hf_src_free(file);
}

static void test_right(void)
{
	struct hf_zt_cut c = hf_zt_make(1);

	hf_zt_pack(&c);
	check_notes(&c, NULL, 0);
	/* all in one, which is said to be much smaller: nothing is said of where the last one ends */
	c.count = 1;
	c.cut[1] = c.stream.n;
	hf_zt_pack(&c);
	check_notes(&c, NULL, 0);
	hf_zt_drop(&c);
}

static void test_pc(void)
{
	struct hf_zt_cut c = hf_zt_make(1);

	for (size_t i = 1; i < HF_ZT_CHUNKS; i++) {
		c.pc[i] += 2;
		hf_zt_pack(&c);
		check_notes(&c, (struct note[]){{HF_ERR_ZSTF_PC, hf_zt_pc_at(&c, i), i}}, 1);
		c.pc[i] -= 2;
	}
	/* the first one is 0 and means nothing */
	hf_zt_pack(&c);
	hf_put64(c.file.p + hf_zt_pc_at(&c, 0), 77);
	check_notes(&c, NULL, 0);
	hf_zt_drop(&c);
}

/* Where the group behind group i of the stream begins, by decoding up to there. */
static size_t group_end(const struct hf_zt_cut *c, unsigned groups, uint64_t *ret_pc)
{
	struct hf_walk_bytes b = {0};
	uint64_t pc = HF_ZT_START;
	size_t end;

	hf_stft_header(&b, HF_ZT_FEATURES, HF_ZT_START);
	for (unsigned i = 0; i < groups; i++)
		pc = hf_zt_put_group(&b, i, pc);
	CHECK(memcmp(b.p, c->stream.p, b.n) == 0);
	*ret_pc = pc;
	end = b.n;
	hf_bytes_free(&b);
	return end;
}

static void move_cut(struct hf_zt_cut *c, size_t i, unsigned groups)
{
	c->cut[i] = group_end(c, groups, &c->pc[i]);
}

static void test_count(void)
{
	struct hf_zt_cut c = hf_zt_make(1);

	/* one short, the next one has it: both are what they should not be */
	move_cut(&c, 1, HF_ZT_PER_CHUNK - 1);
	hf_zt_pack(&c);
	check_notes(&c,
		    (struct note[]){{HF_ERR_ZSTF_COUNT, 20, 0}, {HF_ERR_ZSTF_COUNT, hf_zt_chunk_at(&c, 1), 1}}, 2);
	/* all further ones are shifted, but as long as they should be */
	for (size_t i = 2; i < HF_ZT_CHUNKS; i++)
		move_cut(&c, i, HF_ZT_PER_CHUNK * (unsigned)i - 1);
	hf_zt_pack(&c);
	check_notes(&c, (struct note[]){{HF_ERR_ZSTF_COUNT, 20, 0}}, 1);
	/* the last one may hold fewer, and nothing says how many */
	hf_zt_drop(&c);
	c = hf_zt_make(1);
	move_cut(&c, HF_ZT_CHUNKS - 1, HF_ZT_PER_CHUNK * (HF_ZT_CHUNKS - 1) + 3);
	hf_zt_pack(&c);
	check_notes(&c, (struct note[]){{HF_ERR_ZSTF_COUNT, hf_zt_chunk_at(&c, HF_ZT_CHUNKS - 2), HF_ZT_CHUNKS - 2}}, 1);
	/* both defects in one place; the count comes first */
	c.pc[HF_ZT_CHUNKS - 1]++;
	hf_zt_pack(&c);
	check_notes(&c,
		    (struct note[]){{HF_ERR_ZSTF_COUNT, hf_zt_chunk_at(&c, HF_ZT_CHUNKS - 2), HF_ZT_CHUNKS - 2},
				    {HF_ERR_ZSTF_PC, hf_zt_pc_at(&c, HF_ZT_CHUNKS - 1), HF_ZT_CHUNKS - 1}},
		    2);
	/* 0 instructions per chunk promise nothing (the table is wrong anyhow) */
	hf_put64(c.file.p + 4, 0);
	check_notes(&c, (struct note[]){{HF_ERR_ZSTF_PC, hf_zt_pc_at(&c, HF_ZT_CHUNKS - 1), HF_ZT_CHUNKS - 1}}, 1);
	hf_zt_drop(&c);
}

/* Chunks that end inside a group of records, as no writer should: what can be compared is. */
static void test_inside(void)
{
	struct hf_zt_cut c = hf_zt_make(1);
	uint64_t pc;

	/* inside the third chunk's first group, in front of its instruction */
	c.cut[3] = group_end(&c, 3 * HF_ZT_PER_CHUNK, &pc) + 1;
	hf_zt_pack(&c);
	check_notes(&c, NULL, 0);
	c.cut[3] = group_end(&c, 3 * HF_ZT_PER_CHUNK - 1, &pc) + 1;
	hf_zt_pack(&c);
	check_notes(&c,
		    (struct note[]){{HF_ERR_ZSTF_COUNT, hf_zt_chunk_at(&c, 2), 2}, {HF_ERR_ZSTF_COUNT, hf_zt_chunk_at(&c, 3), 3}},
		    2);
	/* several in one group */
	c.cut[3] = group_end(&c, 3 * HF_ZT_PER_CHUNK, &pc) + 1;
	c.cut[4] = c.cut[3] + 1;
	c.cut[5] = c.cut[3] + 2;
	hf_zt_pack(&c);
	check_notes(&c,
		    (struct note[]){{HF_ERR_ZSTF_COUNT, hf_zt_chunk_at(&c, 3), 3},
				    {HF_ERR_ZSTF_COUNT, hf_zt_chunk_at(&c, 4), 4},
				    {HF_ERR_ZSTF_COUNT, hf_zt_chunk_at(&c, 5), 5}},
		    3);
	hf_zt_drop(&c);
}

/* Without a table, or with one that is wrong, nothing is known. */
static void test_no_table(void)
{
	struct hf_zt_cut c = hf_zt_make(1);

	move_cut(&c, 3, 3 * HF_ZT_PER_CHUNK - 2);
	c.pc[5]++;
	hf_zt_pack(&c);
	c.file.n = hf_zt_table_at(&c);
	check_notes(&c, NULL, 0);
	hf_zt_pack(&c);
	hf_put64(c.file.p + 12, 0);
	check_notes(&c, NULL, 0);
	hf_zt_pack(&c);
	hf_put64(c.file.p + 12, hf_zt_table_at(&c) + 24);
	check_notes(&c, NULL, 0);
	/* one entry that does not name its chunk says nothing of it, the others do */
	hf_zt_drop(&c);
	c = hf_zt_make(1);
	c.pc[5]++;
	c.pc[6]++;
	hf_zt_pack(&c);
	hf_put64(c.file.p + hf_zt_table_at(&c) + 8 + 24 * 5, 21);
	check_notes(&c, (struct note[]){{HF_ERR_ZSTF_PC, hf_zt_pc_at(&c, 6), 6}}, 1);
	hf_zt_drop(&c);
}

/* Every note is on one hart, that of the group before the place. */
static void test_harts(void)
{
	enum { HARTS = 3 };
	struct hf_zt_cut c = hf_zt_make(HARTS);
	struct hf_events list[HARTS];
	struct hf_src *file;
	size_t notes = 0;

	for (size_t i = 1; i < HF_ZT_CHUNKS; i++)
		c.pc[i]++;
	hf_zt_pack(&c);
	CHECK_EQ(hf_src_memory_new(c.file.p, c.file.n, &file), 0);
	for (uint32_t h = 0; h < HARTS; h++)
		list[h] = hf_zt_all_events(file, h);
	hf_zt_check_entries(&c.file, list, HARTS);
	for (uint32_t h = 0; h < HARTS; h++) {
		for (size_t i = 0; i < list[h].n; i++) {
			const struct hf_event *ev = &list[h].ev[i];
			uint64_t part;

			if (ev->kind != HF_EVENT_NOTE)
				continue;
			notes++;
			part = ev->loss.detail;
			CHECK_EQ((int)ev->code, -HF_ERR_ZSTF_PC);
			CHECK_EQ(ev->loss.offset, hf_zt_pc_at(&c, part));
			CHECK_EQ((part * HF_ZT_PER_CHUNK - 1) / 9 % HARTS, h);
		}
		hf_events_free(&list[h]);
	}
	CHECK_EQ(notes, HF_ZT_CHUNKS - 1);
	hf_src_free(file);
	hf_zt_drop(&c);
}

/* Longer than any window: the fast way comes to places too. */
static void test_long(void)
{
	enum { N = 30000 };
	struct hf_zt_cut c = {.count = 3};
	struct hf_src *file;
	struct hf_events list;

	hf_stft_header(&c.stream, HF_ZT_FEATURES, HF_ZT_START);
	for (unsigned i = 0; i < 3 * N; i++) {
		if (i % N == 0) {
			c.cut[i / N] = i ? c.stream.n : 0;
			c.pc[i / N] = HF_ZT_START + 4 * i + (i == 2 * N);
		}
		PUT(&c.stream, INST_OPCODE32, .size = 0x13);
	}
	c.cut[3] = c.stream.n;
	hf_zt_pack(&c);
	hf_put64(c.file.p + 4, N - 1);
	CHECK_EQ(hf_src_memory_new(c.file.p, c.file.n, &file), 0);
	list = hf_zt_growing_events(file, 0, 256, SIZE_MAX);
	for (uint64_t k = 7; k < 100000; k *= 77) {
		struct hf_zt_served s;
		struct hf_events other;

		hf_zt_serve(&s, &c.file, k);
		other = hf_zt_served_events(&s, 0);
		hf_events_check_same(&list, &other, "long");
		hf_events_free(&other);
		hf_zt_stop(&s);
	}
	CHECK_EQ(take_notes(&list,
			    (struct note[]){{HF_ERR_ZSTF_COUNT, 20, 0},
					    {HF_ERR_ZSTF_COUNT, hf_zt_chunk_at(&c, 1), 1},
					    {HF_ERR_ZSTF_PC, hf_zt_pc_at(&c, 2), 2}},
			    3, 0),
		 3);
	CHECK_EQ(list.n, 3 * N);
	hf_events_free(&list);
	hf_src_free(file);
	hf_zt_drop(&c);
}

/* What the index says of it: the place in the file, and after how many instructions. */
static void test_problems(void)
{
	struct hf_zt_cut c = hf_zt_make(1);
	struct hf_index_problem p;
	struct hf_zt_served s;

	c.pc[4]++;
	hf_zt_pack(&c);
	hf_zt_serve(&s, &c.file, 7);
	CHECK_EQ(hf_index_problem_count(s.index), 1);
	CHECK_EQ(hf_index_problem_at(s.index, 0, &p), 0);
	CHECK_EQ(p.diag.code, HF_ERR_ZSTF_PC);
	CHECK_EQ(p.diag.space, HF_SPACE_FILE);
	CHECK_EQ(p.diag.offset, hf_zt_pc_at(&c, 4));
	CHECK_EQ(p.diag.detail, 4);
	CHECK(p.has_ordinal);
	hf_zt_stop(&s);
	hf_zt_drop(&c);
}

int main(void)
{
	hf_zt_init();
	test_right();
	test_pc();
	test_count();
	test_inside();
	test_no_table();
	test_harts();
	test_long();
	test_problems();
	hf_zt_fini();
	return 0;
}
