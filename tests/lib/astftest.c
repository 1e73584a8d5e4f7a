/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/astftest.h"
#include "codecs/views.h"
#include "tests/lib/recordtext.h"

static const struct {
	uint8_t type;
	uint8_t pad;
	uint16_t field;
	const char *name;
} fields[] = {
#define HF_ASTF_FIELD(record, name, low, width) {HF_ASTF_##record, 0, HF_ASTF_##record##_##name, #name},
#include "codecs/astf/records.def"
#undef HF_ASTF_FIELD
};

static int type_of(const char *name)
{
	for (int type = 0; type < 256; type++)
		if (hf_astf_name((unsigned)type) && strcmp(hf_astf_name((unsigned)type), name) == 0)
			return type;
	return -1;
}

static void add_record(struct hf_walk_bytes *to, const struct hf_astf_record *rec)
{
	uint8_t p[HF_ASTF_SIZE];

	hf_astf_store(rec, p);
	hf_bytes_add(to, p, sizeof p);
}

static void set_field(struct hf_astf_record *rec, char *word)
{
	char *value = strchr(word, '=');

	CHECK(value);
	*value++ = 0;
	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
		if (fields[i].type == hf_astf_type(rec) && strcmp(fields[i].name, word) == 0) {
			hf_astf_put(rec, fields[i].field, strtoull(value, NULL, 16));
			return;
		}
	fprintf(stderr, "no field %s\n", word);
	exit(1);
}

static void add_string(struct hf_walk_bytes *to, const char *text)
{
	struct hf_astf_record rec = {{HF_ASTF_STRING}};
	uint32_t size = (uint32_t)strlen(text), told = size;
	uint8_t p[HF_ASTF_SIZE];

	if (sscanf(text, "size=%x", &told) == 1) {
		text = strchr(text, ' ') + 1;
		size = (uint32_t)strlen(text);
	}
	HF_ASTF_PUT(&rec, STRING, size, told);
	hf_astf_store(&rec, p);
	memcpy(p + 4, text, size < HF_ASTF_STRING_FIRST ? size : HF_ASTF_STRING_FIRST);
	hf_bytes_add(to, p, sizeof p);
	for (uint32_t at = HF_ASTF_STRING_FIRST; at < size; at += HF_ASTF_STRING_NEXT) {
		memset(p, 0, sizeof p);
		p[0] = HF_ASTF_STRING_CONT;
		memcpy(p + 1, text + at, size - at < HF_ASTF_STRING_NEXT ? size - at : HF_ASTF_STRING_NEXT);
		hf_bytes_add(to, p, sizeof p);
	}
}

static void add_line(struct hf_walk_bytes *to, char *line)
{
	char *rest = strchr(line, ' '), *save = NULL;
	struct hf_astf_record rec = {{0}};
	int type;

	if (rest)
		*rest++ = 0;
	type = type_of(line);
	if (strcmp(line, "STRING") == 0) {
		add_string(to, rest ? rest : "");
		return;
	}
	rec.word[0] = type < 0 ? 0 : (uint64_t)type;
	for (char *word = rest ? strtok_r(rest, " ", &save) : NULL; word; word = strtok_r(NULL, " ", &save)) {
		uint8_t byte = (uint8_t)strtoul(word, NULL, 16);

		if (type < 0)
			hf_bytes_add(to, &byte, 1);
		else
			set_field(&rec, word);
	}
	if (type < 0) {
		CHECK_STR(line, "BYTES");
		return;
	}
	if (type == HF_ASTF_HEADER)
		memcpy(rec.word, "ASTF", 4);
	add_record(to, &rec);
}

struct hf_walk_bytes hf_astft_build(const char *text)
{
	struct hf_walk_bytes to = {0};
	char *copy = strdup(text), *save = NULL;

	CHECK(copy);
	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (*line != '#')
			add_line(&to, line);
	free(copy);
	return to;
}

void hf_astft_open(struct hf_stft *t, const struct hf_walk_bytes *bytes)
{
	struct hf_diag diag;

	CHECK_EQ(hf_src_memory_new(bytes->p, bytes->n, &t->src), 0);
	CHECK_EQ(hf_stream_open(&hf_codec_astf, t->src, NULL, &t->stream, &diag), 0);
}

struct hf_events hf_astft_decode(const struct hf_walk_bytes *bytes)
{
	struct hf_events list;
	struct hf_stft t;

	hf_astft_open(&t, bytes);
	list = hf_stft_events(t.stream, t.src, 0, 256);
	hf_stft_close(&t);
	return list;
}

struct hf_walk_bytes hf_astft_encode(const struct hf_stream *stream, const struct hf_events *list)
{
	struct hf_walk_bytes bytes = {0};
	struct hf_sink sink;
	struct hf_enc *enc;

	CHECK_EQ(hf_sink_init_memory(&sink, 1 << 16), 0);
	CHECK_EQ(hf_enc_new(&hf_view_astf, stream, 0, NULL, &enc), 0);
	hf_enc_put(enc, list->ev, list->n, &sink);
	hf_enc_end(enc, &sink);
	CHECK_EQ(sink.err, 0);
	hf_enc_free(enc);
	hf_bytes_add(&bytes, sink.start, (size_t)(sink.p - sink.start));
	hf_sink_fini_memory(&sink);
	return bytes;
}

struct hf_walk_bytes hf_astft_dump(const struct hf_walk_bytes *bytes)
{
	struct hf_walk_bytes text = {0};
	struct hf_events list;
	struct hf_stft t;

	hf_astft_open(&t, bytes);
	list = hf_stft_events(t.stream, t.src, HF_HART_RECORDS, 7);
	hf_bytes_add_records(&text, t.stream, list.ev, list.n);
	hf_bytes_add(&text, "", 1);
	hf_events_free(&list);
	hf_stft_close(&t);
	return text;
}

/* From the place that a decoder of the first n events saves: the rest. */
static void check_from(const struct hf_stft *t, uint32_t hart, const struct hf_events *all, size_t n)
{
	struct hf_dec *first, *second;
	uint8_t blob[HF_STATE_MAX];
	struct hf_event ev[64];
	size_t got, at = 0, size;
	uint64_t discard;

	CHECK_EQ(hf_dec_new(t->stream, t->src, hart, &first), 0);
	CHECK_EQ(hf_dec_new(t->stream, t->src, hart, &second), 0);
	while (at < n && hf_dec_next(first, ev, n - at < 64 ? n - at : 64, &got) == 0)
		at += got;
	CHECK_EQ(at, n);
	size = hf_dec_save(first, blob, &discard);
	CHECK_EQ(hf_dec_load(second, blob, size, discard), 0);
	while (hf_dec_next(second, ev, 64, &got) == 0) {
		CHECK(at + got <= all->n);
		CHECK(memcmp(ev, all->ev + at, got * sizeof *ev) == 0);
		at += got;
	}
	CHECK_EQ(at, all->n);
	CHECK_EQ(second->err, HF_NOTE_END);
	hf_dec_free(first);
	hf_dec_free(second);
}

static void check_encoder(const struct hf_stft *t, const struct hf_events *all)
{
	const struct hf_walk_bytes whole = hf_astft_encode(t->stream, all);
	uint8_t blob[HF_STATE_MAX];
	struct hf_walk_bytes out = {0};
	struct hf_sink sink;
	struct hf_enc *enc;

	CHECK_EQ(hf_sink_init_memory(&sink, 1 << 16), 0);
	CHECK_EQ(hf_enc_new(&hf_view_astf, t->stream, 0, NULL, &enc), 0);
	for (size_t i = 0; i < all->n; i++) { /* a new encoder for each event */
		size_t n = hf_enc_save(enc, blob);

		hf_enc_free(enc);
		CHECK_EQ(hf_enc_new(&hf_view_astf, t->stream, 0, NULL, &enc), 0);
		CHECK_EQ(hf_enc_load(enc, blob, n), 0);
		hf_enc_put(enc, all->ev + i, 1, &sink);
	}
	hf_enc_end(enc, &sink);
	hf_enc_free(enc);
	hf_bytes_add(&out, sink.start, (size_t)(sink.p - sink.start));
	CHECK_EQ(out.n, whole.n);
	CHECK(memcmp(out.p, whole.p, whole.n) == 0);
	hf_sink_fini_memory(&sink);
	free(whole.p);
	hf_bytes_free(&out);
}

void hf_astft_check_seek(const struct hf_walk_bytes *bytes)
{
	static const uint32_t harts[2] = {0, HF_HART_RECORDS};
	struct hf_stft t;

	hf_astft_open(&t, bytes);
	for (unsigned h = 0; h < 2; h++) {
		struct hf_events all = hf_stft_events(t.stream, t.src, harts[h], 256);
		struct hf_events one = hf_stft_events(t.stream, t.src, harts[h], 1);

		hf_events_check_same(&all, &one, "batches of 1");
		for (size_t n = 0; n <= all.n; n++)
			check_from(&t, harts[h], &all, n);
		if (h == 0)
			check_encoder(&t, &all);
		hf_events_free(&all);
		hf_events_free(&one);
	}
	hf_stft_close(&t);
}

size_t hf_astft_count(const struct hf_events *list, enum hf_event_kind kind, int code)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++)
		n += list->ev[i].kind == kind && (!code || list->ev[i].code == (uint32_t)-code);
	return n;
}
