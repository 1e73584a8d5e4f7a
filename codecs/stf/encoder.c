/* SPDX-License-Identifier: Apache-2.0 */
/* The STF encoder: which event goes where, and what stands on its own between the groups. */
#include "codecs/stf/encoder.h"

#include "codecs/setup/code_size.h"
#include "codecs/stf/errors.h"
#include "codecs/views.h"

#include <stdlib.h>

static void put_ids(struct hf_stf_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	struct hf_stf_enc_state *s = &e->s;
	const uint32_t told[3] = {ev->context.hw, ev->context.pid, ev->context.tid};
	uint32_t ids[3];

	memcpy(ids, s->ids, sizeof ids);
	for (unsigned i = 0; i < 3; i++)
		if (ev->fields & (uint32_t)HF_CONTEXT_HW << i)
			ids[i] = told[i];
		else if (i && ev->fields & HF_CONTEXT_STATE && ev->state & HF_STATE_NO_PID << (i - 1))
			ids[i] = 0; /* there is no other word for one that is not known */
	if ((s->flags & HF_STF_ENC_IDS) && memcmp(ids, s->ids, sizeof ids) == 0)
		return;
	/* the header has one PROCESS_ID_EXT; of other sources it waits for the first pc and takes the last ids */
	if ((s->flags & HF_STF_ENC_IDS) && e->source)
		hf_stf_enc_need_header(e, sink);
	memcpy(s->ids, ids, sizeof ids);
	s->flags |= HF_STF_ENC_IDS;
	if (s->flags & HF_STF_ENC_HEADER)
		HF_STF_PUT(e, sink, PROCESS_ID_EXT, .hw = ids[0], .pid = ids[1], .tid = ids[2]);
}

/* A change that no trap explains. In the group before it holds from the next instruction on, if a reader would not
 * take it for the trap's or for the group's own. */
static void put_mode(struct hf_stf_enc *e, struct hf_sink *sink, uint8_t mode)
{
	struct hf_stf_enc_state *s = &e->s;

	if ((s->flags & (HF_STF_ENC_GROUP | HF_STF_ENC_NOW | HF_STF_ENC_TRAP)) == HF_STF_ENC_GROUP) {
		hf_stf_enc_flush_mode(e, sink);
		hf_stf_enc_write_mode(e, sink, mode);
		hf_stf_enc_close(e, sink);
	} else {
		hf_stf_enc_close(e, sink);
		s->held_mode = mode;
		s->flags |= HF_STF_ENC_MODE;
	}
}

static void put_context(struct hf_stf_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	const struct hf_ev_context *c = &ev->context;

	hf_stf_enc_break_data(e, sink);
	if (ev->fields & HF_CONTEXT_MODE)
		put_mode(e, sink, c->mode < HF_MODE_COUNT ? c->mode : (uint8_t)HF_MODE_UNKNOWN);
	hf_stf_enc_close(e, sink);
	if (ev->fields & (HF_CONTEXT_HW | HF_CONTEXT_PID | HF_CONTEXT_TID) ||
	    (e->s.flags & HF_STF_ENC_IDS && ev->fields & HF_CONTEXT_STATE))
		put_ids(e, sink, ev);
	if (ev->fields & (HF_CONTEXT_ASID | HF_CONTEXT_VMID | HF_CONTEXT_VLEN))
		hf_stf_enc_need_header(e, sink);
	if (ev->fields & HF_CONTEXT_ASID)
		hf_stf_write_remark(sink, "address space %u", c->asid);
	if (ev->fields & HF_CONTEXT_VMID)
		hf_stf_write_remark(sink, "virtual machine %u", c->vmid);
	if (ev->fields & HF_CONTEXT_VLEN)
		hf_stf_write_remark(sink, "vector length %u bits", c->vlen * 8u);
}

/* The header waits for the ids, which come next. */
static void put_begin(struct hf_stf_enc *e, const struct hf_event *ev)
{
	if (e->s.flags)
		return;
	e->s.flags = HF_STF_ENC_CUT;
	e->s.next = ev->begin.pc;
	e->s.isa = ev->isa < HF_ISA_COUNT ? (uint8_t)ev->isa : (uint8_t)HF_ISA_NONE;
	e->s.base = ev->begin.record;
}

static void put_text(struct hf_stf_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	HF_STF_PUT(e, sink, COMMENT, .count = ev->size);
	hf_stf_enc_begin_data(e, sink, HF_EVENT_TEXT, ev->size, ev->size, 0);
}

/* GAP, TIMESTAMP and the like. */
static void put_foreign(struct hf_stf_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	/* of those that use size for something else no DATA follows */
	const bool loss = ev->kind == HF_EVENT_GAP || ev->kind == HF_EVENT_DOUBT || ev->kind == HF_EVENT_NOTE;

	/* these the decoder finds in what is written as it did in its source */
	if (!loss || ev->code < -HF_ERR_STF_LEADS || ev->code > -HF_ERR_STF_ODD_COUNT)
		hf_stf_write_foreign(sink, ev);
	if (!loss)
		hf_stf_enc_begin_data(e, sink, ev->kind, ev->size, 0, 0);
}

static void put_alone(struct hf_stf_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	hf_stf_enc_close(e, sink);
	switch (ev->kind) {
	case HF_EVENT_NONE:
		break;
	case HF_EVENT_BEGIN:
		put_begin(e, ev);
		break;
	case HF_EVENT_TEXT:
		hf_stf_enc_need_header(e, sink);
		put_text(e, sink, ev);
		break;
	case HF_EVENT_MARKER:
		hf_stf_enc_need_header(e, sink);
		if (ev->what == HF_MARKER_TEXT) {
			hf_stf_write_remark(sink, "the next comment is text on channel %llu", (unsigned long long)ev->marker.number);
			put_text(e, sink, ev);
		} else {
			put_foreign(e, sink, ev);
		}
		break;
	case HF_EVENT_DISCONTINUITY:
		/* FORCE_PC says it, also where the flow happens to go on at the next address */
		if (e->s.flags & HF_STF_ENC_BEGUN)
			e->s.flags |= HF_STF_ENC_FORCE;
		if (ev->flags & HF_EVF_UNTRACED) {
			hf_stf_enc_need_header(e, sink);
			put_foreign(e, sink, ev);
		}
		break;
	default:
		hf_stf_enc_need_header(e, sink);
		put_foreign(e, sink, ev);
	}
}

/* ---- the encoder as codec.h wants it ---- */

static void put(struct hf_enc *enc, const struct hf_event *ev, size_t n, struct hf_sink *sink)
{
	struct hf_stf_enc *e = (struct hf_stf_enc *)enc;

	for (const struct hf_event *end = ev + n; ev < end; ev++) {
		if (ev->kind == HF_EVENT_DATA) {
			hf_stf_enc_data(e, sink, ev);
		} else if (hf_event_is_instruction(ev)) {
			hf_stf_enc_insn(e, sink, ev);
		} else if (hf_event_is_attachment(ev)) {
			hf_stf_enc_break_data(e, sink);
			hf_stf_enc_attach(e, sink, ev);
		} else if (ev->kind == HF_EVENT_CONTEXT) {
			put_context(e, sink, ev);
		} else {
			put_alone(e, sink, ev);
		}
	}
}

static void end(struct hf_enc *enc, struct hf_sink *sink)
{
	struct hf_stf_enc *e = (struct hf_stf_enc *)enc;

	hf_stf_enc_close(e, sink);
	hf_stf_enc_need_header(e, sink);
	if (e->s.flags & HF_STF_ENC_MODE)
		hf_stf_write_remark(sink, "mode %s", hf_mode_name(e->s.held_mode));
}

static const char *refuses(const struct hf_stream_info *info)
{
	if (info->arch != HF_ARCH_RISCV && info->arch != HF_ARCH_ARM)
		return "STF is for RISC-V and ARM here";
	return NULL;
}

static int init(struct hf_enc *enc)
{
	struct hf_stf_enc *e = (struct hf_stf_enc *)enc;

	e->source = hf_enc_is_original(enc) ? enc->stream->info.header : NULL;
	e->layout.event64 = true;
	e->layout.vector_words = (enc->stream->info.vlen + 63) / 64;
	e->arch = enc->stream->info.arch;
	e->extensions = hf_code_size_extensions(enc->stream, enc->hart);
	return 0;
}

const struct hf_enc_ops hf_view_stf = {
	.name = "stf",
	.view = "trace.stf",
	.version = 8,
	.refuses = refuses,
	.size = sizeof(struct hf_stf_enc),
	.init = init,
	.put = put,
	.end = end,
	.state = hf_stf_enc_visit,
};
