/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index with the real codecs: STF captures, their listing, STF view and records, cut at several sizes. What each
 * chunk gives again is what one pass gives, and a build that is interrupted at every chunk ends the same.
 */
#include "codecs/base/errors.h"
#include "codecs/isa/disasm.h"
#include "codecs/views.h"
#include "tests/lib/check.h"
#include "tests/lib/indextest.h"
#include "tests/lib/stftest.h"

#include <unistd.h>

extern const struct hf_codec hf_codec_stf;

static int stop(void *ctx, const struct hf_build_progress *progress)
{
	unsigned *left = ctx;

	(void)progress;
	return --*left == 0;
}

/*
 * The view tables are compared, which hold lengths and checksums of all chunks. In the decode index a decoder may say
 * the same place in two ways (behind this group, or so many events into it), and then the limit on bytes, too, may be
 * met at another place.
 */
static void test_resume(struct hf_ixtest *t, unsigned every, const struct hf_walk_bytes *want)
{
	struct hf_walk_bytes got;
	unsigned rounds = 0, left;
	int err;

	t->build.every = every;
	t->build.on_progress = stop;
	t->build.ctx = &left;
	do {
		left = 2;
		err = hf_build_run(&t->build, NULL);
		CHECK(err == 0 || err == HF_ERR_CANCELLED);
		CHECK(++rounds < 10000);
	} while (err);
	t->build.every = 0;
	t->build.on_progress = NULL;
	got = hf_ixtest_dump(t, ".hfv");
	CHECK(!want || (got.n == want->n && memcmp(got.p, want->p, got.n) == 0));
	hf_ixtest_check_some(t, 1511);
	hf_bytes_free(&got);
	hf_ixtest_clear(t);
}

static void test_file(struct hf_ixtest *t, const char *dir, const char *name)
{
	static const struct hf_chunk_limits limits[] = {
		{.insns = 16384, .events = 131072, .bytes = 4u << 20},
		{.insns = 1000, .events = 131072, .bytes = 4u << 20},
		{.insns = 100000, .events = 700, .bytes = 4u << 20},
		{.insns = 100000, .events = 131072, .bytes = 3000},
	};
	const struct hf_view_key keys[] = {
		{.ops = &hf_view_listing, .params = ""},
		{.ops = &hf_view_stf, .params = ""},
		{.ops = &hf_enc_records, .params = ""},
	};
	char path[4096];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	hf_ixtest_load(t, path, &hf_codec_stf, keys, 3);
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		struct hf_walk_bytes whole;

		t->limits = limits[i];
		hf_ixtest_build(t);
		hf_ixtest_check_some(t, 1511);
		whole = hf_ixtest_dump(t, ".hfv");
		hf_ixtest_clear(t);
		test_resume(t, i ? 250 : 1, i < 3 ? &whole : NULL);
		hf_bytes_free(&whole);
	}
}

/* A stream of so many hardware threads with two instructions each: those within the limit are harts of the index. */
static void test_hart_limit(struct hf_ixtest *t, uint32_t harts)
{
	struct hf_walk_bytes stream = {0};
	char path[] = "/tmp/hartfs-harts-XXXXXX";
	const struct hf_index_hart *list;
	struct hf_index_problem problem;
	struct hf_index *index;
	int fd = mkstemp(path);

	hf_stft_header(&stream, HF_STF_FEATURE_RV64 | HF_STF_FEATURE_EVENT64 | HF_STF_FEATURE_MULTI_CORE, 0x1000);
	for (uint32_t i = 0; i < 2 * harts; i++) {
		PUT(&stream, PROCESS_ID_EXT, .hw = i % harts);
		PUT(&stream, INST_OPCODE32, .size = 0x13);
	}
	CHECK(fd >= 0 && write(fd, stream.p, stream.n) == (ssize_t)stream.n);
	close(fd);
	hf_ixtest_load(t, path, &hf_codec_stf, NULL, 0);
	unlink(path);
	t->limits = (struct hf_chunk_limits){.insns = 16384, .events = 131072, .bytes = 4u << 20};
	hf_ixtest_build(t);
	CHECK_EQ(hf_index_open(&t->at, &t->identity, &index), 0);
	CHECK_EQ(hf_index_harts(index, &list), harts < HF_STF_HARTS_MAX ? harts : HF_STF_HARTS_MAX);
	CHECK_EQ(list[HF_STF_HARTS_MAX - 1].id, HF_STF_HARTS_MAX - 1);
	CHECK_EQ(list[HF_STF_HARTS_MAX - 1].insns, 2);
	CHECK_EQ(hf_index_problem_count(index), harts > HF_STF_HARTS_MAX);
	if (harts > HF_STF_HARTS_MAX) {
		CHECK_EQ(hf_index_problem_at(index, 0, &problem), 0);
		CHECK_EQ(problem.diag.code, HF_ERR_STF_HART_LIMIT);
		CHECK_EQ(problem.diag.detail, HF_STF_HARTS_MAX);
	}
	hf_index_close(index);
	hf_ixtest_clear(t);
	hf_bytes_free(&stream);
}

int main(void)
{
	const char *data = getenv("HARTFS_DATA"), *corpus = getenv("HARTFS_CORPUS");
	struct hf_disasm *disasm;
	struct hf_ixtest t;

	if (!data)
		return 77;
	hf_ixtest_init(&t);
	CHECK_EQ(hf_disasm_new(&disasm), 0);
	t.env.disasm = disasm;
	if (!HF_TEST_SANITIZED)
		test_file(&t, data, "archive/boot/rv-sys.stf.gz");
	test_file(&t, data, "archive/mini/rv32-mini.stf");
	if (!HF_TEST_SAMPLE) {
		test_hart_limit(&t, HF_STF_HARTS_MAX);
		test_hart_limit(&t, HF_STF_HARTS_MAX + 2);
	}
	if (corpus && !HF_TEST_SANITIZED)
		test_file(&t, corpus, "stf/harts/harts.zstf");
	hf_ixtest_fini(&t);
	hf_disasm_free(disasm);
	return 0;
}
