/*
 * records.txt of ASTF: one line a record, with its stream offset, in the manner of a disassembly. Made in pages; a page
 * begins with a record, so that its beginning is a place to enter.
 */
#include "codecs/astf/dump.h"

#include <stdlib.h>

/* A page ends with the first line at or behind this many bytes. */
#define PAGE 2048
#define PIECE sizeof(((struct hf_ev_data *)0)->bytes)

struct dump_sync {
	uint64_t offset; /* of the next record */
	struct hf_astf_dump_state state;
};

struct dump {
	struct hf_dec dec; /* first */
	struct hf_reader reader;
	struct dump_sync sync, now; /* of the page's beginning, and its end */
	uint64_t done;              /* events given of the page */
	uint32_t used, given;
	bool ended;
	uint8_t page[PAGE + 2 * HF_ASTF_LINE];
};

/* The last line: where and why the stream ends in the middle of something. */
static void put_end(struct dump *d, size_t have)
{
	const struct hf_reader *r = &d->reader;
	struct hf_diag diag = {.code = HF_ERR_ASTF_CUT, .space = HF_SPACE_STREAM, .offset = d->now.offset};
	uint8_t *t = d->page + d->used;

	d->ended = true;
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
	d->used = (uint32_t)(t - d->page);
}

/* Makes one whole record lie in the window, if there is one. */
static int need(struct dump *d, size_t *ret_have)
{
	struct hf_reader *r = &d->reader;
	const bool inside = d->now.offset >= r->start && d->now.offset <= r->start + r->len;
	int err = 0;

	if (!inside || (!r->ended && r->start + r->len - d->now.offset < HF_ASTF_SIZE))
		err = hf_reader_seek(r, d->now.offset);
	*ret_have = err ? 0 : (size_t)(r->start + r->len - d->now.offset);
	return err;
}

static int make_page(struct dump *d)
{
	d->sync = d->now;
	d->done = 0;
	d->used = d->given = 0;
	while (d->used < PAGE && !d->ended) {
		size_t have;
		int err = need(d, &have);

		if (err)
			return err;
		if (have < HF_ASTF_SIZE) {
			put_end(d, have);
		} else {
			uint8_t *t = d->page + d->used;

			t = hf_astf_dump_line(&d->now.state, t, d->now.offset,
					      d->reader.buf + (d->now.offset - d->reader.start));
			d->used = (uint32_t)(t - d->page);
			d->now.offset += HF_ASTF_SIZE;
		}
	}
	memset(d->page + d->used, 0, PIECE);
	return 0;
}

static size_t give(struct dump *d, struct hf_event *ev, size_t max)
{
	size_t n = 0;

	for (; n < max && d->given < d->used; n++) {
		const uint32_t left = d->used - d->given;

		ev[n] = (struct hf_event){.kind = HF_EVENT_DATA, .small = left < PIECE ? (uint16_t)left : PIECE};
		memcpy(ev[n].data.bytes, d->page + d->given, PIECE);
		d->given += ev[n].small;
	}
	d->done += n;
	return n;
}

static void enter(struct dump *d, const struct dump_sync *sync)
{
	d->sync = d->now = *sync;
	d->done = 0;
	d->used = d->given = 0;
	d->ended = false;
}

static int create(const struct hf_stream *stream, struct hf_src *src, uint32_t hart, struct hf_dec **ret_dec)
{
	struct dump *d;
	int err;

	if (hart != HF_HART_RECORDS)
		return HF_ERR_NOT_FOUND;
	d = calloc(1, sizeof *d);
	if (!d)
		return HF_ERR_NOMEM;
	err = hf_reader_init(&d->reader, src, HF_READER_CAP);
	if (err) {
		free(d);
		return err;
	}
	d->dec.stream = stream;
	d->dec.hart = hart;
	*ret_dec = &d->dec;
	return 0;
}

static void destroy(struct hf_dec *dec)
{
	struct dump *d = (struct dump *)dec;

	hf_reader_fini(&d->reader);
	free(d);
}

static int next(struct hf_dec *dec, struct hf_event *ev, size_t max, size_t *ret_n)
{
	struct dump *d = (struct dump *)dec;
	size_t n = 0;
	int err = 0;

	while (!err && n < max) {
		n += give(d, ev + n, max - n);
		if (n == max || d->ended)
			break;
		err = make_page(d);
	}
	*ret_n = n;
	if (n)
		return 0;
	if (!err)
		return HF_NOTE_END;
	dec->diag = d->reader.diag;
	dec->diag.code = err;
	return err;
}

static const struct hf_state_field fields[] = {
	HF_STATE_FIELD(struct dump_sync, offset, INT64_MAX),
	HF_STATE_FIELD(struct dump_sync, state.text, UINT16_MAX),
	HF_STATE_FIELD(struct dump_sync, state.mode, HF_MODE_COUNT - 1),
};

static const struct hf_state_table table = {
	.version = 1,
	.count = sizeof fields / sizeof fields[0],
	.fields = fields,
};

static size_t save(const struct hf_dec *dec, uint8_t *blob, uint64_t *ret_discard)
{
	const struct dump *d = (const struct dump *)dec;

	*ret_discard = d->done;
	return hf_state_save(&table, &d->sync, blob);
}

static int load(struct hf_dec *dec, const uint8_t *blob, size_t size)
{
	struct dump_sync sync = {0};
	int err = hf_state_load(&table, &sync, blob, size);

	if (err)
		return err;
	if (sync.offset % HF_ASTF_SIZE)
		return HF_ERR_STATE;
	enter((struct dump *)dec, &sync);
	return 0;
}

static uint64_t offset(const struct hf_dec *dec)
{
	return ((const struct dump *)dec)->now.offset;
}

static const uint32_t *harts(const struct hf_dec *dec, size_t *ret_n)
{
	*ret_n = 1;
	return &dec->hart;
}

const struct hf_dec_ops hf_astf_dump_ops = {
	.create = create,
	.destroy = destroy,
	.next = next,
	.save = save,
	.load = load,
	.offset = offset,
	.harts = harts,
};
