/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds by several threads: every row of every file is what one thread writes, whatever harts, containers, chunks and
 * views there are, also if the number of threads changes all the time, and when only views are made.
 */
#include "codecs/isa/disasm.h"
#include "codecs/views.h"
#include "tests/lib/check.h"
#include "tests/lib/indextest.h"
#include "tests/registry/toy.h"

#define HARTS (HF_STREAM_HARTS | HF_STREAM_MANY)

extern const struct hf_codec hf_codec_stf;

static unsigned allowed;
static unsigned asked, most;

static unsigned threads(void *ctx)
{
	(void)ctx;
	asked++;
	/* 0: now many, now few */
	return allowed ? allowed : asked % 7 + 1;
}

static int look(void *ctx, const struct hf_build_progress *progress)
{
	(void)ctx;
	CHECK(progress->done <= progress->total);
	most++;
	return 0;
}

static void compare(struct hf_ixtest *t, const struct hf_walk_bytes *want)
{
	struct hf_walk_bytes got = hf_ixtest_dump(t, "");

	CHECK_EQ(hf_ixtest_count(t, ".part"), 0);
	CHECK_EQ(got.n, want->n);
	CHECK(memcmp(got.p, want->p, got.n) == 0);
	hf_bytes_free(&got);
}

static void build_views_later(struct hf_ixtest *t, const struct hf_walk_bytes *want)
{
	for (size_t i = 0; i < t->key_count; i++) {
		/* An index without records would be made anew. */
		if (t->keys[i].ops == &hf_enc_records)
			continue;
		hf_index_discard(&t->at, &t->identity, NULL, 0);
		hf_index_discard(&t->at, &t->identity, t->keys, t->key_count);
		t->build.views = &t->keys[t->key_count > 2 ? 2 : 0];
		t->build.view_count = 1;
		hf_ixtest_build(t);
		t->build.views = t->keys;
		t->build.view_count = t->key_count;
		hf_ixtest_build(t);
		compare(t, want);
	}
}

static void test_capture(struct hf_ixtest *t)
{
	static const unsigned counts[] = {1, 2, 5, 0};
	struct hf_walk_bytes want;

	t->build.threads = NULL;
	hf_ixtest_build(t);
	want = hf_ixtest_dump(t, "");
	hf_ixtest_clear(t);
	t->build.threads = threads;
	t->build.on_progress = look;
	/* Else small files are not worth a thread; and keeping what there is must not disturb. */
	for (unsigned every = 1; every <= 1000; every *= 1000) {
		t->build.every = every;
		for (size_t i = HF_TEST_SANITIZED ? 2 : 0; i < sizeof counts / sizeof *counts; i++) {
			allowed = counts[i];
			hf_ixtest_build(t);
			compare(t, &want);
			hf_ixtest_clear(t);
		}
	}
	allowed = 3;
	build_views_later(t, &want);
	hf_ixtest_clear(t);
	t->build.every = 0;
	t->build.on_progress = NULL;
	hf_bytes_free(&want);
}

static void test_toy(struct hf_ixtest *t)
{
	static const unsigned harts[] = {1, 3, 12};
	static const char *const suffixes[] = {".gz", ".xz", ".zst"};

	for (size_t i = 0; i < sizeof harts / sizeof *harts; i++) {
		hf_ixtest_limit(t, 7);
		hf_ixtest_capture(t, 1500, harts[i], HARTS, i);
		test_capture(t);
		hf_ixtest_limit(t, 1000);
		hf_ixtest_capture(t, 60000, harts[i], HARTS, i);
		hf_ixtest_pack(t, suffixes[i]);
		test_capture(t);
	}
	t->limits = hf_chunk_limits_default;
	hf_ixtest_capture(t, 20000, 2, HARTS, 4);
	test_capture(t);
	hf_ixtest_capture(t, 2000, 1, HF_STREAM_HARTS | HF_STREAM_ORIGINAL, 5);
	test_capture(t);
	/* no harts, no records */
	hf_ixtest_capture(t, 3000, 1, 0, 6);
	test_capture(t);
	hf_ixtest_capture(t, 0, 1, HARTS, 7);
	test_capture(t);
}

static void test_stf(struct hf_ixtest *t, const char *dir, const char *name)
{
	const struct hf_view_key keys[] = {
		{.ops = &hf_view_listing, .params = ""},
		{.ops = &hf_view_stf, .params = ""},
		{.ops = &hf_enc_records, .params = ""},
	};
	char path[4096];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	hf_ixtest_load(t, path, &hf_codec_stf, keys, 3);
	test_capture(t);
}

int main(void)
{
	const char *data = getenv("HARTFS_DATA"), *corpus = getenv("HARTFS_CORPUS");
	struct hf_disasm *disasm;
	struct hf_ixtest t;

	if (!data)
		return 77;
	hf_ixtest_init(&t);
	t.summary = true;
	test_toy(&t);
	CHECK_EQ(hf_disasm_new(&disasm), 0);
	t.env.disasm = disasm;
	test_stf(&t, data, "archive/mini/rv32-mini.stf");
	if (!HF_TEST_SANITIZED)
		test_stf(&t, data, "archive/boot/rv-sys.stf.gz");
	if (corpus && !HF_TEST_SANITIZED) {
		test_stf(&t, corpus, "stf/harts/harts.zstf");
		test_stf(&t, corpus, "stf/variants/dhrystone_opt1.n1000.zstf");
	}
	CHECK(asked > 0 && most > 0);
	hf_ixtest_fini(&t);
	hf_disasm_free(disasm);
	return 0;
}
