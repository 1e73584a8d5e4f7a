/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same bytes three ways: every view read from front to end, at every offset and length (of small captures; of
 * larger ones at random places), and by several threads at once, is the same, for every size of chunks.
 */
#include "tests/lib/fstest.h"
#include "tests/lib/pack.h"

#include <pthread.h>

static const uint64_t chunk_insns[] = {1, 7, 1000, 16384};

static const char *const views[] = {"tiny@stf/hart0/listing.txt",   "tiny@stf/hart0/trace.stf",
				    "tiny@stf/source.stf",	    "two@stf@gz/hart0/listing.txt",
				    "two@stf@gz/hart1/listing.txt", "two@stf@gz/hart0/trace.stf",
				    "two@stf@gz/hart1/trace.stf",   "two@stf@gz/source.stf",
				    "cut@zstf/hart0/listing.txt",   "cut@zstf/source.stf"};
enum { VIEWS = sizeof views / sizeof *views };

static struct hf_fst t;

static void check_at(struct hf_file *file, const struct hf_walk_bytes *whole, uint64_t offset, size_t size, uint8_t *buf)
{
	uint64_t left = offset < whole->n ? whole->n - offset : 0;
	size_t n;

	CHECK_EQ(hf_fs_read_wait(t.fs, file, offset, buf, size, &n), 0);
	CHECK_EQ(n, size < left ? size : left);
	CHECK(memcmp(buf, whole->p + offset, n) == 0);
}

static void check_every(const char *path, const struct hf_walk_bytes *whole)
{
	struct hf_file *file = hf_fst_open_file(&t, path);
	uint8_t *buf = malloc(whole->n + 2);

	for (uint64_t offset = 0; offset <= whole->n; offset++)
		for (size_t size = 1; size <= whole->n - offset + 1; size += 1 + size / 3)
			check_at(file, whole, offset, size, buf);
	free(buf);
	hf_file_close(file);
}

static void check_random(const char *path, const struct hf_walk_bytes *whole, unsigned count, uint64_t seed)
{
	struct hf_file *file = hf_fst_open_file(&t, path);
	size_t most = whole->n < 300000 ? whole->n + 1 : 300000;
	uint8_t *buf = malloc(most);

	for (unsigned i = 0; i < count; i++) {
		uint64_t offset = ((uint64_t)hf_rand_next(&seed) << 16 ^ hf_rand_next(&seed)) % (whole->n + 1);
		unsigned shift = hf_rand_next(&seed) % 18;

		check_at(file, whole, offset, 1 + (hf_rand_next(&seed) % most >> shift), buf);
	}
	free(buf);
	hf_file_close(file);
}

struct reader {
	pthread_t thread;
	const struct hf_walk_bytes *whole;
	uint64_t seed;
};

static void *read_some(void *arg)
{
	struct reader *reader = arg;

	for (int i = 0; i < VIEWS; i++)
		check_random(views[i], &reader->whole[i], 15, reader->seed * 100 + (uint64_t)i);
	return NULL;
}

static void write_captures(void)
{
	struct hf_walk_bytes tiny = hf_fst_stf(30, 1, false), two = hf_fst_stf(6000, 2, true);
	struct hf_walk_bytes cut = hf_fst_stf(9000, 3, false);
	struct hf_walk_bytes gz = {0}, zstf = {0};

	hf_pack_gzip(&gz, two.p, two.n, -1, 0);
	hf_pack_zstf(&zstf, cut.p, cut.n, 5000);
	hf_fst_write(&t, "tiny.stf", tiny.p, tiny.n);
	hf_fst_write(&t, "two.stf.gz", gz.p, gz.n);
	hf_fst_write(&t, "cut.zstf", zstf.p, zstf.n * 3 / 4);
	hf_bytes_free(&tiny);
	hf_bytes_free(&two);
	hf_bytes_free(&cut);
	hf_bytes_free(&gz);
	hf_bytes_free(&zstf);
}

static void check_all(const struct hf_walk_bytes *whole)
{
	struct reader reader[4];

	for (int i = 0; i < VIEWS; i++) {
		if (whole[i].n < 400)
			check_every(views[i], &whole[i]);
		check_random(views[i], &whole[i], 40, (uint64_t)i);
	}
	for (unsigned i = 0; i < 4; i++) {
		reader[i] = (struct reader){.whole = whole, .seed = i};
		CHECK_EQ(pthread_create(&reader[i].thread, NULL, read_some, &reader[i]), 0);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(reader[i].thread, NULL);
}

int main(void)
{
	struct hf_walk_bytes first[VIEWS] = {0};

	for (size_t k = 0; k < sizeof chunk_insns / sizeof *chunk_insns; k++) {
		/* So small a cache that chunks are made more than once. */
		struct hf_fs_options options = {.chunk_insns = chunk_insns[k], .cache_bytes = 300 << 10};

		if (HF_TEST_SAMPLE && k % 2)
			continue;
		hf_fst_begin(&t);
		write_captures();
		hf_fst_open(&t, &options);
		for (int i = 0; i < VIEWS; i++) {
			struct hf_walk_bytes whole = hf_fst_read(&t, views[i], 65536);

			CHECK(whole.n > 0);
			if (!k) {
				first[i] = whole;
				continue;
			}
			CHECK_EQ(whole.n, first[i].n);
			CHECK(memcmp(whole.p, first[i].p, whole.n) == 0);
			hf_bytes_free(&whole);
		}
		check_all(first);
		hf_fst_end(&t);
	}
	for (int i = 0; i < VIEWS; i++)
		hf_bytes_free(&first[i]);
	return 0;
}
