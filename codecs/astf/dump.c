/* SPDX-License-Identifier: Apache-2.0 */
/* records.txt of ASTF: one line a record, with its stream offset, in the manner of a disassembly. */
#include "codecs/records.h"
#include "codecs/astf/dump.h"

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

static const struct hf_state_field fields[] = {
	HF_STATE_FIELD(struct place, offset, INT64_MAX),
	HF_STATE_FIELD(struct place, state.text, UINT16_MAX),
	HF_STATE_FIELD(struct place, state.mode, HF_MODE_COUNT - 1),
};

static const struct hf_state_table table = {
	.version = 1,
	.count = sizeof fields / sizeof fields[0],
	.fields = fields,
};

static size_t mark(const struct hf_records *text, uint8_t *blob)
{
	return hf_state_save(&table, &((const struct dump *)text)->now, blob);
}

static int enter(struct hf_records *text, const uint8_t *blob, size_t size)
{
	struct dump *d = (struct dump *)text;
	int err = hf_state_load(&table, &d->now, blob, size);

	return !err && d->now.offset % HF_ASTF_SIZE ? HF_ERR_STATE : err;
}

static const struct hf_records_ops text_ops = {.put = put, .mark = mark, .enter = enter};

static int create(const struct hf_stream *stream, struct hf_src *src, uint32_t hart, struct hf_dec **ret_dec)
{
	struct dump *d = calloc(1, sizeof *d);
	int err;

	(void)stream;
	(void)hart;
	if (!d)
		return HF_ERR_NOMEM;
	err = hf_reader_init(&d->reader, src, HF_READER_CAP);
	if (err) {
		free(d);
		return err;
	}
	hf_records_begin(&d->text, &text_ops, &d->reader);
	*ret_dec = &d->text.dec;
	return 0;
}

static void destroy(struct hf_dec *dec)
{
	struct dump *d = (struct dump *)dec;

	hf_reader_fini(&d->reader);
	free(d);
}

static uint64_t offset(const struct hf_dec *dec)
{
	return ((const struct dump *)dec)->now.offset;
}

const struct hf_dec_ops hf_astf_dump_ops = {
	.create = create,
	.destroy = destroy,
	.next = hf_records_next,
	.save = hf_records_save,
	.load = hf_records_load,
	.offset = offset,
	.harts = hf_dec_own_hart,
};
