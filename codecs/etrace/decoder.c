/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder as codec.h wants it: messages in, events out, and the states in between. */
#include "codecs/etrace/decoder.h"
#include "codecs/base/array.h"

#include <stdlib.h>
#include <string.h>

/* Events behind a synchronisation or any other place before a new state is worth while. */
#define SYNC_DISTANCE 1024
#define FULL_DISTANCE 16384

/* ---- harts ---- */

static void note_hart(struct hf_etrace_dec *d, uint32_t hart)
{
	if (hart == d->last_hart || hart > UINT16_MAX)
		return;
	d->last_hart = hart;
	if (d->hart_bits[hart / 64] >> hart % 64 & 1)
		return;
	if (hf_array_room(&d->harts, d->hart_count,
			  sizeof *d->harts)) /* it is tried again when the source comes again */
		return;
	d->hart_bits[hart / 64] |= UINT64_C(1) << hart % 64;
	d->harts[d->hart_count++] = hart;
}

static void forget_harts(struct hf_etrace_dec *d)
{
	memset(d->hart_bits, 0, sizeof d->hart_bits);
	d->hart_count = 0;
	d->last_hart = UINT32_MAX;
	note_hart(d, d->dec.hart);
}

/* CoreSight: other sources are seen in the frames only. */
static void note_pipeline(struct hf_etrace_dec *d)
{
	for (uint32_t id = 1; id <= HF_CORESIGHT_ID_MAX; id++)
		if (d->framer.pipeline.seen[id / 64] >> id % 64 & 1)
			note_hart(d, id);
}

/* ---- states ---- */

/* The packet in progress once more. */
static void reread(struct hf_etrace_dec *d, struct hf_fields *f)
{
	if (hf_etrace_framer_next(&d->framer, &d->msg) || d->msg.kind != HF_ETRACE_MESSAGE_INSTRUCTION ||
	    d->msg.source != d->dec.hart)
		hf_fields_fail(f, HF_ERR_STATE);
	else
		hf_fields_fail(f, hf_etrace_follow_reread(&d->attach.follow, &d->msg));
}

/*
 * This moment, all of whose list was given. In a pause inside a packet the place in the stream is the one before it.
 * Loading, the decoder is as before the first packet.
 */
static void visit(struct hf_etrace_dec *d, struct hf_fields *f)
{
	struct hf_etrace_follow *follow = &d->attach.follow;
	struct hf_etrace_place place =
		follow->s.phase == HF_ETRACE_IDLE ? hf_etrace_framer_place(&d->framer) : d->framer.before;

	hf_etrace_place_visit(&place, f);
	if (f->loading && !f->err)
		hf_fields_fail(f, hf_etrace_framer_seek(&d->framer, &place));
	hf_etrace_attach_visit(&d->attach, f);
	if (f->loading && !f->err && follow->s.phase != HF_ETRACE_IDLE)
		reread(d, f);
	follow->behind = hf_etrace_framer_offset(&d->framer);
}

static void mark_state(struct hf_etrace_dec *d)
{
	uint8_t blob[sizeof d->blob];
	struct hf_fields f = hf_fields_save(blob, sizeof blob);

	visit(d, &f);
	if (f.err) { /* the old one stays */
		d->retry = d->done + d->full_distance;
		return;
	}
	d->blob_size = (uint32_t)(f.to - blob);
	memcpy(d->blob, blob, d->blob_size);
	d->done = 0;
	d->retry = d->full_distance;
}

static uint64_t state(struct hf_dec *dec, struct hf_fields *f)
{
	struct hf_etrace_dec *d = (struct hf_etrace_dec *)dec;
	const uint8_t *const blob = f->from;
	const size_t size = f->loading ? (size_t)(f->end - blob) : 0;

	if (!f->loading) {
		hf_field_bytes(f, d->blob, d->blob_size);
		return d->done;
	}
	hf_fields_require(f, size <= sizeof d->blob);
	hf_fields_fail(f, hf_etrace_attach_clear(&d->attach));
	visit(d, f);
	if (f->err)
		return 0;
	memcpy(d->blob, blob, size);
	d->blob_size = (uint32_t)size;
	d->done = 0;
	d->retry = d->full_distance;
	forget_harts(d);
	return 0;
}

/* ---- a life ---- */

static int init(struct hf_dec *dec, struct hf_src *src)
{
	struct hf_etrace_dec *d = (struct hf_etrace_dec *)dec;
	const struct hf_stream *stream = dec->stream;
	int err;

	if (!(stream->info.flags & HF_STREAM_MANY) && dec->hart != stream->info.first_hart)
		return HF_ERR_NOT_FOUND;
	d->sync_distance = SYNC_DISTANCE;
	d->full_distance = FULL_DISTANCE;
	err = hf_etrace_attach_init(&d->attach, stream->setup, dec->hart);
	d->attach.follow.agreed = &dec->agreed;
	if (!err)
		err = hf_etrace_framer_init(&d->framer, &d->attach.follow.report.given, stream->setup, src,
					    (uint8_t)dec->hart);
	if (err)
		return err;
	forget_harts(d);
	mark_state(d);
	return 0;
}

static void fini(struct hf_dec *dec)
{
	struct hf_etrace_dec *d = (struct hf_etrace_dec *)dec;

	hf_etrace_framer_fini(&d->framer);
	hf_etrace_attach_fini(&d->attach);
	free(d->harts);
}

/* ---- messages to events ---- */

static int take_message(struct hf_etrace_dec *d)
{
	struct hf_etrace_attach *a = &d->attach;
	const struct hf_etrace_message *msg = &d->msg;
	const bool packet = msg->kind == HF_ETRACE_MESSAGE_INSTRUCTION || msg->kind == HF_ETRACE_MESSAGE_DATA;

	a->follow.s.offset = msg->offset;
	a->follow.s.size = msg->size;
	if (packet)
		note_hart(d, msg->source);
	if (packet && msg->source != d->dec.hart)
		return 0;
	switch (msg->kind) {
	case HF_ETRACE_MESSAGE_LOSS:
		hf_etrace_follow_lose(&a->follow, msg->code);
		return 0;
	case HF_ETRACE_MESSAGE_RESTART:
		return hf_etrace_attach_stop(a, false);
	case HF_ETRACE_MESSAGE_INSTRUCTION:
		return hf_etrace_follow_take(&a->follow, msg);
	case HF_ETRACE_MESSAGE_DATA:
		return hf_etrace_attach_take(a, msg);
	default:
		return 0;
	}
}

/* Nothing follows; err says if something should. */
static int end(struct hf_etrace_dec *d, int err)
{
	struct hf_etrace_follow *f = &d->attach.follow;

	if (err < 0 && hf_err_class(err) != HF_CLASS_corrupt)
		return err;
	if (err < 0) {
		f->s.offset = f->behind;
		f->s.size = 0;
		hf_etrace_follow_lose(f, err);
	}
	return hf_etrace_attach_stop(&d->attach, true);
}

/* All of the list has been given. False: there is something in it again. */
static bool settle(struct hf_etrace_dec *d)
{
	const bool synced = d->attach.follow.synced; /* here a state would be small */

	if (!hf_etrace_attach_settle(&d->attach))
		return false;
	if (d->done >= (synced ? d->sync_distance : d->retry))
		mark_state(d);
	return true;
}

/* All that was committed has been given, or waits. */
static int advance(struct hf_etrace_dec *d)
{
	struct hf_etrace_follow *f = &d->attach.follow;
	int err;

	if (hf_etrace_attach_hurry(&d->attach) || (f->head == f->tail && !settle(d)))
		return 0;
	if (!hf_etrace_follow_is_ready(f))
		return hf_etrace_follow_go_on(f);
	err = hf_etrace_framer_next(&d->framer, &d->msg);
	f->behind = hf_etrace_framer_offset(&d->framer);
	if (f->report.given.framing == HF_ETRACE_FRAMING_CORESIGHT)
		note_pipeline(d);
	return err ? end(d, err) : take_message(d);
}

static int next(struct hf_dec *dec, struct hf_event *ev, size_t max, size_t *ret_n)
{
	struct hf_etrace_dec *d = (struct hf_etrace_dec *)dec;
	const struct hf_etrace_follow *f = &d->attach.follow;
	size_t n = 0;
	int err = 0;

	while (!err) {
		const size_t given = hf_etrace_attach_give(&d->attach, ev + n, max - n);

		n += given;
		d->done += given;
		if (n == max || (d->attach.ended && f->head == f->committed))
			break;
		err = advance(d);
	}
	*ret_n = n;
	if (n)
		return 0;
	if (!err)
		return HF_NOTE_END;
	dec->diag = (struct hf_diag){.code = err, .space = HF_SPACE_STREAM, .offset = f->behind};
	return err;
}

/* ---- where it stands ---- */

static uint64_t offset(const struct hf_dec *dec)
{
	const struct hf_etrace_dec *d = (const struct hf_etrace_dec *)dec;

	return hf_etrace_framer_offset(&d->framer);
}

static const uint32_t *harts(const struct hf_dec *dec, size_t *ret_n)
{
	const struct hf_etrace_dec *d = (const struct hf_etrace_dec *)dec;

	*ret_n = d->hart_count;
	return d->harts;
}

static void begin(const struct hf_dec *dec, struct hf_event *ret_context, uint64_t *ret_record)
{
	const struct hf_etrace_dec *d = (const struct hf_etrace_dec *)dec;

	*ret_record = 0;
	if (!d->attach.said_context)
		return;
	ret_context->fields = HF_CONTEXT_PID;
	ret_context->context.pid = d->attach.said_context;
}

const struct hf_dec_ops hf_etrace_dec_ops = {
	.size = sizeof(struct hf_etrace_dec),
	.init = init,
	.fini = fini,
	.next = next,
	.state = state,
	.offset = offset,
	.harts = harts,
	.begin = begin,
};
