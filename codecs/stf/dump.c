/* SPDX-License-Identifier: Apache-2.0 */
/* records.txt of STF: the window over the stream, and its records one after the other. */
#include "codecs/stf/dump.h"

#include "codecs/stf/errors.h"

#include <stdlib.h>

/* What an event has of a record, and of the stream behind it. */
#define REACH HF_RECORD_BYTES
static_assert(REACH >= HF_STF_SIZE_BUS_MASTER_ACCESS, "the longest record that is an event");

/* ---- places ---- */

/* Brings n bytes at d->at into the window; HF_NOTE_END: the stream ends before. */
static int need(struct hf_stf_dump *d, uint64_t n)
{
	return hf_reader_need(&d->reader, d->at, n, HF_STF_DUMP_RECORD_MAX);
}

/* Bytes from d->at on; they are in the window. */
static size_t there(const struct hf_stf_dump *d)
{
	return hf_reader_there(&d->reader, d->at);
}

/* The bytes from d->at to the end of the stream, which must be read if nobody knows its size yet. */
static int count_rest(struct hf_stf_dump *d, uint64_t *ret_n)
{
	struct hf_reader *r = &d->reader;
	uint64_t end = r->src->size;

	while (end == HF_NOWHERE) {
		struct hf_extent extent;
		struct hf_diag unused;
		uint64_t next = r->start + r->len;
		int err;

		if (r->ended) {
			if (!r->err || hf_src_extent_at(r->src, next, &extent, &unused) || !extent.lost)
				break;
			next = extent.end;
		}
		err = hf_reader_seek(r, next);
		if (err)
			return err;
	}
	if (r->ended)
		end = r->start + r->len;
	*ret_n = end > d->at ? end - d->at : 0;
	return 0;
}

/* ---- the end ---- */

static uint8_t *put_bytes(uint8_t *t, uint64_t n, const char *one, const char *more)
{
	return hf_text_put(hf_text_put_dec(hf_text_put(t, "; "), n), n == 1 ? one : more);
}

/*
 * A line that says what is wrong at stream offset at, with the record at d->record. STF has nothing to synchronise on,
 * but its container may know where a record begins behind it; else the line is the last.
 */
static int give_up(struct hf_stf_dump *d, int code, uint64_t at, uint64_t detail)
{
	const struct hf_diag diag = {.code = code, .space = HF_SPACE_STREAM, .offset = d->record, .detail = detail};
	uint8_t *t = hf_records_text(&d->text);
	struct hf_extent extent;
	struct hf_diag unused;
	uint64_t rest = 0;
	int err = hf_src_extent_at(d->reader.src, at, &extent, &unused);
	const bool goes_on = !err && (extent.lost || extent.known);

	if (err >= 0 && !goes_on)
		err = count_rest(d, &rest);
	if (err < 0)
		return err;
	t = hf_text_put(t, "# ");
	t += hf_diag_format(&diag, (char *)t, HF_RECORDS_LINE / 2);
	if (goes_on) {
		t = put_bytes(t, extent.end - d->record, " byte is lost", " bytes are lost");
		if (extent.known)
			t = hf_text_put_dec(hf_text_put(t, ", the next record is at "), extent.end);
		d->at = extent.end;
		d->run = HF_STF_RUN_NONE;
	} else if (rest) {
		t = put_bytes(t, rest, " byte remains", " bytes remain");
	}
	*t++ = '\n';
	hf_records_keep(&d->text, t);
	d->text.ended = !goes_on;
	return 0;
}

/* The stream ends inside the record at d->record, or before it. */
static int end_stream(struct hf_stf_dump *d, bool inside)
{
	const struct hf_reader *r = &d->reader;

	if (r->err)
		return give_up(d, r->err, r->start + r->len, r->diag.detail);
	if (inside)
		return give_up(d, HF_ERR_STF_RECORD_CUT, d->record, 0);
	d->text.ended = true;
	return 0;
}

/* ---- records that are events ---- */

/* The size of a record that is an event, alone or with others: most are of this kind. 0 for all others: what has a part
 * behind its head, or needs the header to be told. */
static const uint8_t sizes[256] = {
#define SIZE_none_body(head) (head)
#define SIZE_none_both(head) 0
#define SIZE_none_header(head) 0
#define SIZE_count_body(head) 0
#define SIZE_count_both(head) 0
#define SIZE_count_header(head) 0
#define IRREGULAR(number) \
	((number) == HF_STF_INST_REG || (number) == HF_STF_TRANSACTION || (number) == HF_STF_TRANSACTION_DEPENDENCY)
#define HF_STF_RECORD(number, name, head, count, unit, place, fields) \
	[number] = IRREGULAR(number) ? 0 : SIZE_##count##_##place(head),
#include "codecs/stf/records.def"
#undef HF_STF_RECORD
};

/* The same; of a register that has a fixed size, which is an event of its own, too. */
static inline unsigned event_size(const uint8_t *p)
{
	if (*p == HF_STF_INST_REG && (p[3] & 0xf) != HF_STF_REG_VECTOR)
		return HF_STF_SIZE_INST_REG;
	return sizes[*p];
}

/* As far as the window reaches. */
static size_t give_window(struct hf_stf_dump *d, struct hf_event *ev, size_t max)
{
	const struct hf_reader *r = &d->reader;
	const uint8_t *p = hf_stf_dump_here(d), *const last = r->buf + r->len - REACH;
	size_t n = 0;

	for (; n < max && p <= last && d->at <= HF_RECORD_OFFSET_MAX; n++) {
		unsigned size = event_size(p), records = 1, more;

		if (!size)
			break;
		hf_record_begin(&ev[n], d->at);
		memcpy(ev[n].data.bytes, p, sizeof ev[n].data.bytes);
		/* A register is alone: the encoder would not find what is behind it. */
		for (; sizes[*p] && size < REACH && (more = sizes[p[size]]) && size + more <= REACH; size += more)
			records++;
		ev[n].flags = (uint8_t)records;
		p += size;
		d->at += size;
	}
	return n;
}

static size_t give(struct hf_records *text, struct hf_event *ev, size_t max)
{
	struct hf_stf_dump *d = (struct hf_stf_dump *)text;
	size_t n = 0, more = 1;

	if (d->run || d->skip)
		return 0;
	for (; n < max && more && !need(d, REACH); n += more)
		more = give_window(d, ev + n, max - n);
	return n;
}

static uint8_t *put_event_record(uint8_t *t, const struct hf_event *ev, unsigned at)
{
	if (event_size(ev->data.bytes + at))
		t = hf_stf_dump_head(NULL, t, ev->data.bytes + at);
	*t++ = '\n';
	return t;
}

static uint64_t key(const struct hf_event *ev, unsigned at)
{
	return hf_stf_dump_key(ev->data.bytes + at);
}

const struct hf_record_ops hf_stf_dump_record = {.put = put_event_record, .key = key, .sizes = sizes};

/* ---- all others ---- */

/* The size of the record at d->at; of one with a string the head is in the window then, of others all. Or ends. */
static int measure(struct hf_stf_dump *d, uint64_t *ret_size)
{
	uint64_t want = 1;

	for (;;) {
		int err = need(d, want);
		const uint8_t *p;

		if (err)
			return err < 0 ? err : end_stream(d, want > 1);
		p = hf_stf_dump_here(d);
		err = hf_stf_record_size(&d->header->layout, p, there(d), ret_size);
		if (err < 0)
			return give_up(d, err, d->at, *p);
		if (err == 0 && (*ret_size <= there(d) || hf_stf_dump_is_string(*p)))
			break;
		want = *ret_size;
	}
	if (*hf_stf_dump_here(d) == HF_STF_IDENTIFIER && memcmp(hf_stf_dump_here(d), "\1STF", 4) != 0)
		return give_up(d, HF_ERR_STF_MAGIC, d->at, 0);
	return 0;
}

/* Any record. */
static int put_record(struct hf_stf_dump *d)
{
	uint8_t *t = hf_records_text(&d->text);
	uint64_t size = 0;
	const uint8_t *p;
	int err;

	d->record = d->at;
	err = measure(d, &size);
	if (err || d->text.ended)
		return err;
	/* There is no such record, and the next one is elsewhere. */
	if (d->at != d->record)
		return 0;
	p = hf_stf_dump_here(d);
	t = hf_stf_dump_head(d, hf_text_put_dec(t, d->at), p);
	t = hf_stf_dump_begin(d, t, p, size);
	hf_records_keep(&d->text, t);
	return 0;
}

/* Goes on with a string. No character is cut where the window ends: four bytes, or all there are, must be there. */
static int put_string(struct hf_stf_dump *d)
{
	const uint8_t *const stop = d->text.page + HF_RECORDS_PAGE;
	uint8_t *t = hf_records_text(&d->text);
	int err = 0;

	while (d->left && t < stop) {
		size_t n = there(d);

		if (n < 4 && n < d->left) {
			err = need(d, d->left < 4 ? d->left : 4);
			n = there(d);
		}
		if (err < 0 || n == 0)
			break;
		n = hf_stf_dump_character(&t, hf_stf_dump_here(d), n < d->left ? n : (size_t)d->left);
		d->at += n;
		d->left -= n;
	}
	if (d->left == 0 || (t < stop && err >= 0)) {
		*t++ = '\n';
		d->run = HF_STF_RUN_NONE;
	}
	hf_records_keep(&d->text, t);
	if (err < 0)
		return err;
	return d->left && !d->run ? end_stream(d, true) : 0;
}

/* A place in a string: what its record has before it is on other pages. */
static int enter_string(struct hf_stf_dump *d)
{
	const uint64_t at = d->at + d->skip;
	int err = put_record(d);

	d->skip = 0;
	hf_records_keep(&d->text, d->text.page);
	if (err)
		return err;
	if (d->run != HF_STF_RUN_STRING || at <= d->string || at - d->string >= d->left)
		return HF_ERR_STATE;
	d->left -= at - d->string;
	d->at = at;
	err = need(d, 1); /* moves the window there, be it to the end of a stream that is too short */
	return err < 0 ? err : 0;
}

static int put(struct hf_records *text)
{
	struct hf_stf_dump *d = (struct hf_stf_dump *)text;

	if (d->run == HF_STF_RUN_STRING)
		return put_string(d);
	if (d->run) {
		hf_records_keep(text, hf_stf_dump_list(d, hf_records_text(text)));
		return 0;
	}
	if (d->skip)
		return enter_string(d);
	return put_record(d);
}

/* ---- places ---- */

/* A record, or a character of its string: so many bytes behind the record's beginning. */
struct place {
	uint64_t offset, skip;
};

static const struct hf_field_row fields[] = {
	HF_FIELD_ROW(struct place, offset, INT64_MAX),
	HF_FIELD_ROW(struct place, skip, UINT32_MAX + UINT64_C(256)),
};

static void visit_place(struct hf_records *text, struct hf_fields *f)
{
	struct hf_stf_dump *d = (struct hf_stf_dump *)text;
	struct place place = {.offset = d->at, .skip = d->skip};

	if (!f->loading && d->run && (d->run != HF_STF_RUN_STRING || d->at == d->string))
		hf_fields_fail(f, HF_ERR_STATE);
	if (d->run)
		place = (struct place){.offset = d->record, .skip = d->at - d->record};
	HF_FIELD_ROWS(f, fields, &place);
	if (!f->loading)
		return;
	d->at = place.offset;
	d->skip = place.skip;
	d->run = HF_STF_RUN_NONE;
}

static const struct hf_records_ops text_ops = {.put = put, .give = give, .place = visit_place};

/* ---- the decoder ---- */

static int init(struct hf_dec *dec, struct hf_src *src)
{
	struct hf_stf_dump *d = (struct hf_stf_dump *)dec;
	int err = hf_reader_init(&d->reader, src, HF_READER_CAP);

	if (err)
		return err;
	d->header = dec->stream->info.header;
	hf_stf_dump_name_clocks(d);
	hf_records_begin(&d->text, &text_ops, &d->reader);
	return 0;
}

static void fini(struct hf_dec *dec)
{
	hf_reader_fini(&((struct hf_stf_dump *)dec)->reader);
}

/* A record that is entered behind its beginning is passed over up to there. */
static uint64_t offset(const struct hf_dec *dec)
{
	const struct hf_stf_dump *d = (const struct hf_stf_dump *)dec;

	return d->at + d->skip;
}

const struct hf_dec_ops hf_stf_dump_ops = {
	.size = sizeof(struct hf_stf_dump),
	.init = init,
	.fini = fini,
	.next = hf_records_next,
	.state = hf_records_state,
	.offset = offset,
};
