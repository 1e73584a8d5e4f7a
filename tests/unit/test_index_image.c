/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code of the harts in the decode index: as if it had been collected in one go, however the build was cut,
 * interrupted and gone on with; and what makes an index say no.
 */
#include "tests/lib/check.h"
#include "tests/lib/indextest.h"
#include "tests/registry/toy.h"
#include "tests/lib/sliver.h"

#define HARTS (HF_STREAM_HARTS | HF_STREAM_MANY)

static struct hf_index *open_index(struct hf_ixtest *t)
{
	struct hf_index *index;

	CHECK_EQ(hf_index_open(&t->at, &t->identity, &index), 0);
	return index;
}

static void test_chunk_sizes(struct hf_ixtest *t)
{
	static const uint64_t insns[] = {1, 7, 1000, 16384};

	for (size_t i = 0; i < sizeof insns / sizeof *insns; i++) {
		hf_ixtest_limit(t, insns[i]);
		hf_ixtest_build(t);
		hf_ixtest_check_some(t, 101);
		hf_ixtest_clear(t);
	}
}

/* A build that meets a bad disk keeps what it has, without having come to a checkpoint of its own. */
static void test_bad_disk(struct hf_ixtest *t)
{
	struct hf_walk_bytes want, got;
	struct hf_src *file = t->build.file, *bad;

	hf_ixtest_build(t);
	want = hf_ixtest_dump(t, "");
	hf_ixtest_clear(t);
	for (uint64_t at = t->file.n / 7; at < t->file.n; at += t->file.n / 7) {
		CHECK_EQ(hf_sliver_new_failing(file, at, HF_ERR_IO, &bad), 0);
		t->build.file = bad;
		CHECK_EQ(hf_build_run(&t->build, NULL), HF_ERR_IO);
		hf_src_free(bad);
		CHECK(hf_ixtest_count(t, ".hfi.part") > 0);
	}
	t->build.file = file;
	hf_ixtest_build(t);
	got = hf_ixtest_dump(t, "");
	CHECK_EQ(got.n, want.n);
	CHECK(memcmp(got.p, want.p, got.n) == 0);
	hf_ixtest_check_some(t, 101);
	hf_bytes_free(&got);
	hf_bytes_free(&want);
	hf_ixtest_clear(t);
}

/* An index has the code of its harts, and of nothing else. */
static void test_whose(struct hf_ixtest *t)
{
	struct hf_image *image = (struct hf_image *)t;
	struct hf_index *index;

	hf_ixtest_build(t);
	index = open_index(t);
	CHECK_EQ(hf_index_image(index, 4711, &image), HF_ERR_NOT_FOUND);
	CHECK(!image);
	CHECK(hf_index_records(index));
	CHECK_EQ(hf_index_image(index, HF_HART_RECORDS, &image), HF_ERR_NOT_FOUND);
	hf_index_close(index);
	hf_ixtest_clear(t);
}

/* A hart without instructions has an image all the same, which says so. */
static void test_empty(struct hf_ixtest *t)
{
	const struct hf_index_hart *harts;
	struct hf_image *image;
	struct hf_index *index;
	char reason[200];

	hf_ixtest_capture(t, 0, 1, HF_STREAM_HARTS, 5);
	hf_ixtest_build(t);
	index = open_index(t);
	CHECK_EQ(hf_index_harts(index, &harts), 1);
	CHECK_EQ(hf_index_image(index, harts[0].id, &image), 0);
	CHECK(hf_image_refuses(image, reason, sizeof reason));
	CHECK(*reason);
	hf_image_free(image);
	hf_index_close(index);
	hf_ixtest_clear(t);
}

/* Code of many pages goes into several rows. */
static void test_large(struct hf_ixtest *t)
{
	const size_t n = 300000;
	struct hf_toy_header header = {.flags = HF_STREAM_HARTS};
	struct hf_toy_record *records = calloc(n, sizeof *records);
	struct hf_walk_bytes all = {0};
	struct hf_index *index;
	struct hf_image *image;
	const struct hf_index_hart *harts;

	CHECK(records);
	memcpy(header.magic, HF_TOY_MAGIC, sizeof header.magic);
	for (size_t i = 0; i < n; i++)
		records[i] = (struct hf_toy_record){.kind = HF_TOY_GROUP, .value = 64};
	hf_bytes_add(&all, &header, sizeof header);
	hf_bytes_add(&all, records, n * sizeof *records);
	hf_ixtest_bytes(t, all.p, all.n);
	hf_ixtest_limit(t, 16384);
	hf_ixtest_build(t);
	index = open_index(t);
	CHECK_EQ(hf_index_harts(index, &harts), 1);
	CHECK_EQ(hf_index_image(index, harts[0].id, &image), 0);
	CHECK(hf_image_pages(image) > 1000);
	hf_image_free(image);
	hf_index_close(index);
	hf_ixtest_check_some(t, 10007);
	hf_ixtest_clear(t);
	test_bad_disk(t);
	hf_bytes_free(&all);
	free(records);
}

int main(void)
{
	struct hf_ixtest t;

	hf_ixtest_init(&t);
	hf_ixtest_capture(&t, 5000, 3, HARTS, 1);
	test_chunk_sizes(&t);
	hf_ixtest_limit(&t, 100);
	test_bad_disk(&t);
	test_whose(&t);
	hf_ixtest_pack(&t, ".gz");
	test_bad_disk(&t);
	test_empty(&t);
	test_large(&t);
	hf_ixtest_fini(&t);
	return 0;
}
