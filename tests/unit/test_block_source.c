/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decompressed stream through the chunk cache equals the stream, for every container, in any order, by any number
 * of threads; and what cannot be entered in the middle is not decoded more often than it must.
 *
 * The index is a fake one, made here by walking the container: it stands behind the same functions, and counts.
 */
#include "codecs/source/errors.h"
#include "fs/stream/block_source.h"
#include "tests/lib/check.h"
#include "tests/lib/pack.h"
#include "tests/lib/sliver.h"

#include <lzma.h>
#include <pthread.h>
#include <stdatomic.h>

#define KIB ((size_t)1024)
#define MIB (1024 * KIB)
#define THREADS 4

struct hf_index {
	const struct hf_box *box;
	uint64_t size;
	int damage;
	struct hf_diag damage_diag;
	struct hf_point *points;
	uint8_t **windows;
	size_t count;
	int err; /* given by every lookup */
	atomic_uint lookups;
};

const struct hf_box *hf_index_box(const struct hf_index *index)
{
	return index->box;
}

uint64_t hf_index_stream_size(const struct hf_index *index)
{
	return index->size;
}

int hf_index_damage(const struct hf_index *index, struct hf_diag *diag)
{
	if (index->damage)
		*diag = index->damage_diag;
	return index->damage;
}

static size_t row_of(const struct hf_index *index, uint64_t offset)
{
	size_t low = 0, high = index->count;

	while (high - low > 1) {
		size_t mid = (low + high) / 2;

		if (index->points[mid].out_offset <= offset)
			low = mid;
		else
			high = mid;
	}
	return low;
}

int hf_index_point_of(struct hf_index *index, uint64_t offset, struct hf_point *ret_point)
{
	atomic_fetch_add(&index->lookups, 1);
	CHECK(offset < index->size);
	*ret_point = index->points[row_of(index, offset)];
	return index->err;
}

int hf_index_window(struct hf_index *index, const struct hf_point *point, uint8_t *window)
{
	memcpy(window, index->windows[row_of(index, point->out_offset)], point->window_size);
	return 0;
}

/* A container, its stream and the fake index, in one. */
struct subject {
	const char *name;
	struct hf_walk_bytes file;
	struct hf_walk walk;
	struct hf_index index;
	struct hf_src *base;
	struct hf_cache *cache;
	struct hf_src *src;
};

/* cache_bytes 0: little more than the largest block. */
static void set_up(struct subject *s, const struct hf_box *box, uint64_t cache_bytes)
{
	uint64_t largest = 0;

	hf_walk_memory(&s->walk, box, s->file.p, s->file.n);
	s->index = (struct hf_index){.box = box, .size = s->walk.out.n, .points = s->walk.points,
				     .windows = s->walk.windows, .count = s->walk.count};
	if (s->walk.err < 0) {
		s->index.damage = s->walk.err;
		s->index.damage_diag = s->walk.diag;
	}
	for (size_t i = 0; i < s->walk.count; i++)
		if (s->walk.points[i].out_size > largest)
			largest = s->walk.points[i].out_size;
	CHECK_EQ(hf_src_memory_new(s->file.p, s->file.n, &s->base), 0);
	CHECK_EQ(hf_cache_new(cache_bytes ? cache_bytes : largest / 4 * 5, &s->cache), 0);
	CHECK_EQ(hf_block_source_new(s->base, &s->index, s->cache, &s->src), 0);
	CHECK_EQ(s->src->size, s->walk.out.n);
}

static void tear_down(struct subject *s)
{
	struct hf_cache_stats stats;

	hf_src_free(s->src);
	hf_cache_get_stats(s->cache, &stats);
	CHECK_EQ(stats.bytes, 0);
	hf_cache_free(s->cache);
	hf_src_free(s->base);
	hf_walk_free(&s->walk);
	hf_bytes_free(&s->file);
}

typedef int (*read_fn)(struct hf_src *, uint64_t, void *, size_t, size_t *, struct hf_diag *);

static void check_read(const struct subject *s, read_fn read, uint64_t offset, size_t n, uint8_t *buf)
{
	size_t want = n < s->walk.out.n - offset ? n : s->walk.out.n - (size_t)offset, got;
	struct hf_diag diag = {0};
	int err = read(s->src, offset, buf, n, &got, &diag);

	if (err || got != want || memcmp(buf, s->walk.out.p + offset, got) != 0) {
		fprintf(stderr, "%s: %zu bytes at %" PRIu64 ": err %d, got %zu\n", s->name, n, offset, err, got);
		exit(1);
	}
}

#define BUFFER (1536 * KIB)

/* The reader says where he ends: behind what he reads now, or before, or nowhere near. */
/* How far a reader may say that he goes, in turn. */
static uint64_t some_until(uint64_t offset, size_t n)
{
	static _Atomic uint64_t calls;
	const uint64_t until[5] = {0, offset, offset + n, offset + n + 300 * KIB, UINT64_MAX};

	return until[calls++ % 5];
}

static int read_until(struct hf_src *src, uint64_t offset, void *buf, size_t n, size_t *ret_n, struct hf_diag *diag)
{
	return hf_block_source_read_until(src, offset, buf, n, some_until(offset, n), ret_n, diag);
}

static int read_through(struct hf_src *src, uint64_t offset, void *buf, size_t n, size_t *ret_n, struct hf_diag *diag)
{
	return hf_block_source_read_through(src, offset, buf, n, some_until(offset, n), ret_n, diag);
}

/* What lies between two points is lent as it is, and nothing else is. */
static void check_lent(const struct subject *s, uint64_t at, uint64_t n)
{
	const struct hf_point *point = &s->index.points[row_of(&s->index, at)];
	const bool whole = point->out_offset == at && point->out_size == n;
	struct hf_cache_block *block;
	int err = hf_block_source_lend(s->src, at, n, &block);

	CHECK_EQ(err, whole ? 0 : HF_NOTE_END);
	if (err)
		return;
	CHECK_EQ(block->size, n);
	CHECK(memcmp(block->bytes, s->walk.out.p + at, n) == 0);
	hf_cache_unpin(s->cache, block);
}

static void read_sequentially(const struct subject *s, uint64_t *random)
{
	uint8_t *buf = malloc(BUFFER);

	for (uint64_t at = 0; at < s->walk.out.n;) {
		size_t n = hf_rand_next(random) % (300 * KIB) + 1;
		const struct hf_point *point = &s->index.points[row_of(&s->index, at)];

		check_read(s, hf_src_read_at, at, n, buf);
		if (n % 4 == 0)
			check_lent(s, point->out_offset, point->out_size);
		if (n % 16 == 1)
			check_lent(s, point->out_offset, point->out_size - 1);
		at += n;
	}
	free(buf);
}

static void read_randomly(const struct subject *s, uint64_t *random, unsigned rounds)
{
	static const read_fn how[4] = {hf_src_read_at, hf_block_source_read_once, read_until, read_through};
	uint8_t *buf = malloc(BUFFER);

	for (unsigned i = 0; i < rounds; i++) {
		size_t n = (size_t)1 << (hf_rand_next(random) % 20);
		uint64_t at = hf_rand_next(random) % s->walk.out.n;

		check_read(s, how[i % 4], at, n, buf);
	}
	free(buf);
}

struct reader {
	const struct subject *s;
	uint64_t random;
	unsigned rounds;
};

static void *read_both_ways(void *ctx)
{
	struct reader *r = ctx;

	read_randomly(r->s, &r->random, r->rounds);
	read_sequentially(r->s, &r->random);
	return NULL;
}

static void read_in_parallel(const struct subject *s, unsigned rounds)
{
	struct reader reader[THREADS];
	pthread_t thread[THREADS];

	for (unsigned i = 0; i < THREADS; i++) {
		reader[i] = (struct reader){.s = s, .random = i + 1, .rounds = rounds};
		CHECK_EQ(pthread_create(&thread[i], NULL, read_both_ways, &reader[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

/* With a cache that holds little more than the largest block, and one that holds it all. */
static void check_container(const char *name, const struct hf_box *box, struct hf_walk_bytes *file,
			    const struct hf_walk_bytes *data, unsigned rounds)
{
	const uint64_t most = HF_TEST_SAMPLE ? 0 : 32 * MIB;

	for (uint64_t cache_bytes = 0; cache_bytes <= most; cache_bytes += 32 * MIB) {
		struct subject s = {.name = name};
		uint64_t random = 7;
		uint8_t byte;
		size_t got;

		hf_bytes_add(&s.file, file->p, file->n);
		set_up(&s, box, cache_bytes);
		CHECK_EQ(s.walk.out.n, data->n);
		CHECK(memcmp(s.walk.out.p, data->p, data->n) == 0);
		read_sequentially(&s, &random);
		read_randomly(&s, &random, rounds);
		read_in_parallel(&s, rounds);
		CHECK_EQ(hf_src_read_at(s.src, data->n, &byte, 1, &got, NULL), 0);
		CHECK_EQ(got, 0);
		CHECK_EQ(hf_src_read_at(s.src, data->n + 1000, &byte, 1, &got, NULL), 0);
		CHECK_EQ(got, 0);
		tear_down(&s);
	}
	hf_bytes_free(file);
	*file = (struct hf_walk_bytes){0};
}

#define FRAME (500 * KIB)

static void test_containers(void)
{
	struct hf_walk_bytes data = hf_pack_trace(3 * MIB), noise = hf_pack_noise(300 * KIB), more = hf_pack_trace(2 * MIB);
	struct hf_walk_bytes file = {0};

	hf_bytes_add(&data, noise.p, noise.n);
	hf_pack_gzip(&file, data.p, data.n, 6, 8);
	check_container("gzip", &hf_box_gzip, &file, &data, 20);
	hf_pack_gzip(&file, data.p, data.n / 3, 1, 0);
	hf_pack_gzip(&file, data.p, 0, 1, 0);
	hf_pack_gzip(&file, data.p + data.n / 3, data.n - data.n / 3, 0, 0);
	check_container("gzip members", &hf_box_gzip, &file, &data, 20);
	hf_pack_xz(&file, data.p, data.n, LZMA_CHECK_CRC64, 200 * KIB);
	check_container("xz blocks", &hf_box_xz, &file, &data, 20);
	hf_pack_zstf(&file, data.p, data.n, 300 * KIB);
	check_container("zstf", &hf_box_zstf, &file, &data, 20);
	for (size_t at = 0; at < data.n; at += FRAME)
		hf_pack_zstd(&file, data.p + at, data.n - at < FRAME ? data.n - at : FRAME, HF_PACK_CHECKSUM, 0);
	check_container("zstd frames", &hf_box_zstd, &file, &data, 20);

	/* In one piece, larger than what is one block: what continues is read by parked scans. */
	hf_bytes_add(&data, more.p, more.n);
	hf_pack_xz(&file, data.p, data.n, LZMA_CHECK_CRC32, 0);
	check_container("xz, one block", &hf_box_xz, &file, &data, 1);
	hf_pack_zstd(&file, data.p, data.n, HF_PACK_SIZE, 0);
	check_container("zstd, one frame", &hf_box_zstd, &file, &data, 5);
	hf_pack_lzma(&file, data.p, data.n);
	check_container("lzma", &hf_box_lzma, &file, &data, 1);
	hf_bytes_free(&data);
	hf_bytes_free(&noise);
	hf_bytes_free(&more);
}

/* The good bytes come, the error comes exactly behind them, and behind that there is nothing. */
static void test_damage(void)
{
	struct hf_walk_bytes data = hf_pack_trace(3 * MIB);
	struct subject s = {.name = "cut gzip"};
	struct hf_diag diag = {0};
	uint8_t buf[100];
	size_t got;

	hf_pack_gzip(&s.file, data.p, data.n, 6, 0);
	s.file.n = s.file.n * 2 / 3;
	set_up(&s, &hf_box_gzip, 16 * MIB);
	CHECK(s.src->size > 0 && s.src->size < data.n);
	for (int once = 0; once < 2; once++) {
		read_fn read = once ? hf_block_source_read_once : hf_src_read_at;

		CHECK_EQ(read(s.src, s.src->size - 60, buf, 100, &got, &diag), 0);
		CHECK_EQ(got, 60);
		CHECK(memcmp(buf, data.p + s.src->size - 60, 60) == 0);
		CHECK_EQ(read(s.src, s.src->size, buf, 100, &got, &diag), HF_ERR_BOX_CUT);
		CHECK_EQ(got, 0);
		CHECK_EQ(diag.code, HF_ERR_BOX_CUT);
		CHECK_EQ(diag.offset, s.walk.diag.offset);
		CHECK_EQ(read(s.src, s.src->size + 1, buf, 100, &got, &diag), 0);
		CHECK_EQ(got, 0);
	}
	tear_down(&s);
	hf_bytes_free(&data);
}

/* A disk that fails, and the same disk when it is well again: errors are not kept. */
static void test_failing_disk(const struct hf_box *box, struct hf_walk_bytes file, const struct hf_walk_bytes *data)
{
	struct subject s = {.name = box->name, .file = file};
	struct hf_src *bad, *src;
	struct hf_diag diag = {0};
	uint8_t *buf = malloc(data->n);
	size_t got, more;

	set_up(&s, box, 64 * MIB);
	CHECK_EQ(hf_sliver_new_failing(s.base, file.n / 10 * 9, HF_ERR_IO, &bad), 0);
	CHECK_EQ(hf_block_source_new(bad, &s.index, s.cache, &src), 0);
	CHECK_EQ(hf_src_read_at(src, 0, buf, data->n, &got, &diag), 0);
	CHECK(got > 0 && got < data->n);
	CHECK(memcmp(buf, data->p, got) == 0);
	CHECK_EQ(hf_src_read_at(src, got, buf, data->n, &more, &diag), HF_ERR_IO);
	CHECK_EQ(more, 0);
	CHECK_EQ(diag.code, HF_ERR_IO);
	CHECK_EQ(hf_src_read_at(src, got, buf, data->n, &more, NULL), HF_ERR_IO);
	hf_src_free(src);
	hf_src_free(bad);
	check_read(&s, hf_src_read_at, 0, data->n, buf);
	free(buf);
	tear_down(&s);
}

static void test_failing_disks(void)
{
	struct hf_walk_bytes data = hf_pack_trace(5 * MIB), file = {0};

	hf_pack_xz(&file, data.p, data.n, LZMA_CHECK_CRC64, 300 * KIB);
	test_failing_disk(&hf_box_xz, file, &data);
	file = (struct hf_walk_bytes){0};
	hf_pack_lzma(&file, data.p, data.n);
	test_failing_disk(&hf_box_lzma, file, &data);
	hf_bytes_free(&data);
}

/* What an index says is not trusted with memory. */
static void test_wrong_index(void)
{
	struct hf_walk_bytes data = hf_pack_trace(3 * MIB);
	struct subject s = {.name = "wrong index"};
	uint8_t buf[16];
	size_t got;

	hf_pack_gzip(&s.file, data.p, data.n, 6, 0);
	set_up(&s, &hf_box_gzip, 16 * MIB);
	s.walk.points[1].out_size = HF_BLOCK_MAX + 1;
	CHECK_EQ(hf_src_read_at(s.src, s.walk.points[1].out_offset, buf, 1, &got, NULL), HF_ERR_STATE);
	s.walk.points[1].out_size = s.src->size - s.walk.points[1].out_offset + 1;
	CHECK_EQ(hf_src_read_at(s.src, s.walk.points[1].out_offset, buf, 1, &got, NULL), HF_ERR_STATE);
	s.walk.points[1].out_size = 0;
	CHECK_EQ(hf_src_read_at(s.src, s.walk.points[1].out_offset, buf, 1, &got, NULL), HF_ERR_STATE);
	s.walk.points[1].out_size = 10;
	s.walk.points[1].window_size = HF_WINDOW_MAX + 1;
	CHECK_EQ(hf_src_read_at(s.src, s.walk.points[1].out_offset, buf, 1, &got, NULL), HF_ERR_STATE);
	s.index.err = HF_ERR_IO;
	CHECK_EQ(hf_src_read_at(s.src, s.walk.points[1].out_offset, buf, 1, &got, NULL), HF_ERR_IO);
	s.index.err = 0;
	CHECK_EQ(hf_src_read_at(s.src, 0, buf, sizeof buf, &got, NULL), 0);
	CHECK(got == sizeof buf && memcmp(buf, data.p, got) == 0);
	tear_down(&s);
	hf_bytes_free(&data);
}

static void test_plain(void)
{
	struct hf_index index = {0};
	struct hf_src *base, *src;
	char buf[8] = "";
	size_t got;

	CHECK_EQ(hf_src_memory_new("hello", 5, &base), 0);
	CHECK_EQ(hf_block_source_new(base, &index, NULL, &src), 0);
	CHECK_EQ(src->size, 5);
	CHECK_EQ(hf_src_read_at(src, 1, buf, 7, &got, NULL), 0);
	CHECK(got == 4 && memcmp(buf, "ello", 4) == 0);
	CHECK_EQ(hf_block_source_read_once(src, 3, buf, 7, &got, NULL), 0);
	CHECK(got == 2 && memcmp(buf, "lo", 2) == 0);
	hf_src_free(src);
	hf_src_free(base);
}

/* Sequential reads look up each block once or twice, not once a read; small random reads leave the cache alone. */
static void test_economy(void)
{
	struct hf_walk_bytes data = hf_pack_trace(8 * MIB);
	struct subject s = {.name = "economy"};
	struct hf_cache_stats stats;
	uint8_t buf[4096];

	hf_pack_zstf(&s.file, data.p, data.n, 300 * KIB);
	set_up(&s, &hf_box_zstf, 64 * MIB);
	for (uint64_t at = 0; at < data.n; at += 4096)
		check_read(&s, hf_src_read_at, at, 4096, buf);
	CHECK(s.index.lookups <= 2 * s.walk.count + 8);
	hf_cache_get_stats(s.cache, &stats);
	CHECK_EQ(stats.misses, s.walk.count);
	tear_down(&s);

	s.file = (struct hf_walk_bytes){0};
	hf_pack_zstf(&s.file, data.p, data.n, 300 * KIB);
	set_up(&s, &hf_box_zstf, 64 * MIB);
	for (uint64_t i = 0; i < 10; i++) /* never the same or the next block */
		check_read(&s, hf_block_source_read_once, (i * 7 % 27) * 300 * KIB + 1000, 4096, buf);
	hf_cache_get_stats(s.cache, &stats);
	CHECK_EQ(stats.misses, 0);
	for (uint64_t at = 0; at < data.n; at += 4096) /* forward: it turns to blocks */
		check_read(&s, hf_block_source_read_once, at, 4096, buf);
	hf_cache_get_stats(s.cache, &stats);
	CHECK_EQ(stats.misses, s.walk.count);
	tear_down(&s);
	hf_bytes_free(&data);
}

static void check_misses(const struct subject *s, uint64_t want)
{
	struct hf_cache_stats stats;

	hf_cache_get_stats(s->cache, &stats);
	CHECK_EQ(stats.misses, want);
}

/*
 * Who says where he ends gets a piece of a block made, which serves him and those who want the same; who wants another one
 * of it gets the block. slow: what is before a piece is in it.
 */
static void check_pieces(const struct hf_box *box, const struct hf_walk_bytes *file, bool slow)
{
	struct subject s = {.name = box->name};
	uint8_t *buf = malloc(64 * KIB);
	uint64_t at;
	size_t n;

	hf_bytes_add(&s.file, file->p, file->n);
	set_up(&s, box, 64 * MIB);
	at = s.walk.points[1].out_offset + 100 * KIB;
	CHECK(s.walk.points[1].out_size >= 250 * KIB);
	for (uint64_t i = 0; i < 3; i++) {
		CHECK_EQ(hf_block_source_read_until(s.src, at + i * 10 * KIB, buf, 10 * KIB, at + 30 * KIB, &n, NULL), 0);
		CHECK_EQ(n, 10 * KIB);
		CHECK(!memcmp(buf, s.walk.out.p + at + i * 10 * KIB, n));
		check_misses(&s, 1);
	}
	CHECK_EQ(hf_block_source_read_until(s.src, at - 50 * KIB, buf, 10 * KIB, at - 20 * KIB, &n, NULL), 0);
	CHECK(!memcmp(buf, s.walk.out.p + at - 50 * KIB, n));
	check_misses(&s, slow ? 1 : 2);
	CHECK_EQ(hf_block_source_read_until(s.src, at + 60 * KIB, buf, 10 * KIB, at + 80 * KIB, &n, NULL), 0);
	CHECK(!memcmp(buf, s.walk.out.p + at + 60 * KIB, n));
	check_misses(&s, 2);
	/* The block is there: nobody needs a piece of it. */
	check_read(&s, read_until, at + 120 * KIB, 4096, buf);
	check_misses(&s, 2);
	tear_down(&s);
	free(buf);
}

static void test_pieces(void)
{
	struct hf_walk_bytes data = hf_pack_trace(3 * MIB), file = {0};

	hf_pack_zstf(&file, data.p, data.n, 300 * KIB);
	check_pieces(&hf_box_zstf, &file, false);
	hf_bytes_free(&file);
	file = (struct hf_walk_bytes){0};
	hf_pack_xz(&file, data.p, data.n, LZMA_CHECK_CRC64, 300 * KIB);
	check_pieces(&hf_box_xz, &file, true);
	hf_bytes_free(&file);
	hf_bytes_free(&data);
}

/*
 * A container that only counts: blocks of 64 KiB whose bytes are made up, of which every 64th can be entered, or, in
 * the box without entries, none but the first.
 */
#define FAKE_BLOCK (64 * KIB)
#define FAKE_PERIOD 64
#define FAKE_BLOCKS 256

struct hf_scan {
	uint64_t at;
};

static atomic_int scans_made, scans_live, blocks_made;

static uint8_t fake_byte(uint64_t offset)
{
	return (uint8_t)(offset * 31 + (offset >> 16) * 7);
}

static void fake_bytes(uint8_t *to, uint64_t offset, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = fake_byte(offset + i);
}

static struct hf_point fake_point(uint64_t number, bool enterable)
{
	return (struct hf_point){.in_offset = number, .in_size = 1, .out_offset = number * FAKE_BLOCK,
				 .out_size = FAKE_BLOCK,
				 .bits = (enterable ? number % FAKE_PERIOD : number) ? HF_POINT_CONTINUES : 0};
}

static int fake_scan_new(const struct hf_box *box, struct hf_src *base, const struct hf_point *resume,
			 const uint8_t *window, struct hf_scan **ret_scan, struct hf_diag *diag)
{
	struct hf_scan *scan = calloc(1, sizeof *scan + FAKE_BLOCK);

	(void)box;
	(void)base;
	(void)window;
	(void)diag;
	CHECK(scan);
	CHECK(!resume || !(resume->bits & HF_POINT_CONTINUES));
	scan->at = resume ? resume->in_offset : 0;
	atomic_fetch_add(&scans_made, 1);
	atomic_fetch_add(&scans_live, 1);
	*ret_scan = scan;
	return 0;
}

static int fake_next(struct hf_scan *scan, bool enterable, struct hf_point *ret_point, const uint8_t **ret_bytes)
{
	uint8_t *bytes = (uint8_t *)(scan + 1);

	if (scan->at == FAKE_BLOCKS)
		return HF_NOTE_END;
	*ret_point = fake_point(scan->at++, enterable);
	fake_bytes(bytes, ret_point->out_offset, FAKE_BLOCK);
	*ret_bytes = bytes;
	atomic_fetch_add(&blocks_made, 1);
	return 0;
}

static int fake_scan_next(struct hf_scan *scan, struct hf_point *ret_point, const uint8_t **ret_bytes,
			  const uint8_t **ret_window, struct hf_diag *diag)
{
	(void)diag;
	*ret_window = NULL;
	return fake_next(scan, true, ret_point, ret_bytes);
}

static int closed_scan_next(struct hf_scan *scan, struct hf_point *ret_point, const uint8_t **ret_bytes,
			    const uint8_t **ret_window, struct hf_diag *diag)
{
	(void)diag;
	*ret_window = NULL;
	return fake_next(scan, false, ret_point, ret_bytes);
}

/* As with a dictionary of 8 MiB. */
static uint64_t fake_scan_memory(const struct hf_scan *scan)
{
	(void)scan;
	return 10 * MIB;
}

static void fake_scan_free(struct hf_scan *scan)
{
	atomic_fetch_sub(&scans_live, 1);
	free(scan);
}

static int fake_read_block(const struct hf_box *box, struct hf_src *base, const struct hf_point *point,
			   const uint8_t *window, uint64_t skip, void *buf, size_t n, struct hf_diag *diag)
{
	(void)box;
	(void)base;
	(void)window;
	(void)diag;
	CHECK(!(point->bits & HF_POINT_CONTINUES));
	fake_bytes(buf, point->out_offset + skip, n);
	atomic_fetch_add(&blocks_made, 1);
	return 0;
}

static const struct hf_box fake_box = {.name = "fake", .enterable = true, .scan_new = fake_scan_new,
				       .scan_next = fake_scan_next, .scan_free = fake_scan_free,
				       .scan_memory = fake_scan_memory, .read_block = fake_read_block};
static const struct hf_box closed_box = {.name = "closed", .enterable = false, .scan_new = fake_scan_new,
					 .scan_next = closed_scan_next, .scan_free = fake_scan_free,
					 .scan_memory = fake_scan_memory};

struct fake {
	struct hf_point points[FAKE_BLOCKS];
	struct hf_index index;
	struct hf_src *src;
};

static void fake_set_up(struct fake *f, const struct hf_box *box, struct hf_cache *cache)
{
	for (uint64_t i = 0; i < FAKE_BLOCKS; i++)
		f->points[i] = fake_point(i, box->enterable);
	f->index = (struct hf_index){.box = box, .size = FAKE_BLOCKS * FAKE_BLOCK, .points = f->points,
				     .count = FAKE_BLOCKS};
	CHECK_EQ(hf_block_source_new(NULL, &f->index, cache, &f->src), 0);
}

static void fake_read(struct fake *f, uint64_t number)
{
	uint64_t offset = number * FAKE_BLOCK + number % 100;
	uint8_t buf[16];
	size_t got;

	CHECK_EQ(hf_src_read_at(f->src, offset, buf, sizeof buf, &got, NULL), 0);
	CHECK_EQ(got, sizeof buf);
	for (unsigned i = 0; i < sizeof buf; i++)
		CHECK_EQ(buf[i], fake_byte(offset + i));
}

static void count_anew(void)
{
	scans_made = 0;
	blocks_made = 0;
}

static void test_parked(void)
{
	static struct fake f[40];
	struct hf_cache *cache;
	unsigned scans, blocks;

	CHECK_EQ(hf_cache_new(8 * FAKE_BLOCK, &cache), 0);
	/* Forward: each block is decoded once; read_block reads the entries, a scan the others behind each. */
	fake_set_up(&f[0], &fake_box, cache);
	count_anew();
	for (uint64_t i = 0; i < FAKE_BLOCKS; i++)
		fake_read(&f[0], i);
	CHECK_EQ(scans_made, 1);
	CHECK(blocks_made <= FAKE_BLOCKS + FAKE_BLOCKS / FAKE_PERIOD);

	/* A jump enters at the nearest entry, not at the beginning, and goes on from there. */
	count_anew();
	fake_read(&f[0], 3 * FAKE_PERIOD + 10);
	CHECK_EQ(scans_made, 1);
	CHECK_EQ(blocks_made, 11);
	fake_read(&f[0], 3 * FAKE_PERIOD + 11);
	CHECK_EQ(blocks_made, 12);
	/* A scan in place is nearer than the entry, or farther. */
	fake_read(&f[0], 3 * FAKE_PERIOD + 20);
	CHECK_EQ(scans_made, 1);
	fake_read(&f[0], 1 * FAKE_PERIOD + 5);
	CHECK_EQ(scans_made, 2);
	fake_read(&f[0], 3 * FAKE_PERIOD + 21);
	fake_read(&f[0], 1 * FAKE_PERIOD + 6);
	CHECK_EQ(scans_made, 2);
	hf_src_free(f[0].src);
	CHECK_EQ(scans_live, 0);

	/* Two readers far apart in one stream without entries: two scans. */
	fake_set_up(&f[0], &closed_box, cache);
	count_anew();
	fake_read(&f[0], 0);
	for (uint64_t i = 0; i < 50; i++) {
		fake_read(&f[0], 150 + i);
		fake_read(&f[0], 10 + i);
	}
	CHECK(scans_made <= 2);
	CHECK(blocks_made <= 200 + 60);
	/* To its end: nothing is left to park. */
	fake_read(&f[0], FAKE_BLOCKS - 1);
	CHECK_EQ(scans_live, 1);
	hf_src_free(f[0].src);
	CHECK_EQ(scans_live, 0);

	/* Backwards, within the cache, costs one more decoding a stretch and not one a block. */
	hf_cache_free(cache);
	CHECK_EQ(hf_cache_new(64 * FAKE_BLOCK, &cache), 0);
	fake_set_up(&f[0], &closed_box, cache);
	count_anew();
	for (uint64_t i = 120; i-- > 90;)
		fake_read(&f[0], i);
	CHECK_EQ(scans_made, 1);
	hf_src_free(f[0].src);

	/* Many streams: the idle scans are bounded, the reads right all the same. */
	count_anew();
	for (int i = 0; i < 40; i++)
		fake_set_up(&f[i], &closed_box, cache);
	for (uint64_t n = 100; n < 103; n++)
		for (int i = 0; i < 40; i++)
			fake_read(&f[i], n);
	CHECK(scans_live > 1 && scans_live <= 16);
	for (int i = 0; i < 40; i++)
		hf_src_free(f[i].src);
	CHECK_EQ(scans_live, 0);
	scans = (unsigned)scans_made;
	blocks = (unsigned)blocks_made;
	CHECK(scans >= 40 && blocks >= 4000);
	hf_cache_free(cache);
}

/* Readers ahead of and behind each other, as a pool makes chunks of one stream: next to nothing is decoded twice. */
struct crowd {
	struct fake fake;
	atomic_uint next;
	bool shuffled;
};

static void *read_next(void *ctx)
{
	struct crowd *c = ctx;
	unsigned i;

	while ((i = atomic_fetch_add(&c->next, 1)) < FAKE_BLOCKS)
		fake_read(&c->fake, c->shuffled ? i ^ 3 : i);
	return NULL;
}

static void test_crowd(const struct hf_box *box, bool shuffled)
{
	static struct crowd c;
	struct hf_cache *cache;
	pthread_t thread[8];

	c.next = 0;
	c.shuffled = shuffled;
	CHECK_EQ(hf_cache_new(32 * FAKE_BLOCK, &cache), 0);
	fake_set_up(&c.fake, box, cache);
	count_anew();
	for (int i = 0; i < 8; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, read_next, &c), 0);
	for (int i = 0; i < 8; i++)
		pthread_join(thread[i], NULL);
	printf("%s%s, 8 threads: %d blocks decoded of %d, %d scans\n", box->name, shuffled ? " shuffled" : "",
	       blocks_made, FAKE_BLOCKS, scans_made);
	hf_src_free(c.fake.src);
	CHECK_EQ(scans_live, 0);
	CHECK(blocks_made <= 8 * FAKE_BLOCKS);
	hf_cache_free(cache);
}

/* An index whose blocks are not the container's. */
static void test_other_blocks(void)
{
	static struct fake f;
	struct hf_cache *cache;
	uint8_t byte;
	size_t got;

	CHECK_EQ(hf_cache_new(MIB, &cache), 0);
	fake_set_up(&f, &closed_box, cache);
	f.points[5].out_offset += 8;
	f.points[5].out_size -= 8;
	f.points[4].out_size += 8;
	CHECK_EQ(hf_src_read_at(f.src, 4 * FAKE_BLOCK, &byte, 1, &got, NULL), HF_ERR_MISMATCH);
	CHECK_EQ(hf_src_read_at(f.src, 5 * FAKE_BLOCK + 8, &byte, 1, &got, NULL), HF_ERR_MISMATCH);
	CHECK_EQ(scans_live, 0);
	fake_read(&f, 6);
	hf_src_free(f.src);
	hf_cache_free(cache);
}

/* The cache has another block in the place of the one that is wanted: it is not lent, and nobody has it pinned. */
static void test_lent_wrong(void)
{
	static struct fake f;
	struct hf_cache_block *block;
	struct hf_cache *cache;
	uint64_t owner;
	int err;

	CHECK_EQ(hf_cache_new(8 * FAKE_BLOCK, &cache), 0);
	/* The one of the blocks is the next one. */
	owner = hf_cache_owner(cache) + 1;
	fake_set_up(&f, &fake_box, cache);
	CHECK_EQ(hf_cache_acquire(cache, (struct hf_cache_key){owner, FAKE_BLOCK}, NULL, &block, &err), HF_CACHE_MAKE);
	hf_cache_fill(cache, block, calloc(1, FAKE_BLOCK / 2), FAKE_BLOCK / 2);
	CHECK_EQ(hf_block_source_lend(f.src, FAKE_BLOCK, FAKE_BLOCK, &block), HF_NOTE_END);
	CHECK(!block);
	hf_src_free(f.src);
	hf_cache_free(cache);
}

int main(void)
{
	test_plain();
	test_containers();
	test_damage();
	test_failing_disks();
	test_wrong_index();
	test_economy();
	test_pieces();
	test_parked();
	for (int shuffled = 0; shuffled < 2; shuffled++) {
		test_crowd(&fake_box, shuffled);
		test_crowd(&closed_box, shuffled);
	}
	test_other_blocks();
	test_lent_wrong();
	return 0;
}
