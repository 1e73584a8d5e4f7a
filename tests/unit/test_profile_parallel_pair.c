/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts of a profile that are made in two halves (fs/profile/parallel_pair.h): each half begins while the other one
 * runs if a seat is free, and on the same thread behind it if none is, and either gives the same bytes. From a summary,
 * as of a long hart: the shortest one of which no picture is drawn by decoding.
 */
#include "fs/facts/state.h"
#include "fs/profile/parallel_pair.h"
#include "fs/profile/timeline_source.h"
#include "fs/whole.h"
#include "tests/lib/fstest.h"
#include "tests/lib/stftest.h"

#include <pthread.h>
#include <stdatomic.h>

static struct hf_fst t;

#define INSNS (HF_PICTURE_DECODED + 50000)
#define PATH "long.stf"
/* Bytes of memory that are touched. */
#define MEMORY (UINT64_C(1) << 20)

/* Blocks of some instructions, in any order, which store here and load there. */
static void write_capture(void)
{
	struct hf_walk_bytes b = {0};
	uint64_t random = 1;

	hf_stft_header(&b, HF_STF_FEATURE_EVENT64 | HF_STF_FEATURE_RV64, 0x80000000);
	for (uint64_t i = 0; i < INSNS; i++) {
		const uint32_t r = hf_rand_next(&random);

		if (i % 12 == 11) {
			PUT(&b, INST_PC_TARGET, .address = 0x80000000 + (r % 1000) * 48);
			PUT(&b, INST_OPCODE32, .size = 0x6f);
		} else if (i % 12 == 5) {
			PUT(&b, INST_MEM_ACCESS, .address = 0x1000000 + r % MEMORY / 8 * 8, .size = 8,
			    .code = r >> 30 ? HF_STF_WRITE : HF_STF_READ);
			PUT(&b, INST_OPCODE32, .size = r >> 30 ? 0x00a53023 : 0x00053503);
		} else {
			PUT(&b, INST_OPCODE32, .size = 0x13);
		}
	}
	hf_fst_write(&t, PATH, b.p, b.n);
	hf_bytes_free(&b);
}

/* ---- the halves ---- */

struct half {
	atomic_bool *begun; /* of the other one, which is waited for; NULL: it is not */
	atomic_bool mine;
	int err;
	pthread_t thread;
};

static int run_half(void *ctx)
{
	struct half *half = ctx;

	half->thread = pthread_self();
	atomic_store(&half->mine, true);
	while (half->begun && !atomic_load(half->begun))
		hf_fst_sleep_ms(1);
	return half->err;
}

/* On a thread of the executor, as texts are made. Where no seat is free nobody may wait for the other half. */
static void check_halves(const struct hf_profile_source *source, bool seat)
{
	static const struct {
		int one, other, both;
	} errors[] = {{0, 0, 0},
		      {HF_ERR_STATE, 0, HF_ERR_STATE},
		      {0, HF_ERR_LIMIT, HF_ERR_LIMIT},
		      {HF_ERR_STATE, HF_ERR_LIMIT, HF_ERR_STATE}};

	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
		struct half one = {.err = errors[i].one}, other = {.err = errors[i].other};

		if (seat) {
			one.begun = &other.mine;
			other.begun = &one.mine;
		}
		CHECK_EQ(hf_profile_parallel_pair(source, run_half, &one, &other), errors[i].both);
		CHECK(one.mine && other.mine);
		CHECK(pthread_equal(one.thread, pthread_self()));
		CHECK(!pthread_equal(one.thread, other.thread) == seat);
	}
}

/* ---- the texts ---- */

static const struct {
	const char *name, *about;
	int (*write)(const struct hf_profiled *of, struct hf_sink *sink);
	const char *part; /* that shows what it is made of */
} texts[] = {{"overview.svg", NULL, hf_profile_overview, "<svg"},
	     {"memory.txt", NULL, hf_profile_memory, "chunks that have these instructions memory was read and written"},
	     {"bbv-100000.bb", "100000", hf_profile_bbv, "\nT:1:"}};
enum { TEXTS = sizeof texts / sizeof *texts };

static bool never(void *ctx)
{
	(void)ctx;
	return false;
}

struct making {
	struct hf_job job;
	struct hf_open *open;
	bool seat;
	char *text[TEXTS]; /* owned */
};

static void make_texts(struct making *making, const struct hf_profile_source *source)
{
	struct hf_counts counts;
	struct hf_summary_tree *tree;
	struct hf_profiled of = {.counts = &counts, .source = source};

	CHECK_EQ(hf_profile_counted(source, &counts, &tree, &of.sampled), 0);
	CHECK_EQ(counts.insns, INSNS);
	of.tree = tree;
	CHECK(!hf_profile_timeline_is_exact(&of));
	for (int i = 0; i < TEXTS; i++) {
		struct hf_sink sink;

		of.about = texts[i].about;
		CHECK_EQ(hf_sink_init_memory(&sink, 0), 0);
		CHECK_EQ(texts[i].write(&of, &sink), 0);
		making->text[i] = strndup((const char *)sink.start, (size_t)hf_sink_total(&sink));
		CHECK(making->text[i]);
		hf_sink_fini_memory(&sink);
	}
	hf_counts_free(&counts);
	hf_summary_tree_free(tree);
}

static int run_making(struct hf_job *job, struct hf_worker *worker)
{
	struct making *making = (struct making *)job;
	struct hf_profile_source source = {.open = making->open, .end = INSNS, .stop = never};

	(void)worker;
	CHECK_EQ(hf_open_summary(making->open, &source.summary), 0);
	check_halves(&source, making->seat);
	make_texts(making, &source);
	hf_summary_close(source.summary);
	return 0;
}

/* With so many threads, which are seats. */
static void make(unsigned threads, struct making *ret_making)
{
	const struct hf_fs_options options = {.threads = threads, .summary = true, .views = "program.elf"};
	struct hf_capture *capture;
	struct hf_facts *facts;

	*ret_making = (struct making){.job = {.fn = run_making, .work = HF_WORK_DECODE}, .seat = threads > 1};
	hf_fst_open(&t, &options);
	hf_fst_must_be_indexed(&t, "long@stf");
	CHECK_EQ(hf_capture_at(&t.fs->captures, PATH, &capture), 0);
	CHECK_EQ(hf_capture_facts_now(capture, &facts), 0);
	CHECK_EQ(hf_capture_reopen(capture, facts->version, -1, HF_REPAIR_MS, &ret_making->open), 0);
	hf_facts_unref(facts);
	hf_job_submit(t.fs->common.exec, &ret_making->job);
	hf_job_join(&ret_making->job);
	hf_open_put(ret_making->open);
	hf_fst_close(&t);
}

int main(void)
{
	struct making alone, more;

	hf_fst_begin(&t);
	write_capture();
	make(1, &alone);
	make(3, &more);
	for (int i = 0; i < TEXTS; i++) {
		CHECK(strstr(alone.text[i], texts[i].part));
		if (strcmp(alone.text[i], more.text[i]) != 0) {
			fprintf(stderr, "%s is another one with a seat free\n", texts[i].name);
			exit(1);
		}
		free(alone.text[i]);
		free(more.text[i]);
	}
	hf_fst_end(&t);
	return 0;
}
