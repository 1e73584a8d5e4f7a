/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder as codec.h wants it: messages in, events out, and the states in between. */
#include "codecs/etrace/decoder.h"

#include <stdlib.h>

/* Events behind a synchronisation or any other place before a new state is worth while. */
#define SYNC_DISTANCE 1024
#define FULL_DISTANCE 16384

/* ---- harts ---- */

static void note_hart(struct hf_etrace_dec *d, uint32_t hart)
{
	uint32_t *harts = d->harts;

	if (hart == d->last_hart || hart > UINT16_MAX)
		return;
	d->last_hart = hart;
	if (d->hart_bits[hart / 64] >> hart % 64 & 1)
		return;
	if ((d->hart_count & (d->hart_count - 1)) == 0) {
		harts = realloc(d->harts, (d->hart_count ? 2 * (size_t)d->hart_count : 1) * sizeof *harts);
		if (!harts) /* it is tried again when the source comes again */
			return;
	}
	d->harts = harts;
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

/* ---- a life ---- */

/* As at the beginning of a recording. */
static int reset(struct hf_etrace_dec *d)
{
	const uint16_t kept = d->core.flags & HF_ETRACE_ENDED;
	const uint64_t unsynced = d->core.unsynced;

	d->params = d->given;
	d->core = (struct hf_etrace_core){.modes = d->given.modes, .flags = kept, .privilege = 3,
					 .unsynced = unsynced,
					 .data_on = d->given.data_order == HF_ETRACE_ORDER_ANY};
	d->cur = NULL;
	d->full = true;
	d->data = (struct hf_etrace_data_state){0};
	hf_etrace_choose_program(d);
	return hf_etrace_make_tables(d);
}

static void fini(struct hf_dec *dec)
{
	struct hf_etrace_dec *d = (struct hf_etrace_dec *)dec;

	hf_etrace_framer_fini(&d->framer);
	hf_etrace_flow_fini(&d->flow);
	hf_etrace_tables_fini(&d->tables);
	hf_etrace_tables_fini(&d->spare);
	hf_etrace_accesses_fini(d);
	free(d->harts);
}

static void mark_state(struct hf_etrace_dec *d)
{
	uint8_t blob[sizeof d->blob];
	struct hf_fields f = hf_fields_save(blob, sizeof blob);

	hf_etrace_state_visit(d, &f);
	if (f.err) { /* the old one stays */
		d->retry = d->done + d->full_distance;
		return;
	}
	d->blob_size = (uint32_t)(f.to - blob);
	memcpy(d->blob, blob, d->blob_size);
	d->done = 0;
	d->retry = d->full_distance;
}

static int init(struct hf_dec *dec, struct hf_src *src)
{
	struct hf_etrace_dec *d = (struct hf_etrace_dec *)dec;
	const struct hf_stream *stream = dec->stream;
	int err;

	if (!(stream->info.flags & HF_STREAM_MANY) && dec->hart != stream->info.first_hart)
		return HF_ERR_NOT_FOUND;
	d->sync_distance = SYNC_DISTANCE;
	d->full_distance = FULL_DISTANCE;
	err = hf_etrace_params_read(stream->setup, dec->hart, &d->given, NULL);
	if (!err)
		err = hf_etrace_framer_init(&d->framer, &d->given, stream->setup, src, (uint8_t)dec->hart);
	if (!err)
		err = hf_etrace_flow_init(&d->flow, &d->given, hf_etrace_xlen(stream->setup, dec->hart, &d->given),
					  hf_setup_code_size(stream->setup));
	if (!err)
		err = hf_etrace_accesses_init(d);
	if (!err)
		err = reset(d);
	if (err)
		return err;
	forget_harts(d);
	mark_state(d);
	return 0;
}

/* ---- packets to list ---- */

/* What is in the list stays, but a trap whose handler is not known yet and what follows it. */
static void commit(struct hf_etrace_dec *d)
{
	if (d->trap && d->tail > HF_ETRACE_LIST / 2)
		hf_etrace_settle_trap(d, NULL);
	d->committed = d->trap ? d->trap - 1 : d->tail;
}

/* A packet that does not fit. A synchronisation that the walk did not reach is still one. */
static int fail(struct hf_etrace_dec *d, int code, uint64_t detail)
{
	const bool sync = d->pkt.format == 3 && d->pkt.subformat == HF_ETRACE_SYNC &&
			  d->core.phase == HF_ETRACE_FOLLOW;

	if (hf_err_class(code) == HF_CLASS_nomem)
		return code;
	hf_etrace_lose(d, code, detail);
	if (!sync)
		return 0;
	d->core.gap_bytes -= d->msg.size;
	return hf_etrace_resync(d);
}

/* The walk of the packet in progress, until it is done or the list is full. */
static int walk(struct hf_etrace_dec *d)
{
	int err = 0;

	while (!err && d->core.phase != HF_ETRACE_IDLE) {
		uint64_t detail;

		err = hf_etrace_walk(d, &detail);
		if (err == HF_NOTE_END) {
			d->split = true;
			d->cur = NULL;
			commit(d);
			return 0;
		}
		err = err ? fail(d, err, detail) : hf_etrace_finish(d);
	}
	commit(d);
	return err;
}

static void note_time(struct hf_etrace_dec *d)
{
	const unsigned bits = d->given.framing == HF_ETRACE_FRAMING_PULP ? 64 :
			      d->given.timestamp_bytes ? 8u * d->given.timestamp_bytes : 16;
	const uint64_t mask = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
	uint64_t time = (d->core.time & ~mask) | d->msg.timestamp;

	/* Only the low bits are sent: a smaller value than before means that they wrapped once. */
	if (bits < 64 && time < d->core.time)
		time += mask + 1;
	if (time != d->core.time && ((d->core.flags & HF_ETRACE_STARTED) || d->core.phase == HF_ETRACE_ENTER)) {
		const struct hf_event ev = {.kind = HF_EVENT_TIMESTAMP, .time.value = time};

		hf_etrace_add(d, &ev);
	}
	d->core.time = time;
}

/* A packet was read, or could not be. */
static void count_unsynced(struct hf_etrace_dec *d, bool read)
{
	const bool started = (d->core.flags & HF_ETRACE_STARTED) || d->core.phase != HF_ETRACE_IDLE;

	if (d->core.unsynced == HF_ETRACE_SYNCED || (read && d->pkt.format == 3 && d->pkt.subformat == HF_ETRACE_SUPPORT))
		return;
	if (started || (read && d->pkt.format == 3 && d->pkt.subformat == HF_ETRACE_SYNC))
		d->core.unsynced = HF_ETRACE_SYNCED;
	else
		d->core.unsynced++;
}

/* At the end: a source without a synchronisation has nothing else to show. */
static void tell_unsynced(struct hf_etrace_dec *d)
{
	struct hf_etrace_core *core = &d->core;

	if (!core->unsynced || core->unsynced == HF_ETRACE_SYNCED)
		return;
	if (!core->gap_code) {
		core->gap_offset = hf_etrace_framer_offset(&d->framer);
		core->gap_bytes = 0;
	}
	core->gap_code = -HF_ERR_ETRACE_NEVER;
	core->gap_detail = core->unsynced;
}

static int take_instruction(struct hf_etrace_dec *d)
{
	uint64_t detail;
	int err = hf_etrace_dispatch(d, &detail);

	count_unsynced(d, err >= 0);
	if (err < 0)
		err = fail(d, err, detail);
	if (!err && d->msg.has_timestamp)
		note_time(d);
	return err ? err : walk(d);
}

static int take_message(struct hf_etrace_dec *d)
{
	int err = 0;

	switch (d->msg.kind) {
	case HF_ETRACE_MESSAGE_LOSS:
		hf_etrace_lose(d, d->msg.code, 0);
		break;
	case HF_ETRACE_MESSAGE_RESTART:
		hf_etrace_stop(d);
		hf_etrace_tell_lost_data(d);
		d->release = d->tail;
		commit(d);
		return reset(d);
	case HF_ETRACE_MESSAGE_INSTRUCTION:
		note_hart(d, d->msg.source);
		if (d->msg.source == d->dec.hart)
			return take_instruction(d);
		break;
	case HF_ETRACE_MESSAGE_DATA:
		note_hart(d, d->msg.source);
		if (d->msg.source == d->dec.hart)
			err = hf_etrace_take_data(d);
		break;
	default:
		break;
	}
	commit(d);
	return err;
}

/* Nothing follows; err says if something should. */
static int end(struct hf_etrace_dec *d, int err)
{
	if (err < 0 && hf_err_class(err) != HF_CLASS_corrupt)
		return err;
	if (err < 0) {
		memset(&d->msg, 0, sizeof d->msg);
		d->msg.offset = hf_etrace_framer_offset(&d->framer);
		hf_etrace_lose(d, err, 0);
	}
	tell_unsynced(d);
	hf_etrace_stop(d);
	hf_etrace_tell_lost_data(d);
	d->release = d->tail;
	d->ended = true;
	commit(d);
	return 0;
}

/* What was given makes room, where the list never comes to its end because each packet finds something that waits. */
static void compact(struct hf_etrace_dec *d)
{
	const uint32_t n = d->head;

	if (n < HF_ETRACE_LIST / 4 || d->core.phase != HF_ETRACE_IDLE)
		return;
	memmove(d->list, d->list + n, (d->tail - n) * sizeof *d->list);
	d->head = 0;
	d->committed -= n;
	d->tail -= n;
	d->release -= n < d->release ? n : d->release;
	d->trap -= d->trap ? n : 0;
}

/* What was committed waits for an access; it has waited long enough if the room behind it is needed. */
static bool release(struct hf_etrace_dec *d)
{
	compact(d);
	if (d->head == d->committed || (d->tail <= HF_ETRACE_LIST / 2 && !d->full && d->core.phase == HF_ETRACE_IDLE))
		return false;
	d->release = d->tail;
	d->core.passed_over = true;
	return true;
}

/* All of the list has been given. False: there is a NOTE in it now. */
static bool settle(struct hf_etrace_dec *d)
{
	d->head = d->committed = d->tail = d->release = 0;
	if (d->synced && !d->aged) {
		hf_etrace_age_accesses(d);
		d->aged = true;
		if (d->core.access_lost) {
			hf_etrace_tell_lost_data(d);
			commit(d);
			return false;
		}
	}
	hf_etrace_fence_accesses(d);
	if (d->done >= (d->synced ? d->sync_distance : d->retry))
		mark_state(d);
	d->synced = d->aged = false;
	return true;
}

/* All that was committed has been given, or waits. */
static int advance(struct hf_etrace_dec *d)
{
	int err;

	if (release(d) || (d->head == d->tail && !settle(d)))
		return 0;
	if (d->full) {
		hf_etrace_flow_forget(&d->flow);
		d->full = false;
		d->cur = NULL;
	}
	if (d->core.phase != HF_ETRACE_IDLE)
		return walk(d);
	if (!d->cur && (d->core.flags & HF_ETRACE_HELD) && !hf_etrace_locate(d) && !d->full)
		hf_etrace_lose(d, HF_ERR_ETRACE_NO_CODE, d->core.pc);
	if (d->full)
		return 0;
	err = hf_etrace_framer_next(&d->framer, &d->msg);
	if (d->given.framing == HF_ETRACE_FRAMING_CORESIGHT)
		note_pipeline(d);
	return err ? end(d, err) : take_message(d);
}

/* ---- list to events ---- */

/* Instructions of one stretch, at most max; returns how many. */
static inline size_t give_stretch(union hf_etrace_item *item, struct hf_event *ev, size_t max)
{
	const struct hf_event *insn = item->block->insn + item->from;
	const size_t left = (size_t)(item->to - item->from), n = left < max ? left : max;
	const uint8_t mode = item->mode;

	for (size_t i = 0; i < n; i++) {
		ev[i] = insn[i];
		ev[i].insn.mode = mode;
	}
	item->from = (uint8_t)(item->from + n);
	if (n == left && item->flags) {
		ev[n - 1].flags = item->flags;
		ev[n - 1].insn.target = item->target;
	}
	return n;
}

/* Whether it is one to be given. */
static bool take_event(struct hf_etrace_dec *d, struct hf_event *ev)
{
	if (ev->kind == HF_EVENT_CONTEXT)
		d->said_context = ev->context.pid;
	if (ev->kind == HF_EVENT_GAP)
		hf_etrace_lose_accesses(d);
	return ev->kind != HF_EVENT_NOTE || ev->code != (uint32_t)-HF_ERR_ETRACE_DATA || hf_etrace_count_lost_data(d, ev);
}

static size_t give_doubt(struct hf_etrace_dec *d, struct hf_event *ev)
{
	*ev = d->doubt;
	d->doubt.kind = HF_EVENT_NONE;
	return 1;
}

/* Instructions and what belongs to them, at most max, up to one that waits for its access. */
static size_t give_merged(struct hf_etrace_dec *d, union hf_etrace_item *item, struct hf_event *ev, size_t max)
{
	size_t n = 0;

	while (n < max) {
		if (d->doubt.kind)
			n += give_doubt(d, ev + n);
		else if (d->extra_at < d->extra_count)
			ev[n++] = d->extra[d->extra_at++];
		else if (hf_etrace_give_more(d))
			continue;
		else if (item->from == item->to || !hf_etrace_attach(d, &item->block->insn[item->from].insn))
			break;
		else if (!d->doubt.kind) /* which comes before the instruction */
			n += give_stretch(item, ev + n, 1);
	}
	return n;
}

static size_t give(struct hf_etrace_dec *d, struct hf_event *ev, size_t max)
{
	size_t n = 0;

	if (d->doubt.kind && n < max)
		n += give_doubt(d, ev);
	while (n < max && d->head < d->committed) {
		union hf_etrace_item *item = &d->list[d->head];

		if (item->kind != HF_EVENT_NONE) {
			if (take_event(d, &item->event))
				ev[n++] = item->event;
			d->head++;
			continue;
		}
		n += hf_etrace_merges(d) ? give_merged(d, item, ev + n, max - n) : give_stretch(item, ev + n, max - n);
		if (item->from == item->to && !d->taker.wants && d->extra_at == d->extra_count)
			d->head++;
		else if (n < max)
			break; /* it waits */
	}
	d->done += n;
	return n;
}

static int next(struct hf_dec *dec, struct hf_event *ev, size_t max, size_t *ret_n)
{
	struct hf_etrace_dec *d = (struct hf_etrace_dec *)dec;
	size_t n = 0;
	int err = 0;

	while (!err) {
		n += give(d, ev + n, max - n);
		if (n == max || (d->ended && d->head == d->committed))
			break;
		err = advance(d);
	}
	*ret_n = n;
	if (n)
		return 0;
	if (!err)
		return HF_NOTE_END;
	dec->diag = (struct hf_diag){.code = err, .space = HF_SPACE_STREAM,
				     .offset = hf_etrace_framer_offset(&d->framer)};
	return err;
}

/* ---- states ---- */

/* As before the first packet, with no blocks: at the beginning of a pause, or between two packets, all may go. */
static int clear(struct hf_etrace_dec *d)
{
	int err;

	d->head = d->committed = d->tail = d->trap = d->release = 0;
	d->access_count = d->access_stale = d->extra_at = d->extra_count = 0;
	d->access_first = 0;
	d->taker.wants = false;
	d->doubt.kind = HF_EVENT_NONE;
	d->ended = d->synced = d->aged = d->split = false;
	err = reset(d);
	hf_etrace_flow_forget(&d->flow);
	d->full = false;
	return err;
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
	hf_fields_fail(f, clear(d));
	hf_etrace_state_visit(d, f);
	if (f->err)
		return 0;
	memcpy(d->blob, blob, size);
	d->blob_size = (uint32_t)size;
	d->done = 0;
	d->retry = d->full_distance;
	d->said_context = d->core.flags & HF_ETRACE_CONTEXTED ? (uint32_t)d->core.context : 0;
	forget_harts(d);
	return 0;
}

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
	if (!d->said_context)
		return;
	ret_context->fields = HF_CONTEXT_PID;
	ret_context->context.pid = d->said_context;
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
