/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same bytes three ways: every file of every sample, and of a few larger captures made here, read from front to end, at
 * every offset and length (of small ones; of larger ones at random places), and by several threads at once, is the same,
 * for every size of chunks.
 */
#include "tests/codec/loops.h"
#include "tests/lib/pack.h"

#include <pthread.h>

static const uint64_t chunk_insns[] = {1, 7, 1000, 16384};

/* Slices, beside every file of every capture. */
static const char *const slices[] = {"tiny@stf/hart0/at/3-20", "two@stf@gz/hart1/at/100-1900"};
/* What is not the same for every size of chunks. */
static const char *const left_out[] = {"info.json", "errors.txt", "at"};

/* These are among them in any case. */
static const char *const least[] = {"tiny@stf/hart0/listing.txt",   "tiny@stf/hart0/trace.stf",
				    "tiny@stf/source.stf",	    "two@stf@gz/hart0/listing.txt",
				    "two@stf@gz/hart1/listing.txt", "two@stf@gz/hart0/trace.stf",
				    "two@stf@gz/hart1/trace.stf",   "two@stf@gz/source.stf",
				    "cut@zstf/hart0/listing.txt",   "cut@zstf/source.stf"};

enum { VIEWS_MOST = 1024 };
static char *views[VIEWS_MOST];
static struct hf_walk_bytes first[VIEWS_MOST]; /* with the first size of chunks */
static size_t view_count;

static struct hf_fst *t;

static bool is_left_out(const char *name)
{
	for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
		if (strcmp(name, left_out[i]) == 0)
			return true;
	return false;
}

/* Adds dir/name, or the files below it. */
static void find_views(const char *path)
{
	struct hf_attr attr;
	char *list, *rest;

	CHECK_EQ(hf_fst_lookup(t, path, &attr), 0);
	hf_fs_forget(t->fs, attr.st.st_ino, 1);
	if (!S_ISDIR(attr.st.st_mode)) {
		CHECK(view_count < VIEWS_MOST);
		views[view_count++] = strdup(path);
		return;
	}
	list = hf_fst_list(t, path);
	rest = list;
	for (const char *name; (name = strsep(&rest, "\n")) && *name;) {
		char *below;

		if (is_left_out(name))
			continue;
		CHECK(asprintf(&below, "%s/%s", path, name) > 0);
		find_views(below);
		free(below);
	}
	free(list);
}

/* Until a capture is indexed its directory changes. */
static void wait_for(const char *views_dir)
{
	char path[600];

	snprintf(path, sizeof path, "%s/errors.txt", views_dir);
	CHECK(hf_fst_comes(t, path));
}

/* The same of every capture below a directory of the archive. */
static void find_captures(const char *path)
{
	char *list = hf_fst_list(t, path), *rest = list;

	for (char *name; (name = strsep(&rest, "\n")) && *name;) {
		struct hf_attr attr;
		char below[512];

		snprintf(below, sizeof below, "%s%s%s", path, *path ? "/" : "", name);
		if (strchr(name, '@')) {
			wait_for(below);
			find_views(below);
			continue;
		}
		CHECK_EQ(hf_fst_lookup(t, below, &attr), 0);
		hf_fs_forget(t->fs, attr.st.st_ino, 1);
		if (S_ISDIR(attr.st.st_mode) && *name != '.')
			find_captures(below);
	}
	free(list);
}

static bool is_found(const char *path)
{
	for (size_t i = 0; i < view_count; i++)
		if (strcmp(views[i], path) == 0)
			return first[i].n > 0;
	return false;
}

static void check_at(struct hf_file *file, const struct hf_walk_bytes *whole, uint64_t offset, size_t size, uint8_t *buf)
{
	uint64_t left = offset < whole->n ? whole->n - offset : 0;
	size_t n;

	CHECK_EQ(hf_fs_read_wait(t->fs, file, offset, buf, size, &n), 0);
	CHECK_EQ(n, size < left ? size : left);
	CHECK(memcmp(buf, whole->p + offset, n) == 0);
}

static void check_every(const char *path, const struct hf_walk_bytes *whole)
{
	struct hf_file *file = hf_fst_open_file(t, path);
	uint8_t *buf = malloc(whole->n + 2);

	for (uint64_t offset = 0; offset <= whole->n; offset++)
		for (size_t size = 1; size <= whole->n - offset + 1; size += 1 + size / 3)
			check_at(file, whole, offset, size, buf);
	free(buf);
	hf_file_close(file);
}

static void check_random(const char *path, const struct hf_walk_bytes *whole, unsigned count, uint64_t seed)
{
	struct hf_file *file = hf_fst_open_file(t, path);
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
	uint64_t seed;
};

static void *read_some(void *arg)
{
	struct reader *reader = arg;

	for (size_t i = 0; i < view_count; i++)
		check_random(views[i], &first[i], 15, reader->seed * 100 + i);
	return NULL;
}

static void write_captures(void)
{
	struct hf_walk_bytes tiny = hf_fst_stf(30, 1, false), two = hf_fst_stf(6000, 2, true);
	struct hf_walk_bytes cut = hf_fst_stf(9000, 3, false);
	struct hf_walk_bytes gz = {0}, zstf = {0};

	hf_pack_gzip(&gz, two.p, two.n, -1, 0);
	hf_pack_zstf(&zstf, cut.p, cut.n, 5000);
	hf_fst_write(t, "tiny.stf", tiny.p, tiny.n);
	hf_fst_write(t, "two.stf.gz", gz.p, gz.n);
	hf_fst_write(t, "cut.zstf", zstf.p, zstf.n * 3 / 4);
	hf_bytes_free(&tiny);
	hf_bytes_free(&two);
	hf_bytes_free(&cut);
	hf_bytes_free(&gz);
	hf_bytes_free(&zstf);
}

static void check_each(void)
{
	for (size_t i = 0; i < view_count; i++)
		if (first[i].n < 400)
			check_every(views[i], &first[i]);
		else
			check_random(views[i], &first[i], 40, i);
}

static void check_threads(void)
{
	struct reader reader[4];

	for (unsigned i = 0; i < 4; i++) {
		reader[i] = (struct reader){.seed = i};
		CHECK_EQ(pthread_create(&reader[i].thread, NULL, read_some, &reader[i]), 0);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(reader[i].thread, NULL);
}

/* Whether the i-th view is what it was with the first size of chunks; names it if not. */
static void check_same(size_t i)
{
	struct hf_walk_bytes whole;

	CHECK(hf_fst_comes(t, views[i]));
	whole = hf_fst_read(t, views[i], 65536);
	if (!first[i].p)
		first[i] = whole;
	if (whole.n != first[i].n || memcmp(whole.p, first[i].p, whole.n) != 0) {
		fprintf(stderr, "%s is not the same with another size of chunks\n", views[i]);
		exit(1);
	}
	if (whole.p != first[i].p)
		hf_bytes_free(&whole);
}

void loop_chunks(struct samples *all)
{
	t = &all->fst;
	write_captures();
	for (size_t k = 0; k < sizeof chunk_insns / sizeof *chunk_insns; k++) {
		/* So small a cache that chunks are made more than once. */
		struct hf_fs_options options = {.chunk_insns = chunk_insns[k], .cache_bytes = 300 << 10};

		if (HF_TEST_SAMPLE && k % 2)
			continue;
		/* An index of its own. */
		snprintf(t->index, sizeof t->index, "%s/index%zu", t->dir, k);
		CHECK_EQ(mkdir(t->index, 0700), 0);
		hf_fst_open(t, &options);
		if (!view_count) {
			hf_fst_must_be_indexed(t, "tiny@stf");
			find_captures("");
			for (size_t i = 0; i < sizeof slices / sizeof *slices; i++)
				find_views(slices[i]);
		}
		for (size_t i = 0; i < view_count; i++)
			check_same(i);
		for (size_t i = 0; i < sizeof least / sizeof *least; i++)
			CHECK(is_found(least[i]));
		check_each();
		if (k % 2 == 0) /* many chunks, and few */
			check_threads();
		hf_fst_close(t);
	}
	for (size_t i = 0; i < view_count; i++) {
		hf_bytes_free(&first[i]);
		free(views[i]);
	}
}
