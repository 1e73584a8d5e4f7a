/* SPDX-License-Identifier: Apache-2.0 */
/* Reads as a mount makes them: many at once, in any order, cancelled, through a cache that is too small. */
#include "fs/whole.h"
#include "tests/lib/fstest.h"
#include "tests/lib/pack.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

static struct hf_fst t;

struct request {
	struct hf_read read;
	pthread_mutex_t lock;
	pthread_cond_t cond;
	unsigned done;
};

static void on_done(struct hf_read *read)
{
	struct request *rq = read->ctx;

	pthread_mutex_lock(&rq->lock);
	rq->done++;
	pthread_cond_signal(&rq->cond);
	pthread_mutex_unlock(&rq->lock);
}

static void start(struct request *rq, struct hf_file *file, uint64_t offset, size_t size)
{
	*rq = (struct request){.read = {.file = file, .offset = offset, .size = size, .done = on_done, .ctx = rq}};
	pthread_mutex_init(&rq->lock, NULL);
	pthread_cond_init(&rq->cond, NULL);
	hf_fs_read(t.fs, &rq->read);
}

static void await(struct request *rq)
{
	pthread_mutex_lock(&rq->lock);
	while (!rq->done)
		pthread_cond_wait(&rq->cond, &rq->lock);
	pthread_mutex_unlock(&rq->lock);
}

/* Compares what came with whole[offset..), and lets it go. */
static void check_bytes(struct request *rq, const struct hf_walk_bytes *whole)
{
	uint64_t at = rq->read.offset, end = at + rq->read.size;

	CHECK_EQ(rq->done, 1);
	CHECK_EQ(rq->read.err, 0);
	if (end > whole->n)
		end = whole->n;
	for (size_t i = 0; i < rq->read.pieces; i++) {
		CHECK(rq->read.piece[i].size > 0 && at + rq->read.piece[i].size <= end);
		CHECK(memcmp(rq->read.piece[i].bytes, whole->p + at, rq->read.piece[i].size) == 0);
		at += rq->read.piece[i].size;
	}
	CHECK(at >= end || rq->read.offset >= whole->n);
	hf_fs_read_release(&rq->read);
}

static void begin(size_t insns, const struct hf_fs_options *options)
{
	struct hf_walk_bytes stf = hf_fst_stf(insns, 7, false), gz = {0};

	hf_fst_begin(&t);
	hf_pack_gzip(&gz, stf.p, stf.n, 1, 0);
	hf_fst_write(&t, "x.stf.gz", gz.p, gz.n);
	hf_fst_write(&t, "plain", stf.p, stf.n);
	hf_bytes_free(&stf);
	hf_bytes_free(&gz);
	hf_fst_open(&t, options);
}

/* Everything outstanding at once: the order of answers is nobody's business. */
static void test_outstanding(const char *path)
{
	enum { COUNT = 200 };
	struct hf_walk_bytes whole = hf_fst_read(&t, path, 1 << 20);
	struct hf_file *file = hf_fst_open_file(&t, path);
	struct request *rq = calloc(COUNT, sizeof *rq);
	uint64_t seed = 1;

	for (int i = 0; i < COUNT; i++)
		start(&rq[i], file, hf_rand_next(&seed) % (whole.n + 100), hf_rand_next(&seed) % 200000);
	for (int i = COUNT; i-- > 0;)
		await(&rq[i]);
	/* The file is closed before the bytes are let go. */
	hf_file_close(file);
	for (int i = 0; i < COUNT; i++)
		check_bytes(&rq[i], &whole);
	free(rq);
	hf_bytes_free(&whole);
}

struct reader {
	pthread_t thread;
	const char *path;
	const struct hf_walk_bytes *whole;
	uint64_t seed;
	int way;
};

/* Forward as the kernel does it, backward, or anywhere. */
static void *read_all(void *arg)
{
	struct reader *reader = arg;
	struct hf_file *file = hf_fst_open_file(&t, reader->path);
	const struct hf_walk_bytes *whole = reader->whole;
	uint64_t step = 1 + hf_rand_next(&reader->seed) % 300000;
	struct request rq;

	for (uint64_t i = 0; i * step < whole->n && i < 300; i++) {
		uint64_t offset = reader->way == 0   ? i * step
				  : reader->way == 1 ? (whole->n - 1) / step * step - i * step
						     : hf_rand_next(&reader->seed) % whole->n;

		start(&rq, file, offset, (size_t)step);
		await(&rq);
		check_bytes(&rq, whole);
	}
	hf_file_close(file);
	return NULL;
}

static void test_parallel(void)
{
	static const char *const paths[] = {"x@stf@gz/hart0/listing.txt", "x@stf@gz/source.stf", "plain"};
	struct hf_walk_bytes whole[3];
	struct reader reader[9];

	for (int i = 0; i < 3; i++)
		whole[i] = hf_fst_read(&t, paths[i], 1 << 20);
	for (int i = 0; i < 9; i++) {
		reader[i] = (struct reader){
			.path = paths[i / 3], .whole = &whole[i / 3], .seed = (uint64_t)i, .way = i % 3};
		CHECK_EQ(pthread_create(&reader[i].thread, NULL, read_all, &reader[i]), 0);
	}
	for (int i = 0; i < 9; i++)
		pthread_join(reader[i].thread, NULL);
	for (int i = 0; i < 3; i++)
		hf_bytes_free(&whole[i]);
}

/* Cancelled reads answer once, whenever that comes; the others are not disturbed. */
static void test_cancel(void)
{
	enum { COUNT = 64 };
	struct hf_walk_bytes whole = hf_fst_read(&t, "x@stf@gz/hart0/listing.txt", 1 << 20);
	struct request *rq = calloc(COUNT, sizeof *rq);
	unsigned cancelled = 0;

	for (int round = 0; round < 5; round++) {
		struct hf_file *file = hf_fst_open_file(&t, "x@stf@gz/hart0/listing.txt");

		for (int i = 0; i < COUNT; i++)
			start(&rq[i], file, (uint64_t)i * 37777 % whole.n, 150000);
		for (int i = 0; i < COUNT; i += 2)
			hf_fs_read_cancel(t.fs, &rq[i].read);
		for (int i = 0; i < COUNT; i++) {
			await(&rq[i]);
			hf_fs_read_cancel(t.fs, &rq[i].read);
			if (i % 2 == 0 && rq[i].read.err) {
				CHECK_EQ(rq[i].read.err, HF_ERR_CANCELLED);
				CHECK_EQ(rq[i].done, 1);
				hf_fs_read_release(&rq[i].read);
				cancelled++;
			} else {
				check_bytes(&rq[i], &whole);
			}
		}
		hf_file_close(file);
	}
	fprintf(stderr, "%u of %u reads were cancelled in time\n", cancelled, 5 * COUNT / 2);
	free(rq);
	hf_bytes_free(&whole);
}

/* At any moment of a read, that in which its bytes are handed out included. */
static void test_cancel_late(void)
{
	struct hf_walk_bytes whole = hf_fst_read(&t, "x@stf@gz/hart0/listing.txt", 1 << 20);
	struct hf_file *file = hf_fst_open_file(&t, "x@stf@gz/hart0/listing.txt");
	uint64_t seed = 7;

	for (long i = 0; i < 200; i++) {
		const struct timespec pause = {.tv_nsec = i * 20000};
		struct request rq;

		start(&rq, file, hf_rand_next(&seed) % whole.n, 150000);
		nanosleep(&pause, NULL);
		hf_fs_read_cancel(t.fs, &rq.read);
		await(&rq);
		if (rq.read.err == HF_ERR_CANCELLED)
			hf_fs_read_release(&rq.read);
		else
			check_bytes(&rq, &whole);
	}
	hf_file_close(file);
	hf_bytes_free(&whole);
}

static void test_edges(void)
{
	static const char *const paths[] = {"x@stf@gz/hart0/listing.txt", "x@stf@gz/source.stf", "plain",
					    "x@stf@gz/info.json", "x@stf@gz/errors.txt"};

	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		struct hf_walk_bytes whole = hf_fst_read(&t, paths[i], 1 << 20);
		struct hf_file *file = hf_fst_open_file(&t, paths[i]);
		const uint64_t offsets[] = {0, whole.n ? whole.n - 1 : 0, whole.n, whole.n + 1, UINT64_MAX >> 1};
		struct request rq;

		for (size_t k = 0; k < sizeof offsets / sizeof *offsets; k++)
			for (size_t size = 0; size <= 4096; size += 1024) {
				start(&rq, file, offsets[k], size);
				await(&rq);
				check_bytes(&rq, &whole);
			}
		hf_file_close(file);
		hf_bytes_free(&whole);
	}
}

/* A reader that goes forward, and leaves time for it, finds its next chunks made. */
static void test_ahead(void)
{
	struct hf_cache_stats before, after;
	struct hf_file *file = hf_fst_open_file(&t, "x@stf@gz/hart0/listing.txt");
	uint64_t size = hf_fst_size(&t, "x@stf@gz/hart0/listing.txt");
	struct request rq;

	hf_cache_get_stats(t.fs->common.cache, &before);
	for (uint64_t at = 0; at < size / 2; at += 65536) {
		start(&rq, file, at, 65536);
		await(&rq);
		hf_fs_read_release(&rq.read);
		CHECK_COMES(!hf_exec_load(t.fs->common.exec, HF_WORK_DECODE, HF_URGENT) &&
			    !hf_exec_load(t.fs->common.exec, HF_WORK_DECODE, HF_LATER));
	}
	hf_cache_get_stats(t.fs->common.cache, &after);
	CHECK(after.misses > before.misses);
	/* Far more was made than the reader had to wait for: some answers at the start, and hardly one later. */
	CHECK(after.hits - before.hits > size / 2 / 65536 / 2);
	hf_file_close(file);
}

/* ---- a part of a chunk ---- */

/* A chunk of the listing, far from what the capture is known by, and where the stream's records of its second half begin. */
static uint64_t find_chunk(struct hf_view_chunk *ret_row)
{
	struct hf_chunk chunk, next;
	struct hf_capture *capture;
	struct hf_open *open;
	struct stat st;

	CHECK_EQ(stat(hf_fst_path(&t, "x.stf"), &st), 0);
	CHECK_EQ(hf_capture_find(&t.fs->captures, "x.stf", &st, &capture), 0);
	CHECK_COMES(hf_open_get(capture, capture->version, &open) == 0);
	CHECK_EQ(hf_index_chunk(open->index, 0, 30, &chunk), 0);
	CHECK_EQ(hf_index_chunk(open->index, 0, 31, &next), 0);
	CHECK_EQ(hf_view_table_chunk(open->table[HF_VIEW_INDEX_listing], 0, 30, ret_row), 0);
	hf_open_put(open);
	return (chunk.stream_offset + next.stream_offset) / 2;
}

/* Always with the same time. */
static void write_old(const struct hf_walk_bytes *stf)
{
	static const struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};

	hf_fst_write(&t, "x.stf", stf->p, stf->n);
	CHECK_EQ(utimensat(AT_FDCWD, hf_fst_path(&t, "x.stf"), times, 0), 0);
}

/* Another destination register in an opcode from offset at on, which nothing but the events' digest can tell. */
static void exchange_opcode(struct hf_walk_bytes *stf, uint64_t at)
{
	while ((stf->p[at] & 0x7f) != 0x13 || stf->p[at + 1] > 15 || stf->p[at + 2] || stf->p[at + 3])
		at++;
	stf->p[at + 1] ^= 1;
	write_old(stf);
}

/* For a small read from somewhere no whole chunk is made; that another event of it is another one shows all the same.
 */
static void test_part(void)
{
	const struct hf_fs_options options = {.chunk_insns = 2000, .threads = 1, .index_threads = 1};
	struct hf_walk_bytes stf = hf_fst_stf(120000, 7, false), whole;
	struct hf_view_chunk row;
	struct hf_file *file;
	uint64_t at, chunks;
	uint8_t buf[100];
	size_t n;

	hf_fst_begin(&t);
	write_old(&stf);
	hf_fst_open(&t, &options);
	whole = hf_fst_read(&t, "x@stf/hart0/listing.txt", 1 << 20);
	at = find_chunk(&row);
	CHECK(hf_view_chunk_has_parts(&row));
	hf_fst_close(&t);
	hf_fst_open(&t, &options);
	file = hf_fst_open_file(&t, "x@stf/hart0/listing.txt");
	chunks = t.fs->common.metrics.chunks;
	CHECK_EQ(hf_fs_read_wait(t.fs, file, row.offset + 10, buf, sizeof buf, &n), 0);
	CHECK(n == sizeof buf && memcmp(buf, whole.p + row.offset + 10, n) == 0);
	CHECK_EQ(t.fs->common.metrics.chunks, chunks);
	hf_file_close(file);
	/* A decoder that waits has read the stream. */
	hf_fst_close(&t);
	exchange_opcode(&stf, at);
	hf_fst_open(&t, &options);
	file = hf_fst_open_file(&t, "x@stf/hart0/listing.txt");
	CHECK(hf_fs_read_wait(t.fs, file, row.offset + 20, buf, sizeof buf, &n) < 0);
	hf_file_close(file);
	hf_bytes_free(&whole);
	hf_bytes_free(&stf);
	hf_fst_end(&t);
}

int main(void)
{
	struct hf_fs_options small = {.chunk_insns = 100, .cache_bytes = 1 << 20, .threads = 3};
	struct hf_fs_options tiny = {.chunk_insns = 1};

	begin(100000, NULL);
	test_ahead();
	test_outstanding("x@stf@gz/hart0/listing.txt");
	test_outstanding("x@stf@gz/source.stf");
	test_outstanding("x@stf@gz/hart0/trace.stf");
	test_outstanding("plain");
	test_edges();
	hf_fst_end(&t);

	test_part();

	begin(30000, &small);
	test_parallel();
	test_cancel();
	test_cancel_late();
	test_outstanding("x@stf@gz/hart0/listing.txt");
	hf_fst_end(&t);

	begin(3000, &tiny);
	test_outstanding("x@stf@gz/hart0/listing.txt");
	test_cancel();
	test_cancel_late();
	hf_fst_end(&t);
	return 0;
}
