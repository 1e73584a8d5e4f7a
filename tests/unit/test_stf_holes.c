/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Damaged chunks of a .zstf: their size and the next one's start are known from the chunk table, so everything else is
 * decoded, the same however it was entered, and each loss is announced.
 */
#include "codecs/source/errors.h"
#include "codecs/stf/errors.h"
#include "tests/lib/recordtext.h"
#include "tests/lib/zstftest.h"

/* What a chunk's frame becomes. */
enum damage { NO_MAGIC, NOISE, DAMAGES };

static void damage(struct hf_zt_cut *c, size_t i, enum damage how)
{
	const uint64_t at = hf_zt_chunk_at(c, i);
	const uint64_t end = i + 1 < c->count ? hf_zt_chunk_at(c, i + 1) : hf_zt_table_at(c);

	if (how == NO_MAGIC)
		c->file.p[at] ^= 1;
	else
		memset(c->file.p + at + 12, 0xa5, (size_t)(end - at - 12));
}

/* pcs and opcodes of the instruction records, those of the chunks in the mask left out. */
static struct hf_events instructions(const struct hf_events *list, unsigned mask)
{
	struct hf_events kept = {0};
	size_t record = 0;

	for (size_t i = 0; i < list->n; i++) {
		const struct hf_event *ev = &list->ev[i];

		if (!hf_event_is_instruction(ev))
			continue;
		if (!(mask >> record++ / HF_ZT_PER_CHUNK & 1)) {
			struct hf_event only = {.kind = ev->kind, .insn = ev->insn};

			only.insn.mode = 0;
			hf_events_add(&kept, &only, 1);
		}
	}
	return kept;
}

/* One GAP for each damaged chunk; one NOTE for each good one behind such. */
static void check_losses(const struct hf_zt_cut *c, const struct hf_events *list, unsigned mask)
{
	size_t at = 0;

	for (size_t i = 0; i < c->count; i++) {
		if (!(mask >> i & 1))
			continue;
		while (at < list->n && list->ev[at].kind != HF_EVENT_GAP)
			CHECK(list->ev[at++].kind != HF_EVENT_NOTE);
		CHECK(at < list->n);
		CHECK_EQ((int)list->ev[at].code, -HF_ERR_ZSTF_CHUNK);
		CHECK_EQ(list->ev[at].loss.offset, c->cut[i]);
		CHECK_EQ(list->ev[at].loss.bytes, c->cut[i + 1] - c->cut[i]);
		CHECK_EQ(list->ev[at].loss.detail, i);
		at++;
		if (i + 1 == c->count || (mask >> (i + 1) & 1))
			continue;
		CHECK_EQ(list->ev[at].kind, HF_EVENT_NOTE);
		CHECK_EQ((int)list->ev[at].code, -HF_ERR_RESUMED);
		CHECK_EQ(list->ev[at].loss.offset, c->cut[i + 1]);
		CHECK_EQ(list->ev[at].loss.detail, i + 1);
		at++;
	}
	for (; at < list->n; at++)
		CHECK(list->ev[at].kind != HF_EVENT_GAP && list->ev[at].kind != HF_EVENT_NOTE);
}

static struct hf_walk_bytes text_of(struct hf_src *src)
{
	struct hf_walk_bytes text = {0};
	struct hf_stream *stream;
	struct hf_events list;

	CHECK_EQ(hf_stream_open(&hf_codec_stf, src, NULL, &stream, NULL), 0);
	list = hf_stft_events(stream, src, HF_HART_RECORDS, 64);
	hf_bytes_add_records(&text, stream, list.ev, list.n);
	hf_bytes_add(&text, "", 1);
	hf_events_free(&list);
	hf_stream_close(stream);
	return text;
}

/* The line that begins with a record's offset, or NULL. */
static const char *line_at(const struct hf_walk_bytes *text, uint64_t offset)
{
	const char *line = (const char *)text->p;

	while (*line) {
		if (*line != '#' && strtoull(line, NULL, 10) == offset)
			return line;
		line = strchr(line, '\n') + 1;
	}
	return NULL;
}

/* records.txt has the records of all other chunks, and a line for each that is lost. */
static void check_records(const struct hf_zt_cut *c, struct hf_src *file, struct hf_src *blocks, unsigned mask)
{
	struct hf_src *growing = hf_zt_grow(file);
	struct hf_walk_bytes text = text_of(growing), other = text_of(blocks);
	char want[200];

	CHECK_STR((const char *)text.p, (const char *)other.p);
	for (size_t i = 0; i < c->count; i++) {
		CHECK((line_at(&text, c->cut[i]) == NULL) == (mask >> i & 1));
		if (!(mask >> i & 1))
			continue;
		snprintf(want, sizeof want, "# offset %zu: chunk %zu of the container is damaged; %zu bytes are lost",
			 c->cut[i], i, c->cut[i + 1] - c->cut[i]);
		CHECK(strstr((const char *)text.p, want));
	}
	hf_bytes_free(&text);
	hf_bytes_free(&other);
	hf_src_free(growing);
}

/* Every byte outside of the holes can be read, and none inside. */
static void check_bytes(const struct hf_zt_cut *c, struct hf_src *src, unsigned mask)
{
	uint8_t buf[64];
	struct hf_diag diag;
	size_t n;

	CHECK_EQ(src->size, c->stream.n);
	for (size_t i = 0; i < c->count; i++) {
		for (uint64_t at = c->cut[i]; at < c->cut[i + 1]; at += n) {
			int err = hf_src_read_at(src, at, buf, sizeof buf, &n, &diag);

			if (mask >> i & 1) {
				CHECK_EQ(err, HF_ERR_ZSTF_CHUNK);
				CHECK_EQ(n, 0);
				CHECK_EQ(diag.space, HF_SPACE_FILE);
				CHECK_EQ(diag.offset, hf_zt_chunk_at(c, i));
				CHECK_EQ(diag.detail, i);
				n = 1;
				continue;
			}
			CHECK_EQ(err, 0);
			CHECK(n > 0 && memcmp(buf, c->stream.p + at, n) == 0);
		}
	}
}

static void check(struct hf_zt_cut *c, unsigned mask)
{
	struct hf_events plain = hf_stft_decode(&c->stream, 0), want, list, got;
	struct hf_zt_served s;
	struct hf_src *file;

	CHECK_EQ(hf_src_memory_new(c->file.p, c->file.n, &file), 0);
	list = hf_zt_all_events(file, 0);
	hf_zt_check_entries(&c->file, &list, 1);
	check_losses(c, &list, mask);
	want = instructions(&plain, mask);
	got = instructions(&list, 0);
	hf_events_check_same(&want, &got, "the instructions of the other chunks");
	hf_zt_serve(&s, &c->file, 7);
	CHECK_EQ(hf_index_has_holes(s.index), mask != 0);
	CHECK_EQ(hf_index_damage(s.index, NULL), 0);
	check_bytes(c, s.src, mask);
	check_records(c, file, s.src, mask);
	hf_zt_stop(&s);
	hf_events_free(&plain);
	hf_events_free(&want);
	hf_events_free(&list);
	hf_events_free(&got);
	hf_src_free(file);
}

static void test_chunks(void)
{
	/* one in the middle, the second, the last, two apart, two and three in a row, all but the first */
	static const unsigned masks[] = {0x10, 0x02, 0x80, 0x24, 0x18, 0xe0, 0xfe};
	struct hf_zt_cut c = hf_zt_make(1);

	for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
		for (int how = 0; how < DAMAGES; how++) {
			hf_zt_pack(&c);
			for (size_t k = 0; k < c.count; k++)
				if (masks[i] >> k & 1)
					damage(&c, k, (enum damage)how);
			check(&c, masks[i]);
		}
	}
	hf_zt_drop(&c);
}

/* The stream's header is in the first one: without it nothing can be decoded. */
static void test_first(void)
{
	struct hf_zt_cut c = hf_zt_make(1);
	struct hf_src *file, *growing;
	struct hf_stream *stream;
	struct hf_diag diag;

	hf_zt_pack(&c);
	damage(&c, 0, NOISE);
	CHECK_EQ(hf_src_memory_new(c.file.p, c.file.n, &file), 0);
	growing = hf_zt_grow(file);
	CHECK(hf_stream_open(&hf_codec_stf, growing, NULL, &stream, &diag) < 0);
	hf_src_free(growing);
	hf_src_free(file);
	hf_zt_drop(&c);
}

static size_t count(const struct hf_events *list, int kind)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++)
		n += list->ev[i].kind == kind;
	return n;
}

/* Where the table does not say it, a damaged chunk ends the stream, which is said too. */
static void test_table(void)
{
	struct hf_zt_cut c = hf_zt_make(1);

	for (int how = 0; how < 4; how++) {
		struct hf_events list;
		struct hf_src *file;

		hf_zt_pack(&c);
		damage(&c, 4, NOISE);
		if (how == 0)
			hf_put64(c.file.p + 12, 0);                               /* no table */
		else if (how == 1)
			hf_put64(c.file.p + hf_zt_pc_at(&c, 5) - 8, 21);          /* the next chunk is elsewhere */
		else if (how == 2)
			hf_put64(c.file.p + hf_zt_pc_at(&c, 4) + 8, INT64_MAX);   /* the size is impossible */
		else
			hf_put64(c.file.p + hf_zt_pc_at(&c, 4) - 8, 21);          /* it is another chunk's entry */
		CHECK_EQ(hf_src_memory_new(c.file.p, c.file.n, &file), 0);
		list = hf_zt_all_events(file, 0);
		hf_zt_check_entries(&c.file, &list, 1);
		CHECK_EQ(count(&list, HF_EVENT_INSN) + count(&list, HF_EVENT_ATTEMPT), 4 * HF_ZT_PER_CHUNK);
		CHECK_EQ(count(&list, HF_EVENT_GAP), 1);
		hf_events_free(&list);
		hf_src_free(file);
	}
	hf_zt_drop(&c);
}

/* A chunk whose bytes come out but are no records: the next one is where it always was. */
static void test_nonsense(void)
{
	struct hf_zt_cut c = hf_zt_make(1);
	struct hf_events plain = hf_stft_decode(&c.stream, 0), list, want, got;
	struct hf_src *file;

	c.stream.p[c.cut[3]] = 14;
	hf_zt_pack(&c);
	CHECK_EQ(hf_src_memory_new(c.file.p, c.file.n, &file), 0);
	list = hf_zt_all_events(file, 0);
	hf_zt_check_entries(&c.file, &list, 1);
	CHECK_EQ(count(&list, HF_EVENT_GAP), 1);
	CHECK_EQ(count(&list, HF_EVENT_NOTE), 1);
	want = instructions(&plain, 1 << 3);
	got = instructions(&list, 0);
	hf_events_check_same(&want, &got, "the other chunks");
	hf_events_free(&plain);
	hf_events_free(&list);
	hf_events_free(&want);
	hf_events_free(&got);
	hf_src_free(file);
	hf_zt_drop(&c);
}

/* Behind a hole nobody knows which thread runs: every hart has the gap, and the one that is taken for it a doubt. */
static void test_harts(void)
{
	enum { HARTS = 3 };
	struct hf_zt_cut c = hf_zt_make(HARTS);
	struct hf_events list[HARTS];
	struct hf_src *file;
	size_t doubts = 0;

	hf_zt_pack(&c);
	damage(&c, 3, NOISE);
	CHECK_EQ(hf_src_memory_new(c.file.p, c.file.n, &file), 0);
	for (uint32_t h = 0; h < HARTS; h++)
		list[h] = hf_zt_all_events(file, h);
	hf_zt_check_entries(&c.file, list, HARTS);
	for (uint32_t h = 0; h < HARTS; h++) {
		CHECK_EQ(count(&list[h], HF_EVENT_GAP), 1);
		doubts += count(&list[h], HF_EVENT_DOUBT);
		hf_events_free(&list[h]);
	}
	CHECK_EQ(doubts, 1);
	hf_src_free(file);
	hf_zt_drop(&c);
}

/* errors.txt: the chunk with its place in the file, what is lost, and where it goes on. */
static void test_problems(void)
{
	struct hf_zt_cut c = hf_zt_make(1);
	struct hf_index_problem p;
	struct hf_zt_served s;

	hf_zt_pack(&c);
	damage(&c, 5, NO_MAGIC);
	hf_zt_serve(&s, &c.file, 1000);
	CHECK_EQ(hf_index_problem_count(s.index), 3);
	CHECK_EQ(hf_index_problem_at(s.index, 0, &p), 0);
	CHECK_EQ(p.diag.code, HF_ERR_ZSTF_CHUNK);
	CHECK_EQ(p.diag.offset, c.cut[5]);
	CHECK_EQ(p.bytes, c.cut[6] - c.cut[5]);
	CHECK_EQ(hf_index_problem_at(s.index, 1, &p), 0);
	CHECK_EQ(p.diag.code, HF_ERR_RESUMED);
	CHECK_EQ(p.diag.offset, c.cut[6]);
	CHECK_EQ(hf_index_problem_at(s.index, 2, &p), 0);
	CHECK_EQ(p.diag.space, HF_SPACE_FILE);
	CHECK_EQ(p.diag.offset, hf_zt_chunk_at(&c, 5));
	hf_zt_stop(&s);
	hf_zt_drop(&c);
}

int main(void)
{
	hf_zt_init();
	test_chunks();
	test_first();
	test_table();
	test_nonsense();
	test_harts();
	test_problems();
	hf_zt_fini();
	return 0;
}
