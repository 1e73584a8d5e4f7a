/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packets as text. The modes that a packet's layout depends on are those of its source's last support packet, so
 * they are kept for each source; what data packets are differences to is not, their values are shown as transmitted.
 */
#include "codecs/records.h"
#include "codecs/etrace/records.h"

#include "codecs/base/text.h"
#include "codecs/etrace/data.h"

#include <stdlib.h>

#define SOURCES 32 /* whose modes are kept; those of others are taken to be the description's */

struct source {
	uint32_t id;
	uint32_t modes;
	struct hf_etrace_params params;
};

/* What a page begins with, as blobs have it; the states of the sources follow. */
struct place {
	struct hf_etrace_place at;
	uint64_t seen[2]; /* CoreSight: ids that had data so far */
	uint8_t id;       /* whose bytes are being read */
	bool ended;
};

struct records {
	struct hf_records text; /* first */
	struct hf_etrace_params given;
	struct hf_etrace_framer framer;
	struct hf_etrace_message msg;
	struct source sources[SOURCES];
	uint32_t source_count;
};

/* ---- sources ---- */

static struct source *source_of(struct records *r, uint32_t id)
{
	struct source *s;

	for (uint32_t i = 0; i < r->source_count; i++)
		if (r->sources[i].id == id)
			return &r->sources[i];
	s = &r->sources[r->source_count < SOURCES ? r->source_count++ : SOURCES - 1];
	s->id = id;
	if (hf_etrace_params_read(r->text.dec.stream->setup, id, &s->params, NULL))
		s->params = r->given;
	s->modes = s->params.modes;
	return s;
}

/* ---- lines ---- */

static uint8_t *put_hex(uint8_t *t, const char *name, uint64_t v)
{
	return hf_text_put_hex(hf_text_put(t, name), v);
}

static uint8_t *put_dec(uint8_t *t, const char *name, uint64_t v)
{
	return hf_text_put_dec(hf_text_put(t, name), v);
}

static uint8_t *put_access(uint8_t *t, const struct hf_etrace_access *a)
{
	static const char *const names[] = {"load", "store", "atomic", "csr", "response", "response"};

	t = hf_text_put(hf_text_put(t, "data "), names[a->kind]);
	t = put_dec(t, " format=", a->format);
	/* a CSR access has no size, and the answer to an atomic not one of its own, on which hangs how long its data is */
	if (a->kind != HF_ETRACE_CSR && a->kind != HF_ETRACE_ATOMIC_DATA)
		t = put_dec(t, " size=", UINT64_C(1) << a->size);
	if (a->kind == HF_ETRACE_CSR || a->kind == HF_ETRACE_ATOMIC)
		t = put_dec(t, " subtype=", a->subtype);
	t = put_dec(t, " diff=", a->diff);
	if (a->kind == HF_ETRACE_ATOMIC_DATA)
		return put_dec(t, " id=", a->id);
	if (a->flags & HF_ETRACE_SPLIT)
		t = put_dec(t, " id=", a->id);
	if (a->flags & HF_ETRACE_HAS_ADDRESS)
		t = put_hex(t, " address=", a->address);
	if (a->flags & HF_ETRACE_HAS_OPERAND)
		t = put_hex(t, " operand=", a->operand);
	return a->flags & HF_ETRACE_HAS_DATA ? put_hex(t, " data=", a->data) : t;
}

static uint8_t *put_bytes(uint8_t *t, const struct hf_etrace_message *msg)
{
	t = hf_text_put(t, " bytes=");
	for (unsigned i = 0; i < msg->length; i++)
		t = hf_text_put_hex_width(t, msg->payload[i], 2);
	return t;
}

static uint8_t *put_instruction(struct records *r, uint8_t *t)
{
	struct source *s = source_of(r, r->msg.source);
	struct hf_etrace_packet pkt;

	if (hf_etrace_packet_read(&s->params, s->modes, r->msg.payload, r->msg.length, &pkt))
		return put_bytes(hf_text_put(t, "not a packet of these parameters"), &r->msg);
	t = put_bytes(hf_etrace_packet_show(&s->params, s->modes, &pkt, t), &r->msg);
	if (pkt.format == 3 && pkt.subformat == HF_ETRACE_SUPPORT) {
		s->modes = hf_etrace_support_modes(&s->params, &pkt);
		hf_etrace_support_params(&s->params, &pkt);
	}
	return t;
}

static uint8_t *put_data(struct records *r, uint8_t *t)
{
	const struct source *s = source_of(r, r->msg.source);
	struct hf_etrace_data_state zero = {0};
	struct hf_etrace_access a;

	if (hf_etrace_data_read(&s->params, s->modes, &zero, r->msg.payload, r->msg.length, &a))
		return put_bytes(hf_text_put(t, "not a data packet of these parameters"), &r->msg);
	return put_bytes(put_access(t, &a), &r->msg);
}

static uint8_t *put_loss(const struct hf_etrace_message *msg, uint8_t *t)
{
	const struct hf_diag diag = {.code = msg->code, .space = HF_SPACE_STREAM, .offset = msg->offset};

	t = hf_text_put(t, "# ");
	t += hf_diag_format(&diag, (char *)t, HF_RECORDS_LINE / 2);
	return hf_text_put(put_dec(t, "; ", msg->size), " bytes passed over");
}

static void put_line(struct records *r)
{
	uint8_t *t = hf_records_text(&r->text);
	const struct hf_etrace_message *msg = &r->msg;

	if (msg->kind == HF_ETRACE_MESSAGE_LOSS) {
		t = put_loss(msg, t);
	} else if (msg->kind == HF_ETRACE_MESSAGE_RESTART) {
		t = put_dec(t, "# another recording begins at stream offset ", msg->offset);
		r->source_count = 0;
	} else {
		t = hf_text_put_dec(t, msg->offset);
		t = put_dec(t, " source=", msg->source);
		if (msg->has_timestamp)
			t = put_dec(t, " timestamp=", msg->timestamp);
		*t++ = ' ';
		if (msg->kind == HF_ETRACE_MESSAGE_INSTRUCTION)
			t = put_instruction(r, t);
		else if (msg->kind == HF_ETRACE_MESSAGE_DATA)
			t = put_data(r, t);
		else
			t = put_bytes(put_dec(t, "other type=", msg->type), msg);
	}
	*t++ = '\n';
	hf_records_keep(&r->text, t);
}

/* CoreSight: the bytes of one source after the other. False: there is no further one. */
static bool next_id(struct records *r)
{
	const uint64_t *seen = r->framer.pipeline.seen;

	if (r->given.framing != HF_ETRACE_FRAMING_CORESIGHT)
		return false;
	for (uint32_t id = r->framer.id + 1u; id <= HF_CORESIGHT_ID_MAX; id++)
		if (seen[id / 64] >> id % 64 & 1) {
			r->framer.id = (uint8_t)id;
			return hf_etrace_framer_seek(&r->framer, NULL) == 0;
		}
	return false;
}

static int put(struct hf_records *text)
{
	struct records *r = (struct records *)text;
	int err = hf_etrace_framer_next(&r->framer, &r->msg);

	if (err < 0 && hf_err_class(err) == HF_CLASS_corrupt) {
		r->msg = (struct hf_etrace_message){.kind = HF_ETRACE_MESSAGE_LOSS, .code = err,
						    .offset = hf_etrace_framer_offset(&r->framer)};
		put_line(r);
		err = HF_NOTE_END;
	}
	if (err < 0)
		return err;
	if (err)
		text->ended = !next_id(r);
	else
		put_line(r);
	return 0;
}

/* ---- places ---- */

#define FIELD(member, max) HF_FIELD_ROW(struct place, member, max)
static const struct hf_field_row place_fields[] = {
	FIELD(seen[0], UINT64_MAX), FIELD(seen[1], UINT64_MAX), FIELD(id, 127), FIELD(ended, 1),
};
#undef FIELD

#define FIELD(member, max) HF_FIELD_ROW(struct source, member, max)
static const struct hf_field_row source_fields[] = {
	FIELD(id, UINT32_MAX), FIELD(modes, UINT32_MAX), FIELD(params.time_width, 64),
	FIELD(params.f0s_width, HF_ETRACE_F0S_MAX),
	FIELD(params.return_stack_size, HF_ETRACE_TABLE_MAX), FIELD(params.call_counter_size, HF_ETRACE_TABLE_MAX),
	FIELD(params.bpred_size, HF_ETRACE_TABLE_MAX), FIELD(params.cache_size, HF_ETRACE_TABLE_MAX),
};
#undef FIELD

static_assert(SOURCES * 20 + 256 < HF_STATE_MAX, "states of all sources");

/* Sources by their ids, as many as the blob has. */
static void load_sources(struct records *r, struct hf_fields *f)
{
	r->source_count = 0;
	while (!f->err && f->from < f->end) {
		struct source stored = {0}, *s;
		struct hf_fields again = *f;

		HF_FIELD_ROWS(&again, source_fields, &stored);
		s = source_of(r, stored.id);
		HF_FIELD_ROWS(f, source_fields, s);
	}
}

static void visit_place(struct hf_records *text, struct hf_fields *f)
{
	struct records *r = (struct records *)text;
	struct place place = {.at = hf_etrace_framer_place(&r->framer), .id = r->framer.id, .ended = text->ended};

	memcpy(place.seen, r->framer.pipeline.seen, sizeof place.seen);
	hf_etrace_place_visit(&place.at, f);
	HF_FIELD_ROWS(f, place_fields, &place);
	for (uint32_t i = 0; !f->loading && i < r->source_count; i++)
		HF_FIELD_ROWS(f, source_fields, &r->sources[i]);
	if (!f->loading || f->err)
		return;
	r->framer.id = place.id;
	hf_fields_fail(f, hf_etrace_framer_seek(&r->framer, &place.at));
	memcpy(r->framer.pipeline.seen, place.seen, sizeof place.seen);
	text->ended = place.ended;
	load_sources(r, f);
}

static const struct hf_records_ops text_ops = {.put = put, .place = visit_place};

/* ---- the decoder ---- */

static int init(struct hf_dec *dec, struct hf_src *src)
{
	struct records *r = (struct records *)dec;
	const struct hf_setup *setup = dec->stream->setup;
	int err = hf_etrace_params_read(setup, HF_SETUP_ANY, &r->given, NULL);

	if (!err)
		err = hf_etrace_framer_init(&r->framer, &r->given, setup, src, 0);
	if (!err)
		hf_records_begin(&r->text, &text_ops, &r->framer.pipeline.reader);
	return err;
}

static void fini(struct hf_dec *dec)
{
	hf_etrace_framer_fini(&((struct records *)dec)->framer);
}

static uint64_t offset(const struct hf_dec *dec)
{
	return hf_etrace_framer_offset(&((const struct records *)dec)->framer);
}

const struct hf_dec_ops hf_etrace_records_ops = {
	.size = sizeof(struct records),
	.init = init,
	.fini = fini,
	.next = hf_records_next,
	.state = hf_records_state,
	.offset = offset,
};
