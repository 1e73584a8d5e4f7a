/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/stftest.h"
#include "codecs/views.h"

#include <unistd.h>

extern const struct hf_codec hf_codec_stf;

struct hf_stf_layout hf_stft_layout = {.vector_words = 4, .protocol = HF_STF_PROTOCOL_TILELINK, .event64 = true};

const char *hf_stft_corpus(void)
{
	const char *dir = getenv("HARTFS_CORPUS");

	if (!dir || !*dir) {
		printf("SKIP: HARTFS_CORPUS is not set\n");
		exit(77);
	}
	return dir;
}

struct hf_walk_bytes hf_stft_load(const char *name)
{
	struct hf_walk_bytes file = hf_bytes_load(hf_stft_corpus(), name);
	const struct hf_box *box = hf_box_probe(file.p, file.n < HF_PROBE_SIZE ? file.n : HF_PROBE_SIZE, file.n);
	struct hf_walk w;

	if (!box)
		return file;
	hf_walk_memory(&w, box, file.p, file.n);
	hf_bytes_free(&file);
	hf_bytes_add(&file, w.out.p, w.out.n);
	hf_walk_free(&w);
	return file;
}

struct hf_walk_bytes hf_stft_text(const char *name)
{
	struct hf_walk_bytes text;
	char path[4096];

	snprintf(path, sizeof path, "%s/%s", hf_stft_corpus(), name);
	if (access(path, R_OK) == 0) {
		text = hf_stft_load(name);
	} else {
		snprintf(path, sizeof path, "%s.xz", name);
		text = hf_stft_load(path);
	}
	hf_bytes_add(&text, "", 1);
	return text;
}

void hf_stft_put(struct hf_walk_bytes *to, const struct hf_stf_layout *layout, const struct hf_stf_record *rec)
{
	uint8_t buf[64];

	hf_bytes_add(to, buf, hf_stf_record_emit(layout, rec, buf));
}

void hf_stft_header(struct hf_walk_bytes *to, uint64_t features, uint64_t force_pc)
{
	PUT(to, IDENTIFIER);
	PUT(to, VERSION, .major = 1, .minor = 6);
	PUT(to, ISA, .code = HF_STF_ISA_RISCV);
	PUT(to, INST_IEM, .code = HF_STF_IEM_RV64);
	PUT(to, TRACE_INFO, .code = 1);
	PUT(to, TRACE_INFO_FEATURE, .value = features);
	PUT(to, FORCE_PC, .address = force_pc);
	PUT(to, VLEN_CONFIG, .code = hf_stft_layout.vector_words * 64);
	PUT(to, END_HEADER);
}

void hf_stft_event(struct hf_walk_bytes *to, uint64_t id, unsigned count, const uint64_t *words)
{
	PUT(to, EVENT, .value = id, .count = count);
	hf_bytes_add(to, words, 8 * count);
}

void hf_stft_mode(struct hf_walk_bytes *to, uint64_t mode)
{
	hf_stft_event(to, HF_STF_EVENT_MODE_CHANGE, 1, &mode);
}

void hf_stft_open(struct hf_stft *t, const struct hf_walk_bytes *bytes)
{
	struct hf_diag diag;

	CHECK_EQ(hf_src_memory_new(bytes->p, bytes->n, &t->src), 0);
	CHECK_EQ(hf_stream_open(&hf_codec_stf, t->src, NULL, &t->stream, &diag), 0);
}

void hf_stft_close(struct hf_stft *t)
{
	hf_stream_close(t->stream);
	hf_src_free(t->src);
}

void hf_events_add(struct hf_events *list, const struct hf_event *ev, size_t n)
{
	if (list->n + n > list->cap) {
		list->cap = 2 * list->cap + n;
		list->ev = realloc(list->ev, list->cap * sizeof *ev);
		CHECK(list->ev);
	}
	if (n)
		memcpy(list->ev + list->n, ev, n * sizeof *ev);
	list->n += n;
}

void hf_events_free(struct hf_events *list)
{
	free(list->ev);
	*list = (struct hf_events){0};
}

struct hf_events hf_stft_events(const struct hf_stream *stream, struct hf_src *src, uint32_t hart, size_t batch)
{
	struct hf_events list = {0};
	struct hf_event ev[512];
	struct hf_dec *dec;
	size_t n;
	int err;

	CHECK(batch <= 512);
	CHECK_EQ(hf_dec_new(stream, src, hart, &dec), 0);
	while ((err = hf_dec_next(dec, ev, batch, &n)) == 0)
		hf_events_add(&list, ev, n);
	CHECK_EQ(err, HF_NOTE_END);
	hf_dec_free(dec);
	return list;
}

struct hf_events hf_stft_decode(const struct hf_walk_bytes *bytes, uint32_t hart)
{
	struct hf_events list;
	struct hf_stft t;

	hf_stft_open(&t, bytes);
	list = hf_stft_events(t.stream, t.src, hart, 256);
	hf_stft_close(&t);
	return list;
}

static void show(const char *title, const struct hf_events *list, size_t i)
{
	const struct hf_event *ev = &list->ev[i];

	if (i >= list->n)
		fprintf(stderr, "%s: %zu: end\n", title, i);
	else
		fprintf(stderr,
			"%s: %zu: kind %u flags %x small %u size %u: %016" PRIx64 " %016" PRIx64 " %016" PRIx64 "\n",
			title, i, ev->kind, ev->flags, ev->any, ev->size, ev->word[0], ev->word[1], ev->word[2]);
}

void hf_events_check_same(const struct hf_events *a, const struct hf_events *b, const char *what)
{
	size_t n = a->n < b->n ? a->n : b->n, i = 0;

	while (i < n && memcmp(&a->ev[i], &b->ev[i], sizeof a->ev[i]) == 0)
		i++;
	if (i == a->n && i == b->n)
		return;
	fprintf(stderr, "%s: events differ\n", what);
	for (size_t k = i < 3 ? 0 : i - 3; k < i + 3; k++) {
		show("  a", a, k);
		show("  b", b, k);
	}
	exit(1);
}

struct hf_walk_bytes hf_stft_encode(const struct hf_stream *stream, uint32_t hart, const struct hf_events *list)
{
	struct hf_walk_bytes bytes = {0};
	struct hf_sink sink;
	struct hf_enc *enc;

	CHECK_EQ(hf_sink_init_memory(&sink, 1 << 16), 0);
	CHECK_EQ(hf_enc_new(&hf_view_stf, stream, hart, NULL, &enc), 0);
	hf_enc_put(enc, list->ev, list->n, &sink);
	hf_enc_end(enc, &sink);
	CHECK_EQ(sink.err, 0);
	hf_enc_free(enc);
	hf_bytes_add(&bytes, sink.start, (size_t)(sink.p - sink.start));
	hf_sink_fini_memory(&sink);
	return bytes;
}

void hf_events_forget_places(struct hf_events *list)
{
	for (size_t i = 0; i < list->n; i++) {
		struct hf_event *ev = &list->ev[i];

		if (ev->kind == HF_EVENT_ATTEMPT)
			ev->insn.target = 0;
		else if (ev->kind == HF_EVENT_TEXT)
			ev->text.offset = 0;
		else if (ev->kind == HF_EVENT_DOUBT || ev->kind == HF_EVENT_NOTE)
			ev->loss.offset = 0;
	}
}
