/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of view tables: chunks with few bytes are joined, and come out the same wherever a build was interrupted. */
#include "index/index.h"
#include "index/pass/view_join.h"
#include "index/store/memdir.h"

#include "tests/lib/check.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 300, SLOT = 3 };

static struct hf_view_chunk chunk[MOST], row[MOST];
static uint64_t chunks, rows;
static struct hf_store *store;
static struct hf_view_join join;
static uint64_t seed = 1;

static uint64_t pick(uint64_t n)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (seed >> 33) % n;
}

static void make_chunks(void)
{
	static const uint64_t sizes[] = {0, 1, 9, 130, 300, 511, 1023, 1024, 5000};
	uint64_t offset = 0;

	chunks = 1 + pick(MOST);
	for (uint64_t i = 0; i < chunks; i++) {
		struct hf_view_chunk *c = &chunk[i];

		*c = (struct hf_view_chunk){.chunk = i, .chunks = 1, .offset = offset, .checksum = pick(1u << 30)};
		c->size = c->checked = sizes[pick(sizeof sizes / sizeof *sizes)];
		c->entry_size = (uint32_t)pick(20);
		for (uint32_t k = 0; k < c->entry_size; k++)
			c->entry[k] = (uint8_t)pick(256);
		offset += c->size;
	}
}

/* As the manual has it. */
static void make_rows(bool joins)
{
	rows = 0;
	for (uint64_t i = 0; i < chunks; i++) {
		struct hf_view_chunk *last = &row[rows - (rows > 0)];

		if (joins && rows && i + 1 < chunks && last->size < 1024 && last->chunks < 8) {
			last->chunks++;
			last->size += chunk[i].size;
			last->checked += chunk[i].checked;
			last->checksum = last->checksum * UINT64_C(11400714819323198485) + chunk[i].checksum;
		} else {
			row[rows] = chunk[i];
			row[rows].number = rows;
			rows++;
		}
	}
}

static void check_rows(void)
{
	struct hf_view_chunk got;
	struct hf_view_hart hart;
	uint64_t key;

	for (uint64_t i = 0; i < rows; i++) {
		CHECK_EQ(hf_store_find(store, &hf_table_view_chunk, HF_SEEK_AT, hf_row_id(SLOT, i), NULL, &got), 0);
		CHECK(hf_row_equal(&hf_table_view_chunk, &got, &row[i]));
	}
	CHECK_EQ(hf_store_find(store, &hf_table_view_chunk, HF_SEEK_FROM, hf_row_id(SLOT, rows), NULL, &got),
		 HF_NOTE_END);
	CHECK_EQ(hf_store_find(store, &hf_table_view_hart, HF_SEEK_AT, SLOT, &key, &hart), 0);
	CHECK(hart.rows == rows && hart.chunks == chunks && hart.id == 77);
}

static uint64_t id_of(uint64_t number)
{
	return hf_row_id(SLOT, number);
}

/* A build that was interrupted goes on at the index's last chunk, or before it: *next is to come next. */
static void go_on(uint64_t last, uint64_t *next)
{
	struct hf_view_chunk resume;
	uint64_t start;

	hf_view_join_clear(&join);
	CHECK_EQ(hf_view_join_start(store, id_of(last), &start), 0);
	*next = start & HF_NUMBER_MAX;
	CHECK(*next <= last && last - *next < 8);
	if (*next < last)
		CHECK_EQ(hf_view_join_cut(&join, store, id_of(last), &resume), HF_NOTE_END);
	CHECK_EQ(hf_view_join_cut(&join, store, start, &resume), 0);
	CHECK_EQ(resume.offset, chunk[*next].offset);
	CHECK(resume.entry_size == chunk[*next].entry_size &&
	      memcmp(resume.entry, chunk[*next].entry, resume.entry_size) == 0);
}

static void build(bool joins)
{
	const struct hf_view_hart hart = {.slot = SLOT, .id = 77, .chunks = chunks, .size = 1};
	uint64_t settled = 0, next = 0, committed = 0; /* how many chunks */
	unsigned kills = 20;

	join.joins = joins;
	while (settled < chunks) {
		for (uint64_t n = pick(14); n && next < chunks; n--, next++)
			CHECK_EQ(hf_view_join_add(&join, id_of(next), &chunk[next]), 0);
		if (next == chunks)
			hf_view_join_end(&join, &hart);
		while (settled < next && pick(5))
			CHECK_EQ(hf_view_join_settle(&join, store, id_of(settled++)), 0);
		if (settled == chunks || pick(4))
			continue;
		CHECK_EQ(hf_view_join_write(&join, store), 0);
		CHECK_EQ(hf_store_commit(store), 0);
		/* The index has no more than before if it was killed in the middle. */
		if (pick(3))
			committed = settled;
		if (!committed || committed > settled || !kills || pick(2))
			continue;
		kills--;
		go_on(committed - 1, &next);
		settled = next;
	}
	check_rows();
	CHECK(!join.waiting_count && !join.has_end);
}

/* What has no row, and what a view that is behind has. */
static void test_missing(void)
{
	struct hf_view_chunk got;
	uint64_t id;

	CHECK_EQ(hf_view_join_start(store, id_of(chunks + 7), &id), HF_NOTE_END);
	CHECK_EQ(hf_view_join_start(store, hf_row_id(SLOT + 1, 0), &id), HF_NOTE_END);
	CHECK_EQ(hf_view_join_start(store, hf_row_id(SLOT - 1, 5), &id), HF_NOTE_END);
	CHECK_EQ(hf_view_join_cut(&join, store, hf_row_id(SLOT + 1, 0), &got), HF_NOTE_END);
	for (uint64_t i = chunks - 1; i < chunks + 7; i++) {
		CHECK_EQ(hf_view_join_start(store, id_of(i), &id), 0);
		CHECK_EQ(id, id_of(chunks - 1));
	}
}

int main(void)
{
	struct hf_store_dir dir = {.fd = -1, .into = HF_INTO_MEMORY};
	struct hf_part part;
	unsigned joined = 0;

	for (unsigned i = 0; i < 200; i++) {
		CHECK_EQ(hf_memdir_new(-1, UINT64_MAX, &dir.memory), 0);
		CHECK_EQ(hf_part_open(&dir, "0.packets.hfv", &part), 0);
		CHECK_EQ(hf_store_open_part(&part, HF_DB_VIEW, &store), 0);
		make_chunks();
		make_rows(i % 4 != 0);
		joined += rows < chunks;
		build(i % 4 != 0);
		test_missing();
		hf_view_join_fini(&join);
		hf_store_close(store);
		hf_part_close(&part);
		hf_memdir_free(dir.memory);
	}
	CHECK(joined > 100);
	return 0;
}
