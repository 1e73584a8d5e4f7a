/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.txt of an ETE capture: one line for every packet, of one source after the other in each part of the stream.
 * Fields are separated by one blank.
 *
 *   # part NAME id=ID framing=FRAMING       before the packets of a source (ID: its trace id, hexadecimal)
 *   offset NAME field*                      offset: decimal, of the packet's header in the stream; NAME: packets.def
 *   offset LOST bytes=N reason              bytes without meaning, up to the next A-sync (or the end)
 *   offset CUT bytes=N                      a packet that the end of the part cuts
 *
 *   ATOM EENE                               the oldest first
 *   TARGET, SOURCE address=16 hex digits form=match0|short|32|64 [is=1]
 *   CONTEXT, TARGET_CONTEXT ... el=1 sf=1 ns=1 nse=0 [vmid=hex] [cid=hex] | same
 *   EXCEPTION type=2 (call) [target] address=... | address=?
 *   TRACE_INFO info=hex [spec=n] [cyct=n]   TIMESTAMP 16 hex digits [cycles=n]
 *   CYCLE_COUNT_F1 [commit=n] cycles=n|?    COMMIT n                CANCEL_F1 [atoms] n [mispredict]
 *   MISPREDICT [atoms]                      EVENT 0,3               INSTRUMENTATION el=1 value=hex
 *   Q count=n|? [address=...]
 *
 * Numbers are decimal where nothing else is said; cycles include the threshold.
 */
#include "codecs/records.h"
#include "codecs/ete/decoder.h"

#include "codecs/base/text.h"
#include "codecs/ete/errors.h"
#include "codecs/itm/errors.h"
#include "codecs/itm/packet.h"
#include "codecs/source/errors.h"

#include <stdlib.h>

#define LINE HF_ETE_TEXT_MAX
static_assert(4 * LINE <= HF_RECORDS_LINE, "a heading, a loss and a packet");

struct records {
	struct hf_records text; /* first */
	const struct hf_ete_stream *stream;
	struct hf_pipeline pipeline;
	struct hf_ete_place now; /* before the next packet; entry only as of load, the pipeline has the present one */
	uint32_t hart;           /* index of the source */
	bool heading;            /* of the source: still to come */
};

/* ---- text ---- */

static uint8_t *put_lost(struct records *d, uint8_t *t)
{
	struct hf_ete_place *now = &d->now;
	const struct hf_diag diag = {
		.code = -(int)now->lost_code, .offset = HF_NOWHERE, .detail = now->lost_detail};

	if (now->lost_bytes == 0)
		return t;
	t = hf_text_put(hf_text_put_dec(t, now->lost_at), " LOST bytes=");
	t = hf_text_put_dec(t, now->lost_bytes);
	*t++ = ' ';
	t += hf_diag_format(&diag, (char *)t, HF_DIAG_SIZE);
	*t++ = '\n';
	now->lost_bytes = 0;
	return t;
}

static uint8_t *put_heading(const struct records *d, uint8_t *t)
{
	const struct hf_setup_part *part = &d->stream->parts[d->now.part];

	t = hf_text_put(t, "# part ");
	for (const char *s = part->name; *s && s < part->name + LINE / 4; s++)
		*t++ = *s > ' ' && *s <= '~' ? (uint8_t)*s : '?';
	t = hf_text_put_hex(hf_text_put(t, " id="), d->stream->harts[d->hart].config.trace_id);
	t = hf_text_put(hf_text_put(t, " framing="), *part->framing ? part->framing : "raw");
	*t++ = '\n';
	return t;
}

/* ---- packets ---- */

static void unsync(struct records *d, uint64_t offset, int code, uint32_t detail)
{
	const uint32_t part = d->now.part;

	d->now = (struct hf_ete_place){
		.part = part, .lost_at = offset, .lost_code = (uint32_t)-code, .lost_detail = detail};
}

/* From this source of this part on, the first one that has bytes there. */
static void find_source(struct records *d)
{
	const struct hf_ete_stream *s = d->stream;

	for (; d->now.part < s->part_count; d->now.part++, d->hart = 0) {
		const struct hf_setup_part *part = &s->parts[d->now.part];

		while (d->hart < s->hart_count && !hf_ete_part_has(s, part, s->harts[d->hart].id))
			d->hart++;
		if (d->hart < s->hart_count) {
			hf_ete_start_part(s, d->now.part, s->harts[d->hart].id, NULL, &d->pipeline);
			unsync(d, part->offset, s->harts[d->hart].config.itm ? HF_ERR_ITM_UNSYNCED : HF_ERR_ETE_UNSYNCED, 0);
			if (s->harts[d->hart].config.unsynced)
				d->now.phase = HF_ETE_PHASE_SYNCED;
			d->heading = true;
			return;
		}
	}
	d->text.ended = true;
}

static uint32_t sync_zeros(const struct records *d)
{
	return d->stream->harts[d->hart].config.itm ? HF_ITM_ZEROS : HF_ETE_ASYNC_ZEROS;
}

/* The packet of an ITM: its name and what it has. Returns its size, 0 or less as hf_itm_packet_get. */
static int put_itm(const struct hf_pipeline *pipeline, uint8_t **t)
{
	struct hf_itm_packet packet;
	const int n = hf_itm_packet_get(pipeline->bytes + pipeline->pos, hf_pipeline_left(pipeline), &packet);

	if (n <= 0)
		return n;
	*t = hf_text_put_dec(*t, hf_pipeline_offset(pipeline));
	*t = hf_text_put(hf_text_put(*t, " "), hf_itm_name(packet.kind));
	if (packet.kind > HF_ITM_OVERFLOW)
		*t = hf_text_put_hex(hf_text_put(hf_text_put_dec(hf_text_put(*t, " id="), packet.id), " value="), packet.value);
	if (packet.bytes)
		*t = hf_text_put_dec(hf_text_put(*t, " bytes="), packet.bytes);
	*(*t)++ = '\n';
	return n;
}

/* Passes over bytes up to an A-sync, which is left to be read. */
static uint8_t *scan(struct records *d, uint8_t *t)
{
	struct hf_pipeline *pipeline = &d->pipeline;

	while (pipeline->pos < pipeline->count) {
		const uint32_t left = pipeline->count - pipeline->pos;
		const uint8_t *p = pipeline->bytes + pipeline->pos;
		uint32_t zeros = 0;

		while (zeros < left && p[zeros] == 0)
			zeros++;
		if (zeros == left && pipeline->stop == HF_PIPELINE_MORE) { /* more of it to come */
			const uint32_t passed = left < HF_PIPELINE_CAP / 2 ? 0 : left - HF_ETE_ASYNC_ZEROS;

			pipeline->pos += passed;
			d->now.lost_bytes += passed;
			return t;
		}
		if (zeros < left && zeros >= sync_zeros(d) && p[zeros] == 0x80) {
			t = put_lost(d, t);
			d->now.phase = HF_ETE_PHASE_SYNCED;
			return t;
		}
		zeros += zeros < left; /* the byte that is none */
		pipeline->pos += zeros;
		d->now.lost_bytes += zeros;
	}
	return t;
}

static uint8_t *put_end(struct records *d, uint8_t *t)
{
	struct hf_pipeline *pipeline = &d->pipeline;
	const size_t left = hf_pipeline_left(pipeline);

	if (left) {
		t = hf_text_put_dec(t, hf_pipeline_offset(pipeline));
		t = hf_text_put_dec(hf_text_put(t, " CUT bytes="), left);
		*t++ = '\n';
		pipeline->pos = pipeline->count;
	}
	t = put_lost(d, t);
	if (pipeline->stop == HF_PIPELINE_BREAK) {
		hf_pipeline_resume(pipeline);
		unsync(d, hf_pipeline_break(pipeline), pipeline->broken_code, 0);
		return t;
	}
	d->hart++;
	find_source(d);
	return t;
}

/* The line of the next packet, or of what stands instead of one. */
static int put_line(struct records *d, uint8_t **t)
{
	struct hf_pipeline *pipeline = &d->pipeline;
	struct hf_ete_packet packet;
	struct hf_ete_meaning meaning;
	int n;

	if (hf_pipeline_left(pipeline) < HF_PIPELINE_CAP / 2 && pipeline->stop == HF_PIPELINE_MORE) {
		int err = hf_pipeline_fill(pipeline);

		if (err)
			return err;
	}
	if (d->now.phase == HF_ETE_PHASE_UNSYNCED && hf_pipeline_left(pipeline)) {
		*t = scan(d, *t);
		return 0;
	}
	if (d->stream->harts[d->hart].config.itm) {
		n = put_itm(pipeline, t);
		if (n > 0)
			pipeline->pos += (uint32_t)n;
		else if (n == 0 && pipeline->stop != HF_PIPELINE_MORE)
			*t = put_end(d, *t);
		else
			unsync(d, hf_pipeline_offset(pipeline), HF_ERR_ITM_HEADER, pipeline->bytes[pipeline->pos]);
		return 0;
	}
	n = hf_ete_packet_get(&d->stream->harts[d->hart].config, pipeline->bytes + pipeline->pos,
			      hf_pipeline_left(pipeline), &packet);
	if (n == 0 && pipeline->stop != HF_PIPELINE_MORE) {
		*t = put_end(d, *t);
	} else if (n <= 0) {
		unsync(d, hf_pipeline_offset(pipeline), n ? n : HF_ERR_ETE_ASYNC, packet.header);
	} else {
		*t = hf_text_put_dec(*t, hf_pipeline_offset(pipeline));
		*(*t)++ = ' ';
		hf_ete_history_apply(&d->now.history, &packet, &meaning);
		*t = hf_ete_packet_show(&packet, &meaning, d->now.history.threshold, *t);
		*(*t)++ = '\n';
		pipeline->pos += (uint32_t)n;
	}
	return 0;
}

static int put(struct hf_records *text)
{
	struct records *d = (struct records *)text;
	uint8_t *t = hf_records_text(text);
	int err;

	if (d->heading)
		t = put_heading(d, t);
	d->heading = false;
	err = put_line(d, &t);
	hf_records_keep(text, t);
	return err;
}

/* ---- places ---- */

struct stored {
	struct hf_ete_place place;
	uint32_t hart;
	uint8_t heading;
};

#define PLACE(member, max) HF_FIELD_ROW(struct stored, place.member, max)

static const struct hf_field_row fields[] = {
	PLACE(part, UINT32_MAX),
	PLACE(phase, HF_ETE_PHASES - 1),
	PLACE(lost_at, INT64_MAX),
	PLACE(lost_bytes, INT64_MAX),
	PLACE(lost_code, UINT32_MAX),
	PLACE(lost_detail, UINT32_MAX),
	PLACE(entry.at, INT64_MAX),
	PLACE(entry.frame, INT64_MAX),
	PLACE(entry.before, UINT8_MAX),
	PLACE(history.address[0], UINT64_MAX),
	PLACE(history.address[1], UINT64_MAX),
	PLACE(history.address[2], UINT64_MAX),
	PLACE(history.is[0], 1),
	PLACE(history.is[1], 1),
	PLACE(history.is[2], 1),
	PLACE(history.timestamp, UINT64_MAX),
	PLACE(history.threshold, UINT32_MAX),
	HF_FIELD_ROW(struct stored, hart, UINT32_MAX),
	HF_FIELD_ROW(struct stored, heading, 1),
};

static void visit_place(struct hf_records *text, struct hf_fields *f)
{
	struct records *d = (struct records *)text;
	const struct hf_ete_stream *s = d->stream;
	struct stored st = {.place = d->now, .hart = d->hart, .heading = d->heading};

	if (!f->loading && !text->ended)
		st.place.entry = hf_pipeline_entry(&d->pipeline);
	HF_FIELD_ROWS(f, fields, &st);
	hf_fields_require(f, hf_err_is_code(-(int64_t)st.place.lost_code));
	if (!f->loading || f->err)
		return;
	text->ended = st.place.part == s->part_count;
	if (!text->ended && (st.place.part > s->part_count || st.hart >= s->hart_count || st.place.lost_code == 0 ||
			     !hf_ete_is_place(s, &st.place, s->harts[st.hart].id))) {
		hf_fields_fail(f, HF_ERR_STATE);
		return;
	}
	d->now = st.place;
	d->hart = st.hart;
	d->heading = st.heading;
	if (!text->ended)
		hf_ete_start_part(s, st.place.part, s->harts[st.hart].id, &st.place.entry, &d->pipeline);
}

static const struct hf_records_ops text_ops = {.put = put, .place = visit_place};

/* ---- the decoder ---- */

static int init(struct hf_dec *dec, struct hf_src *src)
{
	struct records *d = (struct records *)dec;
	int err = hf_pipeline_init(&d->pipeline, src);

	if (err)
		return err;
	d->stream = (const struct hf_ete_stream *)dec->stream;
	find_source(d);
	hf_records_begin(&d->text, &text_ops, &d->pipeline.reader);
	return 0;
}

static void fini(struct hf_dec *dec)
{
	hf_pipeline_fini(&((struct records *)dec)->pipeline);
}

/* Parts are read once for each source: progress counts all of that as one pass over the part. */
static uint64_t offset(const struct hf_dec *dec)
{
	const struct records *d = (const struct records *)dec;
	const struct hf_ete_stream *s = d->stream;
	const uint64_t at = hf_pipeline_offset(&d->pipeline);
	const struct hf_setup_part *part;

	if (d->text.ended)
		return at;
	part = &s->parts[d->now.part];
	if (hf_ete_layout(part) == HF_CORESIGHT_NONE || part->size == HF_NOWHERE)
		return at;
	return part->offset + (part->size / s->hart_count) * d->hart + (at - part->offset) / s->hart_count;
}

const struct hf_dec_ops hf_ete_records_ops = {
	.size = sizeof(struct records),
	.init = init,
	.fini = fini,
	.next = hf_records_next,
	.state = hf_records_state,
	.offset = offset,
};
