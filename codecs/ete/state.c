/* SPDX-License-Identifier: Apache-2.0 */
/* Entry points of the decoder as blobs: the return stack and pending events, as many as there are, then all else. */
#include "codecs/ete/decoder.h"

#include "codecs/base/bytes.h"

/* HF_ETE_STACK_MAX numbers and HF_ETE_PENDING_MAX events of 4 in front, the table behind. */
static_assert((2 + HF_ETE_STACK_MAX + 4 * HF_ETE_PENDING_MAX + 64) * HF_VARINT_MAX + 1 <= HF_STATE_MAX,
	      "the largest blob is allowed");

struct stored {
	struct hf_ete_place place;
	struct hf_ete_flow_state flow;
	uint64_t passed;
	uint64_t frame; /* bytes between the entry's frame and the entry */
};

#define PLACE(member, max) HF_FIELD_ROW(struct stored, place.member, max)
#define FLOW(member, max) HF_FIELD_ROW(struct stored, flow.member, max)

static const struct hf_field_row fields[] = {
	PLACE(part, UINT32_MAX),
	PLACE(phase, HF_ETE_PHASES - 1),
	PLACE(stamped, 1),
	PLACE(denied, UINT32_MAX),
	PLACE(again, 1),
	PLACE(zeros, INT64_MAX),
	PLACE(lost_at, INT64_MAX),
	PLACE(lost_bytes, INT64_MAX),
	PLACE(lost_code, UINT32_MAX),
	PLACE(lost_detail, UINT32_MAX),
	PLACE(entry.at, INT64_MAX),
	PLACE(entry.before, UINT8_MAX),
	PLACE(history.address[0], UINT64_MAX),
	PLACE(history.address[1], UINT64_MAX),
	PLACE(history.address[2], UINT64_MAX),
	PLACE(history.is[0], 1),
	PLACE(history.is[1], 1),
	PLACE(history.is[2], 1),
	PLACE(history.timestamp, UINT64_MAX),
	PLACE(history.context.byte, UINT8_MAX),
	PLACE(history.context.cid, UINT32_MAX),
	PLACE(history.context.vmid, UINT32_MAX),
	PLACE(history.threshold, UINT32_MAX),
	PLACE(ahead.unseen, UINT32_MAX),
	PLACE(ahead.behind, UINT32_MAX),
	PLACE(ahead.held, 2),
	PLACE(ahead.tx, HF_ETE_TX_PASSING),
	FLOW(pc, UINT64_MAX),
	FLOW(context.byte, UINT8_MAX),
	FLOW(context.cid, UINT32_MAX),
	FLOW(context.vmid, UINT32_MAX),
	FLOW(sync, HF_ETE_SYNCS - 1),
	FLOW(is, 1),
	FLOW(fresh, 1),
	FLOW(ran, 1),
	FLOW(missing, 3),
	FLOW(told, 1),
	FLOW(step, 1),
	FLOW(it, UINT8_MAX),
	FLOW(marked, 1),
	FLOW(part, UINT32_MAX),
	FLOW(left, UINT32_MAX),
	FLOW(walked, UINT32_MAX),
	FLOW(unproven, UINT32_MAX),
	FLOW(age, UINT64_MAX),
	FLOW(skipped, UINT64_MAX),
	FLOW(skipped_at, UINT64_MAX),
	HF_FIELD_ROW(struct stored, passed, INT64_MAX),
	HF_FIELD_ROW(struct stored, frame, INT64_MAX),
};

void hf_ete_dec_enter(struct hf_ete_dec *d, const struct hf_ete_place *place)
{
	d->now = d->base = *place;
	d->base_passed = d->mark_passed = d->swallow = 0;
	d->closed = false;
	d->ended = place->part >= d->stream->part_count;
	hf_ete_resolve_reset(&d->resolve, &place->ahead);
	d->resolve.mark_void = true;
	if (!d->ended)
		hf_ete_start_part(d->stream, place->part, d->dec.hart, &place->entry, &d->pipeline);
}

/* Events that a flow leaves pending, with nothing that an encoder would wait for. */
static bool is_pending(const struct hf_event *ev)
{
	switch (ev->kind) {
	case HF_EVENT_ATTEMPT:
		return ev->insn.isa < HF_ISA_COUNT && ev->insn.mode < HF_MODE_COUNT && ev->insn.flow < HF_FLOW_COUNT &&
		       (ev->insn.size == 2 || ev->insn.size == 4);
	case HF_EVENT_TRAP:
	case HF_EVENT_TRAP_RETURN: return ev->size == 0 && ev->mode < HF_MODE_COUNT;
	case HF_EVENT_CONTEXT: return ev->context.mode < HF_MODE_COUNT && ev->context.isa < HF_ISA_COUNT;
	case HF_EVENT_TIMESTAMP:
	case HF_EVENT_CYCLES:
	case HF_EVENT_MARKER:
	case HF_EVENT_DISCONTINUITY: return ev->size == 0;
	case HF_EVENT_GAP:
	case HF_EVENT_DOUBT:
	case HF_EVENT_NOTE: return ev->code && hf_err_is_code(-(int64_t)ev->code);
	default: return false;
	}
}

bool hf_ete_is_place(const struct hf_ete_stream *s, const struct hf_ete_place *place, uint32_t id)
{
	const struct hf_setup_part *part = &s->parts[place->part < s->part_count ? place->part : 0];

	if (place->part >= s->part_count)
		return place->part == s->part_count;
	if (!hf_ete_part_has(s, part, id) || place->entry.frame < part->offset || place->entry.at < place->entry.frame)
		return false;
	if (hf_ete_layout(part) == HF_CORESIGHT_NONE && place->entry.frame != place->entry.at)
		return false;
	return part->size == HF_NOWHERE || place->entry.at - part->offset <= part->size;
}

static void visit_event(struct hf_fields *f, struct hf_event *ev)
{
	uint64_t head;

	memcpy(&head, ev, sizeof head);
	head = hf_field(f, head, UINT64_MAX);
	memcpy(ev, &head, sizeof head);
	for (unsigned k = 0; k < 3; k++)
		HF_FIELD(f, ev->word[k], UINT64_MAX);
	hf_fields_require(f, is_pending(ev));
}

static bool is_reachable(const struct hf_ete_dec *d, const struct stored *st)
{
	return st->frame <= st->place.entry.at && hf_ete_is_place(d->stream, &st->place, d->dec.hart) &&
	       (st->place.lost_code != 0 || st->place.part == d->stream->part_count);
}

uint64_t hf_ete_dec_state(struct hf_dec *dec, struct hf_fields *f)
{
	struct hf_ete_dec *d = (struct hf_ete_dec *)dec;
	struct hf_ete_flow *flow = &d->flow;
	struct hf_event events[HF_ETE_PENDING_MAX] = {0};
	struct stored st = {.passed = 0};
	uint32_t pending = 0;

	if (!f->loading) {
		st = (struct stored){.place = d->base, .flow = flow->s, .passed = d->base_passed + d->swallow};
		st.frame = st.place.entry.at - st.place.entry.frame;
		/* what does not matter is not told */
		st.flow.age = st.flow.marked ? st.flow.age : 0;
		st.flow.skipped_at = st.flow.skipped ? st.flow.skipped_at : 0;
		pending = flow->pending - flow->given;
		memcpy(events, flow->events + flow->given, pending * sizeof *events);
	}
	hf_return_stack_visit(&flow->links, f);
	HF_FIELD(f, pending, HF_ETE_PENDING_MAX);
	for (uint32_t i = 0; i < pending && !f->err; i++)
		visit_event(f, &events[i]);
	HF_FIELD_ROWS(f, fields, &st);
	hf_fields_require(f, hf_err_is_code(-(int64_t)st.place.lost_code));
	if (!f->loading || f->err)
		return 0;
	st.place.entry.frame = st.place.entry.at - st.frame;
	hf_fields_require(f, is_reachable(d, &st));
	if (f->err)
		return 0;
	hf_ete_dec_enter(d, &st.place);
	d->swallow = st.passed;
	hf_ete_flow_set(flow, &st.flow);
	memcpy(flow->events, events, pending * sizeof *events);
	flow->pending = pending;
	return 0;
}
