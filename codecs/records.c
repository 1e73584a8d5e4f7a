/* SPDX-License-Identifier: Apache-2.0 */
/* records.txt: its pages as events, and the encoder that copies their bytes. */
#include "codecs/records.h"

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
	set_mark(r);
	r->used = r->given = 0;
	while (!r->err && !r->ended && r->used < HF_RECORDS_PAGE)
		r->err = r->ops->put(r);
}

/* What is left of the page, max events at the most; returns their number. */
static size_t give(struct hf_records *r, struct hf_event *ev, size_t max)
{
	size_t n = 0;

	for (; n < max && r->given < r->used; n++) {
		const uint32_t left = r->used - r->given;

		ev[n].kind = HF_EVENT_DATA;
		ev[n].flags = 0;
		ev[n].size = 0;
		if (left >= PIECE) {
			ev[n].used = (uint16_t)PIECE;
			memcpy(ev[n].data.bytes, r->page + r->given, PIECE);
		} else {
			ev[n].used = (uint16_t)left;
			ev[n].data = (struct hf_ev_data){0};
			memcpy(ev[n].data.bytes, r->page + r->given, left);
		}
		r->given += ev[n].used;
	}
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
	size_t n = give(r, ev, max);

	while (n < max && !r->ended && !r->err) {
		make_page(r);
		n += give(r, ev + n, max - n);
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

static void put(struct hf_enc *enc, const struct hf_event *ev, size_t n, struct hf_sink *sink)
{
	(void)enc;
	for (size_t i = 0; i < n; i++) {
		const size_t used = ev[i].used <= sizeof ev[i].data.bytes ? ev[i].used : sizeof ev[i].data.bytes;

		if (ev[i].kind != HF_EVENT_DATA)
			continue;
		memcpy(hf_sink_room(sink, sizeof ev[i].data.bytes), ev[i].data.bytes, sizeof ev[i].data.bytes);
		sink->p += used;
	}
}

const struct hf_enc_ops hf_enc_records = {
	.name = "records",
	.view = "records.txt",
	.version = 1,
	.put = put,
};
