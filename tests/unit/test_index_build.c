/* SPDX-License-Identifier: Apache-2.0 */
/* What an index says against one sequential pass: every chunk, ordinal and offset, for several sizes of chunks. */
#include "codecs/source/errors.h"
#include "tests/lib/check.h"
#include "tests/lib/indextest.h"
#include "tests/registry/toy.h"

#define HARTS (HF_STREAM_HARTS | HF_STREAM_MANY)

static void build_and_check(struct hf_ixtest *t)
{
	hf_ixtest_build(t);
	CHECK_EQ(hf_ixtest_count(t, ".part"), 0);
	hf_ixtest_check(t);
	hf_ixtest_clear(t);
}

static void test_chunk_sizes(struct hf_ixtest *t)
{
	static const uint64_t sizes[] = {1, 7, 1000, 16384};

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		hf_ixtest_limit(t, sizes[i]);
		hf_ixtest_capture(t, 3000, 3, HARTS, i);
		build_and_check(t);
		/* one hart, whose own view is the stream */
		hf_ixtest_capture(t, 2000, 1, HARTS | HF_STREAM_ORIGINAL, i);
		build_and_check(t);
		hf_ixtest_capture(t, 2000, 1, HF_STREAM_HARTS | HF_STREAM_ORIGINAL, i);
		build_and_check(t);
	}
	t->limits = hf_chunk_limits_default;
}

/* The other limits, alone and in odd company. */
static void test_limits(struct hf_ixtest *t)
{
	static const struct hf_chunk_limits limits[] = {
		{.insns = 1000, .events = 1, .bytes = 1000},
		{.insns = 1000, .events = 513, .bytes = 1u << 20},
		{.insns = 1000000, .events = 1000000, .bytes = 1},
		{.insns = 100, .events = 130, .bytes = 4000},
	};

	hf_ixtest_capture(t, 1500, 2, HARTS, 9);
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		t->limits = limits[i];
		build_and_check(t);
	}
	t->limits = hf_chunk_limits_default;
}

/* The chunk ends where the events end: no empty chunk follows. */
static void test_exact_end(struct hf_ixtest *t)
{
	const struct hf_index_hart *harts;
	struct hf_toy_record run[2] = {{.kind = HF_TOY_RUN, .arg = 500}, {.kind = HF_TOY_RUN, .arg = 500}};
	struct hf_toy_header header = {.flags = HF_STREAM_HARTS};
	struct hf_index *index;
	uint8_t bytes[sizeof header + sizeof run];

	memcpy(header.magic, HF_TOY_MAGIC, sizeof header.magic);
	memcpy(bytes, &header, sizeof header);
	memcpy(bytes + sizeof header, run, sizeof run);
	hf_ixtest_bytes(t, bytes, sizeof bytes);
	hf_ixtest_limit(t, 100);
	hf_ixtest_build(t);
	CHECK_EQ(hf_index_open(&t->at, &t->identity, &index), 0);
	CHECK_EQ(hf_index_harts(index, &harts), 1);
	CHECK_EQ(harts[0].chunks, 10);
	hf_index_close(index);
	hf_ixtest_check(t);
	hf_ixtest_clear(t);
	t->limits = hf_chunk_limits_default;
}

/* No record, no instruction of the first hart, no instruction at all. */
static void test_empty(struct hf_ixtest *t)
{
	const struct hf_index_hart *harts;
	struct hf_index *index;
	struct hf_toy_header header;

	hf_ixtest_capture(t, 0, 1, HARTS, 1);
	hf_ixtest_build(t);
	CHECK_EQ(hf_index_open(&t->at, &t->identity, &index), 0);
	CHECK_EQ(hf_index_harts(index, &harts), 1);
	CHECK_EQ(harts[0].chunks, 1);
	hf_index_close(index);
	build_and_check(t);

	/* first_hart has no record: only the others are kept */
	hf_ixtest_capture(t, 500, 2, HARTS, 2);
	memcpy(&header, t->stream.p, sizeof header);
	header.first_hart = 77;
	memcpy(t->stream.p, &header, sizeof header);
	hf_ixtest_bytes(t, t->stream.p, t->stream.n);
	hf_ixtest_build(t);
	CHECK_EQ(hf_index_open(&t->at, &t->identity, &index), 0);
	CHECK_EQ(hf_index_harts(index, &harts), 2);
	CHECK_EQ(harts[0].id, 0);
	CHECK_EQ(harts[1].id, 1);
	hf_index_close(index);
	build_and_check(t);

	/* the only record is an empty run of another hart */
	hf_ixtest_capture(t, 1, 1, HARTS, 3);
	((struct hf_toy_record *)(t->stream.p + sizeof header))[0] =
		(struct hf_toy_record){.kind = HF_TOY_RUN, .hart = 5, .arg = 0};
	hf_ixtest_bytes(t, t->stream.p, t->stream.n);
	hf_ixtest_build(t);
	CHECK_EQ(hf_index_open(&t->at, &t->identity, &index), 0);
	CHECK_EQ(hf_index_harts(index, &harts), 1);
	CHECK_EQ(harts[0].id, 0);
	hf_index_close(index);
	build_and_check(t);
}

/* Without instructions: no hart and no view but the records, yet problems are found. */
static void test_no_harts(struct hf_ixtest *t)
{
	const struct hf_index_hart *harts;
	struct hf_index *index;

	hf_ixtest_capture(t, 3000, 1, 0, 4);
	hf_ixtest_build(t);
	CHECK_EQ(hf_index_open(&t->at, &t->identity, &index), 0);
	CHECK_EQ(hf_index_harts(index, &harts), 0);
	CHECK(hf_index_problem_count(index) > 0);
	hf_index_close(index);
	build_and_check(t);
}

static void test_problems(struct hf_ixtest *t)
{
	struct hf_index_problem p;
	struct hf_toy_record *records;
	struct hf_index *index;
	uint64_t ordinal = 0;

	hf_ixtest_capture(t, 2000, 2, HARTS, 5);
	records = (struct hf_toy_record *)(t->stream.p + sizeof(struct hf_toy_header));
	for (size_t i = 0; i < 2000; i++)
		if (records[i].kind == HF_TOY_GAP)
			records[i].kind = HF_TOY_ATTEMPT;
	records[1000] = (struct hf_toy_record){.kind = HF_TOY_GAP, .hart = 0, .arg = 3, .value = 44};
	records[1900] = (struct hf_toy_record){.kind = HF_TOY_BAD, .hart = 0};
	for (size_t i = 0; i < 1000; i++)
		if (records[i].hart == 0)
			ordinal += records[i].kind == HF_TOY_GROUP ? 1u : records[i].kind == HF_TOY_RUN ? records[i].arg : 0u;
	hf_ixtest_bytes(t, t->stream.p, t->stream.n);
	hf_ixtest_limit(t, 7);
	hf_ixtest_build(t);
	CHECK_EQ(hf_index_open(&t->at, &t->identity, &index), 0);
	CHECK_EQ(hf_index_problem_count(index), 2);
	CHECK_EQ(hf_index_problem_at(index, 0, &p), 0);
	CHECK_EQ(p.diag.code, HF_ERR_CORRUPT);
	CHECK_EQ(p.diag.offset, sizeof(struct hf_toy_header) + 8 * 1000);
	CHECK_EQ(p.diag.detail, 3);
	CHECK_EQ(p.bytes, 44);
	CHECK_EQ(p.hart, 0);
	CHECK(p.has_ordinal && !p.fatal);
	CHECK_EQ(p.ordinal, ordinal);
	CHECK_EQ(hf_index_problem_at(index, 1, &p), 0);
	CHECK_EQ(p.diag.offset, sizeof(struct hf_toy_header) + 8 * 1900);
	CHECK_EQ(hf_index_problem_at(index, 2, &p), HF_ERR_NOT_FOUND);
	hf_index_close(index);
	build_and_check(t);

	/* more than are stored */
	hf_ixtest_capture(t, 6000, 1, HARTS, 5);
	records = (struct hf_toy_record *)(t->stream.p + sizeof(struct hf_toy_header));
	for (size_t i = 0; i < 6000; i++)
		records[i] = (struct hf_toy_record){.kind = HF_TOY_GAP};
	hf_ixtest_bytes(t, t->stream.p, t->stream.n);
	hf_ixtest_build(t);
	CHECK_EQ(hf_index_open(&t->at, &t->identity, &index), 0);
	CHECK_EQ(hf_index_problem_count(index), 6000);
	CHECK_EQ(hf_index_problem_at(index, 3000, &p), 0);
	CHECK_EQ(hf_index_problem_at(index, HF_INDEX_PROBLEM_MAX, &p), HF_ERR_NOT_FOUND);
	hf_index_close(index);
	hf_ixtest_clear(t);
	t->limits = hf_chunk_limits_default;
}

/* Files that are no captures get an index that says why. */
static void check_fatal(struct hf_ixtest *t, int code)
{
	struct hf_index_problem p;
	struct hf_index *index;

	hf_ixtest_build(t);
	CHECK_EQ(hf_index_open(&t->at, &t->identity, &index), 0);
	CHECK(!hf_index_codec(index));
	CHECK_EQ(hf_index_problem_count(index), 1);
	CHECK_EQ(hf_index_problem_at(index, 0, &p), 0);
	CHECK(p.fatal);
	CHECK_EQ(p.diag.code, code);
	hf_index_close(index);
	CHECK_EQ(hf_ixtest_count(t, ".hf"), 1);
	/* and stays as it is */
	hf_ixtest_build(t);
	hf_ixtest_clear(t);
}

static void test_fatal(struct hf_ixtest *t)
{
	hf_ixtest_bytes(t, "nothing of the kind", 19);
	check_fatal(t, HF_ERR_UNKNOWN_FORMAT);
	hf_ixtest_pack(t, ".gz");
	check_fatal(t, HF_ERR_UNKNOWN_FORMAT);
	hf_ixtest_bytes(t, HF_TOY_MAGIC, 7);
	check_fatal(t, HF_ERR_TRUNCATED);
	hf_ixtest_capture(t, 100, 1, HARTS, 6);
	hf_ixtest_pack(t, ".xz");
	memset(t->file.p + 13, 0xff, 20);
	hf_ixtest_bytes(t, t->file.p, t->file.n);
	check_fatal(t, HF_ERR_BOX_DAMAGED);
}

/* Other views and parameters, of an index that is there. */
static void test_views_later(struct hf_ixtest *t)
{
	struct hf_walk_bytes once, later;

	hf_ixtest_limit(t, 100);
	hf_ixtest_capture(t, 3000, 3, HARTS, 7);
	hf_ixtest_build(t);
	once = hf_ixtest_dump(t, "");
	hf_ixtest_clear(t);

	t->build.view_count = 0;
	hf_ixtest_build(t);
	CHECK_EQ(hf_ixtest_count(t, ".hfv"), 0);
	t->build.view_count = 2;
	hf_ixtest_build(t);
	CHECK_EQ(hf_ixtest_count(t, ".hfv"), 2);
	/* records are a hart that the index lacks: it is made anew */
	t->build.view_count = 4;
	hf_ixtest_build(t);
	hf_ixtest_check(t);
	later = hf_ixtest_dump(t, "");
	CHECK(once.n == later.n && memcmp(once.p, later.p, once.n) == 0);
	hf_bytes_free(&later);

	t->keys[0].params = "other";
	hf_ixtest_build(t);
	CHECK_EQ(hf_ixtest_count(t, ".hfv"), 4);
	CHECK_EQ(hf_ixtest_count(t, ".part"), 0);
	hf_ixtest_check(t);
	t->keys[0].params = "";
	hf_ixtest_check(t);
	/* a view of a discarded index comes back the same */
	hf_index_discard(&t->at, &t->identity, t->keys, t->key_count);
	CHECK_EQ(hf_ixtest_count(t, ".hf"), 1);
	hf_ixtest_build(t);
	hf_ixtest_check(t);
	hf_ixtest_clear(t);
	hf_bytes_free(&once);
	t->limits = hf_chunk_limits_default;
}

static void check_points(struct hf_ixtest *t, struct hf_index *index)
{
	const struct hf_box *box = hf_index_box(index);
	uint8_t window[HF_WINDOW_MAX];
	struct hf_point point;
	uint64_t at = 0;

	while (at < t->stream.n) {
		uint8_t *buf;

		CHECK_EQ(hf_index_point_of(index, at, &point), 0);
		CHECK_EQ(point.out_offset, at);
		buf = malloc(point.out_size);
		CHECK(buf);
		CHECK_EQ(hf_index_window(index, &point, window), 0);
		if (box->enterable && !(point.bits & HF_POINT_CONTINUES)) {
			CHECK_EQ(box->read_block(box, t->src, &point, window, 0, buf, point.out_size, NULL), 0);
			CHECK(memcmp(buf, t->stream.p + at, point.out_size) == 0);
		}
		free(buf);
		at += point.out_size;
		CHECK_EQ(hf_index_point_of(index, at - 1, &point), 0);
	}
	CHECK_EQ(hf_index_point_of(index, at, &point), HF_ERR_NOT_FOUND);
}

static void test_containers(struct hf_ixtest *t)
{
	static const char *const suffixes[] = {".gz", ".xz", ".lzma", ".zst"};

	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
		struct hf_index *index;
		struct hf_diag damage;

		hf_ixtest_limit(t, 3000);
		hf_ixtest_capture(t, 300000, 2, HARTS, 8);
		hf_ixtest_pack(t, suffixes[i]);
		t->key_count = t->build.view_count = 1;
		hf_ixtest_build(t);
		CHECK_EQ(hf_index_open(&t->at, &t->identity, &index), 0);
		CHECK_EQ(strcmp(hf_index_box(index)->suffixes[0], suffixes[i]), 0);
		CHECK_EQ(hf_index_damage(index, &damage), 0);
		check_points(t, index);
		hf_index_close(index);
		hf_ixtest_clear(t);
		hf_ixtest_capture(t, 6000, 2, HARTS, 8);
		hf_ixtest_pack(t, suffixes[i]);
		build_and_check(t);

		/* cut: what is there is indexed, the damage is a problem of the file */
		CHECK_EQ(hf_src_memory_new(t->file.p, t->file.n * 2 / 3, &t->build.file), 0);
		CHECK_EQ(hf_identity_of(t->build.file, 1, &t->build.identity, NULL), 0);
		hf_ixtest_build(t);
		CHECK_EQ(hf_index_open(&t->at, &t->build.identity, &index), 0);
		/* of a zstd frame perhaps nothing at all */
		if (hf_index_codec(index))
			CHECK_EQ(hf_index_damage(index, &damage), HF_ERR_BOX_CUT);
		else
			CHECK(i == 3 && hf_index_stream_size(index) == 0);
		CHECK(hf_index_stream_size(index) < t->stream.n);
		CHECK(hf_index_problem_count(index) > 0);
		hf_index_close(index);
		hf_src_free(t->build.file);
		hf_ixtest_clear(t);
		t->key_count = t->build.view_count = 4;
	}
	t->limits = hf_chunk_limits_default;
}

static void test_identity(struct hf_ixtest *t)
{
	struct hf_identity a, b;
	uint8_t *big = calloc(1, 1 << 20);
	struct hf_src *src;

	CHECK(big);
	CHECK_EQ(hf_src_memory_new(big, 1 << 20, &src), 0);
	CHECK_EQ(hf_identity_of(src, 1, &a, NULL), 0);
	for (size_t at = 0; at < 65536; at += 4095) {
		big[at] ^= 1;
		CHECK_EQ(hf_identity_of(src, 1, &b, NULL), 0);
		CHECK(a.print[0] != b.print[0]);
		big[at] ^= 1;
		big[(1 << 20) - 1 - at] ^= 1;
		CHECK_EQ(hf_identity_of(src, 1, &b, NULL), 0);
		CHECK(a.print[0] != b.print[0]);
		big[(1 << 20) - 1 - at] ^= 1;
	}
	CHECK_EQ(hf_identity_of(src, 1, &b, NULL), 0);
	CHECK(a.print[0] == b.print[0] && a.print[1] == b.print[1] && a.size == b.size);
	hf_src_free(src);
	free(big);
	(void)t;
}

int main(void)
{
	struct hf_ixtest t;

	hf_ixtest_init(&t);
	test_chunk_sizes(&t);
	test_limits(&t);
	test_exact_end(&t);
	test_empty(&t);
	test_no_harts(&t);
	test_problems(&t);
	test_fatal(&t);
	test_views_later(&t);
	test_containers(&t);
	test_identity(&t);
	hf_ixtest_fini(&t);
	return 0;
}
