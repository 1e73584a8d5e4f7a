/* SPDX-License-Identifier: Apache-2.0 */
/* The containers of the corpus: one stream in every container, files at the edges, and damaged ones. */
#include "codecs/source/errors.h"
#include "tests/lib/check.h"
#include "tests/lib/sha256.h"
#include "tests/lib/walk.h"

static char stf[3000];

/* dhrystone_opt1, as counts.json says it. */
#define STREAM_BYTES 1461273
#define STREAM_SHA "e80e8a729c7c0cc8b81034935e3b9b62a08349f0eaaa72c869dd31d3d64af804"

static const char *sub(const char *folder)
{
	static char path[4000];

	snprintf(path, sizeof path, "%s/%s", stf, folder);
	return path;
}

static void walk_file(struct hf_walk *w, struct hf_walk_bytes *file, const char *folder, const char *name)
{
	const struct hf_box *box;

	*file = hf_bytes_load(sub(folder), name);
	box = hf_box_probe(file->p, file->n < 512 ? file->n : 512, file->n);
	CHECK(box);
	hf_walk_memory(w, box, file->p, file->n);
	hf_walk_check_all(w, file->p, file->n);
}

static void test_variants(struct hf_walk_bytes *ret_stream)
{
	static const struct {
		const char *name, *box;
		size_t points;
	} variants[] = {
		{"dhrystone_opt1.stf.gz", "gzip", 1},
		{"dhrystone_opt1.two-members.stf.gz", "gzip", 2},
		{"dhrystone_opt1.one-block.stf.xz", "xz", 1},
		{"dhrystone_opt1.many-blocks.stf.xz", "xz", 23},
		{"dhrystone_opt1.two-streams.stf.xz", "xz", 2},
		{"dhrystone_opt1.stf.lzma", "lzma", 2},
		{"dhrystone_opt1.one-frame.stf.zst", "zstd", 1},
		{"dhrystone_opt1.many-frames.stf.zst", "zstd", 12},
		{"dhrystone_opt1.n1000.zstf", "zstf", 288},
		{"dhrystone_opt1.n100000.zstf", "zstf", 3},
	};
	char hex[65];

	for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
		struct hf_walk_bytes file;
		struct hf_walk w;

		walk_file(&w, &file, "variants", variants[i].name);
		CHECK_STR(w.box->name, variants[i].box);
		CHECK_EQ(w.err, HF_NOTE_END);
		CHECK_EQ(w.note_count, 0);
		CHECK_EQ(w.out.n, STREAM_BYTES);
		CHECK_EQ(w.count, variants[i].points);
		if (ret_stream->n)
			CHECK(!memcmp(w.out.p, ret_stream->p, STREAM_BYTES));
		else
			hf_bytes_add(ret_stream, w.out.p, w.out.n);
		hf_walk_free(&w);
		hf_bytes_free(&file);
	}
	hf_sha256_hex(ret_stream->p, ret_stream->n, hex);
	CHECK_STR(hex, STREAM_SHA);
}

static void test_edge(void)
{
	static const struct {
		const char *name;
		size_t bytes;
		const char *raw;
	} edge[] = {
		{"all64.one-chunk.zstf", 446, "all64.stf"},
		{"bytes-after-index.zstf", 446, "all64.stf"},
		{"comment-lost.zstf", 0, NULL},
		{"two-full-chunks.zstf", 1000046, NULL},
		{"writer-killed.zstf", 500046, NULL},
		{"comment-after-last.stf.xz", 0, NULL},
	};

	for (size_t i = 0; i < sizeof edge / sizeof *edge; i++) {
		struct hf_walk_bytes file, raw;
		struct hf_walk w;

		walk_file(&w, &file, "edge", edge[i].name);
		CHECK_EQ(w.err, HF_NOTE_END);
		CHECK_EQ(w.note_count, 0);
		if (edge[i].bytes)
			CHECK_EQ(w.out.n, edge[i].bytes);
		if (edge[i].raw) {
			raw = hf_bytes_load(sub("edge"), edge[i].raw);
			CHECK_EQ(raw.n, w.out.n);
			CHECK(!memcmp(raw.p, w.out.p, raw.n));
			hf_bytes_free(&raw);
		}
		hf_walk_free(&w);
		hf_bytes_free(&file);
	}
}

#define NOTES_MAX 2
#define CHUNK 509230 /* bytes of chunk 0 of the .zstf with 100,000 instructions a chunk */

/* What bad.json says, and what is decided here: the error that ends the stream, the notes, the bytes before. */
static const struct {
	const char *name;
	int err;
	uint64_t at;
	uint64_t good; /* bytes, all of them right */
	struct {
		int code;
		uint64_t at;
	} notes[NOTES_MAX];
} bad[] = {
	{"bad-empty.zstf", HF_ERR_ZSTF_EMPTY, HF_NOWHERE, 0, {{HF_ERR_ZSTF_TABLE, 12}}},
	{"bad-index-offset-past-end.zstf", HF_NOTE_END, 0, STREAM_BYTES, {{HF_ERR_ZSTF_TABLE, 12}}},
	{"bad-index-offset-negative.zstf", HF_NOTE_END, 0, STREAM_BYTES, {{HF_ERR_ZSTF_TABLE, 12}}},
	{"bad-index-count-huge.zstf", HF_NOTE_END, 0, STREAM_BYTES, {{HF_ERR_ZSTF_TABLE, 3293}}},
	{"bad-chunk-size-zero.zstf", HF_NOTE_END, 0, STREAM_BYTES, {{HF_ERR_ZSTF_TABLE, 4}}},
	{"bad-cut-in-chunk-2.zstf", HF_ERR_BOX_CUT, 1277, CHUNK, {{HF_ERR_ZSTF_TABLE, 12}}},
	{"bad-cut-in-index.zstf", HF_NOTE_END, 0, STREAM_BYTES, {{HF_ERR_ZSTF_TABLE, 3325}}},
	{"bad-chunk-offset-overlap.zstf", HF_NOTE_END, 0, STREAM_BYTES, {{HF_ERR_ZSTF_ENTRY, 3325}}},
	{"bad-chunk-offset-past-index.zstf", HF_NOTE_END, 0, STREAM_BYTES, {{HF_ERR_ZSTF_ENTRY, 3325}}},
	{"bad-uncompressed-size-small.zstf", HF_NOTE_END, 0, STREAM_BYTES, {{HF_ERR_ZSTF_ENTRY, 3341}}},
	{"bad-uncompressed-size-large.zstf", HF_NOTE_END, 0, STREAM_BYTES, {{HF_ERR_ZSTF_ENTRY, 3341}}},
	{"bad-uncompressed-size-huge.zstf", HF_NOTE_END, 0, STREAM_BYTES, {{HF_ERR_ZSTF_ENTRY, 3341}}},
	{"bad-chunk-not-zstd.zstf", HF_NOTE_END, 0, STREAM_BYTES, {{HF_ERR_BOX_DAMAGED, 1237}}},
	{"bad-start-pc-wrong.zstf", HF_NOTE_END, 0, STREAM_BYTES, {{0}}},
	{"bad-chunk-one-instruction-short.zstf", HF_NOTE_END, 0, STREAM_BYTES, {{0}}},
	{"bad-cut.stf.gz", HF_ERR_BOX_CUT, 4551, 613952, {{0}}},
	{"bad-cut.stf.xz", HF_ERR_BOX_CUT, 12344, 721490, {{0}}},
	/* 11 whole blocks; liblzma gives 641 bytes more of the damaged one, of which 601 are right */
	{"bad-bit-flip.stf.xz", HF_ERR_BOX_DAMAGED, 12375, 11 * 65536, {{0}}},
};

static void test_bad(const struct hf_walk_bytes *stream)
{
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		size_t notes = 0;
		struct hf_walk_bytes file;
		struct hf_walk w;

		printf("%s\n", bad[i].name);
		walk_file(&w, &file, "bad", bad[i].name);
		CHECK_EQ(w.err, bad[i].err);
		if (w.err < 0) {
			CHECK_EQ(w.diag.space, HF_SPACE_FILE);
			CHECK_EQ(w.diag.offset, bad[i].at);
		}
		CHECK_EQ(w.out.n, bad[i].good);
		for (size_t k = 0; k < w.count; k++)
			CHECK(w.points[k].bits & HF_POINT_DAMAGED ||
			      !memcmp(w.out.p + w.points[k].out_offset, stream->p + w.points[k].out_offset,
				      (size_t)w.points[k].out_size));
		for (; notes < NOTES_MAX && bad[i].notes[notes].code; notes++) {
			CHECK(notes < w.note_count);
			CHECK_EQ(w.notes[notes].code, bad[i].notes[notes].code);
			CHECK_EQ(w.notes[notes].offset, bad[i].notes[notes].at);
		}
		CHECK_EQ(w.note_count, notes);
		hf_walk_free(&w);
		hf_bytes_free(&file);
	}
}

/* Streams of their own. */
static void test_bad_others(void)
{
	struct hf_walk_bytes file, raw;
	struct hf_walk w;

	walk_file(&w, &file, "bad", "bad-two-frames-in-chunk.zstf");
	CHECK_EQ(w.err, HF_NOTE_END);
	CHECK_EQ(w.count, 2);
	CHECK_EQ(w.note_count, 1);
	CHECK_EQ(w.notes[0].code, HF_ERR_ZSTF_FRAMES);
	CHECK_EQ(w.notes[0].offset, 20);
	raw = hf_bytes_load(sub("edge"), "all64.stf");
	CHECK_EQ(raw.n, w.out.n);
	CHECK(!memcmp(raw.p, w.out.p, raw.n));
	hf_bytes_free(&raw);
	hf_walk_free(&w);
	hf_bytes_free(&file);

	walk_file(&w, &file, "bad", "bad-comment-length-body.zstf");
	CHECK_EQ(w.err, HF_NOTE_END);
	CHECK_EQ(w.note_count, 0);
	CHECK_EQ(w.out.n, 446);
	hf_walk_free(&w);
	hf_bytes_free(&file);
}

/* Cut after every byte, every container gives a prefix of what it held, and says that it was cut unless it can't. */
static void test_cuts(const char *folder, const char *name, size_t step)
{
	struct hf_walk_bytes file;
	struct hf_walk all, w;

	walk_file(&all, &file, folder, name);
	for (size_t n = 0; n < file.n; n += step) {
		uint8_t *cut = malloc(n ? n : 1); /* so that a read past the end is seen */

		CHECK(cut);
		memcpy(cut, file.p, n);
		hf_walk_memory(&w, all.box, cut, n);
		CHECK(w.out.n <= all.out.n);
		CHECK(!w.out.n || !memcmp(w.out.p, all.out.p, w.out.n));
		CHECK(w.err < 0 || w.note_count || w.out.n == all.out.n);
		hf_walk_free(&w);
		free(cut);
	}
	hf_walk_free(&all);
	hf_bytes_free(&file);
}

static void test_raw_files(void)
{
	static const char *const raw[] = {"all64.stf", "all32.stf", "pid.stf", "txn.stf", "header-only.stf"};

	for (size_t i = 0; i < sizeof raw / sizeof *raw; i++) {
		struct hf_walk_bytes file = hf_bytes_load(sub("edge"), raw[i]);

		for (size_t n = 0; n <= file.n; n++)
			CHECK(!hf_box_probe(file.p, n, file.n));
		hf_bytes_free(&file);
	}
}

int main(void)
{
	const char *corpus = getenv("HARTFS_CORPUS");
	struct hf_walk_bytes stream = {0};

	if (!corpus) {
		printf("SKIP: HARTFS_CORPUS not set\n");
		return 77;
	}
	snprintf(stf, sizeof stf, "%s/stf", corpus);
	test_variants(&stream);
	test_edge();
	test_bad(&stream);
	test_bad_others();
	test_raw_files();
	test_cuts("edge", "all64.one-chunk.zstf", 1);
	test_cuts("edge", "bytes-after-index.zstf", 1);
	test_cuts("edge", "two-full-chunks.zstf", 1);
	test_cuts("edge", "comment-after-last.stf.xz", 1);
	test_cuts("variants", "dhrystone_opt1.n100000.zstf", 61);
	test_cuts("variants", "dhrystone_opt1.stf.gz", 211);
	test_cuts("variants", "dhrystone_opt1.two-streams.stf.xz", 61);
	test_cuts("variants", "dhrystone_opt1.stf.lzma", 37);
	test_cuts("variants", "dhrystone_opt1.many-frames.stf.zst", 511);
	hf_bytes_free(&stream);
	return 0;
}
