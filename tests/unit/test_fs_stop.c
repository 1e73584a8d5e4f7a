/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file system that is told to stop at the N-th question, for every N of a first few dozen and ever fewer after that:
 * opening, indexing, verifying and reading end with an error that says so, nothing is lost and no byte is wrong.
 */
#include "tests/lib/fstest.h"
#include "tests/lib/pack.h"

#include <stdatomic.h>

static struct hf_fst t;

struct budget {
	atomic_uint left;
};

static bool is_used_up(void *ctx)
{
	struct budget *b = ctx;
	unsigned left = atomic_load(&b->left);

	while (left && !atomic_compare_exchange_weak(&b->left, &left, left - 1))
		;
	return !left;
}

static const char *const captures[] = {"one.stf", "two.stf.gz", "loop"};
static const char *const listings[] = {"one@stf/hart0/listing.txt", "two@stf@gz/hart0/listing.txt",
				       "loop@ntrace/hart0/listing.txt"};
#define COUNT (sizeof captures / sizeof *captures)

/* nop; beqz zero, -4: a place to begin, and two runs of 1000 branches that were taken (N-Trace 1.0, 7.8). */
static void write_loop(void)
{
	static const uint8_t code[] = {0x13, 0, 0, 0, 0xe3, 0x0e, 0, 0xfe};
	static const uint8_t trace[] = {0x24, 0x15, 0, 0, 0, 0, 0, 0x07, 0x6c, 0x24, 0xe8, 0x0f, 0x6c, 0x24, 0xe8, 0x0f};

	hf_fst_write(&t, "loop/code.bin", code, sizeof code);
	hf_fst_write(&t, "loop/trace.bin", trace, sizeof trace);
	hf_fst_write_text(&t, "loop/capture.ini",
			  "[capture]\nformat = ntrace\ntrace = trace.bin\n[program]\nraw = code.bin, address = 0x80000000\n");
}

static void write_captures(void)
{
	struct hf_walk_bytes one = hf_fst_stf(20000, 1, false), two = hf_fst_stf(60000, 2, false), packed = {0};

	hf_pack_gzip(&packed, two.p, two.n, 1, 0);
	hf_fst_write(&t, "one.stf", one.p, one.n);
	hf_fst_write(&t, "two.stf.gz", packed.p, packed.n);
	write_loop();
	hf_bytes_free(&one);
	hf_bytes_free(&two);
	hf_bytes_free(&packed);
}

static void open_with(struct hf_stop *stop)
{
	const struct hf_fs_options options = {.no_index = true, .cache_bytes = 4 << 20, .stop = stop};

	hf_fst_open(&t, &options);
}

/* With stop's questions answered by no so often. */
static int work(unsigned questions, const char *capture, bool verify)
{
	struct budget budget = {.left = questions};
	struct hf_stop stop = {.wanted = is_used_up, .ctx = &budget};
	uint64_t chunks, bad = 0;
	struct hf_diag diag = {0};
	int err;

	open_with(&stop);
	err = hf_fs_index(t.fs, capture, NULL, NULL, &diag);
	if (!err && verify)
		err = hf_fs_verify(t.fs, capture, &chunks, &bad, &diag);
	hf_fst_close(&t);
	CHECK_EQ(bad, 0);
	if (err && err != HF_ERR_CANCELLED)
		fprintf(stderr, "%s, %u questions: %s\n", capture, questions, hf_err_name(err));
	CHECK(!err || err == HF_ERR_CANCELLED);
	return err;
}

static unsigned after(unsigned questions)
{
	return questions + 1 + (questions > 40 || HF_TEST_SAMPLE ? questions / 4 : 0);
}

static unsigned index_all(const char *capture, bool verify)
{
	unsigned questions = 0;

	while (work(questions, capture, verify))
		questions = after(questions);
	return questions;
}

/* Reads what it can; the bytes are those of whole, or there is an error. */
static int read_some(unsigned questions, const char *path, const struct hf_walk_bytes *whole)
{
	struct budget budget = {.left = questions};
	struct hf_stop stop = {.wanted = is_used_up, .ctx = &budget};
	uint8_t *bytes = malloc(whole->n + 1);
	struct hf_file *file;
	bool keep;
	uint64_t ino;
	size_t n = 0;
	int err;

	CHECK(bytes);
	open_with(&stop);
	err = hf_fs_resolve(t.fs, path, &ino);
	if (!err) {
		err = hf_file_open(t.fs, ino, &file, &keep);
		if (!err) {
			err = hf_fs_read_wait(t.fs, file, 0, bytes, whole->n + 1, &n);
			CHECK(n <= whole->n && memcmp(bytes, whole->p, n) == 0);
			CHECK(err || n == whole->n);
			hf_file_close(file);
		}
		hf_fs_forget(t.fs, ino, 1);
	}
	hf_fst_close(&t);
	free(bytes);
	return err;
}

int main(void)
{
	struct hf_walk_bytes whole[COUNT];

	hf_fst_begin(&t);
	write_captures();
	for (size_t i = 0; i < COUNT; i++)
		CHECK(index_all(captures[i], false) > 2);
	for (size_t i = 0; i < COUNT; i++) {
		CHECK(index_all(captures[i], true) > 2);
		open_with(NULL);
		CHECK_EQ(hf_fs_index(t.fs, captures[i], NULL, NULL, &(struct hf_diag){0}), 0);
		whole[i] = hf_fst_read(&t, listings[i], 1 << 16);
		CHECK(whole[i].n > 1000);
		hf_fst_close(&t);
	}
	for (size_t i = 0; i < COUNT; i++) {
		for (unsigned questions = 0; questions < 2000; questions = after(questions))
			read_some(questions, listings[i], &whole[i]);
		hf_bytes_free(&whole[i]);
	}
	hf_fst_end(&t);
	return 0;
}
