/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets of one source to events. Bytes before the first synchronisation, and from a byte on with which no packet begins,
 * mean nothing up to the next one. Only a stream that has none, or none in its first half, is read from its first byte on,
 * and goes on behind a byte with which no packet begins: it is told that this is a guess.
 */
#include "codecs/itm/decoder.h"

#include "codecs/itm/errors.h"
#include "codecs/source/errors.h"

#include <stdlib.h>

static void push_loss(struct hf_itm_dec *d, unsigned kind, int code, uint64_t offset, uint64_t bytes, uint64_t detail)
{
	struct hf_event *ev = hf_itm_push(d, kind);

	ev->code = (uint16_t)-code;
	ev->loss = (struct hf_ev_loss){.offset = offset, .bytes = bytes, .detail = detail};
}

/* ---- parts ---- */

static void unsync(struct hf_itm_dec *d, uint64_t offset, int code, uint32_t detail)
{
	struct hf_itm_place *now = &d->now;

	now->phase = HF_ITM_UNSYNCED;
	now->zeros = now->lost_bytes = 0;
	now->lost_at = offset;
	now->lost_code = (uint32_t)-code;
	now->lost_detail = detail;
	now->low = now->high = 0;
	now->time = 0;
	now->page = now->dwt_page = 0;
}

/* Goes to the first part from this one on that has bytes of the source. */
static void find_part(struct hf_itm_dec *d)
{
	const struct hf_ete_stream *s = d->stream;

	while (d->now.part < s->part_count && !hf_ete_part_has(s, &s->parts[d->now.part], d->dec.hart))
		d->now.part++;
	d->ended = d->now.part == s->part_count;
	if (d->ended)
		return;
	hf_ete_start_part(s, d->now.part, d->dec.hart, NULL, &d->pipeline);
	unsync(d, s->parts[d->now.part].offset, HF_ERR_ITM_UNSYNCED, 0);
	if (d->hart->config.unsynced)
		d->now.phase = HF_ITM_BEGIN;
}

static void tell_lost(struct hf_itm_dec *d)
{
	struct hf_itm_place *now = &d->now;

	if (now->phase == HF_ITM_UNSYNCED && now->lost_bytes)
		push_loss(d, HF_EVENT_GAP, -(int)now->lost_code, now->lost_at, now->lost_bytes, now->lost_detail);
	now->lost_bytes = 0;
}

/* ---- packets ---- */

/* Passes over bytes up to a synchronisation and its end. */
static void scan(struct hf_itm_dec *d)
{
	struct hf_pipeline *pipeline = &d->pipeline;
	struct hf_itm_place *now = &d->now;

	while (pipeline->pos < pipeline->count) {
		const uint8_t byte = pipeline->bytes[pipeline->pos++];

		now->lost_bytes++;
		if (byte == 0x80 && now->zeros >= HF_ITM_ZEROS) {
			now->lost_bytes -= now->zeros + 1;
			tell_lost(d);
			now->phase = HF_ITM_SYNCED;
			now->zeros = 0;
			return;
		}
		now->zeros = byte ? 0 : now->zeros + 1;
	}
}

/* Nothing more comes into the pipeline, and what is there is no whole packet. */
static void stopped(struct hf_itm_dec *d)
{
	struct hf_pipeline *pipeline = &d->pipeline;
	const size_t left = hf_pipeline_left(pipeline);

	if (left && d->now.phase == HF_ITM_SYNCED)
		push_loss(d, HF_EVENT_NOTE, HF_ERR_ITM_CUT, hf_pipeline_offset(pipeline), left, 0);
	pipeline->pos = pipeline->count;
	tell_lost(d);
	if (pipeline->stop == HF_PIPELINE_BREAK) {
		push_loss(d, HF_EVENT_GAP, pipeline->broken_code, hf_pipeline_break(pipeline), pipeline->left_out, 0);
		unsync(d, hf_pipeline_offset(pipeline), HF_ERR_ITM_UNSYNCED, 0);
		if (d->hart->config.unsynced)
			d->now.phase = HF_ITM_BEGIN;
		hf_pipeline_resume(pipeline);
		return;
	}
	if (pipeline->stop == HF_PIPELINE_FRAME && pipeline->frames.locked)
		push_loss(d, HF_EVENT_NOTE, HF_ERR_CORESIGHT_CUT, pipeline->frames.offset, 0, 0);
	else if (pipeline->stop == HF_PIPELINE_FRAME)
		push_loss(d, HF_EVENT_GAP, HF_ERR_CORESIGHT_CUT, pipeline->frames.lost,
			  pipeline->frames.offset - pipeline->frames.lost, 0);
	else if (pipeline->stop == HF_PIPELINE_ERROR)
		push_loss(d, HF_EVENT_GAP, pipeline->reader.err, pipeline->frames.offset, 0, 0);
	d->now.part++;
	find_part(d);
}

static int read_packet(struct hf_itm_dec *d)
{
	struct hf_pipeline *pipeline = &d->pipeline;
	struct hf_itm_packet packet;
	uint64_t offset;
	int n, err = 0;

	if (hf_pipeline_left(pipeline) < HF_ITM_PACKET_MAX + 1 && pipeline->stop == HF_PIPELINE_MORE)
		err = hf_pipeline_fill(pipeline);
	if (err)
		return err;
	if (d->now.phase == HF_ITM_BEGIN && hf_pipeline_left(pipeline)) {
		push_loss(d, HF_EVENT_DOUBT, HF_ERR_ITM_NO_SYNC, hf_pipeline_offset(pipeline), 0, 0);
		d->now.phase = HF_ITM_SYNCED;
		return 0;
	}
	if (d->now.phase == HF_ITM_UNSYNCED && hf_pipeline_left(pipeline)) {
		scan(d);
		return 0;
	}
	offset = hf_pipeline_offset(pipeline);
	n = hf_itm_packet_get(pipeline->bytes + pipeline->pos, hf_pipeline_left(pipeline), &packet);
	if (n > 0) {
		pipeline->pos += (uint32_t)n;
		hf_itm_tell(d, &packet, offset);
	} else if (n < 0 && d->hart->config.unsynced) {
		push_loss(d, HF_EVENT_GAP, HF_ERR_ITM_HEADER, offset, 1, pipeline->bytes[pipeline->pos]);
		pipeline->pos++;
	} else if (n < 0) {
		unsync(d, offset, HF_ERR_ITM_HEADER, pipeline->bytes[pipeline->pos]);
	} else if (pipeline->stop != HF_PIPELINE_MORE) {
		stopped(d);
	} else if (hf_pipeline_left(pipeline) < HF_PIPELINE_CAP / 2) {
		return hf_pipeline_fill(pipeline);
	} else {
		unsync(d, offset, HF_ERR_ITM_HEADER, 0); /* only zeros can be so many */
	}
	return 0;
}

/* Reads on until there is an event, or the end. */
static int make_events(struct hf_itm_dec *d)
{
	int err = 0;

	d->count = d->given = 0;
	while (!err && !d->count && !d->ended) {
		d->now.entry = hf_pipeline_entry(&d->pipeline);
		d->before = d->now;
		err = read_packet(d);
	}
	if (!d->ended)
		d->now.entry = hf_pipeline_entry(&d->pipeline);
	return err;
}

/* ---- the decoder ---- */

static int init(struct hf_dec *dec, struct hf_src *src)
{
	struct hf_itm_dec *d = (struct hf_itm_dec *)dec;
	int err = hf_pipeline_init(&d->pipeline, src);

	if (err)
		return err;
	d->stream = (const struct hf_ete_stream *)dec->stream;
	d->hart = hf_ete_find_hart(d->stream, dec->hart);
	find_part(d);
	return 0;
}

static void fini(struct hf_dec *dec)
{
	hf_pipeline_fini(&((struct hf_itm_dec *)dec)->pipeline);
}

static int next(struct hf_dec *dec, struct hf_event *ev, size_t max, size_t *ret_n)
{
	struct hf_itm_dec *d = (struct hf_itm_dec *)dec;
	int err = 0;

	while (!err && *ret_n < max) {
		if (d->given == d->count) {
			if (d->ended)
				break;
			err = make_events(d);
			continue;
		}
		ev[(*ret_n)++] = d->ev[d->given++];
	}
	if (*ret_n)
		return 0;
	if (err)
		dec->diag = d->pipeline.reader.diag;
	return err ? err : (int)HF_NOTE_END;
}

#define PLACE(member, max) HF_FIELD_ROW(struct hf_itm_place, member, max)

static const struct hf_field_row fields[] = {
	PLACE(part, UINT32_MAX),
	PLACE(phase, HF_ITM_PHASES - 1),
	PLACE(entry.at, INT64_MAX),
	PLACE(entry.frame, INT64_MAX),
	PLACE(entry.before, UINT8_MAX),
	PLACE(page, UINT32_MAX),
	PLACE(dwt_page, UINT32_MAX),
	PLACE(time, UINT64_MAX),
	PLACE(low, 1),
	PLACE(high, 1),
	PLACE(zeros, INT64_MAX),
	PLACE(lost_at, INT64_MAX),
	PLACE(lost_bytes, INT64_MAX),
	PLACE(lost_code, UINT32_MAX),
	PLACE(lost_detail, UINT32_MAX),
};

/* Whether a place that was loaded can be one of this source. */
static bool is_place(const struct hf_itm_dec *d, const struct hf_itm_place *place)
{
	const struct hf_ete_stream *s = d->stream;
	const struct hf_setup_part *part = &s->parts[place->part < s->part_count ? place->part : 0];

	if (place->part >= s->part_count)
		return place->part == s->part_count;
	if (!hf_ete_part_has(s, part, d->dec.hart) || place->entry.frame < part->offset || place->entry.at < place->entry.frame ||
	    !place->lost_code || !hf_err_is_code(-(int64_t)place->lost_code) || place->zeros > place->lost_bytes)
		return false;
	if (hf_ete_layout(part) == HF_CORESIGHT_NONE && place->entry.frame != place->entry.at)
		return false;
	return part->size == HF_NOWHERE || place->entry.at - part->offset <= part->size;
}

static uint64_t state(struct hf_dec *dec, struct hf_fields *f)
{
	struct hf_itm_dec *d = (struct hf_itm_dec *)dec;
	struct hf_itm_place place = d->given == d->count ? d->now : d->before;

	/* what does not matter is not told */
	if (!f->loading && place.part == d->stream->part_count)
		place = (struct hf_itm_place){.part = place.part};
	HF_FIELD_ROWS(f, fields, &place);
	if (!f->loading)
		return d->given == d->count ? 0 : d->given;
	hf_fields_require(f, is_place(d, &place));
	if (f->err)
		return 0;
	d->now = place;
	d->count = d->given = 0;
	d->ended = place.part == d->stream->part_count;
	if (!d->ended)
		hf_ete_start_part(d->stream, place.part, dec->hart, &place.entry, &d->pipeline);
	return 0;
}

static uint64_t offset(const struct hf_dec *dec)
{
	return hf_pipeline_offset(&((const struct hf_itm_dec *)dec)->pipeline);
}

const struct hf_dec_ops hf_itm_dec_ops = {
	.size = sizeof(struct hf_itm_dec),
	.init = init,
	.fini = fini,
	.next = next,
	.state = state,
	.offset = offset,
};
