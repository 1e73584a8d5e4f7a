/*
 * records.txt of N-Trace: one line a message of any hart, field by field, with its offset, its reason if it is damaged;
 * and one for each run of bytes between messages. Text is made in pages; a place is entered at the beginning of its
 * page (codecs/README.md, form B).
 */
#include "codecs/records.h"
#include "codecs/base/text.h"
#include "codecs/ntrace/decoder.h"

#include <stdlib.h>

/* A page ends with the line that reaches this size. */
#define PAGE 8192
/* No line is longer: the fields of a message have at most 20 digits each. */
#define LINE 512

struct records {
	struct hf_dec dec; /* first */
	struct hf_ntrace_params params;
	struct hf_src *rotated; /* owned; NULL: the stream is in the order of time */
	struct hf_reader reader;
	uint64_t at;    /* next byte, in the order of time */
	uint64_t sync;  /* where this page begins */
	uint64_t done;  /* events given of it */
	uint32_t used, given; /* bytes of the page */
	bool skip, sync_skip; /* passing over bytes; the same where the page begins */
	bool ended;
	uint8_t page[PAGE + LINE];
};

/* ---- lines ---- */

static uint8_t *put_place(const struct records *r, uint8_t *t, uint64_t at)
{
	t = hf_text_put_dec(t, hf_ntrace_stream_offset(&r->params, r->reader.src->size, at));
	*t++ = ' ';
	return t;
}

static uint8_t *put_number(uint8_t *t, const char *name, uint64_t v, bool hex)
{
	*t++ = ' ';
	t = hf_text_put(t, name);
	*t++ = '=';
	return hex ? hf_text_put_hex(hf_text_put(t, "0x"), v) : hf_text_put_dec(t, v);
}

static bool is_hex(unsigned field)
{
	return field >= HF_NTRACE_FIELD_FADDR && field <= HF_NTRACE_FIELD_HIST;
}

static uint8_t *put_field(uint8_t *t, const struct hf_ntrace_message *msg, unsigned field)
{
	uint64_t v = hf_ntrace_field(msg, field);
	bool hex = is_hex(field) || field == HF_NTRACE_FIELD_PROCESS ||
		   (field == HF_NTRACE_FIELD_RDATA && msg->rcode != HF_NTRACE_RCODE_ICNT);

	/* Addresses as addresses, with the bit that is not sent. */
	if (field == HF_NTRACE_FIELD_FADDR || field == HF_NTRACE_FIELD_UADDR)
		v = msg->address;
	return put_number(t, hf_ntrace_field_name(field), v, hex);
}

/* TCODE and its name, SRC, all fields. */
static uint8_t *put_message(const struct records *r, uint8_t *t, const struct hf_ntrace_message *msg)
{
	const char *name = hf_ntrace_tcode_name(msg->tcode);

	t = hf_text_put_dec(t, msg->tcode);
	*t++ = ' ';
	if (!name)
		name = msg->tcode >= HF_NTRACE_VENDOR_FIRST && msg->tcode <= HF_NTRACE_VENDOR_LAST ? "vendor" : "reserved";
	t = hf_text_put(t, name);
	if (r->params.srcbits)
		t = put_number(t, "SRC", msg->src, false);
	for (const uint8_t *field = hf_ntrace_fields(msg->tcode); *field; field++)
		if (hf_ntrace_has_field(msg, *field))
			t = put_field(t, msg, *field);
	if (!*hf_ntrace_fields(msg->tcode))
		t = put_number(t, "DATA", msg->value, true);
	if (msg->has_time)
		t = put_number(t, "TSTAMP", msg->time, false);
	return t;
}

static uint8_t *put_damage(const struct records *r, uint8_t *t, int code, const struct hf_ntrace_message *msg,
			   uint64_t bytes)
{
	const struct hf_diag diag = {
		.code = code,
		.space = HF_SPACE_STREAM,
		.offset = hf_ntrace_stream_offset(&r->params, r->reader.src->size, r->at),
		.detail = code == HF_ERR_NTRACE_LONG ? bytes : msg->tcode,
	};

	t = hf_text_put(t, "# ");
	t += hf_diag_format(&diag, (char *)t, LINE / 2);
	return put_number(hf_text_put(t, ";"), "bytes", bytes, false);
}

/* ---- the stream ---- */

/* A run of one byte value between messages, or of bytes that belong to none. */
static uint8_t *put_run(struct records *r, uint8_t *t, const uint8_t *bytes, size_t n)
{
	size_t run = 0;

	t = put_place(r, t, r->at);
	if (r->skip) {
		while (run < n && (bytes[run] & 3) != 3)
			run++;
		r->skip = run == n;
		run += run < n;
		t = hf_text_put(t, "passed-over");
	} else {
		while (run < n && bytes[run] == bytes[0])
			run++;
		t = hf_text_put(t, bytes[0] ? "idle" : "zeros");
	}
	r->at += run;
	return put_number(t, "bytes", run, false);
}

static uint8_t *put_next(struct records *r, uint8_t *t, const uint8_t *bytes, size_t n)
{
	struct hf_ntrace_message msg;
	uint64_t length;
	int err;

	if (r->skip || hf_ntrace_is_padding(bytes[0]))
		return put_run(r, t, bytes, n);
	err = hf_ntrace_message_read(&r->params, bytes, n, &msg);
	err = err > 0 ? HF_ERR_NTRACE_CUT : err;
	length = err == HF_ERR_NTRACE_CUT ? n : msg.length;
	if (!err || err == HF_ERR_NTRACE_TCODE)
		t = put_message(r, put_place(r, t, r->at), &msg);
	else
		t = put_damage(r, t, err, &msg, length);
	r->skip = (err == HF_ERR_NTRACE_MSEO || err == HF_ERR_NTRACE_LONG) && (bytes[length - 1] & 3) != 3;
	r->at += length;
	return t;
}

/* Where a part begins, which may be inside a message. */
static void begin_part(struct records *r)
{
	r->skip = r->params.wrapped;
}

static int make_page(struct records *r)
{
	uint8_t *t = r->page;

	while (!r->ended && t < r->page + PAGE) {
		const struct hf_ntrace_part part = hf_ntrace_part_at(r->dec.stream, &r->params, r->at);
		const uint8_t *bytes;
		size_t n;
		int err = hf_ntrace_look(&r->reader, r->at, part.end, &bytes, &n);

		if (err)
			return err;
		if (n == 0) {
			r->ended = r->reader.ended && r->at >= r->reader.start + r->reader.len;
			begin_part(r);
			continue;
		}
		t = put_next(r, t, bytes, n);
		*t++ = '\n';
		if (r->at == part.end)
			begin_part(r);
	}
	r->used = (uint32_t)(t - r->page);
	r->given = 0;
	return 0;
}

/* ---- the decoder ---- */

static void enter(struct records *r, uint64_t at, bool skip)
{
	r->at = r->sync = at;
	r->skip = r->sync_skip = skip;
	r->done = 0;
	r->used = r->given = 0;
	r->ended = false;
}

static size_t give(struct records *r, struct hf_event *ev, size_t max)
{
	const size_t n = hf_records_give(r->page, r->used, &r->given, ev, max);

	r->done += n;
	if (r->given == r->used && r->used && !r->ended)
		enter(r, r->at, r->skip);
	return n;
}

static void destroy(struct hf_dec *dec)
{
	struct records *r = (struct records *)dec;

	hf_reader_fini(&r->reader);
	if (r->rotated)
		hf_src_free(r->rotated);
	free(r);
}

static int create(const struct hf_stream *stream, struct hf_src *src, uint32_t hart, struct hf_dec **ret_dec)
{
	struct records *r = calloc(1, sizeof *r);
	int err;

	if (!r)
		return HF_ERR_NOMEM;
	r->dec.stream = stream;
	r->dec.hart = hart;
	err = hf_ntrace_params_read(stream->setup, HF_SETUP_ANY, &r->params, NULL);
	if (!err && r->params.wrap_offset)
		err = hf_ntrace_rotate(src, r->params.wrap_offset, &r->rotated);
	if (!err)
		err = hf_reader_init(&r->reader, r->rotated ? r->rotated : src, HF_READER_CAP);
	if (err) {
		destroy(&r->dec);
		return err;
	}
	enter(r, 0, r->params.wrapped);
	*ret_dec = &r->dec;
	return 0;
}

static int next(struct hf_dec *dec, struct hf_event *ev, size_t max, size_t *ret_n)
{
	struct records *r = (struct records *)dec;
	int err = 0;

	while (!err) {
		*ret_n += give(r, ev + *ret_n, max - *ret_n);
		if (*ret_n == max || r->ended)
			break;
		err = make_page(r);
	}
	if (*ret_n)
		return 0;
	if (!err && !r->reader.err)
		return HF_NOTE_END;
	dec->diag = r->reader.diag;
	return err ? err : r->reader.err;
}

struct stored {
	uint64_t at;
	uint8_t skip;
};

static const struct hf_state_field fields[] = {
	HF_STATE_FIELD(struct stored, at, INT64_MAX),
	HF_STATE_FIELD(struct stored, skip, 1),
};

static const struct hf_state_table table = {
	.version = 1,
	.count = sizeof fields / sizeof fields[0],
	.fields = fields,
};

static size_t save(const struct hf_dec *dec, uint8_t *blob, uint64_t *ret_discard)
{
	const struct records *r = (const struct records *)dec;
	const struct stored stored = {.at = r->sync, .skip = r->sync_skip};

	*ret_discard = r->done;
	return hf_state_save(&table, &stored, blob);
}

static int load(struct hf_dec *dec, const uint8_t *blob, size_t size)
{
	struct stored stored = {0};
	int err = hf_state_load(&table, &stored, blob, size);

	if (!err)
		enter((struct records *)dec, stored.at, stored.skip);
	return err;
}

static uint64_t offset(const struct hf_dec *dec)
{
	return ((const struct records *)dec)->at;
}

static const uint32_t *harts(const struct hf_dec *dec, size_t *ret_n)
{
	*ret_n = 1;
	return &dec->hart;
}

const struct hf_dec_ops hf_ntrace_records_ops = {
	.create = create,
	.destroy = destroy,
	.next = next,
	.save = save,
	.load = load,
	.offset = offset,
	.harts = harts,
};
