/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/indextest.h"

#include "index/exec/exec.h"
#include "tests/lib/check.h"
#include "tests/lib/pack.h"

#include <dirent.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

void hf_ixtest_begin_threads(struct hf_ixtest *t)
{
	const struct hf_exec_limits limits = {.seats = {[HF_WORK_HELP] = 64}};

	CHECK_EQ(hf_exec_new(&limits, &t->exec), 0);
	t->build.exec = t->exec;
}

void hf_ixtest_end_threads(struct hf_ixtest *t)
{
	hf_exec_free(t->exec);
	t->build.exec = t->exec = NULL;
}

void hf_ixtest_init(struct hf_ixtest *t)
{
	/* Where there is no disk there is no waiting for it, and these tests commit without end. */
	*t = (struct hf_ixtest){.dir = "/dev/shm/hartfs-index-XXXXXX"};
	if (!mkdtemp(t->dir)) {
		snprintf(t->dir, sizeof t->dir, "/tmp/hartfs-index-XXXXXX");
		CHECK(mkdtemp(t->dir));
	}
	t->dirfd = open(t->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(t->dirfd >= 0);
	t->at = (struct hf_store_dir){.fd = t->dirfd};
	t->codec = &hf_codec_toy;
	t->limits = hf_chunk_limits_default;
	t->keys[0] = (struct hf_view_key){.ops = &hf_toy_text, .params = ""};
	t->keys[1] = (struct hf_view_key){.ops = &hf_toy_binary, .params = "a=1"};
	t->keys[2] = (struct hf_view_key){.ops = &hf_enc_records, .params = ""};
	t->keys[3] = (struct hf_view_key){.ops = &hf_toy_refused, .params = ""};
	t->key_count = 4;
	hf_ixtest_begin_threads(t);
}

static DIR *open_dir(struct hf_ixtest *t)
{
	DIR *dir = opendir(t->dir);

	CHECK(dir);
	return dir;
}

void hf_ixtest_clear(struct hf_ixtest *t)
{
	DIR *dir = open_dir(t);
	struct dirent *entry;

	while ((entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			CHECK(unlinkat(t->dirfd, entry->d_name, 0) == 0);
	closedir(dir);
}

size_t hf_ixtest_count(struct hf_ixtest *t, const char *part)
{
	DIR *dir = open_dir(t);
	struct dirent *entry;
	size_t n = 0;

	while ((entry = readdir(dir)))
		n += strstr(entry->d_name, part) != NULL;
	closedir(dir);
	return n;
}

static void drop_capture(struct hf_ixtest *t)
{
	if (t->src)
		hf_src_free(t->src);
	if (t->plain)
		hf_src_free(t->plain);
	t->src = t->plain = NULL;
}

void hf_ixtest_fini(struct hf_ixtest *t)
{
	drop_capture(t);
	hf_bytes_free(&t->stream);
	hf_bytes_free(&t->file);
	hf_ixtest_clear(t);
	hf_ixtest_end_threads(t);
	rmdir(t->dir);
	close(t->dirfd);
}

static void set_up(struct hf_ixtest *t)
{
	drop_capture(t);
	CHECK_EQ(hf_src_memory_new(t->file.p, t->file.n, &t->src), 0);
	CHECK_EQ(hf_src_memory_new(t->stream.p, t->stream.n, &t->plain), 0);
	CHECK_EQ(hf_identity_of(t->src, 12345, &t->identity, NULL), 0);
	t->build = (struct hf_build){
		.dir = &t->at,
		.file = t->src,
		.identity = t->identity,
		.views = t->keys,
		.view_count = t->key_count,
		.limits = &t->limits,
		.disasm = t->env.disasm,
		.symbols = t->env.symbols,
		.summary = t->summary,
		.threads = t->threads,
		.exec = t->exec,
	};
}

void hf_ixtest_bytes(struct hf_ixtest *t, const void *bytes, size_t n)
{
	struct hf_walk_bytes file = {0}, stream = {0};

	hf_bytes_add(&file, bytes, n);
	hf_bytes_add(&stream, bytes, n);
	hf_bytes_free(&t->file);
	hf_bytes_free(&t->stream);
	t->file = file;
	t->stream = stream;
	set_up(t);
}

void hf_ixtest_capture(struct hf_ixtest *t, size_t n, unsigned harts, uint8_t flags, uint64_t seed)
{
	struct hf_toy_header header = {.flags = flags};
	struct hf_toy_record *records = calloc(n + 1, sizeof *records);
	struct hf_walk_bytes all = {0};

	CHECK(records);
	memcpy(header.magic, HF_TOY_MAGIC, sizeof header.magic);
	hf_toy_fill(records, n, harts, seed);
	hf_bytes_add(&all, &header, sizeof header);
	hf_bytes_add(&all, records, n * sizeof *records);
	hf_ixtest_bytes(t, all.p, all.n);
	hf_bytes_free(&all);
	free(records);
}

void hf_ixtest_load(struct hf_ixtest *t, const char *path, const struct hf_codec *codec, const struct hf_view_key *keys,
		    size_t key_count)
{
	struct hf_walk walk;
	const struct hf_box *box;

	hf_bytes_free(&t->file);
	hf_bytes_free(&t->stream);
	t->file = hf_bytes_load("", path);
	box = hf_box_probe(t->file.p, t->file.n < HF_PROBE_SIZE ? t->file.n : HF_PROBE_SIZE, t->file.n);
	if (box) {
		hf_walk_memory(&walk, box, t->file.p, t->file.n);
		hf_bytes_add(&t->stream, walk.out.p, walk.out.n);
		hf_walk_free(&walk);
	} else {
		hf_bytes_add(&t->stream, t->file.p, t->file.n);
	}
	t->codec = codec;
	t->key_count = key_count;
	for (size_t i = 0; i < key_count; i++)
		t->keys[i] = keys[i];
	set_up(t);
}

void hf_ixtest_pack(struct hf_ixtest *t, const char *suffix)
{
	hf_bytes_free(&t->file);
	if (strcmp(suffix, ".gz") == 0)
		hf_pack_gzip(&t->file, t->stream.p, t->stream.n, 6, 0);
	else if (strcmp(suffix, ".xz") == 0)
		hf_pack_xz(&t->file, t->stream.p, t->stream.n, 1, 65536);
	else if (strcmp(suffix, ".lzma") == 0)
		hf_pack_lzma(&t->file, t->stream.p, t->stream.n);
	else if (strcmp(suffix, ".zst") == 0)
		hf_pack_zstd(&t->file, t->stream.p, t->stream.n, HF_PACK_CHECKSUM, 0);
	else
		abort();
	set_up(t);
}

void hf_ixtest_limit(struct hf_ixtest *t, uint64_t insns)
{
	t->limits.insns = insns;
}

void hf_ixtest_build(struct hf_ixtest *t)
{
	struct hf_diag diag;
	int err = hf_build_run(&t->build, &diag);

	if (err) {
		char text[200];

		hf_diag_format(&diag, text, sizeof text);
		fprintf(stderr, "build: %s (%s)\n", hf_err_name(err), text);
	}
	CHECK_EQ(err, 0);
}

/* The view of one hart in one go. */
static void encode_all(struct hf_ixtest *t, const struct hf_stream *stream, uint32_t hart, const struct hf_enc_ops *ops,
		       struct hf_sink *sink)
{
	struct hf_event ev[333];
	struct hf_dec *dec;
	struct hf_enc *enc;
	size_t n;

	CHECK_EQ(hf_dec_new(stream, t->plain, hart, &dec), 0);
	CHECK_EQ(hf_enc_new(ops, stream, hart, &t->env, &enc), 0);
	while (hf_dec_next(dec, ev, 333, &n) == 0)
		hf_enc_put(enc, ev, n, sink);
	hf_enc_end(enc, sink);
	hf_enc_free(enc);
	hf_dec_free(dec);
}

struct view_check {
	struct hf_ixtest *t;
	const struct hf_stream *stream;
	struct hf_index *index;
	struct hf_view_table *table;
	const struct hf_view_key *key;
	const uint8_t *bytes; /* what the whole view is */
	uint64_t stride;
	struct hf_maker used; /* made other chunks before */
};

/* Where events of a chunk are one batch, all of its bytes are in the checksum or none; and so is the state before them.
 */
static void check_sum(const struct view_check *v, const struct hf_view_chunk *row, const struct hf_chunk *chunk,
		      const uint8_t *bytes)
{
	const bool sampled = chunk->number % 64 == 0 || !(v->key->ops->flags & HF_ENC_COUNTS);
	struct hf_view_chunk other = *row;

	if (sampled || ((chunk->last || chunk->problems) && chunk->events <= 4096))
		CHECK(hf_view_chunk_is_whole(row));
	else
		CHECK(chunk->last || chunk->problems ? row->checked > 0 : row->checked == 0);
	other.entry[0] ^= 1;
	CHECK(!row->entry_size || !row->checked || !hf_view_chunk_has(&other, bytes));
	other = *row;
	other.checksum ^= 1;
	CHECK(!hf_view_chunk_has(&other, bytes));
	other = *row;
	other.checked = row->size + 1;
	CHECK(!hf_view_chunk_has(&other, bytes));
}

/* What was made is what was promised, and nothing else is. */
static void check_fit(const struct hf_chunk_made *made, struct hf_chunk chunk, struct hf_view_chunk *next)
{
	uint64_t *const digests[] = {&chunk.digest.flow, &chunk.digest.rest};

	CHECK(hf_chunk_made_fits(made, &chunk, next));
	for (size_t i = 0; i < 2; i++) {
		++*digests[i];
		CHECK(!hf_chunk_made_fits(made, &chunk, next));
		--*digests[i];
	}
	if (next && next->entry_size) {
		next->entry[next->entry_size - 1] ^= 1;
		CHECK(!hf_chunk_made_fits(made, &chunk, next));
	}
}

static void init_maker(const struct view_check *v, uint32_t hart, struct hf_maker *maker)
{
	CHECK_EQ(hf_maker_init(maker, v->stream, v->t->plain, hart, v->key, &v->t->env), 0);
}

static void make_chunk(const struct view_check *v, struct hf_maker *maker, const struct hf_chunk *chunk,
		       const struct hf_view_chunk *row, struct hf_chunk_made *ret_made)
{
	struct hf_sink sink;

	CHECK_EQ(hf_sink_init_memory(&sink, 0), 0);
	CHECK_EQ(hf_maker_make(maker, chunk, &v->t->env, row->entry, row->entry_size, &sink, ret_made, NULL), 0);
	CHECK_EQ(hf_sink_total(&sink), row->size);
	CHECK(hf_view_chunk_has(row, sink.start));
	check_sum(v, row, chunk, sink.start);
	CHECK(memcmp(sink.start, v->bytes + row->offset, row->size) == 0);
	hf_sink_fini_memory(&sink);
}

/* Some bytes of a chunk alone, [from, to), with all that tells whether they are right. */
static void check_part(struct view_check *v, const struct hf_chunk *chunk, const struct hf_view_chunk *row,
		       const struct hf_view_chunk *next, uint64_t from, uint64_t to)
{
	uint8_t *bytes = malloc((size_t)(to - from) + 1);
	const struct hf_chunk_part part = {.offset = from, .size = (size_t)(to - from), .to = bytes};
	struct hf_chunk_made made;
	uint64_t size;

	CHECK(bytes);
	bytes[part.size] = 0xa5;
	CHECK_EQ(hf_maker_make_part(&v->used, chunk, &v->t->env, row, &part, &made, &size, NULL), 0);
	CHECK_EQ(size, row->size);
	CHECK(memcmp(bytes, v->bytes + row->offset + from, part.size) == 0);
	CHECK_EQ(bytes[part.size], 0xa5);
	CHECK(hf_chunk_made_fits(&made, chunk, next));
	free(bytes);
}

static void check_parts(struct view_check *v, const struct hf_chunk *chunk, const struct hf_view_chunk *row,
			const struct hf_view_chunk *next)
{
	if (!hf_view_chunk_has_parts(row) || chunk->last)
		return;
	check_part(v, chunk, row, next, 0, row->size);
	check_part(v, chunk, row, next, row->size / 3, row->size / 3 * 2);
	check_part(v, chunk, row, next, row->size - 1, row->size);
	check_part(v, chunk, row, next, 0, 1);
}

/* Of a row that is several chunks: 0, or HF_ERR_MISMATCH. */
static int make_joined(const struct view_check *v, struct hf_maker *maker, uint32_t hart,
		       const struct hf_view_chunk *row)
{
	uint8_t *bytes = malloc((size_t)row->size + HF_SINK_ROOM);
	struct hf_chunk chunk;
	int err;

	CHECK(bytes);
	CHECK_EQ(hf_index_chunk(v->index, hart, row->chunk, &chunk), 0);
	err = hf_maker_make_joined(maker, v->index, &chunk, &v->t->env, row, bytes, NULL);
	if (!err) {
		CHECK_EQ(chunk.number, row->chunk + row->chunks - 1);
		CHECK(!chunk.last && memcmp(bytes, v->bytes + row->offset, row->size) == 0);
	}
	free(bytes);
	return err;
}

static void check_joined(struct view_check *v, uint32_t hart, const struct hf_view_chunk *row)
{
	struct hf_view_chunk other = *row;
	struct hf_maker fresh;

	CHECK(row->chunks <= 8 && hf_view_chunk_is_whole(row) && !(v->key->ops->flags & HF_ENC_COUNTS));
	init_maker(v, hart, &fresh);
	CHECK_EQ(make_joined(v, &fresh, hart, row), 0);
	hf_maker_fini(&fresh);
	other.checksum ^= 1;
	CHECK_EQ(make_joined(v, &v->used, hart, &other), HF_ERR_MISMATCH);
	other = *row;
	other.size++;
	CHECK_EQ(make_joined(v, &v->used, hart, &other), HF_ERR_MISMATCH);
	other = *row;
	other.chunks--;
	CHECK_EQ(make_joined(v, &v->used, hart, &other), HF_ERR_MISMATCH);
	CHECK_EQ(make_joined(v, &v->used, hart, row), 0);
}

/* A row that is one chunk: made again, by a new maker or another, it is the same slice. */
static void check_single(struct view_check *v, uint32_t hart, const struct hf_view_chunk *of)
{
	const uint64_t number = of->number;
	struct hf_view_chunk row = *of, found;
	struct hf_chunk_made made[2];
	struct hf_maker fresh;
	struct hf_chunk chunk;

	CHECK_EQ(hf_index_chunk(v->index, hart, row.chunk, &chunk), 0);
	init_maker(v, hart, &fresh);
	make_chunk(v, &fresh, &chunk, &row, &made[0]);
	hf_maker_fini(&fresh);
	if (!chunk.last)
		CHECK_EQ(hf_view_table_chunk(v->table, hart, number + 1, &found), 0);
	check_parts(v, &chunk, &row, &found);
	make_chunk(v, &v->used, &chunk, &row, &made[1]);
	/* The records have no digest. */
	for (size_t i = 0; hart != HF_HART_RECORDS && i < 2; i++) {
		CHECK(chunk.last || hf_view_table_chunk(v->table, hart, number + 1, &found) == 0);
		check_fit(&made[i], chunk, chunk.last ? NULL : &found);
	}
	CHECK(hf_view_table_serves(v->table, hart, number, row.checksum));
	CHECK(hf_view_table_serves(v->table, hart, number, row.checksum));
	CHECK(!hf_view_table_serves(v->table, hart, number, ~row.checksum));
}

/* One row of a view: every offset of it is found in it. */
static void check_row(struct view_check *v, uint32_t hart, uint64_t number, struct hf_view_chunk *ret_row)
{
	struct hf_view_chunk row, found;

	CHECK_EQ(hf_view_table_chunk(v->table, hart, number, &row), 0);
	CHECK_EQ(row.number, number);
	if (row.chunks > 1)
		check_joined(v, hart, &row);
	else
		check_single(v, hart, &row);
	for (uint64_t o = row.offset; o < row.offset + row.size; o += v->stride) {
		CHECK_EQ(hf_view_table_chunk_of(v->table, hart, o, &found), 0);
		CHECK_EQ(found.number, number);
	}
	*ret_row = row;
}

/* Whether the row takes no more chunks: one with fewer bytes is before the last, which has a row of its own. */
static bool is_full(const struct view_check *v, const struct hf_view_chunk *row)
{
	return v->key->ops->flags & HF_ENC_COUNTS || row->size >= 1024 || row->chunks == 8;
}

static void check_view(const struct view_check *base, uint32_t hart, uint64_t chunks)
{
	const uint64_t rows = hf_view_table_rows(base->table, hart);
	struct view_check v = *base;
	struct hf_view_chunk found;
	struct hf_sink sink;
	uint64_t end = 0, chunk = 0;

	CHECK_EQ(hf_sink_init_memory(&sink, 0), 0);
	encode_all(v.t, v.stream, hart, v.key->ops, &sink);
	v.bytes = sink.start;
	CHECK_EQ(hf_view_table_size(v.table, hart), hf_sink_total(&sink));
	init_maker(&v, hart, &v.used);
	for (uint64_t i = 0; i < rows; i++) {
		struct hf_view_chunk row;

		check_row(&v, hart, i, &row);
		CHECK(row.offset == end && row.chunk == chunk);
		CHECK(i + 1 < rows ? is_full(&v, &row) || i + 2 == rows : row.chunks == 1);
		end = row.offset + row.size;
		chunk += row.chunks;
	}
	CHECK_EQ(chunk, chunks);
	check_row(&v, hart, 0, &found);
	hf_maker_fini(&v.used);
	CHECK_EQ(end, hf_sink_total(&sink));
	CHECK_EQ(hf_view_table_chunk_of(v.table, hart, end, &found), HF_ERR_NOT_FOUND);
	CHECK_EQ(hf_view_table_chunk(v.table, hart, rows, &found), HF_ERR_NOT_FOUND);
	hf_sink_fini_memory(&sink);
}

/* The chunks of a hart against the events as they come: *ret_chunks of them. */
static uint64_t check_hart(struct hf_ixtest *t, const struct hf_stream *stream, struct hf_index *index, uint32_t hart,
			   uint64_t stride, struct hf_index_hart *ret_counts)
{
	struct hf_index_hart counts = {.id = hart};
	struct hf_chunk chunk, found;
	struct hf_dec *dec;
	uint64_t number = 0;

	CHECK_EQ(hf_dec_new(stream, t->plain, hart, &dec), 0);
	do {
		uint64_t insns = 0;

		CHECK_EQ(hf_index_chunk(index, hart, number, &chunk), 0);
		CHECK_EQ(chunk.number, number);
		CHECK_EQ(chunk.ordinal, counts.insns);
		CHECK(chunk.insns <= t->limits.insns && chunk.events <= t->limits.events);
		for (uint64_t i = 0; i < chunk.events; i++) {
			struct hf_event ev;
			size_t n;

			CHECK_EQ(hf_dec_next(dec, &ev, 1, &n), 0);
			if (ev.kind == HF_EVENT_INSN && insns++ == 0)
				CHECK_EQ(chunk.pc, ev.insn.pc);
			counts.attempts += ev.kind == HF_EVENT_ATTEMPT;
		}
		CHECK_EQ(insns, chunk.insns);
		for (uint64_t o = chunk.ordinal; o < chunk.ordinal + chunk.insns; o += stride) {
			CHECK_EQ(hf_index_chunk_of(index, hart, o, &found), 0);
			CHECK_EQ(found.number, number);
			CHECK_EQ(found.events, chunk.events);
		}
		counts.insns += insns;
		counts.events += chunk.events;
		number++;
	} while (!chunk.last);
	CHECK_EQ(hf_index_chunk(index, hart, number, &chunk), HF_ERR_NOT_FOUND);
	CHECK_EQ(hf_index_chunk_of(index, hart, counts.insns, &chunk), HF_ERR_NOT_FOUND);
	hf_dec_free(dec);
	counts.chunks = number;
	*ret_counts = counts;
	return number;
}

static struct hf_walk_bytes saved(const struct hf_image *image)
{
	struct hf_walk_bytes all = {0};
	struct hf_sink sink;

	CHECK_EQ(hf_sink_init_memory(&sink, 0), 0);
	hf_image_save(image, &sink);
	CHECK_EQ(sink.err, 0);
	hf_bytes_add(&all, sink.start, (size_t)hf_sink_total(&sink));
	hf_sink_fini_memory(&sink);
	return all;
}

/* The code of a hart against that of the events as they come. */
static void check_image(struct hf_ixtest *t, const struct hf_stream *stream, struct hf_index *index, uint32_t hart)
{
	struct hf_image *want, *got;
	struct hf_walk_bytes a, b;
	struct hf_event ev[77];
	struct hf_dec *dec;
	size_t n;

	CHECK_EQ(hf_dec_new(stream, t->plain, hart, &dec), 0);
	CHECK_EQ(hf_image_new(&want), 0);
	while (hf_dec_next(dec, ev, 77, &n) == 0)
		CHECK_EQ(hf_image_put(want, ev, n), 0);
	hf_dec_free(dec);
	CHECK_EQ(hf_index_image(index, hart, &got), 0);
	a = saved(want);
	b = saved(got);
	CHECK_EQ(a.n, b.n);
	CHECK(memcmp(a.p, b.p, a.n) == 0);
	hf_bytes_free(&a);
	hf_bytes_free(&b);
	hf_image_free(want);
	hf_image_free(got);
}

static void check_key(struct view_check *v, const struct hf_index_hart *harts, size_t hart_count)
{
	struct hf_ixtest *t = v->t;
	const bool records = v->key->ops == &hf_enc_records;
	struct hf_index_hart counts;
	int err = hf_view_table_open(&t->at, &t->identity, v->key, &v->table);

	if ((!records && hf_enc_refusal(v->key->ops, &v->stream->info)) || (records && !t->codec->records) ||
	    (hart_count == 1 && v->key->ops == t->codec->original && (v->stream->info.flags & HF_STREAM_ORIGINAL)) ||
	    (!hart_count && !records)) {
		CHECK_EQ(err, HF_ERR_NOT_FOUND);
		return;
	}
	CHECK_EQ(err, 0);
	CHECK(hf_view_table_fits(v->table, v->index));
	if (records)
		check_view(v, HF_HART_RECORDS, check_hart(t, v->stream, v->index, HF_HART_RECORDS, v->stride, &counts));
	for (size_t i = 0; i < hart_count && !records; i++)
		check_view(v, harts[i].id, harts[i].chunks);
	hf_view_table_close(v->table);
}

void hf_ixtest_check_some(struct hf_ixtest *t, uint64_t stride)
{
	const struct hf_index_hart *harts;
	struct view_check v = {.t = t, .stride = stride};
	struct hf_stream *stream;
	size_t n;

	CHECK_EQ(hf_stream_open(t->codec, t->plain, NULL, &stream, NULL), 0);
	CHECK_EQ(hf_index_open(&t->at, &t->identity, &v.index), 0);
	CHECK(hf_index_codec(v.index) == t->codec);
	CHECK_EQ(hf_index_stream_size(v.index), t->stream.n);
	v.stream = stream;
	n = hf_index_harts(v.index, &harts);
	for (size_t i = 0; i < n; i++) {
		struct hf_index_hart counts;

		check_hart(t, stream, v.index, harts[i].id, stride, &counts);
		CHECK_EQ(counts.insns, harts[i].insns);
		CHECK_EQ(counts.attempts, harts[i].attempts);
		CHECK_EQ(counts.events, harts[i].events);
		CHECK_EQ(counts.chunks, harts[i].chunks);
		CHECK(i == 0 || harts[i - 1].id < harts[i].id);
		check_image(t, stream, v.index, harts[i].id);
	}
	for (size_t i = 0; i < t->key_count; i++) {
		v.key = &t->keys[i];
		check_key(&v, harts, n);
	}
	hf_index_close(v.index);
	hf_stream_close(stream);
}

/* ---- all rows as text ---- */

static void dump_row(struct hf_walk_bytes *to, sqlite3_stmt *stmt)
{
	for (int i = 0; i < sqlite3_column_count(stmt); i++) {
		const uint8_t *p = sqlite3_column_blob(stmt, i);
		int n = sqlite3_column_bytes(stmt, i);
		char head[32];

		snprintf(head, sizeof head, " %d:", sqlite3_column_type(stmt, i));
		hf_bytes_add(to, head, strlen(head));
		if (n)
			hf_bytes_add(to, p, (size_t)n);
	}
	hf_bytes_add(to, "\n", 1);
}

static void dump_table(struct hf_walk_bytes *to, sqlite3 *db, const char *table)
{
	sqlite3_stmt *stmt;
	char sql[80];

	snprintf(sql, sizeof sql, "SELECT * FROM %s ORDER BY 1", table);
	hf_bytes_add(to, table, strlen(table));
	hf_bytes_add(to, "\n", 1);
	CHECK_EQ(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
	while (sqlite3_step(stmt) == SQLITE_ROW)
		dump_row(to, stmt);
	sqlite3_finalize(stmt);
}

static void dump_file(struct hf_ixtest *t, struct hf_walk_bytes *to, const char *name)
{
	char path[400];
	sqlite3 *db;
	sqlite3_stmt *stmt;

	snprintf(path, sizeof path, "%s/%s", t->dir, name);
	hf_bytes_add(to, name, strlen(name));
	CHECK_EQ(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	CHECK_EQ(sqlite3_prepare_v2(db, "SELECT name FROM sqlite_schema ORDER BY name", -1, &stmt, NULL), SQLITE_OK);
	while (sqlite3_step(stmt) == SQLITE_ROW)
		dump_table(to, db, (const char *)sqlite3_column_text(stmt, 0));
	sqlite3_finalize(stmt);
	sqlite3_close(db);
}

struct hf_walk_bytes hf_ixtest_dump(struct hf_ixtest *t, const char *part)
{
	struct dirent **list;
	struct hf_walk_bytes all = {0};
	int n = scandir(t->dir, &list, NULL, alphasort);

	CHECK(n >= 0);
	for (int i = 0; i < n; i++) {
		if (*list[i]->d_name != '.' && strstr(list[i]->d_name, part))
			dump_file(t, &all, list[i]->d_name);
		free(list[i]);
	}
	free(list);
	return all;
}
