/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.txt of N-Trace. It has a line for each message of any hart: the offset, all fields, and the reason if the
 * message is damaged. Each run of bytes between messages has a line too. If a part has CoreSight frames, its trace ids
 * follow one another.
 */
#include "codecs/records.h"
#include "codecs/base/text.h"
#include "codecs/ntrace/decoder.h"
#include "codecs/ntrace/errors.h"
#include "codecs/source/errors.h"

#include <stdlib.h>
#include <string.h>

/* A place between two lines. */
struct place {
	struct hf_ntrace_place place;
	uint64_t seen[2]; /* trace ids of the part that are known so far */
	uint8_t id;
	uint8_t skip;
	uint8_t begun;
	uint8_t ended;
};

struct records {
	struct hf_records text; /* first */
	struct hf_ntrace_params params;
	struct hf_ntrace_input input;
	bool skip;  /* bytes are skipped, up to one that ends a message */
	bool begun; /* there were bytes of this trace id in this part */
};

/* ---- lines ---- */

static uint8_t *put_place(const struct records *r, uint8_t *t, uint64_t at)
{
	t = hf_text_put_dec(t, hf_ntrace_input_offset(&r->input, at));
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

/* TCODE and its name, SRC, all fields. */
static uint8_t *put_message(const struct records *r, uint8_t *t, const struct hf_ntrace_message *msg)
{
	const char *name = hf_ntrace_tcode_name(&r->params, msg->tcode);
	struct hf_ntrace_shown shown;

	t = hf_text_put_dec(t, msg->tcode);
	*t++ = ' ';
	if (!name)
		name = msg->tcode >= HF_NTRACE_VENDOR_FIRST && msg->tcode <= HF_NTRACE_VENDOR_LAST ? "vendor" : "reserved";
	t = hf_text_put(t, name);
	if (r->params.layout != HF_CORESIGHT_NONE)
		t = put_number(t, "ID", r->input.id, false);
	if (r->params.srcbits)
		t = put_number(t, "SRC", msg->src, false);
	for (const uint8_t *field = hf_ntrace_fields(&r->params, msg->tcode); *field; field++)
		if (hf_ntrace_show_field(msg, *field, &shown))
			t = put_number(t, shown.name, shown.value, shown.hex);
	if (!*hf_ntrace_fields(&r->params, msg->tcode))
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
		.offset = hf_ntrace_input_offset(&r->input, hf_ntrace_input_at(&r->input)),
		.detail = code == HF_ERR_NTRACE_LONG ? bytes : msg->tcode,
	};

	t = hf_text_put(t, "# ");
	t += hf_diag_format(&diag, (char *)t, HF_RECORDS_LINE / 2);
	return put_number(hf_text_put(t, ";"), "bytes", bytes, false);
}

/* ---- the stream ---- */

/* The most bytes of a run that one line stands for. */
#define RUN_MAX (1u << 16)

/* Returns how many of the n bytes continue a run of the byte first. */
static size_t take_run(struct records *r, uint8_t first, const uint8_t *bytes, size_t n)
{
	size_t run = 0;

	if (r->skip) {
		while (run < n && (bytes[run] & 3) != 3)
			run++;
		r->skip = run == n;
		run += run < n;
	} else {
		while (run < n && bytes[run] == first)
			run++;
	}
	r->input.pipeline.pos += (uint32_t)run;
	return run;
}

/* A run between messages: padding of one byte value, or bytes of no message. Its line depends on the bytes alone. */
static int put_run(struct records *r, uint8_t **t, const uint8_t *bytes, size_t n)
{
	const uint8_t first = bytes[0];
	const bool skip = r->skip;
	size_t run = 0;
	int err = 0;

	*t = hf_text_put(put_place(r, *t, hf_ntrace_input_at(&r->input)), skip ? "passed-over" : first ? "idle" : "zeros");
	while (!err && n && run < RUN_MAX && (skip ? r->skip : bytes[0] == first)) {
		run += take_run(r, first, bytes, n < RUN_MAX - run ? n : RUN_MAX - run);
		err = hf_ntrace_input_look(&r->input, &bytes, &n);
	}
	*t = put_number(*t, "bytes", run, false);
	return err;
}

static int put_next(struct records *r, uint8_t **t, const uint8_t *bytes, size_t n)
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
		*t = put_message(r, put_place(r, *t, hf_ntrace_input_at(&r->input)), &msg);
	else
		*t = put_damage(r, *t, err, &msg, length);
	r->skip = (err == HF_ERR_NTRACE_MSEO || err == HF_ERR_NTRACE_LONG) && (bytes[length - 1] & 3) != 3;
	r->input.pipeline.pos += (uint32_t)length;
	return 0;
}

/* Takes the parameters of the hart whose messages come now. A message with SRC names its hart itself. */
static void choose_hart(struct records *r)
{
	const bool framed = r->params.layout != HF_CORESIGHT_NONE;
	const uint32_t hart = r->params.srcbits ? HF_SETUP_ANY : framed ? r->input.id : hf_ntrace_input_hart(&r->input);

	hf_ntrace_params_read(r->input.setup, hart, &r->params, NULL); /* they were checked */
}

/* Starts a part of the stream, which may begin inside a message. id: a trace id, or 0 before one was found. */
static void begin_part(struct records *r, uint32_t part, uint8_t id)
{
	hf_ntrace_input_start(&r->input, part, id);
	choose_hart(r);
	r->skip = r->params.wrapped;
	r->begun = false;
}

static bool next_id(struct records *r)
{
	const struct hf_ntrace_input *in = &r->input;

	for (unsigned id = in->id + 1u; in->params->layout != HF_CORESIGHT_NONE && id <= HF_CORESIGHT_ID_MAX; id++)
		if (in->pipeline.seen[id / 64] >> id % 64 & 1) {
			begin_part(r, in->part, (uint8_t)id);
			return true;
		}
	return false;
}

static uint8_t *put_note(const struct records *r, uint8_t *t, int code)
{
	const struct hf_diag diag = {
		.code = code,
		.space = HF_SPACE_STREAM,
		.offset = hf_ntrace_input_offset(&r->input, hf_ntrace_input_at(&r->input)),
	};

	t = hf_text_put(t, "# ");
	t += hf_diag_format(&diag, (char *)t, HF_RECORDS_LINE / 2);
	*t++ = '\n';
	return t;
}

/* There are no more bytes here. Goes on behind a break, with the next trace id or with the next part. */
static uint8_t *go_on(struct records *r, uint8_t *t)
{
	struct hf_pipeline *pipeline = &r->input.pipeline;
	bool damaged;

	if (pipeline->stop == HF_PIPELINE_BREAK) {
		if (r->input.id)
			t = put_note(r, t, pipeline->broken_code);
		r->skip |= r->begun;
		hf_pipeline_resume(pipeline);
		return t;
	}
	if (pipeline->stop == HF_PIPELINE_FRAME && !r->input.id)
		t = put_note(r, t, HF_ERR_CORESIGHT_CUT);
	damaged = pipeline->stop == HF_PIPELINE_ERROR;
	if (next_id(r))
		return t;
	r->text.ended = damaged || !hf_ntrace_input_has_next(&r->input);
	if (!r->text.ended) {
		memset(pipeline->seen, 0, sizeof pipeline->seen);
		begin_part(r, r->input.part + 1, 0);
	}
	return t;
}

static int put(struct hf_records *text)
{
	struct records *r = (struct records *)text;
	uint8_t *t = hf_records_text(text);
	const uint8_t *bytes;
	size_t n;
	int err = hf_ntrace_input_look(&r->input, &bytes, &n);

	if (err)
		return err;
	if (n == 0) {
		hf_records_keep(text, go_on(r, t));
		return text->ended ? r->input.pipeline.reader.err : 0;
	}
	r->begun = true;
	err = put_next(r, &t, bytes, n);
	*t++ = '\n';
	hf_records_keep(text, t);
	return err;
}

/* ---- places ---- */

static const struct hf_field_row fields[] = {
	HF_FIELD_ROW(struct place, place.part, UINT32_MAX),
	HF_FIELD_ROW(struct place, place.entry.at, INT64_MAX),
	HF_FIELD_ROW(struct place, place.entry.frame, INT64_MAX),
	HF_FIELD_ROW(struct place, place.entry.before, UINT8_MAX),
	HF_FIELD_ROW(struct place, seen[0], UINT64_MAX),
	HF_FIELD_ROW(struct place, seen[1], UINT64_MAX),
	HF_FIELD_ROW(struct place, id, HF_CORESIGHT_ID_MAX),
	HF_FIELD_ROW(struct place, ended, 1),
	HF_FIELD_ROW(struct place, skip, 1),
	HF_FIELD_ROW(struct place, begun, 1),
};

static void visit_place(struct hf_records *text, struct hf_fields *f)
{
	struct records *r = (struct records *)text;
	struct place place = {.place = hf_ntrace_input_place(&r->input), .id = r->input.id, .skip = r->skip,
			      .begun = r->begun, .ended = text->ended};

	memcpy(place.seen, r->input.pipeline.seen, sizeof place.seen);
	HF_FIELD_ROWS(f, fields, &place);
	if (!f->loading || f->err)
		return;
	r->input.id = place.id;
	hf_fields_fail(f, hf_ntrace_input_seek(&r->input, &place.place));
	if (f->err)
		return;
	choose_hart(r);
	memcpy(r->input.pipeline.seen, place.seen, sizeof place.seen);
	r->skip = place.skip;
	r->begun = place.begun;
	text->ended = place.ended;
}

static const struct hf_records_ops text_ops = {.put = put, .place = visit_place};

/* ---- the decoder ---- */

static int init(struct hf_dec *dec, struct hf_src *src)
{
	struct records *r = (struct records *)dec;
	const struct hf_setup *setup = dec->stream->setup;
	int err = hf_ntrace_params_read(setup, HF_SETUP_ANY, &r->params, NULL);

	if (!err)
		err = hf_ntrace_input_init(&r->input, setup, &r->params, src, 0);
	if (err)
		return err;
	choose_hart(r);
	r->skip = r->params.wrapped;
	hf_records_begin(&r->text, &text_ops, &r->input.pipeline.reader);
	return 0;
}

static void fini(struct hf_dec *dec)
{
	hf_ntrace_input_fini(&((struct records *)dec)->input);
}

static uint64_t offset(const struct hf_dec *dec)
{
	return hf_ntrace_input_at(&((const struct records *)dec)->input);
}

const struct hf_dec_ops hf_ntrace_records_ops = {
	.size = sizeof(struct records),
	.init = init,
	.fini = fini,
	.next = hf_records_next,
	.state = hf_records_state,
	.offset = offset,
};
