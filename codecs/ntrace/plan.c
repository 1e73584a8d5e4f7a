/* SPDX-License-Identifier: Apache-2.0 */
/* The plan: what the decoder gives next, runs of instructions where the walk has them and single events. */
#include "codecs/ntrace/decoder.h"

static struct hf_ntrace_plan *push(struct hf_ntrace_dec *d, const struct hf_event *ev, uint32_t count)
{
	struct hf_ntrace_plan *plan = &d->plans[d->plan_count++];

	*plan = (struct hf_ntrace_plan){.ev = ev, .count = count};
	d->planned += count;
	return plan;
}

struct hf_ntrace_plan *hf_ntrace_push_insns(struct hf_ntrace_dec *d, const struct hf_event *ev, uint32_t count)
{
	d->s.unproven += count;
	d->s.since += count;
	return push(d, ev, count);
}

struct hf_event *hf_ntrace_single(struct hf_ntrace_dec *d, uint8_t kind)
{
	struct hf_event *ev = &d->singles[d->single_count++];

	*ev = (struct hf_event){.kind = kind};
	push(d, ev, 1);
	return ev;
}

void hf_ntrace_push_loss(struct hf_ntrace_dec *d, uint8_t kind, int code, uint64_t at, uint64_t bytes,
			 uint64_t detail)
{
	struct hf_event *ev = hf_ntrace_single(d, kind);

	ev->code = (uint16_t)-code;
	ev->loss.offset = hf_ntrace_input_offset(&d->input, at);
	ev->loss.bytes = bytes;
	ev->loss.detail = detail;
}

void hf_ntrace_push_gap(struct hf_ntrace_dec *d)
{
	struct hf_ntrace_state *s = &d->s;

	if (!s->lost_code)
		return;
	hf_ntrace_push_loss(d, HF_EVENT_GAP, -(int)s->lost_code, s->lost_at, s->lost_bytes, s->lost_detail);
	d->singles[d->single_count - 1].back = s->lost_back;
}
