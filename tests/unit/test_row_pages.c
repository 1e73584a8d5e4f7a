/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of chunks in pages: they come back as they were put, by every key and after every cut; columns that somebody
 * made up are refused, or answer within limits. */
#include "index/base/digest.h"
#include "index/index.h"
#include "index/table/index_tables.h"
#include "index/table/row_pages.h"

#include "codecs/base/bytes.h"
#include "tests/lib/check.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { SLOTS = 3, MOST = 1500 };

static struct hf_row_pages pages;
static sqlite3 *db;
static uint64_t put_count[SLOTS];
static uint64_t flow_before[SLOTS][MOST];
static uint64_t seed = 1;

static uint64_t pick(uint64_t n)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (seed >> 33) % n;
}

static uint64_t scatter(uint64_t key)
{
	key *= UINT64_C(0x9e3779b97f4a7c15);
	return key ^ key >> 29;
}

static void open_pages(void)
{
	pages = (struct hf_row_pages){.rows = {.db = db, .table = &hf_table_page}, .table = &hf_table_chunk};
}

static void reopen(void)
{
	CHECK_EQ(hf_row_pages_write(&pages), 0);
	hf_row_pages_close(&pages);
	open_pages();
}

/* A state as codecs have them: numbers that are like others of the chunk. */
static void make_state(uint64_t x, struct hf_chunk *c)
{
	const uint64_t field[] = {3, c->pc, 0, c->stream_offset + x % 3, 2 * (c->pc - 2) + 1, x % 2, UINT64_MAX};
	uint8_t *p = c->entry;

	for (size_t i = 0; i < sizeof field / sizeof field[0] - x % 2; i++)
		p = hf_put_varint(p, field[i]);
	c->entry_size = (uint32_t)(p - c->entry);
}

/* Chunk number of a slot, as it always is. */
static void make(uint64_t slot, uint64_t number, struct hf_chunk *c)
{
	const uint64_t x = scatter(slot << 32 | number);

	*c = (struct hf_chunk){
		.ordinal = number * 16384 + x % 5, .stream_offset = number * 70000 + x % 999, .events = x % 40000};
	c->pc = number % 7 ? 0xffffffff80001000 + x % 4096 : x;
	c->digest = (struct hf_digest){x, slot == 2 ? 0 : scatter(x + 1)};
	c->entry_size = (uint32_t)(x % 70);
	/* Now and then as large, and as little to be compressed, as it can be. */
	if (slot == 1 && x % 97 == 0)
		c->entry_size = HF_ENTRY_MAX;
	for (uint32_t i = 0; i < c->entry_size; i++)
		c->entry[i] = (uint8_t)(c->entry_size < HF_ENTRY_MAX ? i : scatter(x + i));
	if (slot == 2)
		make_state(x, c);
	if (number < MOST)
		c->before.flow = flow_before[slot][number];
}

/* What is before a chunk follows from the one before. */
static void make_flows(void)
{
	for (uint64_t slot = 0; slot < SLOTS; slot++)
		for (uint64_t i = 0; i + 1 < MOST; i++) {
			struct hf_digest before = {.flow = flow_before[slot][i]};
			struct hf_chunk c;

			make(slot, i, &c);
			flow_before[slot][i + 1] = hf_digest_join(&before, c.ordinal, &c.digest).flow;
		}
}

static void put(uint64_t slot)
{
	struct hf_chunk c;

	make(slot, put_count[slot], &c);
	CHECK_EQ(hf_row_pages_put(&pages, hf_row_id(slot, put_count[slot]++), &c), 0);
}

static void check_row(uint64_t key, const struct hf_chunk *c)
{
	const uint64_t slot = key >> HF_NUMBER_BITS, number = key & HF_NUMBER_MAX;
	struct hf_chunk want;

	CHECK(slot < SLOTS && number < put_count[slot]);
	make(slot, number, &want);
	CHECK(hf_row_equal(&hf_table_chunk, c, &want));
}

/* The key that a seek must find; UINT64_MAX: none. */
static uint64_t expected(enum hf_seek seek, uint64_t key)
{
	const uint64_t number = key & HF_NUMBER_MAX;
	uint64_t slot = key >> HF_NUMBER_BITS;

	if (slot < SLOTS && number < put_count[slot])
		return key;
	if (seek == HF_SEEK_FROM)
		for (slot++; slot < SLOTS; slot++)
			if (put_count[slot])
				return hf_row_id(slot, 0);
	if (seek == HF_SEEK_BACK)
		for (slot = slot < SLOTS ? slot + 1 : SLOTS; slot-- > 0;)
			if (put_count[slot])
				return hf_row_id(slot, put_count[slot] - 1);
	return UINT64_MAX;
}

static void look_up(uint64_t key)
{
	static struct hf_chunk c;
	uint64_t got, number;

	for (int seek = HF_SEEK_AT; seek <= HF_SEEK_BACK; seek++) {
		const uint64_t want = expected((enum hf_seek)seek, key);
		int err = hf_row_pages_find(&pages, (enum hf_seek)seek, key, &got, &c);

		CHECK_EQ(err, want == UINT64_MAX ? HF_NOTE_END : 0);
		if (err)
			continue;
		CHECK_EQ(got, want);
		check_row(got, &c);
	}
	if (hf_row_pages_find(&pages, HF_SEEK_AT, key, NULL, &c))
		return;
	CHECK_EQ(hf_row_pages_number(&pages, key, &number), 0);
	CHECK_EQ(number, c.ordinal);
	CHECK_EQ(hf_row_pages_number_near(&pages, key, &got, &number), 0);
	CHECK(got <= key && got >> HF_NUMBER_BITS == key >> HF_NUMBER_BITS);
	CHECK_EQ(hf_row_pages_find(&pages, HF_SEEK_AT, got, NULL, &c), 0);
	CHECK_EQ(number, c.ordinal);
}

static void look_up_some(unsigned n)
{
	while (n--)
		look_up(hf_row_id(pick(SLOTS), pick(MOST + 9)));
	look_up(HF_COUNT_MAX);
}

static uint64_t query(const char *sql)
{
	uint64_t value;

	CHECK_EQ(hf_db_number(db, sql, &value), 0);
	return value;
}

/* Two pages fit into one of the database, if no row alone is larger, and little room is left. */
static void check_sizes(void)
{
	CHECK_EQ(query("SELECT sum(chunks) FROM chunk"), put_count[0] + put_count[1] + put_count[2]);
	CHECK(query("SELECT count(*) > 5 AND avg(length(data)) > 3000 AND max(length(data)) < 4050 FROM chunk WHERE id "
		    "< 1 << 40"));
	CHECK(query("SELECT sum(length(data)) < 40 * sum(chunks) FROM chunk WHERE id < 1 << 40"));
	/* One digest, and little of each column that is like another one. */
	CHECK(query("SELECT sum(length(data)) < 24 * sum(chunks) FROM chunk WHERE id >= 2 << 40"));
}

static void test_rows(void)
{
	for (unsigned turn = 0; turn < 3; turn++) {
		while (put_count[0] < MOST || put_count[1] < MOST || put_count[2] < MOST) {
			const uint64_t slot = pick(SLOTS);

			for (uint64_t n = pick(60); n && put_count[slot] < MOST; n--)
				put(slot);
			if (!pick(9))
				reopen();
			look_up_some(3);
		}
		reopen();
		look_up_some(2000);
		check_sizes();
		if (turn == 2)
			break;
		/* As a build that goes on somewhere cuts off what it makes again. */
		for (uint64_t slot = SLOTS; slot-- > 0;) {
			const uint64_t keep = pick(MOST);

			CHECK_EQ(hf_row_pages_cut(&pages, hf_row_id(slot, keep),
						  slot + 1 < SLOTS && turn ? hf_row_id(slot, HF_NUMBER_MAX)
									   : HF_COUNT_MAX),
				 0);
			put_count[slot] = keep;
			if (!turn)
				for (uint64_t other = slot + 1; other < SLOTS; other++)
					put_count[other] = 0;
			look_up_some(50);
		}
	}
	look_up(0);
}

static void test_order(void)
{
	static struct hf_chunk c;

	CHECK_EQ(hf_row_pages_put(&pages, hf_row_id(1, 5), &c), HF_ERR_BUG);
	CHECK_EQ(hf_row_pages_put(&pages, hf_row_id(1, MOST - 1), &c), HF_ERR_BUG);
	look_up_some(100);
}

/* The bytes of a page of 40 rows, with some of them changed. */
static void change_bytes(const struct hf_row_page *page)
{
	static struct hf_packed_page packed;
	struct hf_squeeze squeeze = {0};
	static uint8_t raw[HF_PAGE_BYTES], data[HF_PAGE_BYTES + 1024];
	static union {
		struct hf_chunk chunk;
		struct hf_view_chunk view;
	} row;
	struct hf_row_page other = {.table = page->table};
	unsigned taken = 0;

	CHECK_EQ(hf_row_page_pack(page, &squeeze, &packed), 0);
	CHECK_EQ(ZSTD_decompress(raw, sizeof raw, packed.data, packed.n), packed.size);
	for (unsigned i = 0; i < 20000; i++) {
		const uint64_t at = pick(packed.size);
		const uint8_t was = raw[at];
		const uint32_t rows = pick(4) ? 40 : (uint32_t)pick(HF_PAGE_ROWS + 2);
		const size_t size = pick(4) ? packed.size : pick(packed.size);
		size_t n;
		int err;

		raw[at] = (uint8_t)pick(256);
		n = ZSTD_compress(data, sizeof data, raw, size, 1);
		err = hf_row_page_unpack(&other, rows, data, n, size);
		CHECK(!err || (err == HF_ERR_STATE && !other.count));
		for (uint32_t k = 0; k < other.count; k++) {
			err = hf_row_page_get(&other, k, &row);
			CHECK(!err || err == HF_ERR_STATE);
			CHECK(err || (page->table == &hf_table_chunk ? row.chunk.entry_size : row.view.entry_size) <=
					     HF_ENTRY_MAX);
		}
		taken += other.count > 0;
		raw[at] = was;
	}
	CHECK(taken > 1000 && taken < 19000);
	hf_row_page_fini(&other);
	hf_squeeze_fini(&squeeze);
}

static void test_made_up(void)
{
	static struct hf_chunk c;
	struct hf_row_page page = {.table = &hf_table_chunk};

	for (uint64_t i = 0; i < 40; i++) {
		make(0, i * 3, &c);
		c.entry_size %= 50;
		CHECK_EQ(hf_row_page_add(&page, &c), 0);
	}
	change_bytes(&page);
	hf_row_page_fini(&page);
}

/* A row of a view table. checked: all bytes are in the checksum. */
static struct hf_view_chunk view_row(uint64_t i, bool checked)
{
	const uint64_t size = 1000 + scatter(i) % 300, offset = 1300 * i + scatter(i + 1) % 300;
	struct hf_view_chunk row = {.offset = offset, .chunk = 3 * i, .checksum = scatter(i), .entry_size = 3};

	row.checked = checked ? 1300 * (i + 1) + scatter(i + 2) % 300 - offset : size;
	memcpy(row.entry, "\1\2\3", 3);
	return row;
}

/* So many bytes are its 40 rows, packed; they come back. */
static uint32_t pack_view(struct hf_row_page *page, bool checked)
{
	static struct hf_packed_page packed;
	struct hf_squeeze squeeze = {0};
	struct hf_row_page other = {.table = &hf_table_view_chunk};
	struct hf_view_chunk row, got;

	hf_row_page_clear(page, &hf_table_view_chunk, 0);
	for (uint64_t i = 0; i < 40; i++) {
		row = view_row(i, checked);
		CHECK_EQ(hf_row_page_add(page, &row), 0);
	}
	CHECK_EQ(hf_row_page_pack(page, &squeeze, &packed), 0);
	CHECK_EQ(hf_row_page_unpack(&other, 40, packed.data, packed.n, packed.size), 0);
	for (uint32_t i = 0; i < 40; i++) {
		row = view_row(i, checked);
		CHECK_EQ(hf_row_page_get(&other, i, &got), 0);
		CHECK(hf_row_equal(&hf_table_view_chunk, &got, &row));
	}
	hf_row_page_fini(&other);
	hf_squeeze_fini(&squeeze);
	return packed.n;
}

/* Where rows end follows from where the next ones begin. */
static void test_view(void)
{
	struct hf_row_page page = {0};
	const uint32_t size = pack_view(&page, false);

	CHECK(pack_view(&page, true) + 40 < size);
	change_bytes(&page);
	hf_row_page_fini(&page);
}

int main(void)
{
	make_flows();
	CHECK_EQ(sqlite3_open(":memory:", &db), SQLITE_OK);
	CHECK_EQ(hf_db_run(db, "CREATE TABLE chunk (id INTEGER PRIMARY KEY, ordinal INTEGER, chunks INTEGER, size "
			       "INTEGER, data BLOB)"),
		 0);
	open_pages();
	test_rows();
	test_order();
	test_made_up();
	test_view();
	hf_row_pages_close(&pages);
	hf_db_close(db);
	return 0;
}
