/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/ete/decoder.h"

#include "codecs/ete/errors.h"
#include "codecs/itm/decoder.h"
#include "codecs/source/errors.h"

#include <stdlib.h>

/* ---- parts ---- */

/* Forgets everything of the trace byte stream and looks for an A-sync; bytes are lost from here on. */
static void unsync(struct hf_ete_dec *d, uint64_t offset, int code, uint32_t detail)
{
	struct hf_ete_place *now = &d->now;

	now->phase = HF_ETE_PHASE_UNSYNCED;
	now->stamped = 0;
	now->zeros = 0;
	now->lost_at = offset;
	now->lost_bytes = 0;
	now->lost_code = (uint32_t)-code;
	now->lost_detail = detail;
	now->history = (struct hf_ete_history){.threshold = 0};
}

/* Goes to the first part from this one on that has bytes of the hart; past all of them if there is none. */
static void find_part(struct hf_ete_dec *d)
{
	const struct hf_ete_stream *s = d->stream;

	while (d->now.part < s->part_count && !hf_ete_part_has(s, &s->parts[d->now.part], d->dec.hart))
		d->now.part++;
	d->ended = d->now.part == s->part_count;
	if (d->ended)
		return;
	hf_ete_start_part(s, d->now.part, d->dec.hart, NULL, &d->pipeline);
	unsync(d, s->parts[d->now.part].offset, HF_ERR_ETE_UNSYNCED, 0);
	if (s->stream.setup->processes || s->parts[d->now.part].remark)
		d->now.phase = HF_ETE_PHASE_FRESH;
}

static void enter_first(struct hf_ete_dec *d)
{
	d->now = (struct hf_ete_place){.part = 0};
	d->resolve.mark_void = true;
	find_part(d);
	if (!d->ended)
		d->now.entry = hf_pipeline_entry(&d->pipeline);
	d->base = d->now;
}

/* ---- what is lost ---- */

static int push(struct hf_ete_dec *d, unsigned kind, unsigned flags, int code, uint64_t offset, uint64_t bytes,
		uint32_t detail)
{
	const struct hf_ete_element element = {
		.kind = (uint8_t)kind,
		.flags = (uint8_t)flags,
		.offset = offset,
		.value = bytes,
		.count = detail,
		.extra = (uint32_t)-code,
	};

	return hf_ete_resolve_push(&d->resolve, &element);
}

/* Elements are in the queue that never will be committed: they go, and it is told. */
static void lose(struct hf_ete_dec *d, uint64_t offset, bool failed)
{
	const uint32_t lost = hf_ete_resolve_lose(&d->resolve, failed);

	if (lost)
		push(d, HF_ETE_EL_NOTE, 0, HF_ERR_ETE_UNCOMMITTED, offset, 0, lost);
}

/* The bytes since lost_at were passed over. */
static void tell_lost(struct hf_ete_dec *d)
{
	struct hf_ete_place *now = &d->now;

	if (now->lost_bytes)
		push(d, HF_ETE_EL_LOSS, 0, -(int)now->lost_code, now->lost_at, now->lost_bytes, now->lost_detail);
	else if (now->again && now->phase == HF_ETE_PHASE_UNSYNCED)
		push(d, HF_ETE_EL_LOSS, HF_ETE_EL_SILENT, HF_ERR_ETE_UNSYNCED, now->lost_at, 0, 0);
	now->lost_bytes = 0;
}

/* Bytes from here on mean nothing. */
static void desync(struct hf_ete_dec *d, int code, uint32_t detail)
{
	const uint64_t offset = hf_pipeline_offset(&d->pipeline);

	lose(d, offset, false);
	tell_lost(d);
	unsync(d, offset, code, detail);
}

/* The part ends: what was waiting never comes. */
static void end_part(struct hf_ete_dec *d)
{
	const uint64_t offset = hf_pipeline_offset(&d->pipeline);
	const struct hf_pipeline *pipeline = &d->pipeline;

	if (pipeline->stop == HF_PIPELINE_FRAME && pipeline->frames.locked)
		push(d, HF_ETE_EL_NOTE, 0, HF_ERR_CORESIGHT_CUT, pipeline->frames.offset, 0, 0);
	else if (pipeline->stop == HF_PIPELINE_FRAME)
		push(d, HF_ETE_EL_LOSS, 0, HF_ERR_CORESIGHT_CUT, pipeline->frames.lost,
		     pipeline->frames.offset - pipeline->frames.lost, 0);
	else if (pipeline->stop == HF_PIPELINE_ERROR)
		push(d, HF_ETE_EL_LOSS, 0, pipeline->reader.err, pipeline->frames.offset, 0, 0);
	lose(d, offset, false);
	tell_lost(d);
	d->now.part++;
	d->now.again = 1;
	find_part(d);
}

/* ---- bytes ---- */

/* Passes over bytes up to an A-sync and its end. */
static void scan(struct hf_ete_dec *d)
{
	struct hf_pipeline *pipeline = &d->pipeline;
	struct hf_ete_place *now = &d->now;

	while (pipeline->pos < pipeline->count) {
		const uint8_t byte = pipeline->bytes[pipeline->pos++];

		now->lost_bytes++;
		if (byte == 0x80 && now->zeros >= HF_ETE_ASYNC_ZEROS) {
			now->lost_bytes -= now->zeros + 1;
			tell_lost(d);
			now->phase = HF_ETE_PHASE_SYNCED;
			now->zeros = 0;
			return;
		}
		now->zeros = byte ? 0 : now->zeros + 1;
	}
}

/* Whether a packet means something before the first Trace Info. */
static bool stands_alone(const struct hf_ete_dec *d, const struct hf_ete_packet *packet)
{
	switch (packet->kind) {
	case HF_ETE_EVENT:
	case HF_ETE_INSTRUMENTATION:
	case HF_ETE_IGNORE:
	case HF_ETE_ASYNC:
	case HF_ETE_DISCARD:
	case HF_ETE_OVERFLOW:
	case HF_ETE_TRACE_INFO:
	case HF_ETE_TIMESTAMP_MARKER: return true;
	case HF_ETE_TIMESTAMP: return d->now.stamped || packet->value_bits == 64;
	default: return false;
	}
}

/* The trace unit itself gave up what was not committed; packets go on. */
static void give_up(struct hf_ete_dec *d, const struct hf_ete_packet *packet, uint64_t offset)
{
	const uint32_t lost = hf_ete_resolve_lose(&d->resolve, true);

	tell_lost(d);
	if (packet->kind == HF_ETE_OVERFLOW)
		push(d, HF_ETE_EL_LOSS, 0, HF_ERR_ETE_OVERFLOW, offset, 0, 0);
	else
		push(d, HF_ETE_EL_LOSS, 0, HF_ERR_ETE_DISCARD, offset, 0, lost);
	d->now.phase = HF_ETE_PHASE_SYNCED;
}

/* What of TRCCONFIGR (D24.4.11) is on where the trace has such a packet: one of these bits; 0: nothing that it tells. */
static uint32_t shows(const struct hf_ete_packet *packet)
{
	enum { CCI = 1 << 4, CID = 1 << 6, VMID = 1 << 7, TS = 1 << 11, QE = 3 << 13 };

	switch (packet->kind) {
	case HF_ETE_TRACE_INFO: return packet->info & 1 ? CCI : 0;
	case HF_ETE_CYCLE_COUNT_F1:
	case HF_ETE_CYCLE_COUNT_F2:
	case HF_ETE_CYCLE_COUNT_F3: return CCI;
	case HF_ETE_TIMESTAMP: return TS;
	case HF_ETE_Q: return QE;
	default:
		if (!(packet->flags & HF_ETE_HAS_CONTEXT))
			return 0;
		return packet->context.byte & HF_ETE_CONTEXT_CID ? CID : packet->context.byte & HF_ETE_CONTEXT_VMID ? VMID : 0;
	}
}

/* What the packet shows of the trace unit and its registers deny, once for each of them. */
static void compare(struct hf_ete_dec *d, const struct hf_ete_packet *packet, uint64_t offset)
{
	const struct hf_ete_config *config = &d->hart->config;
	const uint32_t bits = shows(packet);

	if (bits && !(bits & (config->configr | d->now.denied))) {
		d->now.denied |= bits;
		push(d, HF_ETE_EL_NOTE, 0, HF_ERR_ETE_DENIED, offset, 0, bits);
	}
	if (packet->kind == HF_ETE_TRACE_INFO && packet->commit > config->max_spec)
		push(d, HF_ETE_EL_NOTE, 0, HF_ERR_ETE_SPECULATION, offset, 0, packet->commit);
}

static int take_packet(struct hf_ete_dec *d, const struct hf_ete_packet *packet, uint64_t offset)
{
	struct hf_ete_place *now = &d->now;
	struct hf_ete_meaning meaning;

	if (packet->kind == HF_ETE_OVERFLOW || packet->kind == HF_ETE_DISCARD) {
		give_up(d, packet, offset);
		return 0;
	}
	if (now->phase == HF_ETE_PHASE_SYNCED && !stands_alone(d, packet)) {
		now->lost_at = now->lost_bytes ? now->lost_at : offset;
		now->lost_bytes += packet->size;
		now->lost_code = -HF_ERR_ETE_UNSYNCED;
		now->lost_detail = 0;
		return 0;
	}
	compare(d, packet, offset);
	hf_ete_history_apply(&now->history, packet, &meaning);
	if (packet->kind == HF_ETE_TRACE_INFO) {
		if (now->phase == HF_ETE_PHASE_SYNCED) {
			tell_lost(d);
			hf_ete_resolve_unseen(&d->resolve, packet->commit);
		}
		now->phase = HF_ETE_PHASE_BEGUN;
		now->stamped = 1;
	}
	return hf_ete_elements_put(&d->resolve, packet, &meaning, now->history.threshold, offset);
}

/* Nothing more comes into the pipeline, and what is there is no whole packet. */
static void stopped(struct hf_ete_dec *d)
{
	struct hf_pipeline *pipeline = &d->pipeline;

	if (hf_pipeline_left(pipeline)) {
		push(d, HF_ETE_EL_NOTE, 0, HF_ERR_ETE_CUT, hf_pipeline_offset(pipeline), hf_pipeline_left(pipeline), 0);
		pipeline->pos = pipeline->count;
	}
	if (pipeline->stop != HF_PIPELINE_BREAK) {
		end_part(d);
		return;
	}
	lose(d, hf_pipeline_offset(pipeline), false);
	tell_lost(d);
	push(d, HF_ETE_EL_LOSS, 0, pipeline->broken_code, hf_pipeline_break(pipeline), pipeline->left_out, 0);
	unsync(d, hf_pipeline_offset(pipeline), HF_ERR_ETE_UNSYNCED, 0);
	hf_pipeline_resume(pipeline);
}

/* Which recording begins, and what is known of it. */
static void tell_part(struct hf_ete_dec *d)
{
	const struct hf_setup_part *part = &d->stream->parts[d->now.part];
	struct hf_ete_element element = {.kind = HF_ETE_EL_PART, .offset = part->offset, .value = d->now.part};

	/* What was read before is not continued, so that it is told before the part is. */
	if (d->now.again)
		push(d, HF_ETE_EL_LOSS, HF_ETE_EL_SILENT, HF_ERR_ETE_UNSYNCED, part->offset, 0, 0);
	if (d->stream->stream.setup->processes)
		hf_ete_resolve_push(&d->resolve, &element);
	if (part->remark)
		push(d, HF_ETE_EL_NOTE, HF_ETE_EL_DOUBT, part->remark, part->offset, 0, (uint32_t)part->detail);
	d->now.phase = HF_ETE_PHASE_UNSYNCED;
}

/* One packet, or what goes instead of one. */
static int read_packet(struct hf_ete_dec *d)
{
	struct hf_pipeline *pipeline = &d->pipeline;
	struct hf_ete_packet packet;
	int n, err = 0;

	if (d->now.phase == HF_ETE_PHASE_FRESH) {
		tell_part(d);
		return 0;
	}
	if (hf_pipeline_left(pipeline) < HF_ETE_PACKET_MAX && pipeline->stop == HF_PIPELINE_MORE) {
		err = hf_pipeline_fill(pipeline);
		if (err)
			return err;
	}
	if (d->now.phase == HF_ETE_PHASE_UNSYNCED && hf_pipeline_left(pipeline)) {
		scan(d);
		return 0;
	}
	n = hf_ete_packet_get(&d->hart->config, pipeline->bytes + pipeline->pos, hf_pipeline_left(pipeline), &packet);
	if (n > 0) {
		err = take_packet(d, &packet, hf_pipeline_offset(pipeline));
		if (err)
			desync(d, err, HF_ETE_QUEUE_MAX);
		else
			pipeline->pos += (uint32_t)n;
		return 0;
	}
	if (n < 0) {
		desync(d, n, packet.header);
		return 0;
	}
	if (pipeline->stop != HF_PIPELINE_MORE) {
		stopped(d);
		return 0;
	}
	if (hf_pipeline_left(pipeline) < HF_PIPELINE_CAP / 2)
		return hf_pipeline_fill(pipeline);
	desync(d, HF_ERR_ETE_ASYNC, 0); /* only zeros can be so many */
	return 0;
}

/* ---- entry points ---- */

/* Packets between two marks: more cost less here, and more when one is entered. */
#define MARK_PACKETS 16

/* Between packets, when everything that could leave has left. */
static void keep_place(struct hf_ete_dec *d)
{
	const int marked = hf_ete_resolve_marked(&d->resolve);

	if (marked == 0 || ++d->packets < MARK_PACKETS)
		return;
	d->packets = 0;
	if (marked > 0) {
		d->base = d->mark;
		d->base_passed = d->mark_passed;
	}
	d->now.entry = hf_pipeline_entry(&d->pipeline);
	d->mark = d->now;
	hf_ete_resolve_set_mark(&d->resolve, &d->mark.ahead);
	d->mark_passed = 0;
}

static void pop(struct hf_ete_dec *d)
{
	d->base_passed++;
	d->mark_passed += hf_ete_resolve_marked(&d->resolve) > 0;
	hf_ete_resolve_pop(&d->resolve);
}

/* Reads packets until an element may leave or all are read. */
static int read_on(struct hf_ete_dec *d)
{
	int err = 0;

	while (!err && !d->ended && !hf_ete_resolve_front(&d->resolve)) {
		keep_place(d);
		err = read_packet(d);
		hf_ete_resolve_settle(&d->resolve);
	}
	return err;
}

/* ---- the decoder ---- */

/* Whether the source is an ITM, which has a decoder of its own in the place of this one. */
static bool is_itm(const struct hf_dec *dec)
{
	const struct hf_ete_hart *own = hf_ete_find_hart((const struct hf_ete_stream *)dec->stream, dec->hart);

	return own && own->config.itm;
}

static int init(struct hf_dec *dec, struct hf_src *src)
{
	const struct hf_ete_stream *s = (const struct hf_ete_stream *)dec->stream;
	const struct hf_ete_hart *own = hf_ete_find_hart(s, dec->hart);
	struct hf_ete_dec *d = (struct hf_ete_dec *)dec;
	int err;

	if (!own)
		return HF_ERR_NOT_FOUND;
	if (is_itm(dec))
		return hf_itm_dec_ops.init(dec, src);
	d->stream = s;
	d->hart = own;
	err = hf_pipeline_init(&d->pipeline, src);
	if (!err)
		err = hf_ete_resolve_init(&d->resolve, &own->config);
	if (!err)
		err = hf_ete_flow_init(&d->flow, &own->config, dec->stream->setup, dec->hart);
	d->flow.agreed = &dec->agreed;
	if (err)
		return err;
	enter_first(d);
	if (s->unknown_ids && dec->hart == s->harts[0].id)
		hf_ete_flow_note(&d->flow, HF_ERR_ETE_UNKNOWN_IDS, s->unknown_ids);
	return 0;
}

static void fini(struct hf_dec *dec)
{
	struct hf_ete_dec *d = (struct hf_ete_dec *)dec;

	if (is_itm(dec)) {
		hf_itm_dec_ops.fini(dec);
		return;
	}
	hf_pipeline_fini(&d->pipeline);
	hf_ete_resolve_fini(&d->resolve);
	hf_ete_flow_fini(&d->flow);
}

static int next(struct hf_dec *dec, struct hf_event *ev, size_t max, size_t *ret_n)
{
	struct hf_ete_dec *d = (struct hf_ete_dec *)dec;
	struct hf_ete_out out = {.ev = ev, .max = max};
	int err = 0;

	if (is_itm(dec))
		return hf_itm_dec_ops.next(dec, ev, max, ret_n);

	while (!err && out.n < max && hf_ete_flow_drain(&d->flow, &out)) {
		if (!hf_ete_resolve_front(&d->resolve)) {
			if (d->ended && d->closed)
				break;
			err = read_on(d);
			if (!err && d->ended && !hf_ete_resolve_front(&d->resolve)) {
				hf_ete_flow_end(&d->flow);
				d->closed = true;
			}
			continue;
		}
		if (d->swallow)
			d->swallow--;
		else if (!hf_ete_flow_run(&d->flow, &d->resolve, &out))
			continue;
		pop(d);
	}
	*ret_n = out.n;
	if (out.n)
		return 0;
	if (err)
		dec->diag = d->pipeline.reader.diag;
	dec->diag.code = err;
	return err ? err : (int)HF_NOTE_END;
}

static uint64_t state(struct hf_dec *dec, struct hf_fields *f)
{
	return is_itm(dec) ? hf_itm_dec_ops.state(dec, f) : hf_ete_dec_state(dec, f);
}

static uint64_t offset(const struct hf_dec *dec)
{
	const struct hf_ete_dec *d = (const struct hf_ete_dec *)dec;

	return is_itm(dec) ? hf_itm_dec_ops.offset(dec) : hf_pipeline_offset(&d->pipeline);
}

static const uint32_t *harts(const struct hf_dec *dec, size_t *ret_n)
{
	const struct hf_ete_stream *s = (const struct hf_ete_stream *)dec->stream;

	*ret_n = s->hart_count;
	return s->ids;
}

static void begin(const struct hf_dec *dec, struct hf_event *ret_context, uint64_t *ret_record)
{
	*ret_record = 0;
	if (!is_itm(dec))
		hf_ete_flow_context(&((const struct hf_ete_dec *)dec)->flow, ret_context);
}

const struct hf_dec_ops hf_ete_dec_ops = {
	.size = sizeof(union { struct hf_ete_dec ete; struct hf_itm_dec itm; }),
	.init = init,
	.fini = fini,
	.next = next,
	.state = state,
	.offset = offset,
	.harts = harts,
	.begin = begin,
};
