/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream that ends anywhere: it is refused, or it gives the first of the instructions that the whole one gives and
 * comes to an end. A disk that fails anywhere: what comes before is the same, and the error is the disk's.
 */
#include "tests/codec/loops.h"
#include "tests/lib/recordtext.h"
#include "tests/lib/sliver.h"

/* The instructions of part are the first ones of the whole. */
static void check_first(const struct hf_events *part, const struct hf_events *whole)
{
	size_t k = 0;

	for (size_t i = 0; i < part->n; i++) {
		const struct hf_event *ev = &part->ev[i];

		if (ev->kind != HF_EVENT_INSN)
			continue;
		while (k < whole->n && whole->ev[k].kind != HF_EVENT_INSN)
			k++;
		CHECK(k < whole->n);
		CHECK_EQ(ev->insn.pc, whole->ev[k].insn.pc);
		CHECK_EQ(ev->insn.opcode, whole->ev[k].insn.opcode);
		k++;
	}
}

static void check_cut(struct sample *s, const struct hf_events *whole, size_t n)
{
	struct hf_stream *stream;
	struct hf_src *src;
	int err;

	if (sample_open(s, n, &src, &stream))
		return;
	for (size_t h = 0; h < s->hart_count; h++) {
		struct hf_events part = sample_events(stream, src, s->harts[h], 64, &err);

		if (s->harts[h] != HF_HART_RECORDS)
			check_first(&part, &whole[h]);
		hf_events_free(&part);
	}
	hf_stream_close(stream);
	hf_src_free(src);
}

static struct hf_walk_bytes text_of(const struct hf_stream *stream, const struct hf_events *list)
{
	struct hf_walk_bytes text = {0};

	hf_bytes_add_records(&text, stream, list->ev, list->n);
	return text;
}

/* All that part has comes first in the whole, however the text of records is cut into events. */
static void check_beginning(const struct hf_stream *stream, const struct hf_events *part, const struct hf_events *whole,
			    bool is_text)
{
	struct hf_walk_bytes a = {.p = (uint8_t *)part->ev, .n = part->n * sizeof *part->ev};
	struct hf_walk_bytes b = {.p = (uint8_t *)whole->ev, .n = whole->n * sizeof *whole->ev};

	if (is_text) {
		a = text_of(stream, part);
		b = text_of(stream, whole);
	}
	CHECK(a.n <= b.n);
	CHECK(!a.n || memcmp(a.p, b.p, a.n) == 0);
	if (is_text) {
		hf_bytes_free(&a);
		hf_bytes_free(&b);
	}
}

static void check_disk(struct sample *s, const struct hf_events *whole, size_t n)
{
	struct hf_src *src;
	int err;

	CHECK_EQ(hf_sliver_new_failing(s->src, n, HF_ERR_IO, &src), 0);
	for (size_t h = 0; h < s->hart_count; h++) {
		struct hf_events part = sample_events(s->stream, src, s->harts[h], 64, &err);

		CHECK_EQ(err, HF_ERR_IO);
		check_beginning(s->stream, &part, &whole[h], s->harts[h] == HF_HART_RECORDS);
		hf_events_free(&part);
	}
	hf_src_free(src);
}

static void check(struct sample *s)
{
	struct hf_events whole[SAMPLE_HARTS];
	size_t step, events = 0;

	for (size_t h = 0; h < s->hart_count; h++) {
		whole[h] = sample_all(s, s->harts[h], 64);
		events += whole[h].n;
	}
	step = sample_step(s->bytes.n, 1500, events);
	for (size_t n = 0; n < s->bytes.n; n += step) {
		sample_about("%s, %zu of %zu bytes", s->name, n, s->bytes.n);
		check_cut(s, whole, n);
		check_disk(s, whole, n);
	}
	for (size_t h = 0; h < s->hart_count; h++)
		hf_events_free(&whole[h]);
}

void loop_truncation(struct samples *all)
{
	samples_each(all, check);
}
