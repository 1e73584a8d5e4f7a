/* SPDX-License-Identifier: Apache-2.0 */
/* records.txt of ASTF: one line a record, with its stream offset, in the manner of a disassembly. */
#include "codecs/records.h"
#include "codecs/astf/dump.h"
#include "codecs/astf/errors.h"

#include <stdlib.h>

static_assert(2 * HF_ASTF_LINE <= HF_RECORDS_LINE, "the longest line, and the last one behind it");

struct place {
	uint64_t offset; /* of the next record */
	struct hf_astf_dump_state state;
};

struct dump {
	struct hf_records text; /* first */
	struct hf_reader reader;
	struct place now;
};

/* The last line: where and why the stream ends in the middle of something. */
static void put_end(struct dump *d, size_t have)
{
	const struct hf_reader *r = &d->reader;
	struct hf_diag diag = {.code = HF_ERR_ASTF_CUT, .space = HF_SPACE_STREAM, .offset = d->now.offset};
	uint8_t *t = hf_records_text(&d->text);

	d->text.ended = true;
	if (!r->err && !have)
		return;
	if (r->err) {
		diag.code = r->err;
		diag.detail = r->diag.detail;
	}
	t = hf_text_put(t, "# ");
	t += hf_diag_format(&diag, (char *)t, HF_ASTF_LINE / 2);
	if (have)
		t = hf_text_put(hf_text_put_dec(hf_text_put(t, "; "), have),
				have == 1 ? " byte remains" : " bytes remain");
	*t++ = '\n';
	hf_records_keep(&d->text, t);
}

static size_t give(struct hf_records *text, struct hf_event *ev, size_t max)
{
	struct dump *d = (struct dump *)text;
	struct hf_astf_record rec;
	size_t n = 0;

	while (n < max && d->now.offset <= HF_RECORD_OFFSET_MAX &&
	       !hf_reader_need(&d->reader, d->now.offset, HF_ASTF_SIZE, HF_READER_CAP)) {
		hf_astf_load(&rec, hf_reader_at(&d->reader, d->now.offset));
		hf_record_begin(&ev[n], d->now.offset);
		if (!hf_astf_dump_pack(&d->now.state, &rec, &ev[n]))
			break;
		d->now.state.text = 0;
		d->now.offset += HF_ASTF_SIZE;
		n++;
	}
	return n;
}

static int put(struct hf_records *text)
{
	struct dump *d = (struct dump *)text;
	const int err = hf_reader_need(&d->reader, d->now.offset, HF_ASTF_SIZE, HF_READER_CAP);

	if (err < 0)
		return err;
	if (err) {
		put_end(d, hf_reader_there(&d->reader, d->now.offset));
		return 0;
	}
	hf_records_keep(text, hf_astf_dump_line(&d->now.state, hf_records_text(text), d->now.offset,
						hf_reader_at(&d->reader, d->now.offset)));
	d->now.offset += HF_ASTF_SIZE;
	return 0;
}

static const struct hf_field_row fields[] = {
	HF_FIELD_ROW(struct place, offset, INT64_MAX),
	HF_FIELD_ROW(struct place, state.text, UINT16_MAX),
	HF_FIELD_ROW(struct place, state.mode, HF_MODE_COUNT - 1),
};

static void visit_place(struct hf_records *text, struct hf_fields *f)
{
	struct dump *d = (struct dump *)text;

	HF_FIELD_ROWS(f, fields, &d->now);
	hf_fields_require(f, d->now.offset % HF_ASTF_SIZE == 0);
}

static const struct hf_records_ops text_ops = {.put = put, .give = give, .place = visit_place};

static int init(struct hf_dec *dec, struct hf_src *src)
{
	struct dump *d = (struct dump *)dec;
	int err = hf_reader_init(&d->reader, src, HF_READER_CAP);

	if (!err)
		hf_records_begin(&d->text, &text_ops, &d->reader);
	return err;
}

static void fini(struct hf_dec *dec)
{
	hf_reader_fini(&((struct dump *)dec)->reader);
}

static uint64_t offset(const struct hf_dec *dec)
{
	return ((const struct dump *)dec)->now.offset;
}

const struct hf_dec_ops hf_astf_dump_ops = {
	.size = sizeof(struct dump),
	.init = init,
	.fini = fini,
	.next = hf_records_next,
	.state = hf_records_state,
	.offset = offset,
};
