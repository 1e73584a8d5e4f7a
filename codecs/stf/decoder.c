/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder as codec.h wants it: the way between fast.c and group.c, its state, its list of harts. */
#include "codecs/stf/decoder.h"

#include <stdlib.h>

/* When less than this is left in the window it is moved on: no usual group is longer. */
#define LOW_WATER 1024

static void forget_harts(struct hf_stf_dec *d)
{
	memset(d->hart_slots, 0, sizeof d->hart_slots);
	d->hart_count = 0;
	hf_stf_dec_note_hart(d, d->dec.hart);
}

/* Places up to offset have been dealt with. */
static void look_from(struct hf_stf_dec *d, uint64_t offset)
{
	d->place.offset = HF_NOWHERE;
	d->looked = offset;
}

static int init(struct hf_dec *dec, struct hf_src *src)
{
	const struct hf_stream *stream = dec->stream;
	const struct hf_stf_header *h = stream->info.header;
	struct hf_stf_dec *d = (struct hf_stf_dec *)dec;
	int err;

	if (!(stream->info.flags & HF_STREAM_MANY) && dec->hart != 0)
		return HF_ERR_NOT_FOUND;
	err = hf_reader_init(&d->reader, src, HF_READER_CAP);
	if (err)
		return err;
	d->header = h;
	d->many = stream->info.flags & HF_STREAM_MANY;
	d->sync = (struct hf_stf_sync){.offset = h->body,
				       .next = h->force_pc,
				       .expected = h->force_pc,
				       .isa = stream->info.isa,
				       .has_ids = h->has[HF_STF_PROCESS_ID_EXT]};
	memcpy(d->sync.ids, h->ids, sizeof d->sync.ids);
	look_from(d, h->body);
	forget_harts(d);
	hf_stf_group_begin(d);
	return 0;
}

static void fini(struct hf_dec *dec)
{
	hf_reader_fini(&((struct hf_stf_dec *)dec)->reader);
}

/* Makes the window hold some groups from the sync point on, if there are any. */
static int refill(struct hf_stf_dec *d)
{
	const int err = hf_reader_need(&d->reader, d->sync.offset, LOW_WATER, HF_READER_CAP);

	return err < 0 ? err : 0;
}

/* The group that ends at the next place, or behind it, is for group.c: no marker before it may reach there. */
static size_t fast_len(const struct hf_stf_dec *d)
{
	const struct hf_reader *r = &d->reader;
	const uint64_t len = d->place.offset - r->start + HF_STF_FAST_REACH - HF_STF_SIZE_INST_OPCODE32 - 1;

	return d->place.offset != HF_NOWHERE && len < r->len ? (size_t)len : r->len;
}

static int next(struct hf_dec *dec, struct hf_event *ev, size_t max, size_t *ret_n)
{
	struct hf_stf_dec *d = (struct hf_stf_dec *)dec;
	struct hf_stf_out out = {.ev = ev, .max = max};
	int err = 0;

	while (!err && out.n < max && d->group.phase != HF_STF_PHASE_END) {
		if (!d->group.open) {
			err = refill(d);
			if (!err)
				err = hf_stf_dec_look(d, d->reader.start + d->reader.len);
			if (err)
				break;
			if (!hf_stf_dec_owes_header(d))
				hf_stf_fast_run(d, &out, fast_len(d));
			hf_stf_group_begin(d);
		}
		err = hf_stf_group_run(d, &out);
	}
	*ret_n = out.n;
	if (out.n)
		return 0;
	if (err) {
		dec->diag = d->reader.diag;
		dec->diag.code = err;
		return err;
	}
	return HF_NOTE_END;
}

/* ---- state ---- */

/* What is usually equal or near to something else becomes a small number. */
static uint64_t state(struct hf_dec *dec, struct hf_fields *f)
{
	struct hf_stf_dec *d = (struct hf_stf_dec *)dec;
	struct hf_stf_sync *s = &d->sync;

	if (f->loading)
		*s = (struct hf_stf_sync){0};
	HF_FIELD(f, s->offset, INT64_MAX);
	HF_FIELD(f, s->index, INT64_MAX);
	HF_FIELD_NEAR(f, s->next, 0);
	HF_FIELD_NEAR(f, s->expected, s->next);
	HF_FIELD_NEAR(f, s->drift, 0);
	HF_FIELD(f, s->narrow, UINT64_MAX);
	HF_FIELD(f, s->odd, UINT64_MAX);
	HF_FIELD(f, s->begun, 1);
	HF_FIELD(f, s->has_ids, 1);
	HF_FIELD(f, s->has_said, 1);
	HF_FIELD(f, s->mode, HF_MODE_COUNT - 1);
	HF_FIELD(f, s->isa, HF_ISA_COUNT - 1);
	for (unsigned i = 0; i < 3; i++) {
		HF_FIELD(f, s->ids[i], UINT32_MAX);
		s->said[i] = s->has_said ? (uint32_t)hf_field(f, s->said[i] ^ s->ids[i], UINT32_MAX) ^ s->ids[i] : 0;
	}
	if (!f->loading)
		return d->done;
	hf_fields_require(f, s->offset >= d->header->body);
	hf_fields_require(f, (s->isa == HF_ISA_NONE) == (dec->stream->info.isa == HF_ISA_NONE));
	if (f->err)
		return 0;
	d->done = 0;
	look_from(d, s->offset);
	forget_harts(d);
	hf_stf_group_begin(d);
	return 0;
}

static uint64_t offset(const struct hf_dec *dec)
{
	const struct hf_stf_dec *d = (const struct hf_stf_dec *)dec;

	return d->group.at > d->sync.offset ? d->group.at : d->sync.offset;
}

static const uint32_t *harts(const struct hf_dec *dec, size_t *ret_n)
{
	const struct hf_stf_dec *d = (const struct hf_stf_dec *)dec;

	*ret_n = d->hart_count;
	return d->harts;
}

static void begin(const struct hf_dec *dec, struct hf_event *ret_context, uint64_t *ret_record)
{
	const struct hf_stf_dec *d = (const struct hf_stf_dec *)dec;
	const struct hf_stf_sync *s = &d->group.now;

	if (s->has_said) {
		ret_context->fields = HF_CONTEXT_HW | HF_CONTEXT_PID | HF_CONTEXT_TID;
		ret_context->context =
			(struct hf_ev_context){.hw = s->said[0], .pid = s->said[1], .tid = s->said[2]};
	}
	/* its group is done, or its attachments are still to come */
	*ret_record = s->index - (d->group.phase < HF_STF_PHASE_ATTACH);
}

const struct hf_dec_ops hf_stf_dec_ops = {
	.size = sizeof(struct hf_stf_dec),
	.init = init,
	.fini = fini,
	.next = next,
	.state = state,
	.offset = offset,
	.harts = harts,
	.harts_max = HF_STF_HARTS_MAX,
	.begin = begin,
};
