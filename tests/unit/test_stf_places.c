/*
 * What a .zstf says of the places between its chunks, start pc and number of instructions: where that is wrong there is
 * a note, the same one however decoding was entered.
 */
#include "fs/block_source.h"
#include "tests/lib/pack.h"
#include "tests/lib/sliver.h"
#include "tests/lib/stftest.h"

#include <fcntl.h>
#include <ftw.h>
#include <unistd.h>

#define FEATURES (HF_STF_FEATURE_EVENT64 | HF_STF_FEATURE_RV64)
#define MANY (FEATURES | HF_STF_FEATURE_MULTI_CORE)
#define START 0x1000
#define CHUNKS 8
#define PER_CHUNK 20

static char dir[] = "/tmp/hartfs-test-XXXXXX";
static int dirfd_of_index;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void clean_up(void)
{
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* A stream cut into chunks; cut[i] is where chunk i begins, pc[i] where the flow is there. */
struct cut {
	struct hf_bytes stream;
	size_t count;
	size_t cut[CHUNKS + 1];
	uint64_t pc[CHUNKS];
	struct hf_bytes file;
};

/* One group of the kind that i says. */
static uint64_t put_group(struct hf_bytes *b, unsigned i, uint64_t pc)
{
	switch (i % 7) {
	case 0:
		PUT(b, INST_MEM_ACCESS, .address = 8 * i, .size = 4, .code = HF_STF_READ);
		PUT(b, INST_MEM_CONTENT, .value = i);
		break;
	case 1:
		PUT(b, INST_OPCODE16, .size = 1);
		return pc + 2;
	case 2:
		PUT(b, INST_PC_TARGET, .address = pc + 64);
		PUT(b, INST_OPCODE32, .size = 0x6f);
		return pc + 64;
	case 3:
		PUT(b, COMMENT, .count = 3);
		hf_bytes_add(b, "abc", 3);
		break;
	case 4:
		hf_stft_event(b, 8, 0, NULL);
		PUT(b, EVENT_PC_TARGET, .address = 0x8000 + 4 * i);
		PUT(b, INST_OPCODE32, .size = 0x73);
		return 0x8000 + 4 * i;
	case 5:
		PUT(b, FORCE_PC, .address = 0x4000 + 4 * i);
		pc = 0x4000 + 4 * i;
		break;
	default:
		break;
	}
	PUT(b, INST_OPCODE32, .size = 0x13);
	return pc + 4;
}

/* CHUNKS chunks of PER_CHUNK instructions, on harts hw threads in turns. */
static struct cut make(unsigned harts)
{
	struct cut c = {.count = CHUNKS};
	uint64_t pc = START;

	hf_stft_header(&c.stream, harts > 1 ? MANY : FEATURES, START);
	for (unsigned i = 0; i < CHUNKS * PER_CHUNK; i++) {
		if (i % PER_CHUNK == 0) {
			c.cut[i / PER_CHUNK] = i ? c.stream.n : 0;
			c.pc[i / PER_CHUNK] = pc;
		}
		if (harts > 1 && i % 9 == 0)
			PUT(&c.stream, PROCESS_ID_EXT, .hw = i / 9 % harts, .pid = 1, .tid = i / 9 % harts);
		pc = put_group(&c.stream, i, pc);
	}
	c.cut[CHUNKS] = c.stream.n;
	return c;
}

static void pack(struct cut *c)
{
	struct hf_pack_chunk chunks[CHUNKS];

	for (size_t i = 0; i < c->count; i++)
		chunks[i] = (struct hf_pack_chunk){
			.data = c->stream.p + c->cut[i], .n = c->cut[i + 1] - c->cut[i], .pc = c->pc[i]};
	hf_bytes_free(&c->file);
	hf_pack_zstf_chunks(&c->file, PER_CHUNK, chunks, c->count);
}

static void drop(struct cut *c)
{
	hf_bytes_free(&c->stream);
	hf_bytes_free(&c->file);
}

static uint64_t table_at(const struct cut *c)
{
	return hf_get64(c->file.p + 12);
}

/* File offsets of chunk i and of its pc in the table. */
static uint64_t chunk_at(const struct cut *c, size_t i)
{
	return hf_get64(c->file.p + table_at(c) + 8 + 24 * i);
}

static uint64_t pc_at(const struct cut *c, size_t i)
{
	return table_at(c) + 8 + 24 * i + 8;
}

/* ---- all events, front to back ---- */

static struct hf_src *grow(struct hf_src *file)
{
	struct hf_scan *scan;
	struct hf_src *src;

	CHECK_EQ(hf_box_zstf.scan_new(file, NULL, NULL, &scan, NULL), 0);
	CHECK_EQ(hf_growing_new(&hf_box_zstf, scan, NULL, NULL, &src), 0);
	return src;
}

static struct hf_events growing_events(struct hf_src *file, uint32_t hart, size_t batch, size_t most)
{
	struct hf_src *growing = grow(file), *sliver;
	struct hf_stream *stream;
	struct hf_events list;

	CHECK_EQ(hf_sliver_new(growing, most, &sliver), 0);
	CHECK_EQ(hf_codec_stf.open(sliver, NULL, &stream, NULL), 0);
	list = hf_stft_events(stream, sliver, hart, batch);
	hf_stream_close(stream);
	hf_src_free(sliver);
	hf_src_free(growing);
	return list;
}

static struct hf_events all_events(struct hf_src *file, uint32_t hart)
{
	static const size_t batches[] = {1, 2, 7}, most[] = {1, 40, SIZE_MAX};
	struct hf_events list = growing_events(file, hart, 256, SIZE_MAX);

	for (size_t i = 0; i < 3; i++) {
		struct hf_events other = growing_events(file, hart, batches[i], most[i]);

		hf_events_check_same(&list, &other, "sizes of batches and reads");
		hf_events_free(&other);
	}
	return list;
}

/* ---- the same, chunk by chunk of an index ---- */

struct served {
	struct hf_index *index;
	struct hf_cache *cache;
	struct hf_src *file, *src;
	struct hf_stream *stream;
};

static void serve(struct served *s, const struct hf_bytes *file, uint64_t insns)
{
	struct hf_chunk_limits limits = hf_chunk_limits_default;
	struct hf_build build = {.dirfd = dirfd_of_index, .limits = &limits};
	static int64_t mtime;

	limits.insns = insns;
	CHECK_EQ(hf_src_memory_new(file->p, file->n, &s->file), 0);
	build.file = s->file;
	/* an index of its own every time */
	CHECK_EQ(hf_identity_of(s->file, ++mtime, &build.identity, NULL), 0);
	CHECK_EQ(hf_build_run(&build, NULL), 0);
	CHECK_EQ(hf_index_open(dirfd_of_index, &build.identity, &s->index), 0);
	CHECK_EQ(hf_cache_new(16 << 20, &s->cache), 0);
	CHECK_EQ(hf_block_source_new(s->file, s->index, s->cache, &s->src), 0);
	CHECK_EQ(hf_codec_stf.open(s->src, NULL, &s->stream, NULL), 0);
}

static void stop(struct served *s)
{
	hf_stream_close(s->stream);
	hf_src_free(s->src);
	hf_cache_free(s->cache);
	hf_index_close(s->index);
	hf_src_free(s->file);
}

/* Every chunk of the hart, each entered by itself. */
static struct hf_events served_events(struct served *s, uint32_t hart)
{
	struct hf_events list = {0};
	struct hf_event ev[64];
	struct hf_chunk chunk;
	uint64_t number = 0;

	do {
		struct hf_dec *dec;
		uint64_t left;
		size_t n;

		CHECK_EQ(hf_index_chunk(s->index, hart, number++, &chunk), 0);
		CHECK_EQ(hf_dec_new(s->stream, s->src, hart, &dec), 0);
		CHECK_EQ(hf_dec_load(dec, chunk.entry, chunk.entry_size, chunk.discard), 0);
		for (left = chunk.events; left; left -= n) {
			CHECK_EQ(hf_dec_next(dec, ev, left < 64 ? (size_t)left : 64, &n), 0);
			hf_events_add(&list, ev, n);
		}
		hf_dec_free(dec);
	} while (!chunk.last);
	return list;
}

static void check_entries(const struct hf_bytes *file, const struct hf_events *want, size_t harts)
{
	static const uint64_t insns[] = {1, 7, 1000};

	for (size_t k = 0; k < 3; k++) {
		struct served s;

		serve(&s, file, insns[k]);
		for (size_t i = 0; i < harts; i++) {
			struct hf_events list = served_events(&s, (uint32_t)i);

			hf_events_check_same(&want[i], &list, "entered");
			hf_events_free(&list);
		}
		stop(&s);
	}
}

/* ---- notes ---- */

struct note {
	int code;
	uint64_t at;
	uint64_t part;
};

/* Takes the notes about the file out of the list and compares them with those that belong there. */
static size_t take_notes(struct hf_events *list, const struct note *notes, size_t count, size_t first)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->n; i++) {
		const struct hf_event *ev = &list->ev[i];

		if (ev->kind != HF_EVENT_NOTE) {
			list->ev[kept++] = *ev;
			continue;
		}
		CHECK(first < count);
		CHECK_EQ((int)ev->size, -notes[first].code);
		CHECK_EQ(ev->flags, HF_EVF_FILE);
		CHECK_EQ(ev->loss.offset, notes[first].at);
		CHECK_EQ(ev->loss.detail, notes[first].part);
		CHECK_EQ(ev->loss.bytes, 0);
		first++;
	}
	list->n = kept;
	return first;
}

/* The container has these notes, all on the one hart, and besides what its stream says. */
static void check_notes(struct cut *c, const struct note *notes, size_t count)
{
	struct hf_events plain = hf_stft_decode(&c->stream, 0), list;
	struct hf_src *file;

	CHECK_EQ(hf_src_memory_new(c->file.p, c->file.n, &file), 0);
	list = all_events(file, 0);
	check_entries(&c->file, &list, 1);
	CHECK_EQ(take_notes(&list, notes, count, 0), count);
	hf_events_check_same(&plain, &list, "without the notes");
	hf_events_free(&plain);
	hf_events_free(&list);
	hf_src_free(file);
}

static void test_right(void)
{
	struct cut c = make(1);

	pack(&c);
	check_notes(&c, NULL, 0);
	/* all in one, which is said to be much smaller: nothing is said of where the last one ends */
	c.count = 1;
	c.cut[1] = c.stream.n;
	pack(&c);
	check_notes(&c, NULL, 0);
	drop(&c);
}

static void test_pc(void)
{
	struct cut c = make(1);

	for (size_t i = 1; i < CHUNKS; i++) {
		c.pc[i] += 2;
		pack(&c);
		check_notes(&c, (struct note[]){{HF_ERR_ZSTF_PC, pc_at(&c, i), i}}, 1);
		c.pc[i] -= 2;
	}
	/* the first one is 0 and means nothing */
	pack(&c);
	hf_put64(c.file.p + pc_at(&c, 0), 77);
	check_notes(&c, NULL, 0);
	drop(&c);
}

/* Where the group behind group i of the stream begins, by decoding up to there. */
static size_t group_end(const struct cut *c, unsigned groups, uint64_t *ret_pc)
{
	struct hf_bytes b = {0};
	uint64_t pc = START;
	size_t end;

	hf_stft_header(&b, FEATURES, START);
	for (unsigned i = 0; i < groups; i++)
		pc = put_group(&b, i, pc);
	CHECK(memcmp(b.p, c->stream.p, b.n) == 0);
	*ret_pc = pc;
	end = b.n;
	hf_bytes_free(&b);
	return end;
}

static void move_cut(struct cut *c, size_t i, unsigned groups)
{
	c->cut[i] = group_end(c, groups, &c->pc[i]);
}

static void test_count(void)
{
	struct cut c = make(1);

	/* one short, the next one has it: both are what they should not be */
	move_cut(&c, 1, PER_CHUNK - 1);
	pack(&c);
	check_notes(&c,
		    (struct note[]){{HF_ERR_ZSTF_COUNT, 20, 0}, {HF_ERR_ZSTF_COUNT, chunk_at(&c, 1), 1}}, 2);
	/* all further ones are shifted, but as long as they should be */
	for (size_t i = 2; i < CHUNKS; i++)
		move_cut(&c, i, PER_CHUNK * (unsigned)i - 1);
	pack(&c);
	check_notes(&c, (struct note[]){{HF_ERR_ZSTF_COUNT, 20, 0}}, 1);
	/* the last one may hold fewer, and nothing says how many */
	drop(&c);
	c = make(1);
	move_cut(&c, CHUNKS - 1, PER_CHUNK * (CHUNKS - 1) + 3);
	pack(&c);
	check_notes(&c, (struct note[]){{HF_ERR_ZSTF_COUNT, chunk_at(&c, CHUNKS - 2), CHUNKS - 2}}, 1);
	/* both defects in one place; the count comes first */
	c.pc[CHUNKS - 1]++;
	pack(&c);
	check_notes(&c,
		    (struct note[]){{HF_ERR_ZSTF_COUNT, chunk_at(&c, CHUNKS - 2), CHUNKS - 2},
				    {HF_ERR_ZSTF_PC, pc_at(&c, CHUNKS - 1), CHUNKS - 1}},
		    2);
	/* 0 instructions per chunk promise nothing (the table is wrong anyhow) */
	hf_put64(c.file.p + 4, 0);
	check_notes(&c, (struct note[]){{HF_ERR_ZSTF_PC, pc_at(&c, CHUNKS - 1), CHUNKS - 1}}, 1);
	drop(&c);
}

/* Chunks that end inside a group of records, as no writer should: what can be compared is. */
static void test_inside(void)
{
	struct cut c = make(1);
	uint64_t pc;

	/* inside the third chunk's first group, in front of its instruction */
	c.cut[3] = group_end(&c, 3 * PER_CHUNK, &pc) + 1;
	pack(&c);
	check_notes(&c, NULL, 0);
	c.cut[3] = group_end(&c, 3 * PER_CHUNK - 1, &pc) + 1;
	pack(&c);
	check_notes(&c,
		    (struct note[]){{HF_ERR_ZSTF_COUNT, chunk_at(&c, 2), 2}, {HF_ERR_ZSTF_COUNT, chunk_at(&c, 3), 3}},
		    2);
	/* several in one group */
	c.cut[3] = group_end(&c, 3 * PER_CHUNK, &pc) + 1;
	c.cut[4] = c.cut[3] + 1;
	c.cut[5] = c.cut[3] + 2;
	pack(&c);
	check_notes(&c,
		    (struct note[]){{HF_ERR_ZSTF_COUNT, chunk_at(&c, 3), 3},
				    {HF_ERR_ZSTF_COUNT, chunk_at(&c, 4), 4},
				    {HF_ERR_ZSTF_COUNT, chunk_at(&c, 5), 5}},
		    3);
	drop(&c);
}

/* Without a table, or with one that is wrong, nothing is known. */
static void test_no_table(void)
{
	struct cut c = make(1);

	move_cut(&c, 3, 3 * PER_CHUNK - 2);
	c.pc[5]++;
	pack(&c);
	c.file.n = table_at(&c);
	check_notes(&c, NULL, 0);
	pack(&c);
	hf_put64(c.file.p + 12, 0);
	check_notes(&c, NULL, 0);
	pack(&c);
	hf_put64(c.file.p + 12, table_at(&c) + 24);
	check_notes(&c, NULL, 0);
	/* one entry that does not name its chunk says nothing of it, the others do */
	drop(&c);
	c = make(1);
	c.pc[5]++;
	c.pc[6]++;
	pack(&c);
	hf_put64(c.file.p + table_at(&c) + 8 + 24 * 5, 21);
	check_notes(&c, (struct note[]){{HF_ERR_ZSTF_PC, pc_at(&c, 6), 6}}, 1);
	drop(&c);
}

/* Every note is on one hart, that of the group before the place. */
static void test_harts(void)
{
	enum { HARTS = 3 };
	struct cut c = make(HARTS);
	struct hf_events list[HARTS];
	struct hf_src *file;
	size_t notes = 0;

	for (size_t i = 1; i < CHUNKS; i++)
		c.pc[i]++;
	pack(&c);
	CHECK_EQ(hf_src_memory_new(c.file.p, c.file.n, &file), 0);
	for (uint32_t h = 0; h < HARTS; h++)
		list[h] = all_events(file, h);
	check_entries(&c.file, list, HARTS);
	for (uint32_t h = 0; h < HARTS; h++) {
		for (size_t i = 0; i < list[h].n; i++) {
			const struct hf_event *ev = &list[h].ev[i];
			uint64_t part;

			if (ev->kind != HF_EVENT_NOTE)
				continue;
			notes++;
			part = ev->loss.detail;
			CHECK_EQ((int)ev->size, -HF_ERR_ZSTF_PC);
			CHECK_EQ(ev->loss.offset, pc_at(&c, part));
			CHECK_EQ((part * PER_CHUNK - 1) / 9 % HARTS, h);
		}
		hf_events_free(&list[h]);
	}
	CHECK_EQ(notes, CHUNKS - 1);
	hf_src_free(file);
	drop(&c);
}

/* Longer than any window: the fast way comes to places too. */
static void test_long(void)
{
	enum { N = 30000 };
	struct cut c = {.count = 3};
	struct hf_src *file;
	struct hf_events list;

	hf_stft_header(&c.stream, FEATURES, START);
	for (unsigned i = 0; i < 3 * N; i++) {
		if (i % N == 0) {
			c.cut[i / N] = i ? c.stream.n : 0;
			c.pc[i / N] = START + 4 * i + (i == 2 * N);
		}
		PUT(&c.stream, INST_OPCODE32, .size = 0x13);
	}
	c.cut[3] = c.stream.n;
	pack(&c);
	hf_put64(c.file.p + 4, N - 1);
	CHECK_EQ(hf_src_memory_new(c.file.p, c.file.n, &file), 0);
	list = growing_events(file, 0, 256, SIZE_MAX);
	for (uint64_t k = 7; k < 100000; k *= 77) {
		struct served s;
		struct hf_events other;

		serve(&s, &c.file, k);
		other = served_events(&s, 0);
		hf_events_check_same(&list, &other, "long");
		hf_events_free(&other);
		stop(&s);
	}
	CHECK_EQ(take_notes(&list,
			    (struct note[]){{HF_ERR_ZSTF_COUNT, 20, 0},
					    {HF_ERR_ZSTF_COUNT, chunk_at(&c, 1), 1},
					    {HF_ERR_ZSTF_PC, pc_at(&c, 2), 2}},
			    3, 0),
		 3);
	CHECK_EQ(list.n, 3 * N);
	hf_events_free(&list);
	hf_src_free(file);
	drop(&c);
}

/* What the index says of it: the place in the file, and after how many instructions. */
static void test_problems(void)
{
	struct cut c = make(1);
	struct hf_index_problem p;
	struct served s;

	c.pc[4]++;
	pack(&c);
	serve(&s, &c.file, 7);
	CHECK_EQ(hf_index_problem_count(s.index), 1);
	CHECK_EQ(hf_index_problem_at(s.index, 0, &p), 0);
	CHECK_EQ(p.diag.code, HF_ERR_ZSTF_PC);
	CHECK_EQ(p.diag.space, HF_SPACE_FILE);
	CHECK_EQ(p.diag.offset, pc_at(&c, 4));
	CHECK_EQ(p.diag.detail, 4);
	CHECK(p.has_ordinal);
	stop(&s);
	drop(&c);
}

int main(void)
{
	CHECK(mkdtemp(dir));
	atexit(clean_up);
	dirfd_of_index = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(dirfd_of_index >= 0);
	test_right();
	test_pc();
	test_count();
	test_inside();
	test_no_table();
	test_harts();
	test_long();
	test_problems();
	close(dirfd_of_index);
	return 0;
}
