/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.txt of any bytes: every line is an offset greater than the one before, a record's name and clean text, or it
 * is the last one and says why; thin reads, small batches and a decoder that takes over anywhere give the same text;
 * and no state blob does harm.
 *
 * Input: flags, a place to change decoders, and a stream. Flags: 1, a header for instructions is put before it; 2, one
 * for transactions; 4, its last 12 bytes are a state blob.
 */
#include "codecs/base/utf8.h"
#include "codecs/stf/dump.h"
#include "tests/lib/fuzz.h"
#include "tests/lib/sliver.h"

extern const struct hf_codec hf_codec_stf;
#define BLOB 12

static const char instructions[] = "\1STF\2\1\0\0\0\6\0\0\0\4\1\0\5\2\0\6\6\1\0\0\0\0\7\0\0\10\0\0\0\0\0"
				   "\11\0\0\0\0\0\0\0\0\12\0\1\0\0\23";
static const char transactions[] = "\1STF\2\1\0\0\0\6\0\0\0\6\6\1\0\0\0\0\7\0\0\20\0\0\0\0\0\13\1\14\1\3\0bus\23";

struct text {
	uint8_t *p;
	size_t n;
};

static void add(struct text *t, const struct hf_stream *stream, const struct hf_event *ev, size_t n)
{
	struct hf_enc *enc;
	struct hf_sink sink;

	for (size_t i = 0; i < n; i++)
		MUST(ev[i].kind == HF_EVENT_RECORD ||
		     (ev[i].kind == HF_EVENT_DATA && ev[i].used >= 1 && ev[i].used <= sizeof ev[i].data.bytes));
	MUST(hf_enc_new(&hf_enc_records, stream, HF_HART_RECORDS, NULL, &enc) == 0);
	MUST(hf_sink_init_memory(&sink, 4096) == 0);
	hf_enc_put(enc, ev, n, &sink);
	hf_enc_free(enc);
	t->p = realloc(t->p, t->n + hf_sink_total(&sink) + 1);
	MUST(t->p && !sink.err);
	memcpy(t->p + t->n, sink.start, hf_sink_total(&sink));
	t->n += hf_sink_total(&sink);
	hf_sink_fini_memory(&sink);
}

/* At most events of them; then save, into blob. Returns the text. */
static struct text run(struct hf_dec *dec, size_t batch, uint64_t events)
{
	struct hf_event ev[64];
	struct text t = {0};
	int err = 0;

	while (events && !err) {
		size_t n;

		err = hf_dec_next(dec, ev, batch < events ? batch : (size_t)events, &n);
		MUST(err ? n == 0 : n >= 1 && n <= batch);
		add(&t, dec->stream, ev, n);
		events -= n;
	}
	MUST(err >= 0);
	return t;
}

static void check_line(const uint8_t *p, const uint8_t *end, const uint8_t *all_end, int64_t *offset)
{
	uint64_t here = 0;

	if (*p == '#') {
		MUST(end + 1 == all_end);
		MUST(end - p > 10 && memcmp(p, "# offset ", 9) == 0);
		return;
	}
	MUST(*p >= '0' && *p <= '9');
	while (*p >= '0' && *p <= '9')
		here = 10 * here + *p++ - '0';
	MUST(*p == ' ' && (int64_t)here > *offset);
	*offset = (int64_t)here;
	MUST(p[1] >= 'A' && p[1] <= 'Z');
	while (p < end) {
		size_t len = 1;

		if (*p >= 0x7f) {
			len = hf_utf8_length(p, (size_t)(end - p));
			MUST(len);
		}
		MUST(*p >= ' ');
		p += len;
	}
}

static void check_text(const struct text *t)
{
	const uint8_t *p = t->p, *all_end = t->p + t->n;
	int64_t offset = -1;

	while (p < all_end) {
		const uint8_t *end = memchr(p, '\n', (size_t)(all_end - p));

		MUST(end);
		check_line(p, end, all_end, &offset);
		p = end + 1;
	}
}

static void check_takeover(const struct hf_stream *stream, struct hf_src *src, const struct text *all, uint64_t place)
{
	struct hf_dec *first, *second;
	uint8_t blob[HF_STATE_MAX];
	struct text before, after;
	uint64_t discard;
	size_t n;

	MUST(hf_dec_new(stream, src, HF_HART_RECORDS, &first) == 0);
	MUST(hf_dec_new(stream, src, HF_HART_RECORDS, &second) == 0);
	before = run(first, 64, place);
	n = hf_dec_save(first, blob, &discard);
	MUST(n < 16);
	MUST(hf_dec_load(second, blob, n, discard) == 0);
	after = run(second, 64, UINT64_MAX);
	MUST(before.n + after.n == all->n);
	MUST(!before.n || memcmp(before.p, all->p, before.n) == 0);
	MUST(!after.n || memcmp(after.p, all->p + before.n, after.n) == 0);
	free(before.p);
	free(after.p);
	hf_dec_free(first);
	hf_dec_free(second);
}

static void try_blob(const struct hf_stream *stream, struct hf_src *src, const uint8_t *blob)
{
	struct hf_event ev[64];
	struct hf_dec *dec;
	size_t n, events = 0;

	MUST(hf_dec_new(stream, src, HF_HART_RECORDS, &dec) == 0);
	for (size_t size = 1; size <= BLOB; size++) {
		if (hf_dec_load(dec, blob, size, blob[BLOB - 1]))
			continue;
		while (hf_dec_next(dec, ev, 64, &n) == 0 && events < 100000)
			events += n;
	}
	hf_dec_free(dec);
}

static void check_stream(const struct hf_stream *stream, struct hf_src *src, const uint8_t *data, const uint8_t *blob)
{
	struct text all, again;
	struct hf_src *thin;
	struct hf_dec *dec;

	MUST(hf_dec_new(stream, src, HF_HART_RECORDS, &dec) == 0);
	all = run(dec, 64, UINT64_MAX);
	hf_dec_free(dec);
	check_text(&all);
	MUST(hf_sliver_new(src, 1 + data[1] % 7, &thin) == 0);
	MUST(hf_dec_new(stream, thin, HF_HART_RECORDS, &dec) == 0);
	again = run(dec, 1 + data[1] % 5, UINT64_MAX);
	MUST(again.n == all.n && memcmp(again.p, all.p, all.n) == 0);
	hf_dec_free(dec);
	hf_src_free(thin);
	free(again.p);
	check_takeover(stream, src, &all, data[1]);
	if (blob)
		try_blob(stream, src, blob);
	free(all.p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *blob = NULL;
	struct hf_stream *stream;
	struct hf_diag diag;
	struct hf_src *src;
	const char *header = "";
	size_t head = 0;
	uint8_t *bytes;

	if (size < 2 + BLOB)
		return 0;
	if (data[0] & 1) {
		header = instructions;
		head = sizeof instructions - 1;
	} else if (data[0] & 2) {
		header = transactions;
		head = sizeof transactions - 1;
	}
	if (data[0] & 4) {
		blob = data + size - BLOB;
		size -= BLOB;
	}
	bytes = malloc(head + size - 2 + 1);
	MUST(bytes);
	memcpy(bytes, header, head);
	memcpy(bytes + head, data + 2, size - 2);
	MUST(hf_src_memory_new(bytes, head + size - 2, &src) == 0);
	if (hf_stream_open(&hf_codec_stf, src, NULL, &stream, &diag) == 0) {
		check_stream(stream, src, data, blob);
		hf_stream_close(stream);
	} else {
		MUST(!head);
	}
	hf_src_free(src);
	free(bytes);
	return 0;
}
