/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slices against the whole: the listing of one is a part of the whole's bytes, the STF of one decodes to the events of
 * the whole from its first instruction on, for every size of chunks; reads of a slice are the same in any order and by
 * several at once; names that are no slice do not exist.
 */
#include "fs/facts/state.h"
#include "fs/whole.h"
#include "fs/tree/tree.h"
#include "tests/lib/fstest.h"
#include "tests/lib/pack.h"
#include "tests/lib/stftest.h"

#include <pthread.h>

static const uint64_t chunk_insns[] = {1, 7, 1000, 16384};

static struct hf_fst t;

/* A hart as a whole. */
struct whole {
	const char *dir;        /* "two@stf@gz/hart1" */
	struct hf_walk_bytes listing;
	struct hf_events events;
	uint64_t insns;
	bool many;              /* its stream has other harts, which page walks count too */
};

/* ---- captures ---- */

/* With all that a slice has to carry along: ids, modes, traps and returns, page walks, accesses, comments. */
static struct hf_walk_bytes rich_stf(size_t groups, bool many, uint64_t seed)
{
	static const uint64_t entries[4] = {0x80, 0x81, 0x90, 0x91};
	const uint64_t features = HF_STF_FEATURE_EVENT64 | HF_STF_FEATURE_RV64;
	struct hf_walk_bytes b = {0};

	hf_stft_header(&b, many ? features | HF_STF_FEATURE_MULTI_CORE : features, 0x80000000);
	for (size_t i = 0; i < groups; i++) {
		const uint32_t r = hf_rand_next(&seed);

		if (r % 13 == 0)
			PUT(&b, PROCESS_ID_EXT, .hw = many ? r >> 8 & 1 : 0, .pid = r >> 9 & 3, .tid = r >> 11 & 1);
		if (r % 17 == 0) {
			PUT(&b, COMMENT, .count = 11);
			hf_bytes_add(&b, "line\nbreak ", 11);
		}
		if (r % 19 == 0)
			PUT(&b, FORCE_PC, .address = 0x80000000 + (r >> 12 & 0xff) * 4);
		if (r % 11 == 0) {
			PUT(&b, PAGE_TABLE_WALK, .address = 0x4000, .value = i - (i % 7 > i ? i : i % 7),
			    .size = 0x1000, .count = 2);
			hf_bytes_add(&b, entries, sizeof entries);
		}
		if (r % 3 == 0) {
			PUT(&b, INST_MEM_ACCESS, .address = 0x1000 + r % 4096, .size = 8, .code = HF_STF_READ);
			PUT(&b, INST_MEM_CONTENT, .value = r);
		}
		switch (r >> 20 & 15) {
		case 0:
			PUT(&b, INST_PC_TARGET, .address = 0x80000000 + (r >> 12 & 0xff) * 4);
			PUT(&b, INST_OPCODE32, .size = 0x78067);
			break;
		case 1:
			hf_stft_event(&b, 13, 3, (uint64_t[]){0x80000000, 0x00052503, 0x1000});
			PUT(&b, EVENT_PC_TARGET, .address = 0x80001000);
			hf_stft_mode(&b, 1);
			PUT(&b, INST_OPCODE32, .size = 0x00052503);
			break;
		case 2:
			hf_stft_mode(&b, r >> 24 & 1 ? 0 : 3);
			PUT(&b, EVENT_PC_TARGET, .address = 0x80000100);
			PUT(&b, INST_OPCODE32, .size = 0x10200073);
			break;
		case 3:
			hf_stft_mode(&b, r >> 24 & 3);
			PUT(&b, INST_OPCODE16, .size = 0x0001);
			break;
		default:
			PUT(&b, INST_REG, .number = r & 31, .code = 0x31, .value = r);
			PUT(&b, INST_OPCODE32, .size = 0x13 | (r & 31) << 7);
			break;
		}
	}
	return b;
}

static void write_captures(void)
{
	struct hf_walk_bytes tiny = rich_stf(40, false, 5), one = rich_stf(6500, false, 6), two = rich_stf(6500, true, 7);
	struct hf_walk_bytes gz = {0}, cut = hf_fst_stf(4000, 3, false), zstf = {0};

	hf_pack_gzip(&gz, two.p, two.n, -1, 0);
	hf_pack_zstf(&zstf, cut.p, cut.n, 1500);
	hf_fst_write(&t, "tiny.stf", tiny.p, tiny.n);
	hf_fst_write(&t, "one.stf", one.p, one.n);
	hf_fst_write(&t, "two.stf.gz", gz.p, gz.n);
	hf_fst_write(&t, "cut.zstf", zstf.p, zstf.n * 3 / 4);
	hf_bytes_free(&tiny);
	hf_bytes_free(&one);
	hf_bytes_free(&two);
	hf_bytes_free(&gz);
	hf_bytes_free(&cut);
	hf_bytes_free(&zstf);
}

/* ---- what a slice should be ---- */

static const uint8_t *line_of(const struct whole *w, uint64_t ordinal)
{
	const uint8_t *end = w->listing.p + w->listing.n;
	char text[32];
	size_t n = (size_t)snprintf(text, sizeof text, "\n%llu ", (unsigned long long)ordinal);
	const uint8_t *found;

	if (ordinal == 0)
		return w->listing.p;
	if (ordinal == w->insns)
		return end;
	found = memmem(w->listing.p, w->listing.n, text, n);
	CHECK(found);
	return found + 1;
}

static void load(struct whole *w)
{
	char path[200];
	struct hf_walk_bytes stf;

	CHECK_COMES(hf_fst_exists(&t, w->dir));
	snprintf(path, sizeof path, "%s/listing.txt", w->dir);
	w->listing = hf_fst_read(&t, path, 1 << 20);
	snprintf(path, sizeof path, "%s/trace.stf", w->dir);
	stf = hf_fst_read(&t, path, 1 << 20);
	w->events = hf_stft_decode(&stf, 0);
	w->insns = 0;
	for (size_t i = 0; i < w->events.n; i++)
		w->insns += w->events.ev[i].kind == HF_EVENT_INSN;
	hf_bytes_free(&stf);
}

static void unload(struct whole *w)
{
	hf_bytes_free(&w->listing);
	hf_events_free(&w->events);
}

/* What a stream cannot say the same way in a slice: how it was said that a mode holds, and what was told already. */
static bool is_compared(const struct hf_events *list, size_t i)
{
	const struct hf_event *ev = &list->ev[i];

	if (ev->kind == HF_EVENT_CONTEXT || ev->kind == HF_EVENT_DISCONTINUITY || ev->kind == HF_EVENT_NOTE ||
	    ev->kind == HF_EVENT_GAP)
		return false;
	while (i > 0 && list->ev[i].kind == HF_EVENT_DATA)
		i--;
	return list->ev[i].kind != HF_EVENT_TEXT;
}

/* The ids that hold, from CONTEXT events. */
static void follow(uint32_t *ids, const struct hf_event *ev)
{
	if (ev->kind != HF_EVENT_CONTEXT)
		return;
	if (ev->fields & HF_CONTEXT_HW)
		ids[0] = ev->context.hw;
	if (ev->fields & HF_CONTEXT_PID)
		ids[1] = ev->context.pid;
	if (ev->fields & HF_CONTEXT_TID)
		ids[2] = ev->context.tid;
}

static void check_stf(const struct whole *w, const struct hf_walk_bytes *stf, uint64_t first, uint64_t last)
{
	struct hf_events got = hf_stft_decode(stf, 0);
	uint32_t want_ids[3] = {0}, got_ids[3] = {0};
	uint64_t ordinal = 0, records = 0, base = 0;
	size_t k = 0;

	for (size_t i = 0; i < w->events.n; i++) {
		struct hf_event want = w->events.ev[i];

		follow(want_ids, &want);
		if (want.kind == HF_EVENT_INSN && ordinal++ == first && first)
			base = records;
		if (ordinal > last + 1)
			break;
		records += hf_event_is_instruction(&want);
		if ((ordinal <= first && first) || !is_compared(&w->events, i))
			continue;
		for (; k < got.n && !is_compared(&got, k); k++)
			follow(got_ids, &got.ev[k]);
		CHECK(k < got.n);
		/* Numbers of records count from the start of the slice. */
		if (want.kind == HF_EVENT_ATTEMPT)
			want.insn.target -= base;
		if (want.kind == HF_EVENT_TRANSLATION && !w->many)
			want.walk.first = want.walk.first > base ? want.walk.first - base : 0;
		else if (want.kind == HF_EVENT_TRANSLATION)
			want.walk.first = got.ev[k].walk.first;
		if (memcmp(&want, &got.ev[k], sizeof want) != 0)
			fprintf(stderr, "%s at %llu-%llu: ordinal %llu kind %u/%u\n", w->dir, (unsigned long long)first,
				(unsigned long long)last, (unsigned long long)ordinal, want.kind, got.ev[k].kind);
		CHECK(memcmp(&want, &got.ev[k], sizeof want) == 0);
		if (hf_event_is_instruction(&want))
			CHECK(memcmp(want_ids, got_ids, sizeof got_ids) == 0);
		k++;
	}
	for (; k < got.n; k++)
		CHECK(!is_compared(&got, k));
	hf_events_free(&got);
}

static void check_slice(const struct whole *w, uint64_t first, uint64_t last)
{
	const uint8_t *from = line_of(w, first), *to = line_of(w, last + 1);
	struct hf_walk_bytes listing, stf;
	char path[200];

	snprintf(path, sizeof path, "%s/at/%llu-%llu/listing.txt", w->dir, (unsigned long long)first,
		 (unsigned long long)last);
	listing = hf_fst_read(&t, path, 1 + last % 100000);
	CHECK_EQ(listing.n, to - from);
	CHECK(memcmp(listing.p, from, listing.n) == 0);
	hf_bytes_free(&listing);
	snprintf(path, sizeof path, "%s/at/%llu-%llu/trace.stf", w->dir, (unsigned long long)first,
		 (unsigned long long)last);
	stf = hf_fst_read(&t, path, 1 << 20);
	check_stf(w, &stf, first, last);
	hf_bytes_free(&stf);
}

static void check_slices(const struct whole *w, uint64_t k)
{
	uint64_t seed = k;

	if (w->insns < 100)
		for (uint64_t first = 0; first < w->insns; first++)
			for (uint64_t last = first; last < w->insns; last++)
				check_slice(w, first, last);
	check_slice(w, 0, w->insns - 1);
	check_slice(w, w->insns - 1, w->insns - 1);
	/* Around the borders of chunks. */
	for (uint64_t n = 1; n <= (HF_TEST_SAMPLE ? 1 : 3) && n * k + 1 < w->insns; n++)
		for (int d = -1; d <= 1; d++) {
			check_slice(w, n * k + (uint64_t)d, w->insns - 1);
			check_slice(w, n * k + (uint64_t)d, n * k + 1);
			check_slice(w, 0, n * k + (uint64_t)d);
		}
	for (int i = k < 10 ? 18 : 0; i < (HF_TEST_SAMPLE ? 5 : 25); i++) {
		uint64_t first = hf_rand_next(&seed) % w->insns;

		check_slice(w, first, first + hf_rand_next(&seed) % (w->insns - first));
	}
}

/* ---- reads ---- */

struct reader {
	pthread_t thread;
	const char *path;
	struct hf_walk_bytes whole;
	uint64_t seed;
};

static void *read_some(void *arg)
{
	struct reader *reader = arg;
	const struct hf_walk_bytes *whole = &reader->whole;
	struct hf_file *file = hf_fst_open_file(&t, reader->path);
	uint8_t *buf = malloc(100000);
	size_t n;

	for (int i = 0; i < 60; i++) {
		uint64_t offset = hf_rand_next(&reader->seed) % (whole->n + 10);
		size_t size = 1 + hf_rand_next(&reader->seed) % (i % 2 ? 100000 : 100);
		uint64_t left = offset < whole->n ? whole->n - offset : 0;

		CHECK_EQ(hf_fs_read_wait(t.fs, file, offset, buf, size, &n), 0);
		CHECK_EQ(n, size < left ? size : left);
		CHECK(!n || memcmp(buf, whole->p + offset, n) == 0);
	}
	for (uint64_t offset = 0; offset < whole->n; offset += 50000) {
		CHECK_EQ(hf_fs_read_wait(t.fs, file, offset, buf, 50000, &n), 0);
		CHECK(memcmp(buf, whole->p + offset, n) == 0);
	}
	free(buf);
	hf_file_close(file);
	return NULL;
}

static void check_reads(void)
{
	static const char *const paths[] = {"one@stf/hart0/at/5-4900/listing.txt", "one@stf/hart0/at/5-4900/trace.stf",
					    "two@stf@gz/hart1/at/100-2900/trace.stf",
					    "two@stf@gz/hart0/at/0-1/trace.stf"};
	struct reader reader[8];

	for (size_t i = 0; i < 8; i++) {
		reader[i] = (struct reader){.path = paths[i % 4], .seed = i};
		reader[i].whole = hf_fst_read(&t, paths[i % 4], 1 << 20);
		CHECK_EQ(pthread_create(&reader[i].thread, NULL, read_some, &reader[i]), 0);
	}
	for (size_t i = 0; i < 8; i++) {
		pthread_join(reader[i].thread, NULL);
		hf_bytes_free(&reader[i].whole);
	}
}

/* ---- names ---- */

static void check_names(uint64_t insns)
{
	static const char *const bad[] = {"99999999999999999999-1", "5-3", "-", "01-2", "1-02", "-5", "5", "", "0-0x1",
					  "1-2-3", " 1-2", "1-2 ", "+1-2", "0-99999999999999999999", "00-", "1--2",
					  "18446744073709551615-", "0-18446744073709551615", "a-b", "1-2.txt"};
	char path[200], *text, *whole, *at;
	struct hf_attr attr;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		snprintf(path, sizeof path, "one@stf/hart0/at/%s", bad[i]);
		if (*bad[i])
			CHECK_EQ(hf_fst_lookup(&t, path, &attr), HF_ERR_NOT_FOUND);
	}
	snprintf(path, sizeof path, "one@stf/hart0/at/0-%llu", (unsigned long long)insns);
	CHECK_EQ(hf_fst_lookup(&t, path, &attr), HF_ERR_NOT_FOUND);
	snprintf(path, sizeof path, "one@stf/hart0/at/%llu-", (unsigned long long)insns);
	CHECK_EQ(hf_fst_lookup(&t, path, &attr), HF_ERR_NOT_FOUND);
	CHECK_EQ(hf_fst_lookup(&t, "one@stf/hart0/at/1-2/INDEXING", &attr), HF_ERR_NOT_FOUND);
	CHECK_EQ(hf_fst_lookup(&t, "one@stf/hart0/at/1-2/records.txt", &attr), HF_ERR_NOT_FOUND);
	CHECK_EQ(hf_fst_lookup(&t, "one@stf/hart0/at/1-2/at", &attr), HF_ERR_NOT_FOUND);
	CHECK_EQ(hf_fst_lookup(&t, "one@stf/at", &attr), HF_ERR_NOT_FOUND);

	text = hf_fst_list(&t, "one@stf/hart0/at");
	CHECK_STR(text, "");
	free(text);
	/* The hart's views, whatever there are, but no slices, and no where, which comes last. */
	whole = hf_fst_list(&t, "one@stf/hart0");
	CHECK(strstr(whole, "listing.txt\n") && strstr(whole, "trace.stf\n"));
	at = strncmp(whole, "at\n", 3) == 0 ? whole : strstr(whole, "\nat\n") + 1;
	memmove(at, at + 3, strlen(at + 3) + 1);
	at = strstr(whole, "\nwhere\n");
	CHECK(at);
	at[1] = 0;
	text = hf_fst_list(&t, "one@stf/hart0/at/10-20");
	CHECK_STR(text, whole);
	free(text);
	free(whole);

	/* To the end, which has two names. */
	snprintf(path, sizeof path, "one@stf/hart0/at/17-%llu/trace.stf", (unsigned long long)insns - 1);
	CHECK_EQ(hf_fst_size(&t, "one@stf/hart0/at/17-/trace.stf"), hf_fst_size(&t, path));
}

/* Far more slices than are kept: they come and go, and all is well with those that are still open. */
static void check_many(const struct whole *w)
{
	struct hf_file *file = hf_fst_open_file(&t, "one@stf/hart0/at/3-5000/trace.stf");
	struct hf_walk_bytes whole = hf_fst_read(&t, "one@stf/hart0/at/3-5000/trace.stf", 1 << 20);
	uint8_t buf[1000];
	struct hf_attr attr;
	size_t n;

	CHECK_EQ(hf_fst_lookup(&t, "one@stf/hart0/at/3-5000/trace.stf", &attr), 0);
	for (uint64_t i = 0; i < 5000; i++) {
		char path[100];

		snprintf(path, sizeof path, "one@stf/hart0/at/%llu-%llu/trace.stf", (unsigned long long)(i % 5000),
			 (unsigned long long)(i % 5000 + i % 3));
		CHECK(hf_fst_size(&t, path) > 0);
	}
	CHECK(t.fs->slices.table.count <= 4096);
	CHECK_EQ(hf_fs_read_wait(t.fs, file, whole.n - 1000, buf, 1000, &n), 0);
	CHECK(n == 1000 && memcmp(buf, whole.p + whole.n - 1000, 1000) == 0);
	hf_file_close(file);
	/* Forgotten, and measured again. */
	for (uint64_t i = 0; i < 5000; i++) {
		char path[100];

		snprintf(path, sizeof path, "one@stf/hart0/at/%llu-%llu/listing.txt", (unsigned long long)i,
			 (unsigned long long)i + 3);
		hf_fst_size(&t, path);
	}
	CHECK_EQ(hf_fs_getattr(t.fs, attr.st.st_ino, &attr), 0);
	CHECK_EQ(attr.st.st_size, whole.n);
	hf_fs_forget(t.fs, attr.st.st_ino, 1);
	hf_bytes_free(&whole);
	(void)w;
}

/* ---- long ones ---- */

enum { LONG = 4300000, KINDS = 6 };

/* Instructions of 2 and 4 bytes in turn: n of them from number i on. */
static void add_plain(struct hf_walk_bytes *b, uint64_t i, uint64_t n)
{
	for (; n; n--, i++)
		if (i % 2)
			PUT(b, INST_OPCODE16, .size = 1);
		else
			PUT(b, INST_OPCODE32, .size = 0x13 | (uint32_t)(i & 31) << 7);
}

static void *wait_for(void *arg)
{
	const char *path = arg;

	CHECK_COMES(hf_fst_exists(&t, path));
	return NULL;
}

/* The body of a slice is the whole's, and the header says where it begins. */
static void check_long(const struct hf_walk_bytes *body, uint64_t first)
{
	/* 3 and 5 bytes in turn */
	const uint64_t skip = first / 2 * 8 + first % 2 * 5;
	struct hf_walk_bytes got;
	struct hf_stft s;
	char path[100];
	uint64_t at;

	snprintf(path, sizeof path, "long@stf/hart0/at/%llu-%d/trace.stf", (unsigned long long)first, LONG - 1);
	CHECK_COMES(hf_fst_exists(&t, path));
	got = hf_fst_read(&t, path, 999999);
	hf_stft_open(&s, &got);
	at = ((const struct hf_stf_header *)s.stream->info.header)->body;
	CHECK_EQ(((const struct hf_stf_header *)s.stream->info.header)->force_pc,
		 0x80000000 + first / 2 * 6 + first % 2 * 4);
	CHECK_EQ(got.n - at, body->n - skip);
	CHECK(memcmp(got.p + at, body->p + skip, got.n - at) == 0);
	hf_stft_close(&s);
	hf_bytes_free(&got);
}

/* Longer than what is measured at once: they take turns, and have fewer places to enter than the hart has chunks. */
static void test_long(bool patient)
{
	struct hf_fs_options options = {.chunk_insns = 1000, .no_index = patient, .cache_bytes = 8 << 20};
	struct hf_walk_bytes file = {0}, body = {0};
	char path[KINDS][100];
	pthread_t thread[KINDS];

	hf_stft_header(&file, HF_STF_FEATURE_EVENT64 | HF_STF_FEATURE_RV64, 0x80000000);
	add_plain(&body, 0, LONG);
	hf_bytes_add(&file, body.p, body.n);
	hf_fst_begin(&t);
	hf_fst_write(&t, "long.stf", file.p, file.n);
	hf_fst_open(&t, &options);
	if (patient) {
		CHECK_EQ(hf_fs_index(t.fs, "long.stf", NULL, NULL, NULL), 0);
		CHECK(hf_fst_comes(&t, "long@stf/hart0/at/1-/trace.stf"));
	}
	CHECK_COMES(hf_fst_exists(&t, "long@stf/hart0/at"));
	for (int i = 0; i < KINDS; i++) {
		snprintf(path[i], sizeof path[i], "long@stf/hart0/at/%d-%d/trace.stf", i, LONG - 1);
		CHECK_EQ(pthread_create(&thread[i], NULL, wait_for, path[i]), 0);
	}
	for (int i = 0; i < KINDS; i++)
		pthread_join(thread[i], NULL);
	for (uint64_t first = 1; first < 6; first += 2)
		check_long(&body, first);
	check_long(&body, 77777);
	/* Closed while more are being measured. */
	for (int i = 0; i < 5 && !patient; i++) {
		struct hf_facts *facts;
		struct hf_slice *slice;
		struct hf_capture *capture;
		struct hf_attr attr;

		CHECK_EQ(hf_archive_stat(&t.fs->archive, "long.stf", &attr.st), 0);
		CHECK_EQ(hf_capture_find(&t.fs->captures, "long.stf", &attr.st, &capture), 0);
		CHECK_EQ(hf_capture_facts_now(capture, &facts), 0);
		CHECK_EQ(hf_slice_get(&t.fs->slices, capture, facts, 0, 100 + (uint64_t)i, LONG - 1, &slice), 0);
		hf_slice_want(slice);
		hf_slice_put(slice);
		hf_facts_unref(facts);
	}
	hf_bytes_free(&file);
	hf_bytes_free(&body);
	hf_fst_end(&t);
}

int main(void)
{
	struct whole whole[] = {{.dir = "tiny@stf/hart0"}, {.dir = "one@stf/hart0"}, {.dir = "two@stf@gz/hart0", .many = true},
				{.dir = "two@stf@gz/hart1", .many = true}, {.dir = "cut@zstf/hart0"}};

	for (size_t k = 0; k < sizeof chunk_insns / sizeof *chunk_insns; k++) {
		/* So small a cache that chunks are made more than once. */
		struct hf_fs_options options = {.chunk_insns = chunk_insns[k], .cache_bytes = 300 << 10};

		if (HF_TEST_SANITIZED && chunk_insns[k] != 1000)
			continue;
		options.threads = k % 2 ? 1 : 3;
		hf_fst_begin(&t);
		write_captures();
		hf_fst_open(&t, &options);
		for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
			load(&whole[i]);
			if (i || chunk_insns[k] == 7)
				check_slices(&whole[i], chunk_insns[k]);
		}
		check_names(whole[1].insns);
		check_reads();
		if (chunk_insns[k] == 1000)
			check_many(&whole[1]);
		for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
			unload(&whole[i]);
		hf_fst_end(&t);
	}
	if (!HF_TEST_SANITIZED) {
		test_long(false);
		test_long(true);
	}
	return 0;
}
