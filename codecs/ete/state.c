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

#define PLACE(member, max) HF_STATE_FIELD(struct stored, place.member, max)
#define FLOW(member, max) HF_STATE_FIELD(struct stored, flow.member, max)

static const struct hf_state_field fields[] = {
	PLACE(part, UINT32_MAX),
	PLACE(phase, HF_ETE_PHASES - 1),
	PLACE(stamped, 1),
	PLACE(again, 1),
	PLACE(zeros, INT64_MAX),
	PLACE(lost_at, INT64_MAX),
	PLACE(lost_bytes, INT64_MAX),
	PLACE(lost_code, HF_ERRI_COUNT),
	PLACE(lost_detail, UINT32_MAX),
	PLACE(entry.at, INT64_MAX),
	PLACE(entry.before, HF_CORESIGHT_IDS - 1),
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
	FLOW(marked, 1),
	FLOW(left, UINT32_MAX),
	FLOW(walked, UINT32_MAX),
	FLOW(age, UINT64_MAX),
	FLOW(skipped, UINT64_MAX),
	FLOW(skipped_at, UINT64_MAX),
	FLOW(stack_is, UINT16_MAX),
	HF_STATE_FIELD(struct stored, passed, INT64_MAX),
	HF_STATE_FIELD(struct stored, frame, INT64_MAX),
};

static const struct hf_state_table table = {
	.version = 1,
	.count = sizeof fields / sizeof fields[0],
	.fields = fields,
};

size_t hf_ete_dec_save(const struct hf_dec *dec, uint8_t *blob, uint64_t *ret_discard)
{
	const struct hf_ete_dec *d = (const struct hf_ete_dec *)dec;
	const struct hf_ete_flow *f = &d->flow;
	struct stored st = {.place = d->base, .flow = f->s, .passed = d->base_passed + d->swallow};
	uint8_t *p = blob;

	*ret_discard = 0;
	st.frame = st.place.entry.at - st.place.entry.frame;
	/* what does not matter is not told */
	st.flow.age = f->s.marked ? f->s.age : 0;
	st.flow.skipped_at = f->s.skipped ? f->s.skipped_at : 0;
	p = hf_put_varint(p, f->s.stack_count);
	for (unsigned i = 0; i < f->s.stack_count; i++)
		p = hf_put_varint(p, f->s.stack[i]);
	p = hf_put_varint(p, f->pending - f->given);
	for (uint32_t i = f->given; i < f->pending; i++) {
		uint64_t head;

		memcpy(&head, &f->events[i], sizeof head);
		p = hf_put_varint(p, head);
		for (unsigned k = 0; k < 3; k++)
			p = hf_put_varint(p, f->events[i].word[k]);
	}
	return (size_t)(p - blob) + hf_state_save(&table, &st, p);
}

/* Events that a flow leaves pending, with nothing that an encoder would wait for. */
static bool is_pending(const struct hf_event *ev)
{
	switch (ev->kind) {
	case HF_EVENT_ATTEMPT:
		return ev->insn.isa < HF_ISA_COUNT && ev->insn.mode < HF_MODE_COUNT && ev->insn.flow < HF_FLOW_COUNT &&
		       (ev->insn.size == 2 || ev->insn.size == 4);
	case HF_EVENT_TRAP: return ev->size == 0 && ev->small < HF_MODE_COUNT;
	case HF_EVENT_CONTEXT: return ev->context.mode < HF_MODE_COUNT && ev->context.isa < HF_ISA_COUNT;
	case HF_EVENT_TIMESTAMP:
	case HF_EVENT_CYCLES:
	case HF_EVENT_MARKER:
	case HF_EVENT_DISCONTINUITY: return ev->size == 0;
	case HF_EVENT_GAP:
	case HF_EVENT_DOUBT:
	case HF_EVENT_NOTE: return ev->size > 0 && ev->size <= HF_ERRI_COUNT;
	default: return false;
	}
}

static const uint8_t *load_pending(const uint8_t *p, const uint8_t *end, struct hf_event *ev)
{
	uint64_t head;

	p = hf_get_varint(p, end, &head);
	if (!p)
		return NULL;
	memcpy(ev, &head, sizeof head);
	for (unsigned k = 0; k < 3 && p; k++)
		p = hf_get_varint(p, end, &ev->word[k]);
	return p && is_pending(ev) ? p : NULL;
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

int hf_ete_dec_load(struct hf_dec *dec, const uint8_t *blob, size_t size)
{
	struct hf_ete_dec *d = (struct hf_ete_dec *)dec;
	const uint8_t *p = blob, *end = blob + size;
	struct hf_event events[HF_ETE_PENDING_MAX];
	struct stored st = {.passed = 0};
	uint64_t stack_count, pending = 0;
	int err;

	p = hf_get_varint(p, end, &stack_count);
	if (!p || stack_count > HF_ETE_STACK_MAX)
		return HF_ERR_STATE;
	for (unsigned i = 0; i < stack_count && p; i++)
		p = hf_get_varint(p, end, &st.flow.stack[i]);
	p = p ? hf_get_varint(p, end, &pending) : NULL;
	if (!p || pending > HF_ETE_PENDING_MAX)
		return HF_ERR_STATE;
	for (unsigned i = 0; i < pending && p; i++)
		p = load_pending(p, end, &events[i]);
	err = p ? hf_state_load(&table, &st, p, (size_t)(end - p)) : HF_ERR_STATE;
	if (err)
		return err;
	st.flow.stack_count = (uint8_t)stack_count;
	st.place.entry.frame = st.place.entry.at - st.frame;
	if (st.frame > st.place.entry.at || !hf_ete_is_place(d->stream, &st.place, dec->hart) ||
	    (st.place.lost_code == 0 && st.place.part < d->stream->part_count))
		return HF_ERR_STATE;
	hf_ete_dec_enter(d, &st.place);
	d->swallow = st.passed;
	hf_ete_flow_set(&d->flow, &st.flow);
	memcpy(d->flow.events, events, (size_t)pending * sizeof *events);
	d->flow.pending = (uint32_t)pending;
	return 0;
}
