/* SPDX-License-Identifier: Apache-2.0 */
/* Captures on their way to being served: recognised, indexed, changed, truncated, vanished, damaged, many at once. */
#include "codecs/base/errors.h"
#include "fs/capture/drop_index.h"
#include "fs/whole.h"
#include "tests/lib/fstest.h"
#include "tests/lib/pack.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

static struct hf_fst t;

static void write_stf(const char *path, size_t insns, uint64_t seed)
{
	struct hf_walk_bytes stf = hf_fst_stf(insns, seed, false);

	hf_fst_write(&t, path, stf.p, stf.n);
	hf_bytes_free(&stf);
}

static unsigned count(const char *text, const char *what)
{
	unsigned n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

/* Every container, under names that say nothing or the wrong thing. */
static void test_recognised(void)
{
	static const char *const path[] = {"plain", "gz.txt", "xz", "zst", "zstf.xz", "lzma"};
	struct hf_walk_bytes stf = hf_fst_stf(3000, 1, false), packed[6] = {0};

	hf_fst_begin(&t);
	hf_bytes_add(&packed[0], stf.p, stf.n);
	hf_pack_gzip(&packed[1], stf.p, stf.n, -1, 8);
	hf_pack_xz(&packed[2], stf.p, stf.n, 4, 0);
	hf_pack_zstd(&packed[3], stf.p, stf.n, 0, 0);
	hf_pack_zstf(&packed[4], stf.p, stf.n, 4000);
	hf_pack_lzma(&packed[5], stf.p, stf.n);
	for (size_t i = 0; i < 6; i++)
		hf_fst_write(&t, path[i], packed[i].p, packed[i].n);
	hf_fst_open(&t, NULL);
	for (size_t i = 0; i < 6; i++) {
		char name[64];
		struct hf_walk_bytes source;

		/* No suffix stands for a format here but ".xz", whose dot is turned. */
		snprintf(name, sizeof name, i == 4 ? "zstf@xz/source.stf" : "%s@stf/source.stf", path[i]);
		source = hf_fst_read(&t, name, 777);
		CHECK_EQ(source.n, stf.n);
		CHECK(memcmp(source.p, stf.p, stf.n) == 0);
		hf_bytes_free(&source);
		hf_bytes_free(&packed[i]);
	}
	hf_bytes_free(&stf);
	hf_fst_end(&t);
}

static void test_contents(void)
{
	struct hf_walk_bytes stf = hf_fst_stf(400, 3, false), many = hf_fst_stf(400, 3, true), trace;
	char *info, *errors, *got;

	hf_fst_begin(&t);
	hf_fst_write(&t, "one.stf", stf.p, stf.n);
	hf_fst_write(&t, "two.stf", many.p, many.n);
	hf_fst_open(&t, NULL);
	hf_fst_must_be_indexed(&t, "one@stf");
	hf_fst_must_be_indexed(&t, "two@stf");
	got = hf_fst_list(&t, "one@stf");
	CHECK(strstr(got, "errors.txt\nhart0\ninfo.json\n"));
	CHECK(strstr(got, "source.stf\n"));
	free(got);
	got = hf_fst_list(&t, "one@stf/hart0");
	CHECK(strstr(got, "listing.txt\n"));
	CHECK(strstr(got, "trace.stf\n"));
	free(got);
	got = hf_fst_list(&t, "two@stf");
	CHECK(strstr(got, "hart0\nhart1\n"));
	free(got);
	/* Of one hart the stream as it is; of two a stream of each. */
	trace = hf_fst_read(&t, "one@stf/hart0/trace.stf", 1000);
	CHECK_EQ(trace.n, stf.n);
	CHECK(memcmp(trace.p, stf.p, stf.n) == 0);
	hf_bytes_free(&trace);
	trace = hf_fst_read(&t, "two@stf/hart1/trace.stf", 1000);
	CHECK(trace.n < many.n);
	hf_bytes_free(&trace);
	errors = hf_fst_text(&t, "one@stf/errors.txt");
	CHECK_STR(errors, "");
	free(errors);
	info = hf_fst_text(&t, "one@stf/info.json");
	CHECK(strstr(info, "\"state\": \"ready\""));
	CHECK(strstr(info, "\"hart0/listing.txt\": {"));
	CHECK(strstr(info, "\"reason\": \"ETE is Arm only\""));
	CHECK(strstr(info, "\"problems\": 0"));
	free(info);
	hf_bytes_free(&stf);
	hf_bytes_free(&many);
	hf_fst_end(&t);
}

/* Only the views that were asked for. */
static void test_views_option(void)
{
	struct hf_fs_options options = {.views = "nothing,listing.txt"};
	char *got;

	hf_fst_begin(&t);
	write_stf("x.stf", 10, 1);
	hf_fst_open(&t, &options);
	got = hf_fst_list(&t, "x@stf/hart0");
	CHECK_STR(got, "at\nlisting.txt\nprofile\nwhere\n");
	free(got);
	hf_fst_end(&t);
}

static void test_not_indexed(void)
{
	struct hf_fs_options options = {.no_index = true};
	struct hf_attr attr;
	struct hf_diag diag;
	char *got;

	hf_fst_begin(&t);
	write_stf("x.stf", 100, 1);
	hf_fst_write_text(&t, "y", "text");
	hf_fst_open(&t, &options);
	got = hf_fst_list(&t, "x@stf");
	CHECK_STR(got, "INDEXING\ninfo.json\n");
	free(got);
	got = hf_fst_text(&t, "x@stf/info.json");
	CHECK(strstr(got, "\"state\": \"indexing\""));
	free(got);
	CHECK_EQ(hf_fst_size(&t, "x@stf/INDEXING"), 64);
	got = hf_fst_text(&t, "x@stf/INDEXING");
	CHECK(strstr(got, "0.0% indexed, ? left"));
	free(got);
	CHECK_EQ(hf_fst_look_once(&t, "x@stf/hart0", &attr), HF_ERR_BUSY);
	CHECK_EQ(hf_fst_look_once(&t, "x@stf/hart9999", &attr), HF_ERR_BUSY);
	CHECK_EQ(hf_fst_look_once(&t, "x@stf/errors.txt", &attr), HF_ERR_BUSY);
	CHECK_EQ(hf_fst_lookup(&t, "x@stf/nothing", &attr), HF_ERR_NOT_FOUND);
	CHECK_EQ(hf_fs_index(t.fs, "y", NULL, NULL, &diag), HF_ERR_UNKNOWN_FORMAT);
	CHECK_EQ(hf_fs_index(t.fs, "none", NULL, NULL, &diag), HF_ERR_NOT_FOUND);
	CHECK_EQ(hf_fs_index(t.fs, "x.stf", NULL, NULL, &diag), 0);
	CHECK(hf_fst_comes(&t, "x@stf/hart0"));
	CHECK_EQ(hf_fst_lookup(&t, "x@stf/hart9999", &attr), HF_ERR_NOT_FOUND);
	CHECK(!hf_fst_exists(&t, "x@stf/INDEXING"));
	/* Again: there is nothing to do. And without this process. */
	CHECK_EQ(hf_fs_index(t.fs, "x.stf", NULL, NULL, &diag), 0);
	hf_fst_close(&t);
	hf_fst_open(&t, &options);
	CHECK(hf_fst_comes(&t, "x@stf/hart0/listing.txt"));
	hf_fst_end(&t);
}

/* Files whose names claim a format that they are not of are shown with what is wrong; others are just files. */
static void test_claims(void)
{
	char *got;

	hf_fst_begin(&t);
	hf_fst_write_text(&t, "zero.stf", "");
	hf_fst_write_text(&t, "zero", "");
	hf_fst_write_text(&t, "text.stf.gz", "text");
	hf_fst_write_text(&t, "text.gz", "text");
	hf_fst_open(&t, NULL);
	got = hf_fst_list(&t, "");
	CHECK_STR(got, ".hartfs\ntext.gz\ntext.stf.gz\ntext@stf@gz\nzero\nzero.stf\nzero@stf\n");
	free(got);
	got = hf_fst_list(&t, "zero@stf");
	CHECK_STR(got, "errors.txt\ninfo.json\n");
	free(got);
	got = hf_fst_text(&t, "zero@stf/errors.txt");
	CHECK_EQ(count(got, "\n"), 1);
	CHECK(strncmp(got, "zero.stf: ", 10) == 0);
	free(got);
	got = hf_fst_text(&t, "text@stf@gz/errors.txt");
	CHECK_EQ(count(got, "\n"), 1);
	free(got);
	hf_fst_end(&t);
}

/* Damaged ones beside good ones: each has its errors, and what stands before the damage is served. */
static void test_damaged(void)
{
	struct hf_walk_bytes stf = hf_fst_stf(2000, 5, false), gz = {0}, part;
	char *info, *errors;

	hf_fst_begin(&t);
	hf_pack_gzip(&gz, stf.p, stf.n, -1, 0);
	hf_fst_write(&t, "good.stf", stf.p, stf.n);
	hf_fst_write(&t, "cut.stf.gz", gz.p, gz.n / 2);
	hf_fst_write(&t, "end.stf", stf.p, stf.n - 1);
	hf_fst_write(&t, "head.stf", stf.p, 30);
	memset(stf.p + stf.n / 2, 0xee, 8);
	hf_fst_write(&t, "bad.stf", stf.p, stf.n);
	hf_fst_open(&t, NULL);

	part = hf_fst_read(&t, "cut@stf@gz/source.stf", 4096);
	CHECK(part.n > 0 && part.n < stf.n);
	hf_bytes_free(&part);
	errors = hf_fst_text(&t, "cut@stf@gz/errors.txt");
	CHECK(strncmp(errors, "cut.stf.gz: ", 12) == 0);
	CHECK(strstr(errors, "the compressed stream is cut short"));
	free(errors);
	CHECK(hf_fst_size(&t, "cut@stf@gz/hart0/listing.txt") > 1000);

	errors = hf_fst_text(&t, "end@stf/errors.txt");
	CHECK_EQ(count(errors, "\n"), 1);
	CHECK(strstr(errors, "after "));
	free(errors);
	errors = hf_fst_text(&t, "bad@stf/errors.txt");
	CHECK(count(errors, "bad.stf: offset ") >= 1);
	free(errors);

	/* A header that cannot be read: no harts, no stream, one line. */
	info = hf_fst_list(&t, "head@stf");
	CHECK_STR(info, "errors.txt\ninfo.json\n");
	free(info);
	errors = hf_fst_text(&t, "head@stf/errors.txt");
	CHECK_EQ(count(errors, "\n"), 1);
	CHECK(strncmp(errors, "head.stf: offset ", 17) == 0);
	free(errors);
	info = hf_fst_text(&t, "head@stf/info.json");
	CHECK(strstr(info, "\"error\": \"offset "));
	free(info);
	errors = hf_fst_text(&t, "good@stf/errors.txt");
	CHECK_STR(errors, "");
	free(errors);
	hf_bytes_free(&stf);
	hf_bytes_free(&gz);
	hf_fst_end(&t);
}

static int read_one(struct hf_file *file, uint64_t offset)
{
	uint8_t buf[100];
	size_t n;

	return hf_fs_read_wait(t.fs, file, offset, buf, sizeof buf, &n);
}

static unsigned invalidated;

static void invalidate(void *ctx, uint64_t ino)
{
	(void)ctx;
	(void)ino;
	__atomic_fetch_add(&invalidated, 1, __ATOMIC_RELAXED);
}

static void test_changed(void)
{
	struct hf_fs_options options = {.invalidate = invalidate};
	struct hf_walk_bytes first, second;
	struct hf_file *listing, *source, *cold;
	struct hf_attr attr;
	char *got;

	hf_fst_begin(&t);
	write_stf("x.stf", 300000, 1);
	hf_fst_open(&t, &options);
	first = hf_fst_read(&t, "x@stf/hart0/listing.txt", 5000);
	listing = hf_fst_open_file(&t, "x@stf/hart0/listing.txt");
	source = hf_fst_open_file(&t, "x@stf/source.stf");
	cold = hf_fst_open_file(&t, "x@stf/source.stf");
	CHECK_EQ(read_one(listing, 0), 0);
	CHECK_EQ(read_one(source, 0), 0);

	/* Replaced: who opened the old one gets an error, who opens now the new one. */
	write_stf("x.stf", 300, 2);
	CHECK_EQ(read_one(cold, 1200000), HF_ERR_CHANGED);
	CHECK_EQ(read_one(listing, 0), HF_ERR_CHANGED);
	CHECK_EQ(read_one(source, 0), HF_ERR_CHANGED);
	second = hf_fst_read(&t, "x@stf/hart0/listing.txt", 5000);
	CHECK(second.n < first.n / 10);
	CHECK_EQ(read_one(listing, 0), HF_ERR_CHANGED);
	hf_file_close(listing);
	hf_file_close(source);
	hf_file_close(cold);
	CHECK_COMES(__atomic_load_n(&invalidated, __ATOMIC_RELAXED) > 0);

	/* Truncated under an open file. */
	write_stf("x.stf", 300000, 1);
	source = hf_fst_open_file(&t, "x@stf/source.stf");
	CHECK_EQ(truncate(hf_fst_path(&t, "x.stf"), 1000), 0);
	CHECK_EQ(read_one(source, 1300000), HF_ERR_CHANGED);
	hf_file_close(source);
	CHECK_EQ(hf_fst_size(&t, "x@stf/source.stf"), 1000);

	/* Gone, and there again as something else, and as a capture again. */
	source = hf_fst_open_file(&t, "x@stf/source.stf");
	CHECK_EQ(unlink(hf_fst_path(&t, "x.stf")), 0);
	CHECK_EQ(read_one(source, 0), HF_ERR_CHANGED);
	hf_file_close(source);
	CHECK_EQ(hf_fst_lookup(&t, "x@stf", &attr), HF_ERR_NOT_FOUND);
	hf_fst_write_text(&t, "x.stf", "no trace");
	got = hf_fst_text(&t, "x@stf/errors.txt");
	CHECK_STR(got, "x.stf: offset 0: no codec recognises this content (bare packets need a capture.ini)\n");
	free(got);
	write_stf("x.stf", 300000, 1);
	hf_bytes_free(&second);
	second = hf_fst_read(&t, "x@stf/hart0/listing.txt", 100000);
	CHECK_EQ(second.n, first.n);
	CHECK(memcmp(second.p, first.p, first.n) == 0);
	hf_bytes_free(&first);
	hf_bytes_free(&second);
	hf_fst_end(&t);
}

/* Only so many captures are open, however many are read. */
static void test_many(void)
{
	enum { MANY = 150 };
	char name[64], *text;
	struct hf_captures_stats counts;

	hf_fst_begin(&t);
	for (unsigned i = 0; i < MANY; i++) {
		snprintf(name, sizeof name, "%03u.stf", i);
		write_stf(name, 5 + i, i);
	}
	hf_fst_open(&t, NULL);
	hf_fs_index_all(t.fs);
	hf_fs_idle(t.fs);
	hf_captures_get_stats(&t.fs->captures, &counts);
	CHECK_EQ(counts.count.state[HF_CAPTURE_READY], MANY);
	CHECK(t.fs->captures.open_pool.count <= HF_OPEN_CAPTURES_MAX);
	for (unsigned i = 0; i < MANY; i++) {
		snprintf(name, sizeof name, "%03u@stf/hart0/listing.txt", i);
		text = hf_fst_text(&t, name);
		CHECK(*text);
		free(text);
		snprintf(name, sizeof name, "%03u@stf/info.json", i);
		text = hf_fst_text(&t, name);
		CHECK(strstr(text, "ready"));
		free(text);
	}
	CHECK(t.fs->captures.open_pool.count <= HF_OPEN_CAPTURES_MAX);
	text = hf_fst_text(&t, ".hartfs/status.json");
	CHECK(strstr(text, "\"ready\": 150"));
	free(text);
	text = hf_fst_text(&t, ".hartfs/progress.txt");
	CHECK_STR(text, "");
	free(text);
	text = hf_fst_text(&t, ".hartfs/metrics.prom");
	CHECK(strstr(text, "hartfs_captures{state=\"ready\"} 150\n"));
	free(text);
	hf_fst_end(&t);
}

/* Somebody empties the index directory under us. */
static void test_index_lost(void)
{
	struct hf_file *file;
	struct dirent *entry;
	char *text;
	int err;
	DIR *dir;
	int fd;

	hf_fst_begin(&t);
	write_stf("x.stf", 100, 1);
	hf_fst_open(&t, NULL);
	file = hf_fst_open_file(&t, "x@stf/hart0/listing.txt");
	dir = opendir(t.index);
	while ((entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
	/* As if it had been closed for others that were used more lately. */
	hf_fs_idle(t.fs);
	for (struct hf_open *open = hf_open_pool_newest(&t.fs->captures.open_pool); open; open = hf_open_pool_newest(&t.fs->captures.open_pool))
		hf_open_drop(open->capture);
	/* It is made again, and what is open goes on; a read waits two seconds for that. */
	CHECK_COMES((err = read_one(file, 0)) != HF_ERR_STATE);
	CHECK_EQ(err, 0);
	hf_file_close(file);
	text = hf_fst_text(&t, "x@stf/hart0/listing.txt");
	CHECK(*text);
	free(text);

	/* Rubbish in its place is no index either. */
	hf_fst_close(&t);
	dir = opendir(t.index);
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.') {
			fd = openat(dirfd(dir), entry->d_name, O_WRONLY);
			CHECK(fd >= 0);
			CHECK_EQ(pwrite(fd, "rubbishrubbish", 14, 9000), 14);
			close(fd);
		}
	closedir(dir);
	hf_fst_open(&t, NULL);
	text = hf_fst_text(&t, "x@stf/hart0/listing.txt");
	CHECK(*text);
	free(text);
	hf_fst_end(&t);
}

/* Bytes that are not as promised are not served, and the index is built anew; not for ever. */
static void test_distrust(void)
{
	struct hf_walk_bytes first, again;
	struct hf_capture *capture;
	char *errors;
	struct stat st;

	hf_fst_begin(&t);
	write_stf("x.stf", 1000, 1);
	hf_fst_open(&t, NULL);
	first = hf_fst_read(&t, "x@stf/hart0/listing.txt", 1000);
	CHECK_EQ(stat(hf_fst_path(&t, "x.stf"), &st), 0);
	CHECK_EQ(hf_capture_find(&t.fs->captures, "x.stf", &st, &capture), 0);
	for (int i = 0; i < 2; i++) {
		struct hf_file *file = hf_fst_open_file(&t, "x@stf/hart0/listing.txt");

		hf_capture_drop_index(capture, capture->version, HF_ERR_MISMATCH);
		CHECK_EQ(read_one(file, 0), HF_ERR_CHANGED);
		hf_file_close(file);
		again = hf_fst_read(&t, "x@stf/hart0/listing.txt", 1000);
		CHECK_EQ(again.n, first.n);
		CHECK(memcmp(again.p, first.p, first.n) == 0);
		hf_bytes_free(&again);
	}
	hf_capture_drop_index(capture, capture->version, HF_ERR_MISMATCH);
	CHECK(!hf_fst_exists(&t, "x@stf/hart0/listing.txt"));
	errors = hf_fst_text(&t, "x@stf/errors.txt");
	CHECK_STR(errors, "x.stf: bytes differ from what the index promises\n");
	free(errors);
	hf_bytes_free(&first);
	hf_fst_end(&t);
}

static void test_verify(void)
{
	struct hf_fs_options options = {.chunk_insns = 7};
	uint64_t chunks, bad;
	struct hf_diag diag;

	hf_fst_begin(&t);
	write_stf("x.stf", 5000, 1);
	hf_fst_open(&t, &options);
	CHECK_EQ(hf_fs_index(t.fs, "x.stf", NULL, NULL, &diag), 0);
	CHECK_EQ(hf_fs_verify(t.fs, "x.stf", &chunks, &bad, &diag), 0);
	CHECK(chunks > 500);
	CHECK_EQ(bad, 0);
	CHECK_EQ(hf_fs_verify(t.fs, "none", &chunks, &bad, &diag), HF_ERR_NOT_FOUND);
	hf_fst_end(&t);
}

static size_t index_files(void)
{
	struct dirent *entry;
	DIR *dir = opendir(t.index);
	size_t n = 0;

	while ((entry = readdir(dir)))
		n += strstr(entry->d_name, ".hfi") || strstr(entry->d_name, ".hfv");
	closedir(dir);
	return n;
}

/* Changed between the samples of its identity, with its old time: verify sees that, and the index goes. */
static void test_verify_bad(void)
{
	struct hf_fs_options options = {.no_index = true};
	struct timespec times[2];
	uint64_t chunks, bad;
	struct hf_diag diag;
	uint8_t bytes[64];
	struct stat st;
	int fd;

	hf_fst_begin(&t);
	write_stf("x.stf", 120000, 1);
	hf_fst_open(&t, &options);
	CHECK_EQ(hf_fs_index(t.fs, "x.stf", NULL, NULL, &diag), 0);
	CHECK_EQ(hf_fs_verify(t.fs, "x.stf", &chunks, &bad, &diag), 0);
	CHECK_EQ(bad, 0);
	CHECK(index_files() > 1);
	hf_fst_close(&t);
	fd = open(hf_fst_path(&t, "x.stf"), O_RDWR);
	CHECK(fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 300000);
	CHECK_EQ(pread(fd, bytes, sizeof bytes, 70000), (ssize_t)sizeof bytes);
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] ^= 1;
	CHECK_EQ(pwrite(fd, bytes, sizeof bytes, 70000), (ssize_t)sizeof bytes);
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	CHECK_EQ(futimens(fd, times), 0);
	close(fd);
	hf_fst_open(&t, &options);
	CHECK_EQ(hf_fs_index(t.fs, "x.stf", NULL, NULL, &diag), 0);
	CHECK_EQ(hf_fs_verify(t.fs, "x.stf", &chunks, &bad, &diag), 0);
	CHECK(bad > 0);
	CHECK_EQ(index_files(), 0);
	CHECK_EQ(hf_fs_index(t.fs, "x.stf", NULL, NULL, &diag), 0);
	CHECK_EQ(hf_fs_verify(t.fs, "x.stf", &chunks, &bad, &diag), 0);
	CHECK_EQ(bad, 0);
	hf_fst_end(&t);
}

static bool cancel_at_once(void *ctx, double percent, uint64_t insns)
{
	(void)ctx;
	(void)percent;
	(void)insns;
	return false;
}

static void test_cancelled(void)
{
	struct hf_fs_options options = {.no_index = true};
	struct hf_diag diag;
	int err;

	hf_fst_begin(&t);
	write_stf("x.stf", 300000, 1);
	hf_fst_open(&t, &options);
	err = hf_fs_index(t.fs, "x.stf", cancel_at_once, NULL, &diag);
	CHECK_EQ(err, HF_ERR_CANCELLED);
	CHECK(!hf_fst_exists(&t, "x@stf/hart0"));
	CHECK_EQ(hf_fs_index(t.fs, "x.stf", NULL, NULL, &diag), 0);
	CHECK(hf_fst_comes(&t, "x@stf/hart0"));
	hf_fst_end(&t);
}

/* Closing in the middle of indexing, and going on at the next mount. */
static void test_close_early(void)
{
	hf_fst_begin(&t);
	write_stf("x.stf", 300000, 1);
	write_stf("y.stf", 300000, 2);
	hf_fst_open(&t, NULL);
	hf_fs_index_all(t.fs);
	hf_fst_sleep_ms(5);
	hf_fst_close(&t);
	hf_fst_open(&t, NULL);
	hf_fs_index_all(t.fs);
	hf_fs_idle(t.fs);
	CHECK(hf_fst_comes(&t, "x@stf/hart0/listing.txt"));
	CHECK(hf_fst_comes(&t, "y@stf/hart0/listing.txt"));
	hf_fst_end(&t);
}

int main(void)
{
	test_recognised();
	test_contents();
	test_views_option();
	test_not_indexed();
	test_claims();
	test_damaged();
	test_changed();
	test_many();
	test_index_lost();
	test_distrust();
	test_verify();
	test_verify_bad();
	test_cancelled();
	test_close_early();
	return 0;
}
