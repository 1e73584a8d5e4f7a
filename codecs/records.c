/* SPDX-License-Identifier: Apache-2.0 */
/* records.txt: its pages and records as events, and the encoder that makes their bytes or counts them. */
#include "codecs/records.h"

#include "codecs/base/memo.h"
#include "codecs/base/text.h"
#include "codecs/source/reader.h"

#include <stdlib.h>

/* ---- pages ---- */

/* Bytes of text in one event. */
#define PIECE ((uint32_t)sizeof(((struct hf_ev_data *)0)->bytes))

static void set_mark(struct hf_records *r)
{
	uint8_t mark[sizeof r->mark];
	struct hf_fields f = hf_fields_save(mark, sizeof mark);

	r->ops->place(r, &f);
	if (f.err)
		return;
	r->mark_size = (size_t)(f.to - mark);
	memcpy(r->mark, mark, r->mark_size);
	r->done = 0;
}

static void make_page(struct hf_records *r)
{
	const uint32_t enough = r->ops->give ? 1 : HF_RECORDS_PAGE;

	set_mark(r);
	r->used = r->given = 0;
	while (!r->err && !r->ended && r->used < enough)
		r->err = r->ops->put(r);
}

static inline void set_piece(struct hf_event *ev, const uint8_t *from)
{
	static const struct hf_event full = {.kind = HF_EVENT_DATA, .used = (uint16_t)PIECE};

	memcpy(ev, &full, offsetof(struct hf_event, data));
	memcpy(ev->data.bytes, from, PIECE);
}

/* What is left of the page, max events at the most; returns their number. */
static size_t give_page(struct hf_records *r, struct hf_event *ev, size_t max)
{
	const uint8_t *from = r->page + r->given, *const end = r->page + r->used;
	size_t n = 0;

	for (; n < max && (size_t)(end - from) >= PIECE; n++, from += PIECE)
		set_piece(&ev[n], from);
	if (n < max && from < end) {
		ev[n] = (struct hf_event){.kind = HF_EVENT_DATA, .used = (uint16_t)(end - from)};
		memcpy(ev[n++].data.bytes, from, (size_t)(end - from));
		from = end;
	}
	r->given = (uint32_t)(from - r->page);
	r->done += n;
	return n;
}

static size_t give_records(struct hf_records *r, struct hf_event *ev, size_t max)
{
	const size_t n = r->ops->give ? r->ops->give(r, ev, max) : 0;

	r->done += n;
	return n;
}

void hf_records_begin(struct hf_records *r, const struct hf_records_ops *ops, const struct hf_reader *reader)
{
	r->ops = ops;
	r->reader = reader;
	set_mark(r);
}

int hf_records_next(struct hf_dec *dec, struct hf_event *ev, size_t max, size_t *ret_n)
{
	struct hf_records *r = (struct hf_records *)dec;
	size_t n = give_page(r, ev, max);

	while (n < max && !r->ended && !r->err) {
		const size_t records = give_records(r, ev + n, max - n);

		n += records;
		if (records)
			continue;
		make_page(r);
		n += give_page(r, ev + n, max - n);
	}
	*ret_n = n;
	if (n)
		return 0;
	if (!r->err)
		return HF_NOTE_END;
	dec->diag = r->reader->diag;
	dec->diag.code = r->err;
	return r->err;
}

uint64_t hf_records_state(struct hf_dec *dec, struct hf_fields *f)
{
	struct hf_records *r = (struct hf_records *)dec;

	if (!f->loading) {
		if (r->ops->give && r->given == r->used && !r->ended && !r->err)
			set_mark(r);
		hf_field_bytes(f, r->mark, r->mark_size);
		return r->done;
	}
	r->ended = false;
	r->err = 0;
	r->used = r->given = 0;
	r->ops->place(r, f);
	if (!f->err)
		set_mark(r);
	return 0;
}

/* ---- the encoder ---- */

/* What an event needs at most: an offset and a line. */
#define ROOM (HF_RECORDS_LINE + 32)

struct encoder {
	struct hf_enc enc; /* first */
	/* Of the offsets of lines; all of it follows from the last one. */
	uint64_t base; /* digits of the first offset with the same ones but the last four, without those */
	unsigned base_digits;
	uint8_t base_text[16];
	uint64_t least, power; /* offsets from least to below power have so many digits */
	unsigned digits;
	uint16_t line[256]; /* the length of a line by its record's first byte, where that says it; 0: not, or not yet */
};

/* Digits that rarely change, and the last four worked out side by side. */
static inline uint8_t *put_offset(struct encoder *e, uint8_t *t, uint64_t offset)
{
	uint32_t low, hundreds, both, tens;

	if (offset < 10000)
		return hf_text_put_dec(t, offset);
	if (offset - e->base >= 10000) {
		uint8_t digits[24];

		e->base = offset - offset % 10000;
		e->base_digits = (unsigned)(hf_text_put_dec(digits, e->base / 10000) - digits);
		memcpy(e->base_text, digits, sizeof e->base_text);
	}
	memcpy(t, e->base_text, sizeof e->base_text);
	t += e->base_digits;
	low = (uint32_t)(offset - e->base);
	hundreds = low * 5243 >> 19;
	both = hundreds | (low - 100 * hundreds) << 16;
	tens = both * 103 >> 10 & 0x000f000f;
	hf_put32(t, (tens | (both - 10 * tens) << 8) + 0x30303030);
	return t + 4;
}

/* The same counted. */
static inline unsigned count_offset(struct encoder *e, uint64_t offset)
{
	if (offset - e->least >= e->power - e->least) {
		e->least = 0;
		for (e->power = 10, e->digits = 1; e->power <= offset; e->power *= 10, e->digits++)
			e->least = e->power;
	}
	return e->digits;
}

/* NULL: there are no RECORD events. */
static const struct hf_record_ops *ops_of(const struct encoder *e)
{
	return e->enc.stream->codec ? e->enc.stream->codec->record : NULL;
}

/* The length of a line, but for its offset. */
static uint32_t count_record(struct encoder *e, const struct hf_record_ops *ops, const struct hf_event *ev, unsigned at)
{
	const uint64_t key = ops->key(ev, at);
	struct hf_memo_slot *slot = hf_memo_at(e->enc.env->memo, key, HF_EVENT_RECORD);

	if (!hf_memo_is(slot, key, 0, HF_EVENT_RECORD)) {
		uint8_t nowhere[HF_RECORDS_LINE];

		*slot = (struct hf_memo_slot){.a = key, .of = HF_EVENT_RECORD};
		slot->value = (uint32_t)(ops->put(nowhere, ev, at) - nowhere);
	}
	if (key <= UINT8_MAX)
		e->line[key] = (uint16_t)slot->value;
	return slot->value;
}

/* The records of the event that begin at that byte of it or behind it. */
static uint64_t count_longer(const struct hf_record_ops *ops, const struct hf_event *ev, uint64_t from)
{
	unsigned at = 0, left = ops->sizes ? ev->flags : 1;
	uint64_t n = 0;

	for (; left > 1; left--) {
		n += at >= from;
		at += ops->sizes[ev->data.bytes[at]];
	}
	return n + (at >= from);
}

static uint64_t count_records(struct encoder *e, const struct hf_record_ops *ops, const struct hf_event *ev)
{
	const uint64_t offset = hf_record_offset(ev);
	const unsigned digits = count_offset(e, offset);
	unsigned at = 0, left = ops->sizes && ev->flags ? ev->flags : 1;
	uint64_t size;

	/* Mostly all of them have as many. */
	size = left * digits;
	if (e->power - offset <= HF_RECORD_BYTES)
		size += count_longer(ops, ev, e->power - offset);
	for (;; left--) {
		const uint8_t first = ev->data.bytes[at];

		size += e->line[first] ? e->line[first] : count_record(e, ops, ev, at);
		if (left <= 1)
			return size;
		at += ops->sizes[first];
	}
}

/* Of a doubt, which who decodes puts between the records (hf_dec_doubt): t[HF_RECORDS_LINE]. */
static size_t put_doubt(const struct hf_event *ev, char *t)
{
	struct hf_diag diag;
	size_t n;

	hf_event_diag(ev, &diag);
	memcpy(t, "# ", 2);
	n = 2 + hf_diag_format(&diag, t + 2, HF_RECORDS_LINE - 3);
	t[n] = '\n';
	return n + 1;
}

static uint64_t count(struct encoder *e, const struct hf_event *ev, size_t n)
{
	char line[HF_RECORDS_LINE];
	const struct hf_record_ops *ops = ops_of(e);
	uint64_t size = 0;

	for (; n; n--, ev++)
		if (ev->kind == HF_EVENT_RECORD && ops)
			size += count_records(e, ops, ev);
		else if (ev->kind == HF_EVENT_DATA)
			size += ev->used < PIECE ? ev->used : PIECE;
		else if (ev->kind == HF_EVENT_DOUBT)
			size += put_doubt(ev, line);
	return size;
}

static inline uint8_t *room(struct hf_sink *sink, uint8_t *p)
{
	if (sink->end - p >= ROOM)
		return p;
	sink->p = p;
	return hf_sink_room(sink, ROOM);
}

static uint8_t *put_records(struct encoder *e, uint8_t *p, const struct hf_event *ev, struct hf_sink *sink)
{
	const struct hf_record_ops *ops = ops_of(e);
	const uint64_t offset = hf_record_offset(ev);
	unsigned at = 0, left = ops->sizes ? ev->flags : 1;

	for (;; left--) {
		p = room(sink, p);
		p = ops->put(put_offset(e, p, offset + at), ev, at);
		if (left <= 1)
			return p;
		at += ops->sizes[ev->data.bytes[at]];
	}
}

static void put(struct hf_enc *enc, const struct hf_event *ev, size_t n, struct hf_sink *sink)
{
	struct encoder *e = (struct encoder *)enc;
	const struct hf_record_ops *ops = ops_of(e);
	uint8_t *p = sink->p;

	if (sink->counts && enc->env && enc->env->memo) {
		hf_sink_count(sink, count(e, ev, n));
		return;
	}
	for (; n; n--, ev++) {
		if (ev->kind == HF_EVENT_RECORD && ops) {
			p = put_records(e, p, ev, sink);
		} else if (ev->kind == HF_EVENT_DATA) {
			p = room(sink, p);
			memcpy(p, ev->data.bytes, PIECE);
			p += ev->used < PIECE ? ev->used : PIECE;
		} else if (ev->kind == HF_EVENT_DOUBT) {
			p = room(sink, p);
			p += put_doubt(ev, (char *)p);
		}
	}
	sink->p = p;
}

const struct hf_enc_ops hf_enc_records = {
	.name = "records",
	.view = "records.txt",
	.version = 2,
	.flags = HF_ENC_COUNTS,
	.size = sizeof(struct encoder),
	.put = put,
};
