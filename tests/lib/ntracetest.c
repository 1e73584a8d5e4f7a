/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/views.h"
#include "tests/lib/ntracetest.h"

void hf_ntt_init(struct hf_ntt *t, const char *params)
{
	*t = (struct hf_ntt){.setup = {.format = "ntrace", .values = t->values, .images = &t->image, .image_count = 1}};
	t->image = (struct hf_setup_image){
		.hart = HF_SETUP_ANY, .spaces = HF_MEMORY_ANY, .context = HF_SETUP_NO_CONTEXT,
	};
	for (const char *p = params; p && *p; p += *p == ',') {
		const size_t n = strcspn(p, ","), i = t->setup.value_count++;
		char *equals;

		CHECK(i < 16 && n < sizeof t->text[i]);
		memcpy(t->text[i], p, n);
		equals = strchr(t->text[i], '=');
		CHECK(equals);
		*equals = '\0';
		t->values[i] = (struct hf_setup_value){
			.hart = HF_SETUP_ANY, .key = t->text[i], .value = equals + 1, .file = "test", .line = 1,
		};
		p += n;
	}
}

void hf_ntt_add_elf(struct hf_ntt *t, const struct hf_walk_bytes *elf)
{
	struct hf_diag diag;
	struct hf_src *src;

	CHECK_EQ(hf_src_memory_new(elf->p, elf->n, &src), 0);
	CHECK_EQ(hf_program_add_elf(&t->image.program, src, 0, &diag), 0);
	hf_src_free(src);
}

void hf_ntt_add_code(struct hf_ntt *t, uint64_t address, const void *code, size_t n)
{
	struct hf_diag diag;
	struct hf_src *src;

	CHECK_EQ(hf_src_memory_new(code, n, &src), 0);
	CHECK_EQ(hf_program_add_raw(&t->image.program, src, address, &diag), 0);
	hf_src_free(src);
}

void hf_ntt_fini(struct hf_ntt *t)
{
	hf_program_fini(&t->image.program);
}

static void count(struct hf_ntt_events *events, const struct hf_event *ev)
{
	events->insns += ev->kind == HF_EVENT_INSN;
	if (ev->kind != HF_EVENT_GAP && ev->kind != HF_EVENT_DOUBT)
		return;
	if (events->losses++ == 0)
		events->first_loss = events->insns;
}

struct hf_ntt_events hf_ntt_decode(const struct hf_ntt *t, const uint8_t *bytes, size_t n, uint32_t hart, size_t max)
{
	struct hf_ntt_events events = {.first_loss = SIZE_MAX};
	struct hf_stream *stream;
	struct hf_diag diag;
	struct hf_src *src;
	struct hf_dec *dec;

	CHECK_EQ(hf_src_memory_new(bytes, n, &src), 0);
	CHECK_EQ(hf_stream_open(hf_codec_by_name("ntrace"), src, &t->setup, &stream, &diag), 0);
	CHECK_EQ(hf_dec_new(stream, src, hart, &dec), 0);
	while (!events.err && (!max || events.n < max)) {
		size_t got;

		if (events.cap - events.n < 512) {
			events.cap = 2 * events.cap + 1024;
			events.ev = realloc(events.ev, events.cap * sizeof *events.ev);
			CHECK(events.ev);
		}
		events.err = hf_dec_next(dec, events.ev + events.n, 512, &got);
		for (size_t i = 0; i < got; i++)
			count(&events, &events.ev[events.n + i]);
		events.n += got;
	}
	hf_dec_free(dec);
	hf_stream_close(stream);
	hf_src_free(src);
	return events;
}

void hf_ntt_events_free(struct hf_ntt_events *events)
{
	free(events->ev);
	*events = (struct hf_ntt_events){0};
}

/* A decoder in that state gives the events from at on, as many as matter. */
static void check_enter(const struct hf_stream *stream, struct hf_src *src, uint32_t hart,
			const struct hf_ntt_events *all, size_t at, const uint8_t *blob, size_t size, uint64_t discard)
{
	struct hf_event ev[64];
	struct hf_dec *dec;
	size_t n;

	CHECK_EQ(hf_dec_new(stream, src, hart, &dec), 0);
	CHECK_EQ(hf_dec_load(dec, blob, size, discard), 0);
	for (size_t to = at; to < all->n && to < at + 400; to += n) {
		CHECK_EQ(hf_dec_next(dec, ev, 1 + at % 64, &n), 0);
		CHECK(memcmp(ev, all->ev + to, n * sizeof *ev) == 0);
	}
	hf_dec_free(dec);
}

void hf_ntt_check_cuts(const struct hf_ntt *t, const uint8_t *bytes, size_t n, uint32_t hart)
{
	struct hf_ntt_events all = hf_ntt_decode(t, bytes, n, hart, 0);
	uint8_t blob[HF_STATE_MAX];
	struct hf_stream *stream;
	struct hf_diag diag;
	struct hf_event ev;
	struct hf_src *src;
	struct hf_dec *dec;
	uint64_t discard;

	CHECK_EQ(hf_src_memory_new(bytes, n, &src), 0);
	CHECK_EQ(hf_stream_open(hf_codec_by_name("ntrace"), src, &t->setup, &stream, &diag), 0);
	CHECK_EQ(hf_dec_new(stream, src, hart, &dec), 0);
	for (size_t i = 0; i < all.n; i++) {
		const size_t size = hf_dec_save(dec, blob, &discard);
		size_t got;

		check_enter(stream, src, hart, &all, i, blob, size, discard);
		CHECK_EQ(hf_dec_next(dec, &ev, 1, &got), 0);
		CHECK(memcmp(&ev, &all.ev[i], sizeof ev) == 0);
	}
	hf_dec_free(dec);
	hf_stream_close(stream);
	hf_src_free(src);
	hf_ntt_events_free(&all);
}

/* The lines of [parameters] with commas between them. */
static void read_params(const struct hf_side *side, char *ret_params, size_t size)
{
	struct hf_sink sink;
	char *to = ret_params;

	CHECK_EQ(hf_sink_init_memory(&sink, 1 << 12), 0);
	hf_view_ntrace.side[0].write(side, &sink);
	hf_sink_write(&sink, "", 1);
	CHECK_EQ(sink.err, 0);
	for (const char *p = strstr((const char *)sink.start, "[parameters]\n") + 13; *p; p++) {
		CHECK((size_t)(to - ret_params) < size);
		if (*p != ' ')
			*to++ = *p == '\n' ? ',' : *p;
	}
	to[-1] = 0; /* the last comma */
	hf_sink_fini_memory(&sink);
}

struct hf_walk_bytes hf_ntt_encode(const struct hf_ntt_events *events, uint8_t xlen, uint32_t hart, const char *params)
{
	char ini[512];

	return hf_ntt_encode_described(NULL, events, xlen, hart, params, ini, sizeof ini);
}

struct hf_walk_bytes hf_ntt_encode_described(const struct hf_setup *setup, const struct hf_ntt_events *events, uint8_t xlen,
					uint32_t hart, const char *params, char *ret_params, size_t size)
{
	const struct hf_stream stream = {
		.info = {.arch = HF_ARCH_RISCV, .xlen = xlen, .flags = HF_STREAM_HARTS}, .setup = setup};
	const struct hf_enc_env env = {.params = params};
	const struct hf_side side = {.stream = &stream, .hart = hart, .env = &env};
	struct hf_walk_bytes bytes = {0};
	struct hf_sink sink;
	struct hf_enc *enc;

	CHECK_EQ(hf_enc_new(&hf_view_ntrace, &stream, hart, &env, &enc), 0);
	CHECK_EQ(hf_sink_init_memory(&sink, 1 << 16), 0);
	hf_enc_put(enc, events->ev, events->n, &sink);
	hf_enc_end(enc, &sink);
	CHECK_EQ(sink.err, 0);
	hf_bytes_add(&bytes, sink.start, (size_t)(sink.p - sink.start));
	hf_sink_fini_memory(&sink);
	hf_enc_free(enc);
	read_params(&side, ret_params, size);
	return bytes;
}

/* The next event of one of these kinds from *at on, or NULL. */
static const struct hf_event *next_of(const struct hf_ntt_events *events, size_t *at, uint64_t kinds, size_t *insns)
{
	while (*at < events->n) {
		const struct hf_event *ev = &events->ev[(*at)++];

		*insns += ev->kind == HF_EVENT_INSN;
		if (kinds >> ev->kind & 1)
			return ev;
	}
	return NULL;
}

static void complain(const char *what, size_t insns, const struct hf_event *a, const struct hf_event *b)
{
	fprintf(stderr, "%s: behind instruction %zu", what, insns);
	for (int i = 0; i < 3; i++)
		fprintf(stderr, ": %" PRIx64 " and %" PRIx64, a ? a->word[i] : 0, b ? b->word[i] : 0);
	fprintf(stderr, "\n");
	exit(1);
}

void hf_ntt_events_check_same_insns(const struct hf_ntt_events *a, const struct hf_ntt_events *b, const char *what)
{
	size_t i = 0, j = 0, na = 0, nb = 0;

	for (;;) {
		const struct hf_event *x = next_of(a, &i, 1 << HF_EVENT_INSN, &na);
		const struct hf_event *y = next_of(b, &j, 1 << HF_EVENT_INSN, &nb);
		bool last;

		if (!x && !y)
			return;
		if (!x || !y || x->insn.pc != y->insn.pc || x->insn.opcode != y->insn.opcode)
			complain(what, na, x, y);
		/* where the last instruction of a stretch jumped to is not always known */
		last = i == a->n || a->ev[i].kind != HF_EVENT_INSN || j == b->n || b->ev[j].kind != HF_EVENT_INSN;
		if (!last && (x->flags != y->flags || x->insn.target != y->insn.target))
			complain(what, na, x, y);
	}
}

void hf_ntt_events_check_same_traps(const struct hf_ntt_events *a, const struct hf_ntt_events *b, const char *what)
{
	size_t i = 0, j = 0, na = 0, nb = 0;

	for (;;) {
		const struct hf_event *x = next_of(a, &i, 1 << HF_EVENT_TRAP, &na);
		const struct hf_event *y = next_of(b, &j, 1 << HF_EVENT_TRAP, &nb);

		if (!x && !y)
			return;
		if (!x || !y || na != nb || x->trap.handler != y->trap.handler ||
		    (x->flags & HF_EVF_ASYNC) != (y->flags & HF_EVF_ASYNC))
			complain(what, na, x, y);
	}
}
